"""Theorems about the commands train, generate and evaluate: what they print, write and answer."""

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from kill import same

from transformer_lessons import __main__
from transformer_lessons.language import checkpoints, sampling, training
from transformer_lessons.language.batches import Data
from transformer_lessons.language.recipe import Recipe
from transformer_lessons.models import Config
from transformer_lessons.tasks import mock_play, shakespeare
from transformer_lessons.tools import install, model_commands

pytestmark = pytest.mark.usefixtures("one_thread")
ROOT = Path(__file__).resolve().parents[2]
TINY = "--text play --tokens characters --layers 1 --heads 2 --d-model 16 --length 16 --batch-size 4"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a short play, and nothing of this machine's."""
    (tmp_path / "play").write_text(mock_play.write(20, seed=1)[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHAKESPEARE_TXT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")  # as the commands would set it
    world = torch.get_rng_state()
    yield tmp_path
    torch.set_rng_state(world)


@pytest.fixture
def call(capsys):
    """The exit code, what was printed, and what was said beside it."""

    def run(name, line=""):
        try:
            code = model_commands.exit_code(getattr(model_commands, name), shlex.split(line))
        except SystemExit as end:
            code = end.code
        return code or 0, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model that has hardly learned to read."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "play").write_text(mock_play.write(20, seed=1)[0], encoding="utf-8")
    line = f"{TINY} --steps 10 --quiet --text {folder / 'play'} --export {folder / 'model'}"
    assert model_commands.exit_code(model_commands.train, line.split()) == 0
    return folder / "model"


# --- train --------------------------------------------------------------------------------------------------


def test_train_says_what_it_does_shows_how_far_it_is_and_prints_the_result(call, folder):
    code, printed, said = call("train", f"{TINY} --steps 5 --out run --best best --export model --device cpu")
    assert code == 0
    result = re.fullmatch(r"validation: (\d\.\d{4}) nats per token, (\d\.\d{4}) bits per character\n", printed)
    first, *rest, last = said.splitlines()
    assert last == (
        "The model is in run and best and model. To let it write: python3 -m transformer_lessons generate --model run"
    )
    assert re.fullmatch(
        r"play: [\d,]+ tokens to learn from, [\d,]+ to validate on, 3\d\d different\. "
        r"The model has [\d,]+ weights, on cpu\.",
        first,
    )
    assert " 5/5 " in rest[-1]
    assert sorted(os.listdir(folder)) == ["best", "model", "play", "run"]
    text = (folder / "play").read_text(encoding="utf-8")
    _, validation = shakespeare.split(text)
    for name in ("run", "best", "model"):
        loaded, vocabulary = checkpoints.load_model(folder / name)
        ids = torch.tensor(vocabulary.encode("".join(validation)))
        assert training.evaluate(loaded, ids, 16) == pytest.approx(float(result[1]), abs=0.01)
    bits = Data(vocabulary, ids, ids, len("".join(validation))).bits(float(result[1]))
    assert bits == pytest.approx(float(result[2]), abs=1e-3)


def test_the_same_command_gives_the_same_weights_and_another_seed_others(call, folder):
    for name, seed in {"one": 0, "two": 0, "three": 1}.items():
        assert call("train", f"{TINY} --steps 3 --dropout 0.1 --quiet --export {name} --seed {seed}")[0] == 0
    first, again, other_seed = (checkpoints.load(name)["model"] for name in ("one", "two", "three"))
    assert same(first, again)
    assert not same(first, other_seed)


def test_every_option_of_the_recipe_reaches_the_run(call):
    line = "--steps 3 --batch-size 2 --learning-rate 0.01 --evaluate-every 2 --save-every 1 --seed 7 --quiet"
    line += " --length 8 --precision float32 --d-hidden 24 --feed-forward relu"
    line += " --dropout 0.25 --vocabulary 320 --tokens words --optimizer muon"
    assert call("train", f"{TINY} {line} --out run")[0] == 0
    content = checkpoints.load("run")
    assert content["recipe"] == vars(Recipe()) | {
        "steps": 3,
        "batch_size": 2,
        "length": 8,
        "learning_rate": 0.01,
        "evaluate_every": 2,
        "save_every": 1,
        "seed": 7,
        "precision": "float32",
        "betas": list(Recipe().betas),
        "optimizer": "muon",
    }
    assert Config(**content["architecture"]) == Config(320, 16, 2, 24, 1, 8, dropout=0.25, rotary=True, std=0.25)
    assert [step for step, _ in content["progress"]["evaluations"]] == [2, 3]


def test_the_last_tenth_can_be_the_validation_text(call, folder):
    text = (folder / "play").read_text(encoding="utf-8")
    _, printed, said = call("train", f"{TINY} --steps 2 --last-tenth --export model --device cpu")
    cut = len(text) * 9 // 10
    assert f"{cut:,} tokens to learn from, {len(text) - cut:,} to validate on" in said
    _, evaluated, _ = call("evaluate", "--model model --text play --last-tenth")
    assert float(evaluated.split()[2]) == pytest.approx(float(printed.split()[1]), abs=0.01)
    assert call("evaluate", "--model model --text play")[1] != evaluated


def test_ctrl_c_stops_train_with_a_sentence_and_the_same_command_resumes(folder):
    line = f"-m transformer_lessons train {TINY} --threads 1 --steps 9000 --quiet --save-every 5 --out run"
    environment, pipe = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}, subprocess.PIPE
    command = [sys.executable, *line.split()]
    process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)
    while not (folder / "run").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate()
    assert process.returncode == 130
    assert printed == ""
    step = checkpoints.load("run")["progress"]["step"]
    assert said.splitlines()[-1] == f"Stopped after step {step}: the same command resumes from run."
    assert 5 <= step < 9000
    assert sorted(os.listdir(folder)) == ["play", "run"]


def test_a_stopped_train_exports_nothing_and_without_a_file_says_that_it_is_lost(call, folder, monkeypatch):
    progress = training.Progress(step=2)
    monkeypatch.setattr(training, "train", lambda *arguments: progress)
    code, printed, said = call("train", f"{TINY} --steps 3 --export model")
    assert (code, printed) == (130, "")
    assert said.splitlines()[-1] == "Stopped after step 2: without --out it is lost."
    assert sorted(os.listdir(folder)) == ["play"]


def test_before_training_a_sentence_says_what_will_not_be_kept(call):
    nothing = "Nothing will be kept: --out FILE keeps the run, and the model with it."
    only_the_end = "Without --out, a run that is stopped cannot be resumed."
    for files, sentence in {"": nothing, "--export model": only_the_end}.items():
        said = call("train", f"{TINY} --steps 1 --quiet --device cpu {files}")[2].splitlines()
        assert said[0] == sentence
        assert said[1].startswith("play: ")
    assert call("train", f"{TINY} --steps 1 --quiet --out run")[2].startswith("play: ")


def test_the_same_command_with_more_steps_resumes(call):
    assert call("train", f"{TINY} --steps 2 --quiet --out run")[0] == 0
    code, _, said = call("train", f"{TINY} --steps 4 --quiet --out run")
    assert code == 0
    assert "\nrun has done 2 of 2 steps and continues to 4. From here the learning rate is that of a run of 4" in said
    assert checkpoints.load("run")["progress"]["step"] == 4
    assert call("train", f"{TINY} --steps 3 --quiet --out run")[2].endswith("its --steps is 4, not 3\n")


@pytest.mark.parametrize("option", ["out", "best", "export"])
def test_of_two_runs_that_would_write_one_file_the_second_is_refused(call, folder, option):
    sentence = f"another run, process {os.getpid()}, is writing two.pt\n"
    with checkpoints.locked("two.pt"):
        assert call("train", f"{TINY} --steps 1 --{option} two.pt") == (1, "", sentence)
    assert sorted(os.listdir(folder)) == ["play"]


@pytest.mark.parametrize(
    "line",
    [
        "train --steps 0",
        "train --heads 3",
        "train --d-model 0",
        "train --dropout 2",
        "train --threads 100000",
        "train --vocabulary 200",
        "train --vocabulary 0",
        "train --learning-rate -1",
        "train --out x/run",
        "train --out play",
        "train --best a --export a",
        "evaluate --model MODEL --length 99",
        "evaluate --model MODEL --length 0",
        "generate --top-p 2",
        "generate --length -1",
        "generate --temperature nan",
    ],
)
def test_bad_numbers_and_files_are_refused_before_anything_is_read(call, model, monkeypatch, line):
    monkeypatch.setattr(shakespeare, "load", None)  # which cannot be called
    if line.startswith("generate"):
        monkeypatch.setattr(checkpoints, "load_model", None)
    name, options = line.replace("MODEL", str(model)).split(maxsplit=1)
    code, printed, said = call(name, options)
    assert (code, printed) == (1, "")
    assert "NoneType" not in said
    assert len(said.splitlines()) == 1


# --- generate -----------------------------------------------------------------------------------------------


def test_generate_prints_the_prompt_and_what_follows(call, model):
    loaded, vocabulary = checkpoints.load_model(model)
    for prompt in ("", "ALDRIC.\n", "Zürich 🙂 "):
        options = {"length": 30, "temperature": 0.9, "top_k": 20, "top_p": 0.9, "seed": 3}
        line = f"{shlex.quote(prompt)} --model {model} --length 30 --seed 3"
        line += " --temperature 0.9 --top-k 20 --top-p 0.9"
        expected = sampling.generate(loaded, vocabulary, prompt, **options)
        assert call("generate", line) == (0, expected.encode(errors="replace").decode() + "\n", "")


def test_in_a_prompt_a_backslash_and_an_n_are_a_line_break(call, model):
    assert call("generate", f"'\\nALDRIC.\\n' --model {model} --length 0") == (0, "\nALDRIC.\n\n", "")


def test_generate_writes_200_tokens_of_the_courses_own_model_by_default(call, model, monkeypatch):
    monkeypatch.setattr(model_commands, "SHIPPED", model)
    asked = []
    monkeypatch.setattr(sampling, "stream", lambda *arguments: asked.append(arguments[2:]) or iter("ab"))
    assert call("generate") == (0, "ab\n", "")
    assert asked == [("", 200, 0.8, None, None, None)]


def test_without_the_courses_model_generate_says_so(call, tmp_path, monkeypatch):
    monkeypatch.setattr(model_commands, "SHIPPED", tmp_path / "shakespeare.safetensors")
    there = tmp_path / "shakespeare.safetensors"
    expected = f"The course's own model is not here ({there}): name another one with --model\n"
    for name in ("generate", "evaluate"):
        assert call(name) == (1, "", expected)


def test_a_terminal_without_a_character_gets_a_question_mark(model, monkeypatch):
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert not __main__.exit_code(["generate", "é 🙂", "--model", str(model), "--length", "0"])
    assert narrow.buffer.getvalue() == b"? ?" + os.linesep.encode()


def test_a_reader_that_stops_early_sees_no_error(model):
    command = f"{shlex.quote(sys.executable)} -m transformer_lessons generate --length 300 --model {model}"
    command += " | head -c 1"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, shell=True, env=environment, capture_output=True)
    assert len(result.stdout) == 1
    assert result.stderr == b""


# --- evaluate -----------------------------------------------------------------------------------------------


def test_evaluate_prints_the_loss_of_the_validation_part(call, model):
    code, printed, said = call("evaluate", f"--model {model} --text play")
    assert (code, said) == (0, "")
    result = re.fullmatch(r"play, validation: (\d\.\d{4}) nats per token, \d\.\d{4} bits per character\n", printed)
    loaded, vocabulary = checkpoints.load_model(model)
    text = "".join(shakespeare.split(Path("play").read_text(encoding="utf-8"))[1])
    ids = torch.tensor(vocabulary.encode(text))
    assert float(result[1]) == pytest.approx(training.evaluate(loaded, ids, 16), abs=0.01)
    short = call("evaluate", f"--model {model} --text play --length 2")[1]
    assert float(short.split()[2]) > float(result[1])  # with less to look back at, one guesses worse


# --- what cannot be done ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("train --text nothing", "nothing cannot be read: No such file or directory"),
        ("train --device abacus", "--device abacus is not here, only .*cpu"),
        ("train --heads 3", "--d-model 16 does not split evenly into --heads 3"),
        ("train --heads 0", "--heads 0 is too small: it must be at least 1"),
        ("train --layers 0", "--layers 0 is too small: it must be at least 1"),
        (
            "train --d-model 6",
            "--d-model 6 and --heads 2 make heads of 3 features: rotary positions need an even number",
        ),
        (
            "train --tokens words --vocabulary 200",
            r"--vocabulary 200 is too small: this text needs at least 3\d\d, "
            r"256 for the bytes and \d+ for its characters",
        ),
        ("train --learning-rate nan", "--learning-rate nan must be more than 0, and finite"),
        ("train --learning-rate 1e30", r"the loss of step \d+ is (nan|inf): try a smaller --learning-rate than .*"),
        ("train --dropout 1", r"--dropout 1\.0 must be at least 0 and less than 1"),
        ("train --steps 0", "--steps 0 is too small: it must be at least 1"),
        ("train --evaluate-every -1", "--evaluate-every -1 is too small: it must be at least 0"),
        ("train --threads 0", "--threads 0 is too small: it must be at least 1"),
        ("train --threads 100000", r"--threads 100000 is more than the \d+ processors here"),
        ("train --batch-size 5000", "[0-9]+ tokens are too few for --batch-size 5000 and --length 16: they need .*"),
        ("train --out play", "play already exists, and is not a checkpoint of this course"),
        ("train --best play", "play already exists, and is not a checkpoint of this course"),
        ("train --export play", "play already exists, and is not a checkpoint of this course"),
        ("train --out x/run", "x/run cannot be written: No such file or directory"),
        ("train --export x/model", "x/model cannot be written: No such file or directory"),
        ("train --out x --export x", "x cannot be both --out and --export"),
        ("train --d-model 4000000000", "Not enough memory: .*"),
        ("train --layers 1000000000", "Not enough memory: .*"),
        ("generate --model nothing", "nothing cannot be read: No such file or directory"),
        ("generate --model play", "play is not a checkpoint of this course"),
        ("generate --model MODEL --temperature -1", r"--temperature -1\.0 must be 0, or at least 1e-30 and finite"),
        ("generate --model MODEL --top-k 0", "--top-k 0 is too small: it must be at least 1"),
        ("generate --model MODEL --top-k 9999", r"--top-k 9999 is more than the \d+ tokens there are"),
        ("generate --model MODEL --top-p 2 --temperature 0", r"--top-p 2\.0 must be more than 0 and at most 1"),
        ("generate --model MODEL --length -1", "--length -1 is too small: it must be at least 0"),
        ("evaluate --model play", "play is not a checkpoint of this course"),
        ("evaluate --model MODEL --text nothing", "nothing cannot be read: No such file or directory"),
        ("evaluate --model MODEL --text play --length 17", "--length 17 is more than this model's 16"),
        ("evaluate --model MODEL --text play --length 0", "--length 0 is too small: it must be at least 1"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_exit_code_1(call, folder, model, line, sentence):
    name, options = line.replace("MODEL", str(model)).split(maxsplit=1)
    if name == "train":
        options = f"{TINY} --device cpu --quiet --steps 9 {options}"
    code, printed, said = call(name, options)
    assert code == 1
    assert printed == ""
    *before, last = said.splitlines()
    assert re.fullmatch(sentence, last)
    assert len(before) <= 2  # train has said what will be kept, and what it has read
    assert os.listdir(folder) == ["play"]


@pytest.mark.parametrize(
    "line",
    [
        "train --seed -1",
        "train --seed 4294967296",
        "train --seed x",
        "generate --seed -1",
        "train --steps many",
        "train --precision half",
        "train --tokens letters",
        "train --unknown",
        "generate --length 2.5",
        "evaluate x",
    ],
)
def test_an_unknown_option_is_exit_code_2(call, line):
    name, options = line.split(maxsplit=1)
    code, printed, said = call(name, options)
    assert (code, printed) == (2, "")
    assert said.startswith("usage: python3 -m transformer_lessons ")
    assert f"transformer_lessons {name}: error: " in said.splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("train text.txt", "unrecognized arguments: text.txt: did you mean --text text.txt?"),
        ("evaluate text.txt", "unrecognized arguments: text.txt: did you mean --text text.txt?"),
        ("train --haeds 3", "unrecognized arguments: --haeds 3: did you mean --heads?"),
        ("generate to be", "unrecognized arguments: be: a prompt of several words goes in quotation marks"),
        (
            "train --steps 99999999999999999999",
            "argument --steps: 99999999999999999999 must be a whole number, at most 1,000,000,000,000",
        ),
        ("train --out ''", "argument --out: the name of the file is missing"),
    ],
)
def test_a_mistyped_line_gets_a_suggestion(call, line, meant):
    name, options = line.split(maxsplit=1)
    code, _, said = call(name, options)
    assert code == 2
    assert said.splitlines()[-1].endswith(f"error: {meant}")


# --- where nothing can be written ---------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to try")
@pytest.mark.parametrize(
    "line",
    [
        "--version",
        "help",
        "help train",
        "train --help",
        "lab --help",
        "doctor",
        "progress .",
        "generate --model MODEL",
        "evaluate --model MODEL --text play",
        f"train {TINY} --steps 1 --quiet",
    ],
)
def test_on_a_full_disk_every_command_says_a_sentence(folder, model, monkeypatch, capsys, line):
    (folder / "broken.ipynb").write_text("{")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert __main__.exit_code(line.replace("MODEL", str(model)).split()) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == "The output cannot be written: No space left on device."
    assert not any("Traceback" in sentence for sentence in said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to try")
@pytest.mark.parametrize(
    ("outputs", "code", "said"),
    [
        (">/dev/full", 1, b"The output cannot be written: No space left on device.\n"),
        (">&-", 1, b"The output cannot be written: it is closed.\n"),
        (">/dev/full 2>&1", 1, b""),
        (">&- 2>&-", 1, b""),
        ("2>&-", 0, b""),
        ("2>/dev/full", 0, b""),
    ],
)
def test_a_closed_or_full_output_ends_in_no_traceback_when_python_ends(outputs, code, said):
    command = f"{shlex.quote(sys.executable)} -m transformer_lessons --version {outputs}"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}  # what is held back is tried again
    result = subprocess.run(command, shell=True, env=environment, capture_output=True)
    assert (result.returncode, result.stderr) == (code, said)


def test_where_nothing_can_be_printed_the_exit_code_still_says_it(monkeypatch):
    with open("/dev/full" if Path("/dev/full").exists() else os.devnull, "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        assert __main__.exit_code(["pray"]) in (1, 2)
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdout", None)
    assert __main__.exit_code(["--version"]) == 1


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Stopped."),
        (MemoryError(), 1, "Not enough memory: try a smaller model, --length or --batch-size."),
        (
            torch.OutOfMemoryError("CUDA out of memory."),
            1,
            "Not enough memory: try a smaller model, --length or --batch-size.",
        ),
        (ValueError("num_heads=3 is odd"), 1, "--heads 3 is odd"),
        (ValueError("its max_length is 3; its steps is 3, not 4"), 1, "its max_length is 3; its --steps is 3, not 4"),
        (TypeError("the tokens='3' are no number of tokens"), 1, "the --tokens '3' are no number of tokens"),
    ],
)
def test_what_stops_a_command_is_a_sentence(capsys, error, code, said):
    def command(arguments):
        raise error

    assert model_commands.exit_code(command, []) == code
    assert capsys.readouterr() == ("", f"{said}\n")


def test_an_error_of_ours_keeps_its_traceback():
    def command(arguments):
        raise RuntimeError("this cannot be")

    with pytest.raises(RuntimeError, match=r"^this cannot be$"):
        model_commands.exit_code(command, [])


@pytest.mark.parametrize("name", ["train", "generate", "show", "evaluate"])
def test_help_explains_every_option_and_states_every_default(call, name):
    code, printed, said = call(name, "--help")
    assert (code, said) == (0, "")
    parser = getattr(model_commands, f"{name}_parser")()
    for action in parser._actions:
        assert action.help
        assert (action.option_strings or [action.dest])[-1] in printed
        if action.default not in (None, False, "", "==SUPPRESS=="):
            assert re.search(rf"\(default:\s+{re.escape(str(action.default))}\)", printed)
    assert "None" not in printed


def test_without_pytorch_the_courses_environment_does_the_work_or_a_sentence_says_how_to_make_it(monkeypatch, capsys):
    monkeypatch.setattr(install, "has", lambda module: False)
    monkeypatch.setattr(install, "works", lambda: False)
    assert __main__.main(["generate"]) == 1
    assert "python3 -m transformer_lessons lab" in capsys.readouterr().err
    monkeypatch.setattr(install, "works", lambda: True)
    monkeypatch.setattr(install, "run_to_its_end", lambda *command: command[1:])
    handed = __main__.main(["generate", "--seed", "1"])
    assert handed == ("-m", "transformer_lessons", "generate", "--seed", "1")


@pytest.mark.skipif(sys.platform != "linux", reason="a script for Linux")
def test_random_command_lines_end_without_a_traceback_and_lose_no_file():
    from fuzz_commands import fuzz

    wrong = [(line, how, said) for line, how, _, said in fuzz(5, seed=6) if said]
    assert wrong == []
