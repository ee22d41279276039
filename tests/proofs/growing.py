"""Does lesson 11 tell the truth about its tiny models for other seeds? Trains them anew for each, and compares.

    python tests/proofs/growing.py            # the seeds 0 to 4, about twenty seconds of processor time each
    python tests/proofs/growing.py 5 6

Each claim quotes the lesson, as in five_seeds.py. What the lesson says of the chat model is in chat_heads.py.
"""

import contextlib
import io
import math
import re
import sys

from five_seeds import Claims, cells_of

LAST = "from transformer_lessons.language import checkpoints"  # from here on nothing depends on the seed
CHAT = "# needs the chat model"


def run(seed):
    """What the lesson's cells make when its tiny models are trained with this seed; all that they print, and that."""
    sources = [source for source in cells_of(11, "code")[1:] if not source.startswith(CHAT)]
    end = next(number for number, source in enumerate(sources) if source.startswith(LAST))
    assert sum(source.startswith("SEED = 0\n") for source in sources) == 1
    made, printed = {}, {}
    for source in sources[:end]:
        with contextlib.redirect_stdout(io.StringIO()) as lines:
            exec(compile(source.replace("SEED = 0\n", f"SEED = {seed}\n"), "cell", "exec"), made)
        printed[source] = [float(number) for number in re.findall(r"-?\d+\.\d+", lines.getvalue())]
    return made, printed


def numbers(printed, beginning):
    """The decimal numbers that the cell with this beginning printed."""
    (found,) = [values for source, values in printed.items() if source.startswith(beginning)]
    return found


def steps_of_the_fall(log):
    """From the last step with a loss above 2.5 to the first below 0.5."""
    losses = {step: loss for step, (loss, *_) in log.items()}
    return min(step for step in losses if losses[step] < 0.5) - max(step for step in losses if losses[step] > 2.5)


def main(seeds):
    claims = Claims(11)
    runs = [run(seed) for seed in seeds]
    made = [one for one, _ in runs]
    scores = [[score for layer in one["scores"](one["grown"]).values() for score in layer] for one in made]
    accuracies = [one["accuracy"] for one in made]
    claims.report("accuracy", accuracies, "the accuracy is at least 0.996", min(accuracies) > 0.9955)
    claims.check("previous token", [score[0] for score in scores], "layer 0's previous-token score is 0.61 to 0.78")
    claims.check("induction", [score[3] for score in scores], "layer 1's induction score 0.85 to 0.95")
    falls = [steps_of_the_fall(one["log"]) for one in made]
    claims.report("the fall, in steps", falls, "within 60 steps, the loss drops", max(falls) <= 60)
    favoured = [numbers(printed, "seen = ") for _, printed in runs]  # four numbers a row: at steps 0, 20, 40, 60
    held = all(one[15] > one[3] + 0.2 and one[14] < 0.12 for one in favoured)
    shown = [value for one in favoured for value in one[3:16:4]]
    claims.report("on tokens seen", shown, "the model learns to favour the tokens it has seen in the row", held)
    young = [numbers(printed, "young = ") for _, printed in runs]
    held = all(one[0] > 3 * one[1] and one[3] > 0.95 and one[3] > one[9] + 0.1 for one in young)
    shown = [value for one in young for value in (one[0], one[1], one[3], one[9])]
    claims.report("at step 120", shown, "the model learns short blocks before long ones", held)
    claims.check("one layer", [one["accuracy_alone"] for one in made], "is right in 0.29 of the cases")
    fixed = [list(one["accuracies"].values()) for one in made]
    held = all(one[0] > 0.99 and one[1] < 0.4 and min(one[2:4]) > 0.6 and one[4] < 0.2 for one in fixed)
    claims.report("trained on one period", [value for one in fixed for value in one], "periods 4 and 6", held)
    silenced = [numbers(printed, 'print("silenced         loss') for _, printed in runs]
    held = all(one[3] > math.log(32) and max(one[4], one[7]) < 0.25 for one in silenced)
    held &= all(one[5] < 0.3 and one[8] > 0.8 for one in silenced)
    shown = [value for one in silenced for value in one[3:]]
    claims.report("loss, accuracy, score", shown, "Without layer 0's head, the model is worse than guessing", held)
    held = all(3.65 < one[3] < 4.35 and 3.35 < one[6] < 3.65 for one in silenced)
    losses = [loss for one in silenced for loss in (one[3], one[6])]
    claims.report("losses with one head silent", losses, "the losses are 3.7 to 4.3, and 3.4 to 3.6", held)
    copying = [numbers(printed, "copying_0 = ") for _, printed in runs]
    held = all(min(one[:4]) > 0.9 for one in copying)  # the rest is a control
    claims.report("copying scores", [value for one in copying for value in one], "Both heads copy", held)
    matches = [numbers(printed, "for name, table in") for _, printed in runs]
    held = all(one[0] < 0.1 and one[1] < one[2] and one[3] > 0.99 for one in matches)
    shown = [value for one in matches for value in one]
    claims.report("best matches", shown, "layer 1 can look for the place whose note names the current token", held)
    recovered = [one["recovered"] for one in made]
    held = all(one[6] > 0.9 and max(*one[:6], *one[7:]) < 0.1 for one in recovered)
    claims.report("recovered at 6", [one[6] for one in recovered], "A single vector brings the answer back", held)
    lens = [numbers(printed, "stream = ") for _, printed in runs]
    held = all(max(one[:2]) < 0.15 and one[2] > 0.99 for one in lens)
    claims.report("lens", [v for one in lens for v in one], "layer 0 achieves almost nothing", held)
    return claims.wrong


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:]] or range(5)) > 0)
