"""Random command lines, on full disks, with closed outputs and signals: no traceback, no hang, no lost file.

    python tests/proofs/fuzz_commands.py             200 lines, seed 0
    python tests/proofs/fuzz_commands.py 1000 7      1,000 others

Each line runs in a process of its own, in a folder of its own full of files that must survive. `lab` and `test` are
only asked for help: they would install. A script for Linux; a few lines are among the normal tests.
"""

import contextlib
import hashlib
import json
import os
import random
import resource
import shlex
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import torch
from kill import processes, tiny_data, tiny_model, train_in

from transformer_lessons import __main__
from transformer_lessons.basis import memory
from transformer_lessons.language import checkpoints
from transformer_lessons.tasks import mock_play
from transformer_lessons.tools import install, reset

PATIENCE = 60  # seconds until a line is interrupted, and then until it must have ended
NUMBERS = [
    "-1",
    "0",
    "1",
    "2",
    "3",
    "7",
    "16",
    "64",
    "300",
    "1000",
    "1000000000",
    "1e-3",
    "0.5",
    "1.5",
    "nan",
    "inf",
    "1e999",
    "99999999999999999999",
    "x",
    "",
    "🙂",
    "\udcff",
]
FILES = [
    "play",
    "model",
    "run/run",
    "run/best",
    "junk",
    "new",
    "new too",
    "-new",
    "nowhere/new",
    "run",
    ".",
    "",
    "held",
    "/dev/full",
]
SANE = {
    "number": ["1", "2", "4", "8", "16", "300"],
    "--model": ["model", "run/run", "run/best"],
    "--seed": ["1", "2"],
    "--out": ["new", "new too"],
    "--best": ["new", "new too"],
    "--export": ["new", "new too"],
    "--dropout": ["0.5"],
    "--temperature": ["0.5", "1.5"],
    "--top-p": ["0.9"],
    "--learning-rate": ["0.01"],
    "--threads": ["1", "2"],
}
TEXTS = ["play", "play", "junk", "empty", "model", "run", "nowhere", ""]
OPTIONS = {
    "train": {
        **dict.fromkeys(
            [
                "--steps",
                "--heads",
                "--d-model",
                "--layers",
                "--length",
                "--batch-size",
                "--d-hidden",
                "--vocabulary",
                "--dropout",
                "--seed",
                "--learning-rate",
                "--evaluate-every",
                "--save-every",
                "--threads",
            ],
            NUMBERS,
        ),
        **dict.fromkeys(["--out", "--best", "--export"], FILES),
        "--text": TEXTS,
        "--tokens": ["words", "characters", "bytepairs", "x"],
        "--feed-forward": ["relu", "x"],
        "--device": ["cpu", "cuda", "x"],
        "--precision": ["float32", "x"],
        "--optimizer": ["adamw", "muon", "x"],
        "--last-tenth": None,
        "--quiet": None,
    },
    "generate": {
        "--model": FILES,
        "--length": NUMBERS[:8] + NUMBERS[11:],
        "--temperature": NUMBERS,
        "--top-k": NUMBERS,
        "--top-p": NUMBERS,
        "--seed": NUMBERS,
        "": ["", "HAMLET.\n", "🙂\udcff", "two words"],
    },
    "evaluate": {"--model": FILES, "--text": TEXTS, "--length": NUMBERS, "--last-tenth": None},
    "progress": {
        "": ["notebooks", "lessons", "lessons/no.ipynb", "nowhere", "play", "junk"],
        "--limit": ["5", *NUMBERS[:2], "nan", "x"],
        "--run": None,
        "--forget": None,
    },
    "reset": {"": ["3", "03_scaling", "notebooks/03_scaling.ipynb", "9", "x", "", "-1"], "--remembr": None},
    "doctor": {"": ["x"], "--x": None, "--all": None},
    "glossary": {"": ["x"]},
}
STRAY = ["--help", "-h", "stray", "--haeds", "--", "-", "--version", "\udcff"]
QUICK = (
    "--text play --layers 1 --heads 2 --d-model 16 --length 16 --batch-size 4 --steps 4 --tokens characters "
    "--threads 1 --device cpu"
)


def draw_line(chance):
    """A command line, mostly of options that exist."""
    name = chance.choices(
        [*OPTIONS, "lab", "test", "help", "trian", "--version"], [60, 30, 15, 4, 12, 4, 4, 2, 2, 6, 6, 2]
    )[0]
    if name in ("lab", "test"):
        return [name, "--help"]
    if name in ("help", "trian", "--version"):
        return [name, *chance.choices([*OPTIONS, "x", "--help"], k=chance.randrange(2))]
    line = [name, *(QUICK.split() if name == "train" else [])]
    several = chance.randint(0, min(4, len(OPTIONS[name])))
    for option, values in chance.sample(sorted(OPTIONS[name].items()), several):
        line += [option] if option else []
        sane = SANE.get(option, SANE["number"] if values is NUMBERS else values)
        line += [chance.choice(sane if chance.random() < 0.75 else values)] if values else []
    return line + ([chance.choice(STRAY)] if chance.random() < 0.08 else [])


# --- the process --------------------------------------------------------------------------------------------


def run_line(line, folder, outputs, size):
    """The command line in this process, whose outputs may be full or closed, and whose disk may be nearly full."""
    try:
        torch.set_num_threads(1)
        (folder.parent / "started").touch()
        os.chdir(folder)
        install.ROOT = reset.ROOT = memory.ROOT = folder
        install.VENV = folder / ".venv"
        os.environ.update(
            TRANSFORMER_LESSONS_SOLVED=str(folder.parent / "solved.txt"),
            SHAKESPEARE_TXT="play",
            XDG_CACHE_HOME=str(folder / "cache"),
            https_proxy="http://127.0.0.1:9",
        )
        for number, name in enumerate(("stdout", "stderr"), 1):
            path = "/dev/full" if outputs.get(name) == "full" else folder.parent / name
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
            errors = "strict" if number == 1 else "backslashreplace"
            stream = open(number, "w", 1, "utf-8", errors, closefd=False)  # noqa: SIM115 - it is the process's
            setattr(sys, name, stream)
            if outputs.get(name) == "closed":
                os.close(number)
                setattr(sys, name, None)
        resource.setrlimit(resource.RLIMIT_AS, (12 * 10**9,) * 2)
        if size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python's own start does
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        code = __main__.exit_code(line)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code or 0)
    except BaseException:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        (folder.parent / "stderr").write_text(traceback.format_exc(), encoding="utf-8", errors="replace")
        os._exit(99)


def run_apart(line, folder, outputs, size, shot):
    """(exit code, what was said), of a process that perhaps gets a signal after so many seconds."""
    for name in ("stdout", "stderr"):
        (folder.parent / name).write_bytes(b"")
    process = processes.Process(target=run_line, args=(line, folder, outputs, size))
    process.start()
    while process.is_alive() and not (folder.parent / "started").exists():
        time.sleep(0.01)
    number, seconds = shot or (signal.SIGINT, PATIENCE)
    process.join(seconds)
    if process.is_alive():
        os.kill(process.pid, number)
        process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
        return "hangs", ""
    said = b"".join((folder.parent / name).read_bytes() for name in ("stdout", "stderr"))
    return process.exitcode, said.decode(errors="replace")


# --- what must survive --------------------------------------------------------------------------------------


def furnish(folder):
    """A folder with a text, a model, a run, notebooks, a clone's files, and others."""
    for name in ("run", "notebooks", "lessons"):
        (folder / name).mkdir(parents=True)
    train_in(folder / "run", 3)
    checkpoints.export(tiny_model(), tiny_data().vocabulary, folder / "model")
    (folder / "play").write_text(mock_play.write(20, seed=1)[0], encoding="utf-8")
    (folder / "junk").write_bytes(bytes(range(256)) * 9)
    (folder / "empty").touch()
    (folder / "held.lock").write_text("somebody else's")
    source = "from transformer_lessons.exercises import check\ncheck('softmax', None)"
    cell = {"cell_type": "code", "metadata": {}, "source": source}
    texts = {"no.ipynb": "{", "none.ipynb": json.dumps({"cells": []}), "own.ipynb": json.dumps({"cells": [cell]})}
    for name, text in texts.items():
        (folder / "lessons" / name).write_text(text)
    (folder / "notebooks/03_scaling.ipynb").write_text(json.dumps({"cells": []}))
    for name in ("pyproject.toml", "requirements.txt"):
        (folder / name).write_bytes((Path(__file__).parents[2] / name).read_bytes())


def contents(folder):
    """The files, and what they hold."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def lost(before, folder, line):
    """The files that are neither as they were nor whole models that the line has asked for, and what is left over."""
    after = contents(folder)
    asked = {line[place + 1] for place, word in enumerate(line[:-1]) if word in ("--out", "--best", "--export")}
    asked = {os.path.normpath(name) for name in asked if name}
    gone = [
        name
        for name, digest in before.items()
        if digest not in after.values() and name not in asked and name != "notebooks/glossary.md"
    ]
    for name in asked & set(after):
        if before.get(name) != after[name]:
            try:
                checkpoints.load_model(folder / name)
            except ValueError as error:
                gone.append(str(error))
    return gone, sorted(
        name
        for name in set(after) - set(before) - asked
        if name.endswith((".part", ".lock")) or not (".mine" in name or "notebooks" in name)
    )


def judge(code, said, shot, gone, left):
    """What is wrong with how a line ended, or None."""
    if "Traceback (" in said or "Exception ignored" in said or code == 99:
        return f"a traceback\n{said}"
    killed = shot and code == -shot[0]
    if code not in (0, 1, 2, 130) and not killed:
        return f"exit code {code}"
    if code in (1, 2) and not said.strip() and not shot:
        return f"exit code {code} without a sentence"
    if gone:
        return f"lost: {gone}"
    return f"left over: {left}" if left and not killed else None


def fuzz(count, seed, shots=0.2):
    """Yields (line, how it ran, exit code, what is wrong or None)."""
    chance = random.Random(seed)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve() / "here"
            furnish(folder)
            line = draw_line(chance)
            outputs = {
                stream: chance.choice(["full", "closed"]) for stream in ("stdout", "stderr") if chance.random() < 0.15
            }
            size = chance.choice([0, 100, 5000, 50_000]) if chance.random() < 0.15 and not outputs else None
            shot = None
            if chance.random() < shots:
                shot = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]), chance.uniform(0.02, 2)
            before = contents(folder)
            code, said = run_apart(line, folder, outputs, size, shot)
            silent = bool(outputs) or size is not None
            wrong = judge(code, said + "." * silent, shot, *lost(before, folder, line))
            how = [f"{stream} {what}" for stream, what in outputs.items()]
            how += [f"a disk for {size} bytes"] if size is not None else []
            how += [f"{signal.Signals(shot[0]).name} after {shot[1]:.2f} s"] if shot else []
            yield line, ", ".join(how), code, wrong


def main(count=200, seed=0):
    codes, wrong, start = {}, 0, time.perf_counter()
    for line, how, code, problem in fuzz(count, seed):
        codes[code] = codes.get(code, 0) + 1
        print(f"{'WRONG' if problem else '     '} {code:>4} {shlex.join(line).replace(QUICK, '…')!a} {how}")
        if problem:
            wrong += 1
            print(problem)
        with contextlib.suppress(OSError):
            sys.stdout.flush()
    print(f"{count} lines of seed {seed} in {time.perf_counter() - start:.0f} s; exit codes {codes}; {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
