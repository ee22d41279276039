"""GGUF files: every kind of number becomes what llama.cpp's package makes of it, and no file does any harm."""

import random
import struct
import sys
import zipfile

import gguf
import numpy as np
import pytest
import tiny_gguf
import torch

from transformer_lessons.language import gguf_model
from transformer_lessons.language.gguf_file import GGUFFile, dequantise


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_gguf.write(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def refused(path):
    """The sentence with which a file is refused."""
    with pytest.raises(ValueError, match=r"\S") as error:
        gguf_model.load(path)
    sentence = str(error.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert sentence.startswith(str(path))
    return sentence.removeprefix(f"{path} ")


# --- what is in a file --------------------------------------------------------------------------------------


def test_the_metadata_is_what_was_written(tiny):
    metadata = GGUFFile(tiny).metadata
    for name, value in tiny_gguf.SETTINGS.items():
        assert metadata[name] == (pytest.approx(value) if isinstance(value, float) else value)


def test_metadata_and_tensors_are_those_of_llama_cpps_reader(tiny):
    ours, theirs = GGUFFile(tiny), gguf.GGUFReader(tiny)
    fields = {name: field.contents() for name, field in theirs.fields.items() if not name.startswith("GGUF.")}
    assert ours.metadata == fields
    assert list(ours.stored) == [tensor.name for tensor in theirs.tensors]
    for tensor in theirs.tensors:
        assert torch.equal(ours.tensor(tensor.name), torch.from_numpy(tensor.data.copy()))


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_numbers_of_every_kind_are_those_of_llama_cpps_package(tmp_path, kind):
    file = GGUFFile(tiny_gguf.write(tmp_path / "tiny.gguf", kind=kind))
    kind = gguf.GGMLQuantizationType[kind]
    for name, weight in tiny_gguf.tensors().items():
        if weight.dim() > 1:
            weight = torch.from_numpy(gguf.dequantize(gguf.quantize(weight.numpy(), kind), kind))
        assert torch.equal(file.tensor(name), weight)


@pytest.mark.parametrize(
    "name", ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "IQ2_XS", "TQ1_0", "MXFP4"]
)
def test_numbers_of_kinds_that_only_other_programs_write_are_also_those_of_llama_cpps_package(tmp_path, name):
    kind = gguf.GGMLQuantizationType[name]
    block, size = gguf.GGML_QUANT_SIZES[kind]
    data = np.random.default_rng(0).integers(0, 64, (3, 2 * size), dtype=np.uint8)  # below 64, scales are finite
    beginning = header(1, rest=described(sizes=(2 * block, 3), kind=kind))
    (tmp_path / "x").write_bytes(beginning + bytes(-len(beginning) % 32) + data.tobytes())
    weights = GGUFFile(tmp_path / "x").tensor("x")
    assert weights.shape == (3, 2 * block)
    assert torch.equal(weights, torch.from_numpy(gguf.dequantize(data, kind)))


def test_a_block_of_q4_1_is_a_scale_times_numbers_plus_a_minimum():
    nibbles = torch.arange(16, dtype=torch.uint8)[None] + 16 * torch.arange(15, -1, -1, dtype=torch.uint8)
    weights = dequantise(torch.tensor([[0.5]]), torch.tensor([[-1.0]]), nibbles)
    numbers = torch.tensor([[*range(16), *range(15, -1, -1)]])
    assert torch.equal(weights, 0.5 * numbers - 1)


# --- what is no such file, or a damaged one -----------------------------------------------------------------


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path):
    assert refused(tmp_path / "nothing.gguf") == "cannot be read: No such file or directory"
    assert refused(tmp_path).startswith("cannot be read: ")


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"", "is not a GGUF file"),
        (b"GGUF", "is not a GGUF file"),
        (b"GGML1234", "is not a GGUF file"),
        (b"version https://git-lfs", "is a Git LFS pointer, not the file: run git lfs pull"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "is compressed: unpack it first"),
        (b"GGUF\1\0\0\0", "is a GGUF file of version 1: only 2 and 3 are known here"),
        (b"GGUF\0\0\0\3", "is a GGUF file of version 50331648: only 2 and 3 are known here"),
    ],
)
def test_what_does_not_begin_like_a_gguf_file_gets_a_sentence(tmp_path, start, said):
    (tmp_path / "x").write_bytes(start)
    assert refused(tmp_path / "x") == said


def test_a_zip_in_the_place_of_a_gguf_file_is_told_apart(tmp_path, tiny):
    with zipfile.ZipFile(tmp_path / "x.gguf", "w") as archive:
        archive.write(tiny)
    assert refused(tmp_path / "x.gguf") == "is compressed: unpack it first"


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.5, 0.999])
def test_a_file_that_was_cut_off_ends_too_early(tmp_path, tiny, share):
    data = tiny.read_bytes()
    (tmp_path / "x").write_bytes(data[: int(share * len(data))])
    assert "is damaged: it " in "is " + refused(tmp_path / "x").removeprefix("is ")


HUGE = 2**63


def header(tensors=0, entries=0, rest=b""):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, entries) + rest


def text(content):
    return struct.pack("<Q", len(content)) + content


def described(name=b"x", sizes=(1,), kind=0, offset=0):
    return text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, offset)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (header(tensors=HUGE), f"it cannot hold {HUGE:,} tensors"),
        (header(entries=HUGE), f"it cannot hold {HUGE:,} entries"),
        (header(entries=1, rest=struct.pack("<Q", HUGE) + bytes(99)), r"it ends [\d,]+ bytes too early"),
        (header(entries=1, rest=text(b"a") + struct.pack("<IIQ", 9, 8, HUGE)), f"it cannot hold {HUGE:,} texts"),
        (header(entries=1, rest=text(b"a") + struct.pack("<IIQ", 9, 0, HUGE)), f"it cannot hold {HUGE:,} numbers"),
        (header(entries=1, rest=text(b"a") + struct.pack("<IIQ", 9, 9, 1)), "a list in it is of kind 9, .*"),
        (header(entries=1, rest=text(b"a") + struct.pack("<IQ", 99, 1)), "a value in it is of kind 99, .*"),
        (header(entries=1, rest=text(b"\xff") + struct.pack("<IQ", 4, 1)), "a text in it is not UTF-8"),
        (header(entries=2, rest=2 * (text(b"a") + struct.pack("<II", 4, 1))), "two entries have the same name"),
        (header(1, rest=described(sizes=(HUGE,))), r"it ends [\d,]+ bytes too early, within 'x'"),
        (header(1, rest=described(sizes=(2**40, 2**40))), r"it ends [\d,]+ bytes too early, within 'x'"),
        (header(1, rest=described(offset=HUGE)), r"it ends [\d,]+ bytes too early, within 'x'"),
        (header(1, rest=described(sizes=(0,))), r"'x' \(0,\) does not split into blocks of 1"),
        (header(1, rest=described(sizes=(33,), kind=2)), r"'x' \(33,\) does not split into blocks of 32"),
        (header(1, rest=described(sizes=(1,) * 9)), "'x' has 9 dimensions"),
        (header(2, rest=2 * described()), "two entries have the same name"),
        (
            header(9, rest=b"".join(described(b"%d" % n, sizes=(32,)) for n in range(9)) + bytes(160)),
            "its tensors overlap",
        ),
    ],
)
def test_no_size_in_a_file_is_believed(tmp_path, content, said):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=f"is damaged: {said}$"):
        gguf_model.load(tmp_path / "x")


@pytest.mark.parametrize("kind", [4, 38, 9999])
def test_an_unknown_kind_of_number_is_named(tmp_path, kind):
    (tmp_path / "x").write_bytes(header(1, rest=described(kind=kind)))
    assert refused(tmp_path / "x") == f"has 'x' in kind {kind}, which gguf does not know"


def test_a_kind_that_gguf_cannot_turn_into_numbers_is_named(tmp_path):
    weights = tiny_gguf.tensors()
    path = tiny_gguf.write(tmp_path / "x", weights)
    data = path.read_bytes()
    before = described(b"output_norm.weight", (tiny_gguf.D_MODEL,))[:-8]
    assert data.count(before) == 1
    path.write_bytes(data.replace(before, before[:-4] + struct.pack("<I", gguf.GGMLQuantizationType.I32)))
    assert refused(path) == "has output_norm.weight in I32, which gguf cannot read"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0", "Q4_1"])
def test_a_number_that_is_not_finite_is_refused(tmp_path, number, kind):
    weights = tiny_gguf.tensors()
    weights["blk.1.ffn_up.weight"][5, 7] = number
    with np.errstate(all="ignore"):
        path = tiny_gguf.write(tmp_path / "x", weights, kind)
    assert refused(path) == "is damaged: blk.1.ffn_up.weight holds a number that is not finite"


def test_a_name_from_a_file_cannot_fill_the_screen_or_command_the_terminal(tmp_path):
    (tmp_path / "x").write_bytes(header(1, rest=described(b"\x1b[2J\n" + 5000 * b"y", sizes=(0,))))
    assert "\x1b" not in refused(tmp_path / "x")


def test_of_200_files_with_random_damage_each_is_read_or_refused_in_a_sentence(tmp_path, tiny):
    data, draw = tiny.read_bytes(), random.Random(0)
    before, refusals = peak_memory(), []
    beginning = len(data) - sum(4 * weight.numel() for weight in tiny_gguf.tensors().values())
    for number in range(200):
        damaged = bytearray(data)
        for _ in range(draw.choice([1, 1, 4, 50])):
            place = draw.randrange(beginning if number % 4 else len(data))
            damaged[place] = draw.choice([0, 1, 8, 9, 127, 255, draw.randrange(256)])
        if number % 5 == 0:
            del damaged[draw.randrange(len(data)) :]
        if number % 7 == 0:
            place = draw.randrange(beginning)
            damaged[place : place + 8] = struct.pack("<Q", draw.choice([HUGE, 2**32, 2**20, 0]))
        (tmp_path / "x").write_bytes(damaged)
        try:
            gguf_model.load(tmp_path / "x")
        except ValueError as error:
            refusals.append(str(error))
    assert 50 < len(refusals) < 200
    for sentence in refusals:
        assert sentence.startswith(str(tmp_path / "x"))
        assert "\n" not in sentence
        assert len(sentence) < 400
    assert peak_memory() < before + 300  # a size that was believed would be gigabytes


def peak_memory():
    """The most that this process has used, in megabytes; where the system does not tell, 0."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
