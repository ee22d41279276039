"""An invented play whose entropy is known: a corpus on which a model's loss can be checked against the truth.

The writer draws from the tables below and nothing else, so it knows the probability of every choice. Any
text can arise in only one way, so its probability is the product of the probabilities of its choices.
"""

import math
import random
import re

import numpy as np

from transformer_lessons.validation import check_sizes


def equally(words):
    """A table in which each of these words has the same probability."""
    return dict.fromkeys(words.split(), 1 / len(words.split()))


SLOT = r"\{(\w+)\}"
# A table gives each choice its probability. A name in braces stands for a word drawn from another table.
# Every line has ten or eleven syllables, with the beat on the second, fourth, sixth, eighth and tenth.
TABLES = {
    "line": {
        "The {adjective} {noun} doth {hold} my {adjective} {noun}": 1 / 4,
        "Thy {thing} {rest}s {beneath} the {adjective} {noun}": 1 / 8,
        "I {hold} thy {noun}, and thou shalt {hold} my {noun}": 1 / 8,
        "O {adjective} {noun}, thou shalt not {hold} my {noun}": 1 / 8,
        "No {noun} of {matter} {hold}s thy {adjective} {noun}": 1 / 8,
        "My {noun} is {adjective} as the {noun} of {matter}": 1 / 8,
        "Then {hold} thy {noun}, and let the {thing} {rest}": 1 / 8,
    },
    "adjective": equally(
        "gentle weary silver crooked hollow bitter golden merry broken secret humble wanton quiet sullen "
        "purple frozen hungry lonely noble painted ragged restless scarlet simple tender thirsty velvet "
        "wicked winding withered wooden youthful"
    ),
    "noun": equally(
        "heart moon sword crown rose ghost thorn flame bell ship king fool wind grave star tear book cup "
        "dream drum gate glass hand harp hawk horse lamp leaf oath ring song wolf"
    ),
    "thing": equally(
        "river lantern garden raven mirror tower castle harbour willow falcon candle feather temple meadow "
        "chamber fountain"
    ),
    "matter": equally(
        "sorrow winter silence honour thunder summer fortune mercy glory midnight treason slumber laughter "
        "envy wonder twilight"
    ),
    "hold": equally("hide break keep haunt find drown burn mock heal wound guard bend steal warm greet hold"),
    "rest": equally("sleep weep sing wait bleed turn fall dance wake rest drift fade kneel roam glow call"),
    "beneath": equally("beneath above beside beyond within upon against behind"),
    "number": equally("I II III IV V"),
}
# Each scene comes from some act of some play: its numbers are drawn, so nothing needs to be counted.
SCENE = {"ACT {number}\n\nSCENE {number}. The {adjective} {thing}.\n\n": 1.0}
# The same two always take turns: whoever spoke last determines who speaks next.
SPEAKERS = {
    ("ALDRIC", "MELISANDE"): 1 / 4,
    ("MELISANDE", "ALDRIC"): 1 / 4,
    ("BERENGAR", "ROWENA"): 1 / 4,
    ("ROWENA", "BERENGAR"): 1 / 4,
}
MANNER = {"": 3 / 4, "[Aside.] ": 1 / 8, "[Weeping.] ": 1 / 8}
LINE_END = {",\n": 3 / 8, ";\n": 1 / 8, ".\n\n": 3 / 8, "!\n\n": 1 / 8}  # an empty line ends the speech
SPEECH_END = {"": 7 / 8, "[Exeunt.]\n\n": 1 / 8}  # a direction ends the scene


def write(scenes, seed):
    """Scenes, and the natural logarithm of their probability."""
    check_sizes(scenes=scenes)
    pen = Pen(seed)
    text = "".join(pen.scene() for _ in range(scenes))
    return text, pen.log_probability


class Pen:
    """Draws choices and keeps track of their probability."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.log_probability = 0.0

    def draw(self, table):
        choice = self.random.choices(list(table), list(table.values()))[0]
        self.log_probability += math.log(table[choice])
        return choice

    def phrase(self, table):
        """A choice, with each name in braces replaced by a word from its table."""
        return re.sub(SLOT, lambda slot: self.draw(TABLES[slot[1]]), self.draw(table))

    def speech(self, speaker):
        text = f"{speaker}.\n" + self.draw(MANNER)
        while not text.endswith("\n\n"):
            text += self.phrase(TABLES["line"]) + self.draw(LINE_END)
        return text

    def scene(self):
        text = self.phrase(SCENE)
        speaker, other = self.draw(SPEAKERS)
        text += f"[Enter {speaker} and {other}.]\n\n"
        while not text.endswith("[Exeunt.]\n\n"):
            text += self.speech(speaker) + self.draw(SPEECH_END)
            speaker, other = other, speaker
        return text


# --- the floor ----------------------------------------------------------------------------------------------


def floor():
    """The play's entropy in bits per character: no model can do better on an endless play.

    Scenes are drawn independently, so this is a scene's expected bits divided by its expected characters. What
    ends with probability p each time happens 1 / p times on average; each speaker goes first half the time.
    """
    lines = 1 / sum(p for end, p in LINE_END.items() if end.endswith("\n\n"))
    speeches = 1 / SPEECH_END["[Exeunt.]\n\n"]
    names = {f"{speaker}.\n": p for (speaker, _), p in SPEAKERS.items()}
    entrance = {f"[Enter {first} and {second}.]\n\n": p for (first, second), p in SPEAKERS.items()}
    line = expect(TABLES["line"]) + expect(LINE_END)
    speech = [0, expect(names)[1]] + expect(MANNER) + lines * line + expect(SPEECH_END)
    scene = expect(SCENE) + expect(entrance) + speeches * speech
    return float(scene[0] / scene[1])


def expect(table):
    """The expected bits and characters of a choice, including what is drawn for its braces."""
    total = np.zeros(2)
    for choice, p in table.items():
        own = [-math.log2(p), len(re.sub(SLOT, "", choice))]
        total += p * sum((expect(TABLES[name]) for name in re.findall(SLOT, choice)), np.array(own))
    return total
