"""CS336, assignment 1: its tests call functions in tests/adapters.py, which a student writes."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch

from courses.shared import Peer, Task, byte_pair_parts, draw, on, three, with_pytest

REPOSITORY = "stanford-cs336/assignment1-basics"
COMMIT = "25a8a49f6460c83a30416d42348f2ef11d1dd185"

TESTS = {  # function → its tests
    "run_softmax": ["test_softmax_matches_pytorch"],
    "run_scaled_dot_product_attention": [
        "test_scaled_dot_product_attention",
        "test_4d_scaled_dot_product_attention",
    ],
    "run_rope": ["test_rope"],
    "run_rmsnorm": ["test_rmsnorm"],
    "run_swiglu": ["test_swiglu"],
    "run_train_bpe": ["test_train_bpe"],  # and not the test of its speed, which asks for more than a right answer
}
WORDS = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"  # as GPT-2 cuts a text
NEED_A_MODEL = {"run_rmsnorm", "run_swiglu"}  # whose weights lie in a file of 7 MB


@dataclass
class Given:
    """A text in the place of a file."""

    text: str

    def read_text(self, encoding):
        return self.text


class Adapters(ModuleType):
    """Stands for tests/adapters.py: one function at a time is written, and it is the adapted answer."""

    def __init__(self, name):
        super().__init__(name)
        self.answers = {}

    def __getattr__(self, name):
        if not name.startswith(("run_", "get_")):
            raise AttributeError(name)
        return lambda *inputs, **named: self.answers[name](*inputs, **named)


def run(folder: Path, work: Callable) -> None:
    adapters = Adapters("tests.adapters")
    model = folder / "tests/fixtures/ts_tests/model.pt"

    def begin(items):
        def refuses(task, adapted):
            adapters.answers = {task.test: adapted}
            return items.fail(lambda item: item.name in TESTS[task.test], seconds=10)

        tasks = [task for task in our_tasks() if model.exists() or task.test not in NEED_A_MODEL]
        missing = [] if model.exists() else [f"{name}: {model.name} is missing" for name in sorted(NEED_A_MODEL)]
        work(Peer("cs336", tasks, refuses, not_run=missing))

    files = ["tests/test_model.py", "tests/test_nn_utils.py", "tests/test_train_bpe.py"]
    with_pytest(folder, files, begin, {"tests.adapters": adapters})


def our_tasks() -> list[Task]:
    def masked_of(answer):
        return lambda Q, K, V, mask: answer(Q @ K.mT / Q.shape[-1] ** 0.5, mask) @ V

    def training_from(part):
        import regex

        def adapt(answer):
            train, _ = byte_pair_parts(part, answer)

            def run_train_bpe(input_path, vocab_size, special_tokens):
                words = regex.findall(WORDS, input_path.read_text(encoding="utf-8"))
                counts = Counter(tuple(bytes([byte]) for byte in word.encode()) for word in words)
                merges = train(dict(counts), vocab_size - 256 - len(special_tokens))
                values = [bytes([byte]) for byte in range(256)] + [token.encode() for token in special_tokens]
                return dict(enumerate(values + [first + second for first, second in merges])), merges

            return run_train_bpe

        return adapt

    torch.manual_seed(0)
    allowed = draw(2, 6, 6) > 0
    allowed[..., 0] = True
    x, gain = draw(4, 7), draw(8)
    text = Given("low low low lower lower newest newest newest newest widest widest aaaaa abab\n")
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
        *(
            Task(
                "run_train_bpe",
                part,
                training_from(part),
                on(*((text, 257 + number, ["<|end|>"]) for number in (1, 9))),
            )
            for part in ("count_pairs", "merge", "train_bpe")
        ),
    ]
