"""The six faults of lesson 10's bug hunt: each breaks one thing, as long as its block lasts."""

import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.inspection import faults
from transformer_lessons.language.chat import END, Conversation
from transformer_lessons.models import Config, LanguageModel
from transformer_lessons.modern import RotaryHalves

SIZES = {"d_model": 24, "num_heads": 6, "num_key_heads": 2, "d_hidden": 16, "num_layers": 2, "max_length": 8}
PARTS = {"rms": True, "gated": True, "rotary": True, "halves": True, "bias": False}
TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LanguageModel(Config(9, **SIZES, **PARTS, base=100_000.0, std=1.0)).eval()


def logits(model):
    with torch.no_grad():
        return model(TOKENS)  # (batch, length, vocabulary)


class Letters:
    """A tokenizer whose every token is a letter; 0 ends an answer."""

    def __init__(self):
        self.special, self.ids = ("<|im_start|>", END), {END: 0}

    def encode(self, text):
        return [1, 2]

    encode_plain = encode

    def decode_stream(self, numbers):
        yield from map(str, numbers)

    def __len__(self):
        return 9


def answer(model):
    """What a conversation gives whose model ends it at once."""
    conversation = Conversation(model, Letters(), temperature=0)
    conversation.next_token = lambda: 0
    return list(conversation.ask("", length=3))


@pytest.mark.parametrize("letter", "ABCDEF")
def test_a_fault_changes_the_logits_or_the_answer_and_leaves_no_trace(model, letter):
    before = logits(model), answer(model)
    with faults.fault(model, letter):
        during = logits(model), answer(model)
    assert torch.equal(during[0], before[0]) == (letter == "D")
    assert (during[1] == before[1]) == (letter != "D")
    after = logits(model), answer(model)
    assert torch.equal(after[0], before[0])
    assert after[1] == before[1]


def test_a_fault_ends_with_its_block_even_where_that_ends_in_an_error(model):
    before = logits(model)
    with pytest.raises(KeyError), faults.fault(model, "E"):
        raise KeyError
    assert torch.equal(logits(model), before)


def test_the_key_heads_in_turn_are_those_of_repeat(model, monkeypatch):
    """The same numbers as if each query head took the key head that `repeat` would give it."""
    with faults.fault(model, "C"):
        expected = logits(model)
    kernel = F.scaled_dot_product_attention

    def with_repeated(query, key, value, *others, enable_gqa):
        assert enable_gqa
        repeated = [heads.repeat(1, query.shape[1] // heads.shape[1], 1, 1) for heads in (key, value)]
        return kernel(query, *repeated, *others)

    monkeypatch.setattr(F, "scaled_dot_product_attention", with_repeated)
    assert torch.allclose(logits(model), expected, atol=1e-5)


def test_the_other_base_is_10000_and_everything_else_stays(model):
    with faults.fault(model, "F"):
        turns = model.layers[1].attention.rotary.turns
    assert torch.equal(turns, RotaryHalves(4, 8, 10_000.0).turns)


def test_an_unknown_letter_is_refused(model):
    with pytest.raises(ValueError, match="letter='G' must be one of A, B, C, D, E, F"), faults.fault(model, "G"):
        pass


def test_the_letters_are_those_of_the_faults_in_the_order_of_the_lesson():
    assert faults.right_letters("AECFBD") == faults.right_letters("aecfbd") == 6
    assert [faults.right_letters(letters) for letters in ("??????", "ABCDEF", "FECABD")] == [0, 2, 4]


def test_other_than_six_letters_are_refused():
    with pytest.raises(ValueError, match="'AECFB' has 5 letters, not one for each of the 6 faults"):
        faults.right_letters("AECFB")
