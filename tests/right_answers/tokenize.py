"""Right answers to tokenize, each in a style of its own."""

import itertools
import re

import numpy as np

from transformer_lessons.exercises.catalogue.tokenize import exercise


@exercise.right("words or no words")
def words_or_no_words(text):
    return re.findall(r"\w+|\W+", text)


@exercise.right("what is no word, captured")
def captured(text):
    return list(filter(None, re.split(r"(\W+)", text)))


@exercise.right("groups of neighbours")
def groups_of_neighbours(text):
    groups = itertools.groupby(text, key=lambda character: character.isalnum() or character == "_")
    return ["".join(group) for _, group in groups]


@exercise.right("character by character")
def character_by_character(text):
    tokens, last = [], None
    for character in text:
        word = re.match(r"\w", character) is not None
        if word == last:
            tokens[-1] += character
        else:
            tokens.append(character)
        last = word
    return tokens


@exercise.right("between the places of the boundaries")
def between_boundaries(text):
    places = [0, *(match.start() for match in re.finditer(r"\b", text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(places) if start < end]


@exercise.right("one token, then the rest")
def one_then_the_rest(text):
    tokens = []
    while text:
        tokens.append(re.match(r"\w+|\W+", text).group())
        text = text[len(tokens[-1]) :]
    return tokens


@exercise.right("in NumPy")
def tokens_in_numpy(text):
    word = np.array([bool(re.fullmatch(r"\w", character)) for character in text])
    places = np.flatnonzero(word[1:] != word[:-1]) + 1
    return [np.str_(text[a:b]) for a, b in itertools.pairwise([0, *places, len(text)]) if text]
