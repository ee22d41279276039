"""TinyTorch: NumPy modules in src, each with its unit tests, and more tests in the folder tests.

The package that it exports is incomplete in the repository. So each file of src is imported under the name of the
module that it says it becomes. Tests that need gradients are left out: PyTorch's do not flow through its tensors.
"""

import contextlib
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
import torch
import torch.nn.functional as F

from courses.shared import Peer, Task, byte_pair_parts, causally, ran, settled, shares
from transformer_lessons import attention as our_attention

REPOSITORY = "MLSysBook/TinyTorch"
COMMIT = "02364f800abce3507cedbe9b5053078abd92b6d3"

SOURCES = [
    "01_tensor",
    "02_activations",
    "03_layers",
    "05_autograd",
    "10_tokenization",
    "11_embeddings",
    "12_attention",
    "13_transformers",
    "17_memoization",
]
TESTS = {  # what a student writes → its source, the test there, and a class of tests in the folder tests
    "Softmax": (
        "02_activations",
        "test_module",
        ("02_activations/test_activations_core.py", "TestSoftmaxActivation"),
    ),
    "scaled_dot_product_attention": (
        "12_attention",
        "test_unit_scaled_dot_product_attention",
        ("12_attention/test_attention_core.py", "TestScaledDotProductAttention"),
    ),
    "MultiHeadAttention": (
        "12_attention",
        "test_unit_multihead_attention",
        ("12_attention/test_attention_core.py", "TestMultiHeadAttention"),
    ),
    "LayerNorm": ("13_transformers", "test_module", None),
    "MLP": ("13_transformers", "test_module", None),
    "GPT.generate": ("13_transformers", "test_module", None),
    "create_sinusoidal_embeddings": ("11_embeddings", "test_module", None),
    "BPETokenizer": ("10_tokenization", "test_module", None),
    "KVCache": (
        "17_memoization",
        "test_module",
        ("15_memoization/test_kv_cache_core.py", "TestKVCacheBasics"),
    ),
}


def imported(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run(folder: Path, work: Callable) -> None:
    sources = {}
    for source in SOURCES:
        path = folder / "src" / source / f"{source}.py"
        becomes = re.search(r"#\| default_exp (\S+)", path.read_text(encoding="utf-8"))[1]
        with contextlib.redirect_stdout(None):
            sources[source] = imported(f"tinytorch.{becomes}", path)

    def refuses(task, adapted):
        source, name, more = TESTS[task.test]
        replaced = task.test.partition(".")[0]
        with contextlib.ExitStack() as stack:
            stack.enter_context(patch.object(sources[source], replaced, adapted))
            tests = [getattr(sources[source], name)]
            if more:
                place, group = more
                tests += methods(getattr(imported("tinytorch_tests", folder / "tests" / place), group))
            return not all(ran(test).ok for test in tests)

    work(Peer("tinytorch", our_tasks(sources), refuses, right_answers(sources)))


def methods(group: type) -> Iterator[Callable]:
    return (getattr(group(), name) for name in vars(group) if name.startswith("test_"))


def our_tasks(sources: dict) -> list[Task]:
    tensor = sources["01_tensor"].Tensor

    def torch_of(x):
        return torch.from_numpy(x.data)

    def numpy_of(x):
        return tensor(x.detach().numpy())

    def softmax_of(answer):
        class Softmax:
            def forward(self, x, dim=-1):
                return tensor(answer(x.data))

            __call__ = forward

        return Softmax

    def attention_of(answer):
        """Its masks are causal."""

        def scaled_dot_product_attention(query, key, value, mask=None):
            inputs = torch_of(query), torch_of(key), torch_of(value)
            if mask is None:
                return tuple(map(numpy_of, answer(*inputs)))
            results = causally(answer, *inputs)
            weights = [F.pad(row, (0, len(results) - row.shape[-1])) for _, row in results]
            return numpy_of(torch.cat([output for output, _ in results], -2)), numpy_of(torch.cat(weights, -2))

        return scaled_dot_product_attention

    def masked_of(answer):
        def scaled_dot_product_attention(query, key, value, mask=None):
            query, key, value = torch_of(query), torch_of(key), torch_of(value)
            scores = query @ key.mT / query.shape[-1] ** 0.5
            weights = answer(scores, torch.ones_like(scores) > 0 if mask is None else torch_of(mask) > 0)
            return numpy_of(weights @ value), numpy_of(weights)

        return scaled_dot_product_attention

    class MultiHeadAttention:
        """Of several heads, from a module of ours; its masks are causal."""

        def __init__(self, embed_dim, num_heads, module=our_attention.MultiHeadAttention):
            if embed_dim % num_heads:
                raise ValueError(f"{embed_dim} features do not split into {num_heads} heads")
            self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
            self.module = module(embed_dim, num_heads).eval()

        def parameters(self):
            return list(map(numpy_of, self.module.parameters()))

        def forward(self, x, mask=None):
            x = torch_of(x)
            if mask is None:
                return numpy_of(self.module(x, x, x)[0])
            return numpy_of(torch.cat([output for output, _ in causally(self.module, x, x, x)], -2))

    def heads_of(answer):
        return partial(MultiHeadAttention, module=answer)

    def part_of(name):
        """Our own module, one part of which is the answer."""

        def adapt(answer):
            class WithPart(MultiHeadAttention):
                def forward(self, x, mask=None):
                    with patch.object(our_attention, name, answer):
                        return super().forward(x, mask)

            return WithPart

        return adapt

    def layer_norm_of(answer):
        class LayerNorm:
            def __init__(self, normalized_shape, eps=1e-5):
                self.gamma, self.beta, self.eps = torch.ones(normalized_shape), torch.zeros(normalized_shape), eps

            def forward(self, x):
                return numpy_of(answer(torch_of(x), self.gamma, self.beta, self.eps))

            def parameters(self):
                return [numpy_of(self.gamma), numpy_of(self.beta)]

        return LayerNorm

    def feed_forward_of(answer):
        class MLP:
            def __init__(self, embed_dim, hidden_dim=None):
                self.hidden_dim = hidden_dim or 4 * embed_dim
                self.module = answer(embed_dim, self.hidden_dim).eval()

            def forward(self, x):
                return numpy_of(self.module(torch_of(x)))

            def parameters(self):
                return list(map(numpy_of, self.module.parameters()))

        return MLP

    def sinusoids_of(answer):  # it has odd sizes, too, of which only the shape is tested
        return lambda length, size: numpy_of(answer(length, size + size % 2)[:, :size])

    def sampling_of(answer):
        class GPT(sources["13_transformers"].GPT):
            def generate(self, prompt_tokens, max_new_tokens=50, temperature=1.0):
                generator = torch.Generator().manual_seed(np.random.randint(2**31))
                tokens = prompt_tokens
                for _ in range(max_new_tokens):
                    logits = torch_of(self.forward(tokens))[:, -1]
                    chosen = answer(logits, temperature, None, generator)
                    tokens = numpy_of(torch.cat([torch_of(tokens), chosen[:, None]], 1))
                return tokens

        return GPT

    def byte_pairs_of(part):
        def adapt(answer):
            train, apply = byte_pair_parts(part, answer)

            class BPETokenizer(sources["10_tokenization"].BPETokenizer):
                def train(self, corpus, vocab_size=None):
                    words = Counter(tuple(part.encode() for part in self._get_word_tokens(word)) for word in corpus)
                    letters = sorted({letter for word in words for letter in word})
                    self.pairs = train(dict(words), (vocab_size or self.vocab_size) - len(letters) - 1)
                    joined = [first + second for first, second in self.pairs]
                    self.vocab = ["<UNK>", *(part.decode() for part in [*letters, *joined])]
                    self._build_mappings()

                def _apply_merges(self, tokens):
                    ranks = {pair: rank for rank, pair in enumerate(self.pairs)}
                    return [part.decode() for part in apply([token.encode() for token in tokens], ranks)]

            return BPETokenizer

        return adapt

    def caching_of(answer):
        class KVCache(sources["17_memoization"].KVCache):
            """What is kept is what the answer returns; nobody looks at its output."""

            def __init__(self, *sizes, **named):
                super().__init__(*sizes, **named)
                self.reset()

            def reset(self):
                super().reset()
                empty = torch.zeros(self.batch_size, self.num_heads, 0, self.head_dim)
                self.kept, self.next = ([(empty, empty)] * self.num_layers for _ in range(2))

            def update(self, layer_idx, key, value):
                key, value = torch_of(key), torch_of(value)
                self.next[layer_idx] = answer(key, *self.kept[layer_idx], key, value)[1:]

            def advance(self):
                super().advance()
                self.kept = list(self.next)

            def get(self, layer_idx):
                return tuple(map(numpy_of, self.kept[layer_idx]))

        return KVCache

    # Probes

    def randomly(*shape):
        return tensor(torch.randn(shape).numpy())

    torch.manual_seed(0)
    x, sequence, causal = randomly(4, 7), randomly(2, 5, 12), tensor(np.tril(np.ones((2, 5, 5))))
    qkv = [randomly(2, 5, 8) for _ in range(3)]

    def arrays(*results):
        return [result.data for result in results]

    def probe_softmax(kind):
        return arrays(kind().forward(x), kind().forward(tensor(1000 * x.data)))

    def probe_attention(attention):
        return arrays(*attention(*qkv), *attention(*qkv, causal))

    def probe_heads(kind):
        heads = kind(12, 3)
        settled(heads.module)
        return arrays(heads.forward(sequence), heads.forward(sequence, causal))

    def probe_layer_norm(kind):
        norm = kind(7)
        norm.gamma, norm.beta = torch.linspace(-1, 2, 7), torch.linspace(3, -1, 7)
        return arrays(*(norm.forward(tensor(scale * x.data)) for scale in (1, 0.01)))

    def probe_feed_forward(kind):
        """With numbers so large that GELU, which it has, and ReLU, which we have, are the same."""
        layer = kind(12, 20)
        for name, weight in settled(layer.module).named_parameters():
            weight.data *= 1e5 if name.endswith("bias") else 1
        return arrays(layer.forward(tensor(1e5 * sequence.data)))

    def probe_sinusoids(table):
        return arrays(table(10, 8), table(7, 6))

    def probe_sampling(kind):
        model, logits = kind.__new__(kind), tensor([[[9.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 2.5]]])
        prompt = tensor([[1, 3]])
        with patch.object(kind, "forward", lambda self, tokens: logits):
            return torch.stack(
                [
                    shares(lambda heat=heat: int(model.generate(prompt, 1, heat).data[0, -1]), 4)
                    for heat in (1.0, 0.5, 3.0)
                ]
            )

    def probe_byte_pairs(kind):
        """It counts a pair once a word and takes the first of several: no pair occurs twice, and no two as often."""
        corpus = 9 * ["ab"] + 7 * ["ac"] + 4 * ["dab"] + 2 * ["bac"] + ["aab"]
        results = []
        for number in (1, 2, 3):
            tokenizer = kind(vocab_size=7 + number)
            tokenizer.train(corpus)
            words = [tokenizer._get_word_tokens(word) for word in ("dab", "bac", "aab", "aaaab", "dabac")]
            results.append((tokenizer.vocab, [tokenizer._apply_merges(word) for word in words]))
        return results

    def probe_caching(kind):
        cache, results = kind(2, 8, 2, 3, 4), []
        for _ in range(3):
            for layer in range(2):
                cache.update(layer, randomly(2, 3, 1, 4), randomly(2, 3, 1, 4))
            cache.advance()
            results += arrays(*cache.get(0), *cache.get(1))
        return results

    single = 1e-4  # its tensors are of single precision
    return [
        Task("Softmax", "softmax", softmax_of, probe_softmax, single),
        Task("scaled_dot_product_attention", "scaled_dot_product_attention", attention_of, probe_attention, single),
        Task("scaled_dot_product_attention", "masked_softmax", masked_of, probe_attention, single),
        Task("MultiHeadAttention", "MultiHeadAttention", heads_of, probe_heads, single),
        Task("MultiHeadAttention", "split_heads", part_of("split_heads"), probe_heads, single),
        Task("MultiHeadAttention", "merge_heads", part_of("merge_heads"), probe_heads, single),
        Task("LayerNorm", "layer_norm", layer_norm_of, probe_layer_norm, single),
        Task("MLP", "FeedForward", feed_forward_of, probe_feed_forward, 1e-3),
        Task("create_sinusoidal_embeddings", "sinusoidal_encoding", sinusoids_of, probe_sinusoids, single),
        *(
            Task("BPETokenizer", part, byte_pairs_of(part), probe_byte_pairs)
            for part in ("count_pairs", "merge", "train_bpe", "apply_merges")
        ),
        Task("KVCache", "attend_with_cache", caching_of, probe_caching, single),
        Task("GPT.generate", "sample_next", sampling_of, probe_sampling, tolerance=0.15),
    ]


def right_answers(sources: dict) -> dict:
    tensor, softmax = sources["01_tensor"].Tensor, sources["02_activations"].Softmax()
    transformers, tokenizers = sources["13_transformers"], sources["10_tokenization"]

    def torch_of(x):
        return torch.from_numpy(x.data)

    def layer_norm(x, gain, bias, eps=1e-5):
        norm = transformers.LayerNorm(x.shape[-1], eps)
        norm.gamma, norm.beta = tensor(gain), tensor(bias)
        return torch_of(norm.forward(tensor(x)))

    def apply_merges(parts, ranks):
        tokenizer = tokenizers.BPETokenizer()
        tokenizer.merges = sorted(ranks, key=ranks.get)
        return tokenizer._apply_merges(parts)

    return {
        "softmax": lambda scores: softmax.forward(tensor(scores)).data,
        "layer_norm": layer_norm,
        "causal_mask": lambda length: torch_of(transformers.create_causal_mask(length))[0] > 0,
        "sinusoidal_encoding": lambda length, size: torch_of(
            sources["11_embeddings"].create_sinusoidal_embeddings(length, size)
        ),
        "merge": lambda parts, pair: apply_merges(parts, {pair: 0}),
        "apply_merges": apply_merges,
    }
