"""Uses the explorer in a real browser, by mouse and by keyboard: python tests/proofs/explorer_browser.py

Like browser.py it needs Chromium, its driver and selenium. The explorer is opened in nbconvert's page (light,
dark, and as wide as a phone), and in JupyterLab (run; in the dark; and unrun in a fresh clone). The numbers
shown are the weights, the tokens said to come next are the model's, with a head and without it, keys do not
reach Jupyter, an answer takes less than 50 ms, no page asks for anything from elsewhere, the console has no
error, and axe-core finds nothing.
"""

import copy
import sys
import time

import nbformat
import torch
from browser import (
    choose_theme,
    click_menu,
    inaccessible,
    kernels_busy,
    lab,
    loud,
    opened,
    photograph,
    press,
    see,
    until,
)
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

CELLS = [
    """import torch
from transformer_lessons.inspection.explorer import explore
scores = torch.sin(torch.arange(4 * 8 * 40 * 40).double() ** 1.5).view(4, 8, 40, 40) * 3
scores = scores.masked_fill(torch.ones(40, 40).triu(1).bool(), -torch.inf)
play = "First Citizen : Before we go , hear me . \\n All : Go on , go on . \\n".split(" ") * 3
causal = scores.softmax(-1)  # (4, 8, 40, 40)
explore(causal, play[:40], title="A causal model of 4 layers")""",
    """three = {"encoder": causal[:2, :2, :6, :6].double(), "decoder": causal[2:, :2, :5, :5],
         "cross-attention": torch.eye(6)[:5].flip(1).expand(2, 2, 5, 6)}
three = {name: part / part.sum(-1, keepdim=True) for name, part in three.items()}
source, target = list("abcdef"), list("VWXYZ")
words = {"encoder": source, "decoder": target, "cross-attention": (target, source)}
explore(three, words, title="Encoder, decoder and cross-attention")""",
    """large = torch.sin(torch.arange(8 * 12 * 64 * 64).double() ** 1.5).view(8, 12, 64, 64) * 3
large = large.softmax(-1)
explore(large, [f"word {i}" for i in range(64)], title="8 layers of 12 heads")""",
    """from transformer_lessons.models import Config, LanguageModel
torch.manual_seed(0)
model = LanguageModel(Config(30, d_model=16, num_heads=2, d_hidden=32, num_layers=2, max_length=12, dropout=0.0)).eval()
torch.nn.init.normal_(model.embedding.weight, std=0.5)  # so that it predicts different tokens
ids = torch.randint(30, (1, 12))
explore(model, ids, ablated={"layers.0.attention": [1]}, title="A model with and without one head")""",
]
TIMING = """
let start;
window.laidOut = [];
window.painted = [];
window.addEventListener('keydown', () => { start = performance.now(); }, true);
window.addEventListener('change', () => {
  document.body.offsetHeight;  // lays the page out
  window.laidOut.push(performance.now() - start);
  const began = start;
  requestAnimationFrame(() => setTimeout(() => window.painted.push(performance.now() - began)));
});
"""


class Explorer:
    """One explorer on the page, as a user meets it."""

    def __init__(self, browser, number):
        self.browser = browser
        self.root = browser.find_elements(By.CSS_SELECTOR, ".attention-explorer")[number]
        browser.execute_script("arguments[0].scrollIntoView()", self.root)
        time.sleep(0.3)

    def all(self, selector):
        return self.root.find_elements(By.CSS_SELECTOR, selector)

    def choose(self, name, choice):
        label = next(label for label in self.all("label") if label.text.startswith(name))
        Select(label.find_element(By.CSS_SELECTOR, "select")).select_by_index(choice)

    def numbers(self):
        script = "return [...arguments[0].querySelectorAll('li small')].map(small => small.textContent)"
        return self.browser.execute_script(script, self.root)

    def said(self):
        return self.all("output")[0].text

    def point(self, element, x=0, y=0):
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.browser).move_to_element_with_offset(element, x, y).perform()


def shown(weights, decimals):
    return [f"{round(weight, decimals):.{decimals}f}" for weight in weights.tolist()]


def predictions(model, ids):
    """The likeliest next token after each query and its probability, as the explorer should say them."""
    with torch.no_grad():
        chances, tokens = model(ids)[0].softmax(dim=-1).max(dim=-1)
    return [f"“{token}” {chance:.2f}" for token, chance in zip(tokens.tolist(), chances.tolist(), strict=True)]


def both_predictions(model, ids):
    """Those of the model, and of a copy in which nothing reads what head 1 of layer 0 has found."""
    silenced = copy.deepcopy(model)
    with torch.no_grad():
        silenced.layers[0].attention.linear_out.weight[:, 8:] = 0
    return predictions(model, ids), predictions(silenced, ids)


def same(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found!r} instead of {expected!r}")


def use(browser, truth):
    """Mouse and keyboard, in all explorers of the page."""
    first, second, third = (Explorer(browser, number) for number in range(3))
    first = Explorer(browser, 0)
    untouched = second.numbers(), second.said()
    first.choose("Layer", 2)
    first.choose("Head", 5)
    same(first.numbers(), shown(truth["causal"][2, 5, 39], 2), "the last query, first of all")
    labels = first.all("label.token")
    first.point(labels[7])
    same(first.numbers(), shown(truth["causal"][2, 5, 7], 2), "a query pointed at")
    first.point(first.all("summary")[0])
    same(first.numbers(), shown(truth["causal"][2, 5, 39], 2), "after pointing, the chosen query")
    labels[11].click()
    press(browser, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    first.point(first.all("summary")[0])
    same(first.numbers(), shown(truth["causal"][2, 5, 12], 2), "a click on query 11, then the arrow keys")
    first.point(first.all(".map")[0], 3, 3)
    same(first.numbers(), shown(truth["causal"][2, 5, 20], 2), "the middle of the map")
    assert first.said().startswith("Query 20, "), first.said()
    labels[39].click()
    ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    press(browser, Keys.ARROW_DOWN)
    first.point(first.all("summary")[0])
    same(first.numbers(), shown(truth["causal"][2, 6, 39], 2), "the next head by keyboard")
    same((second.numbers(), second.said()), untouched, "the second explorer, after use of the first")

    second = Explorer(browser, 1)
    for part, (name, weights) in enumerate(truth["three"].items()):
        second.choose("Attention", part)
        second.choose("Layer", 1)
        second.choose("Head", 1)
        second.all("label.token")[2].click()
        same(second.numbers(), shown(weights[1, 1, 2], 3), name)
    same(second.said(), "Query 2, “X”, looks at “d” 1.000", "what is said of the cross-attention")

    third = Explorer(browser, 2)
    third.choose("Layer", 7)
    third.all("label.token")[5].click()
    browser.execute_script(TIMING)
    press(browser, *[Keys.ARROW_RIGHT] * 20)
    time.sleep(0.5)
    times = browser.execute_script("return [window.laidOut, window.painted]")
    same([len(each) for each in times], [20, 20], "keys that were timed")
    laid_out, painted = (sorted(each)[17] for each in times)  # nine of ten are faster
    assert laid_out < 50, f"a key is answered in {laid_out:.0f} ms"

    fourth = Explorer(browser, 3)
    whole, silenced = both_predictions(truth["model"], truth["ids"])
    assert whole != silenced, "the head makes no difference that the explorer could show"
    for part, expected in enumerate((whole, silenced)):
        fourth.choose("Attention", part)
        for query, label in enumerate(fourth.all("label.token")):
            browser.execute_script("arguments[0].click()", label)  # a closing list of choices swallows the mouse's
            assert fourth.said().startswith(f"Query {query}, "), fourth.said()
            same(
                fourth.said().partition("; the model then predicts ")[2],
                expected[query],
                f"what is predicted after query {query}, {'without a head' if part else 'with all heads'}",
            )
    return f"a key is answered in {laid_out:.0f} ms, and painted in {painted:.0f} ms"


def look_closely(browser, name):
    """No error on the console, no request to elsewhere, nothing that axe-core finds in the explorers; and pictures."""
    same(loud(browser, "SEVERE"), [], "console and requests")
    open_tables = "document.querySelectorAll('.attention-explorer details').forEach(d => d.open = {})"
    browser.execute_script(open_tables.format("true"))
    same(inaccessible(browser, ".attention-explorer"), [], "axe-core")
    browser.execute_script(open_tables.format("false"))
    for number in range(len(CELLS)):
        Explorer(browser, number)  # scrolls there
        photograph(browser, f"explorer_{name}_{number}")


def in_pages(browser, notebook, folder, truth):
    """nbconvert's HTML, from a file."""
    for name, theme, width in (("light", "light", 1300), ("dark", "dark", 1300), ("phone", "dark", 375)):
        exporter = HTMLExporter(theme=theme, mathjax_url="", require_js_url="")
        page = folder / f"{name}.html"
        page.write_text(exporter.from_notebook_node(notebook)[0], encoding="utf-8")
        see(browser, width)
        browser.get(page.as_uri())
        wait_for(browser, ".attention-explorer form", len(CELLS))
        print(f"✓ nbconvert, {name}: {use(browser, truth)}")
        roots = browser.find_elements(By.CSS_SELECTOR, ".attention-explorer")
        out = browser.execute_script("return arguments[0].map(e => e.scrollWidth - e.clientWidth)", roots)
        same(out, len(CELLS) * [0], "pixels that stand out of the explorers")
        look_closely(browser, name)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def in_lab(browser, notebook, folder, truth):
    """JupyterLab: as it comes in a fresh clone, then run, in the light and in the dark."""
    with lab(folder) as port:
        nbformat.write(notebook, folder / "notebooks" / "example.ipynb")
        for theme in ("Light", "Dark"):
            choose_theme(folder, theme)
            browser.get(f"http://127.0.0.1:{port}/lab/tree/notebooks/example.ipynb?reset")
            wait_for(browser, ".attention-explorer details table", len(CELLS))
            time.sleep(2)
            if theme == "Light":
                wait_for(browser, ".attention-explorer form", 0)  # scripts do not run, and all else is there
                wait_for(browser, ".jp-OutputArea img", len(CELLS))
                look_closely(browser, "lab_fresh")
            click_menu(browser, "Run", "Run All Cells")
            time.sleep(3)
            until(lambda: not kernels_busy(port), "the kernel rests")
            wait_for(browser, ".attention-explorer form", len(CELLS))
            cells = browser.find_elements(By.CSS_SELECTOR, ".jp-Cell")
            print(f"✓ JupyterLab, {theme.lower()}: {use(browser, truth)}")
            Explorer(browser, 0).all("select")[1].click()
            press(browser, "d", "d", "a", "x", Keys.ESCAPE)
            same(browser.find_elements(By.CSS_SELECTOR, ".jp-Cell"), cells, "cells after typing dd, a and x")
            look_closely(browser, f"lab_{theme.lower()}")


def wait_for(browser, selector, number):
    until(
        lambda: len(browser.find_elements(By.CSS_SELECTOR, selector)) == number,
        f"{selector} is there {number} times",
        seconds=20,
    )


def main():
    truth = {}
    for cell in CELLS:
        exec(cell, truth)
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook).execute()
    with opened() as (browser, folder):
        in_pages(browser, notebook, folder, truth)
        in_lab(browser, notebook, folder, truth)


if __name__ == "__main__":
    sys.exit(main())
