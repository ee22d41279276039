"""Uses the verdicts' cards in JupyterLab in a real browser: python tests/proofs/cards_browser.py

As browser.py it needs Chromium, its driver and selenium. A small notebook of the first lesson's name runs. A question
is clicked, by mouse and by keyboard, and one is filled in; both are remembered when the page is loaded again. A verdict
that passes says how much of the lesson is solved, and its link leads to what comes next. Shift+Enter goes on to the
next cell from a choice that was clicked, from a field and from a playground's handle. Nothing is asked for from
elsewhere, and axe-core finds nothing in the cards, light and dark.
"""

import os
import sys
import time

import nbformat
from browser import (
    Page,
    choose_theme,
    click_menu,
    inaccessible,
    kernels_busy,
    lab,
    loud,
    opened,
    photograph,
    press,
    report,
    see,
    until,
)
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from transformer_lessons.basis import memory
from transformer_lessons.exercises.checker.registry import EXERCISES

NAME = "01_self_attention.ipynb"
IMPORTS = "from transformer_lessons.exercises import answer, check, solution"
CELLS = ['answer("1.2")', 'answer("1.1")', 'check("softmax", softmax)', 'solution("softmax")', 'check("softmax", abs)']
PLAYGROUND = "from transformer_lessons.inspection import playgrounds\n\nplaygrounds.match_the_key()"
CARD = ".jp-OutputArea-output > div[style*='border-left']"


def write_notebook(folder):
    """The cells, and far below them a cell for each step of the lesson, with the lesson's id."""
    steps = memory.steps(memory.ROOT / "notebooks" / NAME)
    sources = (IMPORTS, solution(), *CELLS, PLAYGROUND)
    cells = [new_markdown_cell("# Cards"), *(new_code_cell(source) for source in sources)]
    for step in steps:
        cells += [new_markdown_cell("Text.\n\n" * 40), new_markdown_cell(f"## Here is {step.name}", id=step.cell)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "notebooks" / NAME)


def solution():
    return EXERCISES["softmax"].solution_text()


class Cards(Page):
    """The notebook, open in JupyterLab."""

    def __init__(self, browser, port):
        super().__init__(browser)
        self.port = port

    def open(self):
        self.browser.get(f"http://127.0.0.1:{self.port}/lab/tree/notebooks/{NAME}?reset")
        until(lambda: len(self.all(".jp-Notebook .jp-Cell")) > 5, "the notebook is open")
        time.sleep(3)

    def cards(self):
        return self.all(CARD)

    def run_all(self):
        click_menu(self.browser, "Run", "Run All Cells")
        until(lambda: len(self.cards()) == len(CELLS) and not kernels_busy(self.port), "every card has come")
        time.sleep(1)

    def save(self):
        ActionChains(self.browser).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
        time.sleep(2)

    def click_the_choices(self):
        card = self.cards()[0]
        buttons = card.find_elements(By.CSS_SELECTOR, "button")
        self.expect(len(buttons) == 4, f"question 1.2 has {len(buttons)} buttons, not 4")
        self.expect("9, more than the 5" not in card.text, "an explanation is seen before the click")
        buttons[0].click()
        self.expect("✗ No. It points in exactly the same direction" in card.text, "a wrong choice is not explained")
        self.expect("answer" not in card.text.split("✗ No.")[1] or 'answer("1.2", "..."' in card.text, "told too early")
        self.browser.execute_script("arguments[0].focus()", buttons[2])
        press(self.browser, Keys.SPACE)
        self.expect("✓ Right. 1 × 3 + 2 × 3 = 9" in card.text, "the keyboard does not open a choice")
        self.expect('type answer("1.2", "c") in the cell' in card.text, "what to type is not said")

    def fill_in_the_number(self):
        card = self.cards()[1]
        for typed, said in (
            ("14", "✗ No. You added the values"),
            ("8/2", "✓ Right. 0.5 × 2"),
            ("four", "○ Please type"),
        ):
            field = card.find_element(By.CSS_SELECTOR, "input")
            field.clear()
            field.send_keys(typed, Keys.ENTER)
            self.expect(said in card.text, f"{typed}: {said!r} is not in {card.text!r}")
        field.clear()
        field.send_keys("8/2", Keys.ENTER)
        self.expect('type answer("1.1", "8/2") in the cell' in card.text, "the number to type is not said")
        field.clear()
        field.send_keys("14", Keys.ENTER)
        self.expect('"8/2"' not in card.text, "a wrong number stands above the right one")
        field.clear()
        field.send_keys("8/2", Keys.ENTER)

    def go_on(self):
        """Shift+Enter, once, or twice in a field: there, the first one checks."""
        choice, field = ".jp-OutputArea-output [aria-expanded='false']", ".jp-OutputArea-output form input"
        for place, times in ((choice, 1), (field, 2), ("circle.handle", 1)):
            element = self.all(place)[0]
            cell = element.find_element(By.XPATH, "./ancestor::*[contains(@class, 'jp-CodeCell')]")
            self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
            for _ in range(times):
                self.expect("jp-mod-active" in cell.get_attribute("class"), f"{place}: left too early")
                ActionChains(self.browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
                time.sleep(1)
            self.expect("jp-mod-active" not in cell.get_attribute("class"), f"{place}: Shift+Enter leads nowhere")

    def look_again(self):
        first, second = self.cards()[:2]
        self.expect("✓ Right. 1 × 3" in first.text, "the click is not remembered")
        self.expect("✗ No. It points" in first.text, "the first click is not remembered")
        self.expect("✓ Right. 0.5 × 2" in second.text, "the number is not remembered")

    def follow_the_link(self):
        card = self.cards()[2]
        self.expect("1 of 2 exercises in this lesson solved." in card.text, f"how much is solved: {card.text}")
        link = card.find_element(By.CSS_SELECTOR, "a")
        self.expect(link.text == "question 1.6", f"next comes {link.text}")
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
        link.click()
        time.sleep(5)
        headings = self.all(".jp-Notebook h2")
        places = [heading for heading in headings if "Here is 1.6" in heading.text]
        top = places and self.browser.execute_script("return arguments[0].getBoundingClientRect().top", places[0])
        height = self.browser.execute_script("return innerHeight")
        self.expect(places and -5 < top < height, f"the link leads nowhere: {top}")
        tabs = self.all("#jp-main-dock-panel .lm-TabBar-tab")
        self.expect(len(tabs) == 1, f"{len(tabs)} tabs are open")

    def look_closely(self, name):
        self.faults += inaccessible(self.browser, ".jp-OutputArea-output")
        photograph(self.browser, f"cards_{name}")


def main():
    with opened() as (browser, folder):
        os.environ[memory.ELSEWHERE] = str(folder / "solved.txt")
        with lab(folder) as port:
            write_notebook(folder)
            see(browser, sharpness=2)
            page = Cards(browser, port)
            page.open()
            page.run_all()
            page.click_the_choices()
            page.fill_in_the_number()
            page.look_closely("answered")
            page.go_on()
            page.save()
            page.open()
            page.look_again()
            page.follow_the_link()
            photograph(browser, "cards_followed")
            choose_theme(folder, "Dark")
            page.open()
            page.look_again()
            page.look_closely("dark")
            page.expect(memory.solved() == ["softmax"], f"remembered: {memory.solved()}")
            page.faults += loud(browser, "SEVERE")
    return int(report("cards", page.faults))


if __name__ == "__main__":
    sys.exit(main())
