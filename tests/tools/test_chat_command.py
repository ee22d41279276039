"""The command chat, and generate from a GGUF file: what they print, and how they end."""

import contextlib
import io
import os
import select
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest
import tiny_gguf
import torch

from transformer_lessons.basis import chat_model
from transformer_lessons.language import gguf_model, sampling
from transformer_lessons.language.chat import Conversation
from transformer_lessons.tools import model_commands

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_gguf.write(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def call(capsys, monkeypatch):
    """The exit code, what was printed, and what was said beside it."""

    def run(line, keyboard=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(keyboard))
        name, *arguments = shlex.split(line)
        try:
            code = model_commands.exit_code(getattr(model_commands, name), arguments)
        except SystemExit as end:
            code = end.code
        return code or 0, *capsys.readouterr()

    return run


def answers(path, *questions, system="You are small.", **options):
    """What the conversation itself answers."""
    conversation = Conversation(*gguf_model.load(path), system, **options)
    return "".join("".join(conversation.ask(question, length=9)) + "\n" for question in questions)


def shown(text):
    return text.encode(errors="replace").decode()


def test_one_question_gets_one_answer(call, tiny):
    code, printed, said = call(f"chat 'Who are you?' --pretrained {tiny} --length 9 --seed 3 --temperature 1 --top-k 9")
    assert (code, said) == (0, "")
    assert printed == shown(answers(tiny, "Who are you?", temperature=1.0, top_k=9, seed=3))


@pytest.mark.parametrize("system", ["Be kind.", ""])
def test_the_system_message_is_the_users_or_none(call, tiny, system):
    _, printed, _ = call(f"chat a --pretrained {tiny} --length 9 --temperature 0 --system '{system}'")
    assert printed == shown(answers(tiny, "a", system=system, temperature=0))


def test_questions_from_a_pipe_are_one_conversation(call, tiny):
    line, drawn = f"chat --pretrained {tiny} --length 9 --temperature 1 --seed 3", {"temperature": 1.0, "seed": 3}
    code, printed, said = call(line, keyboard="a\n\n  \nb\n")
    assert (code, said) == (0, "")
    assert printed == shown(answers(tiny, "a", "b", **drawn))
    assert printed != shown(answers(tiny, "a", **drawn) + answers(tiny, "b", **drawn))


def test_without_a_name_the_file_of_the_course_is_used(call, tiny, monkeypatch):
    monkeypatch.setattr(chat_model, "fetch", lambda: tiny)
    assert call("chat a --length 9")[1] == shown(answers(tiny, "a", temperature=0))


def test_where_the_chat_model_cannot_be_had_a_sentence_says_so(call, monkeypatch):
    def fetch():
        raise ValueError("The chat model could not be downloaded (x).")

    monkeypatch.setattr(chat_model, "fetch", fetch)
    assert call("chat a") == (1, "", "The chat model could not be downloaded (x).\n")


class Interrupted:
    """A conversation in which the user presses Ctrl-C after the first piece of an answer."""

    def __init__(self):
        self.closed = 0

    def ask(self, question, length):
        try:
            yield "So"
            if "stop" in question:
                raise KeyboardInterrupt
            yield " be it."
        finally:
            self.closed += 1


def test_ctrl_c_ends_the_answer_and_twice_the_conversation(monkeypatch, capsys):
    typed = iter(["a", "stop", "b", "stop", KeyboardInterrupt, "never"])

    def keyboard(prompt):
        entered = next(typed)
        if entered is KeyboardInterrupt:
            raise entered
        return entered

    monkeypatch.setattr("builtins.input", keyboard)
    conversation = Interrupted()
    assert model_commands.converse(conversation, 9) is None
    assert capsys.readouterr().out == "So be it.\nSo\nSo be it.\nSo\n\n"
    assert (next(typed), conversation.closed) == ("never", 4)


def test_ctrl_c_ends_a_single_answer_with_exit_code_130(call, tiny, monkeypatch):
    monkeypatch.setattr(model_commands, "new_conversation", lambda options: Interrupted())
    assert call("chat stop") == (130, "So", "Stopped.\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pty")
def test_in_a_terminal_chat_answers_and_two_ctrl_c_end_it(tmp_path):
    import pty

    weights = tiny_gguf.tensors()
    weights["token_embd.weight"][tiny_gguf.TOKENS.index("<|im_end|>")] = 0  # so that no answer ends by itself
    endless = tiny_gguf.write(tmp_path / "endless.gguf", weights)
    command = [sys.executable, "-m", "transformer_lessons", "chat", "--pretrained", str(endless), "--length", "1000000"]
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what runs in the background has been told to ignore it
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        os.execvpe(sys.executable, command, os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"})
    try:
        seen = read_until(terminal, "> ")
        assert "Ask anything. Ctrl-C ends an answer; twice, the conversation." in seen
        os.write(terminal, b"hello\n")
        read_until(terminal, "hello\r\n", more=50)
        os.write(terminal, b"\x03")
        read_until(terminal, "\n> ")
        os.write(terminal, b"\x03")
        press_enter_until_it_ends(terminal)
        _, status = os.waitpid(child, 0)
        child = None
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(terminal)


def read_until(terminal, text, more=0):
    """What the terminal shows, up to this text and so many bytes after it."""
    seen, deadline = "", time.monotonic() + 60
    while text not in seen or len(seen) < seen.index(text) + len(text) + more:
        ready, _, _ = select.select([terminal], [], [], deadline - time.monotonic())
        assert ready, seen
        seen += os.read(terminal, 1000).decode(errors="replace")
    return seen


def press_enter_until_it_ends(terminal):
    """A Ctrl-C that comes after the prompt, but before Python waits for input, is not noticed until the next line.

    What is written is read until nobody writes any more, which Linux reports as an error.
    """
    deadline = time.monotonic() + 60
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline:
            ready, _, _ = select.select([terminal], [], [], 1)
            if not ready:
                os.write(terminal, b"\n")
            elif not os.read(terminal, 1000):
                return
        pytest.fail("it does not end")


def test_generate_writes_on_from_a_text_with_a_gguf_file(call, tiny):
    model, vocabulary = gguf_model.load(tiny)
    expected = sampling.generate(model, vocabulary, "the thing", length=9, seed=3)
    line = f"generate 'the thing' --pretrained {tiny} --length 9 --seed 3"
    assert call(line) == (0, shown(expected) + "\n", "")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("chat '' --pretrained FILE", "The question is empty"),
        ("chat a --length 0", "--length 0 is too small: it must be at least 1"),
        ("chat a --temperature -1", "--temperature -1.0 must be 0, or at least 1e-30 and finite"),
        ("chat a --top-k 0", "--top-k 0 is too small: it must be at least 1"),
        ("chat a --top-k 999 --pretrained FILE", "--top-k 999 is more than the 263 tokens there are"),
        ("chat a --pretrained nothing.gguf", "nothing.gguf cannot be read: No such file or directory"),
        ("generate a --pretrained nothing.gguf", "nothing.gguf cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(call, tiny, tmp_path, monkeypatch, line, sentence):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chat_model, "fetch", None)  # which cannot be called
    assert call(line.replace("FILE", str(tiny))) == (1, "", sentence + "\n")


def test_without_a_keyboard_a_sentence_says_where_the_question_goes(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="no keyboard to ask from: give the question as an argument"):
        model_commands.converse(Interrupted(), 9)


def test_a_mistyped_question_is_told_of_quotation_marks(call):
    code, _, said = call("chat who are you")
    assert code == 2
    assert said.splitlines()[-1].endswith("a question of several words goes in quotation marks")


def test_bfloat16_is_chosen_where_the_processor_has_it_and_refused_by_float32(call, tiny, monkeypatch):
    kinds = []

    def new_conversation(model, *options):
        kinds.append(model.embedding.weight.dtype)
        return Interrupted()

    monkeypatch.setattr(model_commands, "Conversation", new_conversation)
    for able in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda able=able: able)
        assert call(f"chat a --pretrained {tiny} --length 1")[0] == 0
    assert call(f"chat a --pretrained {tiny} --length 1 --precision bfloat16")[0] == 0
    assert kinds == [torch.bfloat16, torch.float32, torch.bfloat16]
