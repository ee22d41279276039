"""How the inputs of `from_gpt2` are drawn, and which names, shapes or numbers of the result are wrong."""

import re

import torch

from transformer_lessons.exercises.checker.comparison import alike, close, near
from transformer_lessons.exercises.checker.display import decimals_for, show
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.language import pretrained
from transformer_lessons.running.values import numbers


def draw(generator, layers, d_model, d_hidden, vocabulary, length, prefix="", on="", masks=True):
    """A file of GPT-2's: its names, weights as (in, out), queries, keys and values side by side, causal masks.

    The prefix stands before the names that begin with on.
    """
    parts = {
        "ln_1": (d_model,),
        "attn.c_attn": (d_model, 3 * d_model),
        "attn.c_proj": (d_model, d_model),
        "ln_2": (d_model,),
        "mlp.c_fc": (d_model, d_hidden),
        "mlp.c_proj": (d_hidden, d_model),
    }
    shapes = {f"h.{i}.{part}": shape for i in range(layers) for part, shape in parts.items()} | {"ln_f": (d_model,)}
    tensors = {
        "wte.weight": normal(generator, vocabulary, d_model),
        "wpe.weight": normal(generator, length, d_model),
    }
    for name, shape in shapes.items():
        tensors |= {f"{name}.weight": normal(generator, *shape), f"{name}.bias": normal(generator, shape[-1])}
    mask = torch.ones(1, 1, length, length, dtype=torch.float64).tril()
    tensors |= {f"h.{i}.attn.bias": mask.clone() for i in range(layers) if masks}
    return ({prefix * name.startswith(on) + name: tensor for name, tensor in tensors.items()},)


TOLERANCE = Setup.tolerance  # of the largest number

# What an answer makes of a file: its first fault in words, or the number of entries; and its tensors. These types are
# named so that a verdict can say what has come, and what is expected.
Translated = type("dictionary from names to tensors", (str,), {"__repr__": str.__str__, "tensors": None})
NotTensors = type("dictionary whose values are not all tensors", (dict,), {})
NotNames = type("dictionary whose keys are not all strings", (dict,), {})


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
    translated = Translated(first_fault(made, right) or f"{len(right)} entries, as in the lesson's table")
    translated.tensors = made
    return translated


def first_fault(made, right):
    """In words: an entry missing, one too many, another shape, or other numbers."""
    missing, extra = ([name for name in one if name not in other] for one, other in ((right, made), (made, right)))
    if missing or extra:
        return f"{missing[0]} is missing" if missing else f"{extra[0]} is not expected"
    shapes = [name for name, one in right.items() if made[name].shape != one.shape]
    if shapes:
        return f"{shapes[0]} is {tuple(made[shapes[0]].shape)}, not {tuple(right[shapes[0]].shape)}"
    name = next((name for name, one in right.items() if not close(made[name], one, TOLERANCE)), None)
    if name is None:
        return None
    wrong = ~near(numbers(made[name]), numbers(right[name]), TOLERANCE)
    place = tuple(int(places[0]) for places in wrong.nonzero())
    ours, theirs = made[name][place].item(), right[name][place].item()
    decimals = decimals_for(ours, theirs)
    return f"{name}[{', '.join(map(str, place))}] is {show(ours, decimals)}, not {show(theirs, decimals)}"


def the_numbers_alone(observed, expected, tensors):
    """That only the numbers are wrong, if names and shapes are right."""
    only = isinstance(observed, Translated) and not signs_of_names(observed, expected, tensors)
    return "The names and the shapes are right, but not all of the numbers are." if only else None


def same_entries(made, other):
    """The same names, and the same tensors under them?"""
    both = isinstance(made, Translated) and isinstance(other, Translated)
    return alike(made.tensors, other.tensors, TOLERANCE) if both else made is other


def signs_of_names(observed, expected, tensors):
    """Which entries are missing, not expected, or of another shape."""
    ours, theirs = observed.tensors, expected.tensors
    missing, extra = theirs.keys() - ours.keys(), ours.keys() - theirs.keys()
    width = len(theirs["norm.bias"])
    if any(name.startswith("transformer.") for name in extra):
        return ["the prefix kept"]
    if missing and extra:
        return signs_of_extra_names(ours, missing, extra, tensors, width)
    if missing:
        return [*signs_of_missing_names(missing, theirs), "entries missing"]
    if extra:
        return ["the masks kept"] * all(ours[name].dim() == 4 for name in extra) + ["entries too many"]
    wrong = [name for name, one in theirs.items() if ours[name].shape != one.shape]
    biases = [name for name in theirs if re.search(r"linear_[qkv]\.bias", name)]
    whole = wrong == biases and all(ours[name].shape == (3 * width,) for name in biases)
    thirds = all(re.search(r"linear_[qkv]\.", name) for name in wrong)
    return wrong and [
        *["the bias of c_attn not cut"] * whole,
        *["another shape for queries, keys and values"] * thirds,
        "other shapes",
    ]


KNOWN = ("layers", "embedding", "positions", "norm", "h.", "wte", "wpe", "ln_f")


def signs_of_extra_names(ours, missing, extra, tensors, width):
    """Names that are wrong: c_attn as a whole, letters lost at the end, or nothing known at the beginning."""
    maps = all(re.search(r"attention\.linear_[qkv]\.", name) for name in missing)
    shapes = {tuple(ours[name].shape) for name in extra}
    whole = {(3 * width, width), (width, 3 * width)}
    signs = (
        ("letters lost from the names", any(name.endswith((".weigh", ".bi")) for name in extra)),
        ("c_attn not cut", maps and shapes & whole and shapes <= {*whole, (3 * width,)}),
    )
    bare = {name: one for name, one in tensors.items() if not name.startswith("transformer.")}
    cut = missing == pretrained.from_gpt2(bare).keys() and not any(name.startswith(KNOWN) for name in extra)
    some = 0 < len(bare) < len(tensors)
    prefix = ["the prefix decided once for all names"] * some + ["only with the prefix"]
    first = [name for name, shown in signs if shown][:1] or prefix * cut
    return [*first, "other names", "entries missing", *prefix[1:] * some]


def signs_of_missing_names(missing, theirs):
    """What exactly is missing, if all the other names are right."""
    layers = {name for name in theirs if name.startswith("layers.")}
    last = max((int(name.split(".")[1]) for name in layers), default=0)
    signs = (
        ("nearly everything left out", len(missing) >= len(theirs) - 3),
        ("the positions left out", missing == {"positions.encoding"}),
        ("the layers left out", missing == layers),
        ("the last layer left out", missing == {name for name in layers if name.startswith(f"layers.{last}.")}),
        ("layers from 10 on", missing == {name for name in layers if re.match(r"layers\.\d\d", name)}),
        ("keys and values left out", missing == {name for name in layers if re.search(r"linear_[kv]\.", name)}),
    )
    return [name for name, shown in signs if shown]


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
        {
            "layers": 3,
            "d_model": 4,
            "d_hidden": 6,
            "vocabulary": 4,
            "length": 4,
            "prefix": "transformer.",
            "on": ("h", "ln"),
        },
    ],
    draw=draw,
    observe=by_name,
    same=same_entries,
    symptoms=[the_numbers_alone],
    signs=signs_of_names,
    names_steps=False,
)
