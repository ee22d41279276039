"""What cannot be meant is refused, in words, with the numbers and the rule."""

import math
import re

import pytest
import torch
from theorems import (
    D_HEAD,
    D_HIDDEN,
    D_MODEL,
    HEADS,
    MAX_LENGTH,
    PAD,
    SIZES,
    WORDS,
    Vectors,
    draw_tokens,
    language_model,
)

from transformer_lessons.attention import (
    MultiHeadAttention,
    fused_attention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from transformer_lessons.layers import DecoderLayer, EncoderLayer, FeedForward, GatedFeedForward
from transformer_lessons.masks import causal_mask, masked_softmax, padding_mask
from transformer_lessons.models import Config, Embedding, Encoder, Transformer
from transformer_lessons.modern import RotaryHalves
from transformer_lessons.positions import (
    LearnedPositions,
    PositionalEncoding,
    RotaryPositions,
    sinusoidal_encoding,
)
from transformer_lessons.tasks.reversal import reversal_pairs, reversal_sequences

pytestmark = pytest.mark.usefixtures("exact")
BOTH_PATHS = pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])
BOTH_ORDERS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


# --- sizes --------------------------------------------------------------------------------------------------

WIDTH, LONG = {"d_model": D_MODEL}, {"max_length": MAX_LENGTH}
HEAD_SIZES = WIDTH | {"num_heads": HEADS}
LAYER_SIZES = HEAD_SIZES | {"d_hidden": D_HIDDEN}
MODEL_SIZES = LAYER_SIZES | {"num_layers": 1} | LONG
BUILDERS = {
    causal_mask: {"length": 5},
    MultiHeadAttention: HEAD_SIZES,
    sinusoidal_encoding: {"length": 5} | WIDTH,
    PositionalEncoding: WIDTH | LONG,
    LearnedPositions: WIDTH | LONG,
    RotaryPositions: {"d_head": D_HEAD} | LONG,
    RotaryHalves: {"d_head": D_HEAD} | LONG,
    FeedForward: WIDTH | {"d_hidden": D_HIDDEN},
    GatedFeedForward: WIDTH | {"d_hidden": D_HIDDEN},
    EncoderLayer: LAYER_SIZES,
    DecoderLayer: LAYER_SIZES,
    Embedding: {"vocabulary_size": WORDS} | WIDTH | LONG,
    Encoder: {"vocabulary_size": WORDS} | MODEL_SIZES,
    Transformer: {"source_size": WORDS, "target_size": WORDS} | MODEL_SIZES,
    language_model: {"vocabulary_size": WORDS} | MODEL_SIZES,
    reversal_sequences: {"number": 4, "half": 5, "vocabulary_size": WORDS},
    reversal_pairs: {"number": 4, "length": 5, "vocabulary_size": WORDS},
}
EVERY_SIZE = pytest.mark.parametrize(
    ("build", "size"),
    [pytest.param(build, size, id=f"{build.__name__}-{size}") for build, sizes in BUILDERS.items() for size in sizes],
)
# Where a constructor hands a size on, the message uses the name that it has there.
HANDED_ON = {"source_size": "vocabulary_size", "target_size": "vocabulary_size", "max_length": "(max_)?length"}


@EVERY_SIZE
def test_a_size_below_one_is_refused(build, size):
    for wrong in (0, -3):
        with pytest.raises(
            ValueError, match=rf"^{HANDED_ON.get(size, size)}={wrong} is too small: it must be at least [12]$"
        ):
            build(**BUILDERS[build] | {size: wrong})


@EVERY_SIZE
def test_a_size_that_is_no_whole_number_is_refused(build, size):
    for wrong in (4.0, "4", True, torch.tensor(4.0), [4]):
        named = rf"^{HANDED_ON.get(size, size)}={re.escape(repr(wrong))} is not a whole number$"
        with pytest.raises(TypeError, match=named):
            build(**BUILDERS[build] | {size: wrong})


@pytest.mark.parametrize(
    "build", [MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Transformer, language_model]
)
def test_features_that_do_not_split_evenly_into_heads_are_refused(build):
    with pytest.raises(ValueError, match=r"^d_model=10 does not split evenly into num_heads=3$"):
        build(**BUILDERS[build] | {"d_model": 10})
    with pytest.raises(ValueError, match=r"^d_model=2 does not split evenly into num_heads=3$"):
        build(**BUILDERS[build] | {"d_model": 2})


def test_heads_are_cut_from_nothing_but_a_batch_of_vectors_whose_features_split_evenly():
    with pytest.raises(ValueError, match=r"^d_model=10 does not split evenly into num_heads=3$"):
        split_heads(torch.randn(2, 5, 10), 3)
    for shape in [(5, 12), (2, 3, 5, 12)]:
        with pytest.raises(ValueError, match=rf"^x {re.escape(str(shape))} must be \(batch, length, d_model\)$"):
            split_heads(torch.randn(shape), 3)


def test_heads_are_merged_from_nothing_but_a_batch_of_heads():
    for shape in [(5, 4), (3, 5, 4), (1, 2, 3, 5, 4)]:
        expected = rf"^x {re.escape(str(shape))} must be \(batch, heads, length, d_head\)$"
        with pytest.raises(ValueError, match=expected):
            merge_heads(torch.randn(shape))


@pytest.mark.parametrize(
    ("name", "build"),
    [
        pytest.param("d_model", lambda: sinusoidal_encoding(5, 7), id="sinusoids"),
        pytest.param("d_model", lambda: PositionalEncoding(7, 5), id="positions"),
        pytest.param("d_head", lambda: RotaryPositions(7, 5), id="rotary"),
        pytest.param("d_head", lambda: RotaryHalves(7, 5), id="halves"),
        pytest.param("d_model", lambda: Embedding(WORDS, 7, 5), id="embedding"),
        pytest.param("d_model", lambda: Encoder(WORDS, 7, 7, D_HIDDEN, 1, 5), id="encoder"),
        pytest.param("d_head", lambda: language_model(WORDS, 14, 2, D_HIDDEN, 1, 5, rotary=True), id="language model"),
        pytest.param(
            "d_head",
            lambda: language_model(WORDS, 14, 2, D_HIDDEN, 1, 5, rotary=True, halves=True),
            id="language model with halves",
        ),
    ],
)
def test_sines_and_cosines_for_an_odd_number_of_features_are_refused(name, build):
    with pytest.raises(ValueError, match=rf"^{name}=7 is odd: sines and cosines come in pairs, so it must be even$"):
        build()


def test_halves_without_rotary_positions_are_refused():
    with pytest.raises(ValueError, match=r"^halves=True needs rotary=True: learned positions are not turned$"):
        Config(WORDS, 12, 3, D_HIDDEN, 1, 5, halves=True)


@pytest.mark.parametrize("wrong", [0, -1, math.nan])
@pytest.mark.parametrize("name", ["epsilon", "base", "std"])
def test_a_number_that_must_be_above_0_is_refused_where_it_is_not(name, wrong):
    with pytest.raises(ValueError, match=f"^{name}={wrong} must be above 0$"):
        Config(WORDS, 12, 3, D_HIDDEN, 1, 5, **{name: wrong})


@pytest.mark.parametrize("name", ["vocabulary_size", "d_model", "num_heads", "d_hidden", "num_layers", "max_length"])
def test_a_configuration_refuses_a_size_of_0(name):
    sizes = dict(vocabulary_size=WORDS, d_model=12, num_heads=3, d_hidden=D_HIDDEN, num_layers=1, max_length=5)
    with pytest.raises(ValueError, match=f"^{name}=0 is too small: it must be at least 1$"):
        Config(**sizes | {name: 0})


def test_learned_positions_need_no_pairs():
    assert language_model(WORDS, 7, 7, D_HIDDEN, 1, 5)(draw_tokens(1, 5)).shape == (1, 5, WORDS)


@pytest.mark.parametrize(
    "build", [MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Transformer, language_model]
)
@pytest.mark.parametrize("wrong", [-0.1, 1.5])
def test_a_dropout_that_is_no_probability_is_refused(build, wrong):
    with pytest.raises(ValueError, match=f"between 0 and 1, but got {wrong}"):
        build(**BUILDERS[build] | {"dropout": wrong})
    with pytest.raises(ValueError, match=f"between 0 and 1, but got {wrong}"):
        scaled_dot_product_attention(*torch.randn(3, 2, 5, 4), dropout=wrong)


# --- vectors ------------------------------------------------------------------------------------------------


@BOTH_PATHS
@pytest.mark.parametrize(
    ("query", "key", "value", "rule"),
    [
        ((2, 5, 4), (2, 7, 3), (2, 7, 6), "query and key must have the same number of features"),
        ((2, 5, 4), (2, 7, 4), (2, 8, 6), "there must be as many values as keys"),
        ((2, 5, 4), (3, 7, 4), (3, 7, 6), r"all dimensions before \(length, features\) must be equal"),
        ((2, 5, 4), (2, 7, 4), (1, 7, 6), r"all dimensions before \(length, features\) must be equal"),
        ((2, 5, 4), (1, 7, 4), (1, 7, 6), r"all dimensions before \(length, features\) must be equal"),
        ((5, 4), (2, 7, 4), (2, 7, 6), r"all dimensions before \(length, features\) must be equal"),
        ((4,), (7, 4), (7, 6), r"each must be \(…, length, features\), with at least one feature"),
        ((5, 4), (7, 4), (7,), r"each must be \(…, length, features\), with at least one feature"),
        ((5, 4), (4,), (7, 6), r"each must be \(…, length, features\), with at least one feature"),
        ((5, 0), (7, 0), (7, 6), r"each must be \(…, length, features\), with at least one feature"),
        ((2, 5, 0), (2, 7, 0), (2, 7, 6), r"each must be \(…, length, features\), with at least one feature"),
    ],
)
def test_queries_keys_and_values_that_do_not_fit_together_are_refused(attend, query, key, value, rule):
    shapes = re.escape(f"query {query}, key {key}, value {value}: ")
    with pytest.raises(ValueError, match=f"^{shapes}{rule}$"):
        attend(torch.randn(query), torch.randn(key), torch.randn(value))


@pytest.mark.parametrize("wrong", ["query", "key", "value"])
def test_many_heads_refuse_vectors_without_d_model_features(wrong):
    attention = MultiHeadAttention(D_MODEL, HEADS)
    vectors = {name: torch.randn(2, 5, D_MODEL) for name in ("query", "key", "value")}
    with pytest.raises(ValueError, match=rf"^{wrong} \(2, 5, 8\) must end in {D_MODEL} features$"):
        attention(**vectors | {wrong: torch.randn(2, 5, 8)})
    with pytest.raises(ValueError, match=rf"^x \(5, {D_MODEL}\) must be \(batch, length, d_model\)$"):
        attention(**vectors | {wrong: torch.randn(5, D_MODEL)})


@BOTH_ORDERS
def test_layers_refuse_vectors_without_d_model_features(norm_first):
    right, wrong = torch.randn(2, 5, D_MODEL), torch.randn(2, 5, 8)
    encoder_layer = EncoderLayer(**LAYER_SIZES, norm_first=norm_first)
    decoder_layer = DecoderLayer(**LAYER_SIZES, norm_first=norm_first)
    for name, call in [
        ("x", lambda: encoder_layer(wrong)),
        ("x", lambda: decoder_layer(wrong, right)),
        ("key", lambda: decoder_layer(right, wrong)),  # the memory is what the queries look up
        ("x", lambda: FeedForward(D_MODEL, D_HIDDEN)(wrong)),
        ("x", lambda: FeedForward(D_MODEL, D_HIDDEN)(wrong[..., :1])),
        ("x", lambda: GatedFeedForward(D_MODEL, D_HIDDEN)(wrong)),
    ]:
        with pytest.raises(ValueError, match=rf"^{name} \(2, 5, [18]\) must end in {D_MODEL} features$"):
            call()


@pytest.mark.parametrize("kind", [PositionalEncoding, LearnedPositions, RotaryPositions])
def test_positions_refuse_vectors_that_do_not_fit_and_sequences_beyond_their_reach(kind):
    positions = kind(D_MODEL, MAX_LENGTH)
    for shape in [(2, 5, 8), (2, 5, 1), (D_MODEL,)]:
        expected = re.escape(f"x {shape} must be (…, length, {D_MODEL})")
        with pytest.raises(ValueError, match=f"^{expected}$"):
            positions(torch.randn(shape))
    assert positions(torch.randn(2, MAX_LENGTH, D_MODEL)).shape == (2, MAX_LENGTH, D_MODEL)
    with pytest.raises(ValueError, match=f"^a sequence of length 10 is longer than max_length={MAX_LENGTH}$"):
        positions(torch.randn(2, 10, D_MODEL))


# --- masks --------------------------------------------------------------------------------------------------

ATTENDING = {
    "masked_softmax": lambda mask: masked_softmax(torch.randn(2, 3, 5, 7), mask),
    "attention": lambda mask: scaled_dot_product_attention(*draw_inputs(2, 3), mask),
    "fused attention": lambda mask: fused_attention(*draw_inputs(2, 3), mask),
    "many heads": lambda mask: MultiHeadAttention(12, 3)(*draw_inputs(2, features=12), mask),
    "many heads, fused": lambda mask: MultiHeadAttention(12, 3)(*draw_inputs(2, features=12), mask, need_weights=False),
}
EVERY_WAY = pytest.mark.parametrize("attend", ATTENDING.values(), ids=ATTENDING)


def draw_inputs(*leading, features=4):
    return [torch.randn(*leading, length, features) for length in (5, 7, 7)]


@EVERY_WAY
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_a_mask_of_numbers_is_refused(attend, dtype):
    with pytest.raises(TypeError, match=rf"^the mask holds {dtype}: it must be torch.bool, True where"):
        attend(torch.ones(5, 7, dtype=dtype))


@EVERY_WAY
@pytest.mark.parametrize(
    "shape",
    [
        (7, 5),
        (5, 8),
        (6, 7),
        (5,),
        (2, 5, 7),
        (3, 1, 5, 7),
        (1, 2, 5, 7),
        (1, 2, 3, 5, 7),
        (1, 1, 1, 5, 7),
        (0,),
    ],
    ids=str,
)
def test_a_mask_that_does_not_broadcast_to_the_scores_or_would_enlarge_them_is_refused(attend, shape):
    expected = re.escape(f"the mask {shape} must broadcast to the scores (2, 3, 5, 7)")
    with pytest.raises(ValueError, match=f"^{expected}$"):
        attend(torch.ones(shape, dtype=torch.bool))


def test_a_mask_that_would_enlarge_a_size_of_one_is_refused():
    mask = torch.ones(2, 3, 5, 7, dtype=torch.bool)
    expected = re.escape("the mask (2, 3, 5, 7) must broadcast to the scores (1, 3, 5, 7)")
    with pytest.raises(ValueError, match=f"^{expected}$"):
        masked_softmax(torch.randn(1, 3, 5, 7), mask)
    for attend in (scaled_dot_product_attention, fused_attention):
        with pytest.raises(ValueError, match=f"^{expected}$"):
            attend(*draw_inputs(1, 3), mask)


def test_padding_is_looked_for_in_nothing_but_a_batch_of_sequences():
    for shape in [(5,), (2, 3, 5)]:
        expected = re.escape(f"the tokens {shape} must be (batch, length)")
        with pytest.raises(ValueError, match=f"^{expected}$"):
            padding_mask(torch.ones(shape, dtype=torch.int64), PAD)


# --- tokens -------------------------------------------------------------------------------------------------

READERS = {
    "encoder": lambda tokens: Encoder(WORDS, **SIZES)(tokens),
    "source": lambda tokens: Transformer(WORDS, 30, **SIZES)(tokens, draw_tokens()),
    "target": lambda tokens: Transformer(30, WORDS, **SIZES)(draw_tokens(), tokens),
    "generate": lambda tokens: Transformer(WORDS, 30, **SIZES).generate(tokens, 1, 2),
    "language model": lambda tokens: language_model(WORDS, **SIZES)(tokens),
    "rotary language model": lambda tokens: language_model(WORDS, **SIZES, rotary=True)(tokens),
}
EVERY_READER = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


@EVERY_READER
def test_a_token_outside_the_vocabulary_is_refused(read):
    tokens = draw_tokens()
    for wrong in (-1, WORDS, 1000):
        tokens[1, 2] = wrong
        with pytest.raises(ValueError, match=f"^a token is {wrong}: ids run from 0 to {WORDS - 1}$"):
            read(tokens)
    tokens[1, 2] = 0
    tokens[2, 1] = WORDS - 1
    read(tokens)


@EVERY_READER
def test_tokens_that_are_no_whole_numbers_are_refused(read):
    for wrong in (torch.float64, torch.bool, torch.uint8):
        with pytest.raises(TypeError, match=f"^the tokens hold {wrong}: they must be a tensor of whole numbers"):
            read(draw_tokens().to(wrong))
    read(draw_tokens().int())


@EVERY_READER
def test_a_list_of_tokens_is_refused(read):
    with pytest.raises(TypeError, match=r"^the tokens hold list: they must be a tensor of whole numbers, torch.int64$"):
        read([[1, 2, 3]])


@EVERY_READER
def test_tokens_that_are_no_batch_of_sequences_are_refused_and_so_is_an_empty_one(read):
    for shape in [(5,), (2, 3, 5), (0, 5), (2, 0), ()]:
        expected = re.escape(f"the tokens {shape} must be (batch, length), neither empty")
        with pytest.raises(ValueError, match=f"^{expected}$"):
            read(torch.ones(shape, dtype=torch.int64))


@EVERY_READER
def test_a_sequence_reaches_max_length_and_not_beyond(read):
    read(draw_tokens(length=MAX_LENGTH))
    with pytest.raises(ValueError, match=f"^a sequence of length 10 is longer than max_length={MAX_LENGTH}$"):
        read(draw_tokens(length=10))


def test_generate_refuses_what_is_no_length_or_has_no_room_before_it_begins():
    model, source = Transformer(WORDS, **SIZES), draw_tokens()
    too_long = f"^a sequence of length 10 is longer than max_length={MAX_LENGTH}$"
    with Vectors(model.encoder.embedding) as read, pytest.raises(ValueError, match=too_long):
        model.generate(source, 1, 10)
    assert not read  # it is refused before the work, not after
    with pytest.raises(ValueError, match=r"^length=0 is too small: it must be at least 1$"):
        model.generate(source, 1, 0)
    with pytest.raises(TypeError, match=r"^length=2.0 is not a whole number$"):
        model.generate(source, 1, 2.0)
    with pytest.raises(TypeError, match=r"^the tokens hold torch.float64: they must be"):
        model.generate(source, 1.0, 2)


def test_sources_and_targets_of_different_number_are_refused():
    with pytest.raises(ValueError, match=r"all dimensions before \(length, features\) must be equal"):
        Transformer(WORDS, **SIZES)(draw_tokens(batch=2), draw_tokens(batch=1))


@pytest.mark.parametrize("wrong", [-1, WORDS, "3", 2.5])
def test_padding_that_is_a_token_of_neither_vocabulary_or_of_one_alone_is_refused(wrong):
    expected = rf"^pad_id={re.escape(repr(wrong))} is not a token: ids run from 0 to "
    with pytest.raises(ValueError, match=f"{expected}{WORDS - 1}$"):
        Encoder(WORDS, **SIZES, pad_id=wrong)
    for sizes in [(WORDS,), (WORDS, 30), (30, WORDS)]:
        with pytest.raises(ValueError, match=f"{expected}({WORDS - 1}|29)$"):
            Transformer(*sizes, **SIZES, pad_id=wrong)
    for right in (0, WORDS - 1):
        Transformer(WORDS, 30, **SIZES, pad_id=right)
