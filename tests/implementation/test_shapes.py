"""Every shape comment in the package is true: shape_comments.py holds it against the tensors of real runs.

The comments in the notebooks are held by the run that compares their outputs, see strict_notebooks.py.
"""

import ast
import importlib
import pkgutil
import re
import textwrap
from dataclasses import replace
from itertools import combinations, product

import pytest
import torch
from shape_comments import WORDS, Record, noting_package, words_in

import transformer_lessons

BATCH, HEADS, D_HEAD, D_MODEL, D_HIDDEN, VOCABULARY, MAX_LENGTH = 6, 3, 10, 30, 13, 11, 9
SIZES = {
    "batch": {BATCH},
    "heads": {HEADS},
    "key_heads": {HEADS},
    "d_head": {D_HEAD},
    "d_model": {D_MODEL},
    "d_hidden": {D_HIDDEN},
    "vocabulary": {VOCABULARY},
}
TURNED = {"d_model": {D_MODEL, D_HEAD}}  # for rotary positions, position_angles gets d_head as its d_model


# --- one example for each module: it runs the module, and says which sizes each word may mean ---


def masks_and_attention():
    from transformer_lessons.attention import MultiHeadAttention, scaled_dot_product_attention
    from transformer_lessons.inspection.attention_maps import (
        attention_weights,
        induction_score,
        previous_token_score,
    )
    from transformer_lessons.masks import causal_mask, masked_softmax, padding_mask
    from transformer_lessons.positions import RotaryPositions

    query, key = torch.randn(BATCH, 4, D_MODEL), torch.randn(BATCH, 7, D_MODEL)
    mask = torch.rand(BATCH, 1, 4, 7) < 0.5
    for rotary in (None, RotaryPositions(D_HEAD, MAX_LENGTH)):
        model = MultiHeadAttention(D_MODEL, HEADS, rotary=rotary)
        for need_weights in (True, False):
            model(query, key, key, mask, need_weights=need_weights)
    attention_weights(model, query, key, key)
    weights = torch.rand(BATCH, HEADS, 7, 7)
    previous_token_score(weights)
    induction_score(weights, period=3)
    heads = torch.randn(BATCH, HEADS, 11, D_HEAD)
    scaled_dot_product_attention(heads[:, :, :4], heads[:, :, 4:], torch.randn(BATCH, HEADS, 7, 8))
    masked_softmax(torch.randn(BATCH, HEADS, 4, 7), mask)
    yield SIZES | TURNED | {"query": {4}, "key": {7}, "length": {4, 7, MAX_LENGTH}, "d_v": {8, D_HEAD}}

    causal_mask(7)
    padding_mask(torch.ones(BATCH, 7), 0)
    yield SIZES | {"query": {7}, "key": {7}, "length": {7}}


def positions():
    from transformer_lessons.positions import LearnedPositions, PositionalEncoding, RotaryPositions

    LearnedPositions(D_MODEL, MAX_LENGTH)(torch.randn(BATCH, 7, D_MODEL))
    PositionalEncoding(D_MODEL, MAX_LENGTH)(torch.randn(BATCH, 7, D_MODEL))
    RotaryPositions(D_HEAD, MAX_LENGTH)(torch.randn(BATCH, HEADS, 7, D_HEAD))
    yield SIZES | TURNED | {"length": {7, MAX_LENGTH}}


def encoder_and_language_model():
    from transformer_lessons.models import Config, Encoder, LanguageModel

    tokens = torch.randint(VOCABULARY, (BATCH, 7))
    for norm_first in (False, True):
        Encoder(VOCABULARY, D_MODEL, HEADS, D_HIDDEN, 2, MAX_LENGTH, norm_first=norm_first, pad_id=0)(tokens)
    for rotary in (False, True):
        newer = {"rotary": rotary, "gated": rotary}
        LanguageModel(Config(VOCABULARY, D_MODEL, HEADS, D_HIDDEN, 2, MAX_LENGTH, **newer))(tokens)
    yield SIZES | TURNED | {"length": {7, MAX_LENGTH}, "query": {7}, "key": {7}}


def encoder_and_decoder():
    from transformer_lessons.models import Transformer

    source, target = torch.randint(VOCABULARY, (BATCH, 7)), torch.randint(VOCABULARY, (BATCH, 4))
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "d_hidden": D_HIDDEN, "max_length": MAX_LENGTH}
    for norm_first in (False, True):
        Transformer(VOCABULARY, **sizes, num_layers=2, norm_first=norm_first, pad_id=0)(source, target)
    any_of = {4, 7, MAX_LENGTH}
    yield SIZES | {"source": {7}, "target": {4}, "query": any_of, "key": any_of, "length": any_of}

    Transformer(VOCABULARY, **sizes, num_layers=1).generate(source, start_id=0, length=2)
    any_of = {1, 2, 7, MAX_LENGTH}
    yield SIZES | {"source": {7}, "target": {1, 2}, "query": any_of, "key": any_of, "length": any_of}


def a_modern_decoder():
    from transformer_lessons.language.sampling import Cache
    from transformer_lessons.models import Config, LanguageModel

    tokens = torch.randint(VOCABULARY, (BATCH, 7))
    gpt2 = Config(VOCABULARY, D_MODEL, HEADS, D_HIDDEN, 2, MAX_LENGTH, num_key_heads=1, gelu=True)
    for change in ({}, {"rms": True, "gated": True, "rotary": True, "halves": True}):
        model = LanguageModel(replace(gpt2, **change))
        model(tokens)
        Cache(model, BATCH).read(tokens)
    yield SIZES | TURNED | {"heads": {1, HEADS}, "length": {7, MAX_LENGTH}, "query": {7}, "key": {7}, "key_heads": {1}}


def reversal():
    from transformer_lessons.tasks.reversal import reversal_pairs, reversal_sequences

    reversal_sequences(number=BATCH, half=4, vocabulary_size=VOCABULARY)
    reversal_pairs(number=BATCH, length=7, vocabulary_size=VOCABULARY)
    yield {"number": {BATCH}, "half": {4}, "length": {7}, "vocabulary": {VOCABULARY}}


def text_and_generation():
    from transformer_lessons.language.sampling import sample_next, speculate
    from transformer_lessons.language.tokenization import make_sequences

    make_sequences(torch.arange(BATCH * 7 + 3), length=7)
    yield {"number": {BATCH}, "length": {7}}

    for temperature in (0, 1):
        sample_next(torch.randn(BATCH, VOCABULARY), temperature, top_k=4)
    p, q = torch.rand(2, BATCH, VOCABULARY).softmax(-1)
    speculate(p, q, torch.zeros(BATCH).long(), torch.rand(BATCH))
    yield SIZES | {"top_k": {4}}


def a_language_model_at_work():
    from transformer_lessons.language.sampling import generate_tokens
    from transformer_lessons.language.training import agree, loss_of
    from transformer_lessons.models import Config, LanguageModel

    model = LanguageModel(Config(VOCABULARY, D_MODEL, HEADS, D_HIDDEN, 2, MAX_LENGTH))
    tokens = torch.randint(VOCABULARY, (BATCH, 7))
    loss_of(model, tokens, tokens)
    agree(torch.tensor(1.0), asked=[])
    yield SIZES | {"length": {7, MAX_LENGTH}, "query": {7}, "key": {7}}

    list(generate_tokens(model, tokens, length=3, top_p=0.5))
    any_of = {1, 7, 8, 9}
    yield SIZES | {"length": any_of, "query": any_of, "key": any_of}


def first_steps():
    from transformer_lessons.first_steps import AttentionHead, attention, self_attention

    self_attention(torch.randn(7, 5).numpy())
    yield {"query": {7}, "key": {7}, "features": {5}}

    attention(torch.randn(BATCH, 4, D_MODEL), torch.randn(BATCH, 7, D_MODEL), torch.randn(BATCH, 7, 8))
    yield SIZES | {"query": {4}, "key": {7}, "d_v": {8}}

    AttentionHead(D_MODEL, D_HEAD)(torch.randn(BATCH, 7, D_MODEL))
    yield SIZES | {"length": {7}, "query": {7}, "key": {7}, "d_v": {D_HEAD}}


EXAMPLES = [
    masks_and_attention,
    positions,
    encoder_and_language_model,
    encoder_and_decoder,
    a_modern_decoder,
    reversal,
    text_and_generation,
    a_language_model_at_work,
    first_steps,
]


def record_examples():
    """(all comments, [(what each word may be, the notes taken)]), one pair for each yield of an example."""
    with noting_package("transformer_lessons") as record:
        for module in pkgutil.iter_modules(transformer_lessons.__path__, "transformer_lessons."):
            if not module.ispkg:  # the exercises hold mistakes too, whose comments need not be true
                importlib.import_module(module.name)
        runs = []
        for example in EXAMPLES:
            for sizes in example():
                runs.append((sizes, record.calls))
                record.calls = []
    return record, runs


@pytest.fixture(scope="module")
def recorded():
    return record_examples()


def told_apart(comment, sizes):
    """Whether no size fits two words of the comment: else it could be true by coincidence."""
    if comment.text == "(query, key)":
        return True  # square by nature, in causal_mask and self_attention: the words say which side asks
    return all(sizes[one].isdisjoint(sizes[other]) for one, other in combinations(words_of(comment), 2))


def words_of(comment):
    return sorted({word for shape in comment.shapes for dimension in shape for word in words_in(dimension)})


def judge_all(record, runs, comments=None):
    """({index: held at least once where no two words can be mixed up}, [mistakes]) over all examples."""
    held, mistakes = set(), []
    for sizes, calls in runs:
        found, wrong = Record(comments or record.comments, calls=calls).judge(sizes)
        held |= {index for index in found if told_apart(record.comments[index], sizes)}
        mistakes += wrong
    return held, mistakes


def test_every_shape_comment_of_the_package_is_true_and_reached(recorded):
    record, runs = recorded
    held, mistakes = judge_all(record, runs)
    mistakes += record.mistakes_found + record.unreached(held)
    assert not mistakes, "\n".join(dict.fromkeys(mistakes))
    assert len(record.comments) >= 30


def test_a_comment_with_another_word_in_it_does_not_hold(recorded):
    """Every word of every comment, exchanged for every other word that means another size somewhere."""
    record, runs = recorded
    unnoticed = []
    for index, comment in enumerate(record.comments):
        own_runs = [(sizes, {tuple(call) for call in calls if reaches(call, index)}) for sizes, calls in runs]
        for old, new in product(words_of(comment), sorted(WORDS)):
            if any(calls and not sizes[old] & sizes.get(new, set()) for sizes, calls in own_runs):
                comments = list(record.comments)
                comments[index] = exchange(comment, old, new)
                if not judge_all(record, own_runs, comments)[1]:
                    unnoticed.append(f"{comment.where}: {new} for {old} in # {comment.text}")
    assert not unnoticed, "\n".join(unnoticed)


def reaches(call, index):
    return any(seen == index for seen, *_ in call)


def exchange(comment, old, new):
    shapes = [[re.sub(rf"\b{old}\b", new, dimension) for dimension in shape] for shape in comment.shapes]
    return replace(comment, shapes=tuple(map(tuple, shapes)))


# --- the checker itself: what it refuses, and what it lets pass ---


def mistakes_in(source):
    record, source = Record(), textwrap.dedent(source)
    code = compile(record.instrument(ast.parse(source), source, "line {}"), "example", "exec")
    exec(code, {"torch": torch, "__shapes__": record, "__call__": record.begin()})
    return record.mistakes()


TRUE = [
    "x = torch.ones(2, 3)  # (batch, length)",
    "x = torch.ones(2, 3)  # (batch, length): prose may follow",
    "x = torch.ones(2, 3)  # a remark (see below) is no shape",
    "x = torch.ones(2, 1, 3)  # (batch, 1, length)",
    "x = torch.ones(2, 3, 4)  # (..., length, features)",
    "x = torch.tensor(1.0)  # ()",
    "x, y = torch.ones(2, 3), torch.ones(2, 3)  # (batch, length)",
    "x, y = torch.ones(2, 3), torch.ones(3, 2)  # (batch, length), (length, batch)",
    "for y in (None, torch.ones(3)):\n    x, z = torch.ones(2), y  # (batch), (length)",
    "x = [torch.ones(2, 3) for _ in range(5)]  # (batch, length)",
    "x = torch.ones(2, 3)\nx += 1  # (batch, length)",
    "x: object = torch.ones(2, 3)  # (batch, length)",
    "torch.ones(2, 3)  # (batch, length)",
    "x = torch.cat([\n  torch.ones(2, 3),  # (batch, length)\n  torch.ones(2, 5)], 1)  # (batch, length + 5)",
    "half = 3\nx = torch.ones(2, 6)  # (number, 2 * half)",
    "x = torch.ones(2, 5)  # (batch, d_head / 2)\ny = torch.ones(10)  # (d_head)",
    "def f(x):\n    return x.T  # (length, batch)\nf(torch.ones(2, 3)), f(torch.ones(5, 7))",
    "heads = torch.ones(2)  # (batch)\nx = torch.ones(3)  # (heads)",
]

FALSE = {
    "x = torch.ones(2, 3)  # (batch, 4)": "where 4 cannot be 3",
    "x = torch.ones(2, 3)  # (batch, length, features)": "the tensor is (2, 3)",
    "x = torch.ones(2, 3)  # (batch, batch)": "where batch cannot be 3, for batch is 2",
    "x = torch.ones(2, 3)  # (batch, length)\ny = torch.ones(3)  # (batch)": "where batch cannot be 3",
    "length = 4\nx = torch.ones(2, 3)  # (batch, length)": "where length cannot be 3, for length is 4",
    "num_heads = 4\nx = torch.ones(2, 3)  # (batch, heads)": "where heads cannot be 3, for heads is 4",
    "half = 4\nx = torch.ones(2, 6)  # (number, 2 * half)": "where 2 * half cannot be 6, for half is 4",
    "d_head = 5\nx = torch.ones(2, 3)  # (batch, d_head / 2)": "d_head / 2 cannot be 3, for d_head is 5",
    "x, y = torch.ones(2, 3), torch.ones(3, 2)  # (batch, length)": "where batch cannot be 3",
    "x, y = torch.ones(2), torch.ones(3)  # (batch), (length), (length)": "3 shapes for 2 tensors",
    "x = torch.ones(2, 3)  # (batch, words)": "'words' is no word for a size",
    "x = torch.ones(2, 3)  # (batch, length of it)": "'length of it' is no word for a size",
    "x = torch.ones(2, 3)  # the scores, (batch, length)": "must begin with its shape",
    "x = 6  # (batch)": "this is no tensor: int",
    "if True:  # (batch)\n    pass": "this is no tensor: bool",
    "try:  # (batch)\n    pass\nfinally:\n    pass": "this line makes no tensor",
    "def f(x):\n    return x  # (batch)": "never reached",
    "x = None  # (batch)": "never reached",
}


@pytest.mark.parametrize("source", TRUE)
def test_a_true_comment_passes(source):
    assert mistakes_in(source) == []


@pytest.mark.parametrize("source", FALSE)
def test_a_false_an_unreached_and_an_unknown_comment_are_told(source):
    [mistake, *_] = mistakes_in(source)
    assert FALSE[source] in mistake
