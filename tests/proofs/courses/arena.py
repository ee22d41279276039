"""ARENA, chapter 1: test functions that compare with the course's own solutions, and tests inside these solutions.

The course compares with GPT-2's layers and logits, which would have to be downloaded. Here the solutions' own layers
take their place, and logits that give its five words the shares that the course expects. Of the libraries that the
course imports, only einops is needed: its tests use no more of the others than the few lines below.

The repository is a fork, which can be cloned as well as the course's own; the commit is the course's.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock, patch

import torch
from torch import nn

from courses.shared import Peer, Task, attend, causally, draw, on, ran, settled, shares
from transformer_lessons.attention import MultiHeadAttention, merge_heads, split_heads
from transformer_lessons.masks import causal_mask

REPOSITORY = "georgeIshaq/ARENA_Exercises"
COMMIT = "dc0db286e01c11cc95292daf88afd62f522bff42"

NOT_NEEDED = [
    "circuitsvis",
    "datasets",
    "eindex",
    "huggingface_hub",
    "IPython.display",
    "jaxtyping",
    "plotly_utils",
    "rich",
    "rich.table",
    "tqdm.notebook",
    "transformer_lens",
    "transformer_lens.hook_points",
    "transformer_lens.utils",
    "transformers.models.gpt2.tokenization_gpt2_fast",
    "wandb",
]


def run(folder: Path, work: Callable) -> None:
    exercises = folder / "chapter1_transformer_interp/exercises"
    before = Path.cwd()
    os.chdir(exercises)  # where the course looks for itself
    sys.path.insert(0, str(exercises))
    try:
        with patch.dict(sys.modules, {name: MagicMock() for name in NOT_NEEDED}):
            sys.modules["transformer_lens"].FactoredMatrix = FactoredMatrix
            sys.modules["transformer_lens"].utils.get_act_name = lambda name, layer: (name, layer)
            sys.modules["eindex"].eindex = logits_of_the_next
            first, second = "part1_transformer_from_scratch", "part2_intro_to_mech_interp"
            (solutions, tests), (more_solutions, more_tests) = (
                [import_module(f"{part}.{name}") for name in ("solutions", "tests")] for part in (first, second)
            )
            torch.set_grad_enabled(True)  # which the second part has turned off
            more_solutions.tqdm = iter
            sampling_tests = blocks_with(exercises / first / "solutions.py", "sample_next_token(input_ids.squeeze()")
            work(peer_of(solutions, tests, more_solutions, more_tests, sampling_tests))
    finally:
        os.chdir(before)


def peer_of(solutions, tests, more_solutions, more_tests, sampling_tests) -> Peer:
    def compare(layer, size):
        """The course compares with a layer of GPT-2, which has the same names."""
        torch.manual_seed(0)
        reference = getattr(solutions, layer)(solutions.Config())
        for weight in reference.parameters():
            nn.init.normal_(weight, std=size)
        return lambda answer: solutions.load_gpt2_test(answer, reference, draw(1, 10, 768))

    def test_sampling(answer, block):
        words, sampler = FiveWords(), SimpleNamespace(sample_next_token=answer)
        names = {"model": words.model, "tokenizer": words, "TransformerSampler": sampler, "device": "cpu"}
        exec(block, names | {"MAIN": True, "defaultdict": defaultdict, "tqdm": iter})

    def test_ablation(answer):
        tokens = torch.randint(11, (2, 9))
        scores = more_solutions.get_ablation_scores(model, tokens, answer)
        more_tests.test_get_ablation_scores(scores, model, tokens)

    model = Model()
    every_test = {
        "LayerNorm": [
            lambda answer: tests.test_layer_norm_epsilon(answer, draw(1, 10, 768)),
            compare("LayerNorm", 1),
        ],
        "apply_causal_mask": [tests.test_causal_mask],
        "Attention": [compare("Attention", 0.05)],
        "sample_next_token": [partial(test_sampling, block=block) for block in sampling_tests],
        "head_zero_ablation_hook": [test_ablation],
        "full_OV_circuit": [lambda answer: more_tests.test_full_OV_circuit(answer(model, 1, 1), model, 1, 1)],
    }

    def refuses(task, adapted):
        # 10,000 draws take a while
        return not all(ran(partial(test, adapted), seconds=10).ok for test in every_test[task.test])

    return Peer(
        "arena",
        our_tasks(solutions),
        refuses,
        right_answers(solutions, more_solutions),
        not_run=["tests of the texts that GPT-2 writes, and of its temperature zero"],
    )


def blocks_with(path: Path, call: str) -> list[str]:
    """The tests that stand between the solutions: those that have this call, but no top-p sampling."""
    blocks = path.read_text(encoding="utf-8").split("# %%")
    return [block for block in blocks if call in block and "assert" in block and "top_p" not in block]


# What takes the place of libraries and published models


class FactoredMatrix:
    """A product of matrices, as transformer_lens has it, but multiplied out."""

    def __init__(self, first, second):
        self.AB = first @ second

    def __matmul__(self, other):
        return FactoredMatrix(self.AB, other)

    def __rmatmul__(self, other):
        return FactoredMatrix(other, self.AB)

    def get_corner(self, size):
        return self.AB[:size, :size]


def logits_of_the_next(logits, tokens, _):
    return logits[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0]


class FiveWords:
    """A tokenizer and a model that gives five words the probabilities that they have after the course's prompt."""

    def __init__(self):
        known = {" house": 0.0367, " same": 0.0104, " church": 0.0648, " Church": 0.0097, " temple": 0.0145}
        places = [8, 31, 57, 70, 96]
        self.words = dict(zip(places, known, strict=True))
        probabilities = torch.linspace(0.95, 1.05, 100) * (1 - sum(known.values())) / 95  # less than each of the five
        probabilities[places] = torch.tensor(list(known.values()))
        self.logits = probabilities.log()

    def encode(self, prompt, return_tensors):
        return torch.arange(len(prompt.split()))[None]

    def model(self, tokens):
        return self.logits.expand(1, tokens.shape[-1], -1)

    def decode(self, token):
        return self.words.get(token, "another")


class Model:
    """Two layers of four heads, each of which sees its own token alone; a hook may change what the heads give."""

    cfg = SimpleNamespace(n_layers=2, n_heads=4, d_head=3, d_model=12, device="cpu")

    def __init__(self):
        torch.manual_seed(0)
        self.W_E, self.W_U = draw(30, 12), draw(12, 30)
        self.W_V, self.W_O = draw(2, 4, 12, 3), draw(2, 4, 3, 12)

    def __call__(self, tokens, return_type):
        return self.run_with_hooks(tokens, [])

    def reset_hooks(self):
        pass

    def run_with_hooks(self, tokens, fwd_hooks):
        residual = self.W_E[tokens]
        for layer in range(2):
            heads = torch.einsum("btd,hde->bthe", residual, self.W_V[layer])
            for name, hook in fwd_hooks:
                if name == ("z", layer):
                    changed = hook(heads, hook=None)
                    heads = heads if changed is None else changed
            residual = residual + torch.einsum("bthe,hed->btd", heads, self.W_O[layer])
        return residual @ self.W_U


# Tasks


def our_tasks(solutions) -> list[Task]:
    def norm_of(answer):
        class LayerNorm(solutions.LayerNorm):
            def forward(self, residual):
                return answer(residual, self.w, self.b, self.cfg.layer_norm_eps)

        return LayerNorm

    def mask_of(answer):
        return lambda self, attn_scores: attn_scores.masked_fill(~answer(attn_scores.shape[-1]), -torch.inf)

    def attention_from(attention, split=split_heads, merge=merge_heads):
        """The course's module, from parts of ours: attention(query, key, value) of all heads."""

        class Attention(solutions.Attention):
            def forward(self, normalized_resid_pre):
                query, key, value = (
                    split(normalized_resid_pre @ weight.transpose(0, 1).flatten(1) + bias.flatten(), self.cfg.n_heads)
                    for weight, bias in ((self.W_Q, self.b_Q), (self.W_K, self.b_K), (self.W_V, self.b_V))
                )
                return merge(attention(query, key, value)) @ self.W_O.flatten(0, 1) + self.b_O

        return Attention

    def causal(query, key, value):
        return attend(query, key, value, causal_mask(query.shape[-2]))

    def masked_of(answer):
        def attention(query, key, value):
            return answer(query @ key.mT / query.shape[-1] ** 0.5, causal_mask(query.shape[-2])) @ value

        return attention_from(attention)

    def scaled_of(answer):
        return attention_from(lambda *qkv: torch.cat([output for output, _ in causally(answer, *qkv)], -2))

    def cached_of(answer):
        def attention(query, key, value):
            outputs, keys, values = [], key[..., :0, :], value[..., :0, :]
            for new in zip(query.split(1, -2), key.split(1, -2), value.split(1, -2), strict=True):
                output, keys, values = answer(new[0], keys, values, *new[1:])
                outputs.append(output)
            return torch.cat(outputs, -2)

        return attention_from(attention)

    def heads_of(answer):
        """Our module, with the weights of the course's."""

        class Attention(solutions.Attention):
            def forward(self, normalized_resid_pre):
                module = answer(self.cfg.d_model, self.cfg.n_heads)
                weights = {"linear_out.weight": self.W_O.flatten(0, 1).T, "linear_out.bias": self.b_O}
                for letter in "QKV":
                    weight, bias = getattr(self, f"W_{letter}"), getattr(self, f"b_{letter}")
                    weights[f"linear_{letter.lower()}.weight"] = weight.transpose(0, 1).flatten(1).T
                    weights[f"linear_{letter.lower()}.bias"] = bias.flatten()
                call = partial(torch.func.functional_call, module, weights)
                results = causally(lambda *inputs: call(inputs), *3 * [normalized_resid_pre])
                return torch.cat([output for output, _ in results], -2)

        return Attention

    def sampling_of(answer):
        def sample_next_token(input_ids, logits, top_k=0):
            generator = torch.Generator().manual_seed(int(torch.randint(2**31, ())))
            return int(answer(logits[None], 1.0, top_k or None, generator)[0])

        return sample_next_token

    def hook_of(answer):
        return lambda z, hook, head_index_to_ablate: answer(z.transpose(1, 2), head_index_to_ablate).transpose(1, 2)

    def circuit_of(answer):
        """Their matrix has a row for each token that is read, ours a column."""

        def full_OV_circuit(model, layer, head):
            attention = MultiHeadAttention(model.cfg.d_model, model.cfg.n_heads)
            attention.linear_v.weight.data = model.W_V[layer].transpose(0, 1).flatten(1).T
            attention.linear_out.weight.data = model.W_O[layer].flatten(0, 1).T
            return FactoredMatrix(answer(model.W_E, attention, model.W_U.T, head).T, torch.eye(len(model.W_E)))

        return full_OV_circuit

    # Probes

    torch.manual_seed(0)
    small = solutions.Config(d_model=12, d_head=4, n_heads=3)
    x, scores, z, logits = draw(2, 5, 12), draw(2, 3, 5, 5), draw(2, 5, 3, 4), torch.tensor([0.0, 1.0, 2.0, 2.5])

    def probe_layer(layer):
        module = settled(layer(small))
        return [module(x), module(0.01 * x)]

    def probe_sampling(sample):
        return torch.stack([shares(partial(sample, None, logits, top_k=top_k), 4) for top_k in (0, 1, 2, 4)])

    attentions = {
        "causal_mask": lambda answer: attention_from(lambda *qkv: attend(*qkv, answer(qkv[0].shape[-2]))),
        "masked_softmax": masked_of,
        "tiled_attention": lambda answer: attention_from(lambda *qkv: answer(*qkv, 4)),
        "attend_with_cache": cached_of,
        "scaled_dot_product_attention": scaled_of,
        "split_heads": lambda answer: attention_from(causal, split=answer),
        "merge_heads": lambda answer: attention_from(causal, merge=answer),
        "MultiHeadAttention": heads_of,
    }
    return [
        Task("LayerNorm", "layer_norm", norm_of, probe_layer),
        Task("apply_causal_mask", "causal_mask", mask_of, lambda mask: mask(None, scores).softmax(-1)),
        *(Task("Attention", exercise, adapt, probe_layer) for exercise, adapt in attentions.items()),
        Task("sample_next_token", "sample_next", sampling_of, probe_sampling, tolerance=0.15),
        Task("head_zero_ablation_hook", "ablate_head", hook_of, on((z, None, 0), (z, None, 2))),
        Task(
            "full_OV_circuit",
            "copying_matrix",
            circuit_of,
            lambda circuit: [circuit(Model(), layer, head).AB for layer, head in ((0, 0), (1, 2))],
        ),
    ]


def right_answers(solutions, more_solutions) -> dict:
    sample = solutions.TransformerSampler.sample_next_token

    def layer_norm(x, gain, bias, eps=1e-5):
        norm = solutions.LayerNorm(solutions.Config(d_model=x.shape[-1], layer_norm_eps=eps))
        return torch.func.functional_call(norm, {"w": gain, "b": bias}, x)

    def sample_next(logits, temperature, top_k, generator):
        with patch("torch.multinomial", partial(torch.multinomial, generator=generator)):
            tokens = torch.arange(1)
            return torch.tensor([sample(tokens, row, temperature, top_k or 0) for row in logits])

    def ablate_head(heads, number):
        z = heads.transpose(1, 2).clone()
        more_solutions.head_zero_ablation_hook(z, None, number)
        return z.transpose(1, 2)

    def causal_mask_of(length):
        attention = solutions.Attention(solutions.Config(d_model=1, d_head=1, n_heads=1))
        return attention.apply_causal_mask(torch.zeros(length, length)) == 0

    def induction_score(weights, period):
        store = torch.zeros(1, weights.shape[1])
        with patch.multiple(more_solutions, create=True, seq_len=period, induction_score_store=store):
            more_solutions.induction_score_hook(weights, SimpleNamespace(layer=lambda: 0))
        return store[0]

    return {
        "layer_norm": layer_norm,
        "causal_mask": causal_mask_of,
        "sample_next": sample_next,
        "ablate_head": ablate_head,
        "induction_score": induction_score,
    }
