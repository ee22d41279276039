"""Do lessons 5 to 8 tell the truth for other seeds? Trains with the seeds 0 to 4 what they train once.

    python tests/proofs/five_seeds.py        # about twenty minutes of processor time
    python tests/proofs/five_seeds.py 5 7    # these lessons alone

Each claim quotes a lesson: its text must contain the quotation, and all values must lie between the numbers in it.
"""

import ast
import math
import re
import sys
from pathlib import Path

import nbformat
import torch

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SEEDS = range(5)
SLACK = 0.02  # the numbers in the text are rounded, and another processor trains a little differently


def cells_of(lesson, kind):
    path = next(NOTEBOOKS.glob(f"{lesson:02}_*.ipynb"))
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


def definitions(lesson, *constants):
    """What a lesson's cells import and define, and the constants with these names; nothing else is run."""
    namespace = {}
    for source in cells_of(lesson, "code")[1:]:
        for node in ast.parse(source).body:
            made = {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
            constant = isinstance(node, ast.Assign | ast.AugAssign) and made and made <= set(constants)
            defined = isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
            if constant or (defined and not is_stub(node)):
                exec(compile(ast.Module([node], []), f"lesson {lesson}", "exec"), namespace)
    torch.set_num_threads(1)
    return namespace


def is_stub(node):
    return "raise NotImplementedError" in ast.unparse(node)


class Claims:
    """Compares values with what a lesson says of them, and counts what does not hold."""

    def __init__(self, lesson):
        self.lesson, self.text, self.wrong = lesson, "\n".join(cells_of(lesson, "markdown")), 0

    def check(self, what, values, quotation):
        """All values lie between the smallest and the largest decimal number of the quotation."""
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", quotation)]
        low, high = min(numbers), max(numbers)
        held = all(low - SLACK <= value <= high + SLACK for value in values)
        self.report(what, values, quotation, held)

    def report(self, what, values, quotation, held):
        quoted = quotation in self.text
        self.wrong += not (held and quoted)
        shown = " ".join(f"{value:.3g}" for value in values)
        remark = "" if quoted else "  (NOT IN THE TEXT)"
        print("✓" if held else "✗", f"lesson {self.lesson}, {what}: {shown}; “{quotation}”{remark}", flush=True)


def lesson_5():
    claims = Claims(5)
    space = definitions(5, "animals", "BITES", "pairs", "sentences")
    blind, taken_away = [], []
    for seed in SEEDS:
        _, p = space["train_to_tell"](False, seed)
        blind.append(share(p.argmax(-1) == space["sentences"][:, 0]))
        model, _ = space["train_to_tell"](True, seed)
        model.embedding.positions.encoding.zero_()
        logits = model.embedding.logits(model(space["sentences"])[:, 1])
        taken_away.append(share(logits.argmax(-1) == space["sentences"][:, 0]))
    claims.check("without positions", blind, "the same 0.50 with four other seeds")
    claims.check("positions taken away", taken_away, "in 0.33 to 0.50 of the sentences (five seeds)")
    torch.set_default_dtype(torch.float64)

    def trained(kind, seed, **options):
        torch.manual_seed(seed)
        model = space["tiny_model"](kind, **options)
        return model, space["train_short"](model, seed)

    def far(kind):
        return [trained(kind, seed)[1]()[40:].mean().item() for seed in SEEDS]

    claims.check("rotary", far("rotary"), "0.99 to 1.00 at positions 40 to 47 in each of five seeds")
    claims.check("ALiBi", far("ALiBi"), "at 0.87 to 0.94")
    space["ALiBiAttention"].steeper = 8
    claims.check("ALiBi, steeper", far("ALiBi"), "it reaches 0.98 to 1.00")
    claims.check("learned, sinusoidal", far("learned") + far("sinusoidal"), "fall to 0.48 to 0.63")
    claims.check("none", far("none"), "*none* (0.65 to 0.69)")
    as_trained, capped, divided = [], [], []
    for seed in SEEDS:
        model, accuracy = trained("rotary", seed, embedding_std=0.02)
        turns = model.layers[0].attention.rotary.turns
        as_trained.append(accuracy()[40:].mean().item())
        seen = []
        for position in range(40, 48):
            turns[: position - 15] = turns[position - 15].clone()
            seen.append(accuracy()[position].item())
        capped.append(sum(seen) / 8)
        angles = space["positions"].position_angles(48, 4) / 3
        turns.copy_(torch.stack([angles.cos(), angles.sin()], dim=-1))
        divided.append(accuracy()[40:].mean().item())
    torch.set_default_dtype(torch.float32)
    *four, fifth = sorted(as_trained)
    claims.check("small start", four, "in four of five seeds the accuracy is 0.42 to 0.51")
    claims.check("small start, the fifth", [fifth], "in the fifth it is 0.95")
    claims.check("distances capped", capped, "to 0.97 to 1.00 in the five seeds")
    claims.check("positions divided by 3", divided, "0.82 to 0.93")
    return claims.wrong


def share(right):
    return right.double().mean().item()


def lesson_6():
    claims = Claims(6)
    space = definitions(6, "zoo")
    models, chance = space["models"], math.log(10)
    known, unknown = [], []
    for seed in SEEDS:
        oracle = {"models": models, "torch": torch, "F": space["F"]}
        source = next(cell for cell in cells_of(6, "code") if "oracle = " in cell)
        exec(source.replace("manual_seed(0)", f"manual_seed({seed})"), oracle)
        shares = oracle["right"].double().mean(dim=0)
        known.append(shares[:-1].min().item())
        unknown.append(shares[-1].item())
    claims.report("the six digits and the last", known + unknown, "in each of five seeds", min(known) > 0.9)
    table = {name: [] for name in space["zoo"]}
    for name, changes in space["zoo"].items():
        for seed in SEEDS:
            model = space["train_to_reverse"](space["build"](seed, **changes), seed)
            first, second = (part.mean().item() / chance for part in space["loss_by_position"](model).split([3, 4]))
            table[name].append((first, second))
        print(name, *(f"{first:.2f} {second:.2f}," for first, second in table[name]), flush=True)
    return claims.wrong


def lesson_7():
    claims = Claims(7)
    space = definitions(7, "probe", "answers")
    for part in ("positions", "norms", "skips", "feed_forward", "cross_attention"):
        values = [space["share_reversed_without"](part, seed) for seed in SEEDS]
        print(part, values, flush=True)
    memorised = {
        case: [space["fraction_memorised"](*case, seed) for seed in range(20)]
        for case in ((16, False), (16, True), (64, True))
    }
    for case, values in memorised.items():
        print(case, *(f"{value:.2f}" for value in values))
    wins = sum(one > four for one, four in zip(memorised[64, True], memorised[16, False], strict=True))
    print("the wide shared one wins", wins, "of 20", flush=True)
    for name, (norm_first, warm_up) in {"post": (False, 0), "warm-up": (False, 60), "pre": (True, 0)}.items():
        for seed in SEEDS:
            model = space["build"](6, norm_first, seed)
            losses = space["train_to_reverse"](model, steps=140, warm_up=warm_up)
            print(name, seed, f"{sum(losses[-10:]) / 10:.2f}", space["reversed_of_64"](model), flush=True)
    return claims.wrong


def lesson_8():
    claims = Claims(8)
    space = definitions(8)
    training, mock_play, dataclasses = space["training"], space["mock_play"], space["dataclasses"]
    play, _ = mock_play.write(scenes=2000, seed=1)
    held_out, log_p = mock_play.write(scenes=100, seed=2)
    known = training.prepare(([play], [held_out]))
    space.update(known=known, size=len(known.vocabulary))
    nat_floor = -log_p / len(known.validation)
    sizes = {"num_heads": 4, "num_layers": 2, "d_model": 64, "d_hidden": 128}
    above = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        model = training.new_model(space["size"], **sizes, max_length=256)
        recipe = training.Recipe(steps=400, batch_size=4, length=256, learning_rate=0.007, seed=seed)
        progress = training.train(model, known, recipe, quiet=True)
        above.append(100 * (progress.evaluations[-1][1] / nat_floor - 1))
    print("percent above the floor", above, flush=True)
    for seed in SEEDS:
        ends = []
        for ahead in (0, 1, 2):
            ids = known.train[seed * 10_000 :][: 16 * 32 * 120 + 2]
            targets = ids[ahead : len(ids) - 2 + ahead].view(120, 16, 32)
            batches = list(zip(ids[:-2].view(120, 16, 32), targets, strict=True))
            losses = space["fit"](space["small_model"](seed), batches.__getitem__, 120)
            ends.append(sum(losses[-10:]) / 10)
        print("shifted by 0, 1, 2", ends, "floor", nat_floor, flush=True)
    for seed in SEEDS:
        short = known.train[10_000 * seed :][:4000]
        sources = {
            "apart": space["batches_of"](short, False, seed),
            "overlapping": space["batches_of"](short, True, seed),
            "re-cut": training.Batches(short, training.Recipe(batch_size=8, length=64, seed=seed)),
            "long": space["batches_of"](known.train, False, seed),
        }
        for name, batch_of in sources.items():
            model = space["small_model"](seed)
            losses = space["fit"](model, batch_of, 120)
            cost = training.evaluate(model, known.validation, 64) - nat_floor
            print(name, seed, f"{sum(losses[-20:]) / 20 - nat_floor:.2f} {cost:.2f}", flush=True)
    for seed in SEEDS:
        few = dataclasses.replace(known, train=known.train[10_000 * seed :][:2500])
        recipe = training.Recipe(
            steps=200, batch_size=8, length=64, learning_rate=0.005, evaluate_every=25, seed=seed
        )
        progress = training.train(space["small_model"](seed), few, recipe, quiet=True)
        print("overfitting", seed, sum(progress.losses[-25:]) / 25, progress.evaluations, flush=True)
    return claims.wrong


if __name__ == "__main__":
    lessons = [int(number) for number in sys.argv[1:]] or [5, 6, 7, 8]
    sys.exit(sum(globals()[f"lesson_{number}"]() for number in lessons) > 0)
