"""Uses the model that runs in a page, in a real browser: python tests/proofs/live_browser.py

As browser.py it needs Chromium, its driver and selenium. The page that `show` makes of the course's own model is opened
from its file. It writes the greedy text of 200 tokens that PyTorch writes; it writes at least 100 tokens a second, and
30 with all attention shown; drags are answered within 16 ms (median); the dice are kept, so the same temperature gives
the same text again; what a silenced layer costs on the same text is told, without it another text is written, and
restored, it gives the first one back; any token can be replaced;
the keyboard reaches everything; the console is empty, nothing is asked for from elsewhere, and axe-core finds nothing,
light and dark. Speeds are those of this machine as it is: a busy one is slower.
"""

import re
import statistics
import sys
import time

import browser as shared
import torch
from browser import inaccessible, loud, opened, photograph, press, report, see, until
from selenium.webdriver.common.keys import Keys

from transformer_lessons.inspection import live
from transformer_lessons.language import checkpoints, sampling

SET = """
const [number, value] = arguments, input = document.querySelectorAll('.live input[type="range"]')[number];
input.value = value;
const start = performance.now();
input.dispatchEvent(new Event('input', {bubbles: true}));
document.body.offsetHeight;  // lays the page out
return performance.now() - start;
"""
BARE = """
const model = lessons.showing.model, cache = model.newCache(), count = 120;
for (let i = 0; i < 20; i++) model.forward(i, cache, i);
const start = performance.now();
for (let i = 20; i < 20 + count; i++) model.forward(i, cache, i);
return count / (performance.now() - start) * 1000;
"""
PRESS = "document.querySelectorAll(arguments[0])[arguments[1]].click()"


class Page(shared.Page):
    """The page that shows the course's own model."""

    def __init__(self, browser, folder):
        super().__init__(browser)
        self.model, self.vocabulary = checkpoints.load_model()
        path = live.show(self.model, self.vocabulary, folder / "model.html")
        browser.get(path.as_uri())
        self.until("globalThis.lessons?.showing")

    def until(self, condition):
        until(lambda: self.browser.execute_script(f"return Boolean({condition})"), condition)

    def ids(self):
        self.until("!lessons.showing.busy")
        return self.browser.execute_script("return lessons.showing.ids")

    def set(self, number, value):
        return self.browser.execute_script(SET, number, value)

    def type(self, text):
        self.browser.execute_script(
            "const line = document.querySelector('.ask input'); line.value = arguments[0];"
            "line.dispatchEvent(new Event('input', {bubbles: true}))",
            text,
        )

    def write(self):
        self.browser.execute_script("document.querySelector('.ask').requestSubmit()")

    def button(self, words):
        return next(button for button in self.all(".live button") if words in button.text)


def greedy(page):
    """Temperature 0, and a prompt: 200 tokens, as PyTorch writes them."""
    page.set(2, 3)  # as fast as it can
    page.set(0, 0)
    prompt = page.vocabulary.encode("O Romeo,")
    page.type("O Romeo,")
    while len(ids := page.ids()) < len(prompt) + 200:
        page.write()
    tokens = sampling.generate_tokens(page.model, torch.tensor([prompt]), 200, temperature=0)
    expected = prompt + [token.item() for token in tokens]
    page.expect(ids[: len(expected)] == expected, "the greedy text is not PyTorch's")


def speed(page):
    """Tokens a second: the model alone, and with all that is shown."""
    bare = max(page.browser.execute_script(BARE) for _ in range(3))
    page.set(0, 80)
    page.type("My love is as a fever")
    page.ids()
    before, start = len(page.ids()), time.monotonic()
    page.write()
    shown = (len(page.ids()) - before) / (time.monotonic() - start)
    print(f"  {bare:.0f} tokens a second alone, {shown:.0f} with all attention shown")
    page.expect(bare >= 100, f"{bare:.0f} tokens a second are fewer than 100")
    page.expect(shown >= 30, f"{shown:.0f} tokens a second are fewer than 30 with all attention shown")


def drags(page):
    """Temperature and top-k are dragged; then the same dice give the same text again."""
    first = page.ids()
    times = [page.set(0, value) for value in range(0, 200, 10)] + [page.set(1, value) for value in range(8)]
    times += [page.set(1, 8), page.set(0, 80)]
    median = statistics.median(times)
    print(f"  a drag is answered in {median:.1f} ms (median), {max(times):.1f} ms (worst)")
    page.expect(median <= 16, f"a drag is answered in {median:.1f} ms")
    page.expect(page.ids() == first, "the same temperature and the same dice give another text")


def heads(page):
    """A layer falls silent: what the model makes of the same text is compared; written again, the text is another, and
    with the heads restored it is as it was.
    """
    first = page.ids()
    for words in ("Looks at the token before", "Looks at itself", "Looks two tokens back"):
        page.button(words).click()
        told = page.browser.execute_script("return document.querySelector('.habit').textContent")
        page.expect("more than any other head" in told, f"nothing is said of a head with a habit: {told}")
    page.button("Silence all of layer").click()
    silent = page.ids()
    told = page.browser.execute_script("return document.querySelector('.compared').textContent")
    losses = [float(loss) for loss in re.findall(r"\d+\.\d\d(?= )", told)]
    page.expect(len(losses) == 2 and losses[0] < losses[1], f"the losses on the text are not compared: {told}")
    page.expect(silent == first, "the text changes before it is asked for")
    shares = page.browser.execute_script("return document.querySelector('.candidate .share').textContent")
    page.expect("→" in shares, f"the chances are not compared: {shares}")
    page.button("Write the text again without them").click()
    again = page.ids()
    page.expect(again != first and len(again) == len(first), "without a layer's heads the same text is written")
    page.button("Restore all heads").click()
    page.expect(page.ids() == first, "with its heads restored the model writes another text")


def choice(page):
    """Back to a token, and another one after it."""
    first = page.ids()
    page.browser.execute_script(PRESS, ".live .token", 8)
    page.browser.execute_script(PRESS, ".live .candidate", 4)
    ids = page.ids()
    page.expect(ids[:9] == first[:9], "what stands before a chosen token has changed")
    chosen = page.browser.execute_script("return document.querySelectorAll('.live .token.chosen').length")
    page.expect(chosen == 1, f"{chosen} tokens are marked as chosen")


def keyboard(page):
    """Tab reaches every kind of control, and the arrow keys move through text, heads and layers."""
    page.browser.execute_script("document.querySelector('.ask input').focus()")
    seen = set()
    for _ in range(60):
        press(page.browser, Keys.TAB)
        seen.add(
            page.browser.execute_script(
                "const here = document.activeElement; return here.closest('.ask, .text, .bars, .sliders, .lens, .grid, "
                ".mute')?.className ?? ''"
            )
        )
    missing = {"ask", "text", "bars", "sliders", "lens", "grid", "mute"} - seen
    page.expect(not missing, f"the keyboard does not reach {', '.join(sorted(missing))}")
    page.browser.execute_script("document.querySelector('.live .token[tabindex=\"0\"]').focus()")
    press(page.browser, Keys.HOME, Keys.ARROW_RIGHT)
    place = page.browser.execute_script(
        "return [...document.querySelectorAll('.live .token')].indexOf(document.activeElement)"
    )
    page.expect(place == 1, f"Home and → lead to token {place}")


def accessible(page):
    """axe-core finds nothing, light and dark."""
    for scheme in ("light", "dark"):
        see(page.browser, scheme=scheme)
        page.faults += [f"{scheme}: {fault}" for fault in inaccessible(page.browser)]


def main():
    faulty = 0
    torch.set_num_threads(1)
    with opened() as (browser, folder):
        page = Page(browser, folder)
        for use in (greedy, speed, drags, heads, choice, keyboard, accessible):
            page.faults = []
            use(page)
            faulty += report(use.__name__, page.faults + loud(browser))
            photograph(browser, f"live_{use.__name__}")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
