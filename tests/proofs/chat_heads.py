"""Does what lesson 11 says about the chat model's heads hold on other texts? Measures it on four of each kind.

    python tests/proofs/chat_heads.py    # a few minutes of processor time

Random texts come from the seeds 0 to 3 (the lesson shows 0); the pages are the lesson's and the three below. Each
claim quotes the lesson, as in five_seeds.py. Without the chat model's file nothing can be measured, and this fails.
"""

import ast
import random
import sys

import torch
import torch.nn.functional as F
from five_seeds import Claims, cells_of

from transformer_lessons.inspection import attention_maps, experiments
from transformer_lessons.language import chat_cells
from transformer_lessons.tasks import repeats

HALF = 32  # tokens of a random text, before it is repeated
EIGHT = ["17.3", "17.4", "17.5", "18.6", "18.7", "20.6", "23.2", "23.7"]
OTHERS = ["17.0", "17.1", "17.2", "18.0", "18.1", "20.0", "23.0", "23.1"]
CAPITALS = {"France": " Paris", "Italy": " Rome", "Germany": " Berlin", "Spain": " Madrid", "Japan": " Tokyo"}
PAGES = [
    "Peel two large onions and cut them into thin rings. Melt some butter in a heavy pan, add the onions, and cook "
    "them slowly for half an hour, until they are soft and golden. Stir in a spoonful of flour, pour in a litre of "
    "hot stock, and let the soup simmer for twenty minutes. Season it with salt, pepper and a splash of wine.",
    "Dear Ruth, thank you for your letter, which reached me only yesterday because the post office had sent it to my "
    "old address. You ask whether I still play the cello. I do, though badly, and mostly when the neighbours are "
    "away. Last month we tried a quartet, and the first violin laughed so much that we had to stop.",
    'def mean(numbers):\n    """The sum of the numbers, divided by how many there are."""\n    total = 0\n'
    "    for number in numbers:\n        total += number\n    return total / len(numbers)\n\n\n"
    'def variance(numbers):\n    """The mean squared distance from the mean."""\n    centre = mean(numbers)\n'
    "    return mean([(number - centre) ** 2 for number in numbers])\n",
]


def page_of_the_lesson():
    """The text called tides in the lesson."""
    for source in cells_of(11, "code"):
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "tides":
                return ast.literal_eval(node.value)


def by_layer(heads):
    """["18.6", "18.7"] as ablated() wants it: {"layers.18.attention": [6, 7]}."""
    silent = {}
    for head in heads:
        layer, number = head.split(".")
        silent.setdefault(f"layers.{layer}.attention", []).append(int(number))
    return silent


def places(heads):
    """The numbers of these heads among all 270."""
    return [9 * int(head.split(".")[0]) + int(head.split(".")[1]) for head in heads]


class Reader:
    """The chat model, and what it says of a text."""

    def __init__(self):
        self.model, self.vocabulary = chat_cells.load()

    def ids(self, text):
        return torch.tensor([self.vocabulary.encode(text)])  # (1, length)

    def nonsense(self, seed):
        generator = torch.Generator().manual_seed(seed)
        return repeats.repeated_blocks(1, 2 * HALF, len(self.vocabulary), HALF, HALF, generator)[0]  # (1, length)

    @torch.inference_mode()
    def nats(self, tokens, silent=()):
        """What each token after the first costs when these heads are silent: (length)."""
        with experiments.ablated(self.model, by_layer(silent)):
            logits = self.model(tokens[:, :-1])  # (batch, length, vocabulary)
        return F.cross_entropy(logits[0], tokens[0, 1:], reduction="none")

    def second_copy(self, tokens, silent=()):
        return self.nats(tokens, silent)[HALF:].mean().item()

    @torch.inference_mode()
    def scores(self, tokens, measure, silent=()):
        """A number for each of the 270 heads."""
        with experiments.ablated(self.model, by_layer(silent)):
            maps = attention_maps.attention_weights(self.model, tokens)
        return torch.stack([measure(weights) for weights in maps.values()]).flatten()  # (heads)

    @torch.inference_mode()
    def last_logits(self, tokens, silent=()):
        with experiments.ablated(self.model, by_layer(silent)):
            return self.model(tokens)[:, -1]  # (batch, vocabulary)


def induction(weights):
    return attention_maps.induction_score(weights, HALF)


def on_first(queries):
    """The mean weight of these queries on the first token."""
    return lambda weights: weights[:, :, queries, 0].mean(dim=(0, 2))


def random_texts(claims, reader):
    texts = [reader.nonsense(seed) for seed in range(4)]
    found = torch.stack([reader.scores(text, induction) for text in texts])  # (number, heads)
    best = found[1:, places(["18.6"])].flatten().tolist()
    claims.check("induction score of 18.6", best, "scores 0.86 to 0.92")
    previous = [reader.scores(text, attention_maps.previous_token_score).argmax().item() for text in texts]
    held = previous == 4 * places(["16.0"])
    claims.report("best previous-token head", previous, "The best previous-token head on all these texts is 16.0", held)
    intact = [reader.second_copy(text) for text in texts]

    def costs(silent):
        return [reader.second_copy(text, silent) - before for text, before in zip(texts, intact, strict=True)]

    claims.check("silencing 16.0", costs(["16.0"])[1:], "costs 4.3 to 6.2 nats")
    controls = costs(["11.1"])[1:] + costs(["16.8"])[1:]
    claims.report("silencing 11.1, 16.8", controls, "neither control more than 0.3", max(controls) < 0.3)
    blind = [reader.scores(text, induction, ["16.0"])[places(["17.3"])].item() for text in texts]
    claims.report("17.3 without 16.0", blind, "17.3's score falls from 0.80 to 0.01", max(blind) < 0.015)
    together = costs(EIGHT)
    alone = [sum(column) for column in zip(*(costs([head]) for head in EIGHT), strict=True)]
    shares = [part / all_of_it for part, all_of_it in zip(alone, together, strict=True)]
    claims.check(
        "sum of the eight ÷ all at once", shares[1:], "the sum is 0.48 to 0.60 of the cost of all eight at once"
    )
    generator = random.Random(0)
    heads = [f"{layer}.{head}" for layer in range(30) for head in range(9) if f"{layer}.{head}" not in EIGHT]
    sets = [generator.sample(heads, 8) for _ in range(3)]
    drawn = [costs(one) for one in sets]
    ruined = [min(one) > 3 for one in drawn]
    held = ruined == ["16.0" in one for one in sets] == [False, True, False] and max(drawn[0] + drawn[2]) < 3
    shown = [cost for one in drawn for cost in one]
    claims.report("three random sets", shown, "one ruined the second copy on all four random texts", held)
    sinks = [(reader.scores(text, on_first(slice(8, None))) > 0.5).sum().item() for text in texts]
    claims.report("sinks", sinks, "98 to 136 on four random texts", 98 <= min(sinks) <= max(sinks) <= 136)


def pages(claims, reader):
    texts = [reader.ids(page) for page in [page_of_the_lesson(), *PAGES]]
    twice = [torch.cat([text[:, :HALF], text[:, :HALF]], dim=1) for text in texts]
    found = [reader.scores(text, induction)[places(["18.6"])].item() for text in twice]
    claims.check("18.6 on passages read twice", found, "on four ordinary passages read twice, 0.56 to 0.80")
    previous = [reader.scores(text, attention_maps.previous_token_score).argmax().item() for text in texts]
    quotation = "The best previous-token head on all these texts is 16.0"
    claims.report("best previous-token head", previous, quotation, previous == 4 * places(["16.0"]))
    costs = [(reader.nats(text, EIGHT).mean() - reader.nats(text).mean()).item() for text in texts]
    others = [(reader.nats(text, OTHERS).mean() - reader.nats(text).mean()).item() for text in texts]
    held = max(map(abs, costs)) < 0.06
    claims.report("the eight, and eight others", costs + others, "changes the loss by less than 0.06 nats", held)
    sinks = [(reader.scores(text, on_first(slice(8, None))) > 0.5).sum().item() for text in texts]
    claims.report("sinks", sinks, "74 to 109 on four pages", 74 <= min(sinks) <= max(sinks) <= 109)


@torch.inference_mode()
def capitals(claims, reader):
    leaps, looks, worse, other, first, least = [], [], [], [], [], []
    for country, capital in CAPITALS.items():
        text, answer = reader.ids(f"The capital of {country} is"), reader.vocabulary.encode(capital)[0]
        stages = experiments.residual_stream(reader.model, text)[:, 0, -1]  # (stages, d_model)
        lens = experiments.logit_lens(stages, reader.model.norm, reader.model.embedding.weight)
        rank = (lens > lens[:, [answer]]).sum(dim=-1) + 1  # (stages)
        least.append(rank[:24].min().item())
        leaps.append((rank[23] / rank[24]).item())
        first.append((rank == 1).nonzero().flatten().tolist())
        looks.append(reader.scores(text, lambda weights: weights[0, :, -1, 3])[places(["23.4"])].item())
        before = reader.last_logits(text)[0].log_softmax(-1)[answer].item()
        for head in range(9):
            after = reader.last_logits(text, [f"23.{head}"])[0].log_softmax(-1)[answer].item()
            (worse if head == 4 else other).append(before - after)
    held = min(leaps) > 2 and first == 5 * [[30]]
    claims.report("least rank up to layer 22", least, "thousands of tokens rank above Paris", least[0] > 2000)
    claims.report("leap of the rank", leaps, "make a leap in layer 23, and come first only at the end", held)
    claims.check("weight of 23.4 on the country", looks, "gives the country 0.89 to 0.98 of its weight")
    claims.check("without 23.4", worse, "falls by 0.55 to 2.15 nats")
    claims.report("without another", other, "no other head of the layer costs more than 0.21", max(other) < 0.215)
    quotation = "With three other pairs of clean and corrupted texts"
    for clean, corrupted in (("France", "Italy"), ("Italy", "France"), ("Germany", "Spain"), ("Japan", "Italy")):
        country, last = (ahead(reader, clean, corrupted, position) for position in (3, 4))
        held = bool((country[:23] > 0).all() and (country[23:] < 0).all())
        held &= bool((last[:23] < 0).all() and (last[23:] > 0).all())
        shown = [country[22].item(), country[23].item(), last[22].item(), last[23].item()]
        claims.report(f"{clean} into {corrupted}", shown, quotation, held)
    longer = "She flew to the capital of {}, which is called"
    country, last = (ahead(reader, "France", "Italy", position, longer) for position in (6, 10))
    none, whole = last[0], last[-1]  # at first the last token knows nothing of the country, and at last everything
    shares = ((last[[22, 23]] - none) / (whole - none)).tolist()
    held = bool((country[:23] > 0).all() and (country[23:] < 0).all()) and shares[0] < 0.1 and 0.6 < shares[1] < 0.75
    claims.report("longer sentence", shares, "only two thirds of the difference arrive", held)


def ahead(reader, clean, corrupted, position, sentence="The capital of {} is"):
    """How far the clean capital is ahead when the vector after each layer, at a position, is the clean run's: (30)."""
    clean_text, corrupted_text = (reader.ids(sentence.format(country)) for country in (clean, corrupted))
    right, wrong = (reader.vocabulary.encode(CAPITALS[country])[0] for country in (clean, corrupted))
    leads = []
    for name, stage in experiments.outputs_of(reader.model, [f"layers.{i}" for i in range(30)], clean_text).items():
        with experiments.patched(reader.model, name, stage, position):
            logits = reader.last_logits(corrupted_text)[0]
        leads.append(logits[right] - logits[wrong])
    return torch.stack(leads)


def main():
    torch.set_num_threads(1)
    claims, reader = Claims(11), Reader()
    capitals(claims, reader)
    pages(claims, reader)
    random_texts(claims, reader)
    return claims.wrong


if __name__ == "__main__":
    sys.exit(main() > 0)
