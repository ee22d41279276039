"""Right answers to sinusoidal_encoding, each in a style of its own."""

import cmath
import math

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.sinusoidal_encoding import count, exercise


@exercise.right("number by number")
def number_by_number(length, d_model):
    return torch.tensor(
        [
            [
                math.sin(p / 10000 ** (c / d_model)) if c % 2 == 0 else math.cos(p / 10000 ** ((c - 1) / d_model))
                for c in range(d_model)
            ]
            for p in range(length)
        ]
    )


@exercise.right("with exp and log, in float32")
def with_exp_and_log(length, d_model):
    frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.outer(torch.arange(length).float(), frequency)
    encoding = torch.zeros(length, d_model)
    encoding[:, ::2], encoding[:, 1::2] = angles.sin(), angles.cos()
    return encoding


@exercise.right("in NumPy")
def in_numpy(length, d_model):
    exponents = 2 * (np.arange(d_model) // 2) / d_model
    angles = np.arange(length)[:, np.newaxis] / np.power(10000, exponents)
    angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
    return torch.from_numpy(angles)


@exercise.right("as complex numbers")
def as_complex_numbers(length, d_model):
    angles = count(length)[:, None] * torch.logspace(0, -4 + 8 / d_model, d_model // 2, dtype=torch.float64)
    turned = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flip(-1).reshape(length, d_model)


@exercise.right("by turning step by step")
def by_turning(length, d_model):
    steps = [cmath.exp(1j * 10000 ** (-2 * i / d_model)) for i in range(d_model // 2)]
    hands, rows = [1 + 0j] * len(steps), []
    for _ in range(length):
        rows.append([part for hand in hands for part in (hand.imag, hand.real)])
        hands = [hand * step for hand, step in zip(hands, steps, strict=True)]
    return torch.tensor(rows)


@exercise.right("a cosine is a sine, a quarter turn ahead")
def quarter_turn(length, d_model):
    column = torch.arange(d_model)
    frequency = 0.0001 ** ((column - column % 2) / d_model)
    return torch.sin(torch.arange(length).unsqueeze(1) * frequency + column % 2 * math.pi / 2)
