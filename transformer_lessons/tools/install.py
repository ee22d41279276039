"""The environment that the README's two commands make: .venv in the clone, with everything that requirements.txt lists.

Uses only the standard library, in syntax that Python 3.7 can read, so an old Python gets a clear message.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from transformer_lessons.basis import chat_model, memory

ROOT = Path(__file__).resolve().parents[2]
VENV = Path(os.environ.get("TRANSFORMER_LESSONS_VENV") or ROOT / ".venv").absolute()
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PYTHON_3 = "py" if os.name == "nt" else "python3"
SCRIPT = "transformer-lessons"  # which pip puts beside its Python
COMMAND = SCRIPT if Path(sys.argv[0]).stem == SCRIPT else f"{PYTHON_3} -m transformer_lessons"  # as it was typed
STAMP = VENV / "transformer-lessons.txt"  # what this environment was made from, written last
UNFINISHED = "unfinished"
WITHOUT_MODEL = "--without-model"  # an option of lab and test
CONSTRAINTS = ".ci/constraints.txt"
UV = "uv>=0.8,<0.14"
NEITHER = """This Python has neither ensurepip nor pip, and the course needs one of them to install anything.
On Debian and Ubuntu, ensurepip is a package of its own. Type this, and then run the same command again:

    sudo apt-get install python{}.{}-venv"""


def lab(arguments: list[str]) -> int:
    """Open the course in JupyterLab, at the first lesson that is not known to be solved."""
    make_environment(with_model=WITHOUT_MODEL not in arguments)
    command = [*jupyterlab(), *passed_on(arguments)]
    say("JupyterLab opens in your browser. To stop it, press Ctrl+C here; to go on later, type the same command again.")
    return run_to_its_end(PYTHON, *command)


def jupyterlab() -> list[str | Path]:
    """Arguments for Python. Without a root, JupyterLab would serve only the lesson's folder, and find no pictures.

    The lesson is also the default address: where there is no browser, it is the one that JupyterLab prints.
    """
    lessons, known = memory.lessons(ROOT), memory.solved()
    left = [lesson for lesson in lessons if not memory.is_done(lesson, known)] or lessons[-1:]
    first = [lesson.relative_to(ROOT) for lesson in left[:1]]
    printed = [f"--LabApp.default_url=/lab/tree/{lesson.as_posix()}" for lesson in first]
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return ["-m", "jupyterlab", *first, f"--ServerApp.root_dir={ROOT}", *printed, *as_root]


def passed_on(arguments: list[str]) -> list[str]:
    """What JupyterLab or pytest gets of the arguments."""
    return [argument for argument in arguments if argument != WITHOUT_MODEL]


def let_waiting_threads_sleep() -> None:
    """Threads that wait for others soon give their cores to other programs, unless the user has chosen otherwise.

    PyTorch's and MKL's threads read this when torch loads: GNU's on Linux, LLVM's and Intel's elsewhere. They stay
    awake at first: on a quiet machine, sleeping costs more (tests/proofs/benchmarks/language_model.py waiting).
    """
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"} & set(os.environ):
        os.environ.update(OMP_WAIT_POLICY="PASSIVE", GOMP_SPINCOUNT="5000", KMP_BLOCKTIME="1")


def version() -> str:
    """The clone's or, without one, the installed package's."""
    settings = ROOT / "pyproject.toml"
    if settings.exists():
        return re.search(r'^version = "(.+)"', settings.read_text(encoding="utf-8"), re.MULTILINE)[1]
    from importlib import metadata

    return metadata.version("transformer-lessons")


def test(arguments: list[str]) -> int:
    """Run the tests asked for; without arguments, all of them on every core, with coverage."""
    make_environment(with_model=WITHOUT_MODEL not in arguments)
    everything = ["--cov", "--durations=15", "--numprocesses=auto", "--dist=loadfile", "--max-worker-restart=0"]
    return run_to_its_end(PYTHON, "-m", "pytest", *(passed_on(arguments) or everything))


def make_environment(with_model: bool = True) -> None:
    """Make the environment, or bring it up to date; one whose installation was cut short is made anew."""
    check_python()
    made_from = STAMP.read_text(errors="replace") if STAMP.exists() else None
    if made_from == fingerprint() and works():
        return
    if made_from == UNFINISHED or not works():
        say(f"Making an environment in {VENV}")
        make_venv()
    STAMP.write_text(UNFINISHED)
    say("Installing what requirements.txt lists. This takes a few minutes.")
    install_cpu_torch()
    require(PYTHON, "-m", "pip", "install", "-r", "requirements.txt")
    silence_jupyterlab()
    trust_the_lessons()
    STAMP.write_text(fingerprint())
    if with_model and not os.environ.get(chat_model.UNWANTED):
        fetch_chat_model()


def fetch_chat_model() -> None:
    """The course works without it, so a download that fails gets a sentence, and stops nothing."""
    try:
        chat_model.fetch(PYTHON)
    except ValueError as error:
        say(str(error))


def silence_jupyterlab() -> None:
    """Otherwise JupyterLab looks for a newer version at every start, and asks each learner about fetching news."""
    say("Switching off JupyterLab's news")
    news = "@jupyterlab/apputils-extension:announcements"
    call_quietly(PYTHON, "-m", "jupyter", "labextension", "disable", "--level=sys_prefix", news)


def trust_the_lessons() -> None:
    """Otherwise a page that is loaded again shows no script's output, such as a question that was clicked.

    Jupyter trusts what has run here. But it forgets that at the next loading, unless every output has run.
    """
    lessons = memory.lessons(ROOT)
    if lessons:
        call_quietly(PYTHON, "-m", "jupyter", "trust", *lessons)


def check_python() -> None:
    """Stop with one sentence where the course cannot run."""
    version = ".".join(str(number) for number in sys.version_info[:3])
    python = f"this is Python {version} at {sys.executable}"
    if sys.version_info < (3, 10):  # noqa: UP036 - this is who gets the sentence
        sys.exit(f"Transformer Lessons needs Python 3.10 or later; {python}.")
    if sys.maxsize < 2**32:
        sys.exit(f"PyTorch needs a 64-bit Python; {python}, 32-bit.")
    if platform.system() == "Darwin" and platform.machine() == "x86_64":
        sys.exit(f"PyTorch 2.3 and later need a Mac with Apple silicon; {python}, built for Intel.")
    if not (ROOT / "requirements.txt").exists():
        sys.exit(f"This command belongs in a clone of Transformer Lessons; {ROOT} has no requirements.txt.")


def fingerprint() -> str:
    """What the environment depends on: the files that list what it holds, and where the clone is."""
    parts = [(ROOT / name).read_bytes() for name in ("requirements.txt", CONSTRAINTS, "pyproject.toml")]
    return hashlib.sha256(b"\n".join([*parts, str(ROOT).encode()])).hexdigest()


def works() -> bool:
    """Whether the environment has a Python that starts, and a pip."""
    try:
        return subprocess.call([str(PYTHON), "-c", "import pip"], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_venv() -> None:
    """An empty environment with pip, even where Debian has cut ensurepip out of Python."""
    if not has("ensurepip") and not has("pip"):
        sys.exit(NEITHER.format(*sys.version_info[:2]))
    if has("ensurepip"):
        require(sys.executable, "-m", "venv", "--clear", VENV)
    else:
        require(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
        require(sys.executable, "-m", "pip", "--python", PYTHON, "install", "pip")


def has(module: str) -> bool:
    importlib.invalidate_caches()
    return importlib.util.find_spec(module) is not None


def takes_cpu_torch() -> bool:
    """Is this a Linux without an NVIDIA driver?"""
    return not (platform.system() != "Linux" or shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists())


def install_cpu_torch() -> None:
    """PyTorch's CPU build, where its usual build would bring gigabytes of CUDA for nothing."""
    if not takes_cpu_torch():
        return
    uv: list[str | Path] = [
        PYTHON,
        "-m",
        "uv",
        "pip",
        "install",
        "--python",
        PYTHON,
        "-c",
        CONSTRAINTS,
        "--torch-backend=cpu",
    ]
    if call(PYTHON, "-m", "pip", "install", "--quiet", UV) or call(*uv, "torch"):
        say(
            "PyTorch's list of CPU builds did not answer, so pip takes the build that it finds; "
            "on Linux that may be the one with CUDA, a download of gigabytes."
        )


def require(*command: str | Path) -> None:
    if call(*command):
        sys.exit("That failed; the lines above say why. The same command, run again, starts afresh.")


def call(*command: str | Path) -> int:
    """Run a command in the clone, and return its exit code."""
    return subprocess.call([str(part) for part in command], cwd=str(ROOT))


def call_quietly(*command: str | Path) -> int:
    """The same for a command that has little to say, unless it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=str(ROOT), capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        print(done.stdout + done.stderr, end="", flush=True)
    return done.returncode


def run_to_its_end(*command: object) -> int:
    """The same for a command that handles Ctrl-C itself: JupyterLab asks, pytest sums up."""
    process = subprocess.Popen([str(part) for part in command], cwd=str(ROOT))
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass


def say(sentence: str) -> None:
    print(f"\n{sentence}", flush=True)
