"""The model in the browser computes what PyTorch computes. Where there is Node, it runs here; its page is used by
tests/proofs/live_browser.py.
"""

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch

from transformer_lessons.inspection import live
from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.inspection.experiments import ablated, logit_lens, residual_stream
from transformer_lessons.language import checkpoints
from transformer_lessons.language.byte_pairs import BytePairs
from transformer_lessons.language.sampling import sample_next
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.models import Config, LanguageModel
from transformer_lessons.tools import model_commands

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
TEXTS = [
    "ROMEO.\nBut soft! What light",
    "naïve café ½ x_1 π—“quoted”",
    "  two\n\n\tlines \U0001f600",
    "",
    "don't 42nd ²",
]
WORDS = re.findall(r"\w+", "thou art more lovely and temperate rough winds do shake the darling buds of may shall I")


def ask(model, vocabulary, folder, **asked):
    """What the model in JavaScript answers, from a file in half precision."""
    path = folder / "model.safetensors"
    checkpoints.export(model, vocabulary, path)
    script = Path(__file__).with_name("live.js")
    answer = subprocess.run(
        [NODE, script, live.LIVE, path], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout), *checkpoints.load_model(path)


def prompts(number):
    """Prompts of one to twelve words."""
    generator = torch.Generator().manual_seed(4)
    rows = [torch.randint(len(WORDS), (1 + place % 12,), generator=generator) for place in range(number)]
    return [" ".join(WORDS[word] for word in row.tolist()) for row in rows]


def test_the_classes_in_javascript_have_the_names_of_those_in_python():
    names = re.findall(r"^ +class (\w+)", live.source("model.js"), re.MULTILINE)
    assert len(names) > 4
    assert set(names) <= {type(module).__name__ for module in some_model(True, False, "abc").modules()}


def test_of_an_empty_line_is_said_what_the_model_reads_in_its_place():
    script = live.source("live.js")
    assert r"vocabulary.encode(words.trim() ? words : '\n\n')" in script
    assert "'The line is empty, so the model reads two new lines in its place. Type something, or" in script


@needs_node
def test_the_shipped_model_gives_pytorchs_logits_for_prompts_of_any_length_and_its_greedy_text(tmp_path):
    model, vocabulary = checkpoints.load_model()
    answer, model, vocabulary = ask(model, vocabulary, tmp_path, prompts=prompts(12), write="O Romeo,", length=40)
    with torch.no_grad():
        for prompt, step in zip(prompts(12), answer["steps"], strict=True):
            expected = model(torch.tensor([vocabulary.encode(prompt)]))[0, -1]
            torch.testing.assert_close(torch.tensor(step["logits"]), expected, atol=1e-3, rtol=0)
        ids = torch.tensor([vocabulary.encode("O Romeo,")])
        expected = [*vocabulary.encode("O Romeo,")]
        cached = model_commands.sampling.generate_tokens(model, ids, 40, temperature=0)
        expected += [token.item() for token in cached]
    assert answer["written"] == expected


def some_model(rotary, gated, vocabulary):
    torch.manual_seed(3)
    model = LanguageModel(Config(len(vocabulary), 12, 3, 20, 2, max_length=64, rotary=rotary, gated=gated))
    for parameter in model.parameters():  # nothing may be hidden by a bias of 0 or a gain of 1
        torch.nn.init.normal_(parameter, std=0.4)
    return model


@needs_node
@pytest.mark.parametrize(("rotary", "gated"), [(True, True), (True, False), (False, True), (False, False)])
def test_any_language_model_gives_the_same_logits_weights_lens_and_silenced_logits(rotary, gated, tmp_path):
    vocabulary = Vocabulary.of_words("the cat sat on the mat, and the dog sat too. " * 3, 300)
    text, heads = "the dog sat on the cat", [[0, 2], [1]]
    model = some_model(rotary, gated, vocabulary)
    asked = {"prompts": [text], "silent": {"text": text, "heads": heads}}
    answer, model, vocabulary = ask(model, vocabulary, tmp_path, **asked)
    ids, step = torch.tensor([vocabulary.encode(text)]), answer["steps"][0]
    with torch.no_grad():
        torch.testing.assert_close(torch.tensor(step["logits"]), model(ids)[0, -1], atol=1e-4, rtol=1e-5)
        weights = torch.stack([layer[0, :, -1] for layer in attention_weights(model, ids).values()])
        torch.testing.assert_close(torch.tensor(step["weights"]), weights, atol=1e-5, rtol=0)
        lens = logit_lens(residual_stream(model, ids), model.norm, model.embedding.weight)[:, 0, -1]
        torch.testing.assert_close(torch.tensor(step["lens"]), lens, atol=1e-4, rtol=1e-5)
        with ablated(model, {f"layers.{layer}.attention": numbers for layer, numbers in enumerate(heads)}):
            silenced = model(ids)[0, -1]
    torch.testing.assert_close(torch.tensor(answer["silent"]), silenced, atol=1e-4, rtol=1e-5)


VOCABULARIES = {
    "words": Vocabulary.of_words("the cat sat on the mat, café. " * 3, 290),
    "characters": Vocabulary.of_characters("".join(TEXTS[:2])),
    "byte pairs": BytePairs.of_text("the cat sat on the mat, and the dog don't. " * 9, 300, special=["<|end|>"]),
}


@needs_node
@pytest.mark.parametrize("vocabulary", VOCABULARIES.values(), ids=VOCABULARIES)
def test_the_same_text_becomes_the_same_tokens_and_comes_back(vocabulary, tmp_path):
    texts = [*TEXTS, "the cat<|end|>sat"]
    answer, _, _ = ask(some_model(True, True, vocabulary), vocabulary, tmp_path, texts=texts)
    assert answer["encoded"] == [vocabulary.encode(text) for text in texts]
    assert answer["decoded"] == texts


@needs_node
def test_temperature_and_top_k_give_the_chances_that_sample_next_draws_from(tmp_path):
    logits = torch.randn(30, generator=torch.Generator().manual_seed(2))
    cases = [(1.0, None), (0.5, None), (2.0, 5), (0.0, None), (1.0, 1)]
    asked = [[logits.tolist(), temperature, top_k] for temperature, top_k in cases]
    vocabulary = VOCABULARIES["words"]
    answer, _, _ = ask(some_model(True, True, vocabulary), vocabulary, tmp_path, chances=asked)
    many = logits.expand(20_000, -1)
    for (temperature, top_k), chances in zip(cases, answer["chances"], strict=True):
        drawn = sample_next(many, temperature, top_k, torch.Generator().manual_seed(5)).bincount(minlength=30) / 20_000
        torch.testing.assert_close(torch.tensor(chances, dtype=torch.float32), drawn, atol=0.012, rtol=0)


def test_the_transformer_takes_about_150_lines():
    lines = live.source("model.js").splitlines()
    assert 120 <= len(lines) <= 160
    assert max(map(len, lines)) <= 130


def test_the_scripts_bring_the_file_back_in_order():
    data = bytes(range(256)) * 10_000
    scripts = live.weight_scripts(data)
    parts = [re.fullmatch(r'.*push\("([\w+/=]+)"\);\n', script)[1] for script in scripts]
    assert len(parts) == 3
    assert b"".join(map(base64.b64decode, parts)) == data


def test_show_makes_one_file_that_asks_for_nothing_and_holds_the_model(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vocabulary = VOCABULARIES["words"]
    checkpoints.export(some_model(True, True, vocabulary), vocabulary, "run.safetensors")
    assert model_commands.exit_code(model_commands.show, ["run.safetensors", "--title", "Mine <3"]) in (0, None)
    assert "run.html" in capsys.readouterr().out
    page = Path("run.html").read_text(encoding="utf-8")
    assert "<h1>Mine &lt;3</h1>" in page
    assert not re.search(r"(?:src|href)=|https?:|@import|url\(|<!--", page)


@pytest.mark.parametrize("name", ["missing.safetensors", "notes.txt"])
def test_show_refuses_what_is_no_model_in_a_sentence(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("not a model", encoding="utf-8")
    assert model_commands.exit_code(model_commands.show, [name]) == 1
    assert name in capsys.readouterr().err


def test_a_run_can_be_shown_as_well_as_an_exported_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("the cat sat on the mat. " * 200, encoding="utf-8")
    options = ["--text", "text.txt", "--last-tenth", "--tokens", "characters", "--layers", "1", "--heads", "2"]
    options += ["--d-model", "8", "--length", "8", "--steps", "2", "--batch-size", "2", "--quiet"]
    assert model_commands.exit_code(model_commands.train, [*options, "--out", "run.safetensors"]) in (0, None)
    assert model_commands.exit_code(model_commands.show, ["run.safetensors"]) in (0, None)
    assert Path("run.html").stat().st_size > 20_000
