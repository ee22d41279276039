"""from_gpt2, of lesson 10: the tensors of a published GPT-2, under the course's names and in its layout."""

import re
from itertools import permutations

import torch

from transformer_lessons.exercises.checker.comparison import close, decimals_for, near, numbers, show
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


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
    right, made = Translation()(tensors), call(tensors)
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
        if not close(made[name], one, exercise.tolerance):
            wrong = ~near(numbers(made[name]), numbers(one), exercise.tolerance)
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
        close(one, other.tensors[name], exercise.tolerance) for name, one in made.tensors.items()
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


exercise = Exercise(
    name="from_gpt2",
    lesson=10,
    title="Someone else's weights",
    difficulty=3,
    importance=2,
    minutes=20,
    contract="""from_gpt2(tensors) takes a dictionary that maps the tensor names of a published GPT-2 to tensors. It
        returns a dictionary that maps the course's names to tensors, following the table in the lesson. A name may
        begin with `transformer.`, which is dropped. GPT-2 stores the weights of linear maps as (in, out); the course
        stores them as (out, in). `c_attn` holds queries, keys and values in this order: as thirds of the columns of
        its weight, and as thirds of its bias. The causal masks `h.0.attn.bias`, `h.1.attn.bias`, … are left out.
        tensors itself stays as it was.""",
    stub='''
        def from_gpt2(tensors):
            """Convert {GPT-2's name: tensor} to {the course's name: tensor}."""
            raise NotImplementedError''',
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
    reference=lambda tensors: Translation()(tensors),
    observe=by_name,
    same=same_entries,
    symptoms=(the_numbers_alone,),
    signs=signs_of_names,
    names_steps=False,
    hints=[
        (
            "the names",
            "Drop the prefix, skip the masks, and replace the parts of a name one by one. Note that "
            "`attn.c_proj` and `mlp.c_proj` get different names. Only the names of the masks end in `.attn.bias` "
            "(the dot before attn matters).",
        ),
        (
            "the layout",
            "F.linear multiplies by the transpose of its weight, but GPT-2's code multiplies by the "
            "weight as it is. So you have to transpose the weights of all linear maps, even the square one, but not "
            "the two tables, wte and wpe.",
        ),
        (
            "queries, keys and values",
            "The weight of c_attn has shape (d_model, 3 d_model). chunk(3, dim=-1) "
            "splits both it and its bias into three. Then transpose the three weights.",
        ),
    ],
    solution="""
        def from_gpt2(tensors):
            parts = {"h.": "layers.", "ln_1": "norm_1", "ln_2": "norm_2", "ln_f": "norm", "wte": "embedding",
                     "wpe.weight": "positions.encoding", "attn.c_proj": "attention.linear_out",
                     "mlp.c_fc": "feed_forward.linear_in", "mlp.c_proj": "feed_forward.linear_out"}
            found = {}
            for name, tensor in tensors.items():
                name = name.removeprefix("transformer.")
                if name.endswith(".attn.bias"):
                    continue
                if ".c_" in name and name.endswith("weight"):
                    tensor = tensor.T
                for theirs, ours in parts.items():
                    name = name.replace(theirs, ours)
                if "c_attn" in name:
                    for part, one in zip("qkv", tensor.chunk(3), strict=True):
                        found[name.replace("attn.c_attn", f"attention.linear_{part}")] = one
                else:
                    found[name] = tensor
            return found""",
)

NAMES = {
    "ln_1": "norm_1",
    "ln_2": "norm_2",
    "attn.c_attn": "attention.linear_",
    "attn.c_proj": "attention.linear_out",
    "mlp.c_fc": "feed_forward.linear_in",
    "mlp.c_proj": "feed_forward.linear_out",
}
TOP = {
    "wte.weight": "embedding.weight",
    "wpe.weight": "positions.encoding",
    "ln_f.weight": "norm.weight",
    "ln_f.bias": "norm.bias",
}


@exercise.right("step by step")
class Translation(Steps):
    def __call__(self, tensors):
        found = {}
        for name, tensor in self.kept(tensors).items():
            if name in TOP:
                found[self.top(name)] = self.table(name, tensor)
                continue
            _, number, part, last = re.fullmatch(r"(h)\.(\d+)\.(.+)\.(weight|bias)", name).groups()
            ours = f"layers.{number}.{self.part(part)}"
            if part == "attn.c_attn":
                for letter, one in self.named(self.cut(tensor, last)):
                    found[f"{ours}{letter}.{last}"] = self.turned(one, part) if last == "weight" else one
            else:
                found[f"{ours}.{last}"] = self.turned(tensor, part) if tensor.dim() == 2 else tensor
        return self.finished(found)

    def kept(self, tensors):
        kept = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
        return {name: tensor for name, tensor in kept.items() if not name.endswith(".attn.bias")}

    def top(self, name):
        return TOP[name]

    def table(self, name, tensor):
        return tensor

    def part(self, part):
        return NAMES[part]

    def named(self, pieces):
        return zip(self.letters(), pieces, strict=True)

    def letters(self):
        return "qkv"

    def cut(self, tensor, last):
        return tensor.chunk(3, dim=-1)

    def turned(self, tensor, part):
        return tensor.T

    def finished(self, found):
        return found


def linear(part):
    return part in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")


# The layout
mistake = exercise.section(hint=2)
mistake(
    "the square weight not transposed",
    why="The weight of attn.c_proj, or every square weight, is left as (in, "
    "out). A square weight loads without an error, but the model then writes nonsense.",
    look="how many linear maps does a layer of GPT-2 have, and how many do you transpose?",
    turned=[
        lambda right, tensor, part: tensor if part == "attn.c_proj" else right,
        lambda right, tensor: tensor if tensor.shape[0] == tensor.shape[1] else right,
        lambda right, tensor, part: tensor if tensor.shape[0] == tensor.shape[1] and part != "attn.c_attn" else right,
    ],
)
mistake(
    "nothing transposed",
    why="GPT-2 stores its weights as (in, out), and the course as (out, in), but none of yours is transposed.",
    look="the shape of `layers.0.feed_forward.linear_in.weight`: is it (out, in)?",
    turned=lambda tensor: tensor,
)
mistake(
    "the weights of attention not transposed",
    pairs=2,
    why="The weights of attention, or only those of queries, "
    "keys and values, are left as (in, out). Once cut, they are square, so they load without an error.",
    look="how many linear maps does a layer of GPT-2 have, and how many do you transpose?",
    turned=[
        lambda right, tensor, part: tensor if part.startswith("attn") else right,
        lambda right, tensor, part: tensor if part == "attn.c_attn" else right,
    ],
)
mistake(
    "the weights of the feed-forward not transposed",
    why="One or both of the feed-forward weights are left as (in, out).",
    look="the shape of each feed-forward weight: is it (out, in)?",
    turned=[
        lambda right, tensor, part: tensor if part.startswith("mlp") else right,
        lambda right, tensor, part: tensor if part == "mlp.c_fc" else right,
        lambda right, tensor, part: tensor if part == "mlp.c_proj" else right,
    ],
)
mistake(
    "reshaped, not transposed",
    why="`view` or `reshape` gives some or all of the weights the right shape, but "
    "keeps the numbers in their old order, so these weights are not transposed.",
    look="reshape a (2, 3) tensor of 0 … 5 to (3, 2), and compare the result with the tensor's transpose.",
    turned=[
        lambda tensor: tensor.reshape(tensor.shape[::-1]),
        *(
            lambda right, tensor, part, name=name: (
                tensor.reshape(tensor.shape[::-1]) if part.startswith(name) else right
            )
            for name in ("mlp", "mlp.c_fc", "mlp.c_proj")
        ),
        lambda right, tensor, part: right if part == "attn.c_attn" else tensor.reshape(tensor.shape[::-1]),
    ],
    variants=[
        {
            "turned": lambda tensor: tensor.reshape(tensor.shape[::-1]),
            "cut": lambda right, tensor: (
                list(tensor.reshape(3 * len(tensor), len(tensor)).chunk(3)) if tensor.dim() == 2 else right
            ),
        }
    ],
)
mistake(
    "the tables transposed",
    why="The embedding table, the position table or both are transposed as well. A table "
    "is not a linear map: it has a row for each token or position.",
    look="what layout does the lesson give for wte and wpe?",
    table=[
        lambda tensor: tensor.T if tensor.dim() == 2 else tensor,
        lambda name, tensor: tensor.T if name == "wte.weight" else tensor,
        lambda name, tensor: tensor.T if name == "wpe.weight" else tensor,
    ],
)
mistake(
    "tables transposed, and not the maps",
    pairs=0,
    why="The embedding table, the position table or both are "
    "transposed, and the weights of the linear maps are not. It should be the other way round.",
    look="which of the weights does GPT-2 keep as (in, out)?",
    variants=[
        {
            "turned": lambda tensor: tensor,
            "table": lambda name, tensor, names=names: tensor.T if name in names else tensor,
        }
        for names in (("wte.weight", "wpe.weight"), ("wte.weight",), ("wpe.weight",))
    ],
)


def centred(tensor, dim=-1):
    return tensor - tensor.mean(dim, keepdim=True)


mistake(
    "the embeddings centred",
    pairs=2,
    why="A mean is subtracted from the embeddings, the positions or both, as "
    "TransformerLens may do when it loads a model. In this exercise all the numbers should stay as they are.",
    look="every `mean` and every subtraction.",
    table=[
        lambda tensor, name: tensor if name.startswith("ln") else centred(tensor),
        lambda tensor, name: centred(tensor) if name == "wte.weight" else tensor,
        lambda tensor, name: centred(tensor) if name == "wpe.weight" else tensor,
    ],
    finished=lambda found: {
        name: centred(one)
        if name[0] in "ep" or name.endswith("linear_out.bias")
        else centred(one, 0)
        if name.endswith("linear_out.weight")
        else one
        for name, one in found.items()
    },
)

# Queries, keys and values
mistake = exercise.section(hint=3)
SIDE = "c_attn.weight is (d_model, 3 d_model). Along which dimension do queries, keys and values lie side by side?"
mistake(
    "queries, keys and values in another order",
    pairs=5,
    why="c_attn holds queries, keys and values in this order; your code takes them in a different order.",
    look="which third of c_attn goes to linear_q?",
    letters=[lambda letters=letters: letters for letters in ("kqv", "qvk", "vkq", "kvq", "vqk")],
)
ROWS = lambda tensor: tensor.chunk(3)  # noqa: E731
ROWS_TURNED = lambda tensor: tensor.T.chunk(3, -1) if tensor.dim() == 2 else tensor.chunk(3)  # noqa: E731
mistake(
    "cut along the other dimension",
    why="The weight of c_attn is cut along the dimension of its inputs, not that of its outputs.",
    look=SIDE,
    cut=[
        ROWS,
        ROWS_TURNED,
        lambda right, tensor, last: (
            right if last == "bias" else [tensor[part * len(tensor) :][: len(tensor)] for part in range(3)]
        ),
    ],
    variants=[
        {"cut": cut, "named": lambda pieces: zip("qkv", pieces, strict=False)}
        for cut in (ROWS, ROWS_TURNED, lambda right, tensor, last: right if last == "bias" else [tensor])
    ],
)
mistake(
    "reshaped before the cut",
    pairs=2,
    why="The weight of c_attn is reshaped before it is cut. A reshape keeps "
    "the numbers in their old order, so queries, keys and values are mixed.",
    look=SIDE,
    cut=[
        lambda right, tensor: list(tensor.reshape(3, -1, tensor.shape[0]).unbind(0)) if tensor.dim() == 2 else right,
        lambda right, tensor: (
            list(tensor.reshape(3 * len(tensor), len(tensor)).chunk(3)) if tensor.dim() == 2 else right
        ),
    ],
)
mistake(
    "reshaped to three squares",
    pairs=0,
    why="The weight of c_attn is reshaped into three squares, but a reshape "
    "keeps the numbers in their old order. Each square should be cut out by its columns and then transposed.",
    look=SIDE,
    variants=[
        {
            "cut": lambda right, tensor: list(tensor.reshape(3, *2 * tensor.shape[:1])) if tensor.dim() == 2 else right,
            "turned": lambda right, tensor, part: tensor if part == "attn.c_attn" else right,
        }
    ],
)
mistake(
    "thirds that begin one apart",
    pairs=0,
    why="The three slices of c_attn begin at 0, 1 and 2, so they overlap. Each should begin where the one before ends.",
    look="at which column do the keys begin in c_attn, and at which in your code?",
    cut=lambda tensor: [tensor[..., part : part + tensor.shape[-1] // 3] for part in range(3)],
)
mistake(
    "every third column",
    pairs=1,
    why="Every third column is taken, but queries, keys and values do not take turns column by column.",
    look=SIDE,
    cut=lambda tensor: [tensor[..., start::3] for start in range(3)],
)
mistake(
    "the bias of queries for all three",
    pairs=1,
    why="Queries, keys and values all get the bias of the queries.",
    look="how is the bias of c_attn cut?",
    cut=lambda right, last: right if last == "weight" else [right[0]] * 3,
)
mistake(
    "the biases in another order",
    pairs=0,
    why="The biases of queries, keys and values are mixed up, but their weights are not.",
    look="how is the bias of c_attn cut?",
    cut=[
        lambda right, last, order=order: right if last == "weight" else [right[place] for place in order]
        for order in permutations(range(3))
        if order != (0, 1, 2)
    ],
)
mistake(
    "the first third for all three",
    pairs=1,
    why="Queries, keys and values all get the first third of c_attn.",
    look="which columns of c_attn should go to linear_k, and which do?",
    cut=lambda right: [right[0]] * 3,
)
mistake(
    "the bias of c_attn not cut",
    pairs=0,
    why="The weight of c_attn is cut, but its bias is not: queries, keys and values all get the whole of it.",
    look="what happens to `c_attn.bias` in your code?",
    cut=lambda right, tensor, last: right if last == "weight" else [tensor] * 3,
)
mistake(
    "another shape for queries, keys and values",
    pairs=0,
    why="The weights or biases of queries, keys and values do not have the right shape.",
    look="how wide is each piece that you cut from c_attn, and is the weight already transposed at that line?",
    cut=[
        lambda tensor: in_short_thirds(tensor),
        lambda right, tensor, last: right if last == "bias" else in_short_thirds(tensor),
    ],
)


def in_short_thirds(tensor):
    """Each only a third of d_model wide; a bias is cut correctly."""
    third = len(tensor) // 3
    return [tensor[..., part * third : (part + 1) * third] for part in range(3)]


mistake(
    "c_attn not cut",
    pairs=0,
    why="c_attn comes back as one weight of three times the width; the course has a "
    "map for queries, one for keys and one for values.",
    look="the names with `linear_` in the lesson's table. And if "
    "you wrote a width as a number, such as 768, is it right for every model?",
    variants=[
        {"letters": lambda letter=letter: [letter], "cut": lambda tensor: [tensor]}
        for letter in ("qkv", "q", "attn", "in")
    ],
)

# The names
mistake = exercise.section(hint=1)


def without(words):
    return lambda found: {name: one for name, one in found.items() if not any(word in name for word in words)}


mistake(
    "the norms exchanged",
    why="ln_1 becomes norm_2, and ln_2 becomes norm_1. Both have the same shape, so there is no error.",
    look="which of the two norms comes before attention?",
    part=lambda right, part: {"ln_1": "norm_2", "ln_2": "norm_1"}.get(part, right),
)
mistake(
    "the two c_proj mixed up",
    why="There are two maps called c_proj: one in attention and one in the "
    "feed-forward. You have swapped them, or given both the same name.",
    look="what comes before `.c_proj` in each name?",
    part=[
        lambda right, part: {"attn.c_proj": NAMES["mlp.c_proj"], "mlp.c_proj": NAMES["attn.c_proj"]}.get(part, right),
        lambda right, part: NAMES["mlp.c_proj"] if part == "attn.c_proj" else right,
        lambda right, part: NAMES["attn.c_proj"] if part == "mlp.c_proj" else right,
    ],
)
mistake(
    "the maps of the feed-forward exchanged",
    why="mlp.c_fc, which widens, becomes linear_out, and mlp.c_proj, which narrows, becomes linear_in.",
    look="compare the shapes of the two maps of a feed-forward.",
    part=lambda right, part: {"mlp.c_fc": NAMES["mlp.c_proj"], "mlp.c_proj": NAMES["mlp.c_fc"]}.get(part, right),
)
mistake(
    "the tables exchanged",
    why="wte, the embedding table, becomes the position table, and wpe becomes the embedding table.",
    look="what do the t in wte and the p in wpe stand for?",
    top=lambda right, name: {"wte.weight": "positions.encoding", "wpe.weight": "embedding.weight"}.get(name, right),
)
mistake(
    "the prefix kept",
    why="Some or all of the names still have `transformer.` at the beginning.",
    look="what does your code make of `transformer.wte.weight` and of `transformer.h.0.ln_1.weight`?",
    variants=[
        {
            "__call__": lambda right, tensors: {
                ("transformer." if any(one.startswith("transformer.") for one in tensors) else "") + name: tensor
                for name, tensor in right.items()
            }
        }
    ],
)
ERRORS = (KeyError, ValueError, IndexError, AttributeError, TypeError, AssertionError)


def right_or(error, right, fits):
    if not fits:
        raise error
    return right


mistake(
    "only with the prefix",
    pairs=0,
    why="Your code handles only names that begin with `transformer.`, but the "
    "file on the hub has names without this prefix.",
    look="what does your code do with names such as `wte.weight` and `h.0.ln_1.weight`?",
    variants=[
        {
            "__call__": lambda right, tensors: (
                {name[12:]: tensor for name, tensor in tensors.items()}
                and (right if all(name.startswith("transformer.") for name in tensors) else {})
            )
        },
        *(
            {
                "__call__": lambda right, tensors, error=error: right_or(
                    error, right, all(name.startswith("transformer.") for name in tensors)
                )
            }
            for error in ERRORS
        ),
    ],
)


def with_masks(right, tensors, name="layers.{}.attention.bias", which=".*"):
    masks = {key: one for key, one in tensors.items() if one.dim() == 4 and re.fullmatch(which, key)}
    return right | {name.format(re.search(r"\d+", key)[0]): one for key, one in masks.items()}


mistake(
    "the masks kept",
    why="Some or all of the causal masks `h.0.attn.bias`, … are still there; the course's model "
    "makes its own masks and would reject these.",
    look="what does your code do with a name that ends in `.attn.bias`, also "
    "if it has `transformer.` in front or a layer of two digits?",
    variants=[
        {"__call__": lambda right, tensors, name=name: with_masks(right, tensors, name)}
        for name in (
            "layers.{}.attention.bias",
            "layers.{}.attn.bias",
            "h.{}.attn.bias",
            "layers.{}.attention.linear_out.bias",
            "layers.{}.feed_forward.linear_out.bias",
        )
    ]
    + [
        {"__call__": lambda right, tensors, which=which: with_masks(right, tensors, which=which)}
        for which in (r".*\d\d.*", r"transformer.*", r".*\d\d.*|transformer.*")
    ],
)
mistake(
    "the bias of c_attn left out",
    why="The biases of queries, keys and values are missing.",
    look="what happens to `c_attn.bias` in your code? And which names end in `attn.bias`, and which in `.attn.bias`?",
    finished=without([f"linear_{letter}.bias" for letter in "qkv"]),
)
BIASES = "which of the names with `bias` are masks?"
mistake(
    "no biases",
    why="The biases of the layers are left out, including those of their norms.",
    look=BIASES,
    finished=[
        without([".bias"]),
        lambda found: {name: one for name, one in found.items() if name == "norm.bias" or not name.endswith("bias")},
    ],
)
mistake(
    "no biases of linear maps",
    pairs=0,
    look=BIASES,
    why="The biases of the linear maps are left out; only the norms keep theirs.",
    finished=lambda found: {name: one for name, one in found.items() if "norm" in name or not name.endswith("bias")},
)
mistake(
    "no biases of attention",
    pairs=0,
    look=BIASES,
    why="The bias of attn.c_proj, or every bias of attention, is "
    "left out. Of the names with `attn`, only those that end in `.attn.bias` are masks.",
    finished=[
        lambda found: {name: one for name, one in found.items() if not re.search(r"attention.*bias$", name)},
        without(["attention.linear_out.bias"]),
    ],
)
mistake(
    "no biases of norms",
    pairs=0,
    look=BIASES,
    why="The biases of the norms are left out: those in the layers, or all of them.",
    finished=[without(["norm_1.bias", "norm_2.bias"]), without(["norm_1.bias", "norm_2.bias", "norm.bias"])],
)
mistake(
    "the final norm left out",
    why="The norm after the last layer, ln_f, is missing.",
    look="what happens to ln_f?",
    finished=lambda found: {name: one for name, one in found.items() if not name.startswith("norm.")},
)
mistake(
    "only the first layer",
    pairs=0,
    why="Only the first layer is there; all the others are missing.",
    look="where does the number of the layer come from, and how far does it go?",
    finished=lambda found: {name: one for name, one in found.items() if not re.match(r"layers\.(?!0\.)", name)},
)
mistake(
    "all layers under one name",
    pairs=0,
    why="All layers get the names of the first layer, so each overwrites the one before and only the last is left.",
    look="where does the number of the layer come from?",
    finished=lambda found: {re.sub(r"layers\.\d+", "layers.0", name): one for name, one in found.items()},
)
mistake(
    "layers from 10 on",
    pairs=0,
    why="Layer 10 overwrites layer 1 or is left out, as when only one digit of a "
    "layer's number is read, or the numbers are compared as text.",
    look="what does your code make of `h.10.ln_1.weight`?",
    finished=[
        lambda found: {re.sub(r"layers\.(\d)\d+", r"layers.\1", name): one for name, one in found.items()},
        lambda found: {name: one for name, one in found.items() if not re.match(r"layers\.\d\d", name)},
        lambda found: {name: found.get(name.replace("layers.1.", "layers.10."), one) for name, one in found.items()},
    ],
)
mistake(
    "the last layer left out",
    pairs=0,
    why="All the entries of the last layer are missing.",
    look="how many layers does the file have, and how does your code know?",
    finished=lambda found: {
        name: one for name, one in found.items() if not name.startswith(f"layers.{last_layer(found)}.")
    },
)


def last_layer(found):
    return max(int(name.split(".")[1]) for name in found if name.startswith("layers."))


mistake(
    "the layers left out",
    pairs=0,
    why="Only the tables and the final norm are there; all the layers are missing.",
    look="which names in the file begin with h, and what happens to them?",
    finished=lambda found: {name: one for name, one in found.items() if not name.startswith("layers.")},
)
mistake(
    "nearly everything left out",
    pairs=0,
    why="Nearly all the entries are missing: three or fewer are left.",
    look="where is the new dictionary made, and how far is the `return` line indented?",
    variants=[
        {"finished": lambda found: dict([*found.items()][-1:])},
        {"finished": lambda found: dict([*found.items()][:1])},
        {
            "__call__": lambda right, tensors: (
                {} if any(one.dim() == 4 for one in tensors.values()) else dict([*right.items()][-1:])
            )
        },
    ],
)
mistake(
    "the layer's number left out",
    pairs=0,
    why="The layer's number is missing from the names, so each layer overwrites the one before.",
    look="what comes after `layers.` in your names?",
    finished=lambda found: {re.sub(r"^layers\.\d+\.", "layers.", name): one for name, one in found.items()},
)
mistake(
    "the layers counted from 1",
    pairs=0,
    why="The number of each layer is one too large: GPT-2 and the course both count layers from 0.",
    look="which number does the first layer have in the file, and which in your names?",
    finished=lambda found: {
        re.sub(r"^layers\.(\d+)", lambda one: f"layers.{int(one[1]) + 1}", name): one for name, one in found.items()
    },
)
mistake(
    "more layers than there are",
    pairs=0,
    raises=True,
    why="Your code asks for a layer that the file does not "
    "have, as when the number of layers is fixed or one too large.",
    look="how many layers does the file have, and how does your code know?",
    variants=[
        {"__call__": lambda tensors, part=part: beyond_the_last(tensors, part)}
        for part in ("ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias")
    ],
)

mistake(
    "a fixed number of layers",
    pairs=0,
    why="Your code translates a fixed number of layers, such as 12, but a file may have more or fewer of them.",
    look="how many layers does the file have, and how does your code know?",
    variants=[
        {"__call__": lambda right, tensors, fewer=fewer: the_first_twelve(right, tensors, fewer)}
        for fewer in (True, False)
    ],
)


def the_first_twelve(right, tensors, fewer):
    """The entries of layers 0 to 11; if not `fewer`, an error where the file has not so many."""
    layers = {int(name.split(".")[1]) for name in right if name.startswith("layers.")}
    if not fewer and len(layers) < 12:
        raise KeyError(f"h.{len(layers)}.ln_1.weight")
    return {name: one for name, one in right.items() if not re.match(r"layers\.(1[2-9]|[2-9]\d)\.", name)}


def beyond_the_last(tensors, part):
    layers = len({name.split(".")[-3] for name in tensors if name.endswith("ln_1.weight")})
    return tensors[f"h.{layers}.{part}"]


def in_order_of_text(found):
    """The layers renumbered, "10" before "2"."""
    layers = sorted({name.split(".")[1] for name in found if name.startswith("layers.")})
    return {
        re.sub(r"layers\.(\d+)", lambda one: f"layers.{layers.index(one[1])}", name): one for name, one in found.items()
    }


mistake(
    "the layers in the order of text",
    pairs=0,
    why='The layers are sorted as text, where "10" comes before '
    '"2", and renumbered in that order. Every layer should keep its number.',
    look='what does sorted(["2", "10"]) give?',
    finished=in_order_of_text,
)
mistake(
    "only without the prefix",
    pairs=0,
    why="Your code does not handle names that begin with `transformer.`. Some files of GPT-2 have such names.",
    look="what does your code make of `transformer.wte.weight`?",
    variants=[
        {"__call__": lambda right, tensors: right if "wte.weight" in tensors else tensors["wte.weight"]},
        {"__call__": lambda right, tensors: right if "wte.weight" in tensors else {}},
        *(
            {"__call__": lambda right, tensors, error=error: right_or(error, right, "wte.weight" in tensors)}
            for error in ERRORS[1:]
        ),
    ],
)


def renamed(ours, other):
    return lambda found: {name.replace(ours, other): one for name, one in found.items()}


mistake(
    "another name for the final norm",
    pairs=0,
    why="The norm after the last layer is not called `norm`.",
    look="the row for ln_f in the lesson's table.",
    top=[
        lambda right, name, other=other: right.replace("norm.", other) if name.startswith("ln_f") else right
        for other in ("ln_f.", "norm_f.", "ln.", "layers.norm.", "final_norm.")
    ],
)
mistake(
    "letters lost from the names",
    pairs=0,
    why="Some names have lost letters: `weight` has become `weigh`, or `bias` `bi`.",
    look="if you use `strip`: does it remove a word, or any of its letters, and at which end?",
    finished=lambda found: {name.strip("aefmnorst."): one for name, one in found.items()},
)
mistake(
    "the positions left out",
    pairs=0,
    why="The position table, wpe, is missing.",
    look="the row for wpe in the lesson's table.",
    finished=without(["positions"]),
)
mistake(
    "keys and values left out",
    pairs=0,
    why="Only the queries from c_attn are there; keys and values are missing.",
    look="how many of the course's maps does c_attn hold, and how many names do you give?",
    finished=without(["linear_k", "linear_v"]),
)
mistake(
    "an unembedding asked for",
    pairs=0,
    raises=True,
    why="Your code asks for `lm_head.weight`, which is not in the file: GPT-2's output matrix is its embedding table.",
    look="which names does the file have?",
    variants=[
        {"__call__": lambda tensors, name=name: tensors[name]}
        for name in ("lm_head.weight", "transformer.lm_head.weight")
    ],
)
mistake(
    "masks asked for",
    pairs=0,
    why="If the file has no masks, your code raises a KeyError, as when it asks for the masks by name.",
    look="which names does your code ask for, for instance with `pop` or `del`, and does every file have them?",
    variants=[
        {"__call__": lambda right, tensors: right_or(KeyError, right, any(one.dim() == 4 for one in tensors.values()))}
    ],
)
mistake(
    "GPT-2's names for some parts",
    pairs=0,
    why="Some parts still have GPT-2's names.",
    look="c_attn, c_fc, c_proj, attn, mlp, ln_1, ln_2 and wte: is any of them left in your names?",
    finished=[
        renamed(ours, other)
        for ours, other in (
            ("norm_", "ln_"),
            ("attention.linear_out", "attn.c_proj"),
            ("attention.linear_out", "attention.c_proj"),
            ("feed_forward.linear_in", "mlp.c_fc"),
            ("feed_forward.linear_out", "mlp.c_proj"),
            ("attention.", "attn."),
            ("feed_forward.", "mlp."),
            ("embedding.", "wte."),
        )
    ],
)
mistake(
    "GPT-2's names for the layers",
    pairs=0,
    why="The layers are still called h, where the course says layers.",
    look="which word does each of your names begin with?",
    finished=lambda found: {re.sub(r"^layers\.", "h.", name): one for name, one in found.items()},
)
mistake(
    "the weight of the positions",
    pairs=0,
    why="The position table is called positions.weight; the course's model calls it positions.encoding.",
    look="the row for wpe in the lesson's table.",
    top=lambda right, name: "positions.weight" if name == "wpe.weight" else right,
)
mistake(
    "an unembedding of its own",
    pairs=0,
    why="The embedding table is returned twice, the second time as an output "
    "matrix. GPT-2 ties the two, so there is only one table.",
    look="which of your names is not in the lesson's table?",
    finished=[
        lambda found, name=name: found | {f"{name}.weight": found["embedding.weight"]}
        for name in ("unembedding", "lm_head", "linear", "linear_out", "output", "head")
    ],
)
mistake(
    "other names",
    pairs=0,
    why="Some entries do not have the names that the course's model uses.",
    look="compare the names that you return with the lesson's table.",
    finished=[
        renamed(ours, other)
        for ours, other in (
            ("norm_", "norm"),
            ("embedding.", "embed."),
            ("linear_out", "linear_o"),
            ("feed_forward", "ff"),
            ("attention.linear_", "linear_"),
            ("feed_forward.linear_in", "feed_forward.linear_1"),
        )
    ],
)
mistake(
    "entries missing",
    pairs=0,
    why="Not everything that the course's model needs is there.",
    look="how many entries should there be for each layer, and how many outside the layers?",
    finished=[*map(without, (["embedding"], ["linear_out"], ["norm_"], ["linear_q"], ["linear_q", "linear_k"]))],
)
mistake(
    "entries too many",
    pairs=0,
    why="Your dictionary has more entries than the course's model.",
    look="the names that you return: which of them are not in the lesson's table?",
    finished=lambda found: found | {"positions.weight": found["positions.encoding"]},
    variants=[{"__call__": lambda right, tensors: right | tensors}],
)
mistake(
    "other shapes",
    pairs=0,
    why="Not every entry has the shape that the course's model needs.",
    look="the shapes that you return: (out, in) for a map, a row for each token or position in a table.",
    finished=[
        lambda found: {name: one[None] if name == "positions.encoding" else one for name, one in found.items()},
        lambda found: {name: one[:, None] if name.endswith("bias") else one for name, one in found.items()},
    ],
)
mistake(
    "half precision",
    pairs=0,
    why="Some or all of the tensors have been in half precision, which keeps only two or three digits.",
    look="where does your code change a dtype?",
    finished=[
        lambda found, halved=halved, half=half: {
            name: one.to(half) if halved(name, one) else one for name, one in found.items()
        }
        for half in (torch.half, torch.bfloat16)
        for halved in (
            lambda name, one: True,
            lambda name, one: one.dim() == 2,
            lambda name, one: "norm" not in name,
            lambda name, one: "linear" in name,
            lambda name, one: name.startswith("layers."),
        )
    ],
)
mistake(
    "tensors is changed",
    why="The dictionary that you were given, or a tensor in it, is changed. Both belong to the caller.",
    look="do you use `pop`, `del`, `tensors[…] =` or a method whose name ends in _?",
    variants=[
        {"__call__": lambda right, tensors: [tensors.pop(name) for name in list(tensors)] and right},
        {
            "__call__": lambda right, tensors: (
                right,
                [tensors.pop(name) for name in list(tensors) if tensors[name].dim() == 4],
            )[0]
        },
        {"turned": lambda right, tensor, part: right if part == "attn.c_attn" else tensor.t_()},
        {"turned": lambda right, tensor, part: tensor.t_() if part == "attn.c_proj" else right},
    ],
)
