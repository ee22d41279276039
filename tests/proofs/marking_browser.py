"""Opens the pages of a marked class in a real browser: python tests/proofs/marking_browser.py [MARKS [PICTURE]]

With PICTURE, it makes imgs/class_report.png, or whatever that is, from the pages in MARKS, and does nothing else.

As browser.py it needs Chromium, its driver and selenium. MARKS is a folder that `mark` has written; without it, a class
is made up and marked. A lesson that is chosen in the class report stands in the address and above, stays after a
reload, and is passed on to the projector and to the page for texts. On the projector one key leads through all screens
and tables, and another back. On a phone nothing is wider than the window, or it can be scrolled to. Nothing is asked
for from elsewhere, and axe-core finds nothing, light and dark.
"""

import base64
import re
import sys
import time
from pathlib import Path

from browser import Page, inaccessible, loud, opened, photograph, press, report, see
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from transformer_lessons.inspection import live
from transformer_lessons.marking import commands

FONTS = Path(live.__file__).with_name("fonts")
SIZES = {"laptop": (1366, 768), "projector": (1920, 1080), "hall": (1280, 720), "phone": (390, 844)}
CUT_OFF = """
const isWide = (one) => one.scrollWidth > one.clientWidth + 1;
return [...document.querySelectorAll(".scroll")].filter((one) => isWide(one) && !one.querySelector(".class"))
  .map((one) => one.querySelector("table").className).concat(isWide(document.documentElement) ? ["the page"] : []);
"""


BACK = """
const link = document.querySelectorAll(".back a")[arguments[0]], target = document.querySelector(link.hash);
link.click();
const { left, right, top, bottom } = target.getBoundingClientRect();
const above = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
return target === above ? "seen" : `${link.hash} at ${left}, ${top} is under ${above && above.outerHTML.slice(0, 80)}`;
"""


CORNERS = """
const box = document.querySelector(".scroll:has(.class)").getBoundingClientRect();
const { right } = document.querySelectorAll(".class .lesson")[3].getBoundingClientRect();
const { bottom } = [...document.querySelectorAll(".class tbody tr")].slice(0, 8).at(-1).getBoundingClientRect();
return [box.left - 1 + scrollX, box.top - 1 + scrollY, right + scrollX, bottom + scrollY];
"""
LETTERED = """
const bytes = (font) => Uint8Array.from(atob(font), (sign) => sign.charCodeAt(0));
const faces = ["400", "700"].map((weight, at) => new FontFace("Inter", bytes(arguments[at]), { weight }));
faces.forEach((face) => document.fonts.add(face));
document.body.style.fontFamily = "Inter";
await Promise.all(faces.map((face) => face.load()));
"""
UNCOVERED = """
const { left, bottom } = document.getElementById("model").getBoundingClientRect();
return document.elementFromPoint(left + 5, bottom - 5) === document.getElementById("model");
"""
STANDS_OUT = """
const box = document.querySelector(".scroll:has(.class)");
return box.scrollWidth - box.clientWidth;
"""
ALL_ROWS = """
const rows = [...document.querySelectorAll(".rest tbody tr")];
return rows.filter((row) => !row.hidden && !row.querySelector(".group")).length;
"""
WHOLE_ROWS = """
const [above, below] = ["choice", "keys"].map((id) => document.getElementById(id).getBoundingClientRect());
const isSeen = (row) => row.checkVisibility() && row.getBoundingClientRect().top >= above.bottom - 1
  && row.getBoundingClientRect().bottom <= below.top + 1;
const rows = [...document.querySelectorAll(".rest tbody tr")];
return [...rows.keys()].filter((n) => isSeen(rows[n]) && !rows[n].querySelector(".group"));
"""
CUT_ROWS = """
const below = document.getElementById("keys").getBoundingClientRect().top + 1;
const rows = [...document.querySelectorAll(".rest tbody tr")].filter((row) => row.checkVisibility());
return rows.filter((row) => !row.querySelector(".group")).slice(1)
  .filter((row) => row.getBoundingClientRect().bottom > below).map((row) => row.textContent.slice(0, 40));
"""
BROKEN = """
const sizeOf = (one) => getComputedStyle(one).fontSize;
const uneven = [...document.querySelectorAll(".screen")].filter(
  (screen) => new Set([...screen.querySelectorAll("pre")].map(sizeOf)).size > 1);
const pieces = [...document.querySelectorAll(".keep")].filter((one) => one.getClientRects().length > 1);
return [pieces.map((one) => one.textContent), uneven.map((one) => one.querySelector("h2").textContent)];
"""


class Marks(Page):
    """The pages of a class."""

    def __init__(self, browser, folder):
        super().__init__(browser)
        self.folder = folder.resolve()

    def open(self, name, size="laptop", scheme="light"):
        width, height = SIZES[size]
        see(self.browser, width, scheme, height, sharpness=2)
        self.browser.get("about:blank")
        self.browser.get(f"{self.folder.as_uri()}/{name}")

    def seen(self, selector):
        return [one for one in self.all(selector) if one.is_displayed()]

    def click(self, selector):
        self.browser.find_element(By.CSS_SELECTOR, selector).click()

    def address(self):
        return self.browser.current_url.rpartition("/")[2]

    def chosen(self):
        return [one.text for one in self.seen("#choice [aria-pressed=true], #lessons [aria-pressed=true]")]

    def choose_a_lesson(self):
        self.open("report.html")
        lesson = self.all("#choice button")[-1].text
        self.click("#choice button:last-child")
        self.click("nav a[href='#stuck']")
        self.browser.refresh()
        self.expect(self.address() == f"report.html?lesson={lesson}#stuck", f"the address is {self.address()}")
        self.expect(self.chosen() == [lesson], f"after a reload, {self.chosen()} is chosen")
        tiles = self.seen(".facts")
        self.expect(len(tiles) == 1 and f"Lesson {lesson}" in tiles[0].text, "the tiles are not the lesson's")
        heads = [one.text for one in self.seen(".class .lesson")]
        self.expect(heads == [f"Lesson {lesson}"], f"the table has {heads}")
        stuck = {one.get_attribute("data-lesson") for one in self.seen("#stuck tbody tr")}
        self.expect(stuck == {lesson}, f"those who are stuck are those of {stuck}")
        unread = {one.get_attribute("data-lesson") for one in self.seen(".unread, #unread > div")}
        self.expect(unread == {lesson}, f"what is not read is of {unread}")
        photograph(self.browser, "report")
        self.click(".facts:not([hidden]) a")
        self.expect(self.address() == f"grading.html#{lesson}", f"texts are at {self.address()}")
        self.browser.back()
        self.click("nav a.of-lesson")
        self.expect(self.address() == f"report-anonymous.html#{lesson}-1", f"the projector is at {self.address()}")
        self.expect(self.chosen() == [lesson], f"on the projector, {self.chosen()} is chosen")
        return lesson

    def go_back_to_the_table(self):
        """From any answer, its cell can be seen: nothing lies over it. The table is as wide as its box."""
        self.open("report.html")
        wide = self.browser.execute_script(STANDS_OUT)
        self.expect(wide <= 0, f"the table stands out by {wide} pixels")
        for number in range(0, len(self.all(".back a")), 7):
            target = self.browser.execute_script(BACK, number)
            self.expect(target == "seen", f"Back to the table: {target}")

    def understand_both_ways_to_name(self, lesson):
        for name in ("report.html", "report-anonymous.html", "grading.html"):
            for way in (f"?lesson={lesson}", f"#{lesson}"):
                self.open(name + way)
                self.expect(self.chosen() == [lesson], f"{name}{way} shows {self.chosen()}")

    def read_texts(self, lesson):
        self.open(f"grading.html#{lesson}")
        questions = [one.text for one in self.seen("#questions button")]
        self.expect(questions and all(one.startswith(f"{lesson}.") for one in questions), f"texts of {questions}")
        self.expect(f"texts of lesson {lesson} read" in self.seen("#done")[0].text, "what is read is not the lesson's")
        self.click("#lessons button:nth-of-type(2)")
        self.browser.refresh()
        self.expect(self.chosen() == ["1"], f"after a reload, the texts are those of {self.chosen()}")
        photograph(self.browser, "grading")

    def read_one_of_many(self):
        """What goes to many says so, and can go to one alone; the model answer can be read."""
        self.open("grading.html")
        self.click("#questions button[aria-current]")
        number = 0
        while "students" not in self.seen("#where")[0].text and number < 30:
            press(self.browser, Keys.ARROW_RIGHT)
            number += 1
        count = re.search(r"from (\d+) students", self.seen("#where")[0].text)
        self.expect(count, "no text was handed in twice")
        if not count:
            return
        for told in (self.seen("#all")[0].text, self.seen("label[for=comment]")[0].text):
            self.expect(f"all {count[1]} students" in told, f"of {count[1]} students it says {told!r}")
        press(self.browser, "m")
        time.sleep(0.3)
        self.expect(self.browser.execute_script(UNCOVERED), "the model answer lies under the bar")
        photograph(self.browser, "grading-many")
        self.click("#whom option:nth-child(3)")
        who = self.seen("#where")[0].text
        self.browser.switch_to.active_element.send_keys("for you alone")
        photograph(self.browser, "grading-one")
        self.expect("students" not in who and self.seen("#all"), f"the text set apart is of {who}")
        kept = self.browser.execute_script("return lines.filter((line) => line.comment === 'for you alone').length")
        self.expect(kept == 1, f"a comment for one is kept for {kept}")
        self.browser.execute_script("localStorage.clear()")

    def present(self, lesson, size):
        """One key to the end, and another back."""
        self.open(f"report-anonymous.html#{lesson}", size)
        shown, steps, rows, told = [], 0, [], 0
        while steps < 200 and "→" in self.seen("#keys")[0].text:
            press(self.browser, Keys.ARROW_RIGHT)
            steps += 1
            before, told = told, len(self.all(".asks.shown"))
            cut = self.browser.execute_script(CUT_ROWS)
            self.expect(not cut, f"{size}: rows are cut by the foot: {cut}")
            rows += self.browser.execute_script(WHOLE_ROWS) if told == before else []  # an answer shows no other rows
            if (address := self.address()) not in shown:
                shown.append(address)
                photograph(self.browser, f"{size}-{len(shown)}")
        asking = [one for one in self.all(".asks") if not one.get_property("hidden")]
        self.expect(told == len(asking), f"the answers to {told} of {len(asking)} questions are shown")
        self.expect(len(rows) == len(set(rows)), "a row of a table is shown twice")
        self.expect(len(rows) == self.browser.execute_script(ALL_ROWS), "a row of a table is never shown")
        broken, uneven = self.browser.execute_script(BROKEN)
        self.expect(not broken, f"code is broken inside {broken[:3]}")
        self.expect(not uneven, f"Right has another size than the code: {uneven[:3]}")
        tables = [one.text for one in self.all(".rest h2")]
        self.expect(len(shown) >= len(tables) and steps < 200, f"{steps} keys lead to {shown}")
        end = self.browser.execute_script("return scrollY")
        press(self.browser, Keys.ARROW_RIGHT)
        self.expect(end == self.browser.execute_script("return scrollY"), "after the last page, → goes elsewhere")
        last = [one.text for one in self.seen("h2")]
        self.expect(last == tables[-1:] or not tables[-1], f"the last screen is {last}, not {tables[-1]}")
        bar = self.browser.find_element(By.ID, "choice")
        self.expect(bar.value_of_css_property("background-color") != "rgba(0, 0, 0, 0)", "nothing is behind the choice")
        for _ in range(steps + 5):
            press(self.browser, Keys.ARROW_LEFT)
        self.expect(
            self.address().endswith("-1") and not self.all(".step.shown, .asks.shown"),
            f"back leads to {self.address()}",
        )

    def look_on_a_phone(self):
        for name in ("report.html", "report-anonymous.html", "grading.html", self.feedback()):
            self.open(name, "phone")
            wide = self.browser.execute_script(CUT_OFF)
            self.expect(not wide, f"on a phone, {name} is too wide: {wide}")
            photograph(self.browser, f"phone-{Path(name).stem}", whole=True)

    def feedback(self):
        return sorted(self.folder.glob("feedback/*/lesson_*.html"))[0].relative_to(self.folder).as_posix()

    def draw(self, picture):
        """The first eight students, and their results in the first four lessons, in the letters of the site."""
        self.open("report.html")
        fonts = [FONTS / f"inter-{name}.otf" for name in ("regular", "bold")]
        self.browser.execute_script(LETTERED, *(base64.b64encode(font.read_bytes()).decode() for font in fonts))
        left, top, right, bottom = self.browser.execute_script(CORNERS)
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": 1}
        options = {"clip": clip, "captureBeyondViewport": True}
        data = self.browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
        Path(picture).write_bytes(base64.b64decode(data))

    def listen(self):
        for name in ("report.html", "report-anonymous.html", "grading.html", self.feedback()):
            for scheme in ("light", "dark"):
                self.open(name, scheme=scheme)
                self.faults += [f"{name}, {scheme}: {one}" for one in inaccessible(self.browser)]


def main(folder=None, picture=None):
    with opened() as (browser, temporary):
        if picture:
            return Marks(browser, Path(folder)).draw(picture)
        if folder is None:
            folder = str(temporary / "marks")
            commands.mark(["sample", str(temporary / "class"), "--students", "8"])
            commands.mark([str(temporary / "class"), "--out", folder])
        page = Marks(browser, Path(folder))
        page.go_back_to_the_table()
        lesson = page.choose_a_lesson()
        page.understand_both_ways_to_name(lesson)
        page.read_texts(lesson)
        page.read_one_of_many()
        page.present(lesson, "projector")
        page.present("", "hall")
        page.look_on_a_phone()
        page.listen()
        return report("the pages of a class", page.faults + loud(browser))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
