"""Byte pairs: the merges of a text, and ids that are equal to those of the reference tokenizers, one by one.

The published files are in the folder that the environment variable BPE_FILES names; where it is not set, the tests that
need them are skipped. They are gpt2_vocab.json and gpt2_merges.txt (GPT-2's vocabulary and merges), corpus.en (an
English text) and train-bpe-reference-merges.txt (the merges of that text), all from stanford-cs336/assignment1-basics;
a first line "#version: 0.2" in the merges does no harm. Those that compare with `regex`, `tiktoken` or `tokenizers` are
skipped where these are not installed (`pip install -e .[reference]`).
"""

import inspect
import json
import os
import random
import re
import sys
import time
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import slowness

from transformer_lessons.language import byte_pairs, checkpoints, pretrained, sampling, splitting, training
from transformer_lessons.language.batches import Data, prepare
from transformer_lessons.language.byte_pairs import BytePairs
from transformer_lessons.language.recipe import Recipe
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.tasks import mock_play
from transformer_lessons.tools import model_commands

PLAY = mock_play.write(scenes=30, seed=1)[0]
GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
END = "<|endoftext|>"
ODD = [
    *" \n\t'_-²½Ⅷé漢٣ß👩",
    "\u3000",
    "\x85",
    "\x1c",
    "\xa0",
    "\u200d",
    "\u0301",
    "  ",
    "\r\n",
    "'s",
    "'ll",
    "the",
    " of",
    "12",
]
TEXTS = {
    "English": "My lantern sleeps, and yet -- the fox’s eyes! It's 1603; we'll weep, they've slept.\n\n  Exeunt.  ",
    "German": "Größe, Maß und Übermut: „Straße“ schreibt man mit ß.",
    "emoji, Chinese, short forms": "👩‍👩‍👧 漢字かな I'm you're he'd 'tis ² ½ Ⅷ a1b2",
    "Python": inspect.getsource(byte_pairs),
    "a run": 500 * "a" + " " + 20 * "aa ",
    "the invented play": PLAY,
}


def random_texts(number, known=False):
    """Characters from all of Unicode, from its beginning, and those that tokenizers stumble over."""
    rng = random.Random(0)
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    codes = [code for code in codes if unicodedata.category(chr(code)) != "Cn"] if known else codes
    pools = [[*map(chr, codes)], ODD, ODD * 200 + [*map(chr, codes[:5000])]]
    return ["".join(rng.choices(pools[n % 3], k=rng.randint(0, 60))) for n in range(number)]


@pytest.fixture(scope="module")
def files():
    folder = os.environ.get("BPE_FILES")
    if not folder:
        pytest.skip("BPE_FILES names no folder with gpt2_vocab.json, gpt2_merges.txt, corpus.en and reference merges")
    return Path(folder)


@pytest.fixture(scope="module")
def gpt2(files):
    return pretrained.read_tokenizer(files / "gpt2_vocab.json", files / "gpt2_merges.txt")


# --- merges -------------------------------------------------------------------------------------------------


def recounted(words, number):
    """The definition: count all, take the most frequent, of equals the largest, merge it everywhere."""
    merges = []
    while len(merges) < number and (counts := byte_pairs.count_pairs(words)):
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        new = Counter()
        for word, count in words.items():
            new[tuple(byte_pairs.merge(word, merges[-1]))] += count
        words = new
    return merges


PARTS = st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=9).map(tuple)
WORDS = st.dictionaries(PARTS, st.integers(1, 5), max_size=9)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(words=WORDS, number=st.integers(0, 20))
def test_counting_only_what_changed_gives_the_merges_of_counting_everything(words, number):
    before = dict(words)
    assert byte_pairs.train_bpe(words, number) == recounted(words, number)
    assert words == before


def test_pairs_overlap_and_merges_do_not():
    assert byte_pairs.count_pairs({(b"a", b"a", b"a"): 5}) == {(b"a", b"a"): 10}
    assert byte_pairs.merge([b"a", b"a", b"a"], (b"a", b"a")) == [b"aa", b"a"]


def test_a_token_is_not_taken_for_a_pair_of_the_same_bytes():
    assert byte_pairs.merge([b"th", b"e", b"t", b"he"], (b"t", b"he")) == [b"th", b"e", b"the"]


def test_the_lowest_rank_is_merged_first_wherever_it_stands():
    ranks = {(b"a", b"b"): 1, (b"b", b"c"): 0}
    assert byte_pairs.apply_merges([b"a", b"b", b"c"], ranks) == [b"a", b"bc"]
    assert byte_pairs.apply_merges((), ranks) == []


def test_training_gives_the_243_reference_merges(files):
    corpus = (files / "corpus.en").read_text(encoding="utf-8")
    expected = (files / "train-bpe-reference-merges.txt").read_text(encoding="utf-8").split("\n")
    found = BytePairs.of_text(corpus, 500, special=[END])
    assert found.pieces == [*filter(None, expected), END]
    assert (len(found.ranks), len(found)) == (243, 500)


def test_a_thousand_merges_of_a_megabyte_take_less_than_five_seconds():
    """Of a text in which they are found: 14,000 different words, as Tiny Shakespeare has, with Zipf's frequencies."""
    rng = random.Random(0)
    syllables = ["".join(rng.choices("eeeaaoiuhnrstldmcbfgpwyvk", k=rng.randint(1, 3))) for _ in range(400)]
    words = list(dict.fromkeys("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(16_000)))
    text = " ".join(rng.choices(words, [1 / rank for rank in range(1, len(words) + 1)], k=200_000))[:1_000_000]
    seconds = []
    while len(seconds) < 3 and min(seconds, default=5) >= 5:  # a busy core is slow
        slow, start = slowness(), time.process_time()
        found = BytePairs.of_text(text, 1256)
        seconds.append((time.process_time() - start) / slow)
    assert (len(text), len(found.ranks)) == (1_000_000, 1000)
    assert min(seconds) < 5, seconds


# --- the tokenizer ------------------------------------------------------------------------------------------


TRAINED = BytePairs.of_text(PLAY, 400)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=st.text())
def test_every_text_comes_back_even_with_half_a_surrogate_pair(text):
    ids = TRAINED.encode(text)
    assert TRAINED.decode(ids) == "".join(TRAINED.decode_stream(ids)) == text


def test_ids_are_bytes_then_merges_then_special_tokens():
    found = BytePairs.of_text("ab ab" + END + "ab", 300, special=[END])
    assert sorted(found.tokens[:256]) == [bytes([number]) for number in range(256)]
    assert found.pieces == ["a b", "Ġ ab", END]
    assert found.encode("ab" + END + " ab") == [256, 258, 257]
    assert found.decode([258]) == END
    assert len(found) == 259


def test_no_merge_reaches_across_a_special_token():
    assert BytePairs.of_text(9 * ("a" + END), 300, special=[END]).ranks == {}


def test_a_vocabulary_that_cannot_hold_the_bytes_is_refused():
    with pytest.raises(ValueError, match=r"^size=255 is too small: it must be at least 256$"):
        BytePairs.of_text(PLAY, 255)
    with pytest.raises(ValueError, match=r"^400 is not a token: ids run from 0 to 399$"):
        TRAINED.decode([400])


def test_a_model_is_saved_and_loaded_with_its_merges(tmp_path):
    model = training.new_model(len(TRAINED), 8, 2, None, 1, 16)
    checkpoints.save(checkpoints.describe(model, TRAINED), tmp_path / "model.safetensors")
    loaded, vocabulary = checkpoints.load_model(tmp_path / "model.safetensors")
    assert type(vocabulary) is BytePairs
    assert vocabulary.encode(PLAY) == TRAINED.encode(PLAY)
    assert torch.equal(loaded.embedding.weight, model.embedding.weight)
    assert sampling.generate(loaded, vocabulary, "Thy", length=5, seed=0).startswith("Thy")


def test_train_learns_byte_pairs_resumes_and_its_model_writes(tmp_path, capsys):
    text, out = tmp_path / "text.txt", tmp_path / "run.safetensors"
    text.write_text(PLAY, encoding="utf-8")
    options = [
        "--text",
        str(text),
        "--tokens",
        "bytepairs",
        "--vocabulary",
        "300",
        "--layers",
        "1",
        "--d-model",
        "8",
        "--heads",
        "2",
        "--steps",
        "2",
        "--length",
        "16",
        "--batch-size",
        "2",
        "--quiet",
        "--threads",
        "1",
    ]
    assert model_commands.train([*options, "--out", str(out)]) == 0
    assert model_commands.train([*options, "--out", str(out)]) == 0
    assert "300 different" in capsys.readouterr().err
    model_commands.generate(["Thy", "--model", str(out), "--length", "5", "--seed", "0"])
    assert capsys.readouterr().out.startswith("Thy")


def test_a_run_does_not_go_on_with_another_kind_of_token(tmp_path):
    data = prepare(([PLAY], [PLAY[:2000]]), "bytepairs", 300)
    words = Data(Vocabulary(data.vocabulary.pieces), data.train, data.validation, data.characters)
    recipe = Recipe(steps=1, batch_size=2, length=16)
    file = tmp_path / "run.safetensors"
    training.train(training.new_model(300, 8, 2, None, 1, 16), data, recipe, file, quiet=True)
    with pytest.raises(ValueError, match="with another vocabulary"):
        training.train(training.new_model(300, 8, 2, None, 1, 16), words, recipe, file, quiet=True)


# --- words --------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=st.text())
def test_the_words_joined_are_the_text(text):
    assert "".join(splitting.split_words(text)) == text


def test_letters_and_numbers_are_those_of_the_unicode_tables():
    kinds = {"L": [], "N": [], "others": []}
    for character in map(chr, range(sys.maxunicode + 1)):
        kind = unicodedata.category(character)[0]
        kinds[kind if kind in kinds else "others"].append(character)
    others = re.sub(f"['{splitting.SPACE}]", "", "".join(kinds["others"]))
    expected = ["".join(kinds["L"]), "".join(kinds["N"]), others]
    assert (splitting.split_words("".join(expected)) == expected) is True  # these are too long to be shown


def test_white_space_is_unicodes():
    space = [chr(code) for code in range(sys.maxunicode + 1) if re.fullmatch(f"[{splitting.SPACE}]", chr(code))]
    assert len(space) == 25
    assert {character for character in map(chr, range(sys.maxunicode + 1)) if character.isspace()} - {*space} == {
        "\x1c",
        "\x1d",
        "\x1e",
        "\x1f",
    }


def test_words_are_those_of_gpt_2s_own_pattern_wherever_the_unicode_tables_agree():
    regex = pytest.importorskip("regex", reason="the package regex, which has GPT-2's pattern, is not installed")
    pattern = regex.compile(GPT2)
    for text in [*TEXTS.values(), *random_texts(3000, known=True)]:
        assert splitting.split_words(text) == pattern.findall(text)


def test_a_byte_is_written_as_its_own_character_where_that_can_be_seen():
    seen = [one for one in map(chr, range(256)) if one.isprintable() and one != " "]
    assert "".join(splitting.LETTERS[ord(one)] for one in seen) == "".join(seen)
    assert [splitting.LETTERS[one] for one in b"\n \x7f\xa0\xad"] == ["Ċ", "Ġ", "ġ", "ł", "Ń"]
    assert len({*splitting.LETTERS.values()}) == 256


# --- GPT-2's files ------------------------------------------------------------------------------------------


def test_the_ids_of_gpt_2_are_bytes_then_merges_in_their_order(files, gpt2):
    ids = json.loads((files / "gpt2_vocab.json").read_text(encoding="utf-8"))
    assert len(gpt2) == len(ids) == 50_257
    assert gpt2.encode("Hello world" + END) == [15496, 995, 50256]


def test_ids_are_those_of_tiktoken(files, gpt2):
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    ranks = {token: number for number, token in enumerate(gpt2.tokens[:-1])}
    theirs = tiktoken.Encoding("gpt2", pat_str=GPT2, mergeable_ranks=ranks, special_tokens={END: 50256})
    for text in [*TEXTS.values(), *own_texts(files), *random_texts(3000)]:
        ids = gpt2.encode(text)
        assert ids == theirs.encode(text, allowed_special="all")
        assert gpt2.decode(ids) == text


def test_ids_are_those_of_tokenizers(files, gpt2, tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    merges = tmp_path / "merges.txt"
    ranked = (files / "gpt2_merges.txt").read_text(encoding="utf-8").removeprefix("#version: 0.2\n")
    merges.write_text("#version: 0.2\n" + ranked, encoding="utf-8")
    theirs = tokenizers.ByteLevelBPETokenizer(str(files / "gpt2_vocab.json"), str(merges))
    theirs.add_special_tokens([END])
    ours = pretrained.read_tokenizer(files / "gpt2_vocab.json", merges)
    assert ours.pieces == gpt2.pieces
    for text in [*TEXTS.values(), *own_texts(files), *random_texts(3000)]:
        assert ours.encode(text) == theirs.encode(text).ids


def own_texts(folder):
    """The corpus, and the book where SHAKESPEARE_TXT names one: its first two million characters."""
    yield (folder / "corpus.en").read_text(encoding="utf-8")
    if os.environ.get("SHAKESPEARE_TXT"):
        yield Path(os.environ["SHAKESPEARE_TXT"]).read_text(encoding="utf-8")[:2_000_000]


def write_files(folder, ids, merges):
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(merges), encoding="utf-8")
    return folder / "vocab.json", folder / "merges.txt"


def ids_of(tokenizer):
    return {splitting.letters(token): number for number, token in enumerate(tokenizer.tokens)}


def test_a_tokenizer_is_read_from_its_two_files(tmp_path):
    found = pretrained.read_tokenizer(*write_files(tmp_path, ids_of(TRAINED), ["#version: 0.2", *TRAINED.pieces, ""]))
    assert found.pieces == TRAINED.pieces
    hashes = BytePairs(["# #", "## #"])
    assert pretrained.read_tokenizer(*write_files(tmp_path, ids_of(hashes), hashes.pieces)).pieces == hashes.pieces


def test_files_that_are_missing_foreign_or_of_two_tokenizers_get_a_sentence(tmp_path):
    _, merges = write_files(tmp_path, ids_of(TRAINED), TRAINED.pieces)
    with pytest.raises(ValueError, match=r"none\.json cannot be read: No such file"):
        pretrained.read_tokenizer(tmp_path / "none.json", merges)
    with pytest.raises(ValueError, match=r"are not a tokenizer's files$"):
        pretrained.read_tokenizer(merges, merges)
    with pytest.raises(ValueError, match=r"are not a tokenizer's files$"):
        pretrained.read_tokenizer(*write_files(tmp_path, ids_of(TRAINED), ["道 可"]))
    with pytest.raises(ValueError, match=r"do not belong together, or number their tokens unlike GPT-2$"):
        pretrained.read_tokenizer(*write_files(tmp_path, ids_of(TRAINED), TRAINED.pieces[:-1]))
    with pytest.raises(ValueError, match=r"do not belong together, or number their tokens unlike GPT-2$"):
        pretrained.read_tokenizer(*write_files(tmp_path, ids_of(TRAINED) | {"": len(TRAINED)}, TRAINED.pieces))
