"""What passes between a student's process and ours: values as they were, verdicts as in `check`, and no more."""

import os
import socket
import struct

import declared
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from drawn import draws

from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking import lending, wire

pytestmark = pytest.mark.skipif(os.name != "posix", reason="marking needs sockets that belong to a process")


def ones(dtype, shape, size):
    """An array's parts, with so many bytes that are all ones."""
    return [dtype, shape, "C", wire.text_of(b"\xff" * size)]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -(2**80),
        0.1,
        float("inf"),
        "ü\ud800",
        b"\0\xff",
        (1, [2, {"a": (None,)}]),
        {(b"a", b"b"): 2},
        {1, 2},
        torch.arange(6.0).reshape(2, 3),
        torch.tensor(True),
        torch.ones(0, 3),
        torch.arange(6.0).reshape(2, 3).T,
        np.arange(24).reshape(2, 3, 4)[:, ::2],
        np.float32(1.5),
        np.array(["ab", "c"]),
        np.arange(4).reshape(2, 2),
        torch.tensor([1.0], dtype=torch.bfloat16),
        torch.tensor([1 + 2j]),
    ],
)
def test_a_value_comes_over_the_wire_as_it_was(value):
    ours, theirs = socket.socketpair()
    wire.Lines(ours).send({"value": wire.pack(value)})
    again = wire.unpack(wire.Lines(theirs).message()["value"])
    assert type(again) is type(value)
    if isinstance(value, (torch.Tensor, np.ndarray)):
        assert again.dtype == value.dtype
        assert again.shape == value.shape
        assert bool((again == value).all())
    else:
        assert again == value


@pytest.mark.parametrize(
    "node",
    [
        ["tensor", "float64", "AAAA", False],
        ["tensor", "float64", ones("<f8", [9], 8), False],
        ["tensor", "float64", ones("<f8", [1], 72), False],
        ["tensor", "float64", ones("<f8", [-1], 8), False],
        ["tensor", "float64", ones("<f8", [1.0], 8), False],
        ["tensor", "float64", ones("<f8", [0, 1 << 62, 1 << 62], 0), False],
        ["tensor", "float64", [*ones("<f8", [1], 8)[:2], "X", "AAAAAAAAAAA="], False],
        ["tensor", "bool", ones("|b1", [8], 8), False],
        ["tensor", "float64", ones("<U2", [1], 8), False],
        ["array", ones("<U0", [10**10], 0), False],  # as many texts as one likes, in no bytes at all
        ["array", ones("|O8", [1], 8), False],
        ["array", ones("|O", [1], 8), False],
        ["array", ones("f8,f8", [1], 16), False],
        ["array", ones("|V8", [1], 8), False],
        ["array", ones("<M8[s]", [1], 8), False],
        ["objects", [5], []],
        {},
        [],
        3,
        ["tensor"],
        ["float", "nought"],
        ["int", 3],
    ],
)
def test_what_keeps_to_no_rule_is_refused(node):
    with pytest.raises(wire.Broken):
        wire.unpack(node, other=lambda node: (_ for _ in ()).throw(wire.Broken()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        struct.pack("<I", 1 << 31),
        struct.pack("<I", 2) + b"[]",
        struct.pack("<I", 9) + b'{"sizes":',
        b"\x80\x04pickle",
    ],
)
def test_a_broken_frame_is_noticed(data):
    ours, theirs = socket.socketpair()
    ours.sendall(data)
    ours.close()
    with pytest.raises(wire.Broken):
        wire.Lines(theirs).message()


def test_what_cannot_be_sent_keeps_the_name_of_its_kind():
    again = wire.unpack(wire.pack(n for n in range(3)))
    assert type(again).__name__ == "generator"


# Verdicts


@pytest.mark.parametrize("name", EXERCISES)
def test_mark_passes_the_right_answer(name):
    right = next(iter(EXERCISES[name].answers.values()))
    assert declared.marked(name, right, draws(name, 11)) == ("passed", None)


@pytest.mark.parametrize("name", ["softmax", "AttentionHead", "future_leak", "training_step", "sample_next"])
def test_mark_says_what_check_says(name):
    exercise, drawn = EXERCISES[name], draws(name, 11)
    mistakes = [variant for _, variant in exercise.singles]
    for answer in [*list(exercise.answers.values())[:2], *mistakes[:: max(1, len(mistakes) // 5)]]:
        here, there = declared.verdicts(name, answer, drawn)
        assert here == there


@pytest.mark.parametrize("mistake", ["old gradients not cleared", "a step between the loss and backward"])
def test_the_gradients_of_an_earlier_call_are_still_there_in_the_next(mistake):
    exercise = EXERCISES["training_step"]
    here, there = declared.verdicts("training_step", exercise.mistakes[mistake].variants[0], draws("training_step", 11))
    assert here == there == ("failed", mistake)


def settings_in_its_state(optimizer):
    return optimizer.state_dict()["param_groups"][0]


@pytest.mark.parametrize("read", [lambda one: one.param_groups[0], lambda one: one.defaults, settings_in_its_state])
def test_a_lent_optimizer_has_its_settings(read):
    def answer(model, optimizer, tokens):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        with torch.no_grad():
            for one in optimizer.param_groups[0]["params"]:
                one -= read(optimizer)["lr"] * one.grad
        return loss.item()

    found = declared.verdicts("training_step", answer, draws("training_step", 11))
    assert found == 2 * (("failed", "a step that the optimizer does not make"),)


@pytest.mark.parametrize(
    ("name", "mistakes"),
    [
        ("online_softmax", ["all the scores at once", "more than two passes"]),
        ("tiled_attention", ["a table of length × length", "a whole mask", "tiles larger than the block"]),
    ],
)
def test_how_an_answer_computes_is_seen_by_both(name, mistakes):
    exercise, drawn = EXERCISES[name], draws(name, 11)
    for mistake in mistakes:
        here, there = declared.verdicts(name, exercise.mistakes[mistake].variants[0], drawn)
        assert here == there == ("failed", mistake)
    for answer in list(exercise.answers.values())[:2]:
        here, there = declared.verdicts(name, answer, drawn)
        assert here == there == ("passed", None)


def test_a_table_of_rows_by_rows_is_asked_for_in_parts_by_both():
    def answer(p, q, token, u):
        residual = (p - q).clamp(min=0)
        residual = torch.where(residual.sum(-1, keepdim=True) > 0, residual, p)
        kept = u < (p[:, token] / q[:, token]).diagonal()
        return torch.where(kept, token, torch.multinomial(residual, 1)[:, 0])

    assert declared.verdicts("speculate", answer, draws("speculate", 11)) == 2 * (("passed", None),)


def test_what_an_answer_notes_on_an_optimizer_is_there_at_the_next_call():
    name = "a step at every second call only"
    (variant,) = EXERCISES["training_step"].mistakes[name].variants
    found = declared.verdicts("training_step", variant, draws("training_step", 11))
    assert found == 2 * (("failed", name),)


def test_a_given_list_that_comes_back_is_known_to_be_the_given_one():
    (variant,) = EXERCISES["merge"].mistakes["the given list returned"].variants
    expected = "failed", "the given list returned"
    assert declared.verdicts("merge", variant, draws("merge", 11)) == (expected, expected)


def test_a_right_gradient_comes_over_the_wire():
    ours = torch.tensor([1.0, 2.0], requires_grad=True)
    result = lending.into_graph(torch.tensor([3.0]), [True], [ours], lambda gradients: [7 * gradients[0].expand(2)])
    result.sum().backward()
    assert ours.grad.tolist() == [7.0, 7.0]
