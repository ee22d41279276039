"""A known mistake is named in any of its variants, in pairs, and wherever it runs."""

import torch
from reported import OneLayer, verdict

from transformer_lessons.exercises.checker.setup import normal


def test_a_mistake_that_runs_for_some_sizes_alone_is_named_where_it_runs(declare):
    declare(
        "def t(a, b): ...",
        lambda generator, n, m: (normal(generator, n, 2), normal(generator, m, 2)),
        lambda a, b: a @ b.mT,
        sizes=[{"n": 2, "m": 3}, {"n": 2, "m": 2}],
        right="def t(a, b):\n    product = a @ b.mT\n    return product",
        mistakes=[
            ("sized by a", "It is sized by a.", "whose size?", "product = (a @ b.mT).reshape(len(a), len(a))"),
            ("never runs", "They do not fit.", "which sizes?", "product = a @ b[:, :1]"),
        ],
    )

    def sized_by_a(a, b):
        result = torch.zeros(len(a), len(a), dtype=a.dtype)
        result[:] = a @ b.mT
        return result

    assert verdict(sized_by_a, "t").mistake == "sized by a"
    assert verdict(lambda a, b: torch.matmul(a, b[:, 0:1]), "t").mistake == "never runs"


def in_two_steps(declare, *mistakes, size=(2, 3)):
    """The exercise to return 2x + 1, by way of `scaled` and `shifted`."""
    right = "def p(x):\n    scaled = 2 * x\n    shifted = scaled + 1\n    return shifted"
    mistakes = [(name, "It is wrong.", "?", *lines) for name, *lines in mistakes]
    draw = lambda generator: normal(generator, *size)  # noqa: E731
    return declare("def p(x): ...", draw, lambda x: 2 * x + 1, right=right, mistakes=mistakes)


def test_a_mistake_may_have_several_variants_and_the_first_is_tried_in_pairs(declare):
    mistakes = ("not scaled", "scaled = x", "scaled = x / 2"), ("not shifted", "shifted = scaled")
    exercise = in_two_steps(declare, *mistakes)
    assert verdict(lambda x: x + 1, "p").mistake == "not scaled"
    assert verdict(lambda x: 0.5 * x + 1, "p").mistake == "not scaled"
    assert verdict(lambda x: 2 * x, "p").mistake == "not shifted"
    assert [variant.text for _, variant in exercise.pairs] == ["scaled = x\nshifted = scaled"]
    assert verdict(lambda x: x + 0, "p").mistake == "not scaled and not shifted"


TWO = ("scaled wrongly", "scaled = x", "scaled = 3 * x"), ("not shifted", "shifted = scaled + 2")


def test_two_mistakes_in_other_variants_are_both_named_if_the_first_shows_on_the_way(declare):
    in_two_steps(declare, *TWO)
    assert verdict(lambda x: 3 * x + 2, "p").mistake == "scaled wrongly and not shifted"


def test_a_single_number_on_the_way_does_not_show_a_mistake(declare):
    in_two_steps(declare, *TWO, size=(1,))
    assert verdict(lambda x: 3 * x + 2, "p").mistake is None


def test_a_mistake_that_makes_a_layer_in_forward_leaves_the_layers_of_the_others(declare):
    class Doubled(OneLayer):
        def forward(self, x):
            return 2 * self.linear(x)

    declare(
        "class Layer(nn.Module):\n    def forward(self, x): ...",
        lambda generator, width: normal(generator, 3, width),
        OneLayer,
        sizes=[{"width": 2}, {"width": 3}],
        build=("width",),
        right="""
            class Layer(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.linear = nn.Linear(width, width)

                def new(self, x):
                    return None

                def forward(self, x):
                    made = self.new(x)
                    result = self.linear(x)
                    return result
            """,
        mistakes=[
            (
                "a layer of zeros",
                "Its layer is new in every call.",
                "`__init__`.",
                "def new(self, x):\n    self.linear = nn.Linear(*self.linear.weight.shape, dtype=x.dtype)\n"
                "result = 0 * self.linear(x)",
            ),
            ("narrow", "It is always 2 wide.", "`__init__`.", "width = 2"),
            ("doubled", "It is twice as much.", "the `return` line.", "result = 2 * result"),
        ],
    )
    assert verdict(Doubled, "Layer").mistake == "doubled"


def test_a_right_result_that_cannot_be_solved_for_a_number_contradicts_none(declare):
    def scaled_by(observed, expected, x):
        if torch.equal(observed, expected):
            raise ValueError("nothing to solve for")
        return [("scaled", (observed / expected).mean().item())]

    declare(
        "def double(x): ...",
        lambda generator, n: normal(generator, n),
        lambda x: 2 * x,
        sizes=[{"n": 1}, {"n": 3}],
        right="def double(x):\n    doubled = 2 * x\n    return doubled",
        mistakes=[("scaled", "Another number is used.", "by how much?", "doubled = 7 * x")],
        solves=scaled_by,
    )
    assert verdict(lambda x: (2 if len(x) == 1 else 5) * x, "double").mistake == "scaled"
