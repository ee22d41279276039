"""TorchCode: each task is a dictionary with pieces of test code."""

import importlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import nn

from courses.shared import (
    Peer,
    Task,
    Text,
    attend,
    byte_pair_parts,
    draw,
    on,
    on_module,
    ran,
    settled,
    shares,
    three,
)
from transformer_lessons.attention import merge_heads, split_heads
from transformer_lessons.masks import causal_mask

REPOSITORY = "duoan/TorchCode"
COMMIT = "8a49ba150f76c92fc6e2fd30631e07b88c803988"


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
    train, apply = byte_pair_parts(part, answer)

    class SimpleBPE:
        def train(self, corpus, num_merges):
            words = Counter(tuple(letter.encode() for letter in word) + (b"</w>",) for word in corpus)
            self.pairs = train(dict(words), num_merges)
            self.merges = [(first.decode(), second.decode()) for first, second in self.pairs]

        def encode(self, text):
            ranks = {pair: rank for rank, pair in enumerate(self.pairs)}
            words = [[letter.encode() for letter in word] + [b"</w>"] for word in text.split()]
            return [part.decode() for word in words for part in apply(word, ranks)]

    return SimpleBPE


def probe_caching(module):
    torch.manual_seed(1)
    module, x = settled(module(16, 2)), draw(2, 6, 16)
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


CORPUS = 5 * ["low"] + 3 * ["lower"] + 8 * ["newest"] + 6 * ["widest"] + 4 * ["aaaa"] + 2 * ["abab"]


def probe_byte_pairs(kind):
    """The tokens of words after 1, 4 and 10 merges, and the merges themselves."""
    results = []
    for number in (1, 4, 10):
        tokenizer = kind()
        tokenizer.train(CORPUS, number)
        results.append((tokenizer.merges, [tokenizer.encode(word) for word in ("low", "newest", "aaaaa", "abab low")]))
    return results


def our_tasks() -> list[Task]:
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


def run(folder: Path, work: Callable) -> None:
    sys.path.insert(0, str(folder))
    tasks = importlib.import_module("torch_judge.tasks").TASKS

    def refuses(task, adapted):
        name = tasks[task.test]["function_name"]
        for test in tasks[task.test]["tests"]:
            code = compile(test["code"].replace("{fn}", name), task.test, "exec")
            if not ran(partial(exec, code, {name: adapted})).ok:
                return True
        return False

    work(Peer("torchcode", our_tasks(), refuses, right_answers(folder)))


class Given(nn.Module):
    """A projection that gives what it was given, whatever it is called with."""

    def __init__(self, projected):
        super().__init__()
        self.projected = projected

    def forward(self, _):
        return self.projected


def right_answers(folder: Path) -> dict:
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
        tokenizer.merges = sorted(ranks, key=ranks.get)
        return tokenizer.encode(Text(parts))[:-1]  # the last marks the end of the word

    def attend_with_cache(query, keys, values, new_key, new_value):
        (heads, _, size), width = query.shape[1:], values.shape[-1]
        module = caching(heads * size, heads)
        module.W_q, module.W_k, module.W_o = Given(merge_heads(query)), Given(merge_heads(new_key)), nn.Identity()
        results = []
        for old, new in zip(*(F.pad(x, (0, -width % size)).split(size, -1) for x in (values, new_value)), strict=True):
            module.W_v = Given(merge_heads(new))  # its values are as wide as its keys
            output, cache = module(merge_heads(query), (keys, old))
            results.append((split_heads(output, heads), *cache))
        output, all_keys, all_values = zip(*results, strict=True)
        return torch.cat(output, -1)[..., :width], all_keys[0], torch.cat(all_values, -1)[..., :width]

    def sliding_window_mask(length, window):
        return (windowed(*equal_scores(length), window - 1)[0] > 0).tril()  # theirs looks forwards, too

    def equal_scores(length):
        return torch.zeros(1, length, 1), torch.zeros(1, length, 1), torch.eye(length)[None]

    softmax, rms_norm, causal = solution(2, "my_softmax"), solution(8, "rms_norm"), solution(9, "causal_attention")
    windowed, sample = solution(11, "sliding_window_attention"), solution(32, "sample_top_k_top_p")
    decode, tokenizers = solution(34, "speculative_decode"), solution(35, "SimpleBPE")
    caching = solution(14, "KVCacheAttention")
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
        "merge": lambda parts, pair: apply_merges(parts, {pair: 0}),
        "apply_merges": apply_merges,
        "attend_with_cache": attend_with_cache,
    }
