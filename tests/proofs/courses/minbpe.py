"""minbpe: its tokenizers, in which one part is ours."""

import contextlib
import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

from courses.shared import Peer, Task, on, with_pytest

REPOSITORY = "karpathy/minbpe"
COMMIT = "1acefe89412b20245db5a22d2a02001e547dc602"


def run(folder: Path, work: Callable) -> None:
    sys.path.insert(0, str(folder))
    modules = [importlib.import_module(f"minbpe.{name}") for name in ("basic", "regex")]
    tokenizer = modules[0].BasicTokenizer

    def begin(items):
        def refuses(task, adapted):
            with contextlib.ExitStack() as stack:
                for holder in [tokenizer] if task.test in ("train", "encode") else modules:
                    stack.enter_context(patch.object(holder, task.test, adapted))
                return items.fail(lambda item: "gpt4" not in item.name.lower())  # whose merges are to be downloaded

        work(Peer("minbpe", our_tasks(tokenizer), refuses, right_answers(modules)))

    with_pytest(folder, ["tests/test_tokenizer.py"], begin)


def token(number: int) -> bytes:
    return number.to_bytes(4, "big")


def our_tasks(tokenizer: type) -> list[Task]:
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


def right_answers(modules: list) -> dict:
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
