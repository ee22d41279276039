"""Theorems about files: whole or refused, and nothing in them is ever run."""

import contextlib
import errno
import hashlib
import io
import os
import pickle
import re
import warnings
import zipfile

import pytest
import torch
from kill import same, tiny_model
from torch import nn

from transformer_lessons import checkpoints, training
from transformer_lessons.checkpoints import HEAD, MAGIC
from transformer_lessons.generation import generate
from transformer_lessons.models import LanguageModel
from transformer_lessons.text import Vocabulary

LETTERS = Vocabulary("abcde")
CONTENT = {"step": 3, "losses": [0.5, 0.25], "model": {"weight": torch.arange(600.0).reshape(20, 30)}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.model"


@pytest.fixture
def saved(path):
    """The bytes of a file that holds a model."""
    checkpoints.export(tiny_model(), LETTERS, path)
    return path.read_bytes()


def framed(body):
    """A body in a frame that fits: what somebody writes who knows the format."""
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def written(content):
    body = io.BytesIO()
    torch.save(content, body)
    return body.getvalue()


def refused(path):
    """The one sentence with which a file is refused."""
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} ") as caught:
        checkpoints.load_model(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 300
    return sentence.removeprefix(f"{path} ")


# --- what is saved is loaded --------------------------------------------------------------------------------


def test_what_was_saved_is_loaded(path):
    checkpoints.save(CONTENT, path)
    assert same(checkpoints.load(path), CONTENT)
    checkpoints.save({"other": 1}, str(path))
    assert checkpoints.load(str(path)) == {"other": 1}
    assert os.listdir(path.parent) == [path.name]


def test_a_file_names_its_kind_and_its_hash_first(path):
    checkpoints.save(CONTENT, path)
    data = path.read_bytes()
    assert data == framed(data[HEAD:])
    assert data.startswith(b"transformer-lessons 1 ")
    assert same(torch.load(io.BytesIO(data[HEAD:]), weights_only=True), CONTENT)


@pytest.mark.parametrize("newer", [False, True], ids=["as GPT-2", "newer"])
def test_a_models_architecture_is_enough_to_make_another_one_of_its_shape(newer):
    sizes = {"vocabulary_size": 11, "d_model": 12, "num_heads": 3, "d_hidden": 7, "num_layers": 2}
    sizes |= {"max_length": 9, "dropout": 0.25, "rotary": newer, "gated": newer}
    model = LanguageModel(**sizes)
    assert checkpoints.architecture(model) == sizes
    other = LanguageModel(**checkpoints.architecture(model))
    other.load_state_dict(model.state_dict())
    tokens = torch.arange(9)[None]
    assert torch.equal(other.eval()(tokens), model.eval()(tokens))


def test_a_loaded_model_is_the_one_that_was_saved_and_is_ready_for_use(path):
    model, tokens = tiny_model(), torch.tensor([LETTERS.encode("abcdeabc")])
    checkpoints.save(checkpoints.describe(model, LETTERS), path)
    loaded, vocabulary = checkpoints.load_model(path)
    assert vocabulary.pieces == LETTERS.pieces
    assert not loaded.training
    assert torch.equal(loaded(tokens), model.eval()(tokens))


def test_an_export_in_half_precision_is_half_as_large_writes_and_hardly_differs(path):
    model, tokens = tiny_model(), torch.tensor([LETTERS.encode("abcdeabc")])
    checkpoints.save(checkpoints.describe(model, LETTERS), path)
    size = path.stat().st_size
    checkpoints.export(model, LETTERS, path)
    weights = sum(weight.numel() for weight in model.state_dict().values())
    assert size - path.stat().st_size == pytest.approx(2 * weights, rel=0.2)
    assert {weight.dtype for weight in checkpoints.load(path)["model"].values()} == {torch.float16}
    loaded, vocabulary = checkpoints.load_model(path)
    assert {weight.dtype for weight in loaded.state_dict().values()} == {torch.float32}
    assert (loaded(tokens) - model.eval()(tokens)).abs().max() < 0.01
    assert generate(loaded, vocabulary, "ab", 5, seed=1).startswith("ab")
    assert {weight.dtype for weight in model.state_dict().values()} == {torch.float32}  # as it was


def test_a_model_of_the_shipped_sizes_is_a_file_of_at_most_12_megabytes(path):
    pieces = [f"piece {number}" for number in range(4096 - 256)]
    model = training.new_model(4096, 256, 8, None, 4, 128)
    checkpoints.export(model, Vocabulary(pieces), path)
    assert 6e6 < path.stat().st_size <= 12e6


# --- the old file or the new one ----------------------------------------------------------------------------


def fail(kind, *details):
    def call(*arguments, **keywords):
        raise kind(*details)
    return call


@pytest.mark.parametrize("name", ["replace", "fsync"])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_when_writing_fails_the_old_file_stays_and_nothing_else(path, monkeypatch, name, kind):
    checkpoints.save(CONTENT, path)
    monkeypatch.setattr(os, name, fail(kind, errno.ENOSPC, "No space left on device"))
    expected = ValueError if kind is OSError else kind
    with pytest.raises(expected) as caught:
        checkpoints.save({"new": 1}, path)
    if kind is OSError:
        assert str(caught.value) == f"{path} cannot be written: No space left on device"
    assert same(checkpoints.load(path), CONTENT)
    assert os.listdir(path.parent) == [path.name]


def test_until_the_new_file_is_whole_the_old_one_bears_the_name(path, monkeypatch):
    checkpoints.save(CONTENT, path)
    seen, sync = [], os.fsync

    def look(file):
        sync(file)
        seen.append(same(checkpoints.load(path), CONTENT))

    monkeypatch.setattr(os, "fsync", look)
    checkpoints.save({"new": 1}, path)
    assert seen == [True]
    assert checkpoints.load(path) == {"new": 1}


# --- what is refused ----------------------------------------------------------------------------------------


FOREIGN, DAMAGED = "is not a checkpoint of this course", "is damaged: it does not hold what was written"
HOSTILE = "holds more than tensors and plain values, and is not loaded"


def cuts(size):
    return sorted({0, 1, len(MAGIC) - 1, len(MAGIC), HEAD - 1, HEAD, HEAD + 1, size - 1,
                   *range(0, size, size // 20)})


def test_a_file_that_was_cut_off_anywhere_is_refused(path, saved):
    places = cuts(len(saved))
    assert len(places) >= 25
    for place in places:
        path.write_bytes(saved[:place])
        assert refused(path) == (FOREIGN if place < len(MAGIC) else DAMAGED), place


def test_a_file_with_one_wrong_byte_anywhere_is_refused(path, saved):
    places = [*range(HEAD + 8), *range(HEAD + 8, len(saved), len(saved) // 40), len(saved) - 1]
    for place in places:
        wrong = bytearray(saved)
        wrong[place] ^= 1 << place % 8
        path.write_bytes(wrong)
        assert refused(path) == (FOREIGN if place < len(MAGIC) else DAMAGED), place


def test_a_file_with_something_more_or_twice_is_refused(path, saved):
    for wrong in (saved + b"\0", saved + saved, saved[:HEAD] + saved):
        path.write_bytes(wrong)
        assert refused(path) == DAMAGED


def test_a_file_of_another_kind_is_refused(path):
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    kinds = [b"", b"\n", b"Once upon a time", b"<!DOCTYPE html>", bytes(1000), pickle.dumps(CONTENT),
             written(CONTENT), zipped.getvalue(), b"version https://git-lfs.github.com/spec/v1\n",
             MAGIC.upper() + bytes(100), b"transformer-lessons 2 " + bytes(100)]
    for kind in kinds:
        path.write_bytes(kind)
        assert refused(path) == FOREIGN


def test_what_is_no_file_is_refused(tmp_path):
    assert refused(tmp_path / "nothing") == "cannot be read: No such file or directory"
    assert refused(tmp_path) == "cannot be read: Is a directory"


class Hostile:
    """Whoever unpickles it makes a file."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return open, (str(self.trace), "w")


def hostile_bodies(trace):
    yield pickle.dumps(Hostile(trace))
    for content in (Hostile(trace), [Hostile(trace)], CONTENT | {"model": Hostile(trace)},
                    {"architecture": {"d_model": Hostile(trace)}}):
        yield written(content)
        old = io.BytesIO()
        torch.save(content, old, _use_new_zipfile_serialization=False)
        yield old.getvalue()


def test_hostile_pickles_are_refused_even_in_a_frame_that_fits_and_do_nothing(path, tmp_path):
    trace = tmp_path / "trace"
    for body in hostile_bodies(trace):
        path.write_bytes(framed(body))
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert refused(path) == HOSTILE
        assert not seen
        assert not trace.exists()
        with contextlib.suppress(RuntimeError):
            torch.load(io.BytesIO(body), weights_only=False)
        assert trace.exists()  # here it has bitten
        trace.unlink()


def test_nothing_is_unpickled_before_the_hash_has_been_compared(path, saved, monkeypatch):
    monkeypatch.setattr(torch, "load", fail(AssertionError, "it was loaded"))
    for wrong in (saved[:-1], saved[: HEAD + 10] + b"!" + saved[HEAD + 11 :], written(CONTENT)):
        path.write_bytes(wrong)
        refused(path)


@pytest.mark.parametrize("body", [b"", b"no pickle", written(nn.Linear(2, 2)), written(print)])
def test_what_is_neither_tensors_nor_plain_values_is_refused(path, body):
    path.write_bytes(framed(body))
    assert refused(path) == HOSTILE


def model_content(**changes):
    content = checkpoints.describe(tiny_model(), LETTERS) | changes
    return {name: value for name, value in content.items() if value is not None}


NO_MODEL = "does not hold a model that this version knows: "


@pytest.mark.parametrize(("content", "sentence"), [
    ([1, 2], "holds a list, not a dictionary"),
    (torch.ones(3), "holds a Tensor, not a dictionary"),
    ({}, f"{NO_MODEL}it lacks 'architecture'"),
    (model_content(model=None), f"{NO_MODEL}it lacks 'model'"),
    (model_content(pieces=None), f"{NO_MODEL}it lacks 'pieces'"),
    (model_content(architecture=[1]), NO_MODEL),
    (model_content(architecture={"d_model": 8}), NO_MODEL),
    (model_content(architecture=checkpoints.architecture(tiny_model()) | {"eyes": 2}), NO_MODEL),
    (model_content(architecture=checkpoints.architecture(tiny_model()) | {"num_heads": 3}),
     f"{NO_MODEL}d_model=8 does not split evenly into num_heads=3"),
    (model_content(architecture=checkpoints.architecture(tiny_model()) | {"d_hidden": 17}), NO_MODEL),
    (model_content(model={}), NO_MODEL),
    (model_content(model={"norm.weight": 3}), NO_MODEL),
    (model_content(model=[torch.ones(3)]), NO_MODEL),
    (model_content(pieces=["a", "b", "a", "d", "e"]), f"{NO_MODEL}the piece 'a' stands in the vocabulary tw"),
    (model_content(pieces=["a", "b", 3, "d", "e"]), f"{NO_MODEL}a piece is no text: 3"),
    (model_content(pieces=7), NO_MODEL),
    (model_content(pieces=["a", "b"]), "has 258 tokens, but vectors for 261"),
])
def test_a_whole_file_that_holds_no_model_is_refused(path, content, sentence):
    checkpoints.save(content, path)
    assert refused(path).startswith(sentence)


# --- before hours of training -------------------------------------------------------------------------------


def test_where_a_file_can_be_written_is_known_beforehand_and_leaves_no_trace(path):
    assert checkpoints.check_writable(path, 1000) is None
    assert checkpoints.check_writable(str(path)) is None
    assert checkpoints.check_writable(None) is None
    assert os.listdir(path.parent) == []
    checkpoints.save(CONTENT, path)
    checkpoints.aside_of(path).write_text("what a killed run left")
    checkpoints.check_writable(path)
    assert same(checkpoints.load(path), CONTENT)
    assert os.listdir(path.parent) == [path.name]


def test_where_no_file_can_be_written_is_known_beforehand(tmp_path, monkeypatch):
    play = tmp_path / "play.txt"
    play.write_text("HAMLET. To be")

    def sentence(path, size=0):
        with pytest.raises(ValueError, match=r"^\S+ .*[^.\n]$") as caught:
            checkpoints.check_writable(path, size)
        return str(caught.value)

    assert sentence(tmp_path / "no/run") == f"{tmp_path}/no/run cannot be written: No such file or directory"
    assert sentence(play / "run") == f"{play}/run cannot be written: Not a directory"
    assert sentence(tmp_path) == f"{tmp_path} is a folder: give the name of a file"
    assert sentence(play) == f"{play} is there already, and is not a checkpoint of this course"
    assert play.read_text() == "HAMLET. To be"
    too_much = sentence(tmp_path / "x", 10**18)
    assert re.fullmatch(r".*/x needs 1,000,000,000,000 MB, and [\d,]+ MB are free", too_much)
    monkeypatch.setattr("pathlib.Path.touch", fail(PermissionError, errno.EACCES, "Permission denied"))
    assert sentence(tmp_path / "x") == f"{tmp_path}/x cannot be written: Permission denied"


def test_no_file_holds_two_things(tmp_path):
    assert checkpoints.check_apart(out=tmp_path / "a", best=tmp_path / "b", export=None, other=None) is None
    with pytest.raises(ValueError, match=r"^.*/x/\.\./a cannot be both out and export$"):
        checkpoints.check_apart(out=tmp_path / "a", best=None, export=f"{tmp_path}/x/../a")


def test_a_fingerprint_tells_numbers_apart():
    ids = torch.arange(10)
    assert checkpoints.digest(ids) == checkpoints.digest(ids.clone())
    assert checkpoints.digest(ids) != checkpoints.digest(ids.flip(0))
