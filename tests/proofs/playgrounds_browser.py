"""Uses the playgrounds in a real browser, by mouse and by keyboard: python tests/proofs/playgrounds_browser.py

As browser.py it needs Chromium, its driver and selenium. What each page says is computed again in Python, for every
place of its sliders, for dragged queries and for clicked masks. A drag is answered within 16 ms (median) and 50 ms
(worst), the keyboard reaches everything, the console is empty, nothing is asked for from elsewhere, and axe-core finds
nothing. Each page is also shown as VS Code does, whose scripts run beside their page and whose theme is not the
system's.
"""

import contextlib
import functools
import statistics
import sys
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F
from browser import inaccessible, loud, opened, photograph, press, report
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from transformer_lessons import first_steps, masks, positions
from transformer_lessons.attention import scaled_dot_product_attention
from transformer_lessons.basis import chat_model
from transformer_lessons.inspection import playgrounds
from transformer_lessons.language.byte_pairs import apply_merges, train_bpe
from transformer_lessons.language.gguf_file import GGUFFile
from transformer_lessons.language.gguf_tokenizer import read_tokenizer
from transformer_lessons.language.sampling import speculate
from transformer_lessons.language.splitting import single_bytes, split_words

TIMING = """
const [root, number, value] = arguments, input = root.querySelectorAll('input')[number];
input.value = value;
const start = performance.now();
input.dispatchEvent(new Event('input', {bubbles: true}));
document.body.offsetHeight;  // lays the page out
return performance.now() - start;
"""
# What VS Code's renderer for text/html does with an output, below a picture in an output of its own: its scripts are
# copied, and each copy is run at the end of the output and taken away again.
VS_CODE = """
const [html, theme] = arguments;
document.body.dataset.vscodeThemeKind = theme;
document.body.innerHTML = '<div><div class="output_container"><img></div><div class="output_container"></div></div>';
const output = document.querySelector('.output_container:last-child'), page = document.createElement('div');
page.innerHTML = html;
output.append(page);
for (const script of [...page.getElementsByTagName('script')]) {
  const copy = document.createElement('script');
  copy.text = script.innerText;
  copy.type = script.type;
  page.appendChild(copy).parentNode.removeChild(copy);
}
return {
  said: page.querySelector('.playground .said')?.innerText.replace(/\\s/g, ' '),
  picture: getComputedStyle(document.querySelector('img')).display,
  scheme: getComputedStyle(page.querySelector('.playground')).colorScheme,
};
"""
THEMES = {"vscode-light": "light", "vscode-dark": "dark"}
THEMES |= {"vscode-high-contrast": "dark", "vscode-high-contrast-light": "light"}


class Page:
    """One playground, opened from a file."""

    def __init__(self, browser, folder, playground):
        self.browser, self.playground = browser, playground
        path = folder / "playground.html"
        head = "<!doctype html><html lang=en><meta charset=utf-8><title>A playground</title><main><h1>A playground</h1>"
        path.write_text(head + self.playground.html + "</main></html>", encoding="utf-8")
        browser.get(path.as_uri())
        self.root = browser.find_element(By.CSS_SELECTOR, ".playground")
        self.times = []

    def slide(self, number, value):
        self.times.append(self.browser.execute_script(TIMING, self.root, number, value))

    def said(self):
        return self.root.find_element(By.CSS_SELECTOR, ".said").text

    def expect(self, sentence):
        if sentence not in self.said():
            raise AssertionError(f"{sentence!r} is expected, and this is said: {self.said()!r}")


def in_vs_code(browser, folder, playground):
    """What is wrong with the page where scripts run beside it."""
    expected = Page(browser, folder, playground).said()
    for theme, scheme in THEMES.items():
        found = browser.execute_script(VS_CODE, playground.html, theme)
        if found != {"said": expected, "picture": "none", "scheme": scheme}:
            yield f"in VS Code, {theme}: {found}"


def said(numbers):
    """Two decimals, never −0.00."""
    texts = [f"{0.0 if abs(number) < 0.005 else number:.2f}" for number in np.asarray(numbers).ravel()]
    return ", ".join(texts).replace("-", "−")


def average_the_vectors(page):
    vectors, signs = np.array(page.playground.data["vectors"]), "₀₁₂"
    handles = page.root.find_elements(By.CSS_SELECTOR, ".handle")
    for asks, button in enumerate(page.root.find_elements(By.CSS_SELECTOR, "button")):
        button.click()
        for number, handle in enumerate(handles):
            page.browser.execute_script("arguments[0].focus()", handle)
            press(page.browser, *[Keys.ARROW_UP] * (1 + number), Keys.ARROW_LEFT)
            vectors[number] += [-0.1, 0.1 * (1 + number)]
            scores = vectors @ vectors[asks]
            weights = first_steps.softmax(scores)
            page.expect(f"x{signs[asks]} asks: scores {said(scores)}; weights {said(weights)}; ")
            page.expect(f"y{signs[asks]} is ({said(weights @ vectors)}).")
            if weights.argmax() != asks:
                page.expect(f"x{signs[asks]} gives x{signs[weights.argmax()]} more weight than itself.")


def drag_the_query(page):
    keys = np.array(page.playground.data["keys"])

    def expected(query, factor):
        weights = first_steps.softmax(factor * keys @ query)
        return f"Query ({said(query)}): weights {said(weights)}, output ({said(weights @ keys)})."

    query = np.array(page.playground.data["query"])
    for factor in np.arange(0, 10.5, 0.5):
        page.slide(0, factor)
        page.expect(expected(query, factor))
    page.slide(0, 1)
    plane = page.root.find_element(By.CSS_SELECTOR, "svg")
    unit = 60 * plane.rect["width"] / 340  # pixels
    for x, y in [(1.5, 2.5), (-2, -0.5), (0, 0), (-2.5, 2.5)]:
        ActionChains(page.browser).move_to_element_with_offset(plane, unit * x, -unit * y).click().perform()
        page.expect(expected(np.array([x, y]), 1))
    press(page.browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    page.expect(expected(np.array([-2.3, 2.4]), 1))
    move = (
        "const [plane, x] = arguments, box = plane.getBoundingClientRect(), start = performance.now();"
        "plane.dispatchEvent(new PointerEvent('pointermove', {clientX: box.x + x, clientY: box.y + 99}));"
        "document.body.offsetHeight; return performance.now() - start"
    )
    page.browser.execute_script(
        "arguments[0].setPointerCapture = () => 0; arguments[0].dispatchEvent("
        "new PointerEvent('pointerdown', {clientX: 50, clientY: 50}))",
        plane,
    )
    page.times += [page.browser.execute_script(move, plane, x) for x in range(20, 320, 3)]


def widen_the_vectors(page):
    queries, keys = (np.array(page.playground.data[name]) / 10 for name in ("queries", "keys"))
    for power in range(1, 10):
        d = 2**power
        page.slide(0, power)
        for name, scale in (("Unscaled", 1), ("Divided by √d", d**0.5)):
            weights = first_steps.softmax(queries[:, :d] @ keys[:, :d].T / scale)
            slopes = (weights * (1 - weights)).sum(-1)
            page.expect(f"{name}: largest weights {said(weights.max(-1))}; slopes {said(slopes)}")
    page.root.find_element(By.CSS_SELECTOR, "input").send_keys(Keys.ARROW_LEFT)
    page.expect("d = 256. ")


def turn_the_hands(page):
    data = page.playground.data
    turn = positions.RotaryPositions(8, data["last"] + 1).double()
    query, key = (torch.tensor([data[name]], dtype=torch.float64) for name in ("query", "key"))

    def expected(asks, answers):
        parts = (turn(query, asks) * turn(key, answers)).unflatten(-1, (-1, 2)).sum(-1)
        return f"the score is {said(parts).replace(', ', ' + ').replace('+ −', '− ')} ≈ {said(parts.sum())}."

    for asks, answers in [(0, 0), (60, 0), (0, 60), (31, 12), (7, 8)]:
        page.slide(0, asks)
        page.slide(1, answers)
        page.expect(f"Query at {asks}, key at {answers}, ")
        page.expect(expected(asks, answers))
    before = page.said().split("the score is")[1]
    score = before.split("≈ ")[1]
    page.slide(2, 20)
    page.expect("Query at 27, key at 28, 1 apart")
    assert page.said().split("≈ ")[1] == score, "the score has changed, though the distance has not"
    page.slide(2, 60)
    page.expect("Query at 59, key at 60, 1 apart")  # as far as both can go
    page.slide(2, -60)
    page.expect("Query at 0, key at 1, 1 apart")


def draw_the_mask(page):
    data = page.playground.data
    scores, values = torch.tensor(data["scores"]), torch.tensor(data["values"], dtype=torch.float32)
    mask = masks.causal_mask(6)
    squares = page.root.find_elements(By.CSS_SELECTOR, '[role="checkbox"]')

    def compare():
        weights = masks.masked_softmax(scores, mask)
        texts = page.root.find_elements(By.CSS_SELECTOR, "svg[role='img'] text")
        shown = [text.text for text in texts if text.text.replace(".", "").isdigit()]
        assert shown == said(weights).split(", "), f"{shown} instead of {said(weights)}"
        lines = page.root.find_elements(By.CSS_SELECTOR, "tbody tr")
        rows = [line.find_elements(By.CSS_SELECTOR, "td") for line in lines]
        outputs = [row[0].text for row in rows]
        assert outputs == [f"({said(row)})" for row in weights @ values], outputs
        reach = (mask | torch.eye(6).bool()).float()
        for column, seen in ((1, mask.float()), (2, torch.linalg.matrix_power(reach, 6))):
            for query, row in enumerate(rows):
                ahead = [f"“{data['words'][later]}” ({later})" for later in range(query + 1, 6) if seen[query, later]]
                text = row[column].get_property("textContent")  # a column with no word in it is hidden
                assert text == (", ".join(ahead) or "–"), (text, ahead)

    compare()
    page.expect("No word learns anything about later words.")
    generator = torch.Generator().manual_seed(1)
    for place in torch.randint(36, (12,), generator=generator).tolist():
        squares[place].click()
        mask.view(-1)[place] ^= True
        compare()
    buttons = page.root.find_elements(By.CSS_SELECTOR, "button")
    buttons[-1].click()
    mask[:] = False
    compare()
    page.expect(
        "These have nothing to attend to, so their weights and outputs are 0: "
        "“the” (0), “cat” (1), “sat” (2), “on” (3), “the” (4), “mat” (5)."
    )
    press(page.browser, Keys.TAB, Keys.SPACE)  # from the last button into the mask
    mask.view(-1)[squares.index(page.browser.switch_to.active_element)] ^= True
    press(page.browser, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    mask.view(-1)[squares.index(page.browser.switch_to.active_element)] ^= True
    assert mask.sum() == 2
    compare()
    click = (
        "const start = performance.now(); arguments[0].dispatchEvent(new MouseEvent('click'));"
        "document.body.offsetHeight; return performance.now() - start"
    )
    page.times += [page.browser.execute_script(click, square) for square in squares]


def match_the_key(page):
    data = page.playground.data
    vectors = [np.array(vector) for vector in (*data["queries"], *data["keys"])]
    handles = page.root.find_elements(By.CSS_SELECTOR, ".handle")

    def compare():
        scores = np.array(vectors[:2]) @ np.array(vectors[2:]).T
        shown = [cell.text for cell in page.root.find_elements(By.CSS_SELECTOR, "tbody td")]
        assert shown == said([*scores.ravel(), *first_steps.softmax(scores).ravel()]).split(", "), shown

    compare()
    for number, step in [(0, (0.1, 0)), (1, (0, 0.1)), (2, (-0.1, 0)), (3, (0, -0.1))]:
        page.browser.execute_script("arguments[0].focus()", handles[number])
        horizontal = Keys.ARROW_RIGHT if step[0] > 0 else Keys.ARROW_LEFT
        vertical = Keys.ARROW_UP if step[1] > 0 else Keys.ARROW_DOWN
        press(page.browser, *[horizontal if step[0] else vertical] * 4)
        vectors[number] = vectors[number] + 4 * np.array(step)
        compare()
        moved = page.browser.execute_script("return document.querySelectorAll('td.moved').length")
        assert moved == 2, f"one vector moves {moved} scores"


def merge_the_pairs(page):
    field = page.root.find_element(By.CSS_SELECTOR, "textarea")
    for text in (page.playground.data["text"], "aaaa aaa banana bandana", "low lower lowest – café"):
        field.clear()
        field.send_keys(text)
        parts = [single_bytes(word) for word in split_words(text)]
        for merges in range(9):
            page.slide(0, merges)
            pairs = train_bpe(Counter(map(tuple, parts)), merges)
            ranks = {pair: rank for rank, pair in enumerate(pairs)}
            tokens = [token for word in parts for token in apply_merges(word, ranks)]
            number = f"{len(pairs)} {'merge' if len(pairs) == 1 else 'merges'}"
            page.expect(f"{sum(map(len, parts))} bytes are {len(tokens)} tokens after {number}.")
            shown = [piece.text for piece in page.root.find_elements(By.CSS_SELECTOR, ".piece")]
            for piece, token in zip(shown, tokens, strict=True):
                with contextlib.suppress(UnicodeDecodeError):  # part of a character is shown as a number
                    assert piece == token.decode().replace(" ", "␣"), (piece, token)


@functools.cache
def chat_tokenizer():
    return read_tokenizer(GGUFFile(chat_model.path()))


def merge_the_chat_models_pairs(page):
    """Merged to the end, a text has the chat model's own tokens, however it is cut."""
    field = page.root.find_element(By.CSS_SELECTOR, "textarea")
    for text in (page.playground.data["text"], "unbelievably, 12345 lighthouses!", "a  b   7 – café it's"):
        field.clear()
        field.send_keys(text)
        page.slide(0, 300)
        ids = chat_tokenizer().encode(text)
        page.expect(f"are {len(ids)} tokens after")
        page.expect("No pair is left.")
        shown = [piece.text.replace("␣", " ") for piece in page.root.find_elements(By.CSS_SELECTOR, ".piece")]
        assert shown == [chat_tokenizer().decode([number]) for number in ids], shown


def fill_the_cache(page):
    for written in range(1, len(page.playground.data["words"]) + 1):
        page.slide(0, written)
        page.expect(f"{written * (written + 1) // 2} keys and values computed without a cache, {written} with one.")


def accept_the_draft(page):
    data = page.playground.data
    p, q = torch.tensor([data["p"]], dtype=torch.float64), torch.tensor([data["q"]], dtype=torch.float64)
    buttons = page.root.find_elements(By.CSS_SELECTOR, "button")
    for token in range(4):
        buttons[token].click()
        for hundredths in range(0, 100, 9):
            page.slide(0, hundredths)
            drawn = speculate(p, q, torch.tensor([token]), torch.tensor([hundredths / 100], dtype=torch.float64))
            chosen = page.root.find_element(By.CSS_SELECTOR, "tr.chosen th").text
            assert chosen == f"{data['words'][drawn.item()]} (result)", (token, hundredths, chosen)
    buttons[-1].click()
    page.expect("they come near p")


def split_the_question(page):
    data = page.playground.data
    keys = torch.tensor(data["keys"], dtype=torch.float64)
    queries = torch.tensor(data["queries"], dtype=torch.float64)
    values = torch.tensor(data["values"], dtype=torch.float64)
    handles = page.root.find_elements(By.CSS_SELECTOR, ".handle")  # two queries, and the point of the two values
    buttons = page.root.find_elements(By.CSS_SELECTOR, "button")
    lines = page.root.find_elements(By.CSS_SELECTOR, "svg:last-child line[stroke-width='5']")

    def compare(heads=(0, 1)):
        outputs, weights = scaled_dot_product_attention(queries, keys, values[:, None])
        shown = [cell.text for cell in page.root.find_elements(By.CSS_SELECTOR, "tbody td")]
        rows = [said([*weights[head], outputs[head, 0]]).split(", ") if head in heads else ["–"] * 4 for head in (0, 1)]
        assert shown == rows[0] + rows[1], shown
        for head in heads:  # both ends of its line, and the point itself, give what the head returns
            ends = [float(lines[head].get_attribute(name)) for name in ("x1", "y1", "x2", "y2")]
            for x, y in zip(ends[::2], ends[1::2], strict=True):
                pair = torch.tensor([(x - 44) / 33, 0, (296 - y) / 33], dtype=torch.float64)
                assert abs(weights[head] @ pair - outputs[head, 0]) < 1e-6, (head, pair)
        if len(heads) == 2:
            page.expect(f"The merged output is ({said(outputs[:, 0])}).")
            found = torch.linalg.solve(weights[:, [0, 2]], outputs[:, 0])
            page.expect(f"“cats” {said(found[0])} and “fish” {said(found[1])}.")

    compare()
    for number, step in [(0, (0.1, 0)), (1, (0, 0.1)), (2, (-0.1, 0)), (2, (0, -0.1))]:
        page.browser.execute_script("arguments[0].focus()", handles[number])
        horizontal = Keys.ARROW_RIGHT if step[0] > 0 else Keys.ARROW_LEFT
        vertical = Keys.ARROW_UP if step[1] > 0 else Keys.ARROW_DOWN
        press(page.browser, *[horizontal if step[0] else vertical] * 4)
        if number < 2:
            queries[number] += 4 * torch.tensor(step, dtype=torch.float64)
        else:
            values[[0, 2]] += 4 * torch.tensor(step, dtype=torch.float64)
        compare()
    buttons[1].click()
    compare(heads=(0,))
    page.expect("One number leaves a line")
    buttons[0].click()
    page.expect("No head is on")
    buttons[2].click()
    queries[0] = 2.5
    compare(heads=(0,))
    buttons[1].click()
    compare()
    buttons[3].click()
    queries[:] = torch.tensor(data["queries"])
    compare()
    drag = (
        "const [handle, x] = arguments, box = handle.ownerSVGElement.getBoundingClientRect();"
        "const start = performance.now();"
        "handle.onpointermove({clientX: box.x + x, clientY: box.y + 120});"
        "document.body.offsetHeight; return performance.now() - start"
    )
    page.browser.execute_script("arguments[0].setPointerCapture = () => 0; arguments[0].onpointerdown({})", handles[0])
    page.times += [page.browser.execute_script(drag, handles[0], x) for x in range(20, 320, 5)]


def level_the_features(page):
    names = page.playground.data["norms"]
    rules = {name: F.rms_norm if name == "RMSNorm" else F.layer_norm for name in names}
    token = torch.tensor(page.playground.data["token"], dtype=torch.float64)

    def compare():
        page.expect(
            f"The token’s mean is {said(token.mean())}, its standard deviation {said(token.std(correction=0))}, "
        )
        for name in names:
            page.expect(f"After {name}: {said(rules[name](token, (4,), eps=1e-5))}.")

    compare()
    before = page.said().split("After ")[1]
    buttons = page.root.find_elements(By.CSS_SELECTOR, "button")
    double, halve = (2, lambda x: 2 * x), (3, lambda x: x / 2)
    shift, back = (0, lambda x: x + 1), (1, lambda x: x - 1)
    for button, change in [shift, back, halve, back, *5 * [double], *6 * [shift], *5 * [halve]]:
        buttons[button].click()
        token = change(token)
        compare()
    if names == ["layer norm"]:
        assert page.said().split("After ")[1] == before, "a shift and a factor change what layer norm gives"
    buttons[4].click()
    token = torch.tensor(page.playground.data["token"], dtype=torch.float64)
    for number, handle in enumerate(page.root.find_elements(By.CSS_SELECTOR, ".handle")):
        page.browser.execute_script("arguments[0].focus()", handle)
        press(page.browser, Keys.ARROW_UP, Keys.ARROW_UP)
        token[number] += 0.2
        compare()


def share_the_keys(page):
    data = page.playground.data
    buttons = page.root.find_elements(By.CSS_SELECTOR, "button")
    for place, many in enumerate((1, 3, 9)):
        page.slide(0, place)
        for power in (8, 13, 15):
            page.slide(1, power)
            buttons[0].click()
            used = torch.arange(many).repeat_interleave(9 // many).tolist()
            page.expect(f"use KV heads {', '.join(map(str, used))}.")
            size = 2 * data["layers"] * many * data["features"] * 2**power * 2 / 2**20
            page.expect(f"the cache takes {size:.1f} MiB.")
        buttons[1].click()
        page.expect(f"use KV heads {', '.join(map(str, torch.arange(many).repeat(9 // many).tolist()))}.")
        assert ("wrong order" in page.said()) == (many == 3)


def follow_the_copy(page):
    words, tokens, factor = (page.playground.data[name] for name in ("words", "tokens", "factor"))
    buttons = page.root.find_elements(By.CSS_SELECTOR, "button:not(.piece)")

    def compare(noted=True):
        _, chances = playgrounds.induction_by_hand(tokens, len(words), factor, noted)
        shown = [share.text for share in page.root.find_elements(By.CSS_SELECTOR, ".chance > :last-child")]
        assert shown == said(chances).split(", "), (tokens, shown)
        return chances.argmax().item()

    for factor in (1, 10, 6):
        page.slide(0, factor)
        compare()
    for _ in range(5):
        tokens = [*tokens, compare()]
        buttons[0].click()
    for place in (1, 1, 4, len(tokens) - 1):
        page.root.find_elements(By.CSS_SELECTOR, "button.piece")[place].click()
        tokens = [*tokens[:place], (tokens[place] + 1) % len(words), *tokens[place + 1 :]]
        compare()
    buttons[1].click()
    compare(noted=False)
    page.expect("it looks at all the words equally")
    buttons[2].click()
    tokens = page.playground.data["tokens"]
    compare()


def level_both(page):
    level_the_features(page)


def bend_the_chances(page):
    prompts, size = page.playground.data["prompts"], page.playground.data["size"]
    picks = page.root.find_elements(By.CSS_SELECTOR, "button")

    def compare(prompt, temperature, k):
        logits = torch.tensor([logit / 100 for logit in prompt["logits"]], dtype=torch.float64)
        rest = [tenths / 10 for tenths, number in prompt["rest"] for _ in range(number)]
        logits = torch.cat([logits, torch.tensor(rest, dtype=torch.float64)])  # the likeliest first
        logits[1 if temperature == 0 else k :] = -torch.inf
        shares = (logits / (temperature or 1)).softmax(-1)
        shown = [row.text for row in page.root.find_elements(By.CSS_SELECTOR, ".chance > :last-child")]
        assert shown == said([*shares[:12], shares[12:].sum()]).split(", "), (temperature, k, shown)

    for pick, prompt in zip(picks, prompts, strict=False):
        pick.click()
        for temperature in (0, 1, 5, 10, 15, 20):
            page.slide(0, temperature)
            for place, k in enumerate([1, 2, 3, 5, 8, 12, 20, 50, 100, 500, size]):
                page.slide(1, place)
                compare(prompt, temperature / 10, k)
    picks[-1].click()
    assert len(page.root.find_elements(By.CSS_SELECTOR, ".piece")) == 20
    page.expect("Of 20 draws, ")


USES = [average_the_vectors, drag_the_query, match_the_key, widen_the_vectors, turn_the_hands, draw_the_mask]
USES += [merge_the_pairs, fill_the_cache, accept_the_draft, split_the_question, level_the_features, bend_the_chances]
USES += [share_the_keys, follow_the_copy]
MADE = {use: getattr(playgrounds, use.__name__) for use in USES}
MADE[level_both] = lambda: playgrounds.level_the_features("LayerNorm", "RMSNorm")
if chat_model.path().exists():
    MADE[merge_the_chat_models_pairs] = lambda: playgrounds.merge_the_pairs(chat_tokenizer())


def main():
    faulty = 0
    with opened() as (browser, folder):
        for use, make in MADE.items():
            page, faults = Page(browser, folder, make()), []
            try:
                use(page)
            except AssertionError as error:
                faults.append(str(error))
            median, worst = statistics.median(page.times or [0]), max(page.times or [0])
            answered = f"a move is answered in {median:.1f} ms (median), {worst:.1f} ms (worst)"
            if median > 16 or worst > 50:
                faults.append("it must not take more than 16 ms (median) and 50 ms (worst)")
            photograph(browser, use.__name__)
            faults += loud(browser) + inaccessible(browser) + [*in_vs_code(browser, folder, page.playground)]
            faulty += report(f"{use.__name__}: {answered}", faults)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
