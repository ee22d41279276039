"""Playgrounds are small, carry all that they need, and start from what their pictures show.

What they compute is proven in a real browser, by tests/proofs/playgrounds_browser.py.
"""

import json
import re
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer_lessons.inspection import playgrounds
from transformer_lessons.language import checkpoints
from transformer_lessons.language.gguf_tokenizer import PublishedBytePairs
from transformer_lessons.language.splitting import single_bytes

NAMES = ["drag_the_query", "match_the_key", "widen_the_vectors", "turn_the_hands", "draw_the_mask"]
NAMES += ["average_the_vectors", "merge_the_pairs", "fill_the_cache", "accept_the_draft"]
NAMES += ["split_the_question", "level_the_features", "bend_the_chances", "share_the_keys", "follow_the_copy"]
PAGES = Path(playgrounds.__file__).with_name("pages")


@pytest.fixture(params=NAMES, scope="module")
def playground(request):
    return getattr(playgrounds, request.param)()


def name_of(playground):
    return next(name for name in NAMES if (PAGES / f"{name}.js").read_text(encoding="utf-8")[:60] in playground.html)


def test_a_playground_asks_for_nothing_from_elsewhere_and_names_no_ids(playground):
    page = playground.html.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert "http" not in page
    assert " id=" not in page
    assert "<!--" not in page


def test_a_playgrounds_page_holds_its_data(playground):
    held = re.search(r'(?s)<script type="application/json">(.*?)</script>', playground.html)[1]
    assert json.loads(held) == playground.data


def test_a_playground_is_the_same_each_time(playground):
    assert getattr(playgrounds, name_of(playground))().html == playground.html


def test_a_notebook_shows_the_picture_first_and_where_no_script_runs_there_are_words(playground, monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: shown.append(what))
    playground._ipython_display_()
    assert shown[0] is playground.picture
    assert shown[1]["text/html"] == playground.html
    assert len(re.search('<p class="unmoved">(.*?)</p>', playground.html)[1]) > 60


def test_the_script_finds_its_page_from_inside_and_from_beside_it_as_in_vs_code(playground):
    assert playground.html.count("document.currentScript") == 2
    inside, beside = "closest('.playground')", "parentElement.querySelector('.playground')"
    end = f"}})(document.currentScript.{inside} ?? document.currentScript.{beside});\n</script>\n</div>"
    assert playground.html.rstrip("\n").endswith(end)


def test_a_playground_is_dark_or_light_as_the_editor_is_and_not_as_the_system(playground):
    for told in ("data-jp-theme-light", "data-theme", "data-vscode-theme-kind"):
        assert f"[{told}" in playground.html


def test_a_playground_takes_less_than_320_lines_with_its_frame(playground):
    own = f"{name_of(playground)}.js"
    shared = ["names.js"] * ("nameAll(" in (PAGES / own).read_text(encoding="utf-8"))
    files = ("frame.html", "colours.css", *shared, own)
    lines = [len((PAGES / file).read_text(encoding="utf-8").splitlines()) for file in files]
    assert sum(lines) < 320
    assert len(playground.html) < 40_000


def test_a_playground_declares_no_name_that_its_frame_has_declared(playground):
    frame, page = ((PAGES / name).read_text(encoding="utf-8") for name in ("frame.html", f"{name_of(playground)}.js"))
    declared = [re.findall(r"(?m)^  (?:const|let|function) (\w+)", code) for code in (frame, page)]
    more = re.findall(r"(?m)^  let .*?, (\w+) = ", page)
    assert set(declared[0]).isdisjoint(declared[1] + more)


def test_with_a_published_tokenizer_the_pair_of_lowest_rank_is_merged_first():
    merges = [("a", "t"), ("Ġ", "c"), ("Ġc", "at")]  # a lone "c" and "at" have no rank
    tokens = [chr(byte) for byte in range(33, 127)] + ["Ġ", *map("".join, merges)]
    tokenizer = PublishedBytePairs(tokens, merges, special=(), single_digits=True)
    parts = [single_bytes(word) for word in tokenizer.cut("cat cat")]
    assert playgrounds.pairs_by_rank(parts, tokenizer.ranks) == [(b"a", b"t"), (b" ", b"c"), (b" c", b"at")]
    packed = np.frombuffer(b64decode(playgrounds.packed(tokenizer.ranks)), dtype="<u2").tolist()
    assert packed == [ord("a"), ord("t"), ord(" "), ord("c"), 257, 256]
    playground = playgrounds.merge_the_pairs(tokenizer, "cat cat")
    assert playground.title == "7 bytes become 3 tokens after 3 merges"
    assert playground.data["digits"]


def test_what_is_saved_of_a_distribution_gives_the_models_chances():
    model, vocabulary = checkpoints.load_model()
    prompt = playgrounds.candidates(model, vocabulary, "God save the ")
    with torch.no_grad():
        logits = model(torch.tensor([vocabulary.encode("God save the ")]))[0, -1].double()
    for temperature in (0.5, 1.0, 2.0):
        found = np.array(playgrounds.chances_of(prompt, temperature))
        expected = (logits / temperature).softmax(-1).sort(descending=True).values.numpy()
        assert len(found) == len(vocabulary)
        assert np.abs(found - expected).max() < 0.005
        assert abs(found[12:].sum() - expected[12:].sum()) < 0.005


def test_with_rms_norm_the_same_page_shows_both_norms():
    both = playgrounds.level_the_features("LayerNorm", "RMSNorm")
    assert both.data["norms"] == ["LayerNorm", "RMSNorm"]
    assert "After RMSNorm: 0.18, 0.89, 1.07, 1.43." in both.html
