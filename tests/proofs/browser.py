"""Opens every lesson in JupyterLab in a real browser and runs all cells: python tests/proofs/browser.py

Names of lessons after it run these alone. It needs Chromium and its driver (Debian: chromium and
chromium-driver), `pip install selenium`, and for lesson 8 the book in SHAKESPEARE_TXT: without it, that
lesson says on stderr that its play is an invented one. For each lesson: no error and no stderr in any output,
every picture visible, those of the text with alternative text, nothing that axe-core finds in an output, and no request
to anywhere but this machine. (JupyterLab shows no alternative text for pictures in outputs; nbconvert does.) Then, in
lesson 1, it does an exercise as a learner does: types a wrong answer, sees the mistake named, types a right one, sees
it pass.

The other scripts take from here what they share. axe-core is read from AXE (the path of axe.min.js), or fetched by npm
into a folder that is gone afterwards. Screenshots go to the folder that SCREENSHOTS names, where it is set.
"""

import base64
import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
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
        "def softmax(scores): return (powers := np.exp(scores - scores.max(-1, keepdims=True))) / powers.sum()",
        "✗ softmax: sum over more than one row",
    ),
    (
        "def softmax(scores): return (powers := np.exp(scores - scores.max(-1, keepdims=True)))"
        " / powers.sum(-1, keepdims=True)",
        "✓ softmax",
    ),
]
AXE_RUN = """
const [selector, done] = arguments;
axe.run(selector, {resultTypes: ['violations'], preload: false})
  .then(found => done(found.violations), error => done(String(error)));
"""
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


# What the scripts share


@contextlib.contextmanager
def opened():
    """(a browser, a folder of its own)."""
    with tempfile.TemporaryDirectory() as temporary:
        options = webdriver.ChromeOptions()
        for flag in [*FLAGS, f"--user-data-dir={temporary}/profile"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
        driver = shutil.which("chromedriver")
        browser = webdriver.Chrome(options=options, service=Service(driver) if driver else None)
        browser.set_script_timeout(300)
        try:
            yield browser, Path(temporary)
        finally:
            browser.quit()


@contextlib.contextmanager
def lab(folder):
    """The port of the learner's JupyterLab, on a copy of the lessons, with folders of its own for what it writes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    shutil.copytree(ROOT / "imgs", folder / "imgs")
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    install.ROOT = folder
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token="]
    command = [sys.executable, *map(str, install.jupyterlab()), *options]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, **own, "JUPYTER_PREFER_ENV_PATH": "1"}
    process = subprocess.Popen(command, cwd=folder, env=environment, **silent)
    try:
        until(lambda: is_there(f"http://127.0.0.1:{port}/api/status"), "JupyterLab has started")
        yield port
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30)
        process.kill()  # if it is still there


def is_there(address):
    with contextlib.suppress(OSError):
        return bool(urlopen(address))
    return False


def choose_theme(folder, theme):
    """Light or Dark, the next time that JupyterLab is opened."""
    settings = folder / "config/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"theme": f"JupyterLab {theme}"}), encoding="utf-8")


def until(condition, sentence, seconds=300):
    """Waits for what the sentence says; what the condition gives then."""
    end = time.monotonic() + seconds
    while not (met := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s it is not so that {sentence}")
        time.sleep(0.1)
    return met


def press(browser, *keys):
    """One key after another."""
    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def see(browser, width=1300, scheme="light", height=900, sharpness=1):
    """The screen's size in pixels, and whether its owner likes it light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": sharpness, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def loud(browser, *levels):
    """What the console says (at these levels; by default at any), and what was asked for from elsewhere."""
    said = [entry for entry in browser.get_log("browser") if not levels or entry["level"] in levels]
    asked = sorted(requests_elsewhere(browser))
    return [f"the console: {entry['message']}" for entry in said] + [f"a request to {host}" for host in asked]


@functools.cache
def axe_core():
    """The source of axe-core."""
    if "AXE" in os.environ:
        return Path(os.environ["AXE"]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        name = subprocess.check_output(["npm", "pack", "--silent", "axe-core"], cwd=folder, text=True).strip()
        with tarfile.open(Path(folder, name)) as package:
            return package.extractfile("package/axe.min.js").read().decode()


def inaccessible(browser, selector="html"):
    """What axe-core finds within the elements that the selector means."""
    browser.execute_script(axe_core())
    found = browser.execute_async_script(AXE_RUN, selector)
    if isinstance(found, str):
        return [f"axe-core: {found}"]
    return [
        f"axe-core, {rule['impact']}, {rule['id']}, {len(rule['nodes'])} times: {node['html'][:160]} "
        f"{node['any'][0]['message'] if node['any'] else ''}"
        for rule in found
        for node in rule["nodes"][:2]
    ]


def photograph(browser, name, whole=False):
    """What is seen, or the whole page from top to bottom, if somebody wants pictures."""
    if os.environ.get("SCREENSHOTS"):
        picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
        place = Path(os.environ["SCREENSHOTS"], f"{name}.png")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(base64.b64decode(picture["data"]))


class Page:
    """What is open in the browser, and what is wrong with it."""

    def __init__(self, browser):
        self.browser, self.faults = browser, []

    def expect(self, met, sentence):
        if not met:
            self.faults.append(sentence)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)


def report(name, faults):
    """Prints what is wrong with one thing, and says whether anything is."""
    print(f"{'✗' if faults else '✓'} {name}", *(f"    {fault}" for fault in faults), sep="\n", flush=True)
    return bool(faults)


def click_menu(browser, menu, item):
    for name, kind in ((menu, ".lm-MenuBar-itemLabel"), (item, ".lm-Menu-itemLabel")):
        labels = until(
            lambda name=name, kind=kind: [
                label for label in browser.find_elements(By.CSS_SELECTOR, kind) if label.text == name
            ],
            f"the menu has {name}",
            seconds=30,
        )
        labels[0].click()


def kernels_busy(port):
    kernels = json.load(urlopen(f"http://127.0.0.1:{port}/api/kernels"))
    return any(kernel["execution_state"] == "busy" for kernel in kernels)


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


# Lessons in JupyterLab


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
    return (
        faults
        + inaccessible(browser, ".jp-OutputArea-output")
        + [f"a request to {host}" for host in sorted(requests_elsewhere(browser))]
    )


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
    with opened() as (browser, folder), lab(folder) as port:
        for title, task, arguments in tasks:
            start = time.monotonic()
            faults = task(browser, port, *arguments)
            photograph(browser, f"{Path(arguments[0]).stem}{'-typed' * (task is do_exercise)}")
            faulty += report(f"{title} ({time.monotonic() - start:.0f} s)", faults)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
