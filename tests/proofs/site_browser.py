"""Opens every page of the site in a real browser, from its files: python tests/proofs/site_browser.py SITE

SITE is the folder that `python .site/build.py` has filled; pages named after it ("notebooks/03_scaling.html")
are opened alone. It needs Chromium, its driver and selenium, as browser.py does. Every page is seen as wide
as phones, tablets and desktops are, light and dark: no formula fails, no picture is missing or without
alternative text, no diagram has letters under 11 px, nothing stands out of the page, no link to another page
is dead, the console is empty, nothing is asked for from elsewhere, and axe-core finds nothing. Then a
stranger on a phone finds the reason for √d in three taps, a search finds, every answer on the front page shows
its verdict, pictures are enlarged, every typed answer to a question is read rightly, a clicker presents a lesson
screen by screen, every lesson at three sizes; answers are remembered, sections fold away, cells run in the page, typed
code and typed weights are judged, results appear while one types, a recording of the model runs on the start page, its
picture answers before it is loaded, and the model writes once it is asked to, the picture of the opening stays in
sight, and on paper nothing is folded.
"""

import base64
import json
import os
import re
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser import inaccessible, loud, opened, photograph, press, report, see
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

VIEWS = [
    ("phone", 360, "light"),
    ("phone", 390, "dark"),
    ("tablet", 768, "light"),
    ("desktop", 1440, "light"),
    ("desktop", 1440, "dark"),
]
LOOK = r"""
const all = selector => [...document.querySelectorAll(selector)];
const article = document.querySelector('article') ?? document.body;
const prose = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
const faults = [], fault = (what, element) => faults.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
for (const math of all('math')) {
  const box = math.getBoundingClientRect();
  if (!box.width || !box.height) fault('a formula without size', math);
  if (math.querySelector('merror') || math.textContent.includes('\\')) fault('a formula with an error', math);
}
const font = document.fonts.check('16px "Lesson Math"');
if (all('math').length && !font) faults.push('the font of formulas is not there');
while (prose.nextNode()) {
  const text = prose.currentNode;
  if (/\$|\\[a-z]+\{/.test(text.data) && !text.parentElement.closest('code, pre, script, style, math'))
    faults.push(`a formula left as it was: ${text.data.slice(0, 80)}`);
}
for (const image of all('img')) {
  if (!(image.complete && image.naturalWidth)) fault('a picture is not there', image);
  if (!image.alt) fault('a picture without alternative text', image);
}
for (const explorer of all('.attention-explorer'))
  if (!explorer.querySelector('form')) fault('an explorer does not run', explorer);
for (const diagram of all('.diagram svg')) {  // its smallest letters are drawn 12 high
  const {width} = diagram.getBoundingClientRect();
  if (width && 12 * width / diagram.viewBox.baseVal.width < 11) fault('small letters', diagram);
  if (!diagram.ariaLabel) fault('a diagram without alternative text', diagram);
}
const scrolls = e => e.closest('pre, .table-wrapper, .formula');
const wide = all('article *, .mobile-header *')
  .filter(e => e.getBoundingClientRect().right > arguments[0] + 1 && !scrolls(e));
wide.slice(0, 3).forEach(element => fault('it stands out of the page', element));
return {
  faults, formulas: all('math').length, pictures: all('img, .diagram svg').length,
  links: all('a[href]').map(a => a.href).filter(href => href.startsWith('file:')),
};
"""
FETCH = """
const pictures = [...document.images], late = new Promise(done => setTimeout(done, 20000));
pictures.forEach(picture => { picture.loading = 'eager'; });  // as the page does after a second
Promise.race([Promise.all(pictures.map(picture => picture.decode().catch(() => {}))), late]).then(() => arguments[0]());
"""
UNFOLD = "document.querySelectorAll('details').forEach(details => { details.open = true; })"


def visit(browser, address):
    browser.get(address)
    settle(browser)


def settle(browser):
    """Waits for fonts, and for what scripts do."""
    time.sleep(0.1)
    browser.execute_async_script("document.fonts.ready.then(() => arguments[0]())")
    WebDriverWait(browser, 20).until(lambda b: not b.find_elements(By.CSS_SELECTOR, "html.fitting"))
    time.sleep(0.1)


def dead(links, anchors):
    """Links to files that are not there, or to anchors that the page does not have."""
    for link in sorted(set(links)):
        parts = urlsplit(link)
        path = Path(unquote(parts.path))
        if not path.is_file():
            yield f"a dead link: {link}"
        elif parts.fragment and path.suffix == ".html":
            if path not in anchors:
                anchors[path] = path.read_text(encoding="utf-8")
            if f'id="{unquote(parts.fragment)}"' not in anchors[path]:
                yield f"a dead anchor: {link}"


def inspect(browser, site, page, anchors):
    """(faults, formulas, pictures) of one page, in all views."""
    faults = {}
    for number, (name, width, scheme) in enumerate(VIEWS):
        see(browser, width, scheme)
        visit(browser, (site / page).as_uri())
        photograph(browser, f"{page.with_suffix('')}-{width}-{scheme}".replace("/", "-"), whole=True)
        browser.execute_script(UNFOLD)
        browser.execute_async_script(FETCH)
        settle(browser)
        state = browser.execute_script(LOOK, width)
        found = state["faults"] + loud(browser) + inaccessible(browser)
        if number == 0:
            found += dead(state["links"], anchors)
        for fault in found:
            faults.setdefault(fault, []).append(f"{name} {width} {scheme}")
    told = [f"{fault} ({', '.join(views)})" for fault, views in faults.items()]
    return told, state["formulas"], state["pictures"]


def three_taps(browser, site):
    """A stranger on a phone: from the front page to lesson 3, its list of contents, and on to the reason."""
    see(browser, 375, "light", height=667)
    visit(browser, (site / "index.html").as_uri())
    tap(browser, "Why divide by √d")
    browser.find_element(By.CSS_SELECTOR, "label.toc-header-icon").click()
    time.sleep(1)  # the drawer glides in
    links = browser.find_elements(By.CSS_SELECTOR, ".toc-drawer a")
    next(link for link in links if "Dividing by √d gives the scores variance 1" in link.text).click()
    time.sleep(3)  # the page glides there
    formula = browser.find_element(By.CSS_SELECTOR, ":target math")
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", formula)
    return [] if 0 <= top < 667 else [f"after three taps the formula is at {top:.0f} px of 667"]


def tap(browser, words):
    """Taps what can be seen."""
    links = browser.find_elements(By.CSS_SELECTOR, "article a")
    link = next(link for link in links if words in link.text and link.is_displayed())
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", link)
    link.click()
    WebDriverWait(browser, 10).until(lambda b: b.execute_script("return document.readyState") == "complete")


def search(browser, site):
    see(browser, 1300, "light")
    visit(browser, (site / "search.html").as_uri() + "?q=standard+deviation")
    WebDriverWait(browser, 20).until(lambda b: "for “" in b.find_element(By.ID, "how-many").text)
    links = browser.find_elements(By.CSS_SELECTOR, "#found li a")
    found = [link.get_attribute("href") for link in links]
    right = any("03_scaling.html" in address for address in found)
    photograph(browser, "search-results", whole=True)
    see(browser, 360, "light")
    visit(browser, (site / "index.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, ".mobile-header a[aria-label=Search]").click()
    WebDriverWait(browser, 20).until(lambda b: b.switch_to.active_element.get_attribute("name") == "q")
    return ([] if right else [f"a search finds {found}"]) + loud(browser)


def chosen(browser, site):
    """On the front page each answer, once chosen, shows its own verdict and no other, on a phone too."""
    see(browser, 360, "light")
    visit(browser, (site / "index.html").as_uri())
    panels = browser.find_elements(By.CSS_SELECTOR, ".panels > div")
    faults = []
    for number, label in enumerate(browser.find_elements(By.CSS_SELECTOR, ".verdicts label")):
        browser.execute_script("arguments[0].click()", label)
        shown = [place for place, panel in enumerate(panels) if panel.is_displayed()]
        if shown != [number]:
            faults.append(f"{label.text} shows {shown}")
    return faults if panels else ["no answers to choose from"]


ENLARGE = """
const faults = [];
for (const picture of document.querySelectorAll('.diagram svg, .cell_output img')) {
  const here = picture.getBoundingClientRect().width;
  if (!here) continue;
  picture.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
  const large = document.querySelector('.enlarged :is(img, svg)').getBoundingClientRect().width;
  if (large < 1.2 * here) faults.push(`${(picture.alt ?? picture.ariaLabel).slice(0, 60)}: ${here} px become ${large}`);
  document.querySelector('.enlarged').close();
}
return faults;
"""


def enlarged(browser, site):
    """What is clicked opens larger than it was, on every screen."""
    faults = []
    for width in (360, 1440, 1920):
        see(browser, width, "light")
        visit(browser, (site / "notebooks/01_self_attention.html").as_uri())
        faults += [f"{width} px wide: {fault}" for fault in browser.execute_script(ENLARGE)]
    return faults


TYPE = """
const [form, text] = arguments;
form.elements.answer.value = text;
form.requestSubmit();
return form.querySelector('output').textContent;
"""


def typed(browser, site):
    """Right answers and known slips, typed into the fields below questions."""
    faults = []
    for page in sorted((site / "notebooks").glob("*.html")):
        visit(browser, page.as_uri())
        for form in browser.find_elements(By.CSS_SELECTOR, "form.field"):
            told = json.loads(base64.b64decode(form.get_attribute("data-told")))
            for value, sign in [(told["right"], "✓"), *((slip, "✗") for slip, _ in told["slips"])]:
                text = f"({', '.join(map(str, value))})" if told["shape"] else repr(value)
                said = browser.execute_script(TYPE, form, text)
                if not said.startswith(sign):
                    faults.append(f"{page.stem}: {text} is answered by {said!r}")
    return faults


SCREEN = """
const pieces = [...document.querySelectorAll('article section > :not(section, .cell), article .cell > *')];
const seen = pieces.filter(piece => piece.offsetHeight && !piece.closest('.elsewhere'))
  .map(piece => piece.getBoundingClientRect()).filter(box => box.bottom > 1 && box.height < innerHeight);
return [document.body.dataset.screen, seen.filter(box => box.top > -1).length,
        seen.filter(box => box.top > 0 && box.bottom > innerHeight).length];
"""


def presented(browser, site):
    """A clicker goes through a lesson and back; every screen holds something, and cuts nothing that could be whole.

    After the last one comes the next lesson, presented as well, and before its first one this lesson's last.
    """
    see(browser, 1920, "light", height=1080)
    visit(browser, (site / "notebooks/01_self_attention.html").as_uri())
    press(browser, "p")
    settle(browser)
    screens = [browser.execute_script(SCREEN)]
    count = int(screens[0][0].split("/")[1])
    for key in [Keys.PAGE_DOWN] * (count - 1) + [Keys.PAGE_UP] * (count - 1):
        press(browser, key)
        screens.append(browser.execute_script(SCREEN))
    numbers = [*range(1, count + 1), *range(count - 1, 0, -1)]
    came = [int(name.split("/")[0]) for name, *_ in screens]
    faults = [] if count > 20 and came == numbers else [f"the screens come as {came}"]
    for key in [Keys.PAGE_DOWN] * count + [Keys.PAGE_UP]:
        press(browser, key)
        place, screen = browser.execute_script("return [location.href, document.body.dataset.screen]")
        if "02_" in place:
            wait = WebDriverWait(browser, 20)
            wait.until(lambda one: one.execute_script("return document.documentElement.matches('.presenting')"))
            screen = browser.execute_script("return document.body.dataset.screen")
            faults += [] if screen.startswith("1 /") else [f"the next lesson begins with screen {screen}"]
    settle(browser)
    place, screen = browser.execute_script("return [location.href, document.body.dataset.screen]")
    faults += [] if "01_" in place and screen == f"{count} / {count}" else [f"back is {place}, screen {screen}"]
    return faults + [f"screen {name}: {seen} parts, {cut} cut" for name, seen, cut in screens if not seen or cut]


SIZES = [(1920, 1080), (1366, 768), (1280, 720)]
FIRST = """
return [...document.querySelectorAll('article section > :not(section, .cell), article .cell > *')]
  .find(piece => piece.offsetHeight && !piece.closest('.elsewhere')).textContent;
"""


def resized(browser, site):
    """A window that changes its size keeps what it shows and cuts nothing, and the next press moves on."""
    see(browser, 1920, "light", height=1080)
    visit(browser, (site / "notebooks/03_scaling.html").as_uri())
    press(browser, "p")
    settle(browser)
    for _ in range(7):
        press(browser, Keys.PAGE_DOWN)
    faults, first = [], browser.execute_script(FIRST)
    for width, height in [*SIZES[1:], SIZES[0]]:
        see(browser, width, "light", height=height)
        settle(browser)
        name, seen, cut = browser.execute_script(SCREEN)
        if browser.execute_script(FIRST) != first or not seen or cut:
            faults.append(f"{width} px wide: screen {name} begins with something else, or {cut} parts are cut")
    press(browser, Keys.PAGE_DOWN)
    after = int(browser.execute_script(SCREEN)[0].split("/")[0])
    return faults + ([] if after == int(name.split("/")[0]) + 1 else [f"after screen {name} comes {after}"])


WALKED = """
return [Number(document.body.dataset.screen.split('/')[0]), Number(document.body.dataset.screen.split('/')[1]),
        Math.round(scrollY), document.querySelector('a.next-page')?.href ?? ''];
"""


def walked(browser, site):
    """A clicker goes through every lesson, at three sizes: each press moves on, and the last screen is reached."""
    faults = []
    for width, height in SIZES:
        for page in sorted((site / "notebooks").glob("[0-9]*.html")):
            see(browser, width, "light", height=height)
            visit(browser, page.as_uri())
            press(browser, "p")
            settle(browser)
            before = browser.execute_script(WALKED)
            for _ in range(4 * before[1]):
                if before[0] == before[1]:
                    break
                press(browser, Keys.PAGE_DOWN)
                now = browser.execute_script(WALKED)
                if now[0] == before[0] and abs(now[2] - before[2]) <= 2:
                    break
                before = now
            if before[0] < before[1]:
                faults.append(f"{page.stem}, {width} × {height}: stuck at screen {before[0]} of {before[1]}")
    return faults


REMEMBERED = """
const question = document.querySelector('.question:has(details.choice)');
const opened = question.querySelectorAll('details[open]').length;
return [question.dataset.question, question.classList.contains('solved'), opened];
"""
ANSWER = """
const right = document.querySelector('.question:has(details.choice)').querySelectorAll('details.choice:has(.right)');
right.forEach(choice => { choice.open = true; });
"""
STORES = [
    "",
    "{",
    "[]",
    "null",
    "3",
    '{"answers": [], "last": 7}',
    '{"answers": {"1.1": 5}, "lessons": {"1": {}}, "lines": {"softmax/x": "y"}}',
]


def remembered(browser, site):
    """Answers outlast a reload and reach another tab; the start page continues there; a damaged store does no harm."""
    see(browser, 1300, "light")
    lesson, start = (site / "notebooks/01_self_attention.html").as_uri(), (site / "index.html").as_uri()
    faults = []
    for store in STORES:
        visit(browser, lesson)
        browser.execute_script("localStorage.setItem('transformer-lessons', arguments[0])", store)
        for address in (lesson, start):
            visit(browser, address)
            faults += [f"with the store {store!r}: {fault}" for fault in loud(browser)]
    browser.execute_script("localStorage.clear()")
    visit(browser, lesson)
    visit(browser, start)
    if browser.find_elements(By.CSS_SELECTOR, ".start .continue"):
        faults.append("a lesson that was only opened counts as begun")
    visit(browser, lesson)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    visit(browser, lesson)
    browser.execute_script(ANSWER)
    time.sleep(0.5)
    second = browser.current_window_handle
    browser.switch_to.window(first)
    time.sleep(0.5)
    number, solved, opened = browser.execute_script(REMEMBERED)
    faults += [] if solved and opened else [f"another tab does not know that {number} is answered"]
    visit(browser, lesson)
    faults += [] if browser.execute_script(REMEMBERED)[1] else [f"{number} is forgotten after a reload"]
    visit(browser, start)
    links = browser.find_elements(By.CSS_SELECTOR, ".start .continue")
    told = links[0].text if links else "nothing"
    faults += [] if told.startswith("Continue at 1.") else [f"the start page offers {told}"]
    browser.execute_script("document.querySelector('.forget button').click()")
    visit(browser, lesson)
    faults += ["what was forgotten is remembered"] if browser.execute_script(REMEMBERED)[1] else []
    browser.switch_to.window(second)
    browser.close()
    browser.switch_to.window(first)
    return faults + loud(browser)


WRONG_LINE = """
const own = document.querySelector('.wrong-lines').dataset.exercise;
const name = own ?? document.querySelector('.asked code').textContent;
const lines = [...document.querySelectorAll('.code button')];
const at = wrongLines[name].puzzles.find(([, , , , at, line]) => lines[at]?.textContent === line.trim())[4];
const click = number => { lines[number].click(); return document.querySelector('.wrong-lines .told').textContent; };
return [click(at ? 0 : 1), click(at), Object.values(remembered.recall().lines)];
"""


def found_line(browser, site):
    """In a puzzle a right line is called right, the wrong one is explained, and how many clicks it took is kept."""
    faults = []
    for place in ("exercises/softmax.html#which-line-is-wrong", "wrong_lines.html", "wrong_lines.html#softmax"):
        visit(browser, "about:blank")  # else a fragment would load nothing anew
        visit(browser, f"{site.as_uri()}/{place}")
        browser.execute_script("localStorage.clear()")
        WebDriverWait(browser, 5).until(lambda browser: browser.find_elements(By.CSS_SELECTOR, ".code button"))
        right, wrong, kept = browser.execute_script(WRONG_LINE)
        if "is right" not in right or not wrong.startswith("✓ Line ") or kept != [2]:
            faults.append(f"{place}: {right!r}, {wrong!r}, {kept}")
    browser.find_element(By.CSS_SELECTOR, ".wrong-lines [name=next]").click()
    time.sleep(0.3)
    if browser.find_element(By.CSS_SELECTOR, ".told").text:
        faults.append("the next puzzle begins with the last one's verdict")
    return faults + loud(browser)


ANSWERS = {  # what is typed as the body of softmax, and what the verdict holds
    "raise NotImplementedError": "○ softmax: not attempted yet.",
    "e = np.exp(scores - scores.max())\n    return e / e.sum()": "✗ softmax: ",
    "return np.exp(scores) / np.exp(scores).sum()": "at once: sum over more than one row and nothing subtracted.",
    "return np.epx(scores)": "This page knows no np.epx. Did you mean exp?",
    "while True:\n        pass": "This takes too long",
    "weights = np.exp(scores)": "✗ softmax: it returns nothing.",
    "return scores + 1": "✗ softmax: the wrong numbers.",
    "e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)": "✓ softmax",
}


def said_of(browser, body):
    """What the page says of an answer."""
    form = browser.find_element(By.CSS_SELECTOR, ".try-it[data-exercise=softmax]")
    area, told = form.find_element(By.TAG_NAME, "textarea"), form.find_element(By.CSS_SELECTOR, ".told")
    browser.execute_script("arguments[0].value = ''; arguments[1].replaceChildren()", area, told)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", area)
    area.send_keys("def softmax(scores):", Keys.ENTER)  # which indents the next line
    for number, line in enumerate(body.split("\n")):
        area.send_keys(*[Keys.ENTER] * bool(number), line.strip())
    area.send_keys(Keys.CONTROL, Keys.ENTER)
    WebDriverWait(browser, 30).until(lambda _: told.get_attribute("aria-busy") == "false" and told.text)
    return told.text


def typed_code(browser, site):
    """An exercise is typed with the keyboard alone, and the page judges it: wrong, with the mistake's name, or right,
    with its tick; a loop without end ends; what was typed outlasts a reload, and can be forgotten.
    """
    faults = []
    lesson = "notebooks/01_self_attention.html#exercise--softmax"
    for width, place in ((390, "try.html#softmax"), (1366, "exercises/softmax.html"), (1366, lesson)):
        see(browser, width, "dark" if width == 390 else "light")
        visit(browser, "about:blank")
        visit(browser, f"{site.as_uri()}/{place}")
        browser.execute_script("localStorage.clear()")
        browser.refresh()
        settle(browser)
        for body, expected in ANSWERS.items():
            said = said_of(browser, body)
            faults += [] if expected in said else [f"{place}: {body!r} gets {said!r}"]
            if "sum()" in body or said.startswith("✓"):
                photograph(browser, f"typed-{said[:1]}-{width}-{place[:3]}", whole=place != lesson)
                faults += inaccessible(browser)
        area = browser.find_element(By.CSS_SELECTOR, ".try-it[data-exercise=softmax] textarea")
        area.send_keys(Keys.TAB)
        if browser.execute_script("return document.activeElement === arguments[0]", area):
            faults.append(f"{place}: Tab does not leave the editor")
        time.sleep(0.5)
        browser.refresh()
        settle(browser)
        area = browser.find_element(By.CSS_SELECTOR, ".try-it[data-exercise=softmax] textarea")
        solved = browser.find_elements(By.CSS_SELECTOR, ".try-it.solved[data-exercise=softmax]")
        if "e = np.exp" not in area.get_attribute("value") or not solved:
            faults.append(f"{place}: what was typed is forgotten after a reload")
        visit(browser, (site / "index.html").as_uri())
        browser.execute_script("document.querySelector('.forget button').click()")
        visit(browser, f"{site.as_uri()}/{place}")
        area = browser.find_element(By.CSS_SELECTOR, ".try-it[data-exercise=softmax] textarea")
        if "NotImplementedError" not in area.get_attribute("value"):
            faults.append(f"{place}: what was forgotten is remembered")
    return faults + loud(browser)


PLACE = """
const now = document.querySelector('.place .now');
const [at, of] = now.querySelector('b').textContent.split(' of ').map(Number);
return [at, of, now.querySelector('span').textContent, document.querySelectorAll('details.extra').length];
"""


RUN = """
const [number, code, done] = arguments, cell = document.querySelectorAll('.cell.tag_runs')[number];
const button = cell.querySelector('button.run'), words = one => one?.textContent.trimEnd() ?? '';
if (code) {
  cell.querySelector('textarea').value = code;
  cell.querySelector('textarea').dispatchEvent(new Event('input'));
}
button.click();
const look = () => {
  const own = cell.querySelector('.own-output'), busy = document.querySelector('.run[aria-busy], .own-busy');
  if (!own?.querySelector('.result').children.length || busy) return setTimeout(look, 50);
  const saved = [...cell.querySelectorAll('.cell_output:not(.own-output) pre')].map(words).join('\\n');
  const [result, {value}] = [own.querySelector('.result'), cell.querySelector('textarea')];
  done({saved, own: words(own.querySelector('pre')), said: words(result), code: value});
};
setTimeout(look, 50);
"""


def cells_run(browser, site):
    """Every cell with a button gives its saved output; what is changed in one holds below; and there is a way back."""
    see(browser, 1300, "dark")
    faults = []
    for page in sorted((site / "notebooks").glob("0[1-3]_*.html")):
        visit(browser, page.as_uri())
        scripts = browser.execute_script("return [...document.scripts].map(one => one.src).join()")
        faults += [f"{page.stem} loads Python before a button is pressed"] if "python.js" in scripts else []
        for number in range(len(browser.find_elements(By.CSS_SELECTOR, "button.run"))):
            told = browser.execute_async_script(RUN, number, None)
            if told["own"] != told["saved"]:
                faults.append(f"{page.stem}: cell {number} gives {told['own']!r}, and saved is {told['saved']!r}")
        settle(browser)
        faults += inaccessible(browser)
    see(browser, 390, "light")
    visit(browser, (site / "notebooks/01_self_attention.html").as_uri())
    cells = browser.find_elements(By.CSS_SELECTOR, ".cell.tag_runs")
    codes = [cell.find_element(By.CSS_SELECTOR, "pre").get_attribute("textContent") for cell in cells]
    first = next(at for at, code in enumerate(codes) if code.startswith("three = "))
    below = next(at for at, code in enumerate(codes) if code.startswith("scores = three"))
    browser.execute_async_script(RUN, below, None)
    code = browser.execute_async_script(RUN, first, None)["code"]
    browser.execute_async_script(RUN, first, code.replace("[1.0, 0.0]", "[3.0, 0.0]"))
    said = cells[below].find_element(By.CSS_SELECTOR, ".result").text
    faults += [] if "9." in said and "your change in a cell above" in said else [f"a change above gives {said!r}"]
    for code, wanted in {"while True:\n    pass": "takes too long", "average =": "Line 1: "}.items():
        said = browser.execute_async_script(RUN, first, code)["said"]
        faults += [] if wanted in said else [f"{code!r} is answered by {said!r}"]
    said = browser.execute_async_script(RUN, below, None)["said"]
    faults += [] if said.startswith("In a cell above, line 1: ") else [f"a fault above is told as {said!r}"]
    settle(browser)
    faults += inaccessible(browser)
    browser.execute_script("arguments[0].click()", cells[first].find_element(By.CSS_SELECTOR, ".whose button"))
    time.sleep(1)
    back = cells[first].find_elements(By.CSS_SELECTOR, "textarea, .own-output")
    said = cells[below].find_element(By.CSS_SELECTOR, ".result").text
    faults += [] if not back and said.startswith("array([[1., 0., 1.]") else [f"after the way back there is {said!r}"]
    return faults + loud(browser)


def in_place(browser, site):
    """Below a lesson stands which of its sections is read, and an arrow leads to the next; who comes back may continue
    there; extras are folded until the lesson is presented, or one is asked for.
    """
    faults = []
    for width, height in ((390, 844), (1366, 768)):
        see(browser, width, "light", height=height)
        visit(browser, (site / "notebooks/07_full_model.html").as_uri())
        browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; scrollTo(0, 12000)")
        time.sleep(0.5)
        at, of, name, extras = browser.execute_script(PLACE)
        browser.find_element(By.CSS_SELECTOR, ".place .next").click()
        time.sleep(0.5)
        on, *_ = browser.execute_script(PLACE)
        if not (1 <= at < of and on == at + 1 and name and extras >= 4):
            faults.append(f"{width} px wide: section {at} of {of}, {name!r}, then {on}; {extras} extras")
        visit(browser, "about:blank")
        visit(browser, (site / "notebooks/07_full_model.html").as_uri())
        told = browser.find_element(By.CSS_SELECTOR, ".actions .continue").text
        left = browser.execute_script("return document.querySelector('.place .now small').textContent")
        if told != f"Continue at section {on}" or not re.fullmatch(r"about \d+ min left", left):
            faults.append(f"{width} px wide: who comes back to section {on} reads {told!r}, and {left!r} below")
        visit(browser, "about:blank")
        visit(
            browser,
            (site / "notebooks/07_full_model.html").as_uri() + "#symptom-1-a-vector-comes-out-with-the-wrong-length",
        )
        if not browser.execute_script("return document.querySelector(':target').closest('details.extra').open"):
            faults.append(f"{width} px wide: a section of an extra stays folded when it is asked for")
        press(browser, "p")
        settle(browser)
        faults += ["extras are folded on a screen"] if browser.execute_script(PLACE)[3] else []
    return faults + loud(browser)


FOLDED = """
const folded = [...document.querySelectorAll('article > section > section.folded')];
const high = folded.filter(section => section.offsetHeight > 200), target = document.querySelector(':target');
return [folded.length, document.querySelectorAll('.fold').length, high.length, target?.matches('.folded')];
"""


def folded_away(browser, site):
    """Sections are folded away, one or all, and stay so; what a link leads to is unfolded, and nothing is folded on a
    screen that is presented.
    """
    faults, lesson = [], (site / "notebooks/03_scaling.html").as_uri()
    for width in (390, 1366):
        see(browser, width, "light")
        visit(browser, lesson)
        browser.execute_script("localStorage.clear()")
        visit(browser, lesson)
        browser.execute_script("document.querySelector('.fold').click()")
        one, sections, *_ = browser.execute_script(FOLDED)
        browser.execute_script("document.querySelector('.fold-all').click()")
        everything, _, high, _ = browser.execute_script(FOLDED)
        visit(browser, "about:blank")
        visit(browser, f"{lesson}#what-else-could-we-divide-by")
        kept, _, _, target = browser.execute_script(FOLDED)
        if (one, everything, high, kept, target) != (1, sections, 0, sections - 1, False) or sections < 10:
            faults.append(f"{width} px wide: {one}, {everything} of {sections}, {high} high, {kept} kept, {target}")
        press(browser, "p")
        settle(browser)
        if int(browser.execute_script("return document.body.dataset.screen").split("/")[1]) < 30:
            faults.append(f"{width} px wide: what is folded is not presented")
        browser.execute_script("localStorage.clear()")
    return faults + loud(browser)


def linked(browser, site):
    """A link to a mistake opens it, and no other; what a link leads to, far down in a lesson, stays at the top of the
    screen while the page above it finds its height.
    """
    page = site / "exercises/softmax.html"
    anchor = re.findall(r'<details class="mistake" id="([^"]+)"', page.read_text(encoding="utf-8"))[2]
    visit(browser, "about:blank")
    visit(browser, f"{page.as_uri()}#{anchor}")
    opened_ones = [one.get_attribute("id") for one in browser.find_elements(By.CSS_SELECTOR, ".mistake[open]")]
    faults = [] if opened_ones == [anchor] else [f"#{anchor} opens {opened_ones}"]
    see(browser, 390, "light", height=844)
    lesson = site / "notebooks/04_multi_head_attention.html"
    far = re.findall(r'<section id="([^"]+)"', lesson.read_text(encoding="utf-8"))[-3]
    visit(browser, f"{lesson.as_uri()}#{far}")
    time.sleep(1)
    top = browser.execute_script("return document.querySelector(':target').getBoundingClientRect().top")
    return faults + ([] if 0 <= top < 150 else [f"#{far} leads {top:.0f} px from the top"]) + loud(browser)


BY_HAND = """
const form = document.querySelector('form.by-hand');
return arguments[0].map(row => {
  row.forEach((weight, at) => { form.elements.weight[at].value = weight; });
  form.requestSubmit();
  return form.querySelector('[role="status"]').textContent;
});
"""
WEIGHTS = {  # what is typed, and how the verdict begins
    ("0.09", "0.24", "0.67"): "✓ softmax",
    ("0", "0,33", "0.67"): "✗ softmax: no exponential.",
    ("1", "2.72", "7.39"): "✗ softmax: not divided by the sum.",
    ("0.3", "0.3", "0.3"): "✗ softmax: these are not the weights.",
    ("0.09", "", "0.67"): "○ Type",
}


def by_hand(browser, site):
    """Weights that are typed on the start page are judged, and a known mistake is named."""
    see(browser, 390, "light")
    visit(browser, (site / "index.html").as_uri())
    said = browser.execute_script(BY_HAND, list(WEIGHTS))
    pairs = zip(WEIGHTS.items(), said, strict=True)
    return [f"{typed}: {told}" for (typed, begin), told in pairs if not told.startswith(begin)] + loud(browser)


def typing(browser, site):
    """Results appear below the search field as one types, and lead to their pages; a corrected word is told."""
    see(browser, 1300, "light")
    visit(browser, (site / "notebooks/03_scaling.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, ".sidebar-search").send_keys("softmax")
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".quick a"))
    links = [link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, ".quick a")]
    told = "return document.querySelector('.quick .meant')?.textContent"
    faults = ["what is spelt right is corrected"] if browser.execute_script(told) else []
    browser.find_element(By.CSS_SELECTOR, ".sidebar-search").send_keys(Keys.BACKSPACE * 2, "x")
    time.sleep(1)
    if browser.execute_script(told) != "Found for “softmax”":
        faults.append(f"of softmx it says {browser.execute_script(told)}")
    return faults + list(dead(links, {})) + loud(browser)


FOLLOWS = """
const one = selector => document.querySelector(`.live ${selector}`);
return [[...one('.words').children].map(word => word.textContent).join(''),
        Number(one('.ribbon').dataset.token) === lessons.showing.ids.length - 1,
        one('.nodes').children.length, document.querySelectorAll('.live .bars').length];
"""


def alive(browser, site):
    """Nothing of the model is loaded before the press. After it, the model writes, and how it reads the line that is
    typed is drawn where the recording was.
    """
    see(browser, 1300, "light")
    visit(browser, (site / "index.html").as_uri())
    loaded = (
        "return performance.getEntriesByType('resource').filter(one => /weights-|model\\.js/.test(one.name)).length"
    )
    faults = [f"{count} parts are loaded before the press"] if (count := browser.execute_script(loaded)) else []
    place = "const {x, y, width, height} = document.querySelector('.loom').getBoundingClientRect(); "
    place += "return [x, y, width, height]"
    before = browser.execute_script(place)
    browser.find_element(By.CSS_SELECTOR, ".live .go").click()
    WebDriverWait(browser, 120).until(
        lambda b: b.execute_script("return (globalThis.lessons?.showing?.ids.length ?? 0) > 30")
    )
    if max(abs(one - other) for one, other in zip(before, browser.execute_script(place), strict=True)) > 3:
        faults.append(f"the model is drawn elsewhere: {before}, {browser.execute_script(place)}")
    line = browser.find_element(By.CSS_SELECTOR, ".live input[name=line]")
    line.clear()
    line.send_keys("Good night")
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(FOLLOWS) == ["Good night", True, 5, 1])
    return faults + loud(browser)


STILL = """
const all = selector => [...document.querySelectorAll(`.live ${selector}`)];
const weights = () => all('.token').map(one => one.style.getPropertyValue('--dark')).join();
const before = weights();
all('.head input')[9].click();
const other = weights(), words = () => all('.candidate b').map(one => one.textContent).join(), last = words();
all('.token')[12].click();
const [slider] = all('input[type=range]'), share = () => all('.share')[0].textContent;
const warm = share();
slider.value = 4;
slider.dispatchEvent(new Event('input'));
return [before !== other, other !== weights(), all('.token.query').length === 1, warm !== share(), last !== words()];
"""


def still(browser, site):
    """The picture of the model answers before anything of the model is loaded."""
    see(browser, 1300, "light")
    visit(browser, (site / "index.html").as_uri())
    WebDriverWait(browser, 20).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".live.answers"))
    told = browser.execute_script(STILL)
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').filter(one => /weights-|model\\.js/.test(one.name)).length"
    )
    return ([] if all(told) else [f"head, token, one query, temperature, bars of the token: {told}"]) + [
        "it loads"
    ] * loaded


RECORDED = """
const one = selector => document.querySelector(`.live ${selector}`);
const lines = document.querySelectorAll('.live .reads path').length;
return [one('.ribbon').dataset.token, one('.nodes').children.length, lines, one('.likely').textContent,
        one('.pause').textContent].join('|');
"""
FILLED = """
const wide = selector => document.querySelector(selector).getBoundingClientRect().width;
return wide('.ribbon .words') / wide('.loom');
"""
MOVED = """
const [pictures, seconds, done] = arguments, seen = new Set(), end = performance.now() + 1000 * seconds;
const watch = () => {
  seen.add(document.querySelector('.stream')?.getAttribute('d'));
  if (seen.size < pictures && performance.now() < end) setTimeout(watch, 30);
  else done(seen.size);
};
watch();
"""


def recorded(browser, site):
    """The recording moves by itself, without the model, stops and goes on at a press or a key, and gives way when
    somebody chooses a token; it shifts nothing, and is still where no motion is wanted.
    """
    faults = []
    for width, height in ((390, 844), (1366, 768), (1920, 1080)):
        see(browser, width, "dark", height=height)
        browser.get((site / "index.html").as_uri())
        moved = browser.execute_async_script(MOVED, 6, 20)
        faults += [f"{width} px wide: {moved} pictures in 20 seconds"] if moved < 6 else []
        filled = browser.execute_script(FILLED)
        faults += [f"{width} px wide: it begins with {filled:.0%} of the line"] if filled < 0.8 else []
        box = browser.execute_script("return document.querySelector('.loom').getBoundingClientRect().bottom")
        faults += [f"{width} px wide: it ends at {box:.0f} px of {height}"] if box > height else []
        button = browser.find_element(By.CSS_SELECTOR, ".live .pause")
        button.send_keys(Keys.ENTER)
        paused = browser.execute_script(RECORDED)
        time.sleep(1.5)
        if browser.execute_script(RECORDED) != paused or button.text != "Play":
            faults.append(f"{width} px wide: it does not stop")
        button.click()
        if browser.execute_async_script(MOVED, 3, 20) < 3 or button.text != "Pause":
            faults.append(f"{width} px wide: it does not go on")
        browser.execute_script("document.querySelectorAll('.live .token')[12].click()")
        token, nodes, lines, _, said = browser.execute_script(RECORDED).split("|")
        if (token, nodes, said) != ("12", "5", "Play again") or not int(lines):
            faults.append(f"{width} px wide: token {token}, {nodes} nodes, {lines} lines, {said}")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    browser.get((site / "index.html").as_uri())
    faults += ["it moves where no motion is wanted"] if browser.execute_async_script(MOVED, 3, 4) > 2 else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    return faults + loud(browser)


def in_sight(browser, site):
    """The picture of the opening stays in sight at each of its steps, on a phone too."""
    faults = []
    for width, height in ((375, 667), (390, 844), (1440, 900)):
        see(browser, width, "light", height=height)
        visit(browser, (site / "index.html").as_uri())
        for number in range(1, 7):
            browser.execute_script(
                "const {top} = arguments[0].getBoundingClientRect();"
                "scrollTo({top: scrollY + top - 0.65 * innerHeight, behavior: 'instant'})",
                browser.find_elements(By.CSS_SELECTOR, ".opening li")[number - 1],
            )
            time.sleep(0.2)
            top = browser.execute_script("return document.querySelector('.opening .scene').getBoundingClientRect().top")
            if not 0 <= top < 0.6 * height:
                faults.append(f"{width} × {height}, step {number}: the picture is at {top:.0f} px")
    return faults


def on_paper(browser, site):
    """What is printed is the lesson, with everything unfolded."""
    see(browser, 1300, "dark")
    visit(browser, (site / "notebooks/03_scaling.html").as_uri())
    browser.execute_script(
        "window.opened = 0; addEventListener('beforeprint', () => { window.opened = "
        "document.querySelectorAll('details:not([open])').length; });"
    )
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    if os.environ.get("SCREENSHOTS"):
        Path(os.environ["SCREENSHOTS"], "03_scaling.pdf").write_bytes(pdf)
    left = browser.execute_script("return window.opened")
    again = browser.execute_script("return document.querySelectorAll('details:not([open])').length")
    return ([f"{left} parts are folded on paper"] if left else []) + ([] if again else ["they stay unfolded"])


USES = {
    "the reason for √d in three taps": three_taps,
    "a search": search,
    "answers on the front page": chosen,
    "pictures, enlarged": enlarged,
    "typed answers": typed,
    "presented by a clicker": presented,
    "a window that is presented in changes its size": resized,
    "every lesson presented, at three sizes": walked,
    "what is remembered": remembered,
    "a wrong line is found": found_line,
    "code that is typed": typed_code,
    "cells that run in the page": cells_run,
    "the section that is read": in_place,
    "sections that are folded away": folded_away,
    "a link to a mistake": linked,
    "weights that are typed": by_hand,
    "results while typing": typing,
    "the recording of the model": recorded,
    "the still picture of the model": still,
    "the picture of the opening": in_sight,
    "the model on the start page": alive,
    "on paper nothing is folded": on_paper,
}


def main(arguments):
    if not arguments or not Path(arguments[0], "index.html").exists():
        print(__doc__)
        return 2
    site = Path(arguments[0]).resolve()
    pages = sorted(path.relative_to(site) for path in site.rglob("*.html"))
    pages = [page for page in pages if page.parts[:2] != ("beside", "class")]  # marking_browser.py opens such pages
    pages = [Path(name) for name in arguments[1:]] or pages
    anchors, faulty, totals = {}, 0, [0, 0]
    with opened() as (browser, _):
        for page in pages:
            faults, formulas, pictures = inspect(browser, site, page, anchors)
            totals = [totals[0] + formulas, totals[1] + pictures]
            faulty += report(f"{page}: {formulas} formulas, {pictures} pictures", faults)
        for title, use in USES.items() if len(arguments) == 1 else ():
            faulty += report(title, use(browser, site))
    first = sum(path.stat().st_size for path in first_page(site)) / 1e6
    faulty += report(f"the first page has {first:.2f} MB", [] if first < 0.3 else ["it must stay under 0.3 MB"])
    print(
        f"{len(pages)} pages, {totals[0]} formulas, {totals[1]} pictures, each seen {len(VIEWS)} times: {faulty} faulty"
    )
    return 1 if faulty else 0


def first_page(site):
    """The files of the front page: itself, and whatever it names."""
    text = (site / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'<(?:script|link|img) [^>]*(?:src|href)="([^"?#]+\.(?:css|js|svg))', text))
    fonts = (site / "_static").glob("source-serif*.woff2")  # which the style sheet names
    return [site / "index.html", *fonts, *(site / name for name in named if (site / name).is_file())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
