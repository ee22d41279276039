"""Theorems about an NVIDIA GPU: it computes what the processor computes. Without one they are skipped."""

import copy
from dataclasses import replace

import pytest
import torch
from kill import tiny_data, tiny_model

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.language import checkpoints, sampling, training
from transformer_lessons.language.muon import Muon
from transformer_lessons.models import Config, LanguageModel, Transformer
from transformer_lessons.tools import model_commands

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no NVIDIA GPU here")
RECIPE = training.Recipe(steps=12, batch_size=2, length=8, evaluate_every=5, save_every=3)
LLAMA = {"rms": True, "gated": True, "rotary": True, "halves": True, "bias": False, "tied": False}
LANGUAGE_MODELS = {
    "language model": lambda: LanguageModel(Config(11, 12, 3, 10, 2, 9, dropout=0.0, rotary=True, gated=True)),
    "GPT-2": lambda: LanguageModel(Config(11, 12, 3, 10, 2, 9, gelu=True)),
    "Llama": lambda: LanguageModel(Config(11, 12, 6, 10, 2, 9, num_key_heads=2, **LLAMA)),
}
ALL = pytest.mark.parametrize("make", LANGUAGE_MODELS.values(), ids=LANGUAGE_MODELS)
IN_FLOAT32 = 1e-5  # Llama's norms and turns are in float32, on every device


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def assert_same(here, there, tolerance=1e-10):
    assert there.is_cuda
    torch.testing.assert_close(there.cpu(), here, rtol=0, atol=tolerance)


@ALL
def test_a_language_model_gives_the_same_logits_and_gradients(make):
    here = make().double()
    there, tokens = copy.deepcopy(here).cuda(), torch.randint(11, (4, 7))
    logits = here(tokens), there(tokens.cuda())
    exact = make is not LANGUAGE_MODELS["Llama"]
    assert_same(*logits, 1e-10 if exact else IN_FLOAT32)
    for one in logits:
        one.square().sum().backward()
    for mine, other in zip(here.parameters(), there.parameters(), strict=True):
        assert_same(mine.grad, other.grad, 1e-9 if exact else 100 * IN_FLOAT32)


def test_a_transformer_gives_the_same_logits_and_writes_the_same():
    here = Transformer(11, 13, d_model=12, num_heads=3, d_hidden=10, num_layers=2, max_length=9, pad_id=3).double()
    there = copy.deepcopy(here.eval()).cuda()
    source, target = torch.randint(4, 11, (4, 8)), torch.randint(4, 13, (4, 7))
    source[1, -2:] = target[2, -3:] = 3
    assert_same(here(source, target), there(source.cuda(), target.cuda()))
    assert_same(here.generate(source, 1, 9), there.generate(source.cuda(), 1, 9))


def test_attention_equals_pytorchs_on_the_gpu():
    ours = MultiHeadAttention(12, 3, dropout=0.0).double().cuda()
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64, device="cuda")
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.linear_q.weight, ours.linear_k.weight, ours.linear_v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.linear_q.bias, ours.linear_k.bias, ours.linear_v.bias]))
        theirs.out_proj.weight.copy_(ours.linear_out.weight)
        theirs.out_proj.bias.copy_(ours.linear_out.bias)
    x = torch.randn(4, 7, 12, dtype=torch.float64, device="cuda")
    mask = torch.ones(7, 7, dtype=torch.bool, device="cuda").tril()
    for mine, other in zip(
        ours(x, x, x, mask), theirs(x, x, x, attn_mask=~mask, average_attn_weights=False), strict=True
    ):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-10)


@ALL
def test_a_cache_on_the_gpu_writes_what_the_processor_writes(make):
    here = make().double()
    there, tokens = copy.deepcopy(here).cuda(), torch.randint(11, (4, 3))
    written = [
        torch.stack(list(sampling.generate_tokens(model, start, length=20, temperature=0)))
        for model, start in ((here, tokens), (there, tokens.cuda()))
    ]
    assert_same(*written)


def test_a_step_of_muon_is_the_same():
    here = LANGUAGE_MODELS["language model"]().double()
    there, tokens = copy.deepcopy(here).cuda(), torch.randint(11, (4, 7))
    for model in (here, there):
        optimizer = training.make_optimizer(model, replace(RECIPE, optimizer="muon"))
        assert isinstance(optimizer, Muon)
        for _ in range(3):
            optimizer.zero_grad()
            model(tokens.to(model.embedding.weight.device)).square().sum().backward()
            optimizer.step()
    for mine, other in zip(here.parameters(), there.parameters(), strict=True):
        assert_same(mine.detach(), other.detach(), 1e-8)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_resumed_run_ends_as_one_left_alone(tmp_path, optimizer):
    recipe = replace(RECIPE, optimizer=optimizer, precision="float32")
    whole = training.train(tiny_model().cuda(), tiny_data(), recipe, quiet=True)
    stopped, keep = tmp_path / "stopped", training.Run.keep

    def stop_after_six(self, asked):
        keep(self, asked)
        if self.progress.step == 6:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.Run, "keep", stop_after_six)
        with pytest.raises(KeyboardInterrupt):
            training.train(tiny_model().cuda(), tiny_data(), recipe, stopped, quiet=True)
    other = tiny_model(seed=1).cuda()  # whose weights the checkpoint replaces
    resumed = training.train(other, tiny_data(), recipe, stopped, quiet=True)
    assert resumed.losses == pytest.approx(whole.losses, abs=1e-5)
    assert len(resumed.losses) == 12


def test_the_command_trains_there_and_its_model_writes_on_the_processor(tmp_path, capsys):
    (tmp_path / "text").write_text("the cat sat on the mat and the dog sat on the cat. " * 60, encoding="utf-8")
    sizes = ["--layers", "1", "--d-model", "16", "--length", "16", "--steps", "20", "--tokens", "characters"]
    text, file = str(tmp_path / "text"), str(tmp_path / "small.safetensors")
    model_commands.train(["--text", text, "--last-tenth", *sizes, "--device", "cuda", "--export", file, "--quiet"])
    assert "bits per character" in capsys.readouterr().out
    model, vocabulary = checkpoints.load_model(file)
    assert not model.embedding.weight.is_cuda
    assert sampling.generate(model, vocabulary, "the ", 8, seed=1)
