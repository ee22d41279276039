"""Opens every lesson in JupyterLab in a real browser and runs all cells: python tests/proofs/browser.py

Names of lessons after it run these alone. It needs Chromium and its driver (Debian: chromium and
chromium-driver), `pip install selenium`, and for lesson 8 the book in SHAKESPEARE_TXT: without it, that
lesson says on stderr that its play is an invented one. For each lesson: no error and no stderr in any output,
every picture visible, those of the text with alternative text, and no request to anywhere but this machine.
(JupyterLab shows no alternative text for pictures in outputs; nbconvert does.) Then, in lesson 1, it does an
exercise as a learner does: types a wrong answer, sees the mistake named, types a right one, sees it pass.
Screenshots go to the folder that SCREENSHOTS names, where it is set.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from transformer_lessons.tools import install

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=1300,1000",
]
LOCAL = ("127.0.0.1", "localhost")
EXERCISE = "01_self_attention.ipynb", "softmax"
TYPED = [  # what a learner types, and what the check must say first
    (
        "def softmax(scores): return (powers := np.exp(scores - scores.max())) / powers.sum()",
        "✗ softmax: sum over everything",
    ),
    (
        "def softmax(scores): return (powers := np.exp(scores - scores.max(-1, keepdims=True)))"
        " / powers.sum(-1, keepdims=True)",
        "✓ softmax",
    ),
]
PATIENCE = 600  # seconds for one lesson: the eighth takes minutes on two slow cores
LOOK = """
const all = selector => [...document.querySelectorAll(selector)];
const outputs = all('.jp-OutputArea-output');
const cell = output => output.closest('.jp-Cell').querySelector('.cm-content')?.innerText.slice(0, 60);
const texts = kind => outputs.filter(o => o.dataset.mimeType === kind).map(
  o => `${JSON.stringify(o.innerText)} below ${JSON.stringify(cell(o))}`);
const name = image => image.alt || image.src.slice(0, 60);
return {
  errors: texts('application/vnd.jupyter.error'),
  stderr: texts('application/vnd.jupyter.stderr'),
  drawn: all('.jp-OutputArea img').length,
  unseen: all('.jp-Notebook img').filter(i => !(i.complete && i.naturalWidth)).map(name),
  unnamed: all('.jp-MarkdownOutput img').filter(i => !i.alt).map(name),
  busy: all('.jp-InputPrompt').filter(p => p.innerText.includes('[*]')).length,
};
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_lab(folder, port):
    """The learner's JupyterLab, on a copy of the lessons, with configuration, data and runtime of its own."""
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    shutil.copytree(ROOT / "imgs", folder / "imgs")
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    install.ROOT = folder
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token="]
    command = [sys.executable, *map(str, install.jupyterlab()), *options]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, **own, "JUPYTER_PREFER_ENV_PATH": "1"}
    lab = subprocess.Popen(command, cwd=folder, env=environment, **silent)
    for _ in range(120):
        try:
            urlopen(f"http://127.0.0.1:{port}/api/status")
            return lab
        except OSError:
            time.sleep(0.5)
    lab.terminate()
    raise SystemExit("JupyterLab did not start")


def start_browser(folder):
    options = webdriver.ChromeOptions()
    for flag in [*FLAGS, f"--user-data-dir={folder / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    driver = shutil.which("chromedriver")
    return webdriver.Chrome(options=options, service=Service(driver) if driver else None)


def click_menu(browser, menu, item):
    for name, kind in ((menu, ".lm-MenuBar-itemLabel"), (item, ".lm-Menu-itemLabel")):
        for _ in range(100):
            found = [label for label in browser.find_elements(By.CSS_SELECTOR, kind) if label.text == name]
            if found:
                found[0].click()
                break
            time.sleep(0.1)


def requests_elsewhere(browser):
    """Addresses that the page asked for, other than on this machine."""
    found = set()
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = urlsplit(message["params"]["request"]["url"])
            if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in LOCAL:
                found.add(address.hostname)
    return found


def run_lesson(browser, port, name):
    """The faults of one lesson, as sentences."""
    state = open_and_run(browser, port, name)
    if state["busy"]:
        return [f"not done in {PATIENCE} s: {state['busy']} cells are busy"]
    for _ in below(browser):
        pass
    state = browser.execute_script(LOOK)
    faults = [f"error: {text[:300]}" for text in state["errors"]]
    faults += [f"stderr: {text[:300]}" for text in state["stderr"]]
    faults += [f"a picture is not shown: {name}" for name in state["unseen"]]
    faults += [f"a picture has no alternative text: {name}" for name in state["unnamed"]]
    if state["drawn"] < saved_pictures(name):
        faults.append(f"{state['drawn']} pictures are drawn, {saved_pictures(name)} are saved")
    return faults + [f"a request to {host}" for host in sorted(requests_elsewhere(browser))]


def open_and_run(browser, port, name):
    """Runs all cells of a lesson; what LOOK finds when the kernel rests, or when patience is at its end."""
    browser.get(f"http://127.0.0.1:{port}/lab/tree/notebooks/{name}?reset")
    deadline = time.monotonic() + PATIENCE
    while not browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-Cell") and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(3)
    click_menu(browser, "Run", "Run All Cells")
    time.sleep(3)
    return wait_for_rest(browser, port, deadline)


def wait_for_rest(browser, port, deadline):
    """Between two cells a kernel is idle for a moment, and cells out of sight have no prompt to read."""
    calm = 0
    while calm < 4 and time.monotonic() < deadline:
        time.sleep(0.5)
        state = browser.execute_script(LOOK)
        calm = 0 if state["busy"] or kernels_busy(port) else calm + 1
    return state | {"busy": state["busy"] or int(calm < 4)}


def do_exercise(browser, port, name, exercise):
    """A wrong answer and a right one are typed and checked; the faults, as sentences."""
    faults = [] if not open_and_run(browser, port, name)["busy"] else ["the lesson is not done"]
    for typed, verdict in TYPED:
        stub = next(
            cell
            for _ in below(browser)
            for cell in browser.find_elements(By.CSS_SELECTOR, ".jp-CodeCell")
            if f"def {exercise}(" in cell.text
        )
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", stub)
        stub.find_element(By.CSS_SELECTOR, ".cm-content").click()
        keys = ActionChains(browser)
        keys.key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(typed)
        for _ in range(2):  # the cell itself, and the check below it
            keys.key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT)
        keys.perform()
        wait_for_rest(browser, port, time.monotonic() + PATIENCE)
        said = browser.execute_script("return arguments[0].nextElementSibling.innerText", stub)
        if verdict not in said:
            faults.append(f"{verdict!r} is expected, and not in {said!r}")
    return faults


def kernels_busy(port):
    kernels = json.load(urlopen(f"http://127.0.0.1:{port}/api/kernels"))
    return any(kernel["execution_state"] == "busy" for kernel in kernels)


def saved_pictures(name):
    cells = json.loads((ROOT / "notebooks" / name).read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def below(browser):
    """Scrolls through the notebook, step by step: JupyterLab draws a cell when it comes into view."""
    panel = browser.find_element(By.CSS_SELECTOR, ".jp-WindowedPanel-outer")
    for step in range(0, browser.execute_script("return arguments[0].scrollHeight", panel), 600):
        browser.execute_script("arguments[0].scrollTop = arguments[1]", panel, step)
        time.sleep(0.05)
        yield step
    time.sleep(1)


def main(names):
    there = sorted(path.name for path in (ROOT / "notebooks").glob("??_*.ipynb"))
    names = [Path(name).name for name in names] or there
    unknown = [name for name in names if name not in there]
    if unknown:
        sys.exit(f"no lesson is called {' or '.join(unknown)}: there is {', '.join(there)}")
    tasks = [(name, run_lesson, (name,)) for name in names]
    if EXERCISE[0] in names:
        tasks.append((f"the exercise {EXERCISE[1]}, typed", do_exercise, EXERCISE))
    faulty = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder, port = Path(temporary), free_port()
        lab = start_lab(folder, port)
        browser = start_browser(folder)
        try:
            for title, task, arguments in tasks:
                start = time.monotonic()
                faults = task(browser, port, *arguments)
                if os.environ.get("SCREENSHOTS"):
                    picture = f"{Path(arguments[0]).stem}{'-typed' * (task is do_exercise)}.png"
                    browser.save_screenshot(str(Path(os.environ["SCREENSHOTS"]) / picture))
                print(f"{'✗' if faults else '✓'} {title} ({time.monotonic() - start:.0f} s)")
                print("".join(f"    {fault}\n" for fault in faults), end="")
                faulty += bool(faults)
        finally:
            browser.quit()
            lab.terminate()
            lab.wait()
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
