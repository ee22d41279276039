"""Theorems about the invented play: a text has one derivation, so a probability; the floor is their mean."""

import hashlib
import math
import re
from itertools import combinations, pairwise, product

import pytest

from transformer_lessons.language.tokenization import tokenize
from transformer_lessons.tasks import mock_play
from transformer_lessons.tasks.mock_play import (
    LINE_END,
    MANNER,
    SCENE,
    SLOT,
    SPEAKERS,
    SPEECH_END,
    TABLES,
    expect,
    floor,
    write,
)

EVERY_TABLE = TABLES | {
    "scene": SCENE,
    "speakers": SPEAKERS,
    "manner": MANNER,
    "line's end": LINE_END,
    "speech's end": SPEECH_END,
}


# --- a reader, written from the layout and not from the writer ----------------------------------------------


def pattern(template):
    """A template as a regular expression, in which each slot is a group."""
    parts = re.split(SLOT, template)
    slots = [f"({'|'.join(map(re.escape, TABLES[name]))})" for name in parts[1::2]]
    literal = [re.escape(part) for part in parts[0::2]]
    return "".join(a + b for a, b in zip(literal, [*slots, ""], strict=True))


def readings(table, text):
    """The probability of each way in which a table can have given a text."""
    probabilities = []
    for choice, p in table.items():
        if match := re.fullmatch(pattern(choice), text):
            drawn = zip(re.findall(SLOT, choice), match.groups(), strict=True)
            probabilities.append(p * math.prod(TABLES[name][word] for name, word in drawn))
    return probabilities


def only(probabilities):
    assert len(probabilities) == 1
    return probabilities[0]


def read_scene(text):
    """The factors of a scene's probability, each from the only reading that there is."""
    act, scene, entrance, *speeches, end, nothing = text.split("\n\n")
    assert (end, nothing) == ("[Exeunt.]", "")
    turns = re.fullmatch(r"\[Enter (\w+) and (\w+)\.\]", entrance).groups()
    factors = [only(readings(SCENE, f"{act}\n\n{scene}\n\n")), SPEAKERS[turns]]
    for number, speech in enumerate(speeches):
        speaker, body = speech.split(".\n", 1)
        assert speaker == turns[number % 2]
        manner = re.match(r"(\[\w+\.\] )?", body)[0]
        factors.append(MANNER[manner])
        lines = re.findall(r"([^\n]+?)([,;]\n|[.!]$)", body[len(manner) :])
        assert "".join(line + mark for line, mark in lines) == body[len(manner) :]
        for line, mark in lines:
            factors.append(only(readings(TABLES["line"], line)))
            factors.append(LINE_END[mark if "\n" in mark else mark + "\n\n"])
        factors.append(SPEECH_END["" if number < len(speeches) - 1 else "[Exeunt.]\n\n"])
    return factors


def scenes_of(text):
    return re.findall(r"ACT .*?\[Exeunt\.\]\n\n", text, re.DOTALL)


# --- what is written ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_reader_who_knows_only_the_tables_finds_the_same_probability(seed):
    text, log_probability = write(20, seed)
    scenes = scenes_of(text)
    assert "".join(scenes) == text
    assert len(scenes) == 20
    factors = [factor for scene in scenes for factor in read_scene(scene)]
    assert sum(map(math.log, factors)) == pytest.approx(log_probability, rel=1e-12)


def words_at(template):
    """The words that each place of a template can hold."""
    return [set(fill(part)) for part in template.split(" ")]


def fill(part):
    slot = re.search(SLOT, part)
    return [part.replace(slot[0], word) for word in TABLES[slot[1]]] if slot else [part]


@pytest.mark.parametrize(("one", "other"), list(combinations(TABLES["line"], 2)))
def test_no_line_can_come_from_two_templates(one, other):
    ones, others = words_at(one), words_at(other)
    assert len(ones) != len(others) or any(not a & b for a, b in zip(ones, others, strict=True))


def test_two_templates_that_could_give_the_same_line_would_be_noticed():
    ones, others = words_at("I {hold} thy {noun}"), words_at("I {hold} thy {matter}")
    assert any(not a & b for a, b in zip(ones, others, strict=True))
    assert all(a & b for a, b in zip(ones, words_at("I break thy {noun}"), strict=True))


def test_all_probabilities_of_a_scene_add_up_to_one():
    for name, table in EVERY_TABLE.items():
        assert sum(table.values()) == pytest.approx(1, abs=1e-12), name
        assert all(0 < p <= 1 for p in table.values()), name


def test_every_name_in_braces_is_a_table_and_every_table_is_used():
    choices = [str(choice) for table in EVERY_TABLE.values() for choice in table]
    named = {name for choice in choices for name in re.findall(SLOT, choice)}
    assert named == set(TABLES) - {"line"}


def test_the_same_seed_writes_the_same_play_and_another_seed_another():
    assert write(5, seed=7) == write(5, seed=7)
    assert len({write(1, seed)[0] for seed in range(20)}) == 20
    digest = hashlib.sha256(write(50, seed=0)[0].encode()).hexdigest()
    assert digest.startswith("e902dc7a"), "other Pythons must write the same play"


def test_more_scenes_go_on_where_fewer_end():
    short, of_short = write(3, seed=1)
    long, of_long = write(4, seed=1)
    assert long.startswith(short)
    assert of_long < of_short < 0


def test_the_play_has_the_layout_of_the_book():
    text, _ = write(100, seed=0)
    paragraphs = text.split("\n\n")
    assert sum(bool(re.fullmatch(r"ACT [IV]+", part)) for part in paragraphs) == 100
    assert sum(bool(re.fullmatch(r"SCENE [IV]+\. .+\.", part)) for part in paragraphs) == 100
    assert sum(bool(re.match(r"[A-Z]+\.\n\S", part)) for part in paragraphs) == len(paragraphs) - 401
    assert paragraphs[-1] == ""
    assert not re.search(r"\n{3}| \n|[_\t]", text)


def test_a_small_vocabulary_writes_it_all():
    text, _ = write(500, seed=0)
    assert 150 <= len({token for token in tokenize(text) if token.isalpha()}) <= 250


def test_two_speakers_take_turns():
    for scene in scenes_of(write(200, seed=0)[0]):
        names = re.findall(r"^([A-Z]+)\.$", scene, re.MULTILINE)
        assert set(pairwise(names)) <= set(SPEAKERS)
        assert f"[Enter {names[0]} and " in scene


@pytest.mark.parametrize(("wrong", "kind"), [(0, ValueError), (-1, ValueError), (2.0, TypeError)])
def test_scenes_that_are_no_whole_number_from_one_are_refused(wrong, kind):
    with pytest.raises(kind, match=f"^scenes={wrong} "):
        write(wrong, seed=0)


# --- the floor ----------------------------------------------------------------------------------------------


def test_the_expectation_of_a_line_is_the_mean_over_all_its_words():
    small = {"I {beneath} {number}": 0.25, "O {number}": 0.75}
    bits = characters = 0
    for a, b in product(TABLES["beneath"], TABLES["number"]):
        p = 0.25 / len(TABLES["beneath"]) / len(TABLES["number"])
        bits, characters = bits - p * math.log2(p), characters + p * len(f"I {a} {b}")
    for b in TABLES["number"]:
        p = 0.75 / len(TABLES["number"])
        bits, characters = bits - p * math.log2(p), characters + p * len(f"O {b}")
    assert expect(small) == pytest.approx([bits, characters], rel=1e-12)


def test_the_floor_of_a_play_with_few_scenes_is_exact(monkeypatch):
    for name, only_choice in [("MANNER", ""), ("LINE_END", ".\n\n"), ("SPEECH_END", "[Exeunt.]\n\n")]:
        monkeypatch.setattr(mock_play, name, {only_choice: 1.0})
    for name in set(TABLES) - {"number"}:
        monkeypatch.setitem(TABLES, name, dict.fromkeys(list(TABLES[name])[:1], 1.0))
    scenes = {write(1, seed) for seed in range(2000)}
    assert len(scenes) == 5 * 5 * 4  # an act, a scene, and who begins
    assert all(p == pytest.approx(-math.log(100)) for _, p in scenes)
    assert floor() == pytest.approx(math.log2(100) / (sum(len(text) for text, _ in scenes) / 100), rel=1e-12)


def z_score(scenes, rate):
    """How many standard errors the surprise of independent scenes is away from a rate in bits per character."""
    surplus = [-p / math.log(2) - rate * len(text) for text, p in scenes]
    mean = sum(surplus) / len(surplus)
    return mean / math.sqrt(sum((each - mean) ** 2 for each in surplus)) * len(surplus)


def test_what_is_written_is_as_surprising_as_the_floor_says():
    scenes = [write(1, seed) for seed in range(2000)]
    assert abs(z_score(scenes, floor())) < 2.5
    assert z_score(scenes, floor() * 0.99) > 3  # a floor that is 1 % off would be noticed
    assert z_score(scenes, floor() * 1.01) < -3


def test_long_plays_lie_close_to_the_floor_and_on_either_side_of_it():
    ratios = [-p / math.log(2) / len(text) / floor() for text, p in (write(400, seed) for seed in range(6))]
    assert all(abs(ratio - 1) < 0.006 for ratio in ratios)
    assert abs(sum(ratios) / len(ratios) - 1) < 0.002
    assert min(ratios) < 1 < max(ratios)


def test_a_floor_computed_from_other_tables_is_another(monkeypatch):
    before = floor()
    monkeypatch.setitem(mock_play.TABLES, "noun", {"heart": 1.0})
    assert floor() < before
