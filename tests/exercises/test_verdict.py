"""What `check` says of a call without a name or an answer, of its own faults, and what each kind of fault is called."""

import warnings

import numpy as np
import pytest
import torch
from reported import NAME, right, verdict, words_of, wrong

from transformer_lessons.exercises import check


@pytest.mark.parametrize(
    ("name", "answer", "sentence"),
    [
        ("scaled_dot_product_atention", right, "Did you mean scaled_dot_product_attention"),
        ("zzz", right, "The exercises are"),
        (right, NAME, f'Write check("{NAME}", {NAME}).'),
        (right, right, "the exercise's name comes first, in quotes."),
        (3, right, "the exercise's name comes first, in quotes."),
    ],
)
def test_a_wrong_name_gets_a_sentence(name, answer, sentence):
    report = check(name, answer)
    assert report.status == "not attempted"
    assert sentence in report.message


def test_check_without_an_answer_says_how_to_call_it():
    assert f'Write check("{NAME}", {NAME}).' in check(NAME).message


@pytest.mark.parametrize("answer", [None, ...])
def test_what_is_left_open_is_not_attempted(answer):
    assert verdict(answer).message == f'○ {NAME}: not attempted yet. Stuck? hint("{NAME}")'


async def coroutine(query, key, value):
    return right(query, key, value)


def in_place(query, key, value):
    result = right(query, key, value)
    query += 1
    return result


def never_set(query, key, value):
    if key is None:
        weights = key
    return weights


def recursive(query, key, value):
    return recursive(query, key, value)


@pytest.mark.parametrize(
    ("answer", "sentence", "name"),
    [
        (coroutine, "It returns a coroutine", "wrong kind of result"),
        (lambda *inputs: (*right(*inputs), 3), "It returns a tuple of 3", "wrong number of results"),
        (lambda *inputs: [one.half() for one in right(*inputs)], "float16", "wrong dtype"),
        (lambda *inputs: [one * torch.nan for one in right(*inputs)], "holds NaN", "not finite"),
        (lambda query, key, value: (query, key), "has shape", "wrong shape"),
        (lambda *inputs: print(), "does every path through it end in `return …`?", "nothing returned"),
        (in_place, "`query` is different after the call", "changes its input"),
        (wrong, "`weights` is zero everywhere", None),
        (lambda *inputs: keys, "name 'keys' is not defined", "an unknown name"),  # noqa: F821
        (never_set, "is the name given a value before it is used", "a name without a value"),
        (lambda query, key, value: query.softmaxx(-1), "'softmaxx'", "an unknown attribute"),
        (recursive, "it calls itself without end", "calls itself without end"),
        (
            lambda query, *_: np.sum(query.numpy(), keepdim=True),
            "PyTorch says `dim` and `keepdim`, NumPy `axis` and `keepdims`",
            "an unknown argument",
        ),
        (lambda query, *_: query.long().softmax(-1), "not implemented for 'Long'", "raises an error"),
    ],
)
def test_what_breaks_the_contract_has_a_sentence_and_a_name_and_wrong_numbers_alone_have_no_name(
    answer, sentence, name
):
    report = verdict(answer)
    assert (report.status, report.mistake) == ("failed", name)
    assert sentence in words_of(report)


def test_a_coroutine_leaves_no_warning_behind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict(coroutine)


def test_the_same_answer_gets_the_same_words_again():
    messages = {verdict(wrong).message for _ in range(3)}
    torch.manual_seed(5)
    messages.add(verdict(wrong).message)
    assert len(messages) == 1


def test_a_fault_of_the_check_itself_is_owned_up_to(declare):
    def broken(generator):
        raise ZeroDivisionError("ours")

    declare("def ours(x): ...", broken, lambda x: x)
    report = check("ours", lambda x: x)
    assert report.message.startswith("○ ours: could not be checked.")
    assert "a fault in the course, not in your answer" in words_of(report)
    assert "ZeroDivisionError" in report.message


def test_an_error_in_the_code_of_the_catalogue_is_a_fault_of_the_check(declare):
    def fails(observed, expected, x):
        raise ValueError("a symptom is wrong")

    draw = lambda generator: torch.arange(3.0).double()  # noqa: E731
    declare("def same(x): ...", draw, lambda x: x.clone(), symptoms=[fails])
    assert "that is a fault in the course" in verdict(lambda x: -x - torch.arange(3), "same").message
