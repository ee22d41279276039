"""Theorems about text: what is cut joins back, what is encoded is decoded, targets are one token ahead."""

import math
import re
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from theorems import drawn

from transformer_lessons.language.tokenization import Vocabulary, bits_per_character, make_sequences, tokenize

PLAY = "To-morrow, O, to-morrow!\n\tWho's there?\n\nNaïve 2_3 — “Stay,  ay.”\r\n"
ANY_CHARACTER = st.characters(exclude_categories=())  # lone surrogates too
ANY_TEXT = st.text(ANY_CHARACTER) | st.text("ab '-_\n\ud83d\ude00\udfffé€") | st.just(PLAY)
EVERYTHING = "".join(map(chr, range(0x110000)))


# --- tokens -------------------------------------------------------------------------------------------------


@drawn
@given(ANY_TEXT)
def test_the_tokens_join_back_to_the_text(text):
    assert "".join(tokenize(text)) == text


@drawn
@given(ANY_TEXT)
def test_tokens_are_words_and_what_stands_between_them_in_turn(text):
    kinds = [bool(re.fullmatch(r"\w+", token)) for token in tokenize(text)]
    assert all(re.fullmatch(r"\w+|\W+", token) for token in tokenize(text))
    assert all(one != other for one, other in pairwise(kinds))


def test_tokens_are_those_that_one_finds_by_hand():
    assert tokenize("To be,\nor not") == ["To", " ", "be", ",\n", "or", " ", "not"]
    assert tokenize(" Who's 2_3?") == [" ", "Who", "'", "s", " ", "2_3", "?"]
    assert tokenize("") == []


def test_all_of_unicode_joins_back():
    assert "".join(tokenize(EVERYTHING)) == EVERYTHING


# --- vocabularies -------------------------------------------------------------------------------------------

VOCABULARIES = {
    "words": Vocabulary.of_words(PLAY, 300),
    "characters": Vocabulary.of_characters(PLAY),
    "bytes": Vocabulary([]),
    "surrogates": Vocabulary(["\ud83d", "\udfff\ud83d", "to", "T"]),
}
EVERY_VOCABULARY = pytest.mark.parametrize("vocabulary", VOCABULARIES.values(), ids=VOCABULARIES)


@EVERY_VOCABULARY
@drawn
@given(ANY_TEXT)
def test_what_is_encoded_can_be_decoded(vocabulary, text):
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text
    assert all(0 <= number < len(vocabulary) for number in ids)


def test_all_of_unicode_can_be_decoded():
    vocabulary = VOCABULARIES["words"]
    assert vocabulary.decode(vocabulary.encode(EVERYTHING)) == EVERYTHING


@drawn
@given(ANY_TEXT)
def test_without_pieces_the_ids_are_the_bytes(text):
    assert Vocabulary([]).encode(text) == list(text.encode("utf-8", "surrogatepass"))


def test_a_known_token_is_one_id_another_its_characters_and_an_unknown_character_its_bytes():
    vocabulary = Vocabulary(["to", "t", "m", " "])
    assert vocabulary.encode("to tom é") == [256, 259, 257, ord("o"), 258, 259, 0xC3, 0xA9]


def test_characters_alone_make_one_token_of_each_character():
    vocabulary = Vocabulary.of_characters(PLAY)
    assert vocabulary.pieces == sorted(set(PLAY))
    assert len(vocabulary.encode(PLAY)) == len(PLAY)
    assert len(vocabulary) == 256 + len(set(PLAY))


def test_the_commonest_tokens_are_taken_and_of_equally_common_ones_the_first_in_the_alphabet():
    text = "bb aa cc cc dd, "
    characters = sorted(set(text))
    for extra, words in [(0, []), (1, ["cc"]), (2, ["cc", ", "]), (3, ["cc", ", ", "aa"])]:
        vocabulary = Vocabulary.of_words(text, 256 + len(characters) + extra)
        assert vocabulary.pieces == characters + words
        assert len(vocabulary) == 256 + len(characters) + extra


def test_no_token_is_made_up_to_reach_the_size():
    vocabulary = Vocabulary.of_words("bb aa", 10_000)
    assert vocabulary.pieces == [" ", "a", "b", "aa", "bb"]


def test_a_larger_vocabulary_needs_no_more_tokens_for_its_own_text():
    smallest = len(Vocabulary.of_characters(PLAY))
    lengths = [len(Vocabulary.of_words(PLAY, smallest + extra).encode(PLAY)) for extra in range(30)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == len(PLAY)
    assert lengths[-1] == len(tokenize(PLAY))


def test_a_vocabulary_depends_on_how_often_tokens_come_not_on_their_order():
    words = ["bb", "aa", "cc", "bb", "dd", "aa"]
    for size in range(261, 267):
        forwards, backwards = " ".join(words), " ".join(reversed(words))
        assert Vocabulary.of_words(forwards, size).ids == Vocabulary.of_words(backwards, size).ids


def test_a_tensor_of_ids_is_decoded_like_a_list():
    vocabulary = VOCABULARIES["words"]
    assert vocabulary.decode(torch.tensor(vocabulary.encode(PLAY))) == PLAY


def test_bytes_that_are_no_character_become_one_that_says_so():
    vocabulary = Vocabulary(["to", "é"])
    assert vocabulary.decode([256, 0xC3, 257, ord("!"), 0xFF]) == "to�é!�"


@pytest.mark.parametrize("wrong", [-1, 258, 10**6])
def test_what_is_no_token_is_not_decoded(wrong):
    with pytest.raises(ValueError, match=f"^{wrong} is not a token: ids run from 0 to 257$"):
        Vocabulary("ab").decode([97, wrong])
    with pytest.raises(ValueError, match=f"^{wrong} is not a token: ids run from 0 to 257$"):
        Vocabulary("ab").decode(torch.tensor([97, wrong]))


def test_no_piece_stands_in_a_vocabulary_twice():
    with pytest.raises(ValueError, match=r"^the piece 'be' is in the vocabulary twice$"):
        Vocabulary(["to", "be", "or", "be"])


def test_a_vocabulary_without_room_for_every_character_is_refused():
    with pytest.raises(ValueError, match=r"^size=257 is too small: this text needs at least 258, 256 for the bytes"):
        Vocabulary.of_words("abba", 257)
    with pytest.raises(ValueError, match=r"^size=0 is too small: it must be at least 1$"):
        Vocabulary.of_words("abba", 0)
    with pytest.raises(TypeError, match=r"^size=300.0 is not a whole number$"):
        Vocabulary.of_words("abba", 300.0)


# --- sequences ----------------------------------------------------------------------------------------------


@drawn
@given(st.integers(1, 7), st.integers(2, 60))
def test_inputs_are_the_text_without_overlap_and_targets_the_same_text_one_token_ahead(length, count):
    ids = torch.randperm(count + length)
    inputs, targets = make_sequences(ids, length)
    number = len(inputs)
    assert inputs.shape == targets.shape == (number, length)
    assert inputs.flatten().tolist() == ids[: number * length].tolist()
    assert targets.flatten().tolist() == ids[1 : number * length + 1].tolist()


@drawn
@given(st.integers(1, 7), st.integers(2, 60))
def test_only_the_tail_that_does_not_fill_a_row_is_dropped(length, count):
    ids = torch.arange(count + length)
    inputs, _ = make_sequences(ids, length)
    used = inputs.numel() + 1  # the last target too
    assert 0 <= len(ids) - used < length


def test_the_last_token_is_a_target_and_never_an_input():
    inputs, targets = make_sequences(torch.arange(9), 4)
    assert inputs.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert targets.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert len(make_sequences(torch.arange(8), 4)[0]) == 1


def test_sequences_keep_the_dtype_and_the_ids_as_they_are():
    for dtype in (torch.int64, torch.int32, torch.uint8):
        ids = torch.arange(9, dtype=dtype)
        inputs, targets = make_sequences(ids, 4)
        assert inputs.dtype == targets.dtype == dtype
        assert ids.tolist() == list(range(9))


def test_fewer_tokens_than_one_more_than_a_rows_length_are_refused():
    for count in range(5):
        with pytest.raises(ValueError, match=f"^a row of length 4 and its targets need 5 tokens, not {count}$"):
            make_sequences(torch.arange(count), 4)
    assert len(make_sequences(torch.arange(5), 4)[0]) == 1
    with pytest.raises(ValueError, match=r"^a row of length 3 and its targets need 4 tokens, not 2$"):
        make_sequences(torch.arange(2), 3)


def test_ids_that_are_no_tensor_of_one_dimension_are_refused():
    with pytest.raises(TypeError, match=r"^the ids are a list: they must be a tensor of one dimension$"):
        make_sequences(list(range(9)), 4)
    with pytest.raises(ValueError, match=r"^the ids \(3, 3\) must be a tensor of one dimension$"):
        make_sequences(torch.arange(9).reshape(3, 3), 4)


def test_a_length_that_is_no_whole_number_from_one_is_refused():
    with pytest.raises(ValueError, match=r"^length=0 is too small: it must be at least 1$"):
        make_sequences(torch.arange(9), 0)
    with pytest.raises(TypeError, match=r"^length=2.5 is not a whole number$"):
        make_sequences(torch.arange(9), 2.5)


# --- bits per character -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 27, 256])
def test_a_blind_guess_among_n_characters_costs_the_logarithm_of_n_to_base_two(size):
    assert bits_per_character(math.log(size), 1000, 1000) == pytest.approx(math.log2(size), rel=1e-12)


@drawn
@given(st.floats(0, 20), st.integers(1, 10**7), st.integers(1, 10**7), st.integers(1, 9))
def test_bits_per_character_do_not_depend_on_how_the_text_was_cut(nats, tokens, characters, parts):
    whole = bits_per_character(nats, tokens, characters)
    finer = bits_per_character(nats / parts, tokens * parts, characters)  # the same total loss
    assert finer == pytest.approx(whole, rel=1e-12)
    assert whole * characters * math.log(2) == pytest.approx(nats * tokens, rel=1e-12)  # in nats


@pytest.mark.parametrize("wrong", ["tokens", "characters"])
def test_fewer_than_one_token_or_character_are_refused(wrong):
    counts = {"tokens": 10, "characters": 30}
    with pytest.raises(ValueError, match=f"^{wrong}=0 is too small: it must be at least 1$"):
        bits_per_character(2.0, **counts | {wrong: 0})
    with pytest.raises(TypeError, match=f"^{wrong}=2.5 is not a whole number$"):
        bits_per_character(2.0, **counts | {wrong: 2.5})
