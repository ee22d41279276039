"""Our known mistakes through the tests of other courses, and their right answers through our checks.

    python tests/proofs/peers.py FOLDER             # clones the courses into this folder, unless they are there
    python tests/proofs/peers.py FOLDER --write     # and puts the tables on the page .site/evidence.md

Nothing of the courses is part of this repository; this script holds adapters only, and runs the peer's own test code,
always that of the same commit. CS336 needs `einops`, minbpe `regex` and `tiktoken`, as these courses say themselves; a
test whose files are missing is not run.

Of each mistake its first variant is tried. A mistake counts in a task only if the task's contract can show it: called
through the adapter, as the peer calls it, it gives something else than our right answer on inputs that both contracts
allow (`probe`, which runs no test of the peer). That leaves out, by rule and not by hand, wrong weights where only the
output is returned, in-place changes where nobody asks, the convention of a mask, memory. Ties between pairs, which
the tokenizers break in different ways, are left out by name. A test that takes too long counts as failed.
"""

import argparse
import contextlib
import copy
import importlib
import io
import json
import math
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import torch
import torch.nn.functional as F
from measured import put_on_the_page
from processor_time import run
from torch import nn

from transformer_lessons.attention import merge_heads, split_heads
from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.global_state import standard_state
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.sandbox import Outcome
from transformer_lessons.language.byte_pairs import apply_merges, count_pairs, merge
from transformer_lessons.masks import causal_mask

COURSES = {  # the repository, and the commit whose tests are run
    "torchcode": ("duoan/TorchCode", "8a49ba150f76c92fc6e2fd30631e07b88c803988"),
    "cs336": ("stanford-cs336/assignment1-basics", "25a8a49f6460c83a30416d42348f2ef11d1dd185"),
    "minbpe": ("karpathy/minbpe", "1acefe89412b20245db5a22d2a02001e547dc602"),
}


@dataclass
class Task:
    """A task of a peer that one of our exercises can solve."""

    test: str  # its name there
    exercise: str
    adapt: Callable  # our answer → what the peer tests
    probe: Callable  # probe(adapted answer) → what it gives on inputs that both contracts allow
    tolerance: float = 1e-5  # of the largest number; shares of random draws need more


@dataclass
class Peer:
    name: str  # a key of COURSES
    tasks: list
    refuses: Callable  # refuses(task, adapted answer) → does one of the peer's tests fail?
    answers: dict = field(default_factory=dict)  # exercise → the peer's right answer, as our contract has it
    not_run: list = field(default_factory=list)


# Probes


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def three(batch=2, length=6, keys=6, features=8, values=8):
    return draw(batch, length, features), draw(batch, keys, features), draw(batch, keys, values)


def on(*inputs: tuple) -> Callable:
    """A probe that calls the answer with each of the inputs."""
    return lambda answer: [answer(*copy.deepcopy(arguments)) for arguments in inputs]


def built(module, *sizes):
    """A module with the same weights of the same names, whatever its constructor draws."""
    module = module(*sizes)
    for name, weight in sorted(module.named_parameters()):
        generator = torch.Generator().manual_seed(sum(name.encode()))
        weight.data = torch.randn(weight.shape, generator=generator) / weight.shape[-1] ** 0.5
    return module


def on_module(*sizes: int, inputs: list) -> Callable:
    return lambda module: on(*inputs)(built(module, *sizes).forward)


def attend(query, key, value, mask):
    """Attention with a learner's mask."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ value


# TorchCode: each task is a dictionary with pieces of test code


def linear_names(answer: type) -> type:
    """Our layers under TorchCode's names."""
    names = {"W_q": "linear_q", "W_k": "linear_k", "W_v": "linear_v", "W_o": "linear_out"}
    attributes = {theirs: property(lambda self, ours=ours: getattr(self, ours)) for theirs, ours in names.items()}
    return type("MultiHeadAttention", (answer,), attributes)


def without_weights(answer: type) -> type:
    def forward(self, query, key, value):
        return answer.forward(self, query, key, value)[0]

    return type("MultiHeadAttention", (linear_names(answer),), {"forward": forward})


def crossing(answer: type) -> type:
    def forward(self, x_q, x_kv):
        return answer.forward(self, x_q, x_kv, x_kv)[0]

    return type("MultiHeadCrossAttention", (linear_names(answer),), {"forward": forward})


class Projections(nn.Module):
    """What several of TorchCode's modules are built from."""

    def __init__(self, d_model, num_heads, num_kv_heads=None):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads or num_heads
        d_kv = d_model // num_heads * self.num_kv_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_kv)
        self.W_v, self.W_o = nn.Linear(d_model, d_kv), nn.Linear(d_model, d_model)

    def heads(self, x):
        return (
            split_heads(self.W_q(x), self.num_heads),
            split_heads(self.W_k(x), self.num_kv_heads),
            split_heads(self.W_v(x), self.num_kv_heads),
        )


def grouped(answer: Callable) -> type:
    """TorchCode's has no mask, ours is causal: each query in turn is made the last, which sees every key."""

    def forward(self, x):
        query, key, value = self.heads(x)
        turns = [answer(query.roll(turn, dims=-2), key, value)[0][..., -1, :] for turn in range(x.shape[1])]
        return self.W_o(merge_heads(torch.stack(turns, dim=-2).flip(-2)))

    return type("GroupQueryAttention", (Projections,), {"forward": forward})


def caching(answer: Callable) -> type:
    def forward(self, x, cache=None):
        query, key, value = self.heads(x)
        empty = key[:, :, :0], value[:, :, :0]
        output, *cache = answer(query, *(cache or empty), key, value)
        return self.W_o(merge_heads(output)), tuple(cache)

    return type("KVCacheAttention", (Projections,), {"forward": forward})


def gated(answer: Callable) -> type:
    class SwiGLUMLP(nn.Module):
        def __init__(self, d_model, d_ff):
            super().__init__()
            self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
            self.up_proj = nn.Linear(d_model, d_ff, bias=False)
            self.down_proj = nn.Linear(d_ff, d_model, bias=False)

        def forward(self, x):
            return answer(x, self.gate_proj.weight, self.up_proj.weight, self.down_proj.weight)

    return SwiGLUMLP


def rotating(answer: Callable) -> Callable:
    return lambda q, k: tuple(answer(x, torch.arange(x.shape[-2])).to(x.dtype) for x in (q, k))


def sampling(answer: Callable) -> Callable:
    def sample_top_k_top_p(logits, top_k=0, top_p=1.0, temperature=1.0):
        generator = torch.Generator().manual_seed(int(torch.randint(2**31, ())))
        return int(answer(logits[None], temperature, top_k or None, generator)[0])

    return sample_top_k_top_p


def speculating(answer: Callable) -> Callable:
    def speculate(target, draft, tokens):
        accepted = []
        for p, q, token in zip(target, draft, tokens, strict=True):
            accepted.append(int(answer(p[None], q[None], token[None], torch.rand(1))[0]))
            if accepted[-1] != token:
                break
        return accepted

    return speculate


def byte_pairs(part: str, answer: Callable) -> type:
    """TorchCode's class, in which one part is the answer, and the others are right."""
    parts = {"count_pairs": count_pairs, "merge": merge, "train_bpe": None, "apply_merges": apply_merges, part: answer}

    def train(words, number):
        merges = []
        for _ in range(number):
            counts = parts["count_pairs"](words)
            if not counts:
                break
            merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
            words = {tuple(parts["merge"](list(word), merges[-1])): count for word, count in words.items()}
        return merges

    class SimpleBPE:
        def train(self, corpus, num_merges):
            words = Counter(tuple(letter.encode() for letter in word) + (b"</w>",) for word in corpus)
            self.pairs = (parts["train_bpe"] or train)(dict(words), num_merges)
            self.merges = [(first.decode(), second.decode()) for first, second in self.pairs]

        def encode(self, text):
            ranks = {pair: rank for rank, pair in enumerate(self.pairs)}
            words = [[letter.encode() for letter in word] + [b"</w>"] for word in text.split()]
            return [part.decode() for word in words for part in parts["apply_merges"](word, ranks)]

    return SimpleBPE


def probe_caching(module):
    torch.manual_seed(1)
    module, x = built(module, 16, 2), draw(2, 6, 16)
    first, cache = module(x[:, :4])
    second, cache = module(x[:, 4:5], cache=cache)
    return first, second, *cache


def probe_sampling(sample):
    logits = torch.tensor([0.0, 1.0, 2.0, 2.5])
    settings = [{}, {"temperature": 0.5}, {"temperature": 3.0}, {"top_k": 2}, {"top_k": 2, "temperature": 3.0}]
    return torch.stack([shares(partial(sample, logits, **setting), 4) for setting in settings])


def probe_speculating(decode):
    target, draft = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]), torch.tensor([[0.1, 0.3, 0.6], [0.5, 0.4, 0.1]])
    first = [shares(lambda token=token: decode(target, draft, torch.tensor([token, 0]))[0], 3) for token in range(3)]
    return torch.stack([*first, shares(lambda: len(decode(target, draft, torch.tensor([0, 1]))), 3)])


def shares(sample, number, times=1000):
    counts = Counter(sample() for _ in range(times))
    if set(counts) - set(range(number)):
        raise ValueError("no such token")
    return torch.tensor([counts[one] / times for one in range(number)])


CORPUS = 5 * ["low"] + 3 * ["lower"] + 8 * ["newest"] + 6 * ["widest"] + 4 * ["aaaa"] + 2 * ["abab"]


def probe_byte_pairs(kind):
    """The tokens of words after 1, 4 and 10 merges, and the merges themselves."""
    results = []
    for number in (1, 4, 10):
        tokenizer = kind()
        tokenizer.train(CORPUS, number)
        results.append((tokenizer.merges, [tokenizer.encode(word) for word in ("low", "newest", "aaaaa", "abab low")]))
    return results


def torchcode_tasks() -> list[Task]:
    def mask_of(answer):
        return lambda q, k, v: attend(q, k, v, answer(q.shape[-2]))

    def window_of(answer):
        def attention(q, k, v, window_size):
            one_side = answer(q.shape[-2], window_size + 1)
            return attend(q, k, v, one_side | one_side.mT)

        return attention

    def softmax_of(answer):
        return lambda x, dim=-1: torch.from_numpy(answer(x.numpy()))

    def masked_of(answer):
        return lambda q, k, v: answer(q @ k.mT / q.shape[-1] ** 0.5, causal_mask(q.shape[-2])) @ v

    torch.manual_seed(0)
    inputs = [three(), three(length=3, keys=5, values=6)]
    crossed = draw(1, 3, 16), draw(1, 7, 16)
    causal, gain, window = on(three()), draw(8), three(length=8, keys=8)
    return [
        Task("softmax", "softmax", softmax_of, on((draw(4, 7), -1), (1000 * draw(5), -1))),
        Task("attention", "scaled_dot_product_attention", lambda answer: lambda *qkv: answer(*qkv)[0], on(*inputs)),
        Task(
            "layernorm",
            "layer_norm",
            lambda answer: answer,
            on(*((scale * draw(3, 8), gain, draw(8)) for scale in (1, 0.01))),
        ),
        Task(
            "rmsnorm",
            "rms_norm",
            lambda answer: lambda x, weight: answer(x, weight, 1e-6),
            on(*((scale * draw(3, 8), gain) for scale in (1, 0.001))),
        ),
        Task(
            "mha",
            "MultiHeadAttention",
            without_weights,
            on_module(16, 4, inputs=[three(2, 5, 5, 16, 16), (*crossed, draw(1, 7, 16))]),
        ),
        Task(
            "cross_attention",
            "MultiHeadAttention",
            crossing,
            on_module(16, 4, inputs=[(draw(2, 5, 16), draw(2, 7, 16)), crossed]),
        ),
        Task("causal_attention", "causal_mask", mask_of, causal),
        Task("causal_attention", "masked_softmax", masked_of, causal),
        Task("causal_attention", "tiled_attention", lambda answer: lambda *qkv: answer(*qkv, 4), causal),
        Task("gqa", "grouped_query_attention", grouped, on_module(16, 4, 2, inputs=[(draw(2, 5, 16),)])),
        Task("sliding_window", "sliding_window_mask", window_of, on(*((*window, size) for size in (0, 1, 3, 8)))),
        Task("rope", "rotate", rotating, on((draw(2, 7, 16), draw(2, 7, 16)))),
        Task("mlp", "swiglu", gated, on_module(6, 10, inputs=[(draw(2, 3, 6),)])),
        Task("kv_cache", "attend_with_cache", caching, probe_caching),
        Task("topk_sampling", "sample_next", sampling, probe_sampling, tolerance=0.15),
        Task("speculative_decoding", "speculate", speculating, probe_speculating, tolerance=0.15),
        *(
            Task("bpe", part, partial(byte_pairs, part), probe_byte_pairs)
            for part in ("count_pairs", "merge", "train_bpe", "apply_merges")
        ),
    ]


def torchcode(folder: Path) -> Peer:
    sys.path.insert(0, str(folder))
    tasks = importlib.import_module("torch_judge.tasks").TASKS

    def refuses(task, adapted):
        name = tasks[task.test]["function_name"]
        for test in tasks[task.test]["tests"]:
            code = compile(test["code"].replace("{fn}", name), task.test, "exec")
            if not ran(partial(exec, code, {name: adapted})).ok:
                return True
        return False

    return Peer("torchcode", torchcode_tasks(), refuses, torchcode_answers(folder))


def torchcode_answers(folder: Path) -> dict:
    """TorchCode's solutions, in the form of our contracts, where it can be given to them."""

    def solution(number, name):
        (path,) = (folder / "solutions").glob(f"{number:02}_*.ipynb")
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        names: dict = {"torch": torch, "nn": nn, "F": F, "math": math}
        for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
            if source.startswith("import") or "SOLUTION" in source:
                exec(source, names)
        return names[name]

    theirs, mlp = solution(5, "scaled_dot_product_attention"), solution(15, "SwiGLUMLP")

    def attention(query, key, value):  # it takes three dimensions, and returns no weights: those of the identity
        lead = query.shape[:-2]
        flat = [x.reshape(-1, *x.shape[-2:]) for x in (query, key, value)]
        identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(len(flat[0]), -1, -1)
        return tuple(
            theirs(*flat[:2], last).unflatten(0, lead) if lead else theirs(*flat[:2], last)[0]
            for last in (flat[2], identity)
        )

    def swiglu(x, gate, up, down):
        module = mlp(gate.shape[1], gate.shape[0])
        values = {"gate_proj": gate, "up_proj": up, "down_proj": down}
        named = {f"{name}.weight": weight for name, weight in values.items()}
        named |= {f"{name}.bias": torch.zeros(len(weight), dtype=weight.dtype) for name, weight in values.items()}
        return torch.func.functional_call(module, named, x)

    def sample_next(logits, temperature, top_k, generator):
        with patch("torch.multinomial", partial(torch.multinomial, generator=generator)):
            return torch.tensor([sample(row, top_k or 0, temperature=temperature) for row in logits])

    def speculate(p, q, token, u):
        draws = iter(u)
        with patch("torch.rand", lambda _: next(draws)):
            rows = zip(p.split(1), q.split(1), token.split(1), strict=True)
            return torch.tensor([decode(*row)[0] for row in rows])

    def apply_merges(parts, ranks):
        tokenizer = tokenizers()
        tokenizer.merges = [tuple(part.decode("latin-1") for part in pair) for pair in sorted(ranks, key=ranks.get)]
        word = type("Word", (str,), {"split": lambda word: [word]})(b"".join(parts).decode("latin-1"))
        return [part.encode("latin-1") for part in tokenizer.encode(word)[:-1]]  # the last marks the end of the word

    def sliding_window_mask(length, window):
        return (windowed(*equal_scores(length), window - 1)[0] > 0).tril()  # theirs looks forwards, too

    def equal_scores(length):
        return torch.zeros(1, length, 1), torch.zeros(1, length, 1), torch.eye(length)[None]

    softmax, rms_norm, causal = solution(2, "my_softmax"), solution(8, "rms_norm"), solution(9, "causal_attention")
    windowed, sample = solution(11, "sliding_window_attention"), solution(32, "sample_top_k_top_p")
    decode, tokenizers = solution(34, "speculative_decode"), solution(35, "SimpleBPE")
    return {
        "softmax": lambda scores: softmax(torch.from_numpy(scores)).numpy(),
        "layer_norm": solution(4, "my_layer_norm"),
        "rms_norm": lambda x, gain, epsilon=1e-5: rms_norm(x, gain, epsilon),
        "scaled_dot_product_attention": attention,
        "swiglu": swiglu,
        "causal_mask": lambda length: causal(*equal_scores(length))[0] > 0,
        "sliding_window_mask": sliding_window_mask,
        "sample_next": sample_next,
        "speculate": speculate,
        "apply_merges": apply_merges,
    }


# Peers that test with pytest: their items are collected once, and run for every mistake


class Items:
    """A pytest plugin that keeps the items, and runs some of them when it is asked to."""

    def __init__(self, work: Callable) -> None:
        self.work, self.red = work, False

    def pytest_runtestloop(self, session):
        self.items = session.items
        self.work(self)
        return True

    def pytest_runtest_logreport(self, report):
        self.red |= report.failed

    def fail(self, chosen: Callable) -> bool:
        self.red = False
        for item in filter(chosen, reversed(self.items)):  # minbpe's last tests are its fastest
            outcome = ran(partial(item.config.hook.pytest_runtest_protocol, item=item, nextitem=None))
            if self.red or not outcome.ok:
                return True
        return False


def with_pytest(folder: Path, files: list[str], work: Callable, stubs: dict | None = None) -> None:
    """Runs work(items) once the tests are collected; stubs: modules that take the place of the folder's own."""
    import pytest

    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]  # of another peer
    sys.modules.update(stubs or {})
    before = Path.cwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    options = ["-c", os.devnull, f"--rootdir={folder}"]
    for plugin in ("cacheprovider", "terminal", "nbval", "xdist", "cov"):
        options += ["-p", f"no:{plugin}"]
    try:
        code = pytest.main([*options, *files], plugins=[Items(work)])
        if code > pytest.ExitCode.TESTS_FAILED:
            raise SystemExit(f"The tests in {folder} could not be run: pytest ended with {int(code)}.")
    finally:
        os.chdir(before)


# CS336, assignment 1: its tests call functions in tests/adapters.py, which a student writes

CS336 = {  # function → its tests
    "run_softmax": ["test_softmax_matches_pytorch"],
    "run_scaled_dot_product_attention": [
        "test_scaled_dot_product_attention",
        "test_4d_scaled_dot_product_attention",
    ],
    "run_rope": ["test_rope"],
    "run_rmsnorm": ["test_rmsnorm"],
    "run_swiglu": ["test_swiglu"],
}
NEED_A_MODEL = {"run_rmsnorm", "run_swiglu"}  # whose weights lie in a file of 7 MB


class Adapters(ModuleType):
    """Stands for tests/adapters.py: one function at a time is written, and it is the adapted answer."""

    def __init__(self, name):
        super().__init__(name)
        self.answers = {}

    def __getattr__(self, name):
        if not name.startswith(("run_", "get_")):
            raise AttributeError(name)
        return lambda *inputs, **named: self.answers[name](*inputs, **named)


def cs336(folder: Path, work: Callable) -> None:
    """Calls work(peer) while its tests can be run."""
    adapters = Adapters("tests.adapters")
    model = folder / "tests/fixtures/ts_tests/model.pt"

    def begin(items):
        def refuses(task, adapted):
            adapters.answers = {task.test: adapted}
            return items.fail(lambda item: item.name in CS336[task.test])

        tasks = [task for task in cs336_tasks() if model.exists() or task.test not in NEED_A_MODEL]
        missing = [] if model.exists() else [f"{name}: {model.name} is missing" for name in sorted(NEED_A_MODEL)]
        work(Peer("cs336", tasks, refuses, not_run=missing))

    files = ["tests/test_model.py", "tests/test_nn_utils.py"]
    with_pytest(folder, files, begin, {"tests.adapters": adapters})


def cs336_tasks() -> list[Task]:
    def masked_of(answer):
        return lambda Q, K, V, mask: answer(Q @ K.mT / Q.shape[-1] ** 0.5, mask) @ V

    torch.manual_seed(0)
    allowed = draw(2, 6, 6) > 0
    allowed[..., 0] = True
    x, gain = draw(4, 7), draw(8)
    places = (10000.0, [0, 1, 2, 3, 4]), (100.0, [3, 1, 4, 0, 8])
    return [
        Task(
            "run_softmax",
            "softmax",
            lambda answer: lambda x, dim: torch.from_numpy(answer(x.numpy())),
            on((x, -1), (x + 100, -1)),
        ),
        Task("run_scaled_dot_product_attention", "masked_softmax", masked_of, on((*three(), allowed))),
        Task(
            "run_rope",
            "rotate",
            lambda answer: (
                lambda d_k, theta, max_seq_len, in_query_or_key, token_positions: answer(
                    in_query_or_key, token_positions, theta
                )
            ),
            on(*((16, theta, 9, draw(2, 5, 16), torch.tensor(positions)) for theta, positions in places)),
        ),
        Task(
            "run_rmsnorm",
            "rms_norm",
            lambda answer: lambda d_model, eps, weights, in_features: answer(in_features, weights, eps),
            on(*((8, 1e-5, gain, scale * draw(3, 8)) for scale in (1, 0.001))),
        ),
        Task(
            "run_swiglu",
            "swiglu",
            lambda answer: (
                lambda d_model, d_ff, w1_weight, w2_weight, w3_weight, in_features: answer(
                    in_features, w1_weight, w3_weight, w2_weight
                )
            ),
            on((6, 10, draw(10, 6), draw(6, 10), draw(10, 6), draw(2, 6))),
        ),
    ]


# minbpe: its tokenizers, in which one part is ours


def minbpe(folder: Path, work: Callable) -> None:
    """Calls work(peer) while its tests can be run."""
    sys.path.insert(0, str(folder))
    modules = [importlib.import_module(f"minbpe.{name}") for name in ("basic", "regex")]
    tokenizer = modules[0].BasicTokenizer

    def begin(items):
        def refuses(task, adapted):
            with contextlib.ExitStack() as stack:
                for holder in [tokenizer] if task.test in ("train", "encode") else modules:
                    stack.enter_context(patch.object(holder, task.test, adapted))
                return items.fail(lambda item: "gpt4" not in item.name.lower())  # whose merges are to be downloaded

        work(Peer("minbpe", minbpe_tasks(tokenizer), refuses, minbpe_answers(modules)))

    with_pytest(folder, ["tests/test_tokenizer.py"], begin)


def token(number: int) -> bytes:
    return number.to_bytes(4, "big")


def minbpe_tasks(tokenizer: type) -> list[Task]:
    def counting(answer):
        def get_stats(ids, counts=None):
            counts = {} if counts is None else counts
            for (first, second), count in answer({tuple(map(token, ids)): 1}).items():
                pair = int.from_bytes(first, "big"), int.from_bytes(second, "big")
                counts[pair] = counts.get(pair, 0) + count
            return counts

        return get_stats

    def merging(answer):
        def merge_ids(ids, pair, number):
            parts = answer(list(map(token, ids)), tuple(map(token, pair)))
            return [number if len(part) == 8 else int.from_bytes(part, "big") for part in parts]

        return merge_ids

    def training(answer):
        def train(self, text, vocab_size, verbose=False):
            word = tuple(bytes([byte]) for byte in text.encode())
            self.vocab = {number: bytes([number]) for number in range(256)}
            self.merges, known = {}, {value: number for number, value in self.vocab.items()}
            for number, (first, second) in enumerate(answer({word: 1}, vocab_size - 256), 256):
                self.merges[known[first], known[second]] = known[first + second] = number
                self.vocab[number] = first + second

        return train

    def encoding(answer):
        def encode(self, text):
            known = {value: number for number, value in self.vocab.items()}
            ranks = {(self.vocab[first], self.vocab[second]): number for (first, second), number in self.merges.items()}
            return [known[part] for part in answer([bytes([byte]) for byte in text.encode()], ranks)]

        return encode

    texts = "aaabdaaabac", "hello hello world", "aaaa"

    def probe_tokenizer(name, function):
        class Changed(tokenizer):
            pass

        setattr(Changed, name, function)
        made = Changed()
        made.train(texts[0] * 2 + texts[1], 256 + 6)
        return list(made.merges), [made.encode(text) for text in (*texts, "")]

    ids = [[1, 2, 3, 1, 2], [7, 7, 7, 7, 7], [], [300], [300, 5, 300, 5]]
    return [
        Task("get_stats", "count_pairs", counting, on(*((numbers,) for numbers in ids))),
        Task(
            "merge",
            "merge",
            merging,
            on(*((numbers, pair, 999) for numbers in ids for pair in ((1, 2), (7, 7), (300, 5)))),
        ),
        Task("train", "train_bpe", training, partial(probe_tokenizer, "train")),
        Task("encode", "apply_merges", encoding, partial(probe_tokenizer, "encode")),
    ]


def minbpe_answers(modules: list) -> dict:
    """minbpe's functions, which take any parts, in the form of our contracts."""
    get_stats, merge_parts = modules[0].get_stats, modules[0].merge

    def counted(words):
        counts: dict = {}
        for word, count in words.items():
            for pair, number in get_stats(word).items():
                counts[pair] = counts.get(pair, 0) + count * number
        return counts

    def trained(words, number):
        """A text, in which a full stop ends each word."""
        tokenizer = modules[1].RegexTokenizer(r"[^.]+")
        tokenizer.train(".".join(b"".join(word).decode() for word in words for _ in range(words[word])), 256 + number)
        return [tuple(tokenizer.vocab[part] for part in pair) for pair in tokenizer.merges]

    def applied(parts, ranks):
        chunk = modules[1].RegexTokenizer()
        pairs = sorted(ranks, key=ranks.get)
        names = {bytes([byte]): byte for byte in range(256)} | {
            first + second: 256 + n for n, (first, second) in enumerate(pairs)
        }
        chunk.merges = {(names.get(first), names.get(second)): 256 + n for n, (first, second) in enumerate(pairs)}
        values = {number: value for value, number in names.items()}
        return [values[number] for number in chunk._encode_chunk(b"".join(parts))]

    return {
        "count_pairs": counted,
        "merge": lambda parts, pair: merge_parts(parts, pair, pair[0] + pair[1]),
        "train_bpe": trained,
        "apply_merges": applied,
    }


# The table

MEMORY = 8 * 1024**3  # bytes: a token list that never stops growing is to end with an error, not with the machine


def ran(call: Callable) -> Outcome:
    with contextlib.redirect_stdout(io.StringIO()):
        return run(call, seconds=3)


def shown_by(task: Task, adapted: Callable, right: object) -> bool:
    """Can the task's contract show that the answer is wrong?"""

    def call():
        torch.manual_seed(0)
        return task.probe(adapted)

    outcome = ran(call)
    return not outcome.ok or not alike(outcome.value, right, task.tolerance, False)


def wrong_answers(name: str) -> Iterator[tuple[str, Callable]]:
    """Our known mistakes, each in its first variant; ties are broken in other ways elsewhere."""
    for mistake in EXERCISES[name].mistakes.values():
        if not mistake.name.startswith(("ties ", "tied ")):
            yield mistake.name, mistake.variants[0].answer


def report_on(peer: Peer, shows_names: bool, writes: bool) -> None:
    """Prints a table of the peer's tasks, what we say of its right answers, and puts both on the page."""
    lines = ["| task | our exercise | mistakes that count | refused |", "| --- | --- | ---: | ---: |"]
    print(f"\n{COURSES[peer.name][0]}\n\n" + "\n".join(lines), flush=True)
    total, refused = 0, 0
    for task in peer.tasks:
        right = task.adapt(EXERCISES[task.exercise].right.answer)
        with standard_state():
            if peer.refuses(task, right):
                raise SystemExit(f"{peer.name} refuses our right answer in {task.test}: the adapter is at fault.")
            torch.manual_seed(0)
            counted, passed = counted_and_passed(peer, task, task.probe(right))
        total, refused = total + counted, refused + counted - len(passed)
        lines.append(f"| `{task.test}` | `{task.exercise}` | {counted} | {counted - len(passed)} |")
        print(lines[-1], flush=True)
        for name in passed if shows_names else ():
            print(f"    passes: {name}")
    lines += [f"| **all** | | {total:,} | {refused:,} ({refused / total:.0%}) |"]
    verdicts: dict = {True: [], False: []}
    for name, answer in peer.answers.items():
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = check(name, answer)
        verdicts[verdict.status == "passed"].append(f"`{name}`")
        print(f"Its right answer in our check: {verdict.message}")
    for accepted, word in ((True, "accept"), (False, "refuse")):
        if verdicts[accepted]:
            lines += ["", f"Its right answers that we {word}: {', '.join(verdicts[accepted])}."]
    for line in peer.not_run:
        lines += ["", f"Not run: {line}."]
    repository, commit = COURSES[peer.name]
    lines += ["", f"Tests of [commit {commit[:7]}](https://github.com/{repository}/tree/{commit})."]
    print("\n".join(lines[len(peer.tasks) + 2 :]))
    if writes:
        put_on_the_page(peer.name, lines)


def counted_and_passed(peer: Peer, task: Task, expected: object) -> tuple[int, list]:
    """How many mistakes count in a task, and the names of those that its tests let pass."""
    counted, passed = 0, []
    for name, answer in wrong_answers(task.exercise):
        outcome = ran(partial(task.adapt, answer))
        if outcome.ok and not shown_by(task, outcome.value, expected):
            continue
        counted += 1
        if outcome.ok and not peer.refuses(task, outcome.value):
            passed.append(name)
    return counted, passed


def cloned(folder: Path, repository: str, commit: str) -> Path:
    """Where the course lies in the folder, with the files of this commit."""
    place = folder / repository
    if not place.exists():
        subprocess.run(["git", "clone", "--quiet", f"https://github.com/{repository}", place], check=True)
        subprocess.run(["git", "-C", place, "checkout", "--quiet", "--detach", commit], check=True)
    there = subprocess.check_output(["git", "-C", place, "rev-parse", "HEAD"], text=True).strip()
    if there != commit:
        raise SystemExit(f"{place} is at commit {there}; the tables are of {commit}.")
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the courses are, or are cloned to")
    parser.add_argument("--names", action="store_true", help="list the mistakes that pass there")
    parser.add_argument("--write", action="store_true", help="put the tables on the page .site/evidence.md")
    arguments = parser.parse_args()
    folders = {name: cloned(arguments.folder.resolve(), *course) for name, course in COURSES.items()}
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    report = partial(report_on, shows_names=arguments.names, writes=arguments.write)
    report(torchcode(folders["torchcode"]))
    cs336(folders["cs336"], report)
    minbpe(folders["minbpe"], report)


if __name__ == "__main__":
    main()
