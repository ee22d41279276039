import contextlib
import gc
import os
import random
import sys
import tempfile
import threading
from pathlib import Path

import pytest

# What takes longest is started first, lessons before tests: at the end no worker waits long for another.
# test_speed forgets what is known of the draws, and so comes before all that would have to compute it anew.
SLOWEST = [
    "08_",
    "11_",
    "07_",
    "10_",
    "05_",
    "06_",
    "test_speed",
    "test_catalogue",
    "test_verdicts",
    "test_progress",
    "test_learner",
]
DRAWN = "test_catalogue.py", "test_verdicts.py", "test_true_verdicts.py", "test_verdicts_beyond_pages.py"
TESTS = Path(__file__).parent
MEASURED = [TESTS / "implementation", TESTS / "tasks/test_reversal.py"]


def pytest_addoption(parser):
    parser.addoption(
        "--exhaustive",
        type=int,
        nargs="?",
        const=random.randrange(1, 10**6),
        default=0,
        metavar="N",
        help="prove the catalogue on fifty new draws, drawn by N (random if none is given)",
    )
    parser.addoption("--approve", action="store_true", help="write the verdicts as they are now into tests/verdicts/")


def pytest_report_header(config):
    if number := config.getoption("exhaustive"):
        return f"exhaustive: the fifty draws of --exhaustive={number}"
    return None


def pytest_configure(config):
    config.own_folder = tempfile.TemporaryDirectory()
    os.environ["TRANSFORMER_LESSONS_SOLVED"] = os.path.join(config.own_folder.name, "solved.txt")  # not the learner's
    config.option.loadscopereorder = False  # else xdist starts with the files that hold most tests
    gc.set_threshold(50_000, 20, 100)  # collecting garbage as often as usual would take a tenth of the time


def pytest_collection_finish():
    gc.freeze()  # what has been collected up to here stays to the end


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Notebooks first, and of notebooks and tests the slowest."""

    def turn(item):
        places = [place for place, start in enumerate(SLOWEST) if item.path.name.startswith(start)]
        return item.path.suffix != ".ipynb", places or [len(SLOWEST)]

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The files that use drawn.py go to one worker: what the known mistakes make of a draw is computed only once."""
    from xdist.scheduler import LoadFileScheduling

    class SharingDraws(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "drawn.py" if file.rpartition("/")[2] in DRAWN else file

    return SharingDraws(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture
def exact():
    """Float64 by default, and the same draws whichever tests run before."""
    import torch  # not above: the process that hands the tests out to others runs none

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20170612)
    yield
    torch.set_default_dtype(before)


@pytest.fixture
def threads_kept():
    """However many threads a test takes, PyTorch has as many afterwards as before."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def one_thread(threads_kept):
    import torch

    torch.set_num_threads(1)


@contextlib.contextmanager
def coverage_paused():
    """Coverage slows Python down."""
    own, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        sys.settrace(own)
        threading.settrace(of_threads)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is measured is imported before coverage pauses: a module's own lines run once, and have to be seen."""
    if sys.gettrace():
        with coverage_paused():
            import torch  # noqa: F401
        import transformer_lessons.first_steps
        import transformer_lessons.models
        import transformer_lessons.tasks.reversal  # noqa: F401
    with coverage_paused():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Coverage is measured where the implementation itself is tested, and nowhere else."""
    if any(item.path.is_relative_to(path) for path in MEASURED):
        return (yield)
    with coverage_paused():
        return (yield)
