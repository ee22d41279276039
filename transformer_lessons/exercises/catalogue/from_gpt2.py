"""from_gpt2, of lesson 10: the tensors of a published GPT-2, under the course's names and in its layout."""

import re

import torch

from transformer_lessons.exercises.checker.comparison import close, near
from transformer_lessons.exercises.checker.display import decimals_for, show
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.exercises.checker.values import numbers
from transformer_lessons.language import pretrained


def draw(generator, layers, d_model, d_hidden, vocabulary, length, prefix="", masks=True):
    """A file of GPT-2's: its names, weights as (in, out), queries, keys and values side by side, causal masks."""
    shapes = {"wte.weight": (vocabulary, d_model), "wpe.weight": (length, d_model)}
    for i in range(layers):
        shapes |= {
            f"h.{i}.ln_1": (d_model,),
            f"h.{i}.attn.c_attn": (d_model, 3 * d_model),
            f"h.{i}.attn.c_proj": (d_model, d_model),
            f"h.{i}.ln_2": (d_model,),
            f"h.{i}.mlp.c_fc": (d_model, d_hidden),
            f"h.{i}.mlp.c_proj": (d_hidden, d_model),
        }
    tensors = {}
    for name, shape in (shapes | {"ln_f": (d_model,)}).items():
        if name.endswith("weight"):
            tensors[name] = normal(generator, *shape)
        else:
            tensors |= {f"{name}.weight": normal(generator, *shape), f"{name}.bias": normal(generator, shape[-1])}
    if masks:
        mask = torch.ones(1, 1, length, length, dtype=torch.float64).tril()
        tensors |= {f"h.{i}.attn.bias": mask.clone() for i in range(layers)}
    return ({prefix + name: tensor for name, tensor in tensors.items()},)


TOLERANCE = 2e-5  # of the largest number, as everywhere


class Translated(str):
    """What an answer makes of a file: its first fault in words, or the number of entries; and its tensors."""

    def __new__(cls, text, tensors):
        made = super().__new__(cls, text)
        made.tensors = tensors
        return made

    def __repr__(self):
        return str(self)


Translated.__name__ = "dictionary from names to tensors"  # so that a verdict can say that one is expected


class NotTensors(dict):
    """The values are not all tensors, but arrays, for example."""


class NotNames(dict):
    """Tensors whose keys are not all names."""


NotTensors.__name__ = "dictionary whose values are not all tensors"
NotNames.__name__ = "dictionary whose keys are not all strings"


def by_name(call, tensors):
    """What an answer makes of a file, with its first fault: an entry missing or too many, a shape, or numbers."""
    right, made = pretrained.from_gpt2(tensors), call(tensors)
    if not isinstance(made, dict):
        return made
    if not all(isinstance(one, torch.Tensor) for one in made.values()):
        return NotTensors(made)
    if not all(isinstance(name, str) for name in made):
        return NotNames(made)
    if any(one.is_meta for one in made.values()):
        return made
    made = {name: made[name].detach().to_dense().double().clone() for name in sorted(made)}
    return Translated(first_fault(made, right) or f"{len(right)} entries, as in the lesson's table", made)


def first_fault(made, right):
    if missing := [name for name in right if name not in made]:
        return f"{missing[0]} is missing"
    if extra := [name for name in made if name not in right]:
        return f"{extra[0]} is not expected"
    for name, one in right.items():
        if made[name].shape != one.shape:
            return f"{name} is {tuple(made[name].shape)}, not {tuple(one.shape)}"
    for name, one in right.items():
        if not close(made[name], one, TOLERANCE):
            wrong = ~near(numbers(made[name]), numbers(one), TOLERANCE)
            place = tuple(int(places[0]) for places in wrong.nonzero())
            ours, theirs = made[name][place].item(), one[place].item()
            decimals = decimals_for(ours, theirs)
            return f"{name}[{', '.join(map(str, place))}] is {show(ours, decimals)}, not {show(theirs, decimals)}"
    return None


def the_numbers_alone(observed, expected, tensors):
    """That only the numbers are wrong, if names and shapes are right."""
    if isinstance(observed, Translated) and not signs_of_names(observed, expected, tensors):
        return "The names and the shapes are right, but not all of the numbers are."
    return None


def same_entries(made, other):
    """The same names, and the same tensors under them?"""
    if not isinstance(made, Translated) or not isinstance(other, Translated):
        return made is other
    return made.tensors.keys() == other.tensors.keys() and all(
        close(one, other.tensors[name], TOLERANCE) for name, one in made.tensors.items()
    )


def signs_of_names(observed, expected, tensors):
    """Which entries are missing, not expected, or of another shape."""
    if not isinstance(observed, Translated):
        return []
    ours, theirs = observed.tensors, expected.tensors
    missing, extra = theirs.keys() - ours.keys(), ours.keys() - theirs.keys()
    if any(name.startswith("transformer.") for name in extra):
        return ["the prefix kept"]
    width = len(theirs["norm.bias"])
    if missing and extra:
        return [*signs_of_extra_names(ours, missing, extra, tensors, width), "other names", "entries missing"]
    if extra:
        masks = all(ours[name].dim() == 4 for name in extra)
        return [*(["the masks kept"] if masks else []), "entries too many"]
    if missing:
        return [*signs_of_missing_names(missing, theirs), "entries missing"]
    wrong = [name for name, one in theirs.items() if ours[name].shape != one.shape]
    biases = [name for name in theirs if re.search(r"linear_[qkv]\.bias", name)]
    whole = wrong == biases and all(ours[name].shape == (3 * width,) for name in biases)
    thirds = all(re.search(r"linear_[qkv]\.", name) for name in wrong)
    return wrong and [
        *(["the bias of c_attn not cut"] if whole else []),
        *(["another shape for queries, keys and values"] if thirds else []),
        "other shapes",
    ]


KNOWN = ("layers", "embedding", "positions", "norm", "h.", "wte", "wpe", "ln_f")


def signs_of_extra_names(ours, missing, extra, tensors, width):
    """Names that are wrong: c_attn as a whole, letters lost at the end, or nothing known at the beginning."""
    if any(name.endswith((".weigh", ".bi")) for name in extra):
        return ["letters lost from the names"]
    maps = all(re.search(r"attention\.linear_[qkv]\.", name) for name in missing)
    shapes = {tuple(ours[name].shape) for name in extra}
    whole = {(3 * width, width), (width, 3 * width)}
    if maps and shapes & whole and shapes <= {*whole, (3 * width,)}:
        return ["c_attn not cut"]
    unknown = not any(name.startswith(KNOWN) for name in ours)
    return ["only with the prefix"] if unknown and not any(name.startswith("transformer.") for name in tensors) else []


def signs_of_missing_names(missing, theirs):
    """What exactly is missing, if all the other names are right."""
    layers = {name for name in theirs if name.startswith("layers.")}
    last = max((int(name.split(".")[1]) for name in layers), default=0)
    return [
        mistake
        for mistake, lost in (
            ("nearly everything left out", len(missing) >= len(theirs) - 3),
            ("the positions left out", missing == {"positions.encoding"}),
            ("the layers left out", missing == layers),
            ("the last layer left out", missing == {name for name in layers if name.startswith(f"layers.{last}.")}),
            ("keys and values left out", missing == {name for name in layers if re.search(r"linear_[kv]\.", name)}),
        )
        if lost
    ]


setup = Setup(
    sizes=[
        {
            "layers": 1,
            "d_model": 2,
            "d_hidden": 3,
            "vocabulary": 5,
            "length": 4,
            "prefix": "transformer.",
            "masks": False,
        },
        {"layers": 2, "d_model": 3, "d_hidden": 3, "vocabulary": 4, "length": 5},
        {"layers": 14, "d_model": 2, "d_hidden": 8, "vocabulary": 7, "length": 3},
        {"layers": 3, "d_model": 4, "d_hidden": 6, "vocabulary": 4, "length": 4, "prefix": "transformer."},
    ],
    draw=draw,
    observe=by_name,
    same=same_entries,
    symptoms=(the_numbers_alone,),
    signs=signs_of_names,
    names_steps=False,
)
