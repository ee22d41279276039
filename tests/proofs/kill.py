"""Kill a training run at random moments, resume it each time, and compare the end with that of a run left alone.

    python tests/proofs/kill.py           20 kills
    python tests/proofs/kill.py 100 7     100, at other moments

A script for systems that have SIGKILL. Three kills are among the normal tests.
"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import torch

from transformer_lessons.language import checkpoints, training
from transformer_lessons.language.tokenization import Vocabulary

METHODS = multiprocessing.get_all_start_methods()
processes = multiprocessing.get_context("forkserver" if "forkserver" in METHODS else "spawn")
processes.set_forkserver_preload(["transformer_lessons.language.training"])  # once, not in every child


def tiny_data(train=400, validation=90):
    """Letters in which there is nothing to learn but how often they come."""
    generator, letters = torch.Generator().manual_seed(1), Vocabulary("abcde")
    ids = 256 + torch.multinomial(
        torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05]), train + validation, True, generator=generator
    )
    return training.Data(letters, ids[:train], ids[train:], validation)


def tiny_model(seed=0):
    torch.manual_seed(seed)
    return training.new_model(261, 8, 2, 16, 1, 8, dropout=0.2)


def warm_up():
    """The first steps in a process take longer than all others."""
    training.train(tiny_model(), tiny_data(), training.Recipe(steps=3, batch_size=2, length=8), quiet=True)


def train_in(folder, steps):
    """The run."""
    torch.set_num_threads(1)
    recipe = training.Recipe(steps=steps, batch_size=2, length=8, evaluate_every=7, save_every=2)
    training.train(tiny_model(), tiny_data(), recipe, folder / "run", folder / "best", quiet=True)


def train_alone(folder, steps, seconds):
    """In a process of its own too, for what is traced here (coverage) is not traced there."""
    warm_up()
    start = time.process_time()
    train_in(folder, steps)
    seconds.put(time.process_time() - start)


def train_and_be_killed(folder, steps, seconds):
    """For so long in processor time: so a busy machine changes little."""

    def wait_and_kill():
        end = time.process_time() + seconds
        while time.process_time() < end:
            time.sleep(0.0005)
        kill()

    warm_up()
    threading.Thread(target=wait_and_kill, daemon=True).start()
    train_in(folder, steps)
    kill()  # it was faster than usual


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def kill_again_and_again(kills, folder, steps, seconds, seed):
    """Kills the run so often, then lets it end. Returns how many steps had been saved at each kill."""
    chance, saved = random.Random(seed), []
    for _ in range(kills):
        lifetime = chance.uniform(0, 2 * seconds / kills)
        process = processes.Process(target=train_and_be_killed, args=(folder, steps, lifetime))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        there = (folder / "run").exists()
        saved.append(checkpoints.load(folder / "run")["progress"]["step"] if there else 0)
    train_in(folder, steps)
    return saved


def same(one, other):
    """Equal to the last bit, whatever they are made of."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def compare(kills, folder, seed=0):
    """The steps saved at each kill, whether the end is that of a run left alone, and what else is left."""
    alone, killed = folder / "alone", folder / "killed"
    alone.mkdir()
    killed.mkdir()
    steps = 30 * kills
    seconds = processes.SimpleQueue()
    process = processes.Process(target=train_alone, args=(alone, steps, seconds))
    process.start()
    seconds = seconds.get()
    process.join()
    saved = kill_again_and_again(kills, killed, steps, seconds, seed)
    ends = [[checkpoints.load(folder / name) for name in ("run", "best")] for folder in (alone, killed)]
    return saved, same(*ends), {file.name for file in killed.iterdir()} - {"run", "best"}


def main(kills=20, seed=0):
    with tempfile.TemporaryDirectory() as name:
        saved, equal, left = compare(kills, Path(name), seed)
    print(f"{kills} kills, when of {30 * kills} steps these had been saved: {saved}")
    print("the end is", "the same to the last bit" if equal else "ANOTHER")
    print("left over:", ", ".join(sorted(left)) or "nothing")
    return not equal or bool(left)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
