"""Whatever an answer does while it runs, it is ended in time, prints nothing, and leaves nothing behind."""

import _thread
import builtins
import contextlib
import os
import signal
import sys
import threading
import time

import pytest
from reported import NAME, right, verdict, words_of

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.draws import first_draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.running import errors, global_state, sandbox
from transformer_lessons.running.sandbox import Limits, Outcome

QUICK = Limits(call=0.3)


def outcome_in_a_thread(call):
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(call()))
    thread.start()
    thread.join()
    return outcomes[0]


# What never ends


def loop(query, key, value):
    while True:
        pass


def stubborn_loop(query, key, value):
    while True:
        try:
            query = query + 1
        except BaseException:
            query = query - 1


def slow(query, key, value):
    time.sleep(1)
    return right(query, key, value)


@pytest.mark.parametrize("answer", [loop, stubborn_loop])
def test_a_loop_without_end_is_stopped_and_named(answer):
    before = threading.active_count()
    report = verdict(answer, limits=QUICK)
    assert (report.status, report.mistake) == ("failed", "endless")
    assert "what makes the condition false?" in report.message
    assert "It could not be stopped" not in report.message
    assert threading.active_count() == before


def test_a_call_that_cannot_be_stopped_is_left_behind_silent_and_the_verdict_says_so(capsys):
    def sleeper(query, key, value):
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            with contextlib.suppress(BaseException):  # Stop too, wherever it strikes
                time.sleep(2.5)
        print("good morning")

    said = "It could not be stopped and is still running in the background"
    assert any(said in words_of(verdict(sleeper, limits=QUICK)) for _ in range(3))  # a busy machine may stop it sooner
    for thread in global_state.runaways:
        thread.join()
    assert verdict(right).status == "passed"
    assert "good morning" not in capsys.readouterr().out


def test_many_slow_calls_are_given_up_together():
    report = verdict(slow, limits=Limits(check=1.5))
    assert report.mistake == "endless"
    assert "It took more than" in words_of(report)


def test_after_a_call_without_end_no_further_call_is_made():
    calls = []

    def run(call):
        calls.append(call)
        return Outcome("endless", stuck=True) if len(calls) == 2 else sandbox.attempt(call)

    report = judge(EXERCISES[NAME], right, first_draws(EXERCISES[NAME]), run=run)
    assert (report.mistake, len(calls)) == ("endless", 2)
    assert "It could not be stopped and is still running in the background" in words_of(report)


def test_an_answer_without_a_result_for_the_last_size_does_come_to_an_end():
    number, calls = len(EXERCISES[NAME].setup.sizes), []

    def stub_at_last(query, key, value):
        calls.append(1)
        return ... if len(calls) == number else right(query, key, value)

    told = verdict(stub_at_last)
    assert told.message.startswith(f"✗ {NAME}: it gives no result.")
    assert "it raises NotImplementedError, or returns `...`." in words_of(told)


# What takes time that is not the answer's


def importing(folder, monkeypatch, seconds):
    """An answer that imports a module which takes its time, and then gives what the module holds."""
    (folder / "slow_to_import.py").write_text(
        f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end:\n    pass\nHELD = 4\n"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "slow_to_import", raising=False)

    def answer():
        import slow_to_import

        return slow_to_import.HELD

    return answer


def test_the_time_of_an_import_does_not_count_and_the_import_is_not_cut_off(tmp_path, monkeypatch):
    answer = importing(tmp_path, monkeypatch, 0.8)
    outcome = sandbox.run_safely(answer, seconds=0.4)
    assert (outcome.kind, outcome.value) == ("value", 4)
    assert 0.5 < outcome.uncounted < 30


def test_the_time_of_an_import_does_not_count_for_all_the_calls_together(tmp_path, monkeypatch):
    answer = importing(tmp_path, monkeypatch, 1)
    assert verdict(lambda *inputs: answer() and right(*inputs), limits=Limits(check=0.9)).status == "passed"


def test_an_import_without_end_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "UNCOUNTED", 0.3)
    outcome = sandbox.run_safely(importing(tmp_path, monkeypatch, 60), seconds=0.2)
    assert (outcome.kind, outcome.stuck) == ("endless", False)


@pytest.mark.parametrize(
    ("worked", "kind"),
    {"waits for the processor": (0.1, "value"), "sleeps": (0.0, "endless"), "works": (0.6, "endless")}.values(),
)
def test_a_call_that_waits_for_the_processor_is_given_more_time_and_no_other_is(monkeypatch, worked, kind):
    monkeypatch.setattr(sandbox, "processor_time", lambda thread: worked)
    assert sandbox.run_safely(lambda: time.sleep(0.6), seconds=0.3).kind == kind


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux says what a thread has worked")
def test_the_processor_time_of_a_thread_is_known_until_the_thread_ends():
    ended = threading.Event()

    def work():
        while time.thread_time() < 0.3:
            pass
        ended.wait()

    thread = threading.Thread(target=work)
    thread.start()
    end = time.monotonic() + 60
    while sandbox.processor_time(thread) < 0.25 and time.monotonic() < end:
        time.sleep(0.01)
    assert 0.25 <= sandbox.processor_time(thread) < 0.5
    ended.set()
    while sandbox.processor_time(thread) and time.monotonic() < end:  # until the system has cleared it away
        time.sleep(0.01)
    assert sandbox.processor_time(thread) == 0.0


def test_the_time_to_find_the_line_of_an_error_does_not_count(monkeypatch):
    find = errors.statement
    monkeypatch.setattr(errors, "statement", lambda *place: time.sleep(0.8) or find(*place))
    outcome = sandbox.run_safely(lambda: 1 / 0, seconds=0.4)
    assert (outcome.kind, outcome.error) == ("raised", "ZeroDivisionError: division by zero")


# Ctrl-C


@pytest.fixture
def _interruptible():
    """As in a terminal: what a shell starts in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_gives_the_prompt_back_and_ends_the_answer():
    before, begun = threading.active_count(), threading.Event()
    streams = sys.stdout, sys.stderr

    def press_ctrl_c():
        begun.wait(60)
        time.sleep(0.1)
        _thread.interrupt_main()

    def endless(query, key, value):
        begun.set()
        loop(query, key, value)

    presser = threading.Thread(target=press_ctrl_c)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        check(NAME, endless, limits=Limits(call=60, check=60))
    presser.join()
    assert threading.active_count() == before
    assert (sys.stdout, sys.stderr) == streams


def test_ctrl_c_while_a_known_mistake_runs_is_not_taken_for_the_outcome_of_the_mistake():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sandbox.attempt(interrupted)
    assert outcome_in_a_thread(lambda: sandbox.attempt(interrupted)).error == "KeyboardInterrupt"


def test_an_answer_that_interrupts_the_run_is_an_answer_that_raises():
    def interrupts(query, key, value):
        raise KeyboardInterrupt

    assert "it raises KeyboardInterrupt" in words_of(verdict(interrupts))


# Threads, and what is printed and read


def test_an_answer_has_room_for_a_deep_recursion_and_later_threads_have_as_much_as_before(monkeypatch):
    sizes, set_size = [], threading.stack_size
    before = set_size()
    monkeypatch.setattr(threading, "stack_size", lambda size: sizes.append(size) or set_size(size))
    assert sandbox.run_safely(lambda: 3).value == 3
    assert sizes == [64 * 2**20, before]


def test_the_lines_that_an_answer_prints_are_counted_and_not_shown(capsys):
    def chatty(query, key, value):
        for _ in range(10_000):
            print("hello")
        print("hello", file=sys.stderr)
        sys.stdout.writelines(["a\n", "b\n"])
        sys.stdout.flush()
        return query

    said = "(Your answer also printed 10003 lines in one call, not shown here.)"
    assert said in verdict(chatty).message
    assert "hello" not in "".join(capsys.readouterr())


def test_other_threads_still_print_while_an_answer_is_judged(capsys):
    thread = threading.Thread(target=lambda: print("from elsewhere"))

    def starter(query, key, value):
        if not thread.ident:
            thread.start()
            thread.join()
        return right(query, key, value)

    assert verdict(starter).status == "passed"
    assert "from elsewhere" in capsys.readouterr().out


def test_an_answer_that_asks_for_input_gets_none():
    assert "an answer must not ask for input()" in words_of(verdict(lambda query, key, value: input("Which? ")))


def test_an_answer_that_calls_check_is_not_checked_without_end():
    def nested(query, key, value):
        assert check(NAME, nested).status == "not attempted"
        return right(query, key, value)

    assert verdict(nested).status == "passed"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="pytest's own threads need the builtins that the answer replaces")
@pytest.mark.parametrize("seconds", [0, 0.05])  # in which the check looks at the answer, while nothing is whole
def test_builtins_are_whole_again_before_the_check_itself_needs_them(seconds):
    before = dict(vars(builtins))

    def replaces():
        vars(builtins).update(dict.fromkeys(["any", "int", "len", "map", "max", "min", "open", "range", "sum", "zip"]))
        time.sleep(seconds)

    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            outcome = sandbox.run_safely(replaces)
            os._exit((outcome.kind, zip, len) != ("value", before["zip"], before["len"]))
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
