"""Theorems about files: whole or refused, and nothing in them is ever run."""

import errno
import hashlib
import io
import json
import os
import pickle
import re
import threading
import zipfile
from dataclasses import asdict
from pathlib import Path
from unittest.mock import Mock

import pytest
import safetensors.torch
import torch
from kill import processes, same, tiny_model

from transformer_lessons.basis import atomic
from transformer_lessons.language import checkpoints, training
from transformer_lessons.language.checkpoints import BLANK, NAME, START
from transformer_lessons.language.sampling import generate
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.models import Config, LanguageModel

LETTERS = Vocabulary("abcde")
CONTENT = {"step": 3, "losses": [0.5, 0.1], "model": {"weight": torch.arange(600.0).reshape(20, 30)}}
HEAD = 8 + len(START)  # bytes that tell what kind of file it is


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.safetensors"


@pytest.fixture
def saved(path):
    """The bytes of a file that holds a model."""
    checkpoints.export(tiny_model(), LETTERS, path)
    return path.read_bytes()


def header(data):
    """The header of a safetensors file, as its format prescribes it: 8 bytes for its size, then JSON."""
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


def forged(text, spoil=lambda data: data):
    """A file whose hash fits: what somebody writes who knows the format."""
    data = spoil(safetensors.torch.save({"ones": torch.ones(3)}, {NAME: text}))
    return data.replace(BLANK.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


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


def test_every_kind_of_tensor_and_of_plain_value_comes_back(path):
    content = {
        "numbers": [1, 2.5, -0.1, 1e300, True, None],
        "text": 'é🙂\ud800\n"',
        "deep": [{"a": [torch.ones(2)]}],
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 4),
        "transposed": torch.rand(3, 4).T,
        "short": torch.rand(5).half(),
        "bytes": torch.arange(5, dtype=torch.uint8),
        "none": {},
        "zeros": torch.full((200,), ord("0"), dtype=torch.uint8),
        "named": {"tensor": "deep", "more": 1},
    }
    checkpoints.save(content, path)
    loaded = checkpoints.load(path)
    assert same(loaded, content)
    assert all(loaded[name].dtype == content[name].dtype for name in ("scalar", "short", "bytes"))
    checkpoints.save({"pair": (1, 2), "numbers": {0: "zero"}}, path)
    assert checkpoints.load(path) == {"pair": [1, 2], "numbers": {"0": "zero"}}


def test_a_file_is_what_others_call_safetensors_and_holds_the_model_by_name(path, saved):
    state = tiny_model().state_dict()
    tensors = safetensors.torch.load_file(path)
    assert {name.removeprefix("model."): tensor.shape for name, tensor in tensors.items()} == {
        name: tensor.shape for name, tensor in state.items()
    }
    text = json.loads(header(saved)["__metadata__"][NAME])
    assert text["content"]["architecture"] == asdict(tiny_model().config)
    assert text["content"]["pieces"] == LETTERS.pieces


def test_a_file_names_the_hash_of_all_its_other_bytes(path, saved):
    digest = json.loads(header(saved)["__metadata__"][NAME])["sha256"]
    assert saved.count(digest.encode()) == 1
    assert hashlib.sha256(saved.replace(digest.encode(), b"0" * 64)).hexdigest() == digest


def test_the_same_model_makes_the_same_file(path, saved):
    checkpoints.export(tiny_model(), LETTERS, path)
    assert path.read_bytes() == saved


@pytest.mark.parametrize("newer", [False, True], ids=["as GPT-2", "newer"])
def test_a_models_architecture_is_enough_to_make_another_one_of_its_shape(newer):
    sizes = {"vocabulary_size": 11, "d_model": 12, "num_heads": 3, "d_hidden": 7, "num_layers": 2}
    sizes |= {"max_length": 9, "dropout": 0.25, "rotary": newer, "gated": newer}
    model = LanguageModel(Config(**sizes))
    other = LanguageModel(Config(**checkpoints.describe(model, LETTERS)["architecture"]))
    assert other.config == model.config
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
    model = training.new_model(4096, 304, 8, None, 4, 256)
    checkpoints.export(model, Vocabulary(pieces), path)
    assert 6e6 < path.stat().st_size <= 12e6


# --- the old file or the new one ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_when_writing_fails_the_old_file_stays_and_nothing_else(path, monkeypatch, kind):
    checkpoints.save(CONTENT, path)
    monkeypatch.setattr(os, "fsync", Mock(side_effect=kind(errno.ENOSPC, "No space left on device")))
    expected = ValueError if kind is OSError else kind
    with pytest.raises(expected) as caught:
        checkpoints.save({"new": 1}, path)
    if kind is OSError:
        assert str(caught.value) == f"{path} cannot be written: No space left on device"
    assert same(checkpoints.load(path), CONTENT)
    assert os.listdir(path.parent) == [path.name]


# --- what is refused ----------------------------------------------------------------------------------------


FOREIGN, DAMAGED = "is not a checkpoint of this course", "is damaged: it does not hold what was written"


def cuts(data):
    body = 8 + int.from_bytes(data[:8], "little")
    return sorted(
        {
            0,
            1,
            8,
            HEAD - 1,
            HEAD,
            HEAD + 1,
            body - 1,
            body,
            body + 1,
            len(data) - 1,
            *range(0, len(data), len(data) // 20),
        }
    )


def test_a_file_that_was_cut_off_anywhere_is_refused(path, saved):
    places = cuts(saved)
    assert len(places) >= 25
    for place in places:
        path.write_bytes(saved[:place])
        assert refused(path) == (FOREIGN if place < HEAD else DAMAGED), place


def test_a_file_with_one_wrong_byte_anywhere_is_refused(path, saved):
    body = 8 + int.from_bytes(saved[:8], "little")  # before it lies the header, after it the numbers
    in_the_header = [*range(HEAD), *range(HEAD, body, 7), *range(body - 2, body + 8)]
    for place in [*in_the_header, *range(body + 8, len(saved), len(saved) // 40), len(saved) - 1]:
        wrong = bytearray(saved)
        wrong[place] ^= 1 << place % 8
        path.write_bytes(wrong)
        assert refused(path) == (FOREIGN if 8 <= place < HEAD else DAMAGED), place


def test_even_a_change_that_json_does_not_mind_is_noticed(path, saved):
    body = 8 + int.from_bytes(saved[:8], "little")
    assert saved[body - 1 : body] == b" "  # the header is padded
    path.write_bytes(saved[: body - 1] + b"\n" + saved[body:])
    assert header(path.read_bytes()) == header(saved)
    assert refused(path) == DAMAGED


def test_a_file_with_something_more_or_twice_is_refused(path, saved):
    for wrong in (saved + b"\0", saved + saved, saved[:HEAD] + saved):
        path.write_bytes(wrong)
        assert refused(path) == DAMAGED


def test_a_file_of_another_kind_is_refused(path):
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    pickled = io.BytesIO()
    torch.save(CONTENT, pickled)
    other = safetensors.torch.save(CONTENT["model"], {"format": "pt"})
    kinds = [
        b"",
        b"\n",
        b"Once upon a time",
        b"<!DOCTYPE html>",
        bytes(1000),
        pickle.dumps(CONTENT),
        other,
        pickled.getvalue(),
        zipped.getvalue(),
        b"version https://git-lfs.github.com/spec/v1\n",
        b"transformer-lessons 1 " + bytes(100),
        safetensors.torch.save(CONTENT["model"]),
    ]
    for kind in kinds:
        path.write_bytes(kind)
        assert refused(path) == FOREIGN


def test_what_is_no_file_is_refused(tmp_path):
    assert refused(tmp_path / "nothing") == "cannot be read: No such file or directory"
    assert refused(tmp_path) == "cannot be read: Is a directory"


def test_no_code_is_loaded_that_a_file_brings_along(path, saved, monkeypatch):
    for module, name in ((torch, "load"), (pickle, "load"), (pickle, "loads"), (pickle, "Unpickler")):
        monkeypatch.setattr(module, name, Mock(side_effect=AssertionError("something was unpickled")))
    checkpoints.load_model(path)


def test_no_tensor_is_made_before_the_hash_has_been_compared(path, saved, monkeypatch):
    monkeypatch.setattr(safetensors.torch, "load", Mock(side_effect=AssertionError("it was loaded")))
    for wrong in (saved[:-1], saved[:-10] + b"!" + saved[-9:], saved + b"!"):
        path.write_bytes(wrong)
        assert refused(path) == DAMAGED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "[]",
        "{}",
        '{"content": {}}',
        '{"sha256": 7, "content": {}}',
        '{"sha256": null, "content": {}}',
        f'{{"sha256": "{BLANK}"}}',
        f'{{"sha256": "{BLANK}", "content": {{"tensor": "nowhere"}}}}',
        f'{{"sha256": "{BLANK}", "content": {{"model": {{"tensor": ["a"]}}}}}}',
        "[" * 100_000,
        f'{{"sha256": "{BLANK}", "content": ' + '{"a": ' * 900 + "1" + "}" * 901,
    ],
    ids=lambda text: text[:60],
)
def test_a_header_that_nobody_here_wrote_is_refused_even_if_its_hash_fits(path, text):
    path.write_bytes(forged(text))
    refused(path)


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:-1], lambda data: data.replace(b"F32", b"F99"), lambda data: data.replace(b"[3]", b"[4]")],
    ids=["cut", "kind", "shape"],
)
def test_tensors_that_are_not_what_the_header_says_are_refused_even_if_the_hash_fits(path, spoil):
    path.write_bytes(forged(f'{{"sha256": "{BLANK}", "content": {{}}}}', spoil))
    assert refused(path) == DAMAGED


def model_content(**changes):
    content = checkpoints.describe(tiny_model(), LETTERS) | changes
    return {name: value for name, value in content.items() if value is not None}


NO_MODEL = "does not hold a model that this version knows: "


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([1, 2], "holds a list, not a dictionary"),
        (torch.ones(3), "holds a Tensor, not a dictionary"),
        ("text", "holds a str, not a dictionary"),
        ({}, f"{NO_MODEL}it lacks 'architecture'"),
        (model_content(model=None), f"{NO_MODEL}it lacks 'model'"),
        (model_content(pieces=None), f"{NO_MODEL}it lacks 'pieces'"),
        (model_content(architecture=[1]), NO_MODEL),
        (model_content(architecture={"d_model": 8}), NO_MODEL),
        (model_content(architecture=asdict(tiny_model().config) | {"eyes": 2}), NO_MODEL),
        (
            model_content(architecture=asdict(tiny_model().config) | {"num_heads": 3}),
            f"{NO_MODEL}d_model=8 does not split evenly into num_heads=3",
        ),
        (model_content(architecture=asdict(tiny_model().config) | {"d_hidden": 17}), NO_MODEL),
        (model_content(model={}), NO_MODEL),
        (model_content(model={"norm.weight": 3}), NO_MODEL),
        (model_content(model=[torch.ones(3)]), NO_MODEL),
        (model_content(pieces=["a", "b", "a", "d", "e"]), f"{NO_MODEL}the piece 'a' is in the vocabulary tw"),
        (model_content(pieces=["a", "b", 3, "d", "e"]), f"{NO_MODEL}a piece is not text: 3"),
        (model_content(pieces=7), NO_MODEL),
        (model_content(pieces=["a", "b"]), "has 258 tokens, but vectors for 261"),
    ],
)
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
    path.with_name(f"{path.name}.01234567.part").write_text("what a killed run left")
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
    assert sentence(play) == f"{play} already exists, and is not a checkpoint of this course"
    assert play.read_text() == "HAMLET. To be"
    too_much = sentence(tmp_path / "x", 10**18)
    assert re.fullmatch(r".*/x needs 1,000,000,000,000 MB, but only [\d,]+ MB are free", too_much)
    monkeypatch.setattr("tempfile.TemporaryFile", Mock(side_effect=PermissionError(errno.EACCES, "Permission denied")))
    assert sentence(tmp_path / "x") == f"{tmp_path}/x cannot be written: Permission denied"


def test_one_file_for_two_things_is_refused(tmp_path):
    assert checkpoints.check_apart(out=tmp_path / "a", best=tmp_path / "b", export=None, other=None) is None
    with pytest.raises(ValueError, match=r"^.*/x/\.\./a cannot be both out and export$"):
        checkpoints.check_apart(out=tmp_path / "a", best=None, export=f"{tmp_path}/x/../a")


def test_a_fingerprint_tells_numbers_apart():
    ids = torch.arange(10)
    assert checkpoints.digest(ids) == checkpoints.digest(ids.clone())
    assert checkpoints.digest(ids) != checkpoints.digest(ids.flip(0))


# --- the model that comes with the course -------------------------------------------------------------------


def test_the_courses_own_model_is_what_export_makes_of_it(path):
    """So its file holds the model and no more; today's format says more about the architecture."""
    model, vocabulary = checkpoints.load_model()
    checkpoints.export(model, vocabulary, path)
    exported, shipped = checkpoints.load(path), checkpoints.load(checkpoints.SHIPPED)
    assert exported.pop("architecture") == asdict(model.config)
    assert shipped.pop("architecture").items() <= asdict(model.config).items()
    assert same(exported, shipped)
    assert checkpoints.SHIPPED.stat().st_size <= 12e6


def test_the_weights_of_the_courses_own_model_are_those_that_were_trained():
    model, vocabulary = checkpoints.load_model()
    numbers = torch.cat([weight.flatten() for weight in model.state_dict().values()])
    assert len(numbers) == 5_696_752
    assert len(vocabulary) == 4096
    assert checkpoints.digest(numbers.half()) == "920fc62e08a8bc75ee86ddef9b86d2f6b6133dcd5f1b95b3169f061684ca4b2b"


# --- locks --------------------------------------------------------------------------------------------------


def hold(path, ready):
    """A process that writes a file until it is killed."""
    with checkpoints.locked(path):
        ready.put(os.getpid())
        threading.Event().wait()


def test_a_file_that_another_process_writes_is_refused_with_its_number_until_it_dies(path):
    ready = processes.SimpleQueue()
    other = processes.Process(target=hold, args=(path, ready), daemon=True)
    other.start()
    while ready.empty():
        assert other.is_alive()
    sentence = f"^another run, process {other.pid}, is writing {re.escape(str(path))}$"
    with pytest.raises(ValueError, match=sentence), checkpoints.locked(path):
        pass
    with checkpoints.locked(path.with_name("another")):
        other.kill()
    other.join()
    assert Path(f"{path}.lock").exists()
    with checkpoints.locked(path):
        assert Path(f"{path}.lock").read_text() == str(os.getpid())
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("number", [os.getppid(), os.getpid(), ""], ids=["parent", "own", "none"])
def test_a_lock_that_nobody_holds_does_not_count_even_if_a_process_has_its_number_now(path, number):
    Path(f"{path}.lock").write_text(str(number))
    with checkpoints.locked(path):
        pass
    assert os.listdir(path.parent) == []


def test_a_run_that_fails_leaves_no_lock_and_two_files_are_locked_together_or_not_at_all(path):
    other = path.with_name("other")
    with checkpoints.locked(other):
        with pytest.raises(ValueError, match="is writing"), checkpoints.locked(path, other):
            pass
        assert os.listdir(path.parent) == ["other.lock"]
    with pytest.raises(KeyboardInterrupt), checkpoints.locked(path, other):
        raise KeyboardInterrupt
    assert os.listdir(path.parent) == []


def test_what_is_no_lock_of_ours_stays_as_it_is(path):
    theirs = Path(f"{path}.lock")
    theirs.write_text("the lock of another program")
    with pytest.raises(ValueError, match=r"already exists, and is not a lock of"), checkpoints.locked(path):
        pass
    assert theirs.read_text() == "the lock of another program"


def test_a_lock_that_its_holder_has_just_removed_is_none(path, monkeypatch):
    """The other process lets go between our opening of the file and our asking for it."""
    ask = atomic.hold
    monkeypatch.setattr(atomic, "hold", lambda file: Path(f"{path}.lock").unlink() or ask(file))
    with pytest.raises(ValueError, match="has just released"), checkpoints.locked(path):
        pass
    assert os.listdir(path.parent) == []
