"""The mistakes that people make with attention, with a scale or without: those that lessons 2 and 3 share.

Each is a mixin that overrides a step of `Attending`, and goes before the right way of an exercise.
"""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.exercise import normal

COMMON = {}  # name → (why, look, settings, [mixin, …])
ALONE = set()  # the ways that are not tried together with a second mistake


def common(name, why=None, look=None, hint="weights", pairs=False, raises=False, alone=False):
    """A mistake for every exercise on attention; the same name again adds another way to make it.

    hint says what helps: a hint on the scores, the weights, the output, or on what stands before the length.
    alone keeps a further way out of the pairs.
    """
    def declare(mixin):
        if alone:
            ALONE.add(mixin)
        if why is None:
            COMMON[name][-1].append(mixin)
        else:
            COMMON[name] = (why, look, {"hint": hint, "pairs": pairs, "raises": raises}, [mixin])
        return mixin
    return declare


def declare_common(exercise, right, hints, without=(), together=None):
    """The common mistakes, made in the steps of `right`; hints: what a hint is on → its number.

    together names those that are also looked for as one of two, where these are others than usual.
    """
    for name, (why, look, settings, mixins) in COMMON.items():
        if name not in without:
            pairs = settings["pairs"] if together is None else name in together
            settings = {**settings, "hint": hints.get(settings["hint"]), "pairs": pairs}
            declare(exercise, right, name, why, look, mixins, **settings)


def declare(exercise, right, name, why, look, mixins, hint=2, pairs=False, raises=False):
    """One mistake, made in the steps of `right` in one way or more."""
    for mixin in mixins:
        texts = () if name in exercise.mistakes else (why, look)
        way = type(mixin.__name__, (mixin, right), {})
        exercise.mistake(name, *texts, hint=hint, pairs=pairs and mixin not in ALONE, raises=raises)(way)


class Attending:
    """Attention in steps. The right way of an exercise adds scores, weights and output."""

    def attend(self, query, key, value):
        query, key, value = self.roles(query, key, value)
        scores = self.scores(query, key, value)
        scaled = self.scaled(scores, query, key, value)
        weights = self.weights(self.masked(scaled))
        return self.output(weights, value, query), weights

    def roles(self, query, key, value):
        return query, key, value

    def scaled(self, scores, query, key, value):
        return scores  # lesson 3 brings the scale

    def masked(self, scaled):
        return scaled  # lesson 6 brings the mask


# Scores: who meets whom


@common("the last row everywhere",
        why="Every row of the output holds the average of the last query, or of the first: each turn of the "
            "loop throws away the one before.",
        look="where does the loop keep what it has computed?", hint="output")
class LastRowEverywhere:
    def output(self, weights, value, query):
        output = super().output(weights, value, query)
        return output[..., -1:, :].expand_as(output)


@common("the last row everywhere")
class FirstRowEverywhere:
    def output(self, weights, value, query):
        output = super().output(weights, value, query)
        return output[..., :1, :].expand_as(output)


@common("the output never filled",
        why="The output has the right shape, but it holds zeros only: nothing has been written into it.",
        look="does anything assign into it, or add to it, with `=` or `+=`?", hint="output")
class NeverFilled:
    def output(self, weights, value, query):
        return torch.zeros_like(super().output(weights, value, query))


@common("no transpose of the key",
        why="The query is multiplied by the key as it stands, which works only where sizes happen to agree: "
            "a score then mixes the features of a query with one feature of all the keys.",
        look="`a @ b` takes rows of a and columns of b. Where do the keys stand?", hint="scores")
class NoTranspose:
    def scores(self, query, key, value):
        return query @ key


@common("no transpose of the key")
class NoTransposeKeyFirst:
    def scores(self, query, key, value):
        return key @ query


@common("the key reshaped, not transposed",
        why="The key gets the right shape by view or reshape, which keeps the numbers in their old order: "
            "its columns are no longer the keys.",
        look="reshape a (2, 3) tensor of 0 … 5 to (3, 2), and compare it with its"
             " transpose.", hint="scores", pairs=True)
class Reshaped:
    def scores(self, query, key, value):
        return query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])


@common("all dimensions of the key reversed",
        why="`.T` turns round all the dimensions, the leading ones too: it is a transpose for two dimensions"
            " only.",
        look="print `key.T.shape` for a key of shape (2, 5, 4).", hint="batch", pairs=True)
class ReversedKey:
    def scores(self, query, key, value):
        return query @ key.permute(*range(key.dim() - 1, -1, -1))


@common("the key's first two dimensions swapped",
        why="Dimensions 0 and 1 of the key are swapped. Without leading dimensions this is the transpose; "
            "with them, others change places.",
        look="how can the last two dimensions be named, however many come before?", hint="batch")
class FirstTwoSwapped:
    def scores(self, query, key, value):
        return query @ key.transpose(0, 1)


@common("works with one leading dimension only",
        why="Where there is exactly one dimension before (length, features) it is right, but the contract "
            "allows none, or several.",
        look="which lines count dimensions from the front, or unpack exactly three sizes?", hint="batch")
class OneLeading:
    def scores(self, query, key, value):
        return query @ key.transpose(1, 2)


@common("works with one leading dimension only")
class OneLeadingPermuted:
    def scores(self, query, key, value):
        return query @ key.permute(0, 2, 1)


@common("works with one leading dimension only")
class OneLeadingUnpacked:
    def attend(self, query, key, value):
        _, _, _ = query.shape
        return super().attend(query, key, value)


@common("works with two leading dimensions only",
        why="Where there are exactly two dimensions before (length, features) it is right, but the contract "
            "allows none, one, or more.",
        look="which lines count dimensions from the front, or unpack exactly four sizes?", hint="batch")
class TwoLeading:
    def scores(self, query, key, value):
        return query @ key.transpose(2, 3)


@common("works with two leading dimensions only")
class TwoLeadingPermuted:
    def scores(self, query, key, value):
        return query @ key.permute(0, 1, 3, 2)


@common("works with two leading dimensions only")
class TwoLeadingUnpacked:
    def attend(self, query, key, value):
        _, _, _, _ = query.shape
        return super().attend(query, key, value)


@common("works without leading dimensions only",
        why="Without a batch it is right, but the contract allows any dimensions before (length, features).",
        look="which lines count dimensions from the front, or use `.t()`?", hint="batch")
class NoLeading:
    def scores(self, query, key, value):
        return query @ key.t()


@common("works without leading dimensions only")
class NoLeadingUnpacked:
    def attend(self, query, key, value):
        _, _ = query.shape
        return super().attend(query, key, value)


@common("elementwise product for the scores",
        why="`*` multiplies number by number; a score is a dot product, which also adds up.",
        look="how many scores should there be for 2 queries and 3 keys?", hint="scores")
class Elementwise:
    def scores(self, query, key, value):
        return query * key


@common("elementwise product for the scores")
class ElementwiseTwice(Elementwise):
    def output(self, weights, value, query):
        return weights * value


@common("each query meets one key only",
        why="Each query is multiplied by the one key at its own position: there is one score for each query, "
            "where there should be one for each pair.",
        look="how many scores should there be for 2 queries and 3 keys?", hint="scores")
class OneKeyOnly:
    def scores(self, query, key, value):
        return (query * key).sum(-1)

    def output(self, weights, value, query):
        return weights[..., None] * value


@common("each query meets one key only")
class OneKeyOnlyMixed(OneKeyOnly):
    def output(self, weights, value, query):
        return weights @ value


@common("each query meets one key only")
class OneKeyOnlyKept(OneKeyOnly):
    def scores(self, query, key, value):
        return (query * key).sum(-1, keepdim=True)

    def output(self, weights, value, query):
        return weights * value


@common("sums for products",
        why="The scores add the features of a query and of a key, where a dot product multiplies them first.",
        look="how does the contract make a number out of a query and a key?", hint="scores")
class Sums:
    def scores(self, query, key, value):
        return (query[..., :, None, :] + key[..., None, :, :]).sum(-1)


@common("sums for products")
class SumsInATanh:
    def scores(self, query, key, value):
        return (query[..., :, None, :] + key[..., None, :, :]).tanh().sum(-1)


@common("torch.dot of tables",
        why="`torch.dot` takes two single vectors, and here there are tables of them, with batches besides.",
        look="which operation makes all the dot products at once?", hint="scores", raises=True)
class DotOfTables:
    def scores(self, query, key, value):
        return torch.dot(query, key)


@common("transpose without its dimensions",
        why="A tensor's `transpose` must be told which two dimensions change places; only a NumPy array "
            "turns round all of them without being told.",
        look="how are the last two dimensions named, however many come before?", hint="scores", raises=True)
class TransposeWithoutDimensions:
    def scores(self, query, key, value):
        return query @ key.transpose()


@common("positions added to the scores",
        why="Something that depends on the positions is added to the scores. Positions come in lesson 5; "
            "here a score is made of a query and a key alone.",
        look="what is done to the scores before the softmax?", hint="scores")
class PlaceOfTheKeyAdded:
    def masked(self, scaled):
        return scaled + torch.arange(scaled.shape[-1])


@common("positions added to the scores")
class DistanceTakenOff:
    def masked(self, scaled):
        queries, keys = (torch.arange(size) for size in scaled.shape[-2:])
        return scaled - (queries[:, None] - keys).abs()


@common("a score never computed",
        why="The loop over the keys, or over the queries, leaves out the last or the first: these scores are "
            "still 0 when the softmax comes.",
        look="the first and the last turn of each loop.", hint="scores")
class LastKeyWithoutScore:
    keep = (..., slice(None, -1))

    def masked(self, scaled):
        kept = torch.zeros_like(scaled)
        kept[self.keep] = scaled[self.keep]
        return kept


for name, keep in (("FirstKey", (..., slice(1, None))), ("LastQuery", (..., slice(None, -1), slice(None))),
                   ("FirstQuery", (..., slice(1, None), slice(None))),
                   ("LastOfBoth", (..., slice(None, -1), slice(None, -1))),
                   ("FirstOfBoth", (..., slice(1, None), slice(1, None)))):
    common("a score never computed")(type(f"{name}WithoutScore", (LastKeyWithoutScore,), {"keep": keep}))


@common("zeros for a mask",
        why="The scores on one side of the diagonal are set to 0. No mask is asked for here, and a score of "
            "0 forbids nothing: exp(0) is 1.",
        look="`tril`, `triu`, and loops that end early: which scores are 0?", hint="scores")
class LowerScores:
    def masked(self, scaled):
        return scaled.tril()


@common("zeros for a mask")
class UpperScores:
    def masked(self, scaled):
        return scaled.triu()


@common("zeros for a mask")
class LowerScoresWithoutDiagonal:
    def masked(self, scaled):
        return scaled.tril(-1)


@common("zeros for a mask")
class UpperScoresWithoutDiagonal:
    def masked(self, scaled):
        return scaled.triu(1)


@common("features compared, not vectors",
        why="The scores compare features with each other: the sum runs over the positions, not over the "
            "features.",
        look="how many scores should there be for 2 queries and 3 keys, each of 4 features?", hint="scores")
class FeaturesCompared:
    def scores(self, query, key, value):
        return query.transpose(-2, -1) @ key


@common("features compared, not vectors")
class FeaturesComparedAndMixed(FeaturesCompared):
    def output(self, weights, value, query):
        return value @ weights


@common("features compared, not vectors")
class FeaturesComparedAndMixedBack(FeaturesCompared):
    def output(self, weights, value, query):
        return value @ weights.transpose(-2, -1)


@common("features compared, not vectors")
class FeaturesComparedAndLeftTransposed(FeaturesCompared):
    def output(self, weights, value, query):
        return weights @ value.transpose(-2, -1)


@common("features compared, not vectors")
class FeaturesComparedAndTransposed(FeaturesCompared):
    def output(self, weights, value, query):
        return (weights @ value.transpose(-2, -1)).transpose(-2, -1)


@common("queries and keys swapped",
        why="The keys ask and the queries answer: each row belongs to a key.",
        look="rows ask. Whose row is it?", hint="scores", pairs=True)
class KeysAsk:
    def scores(self, query, key, value):
        return super().scores(key, query, value)


@common("queries and keys swapped")
class KeysAskAndAreTurned(KeysAsk):
    def output(self, weights, value, query):
        return weights.transpose(-2, -1) @ value


@common("queries meet the values",
        why="The scores are query · value: the keys are never used to find anything.",
        look="what is a key for, and what is a value for?", hint="scores", pairs=True)
class QueriesMeetValues:
    def scores(self, query, key, value):
        return super().scores(query, value, value)


@common("keys and values swapped",
        why="The values are searched and the keys are averaged: the two have changed their roles.",
        look="what does a key offer to be found by, and what does it hand over "
             "once found?", hint="scores", pairs=True)
class KeysAndValuesSwapped:
    def roles(self, query, key, value):
        return query, value, key


@common("queries and values swapped",
        why="The values ask and the queries are averaged: the two have changed their roles.",
        look="which of the three asks, which is found, which is handed over?", hint="scores")
class QueriesAndValuesSwapped:
    def roles(self, query, key, value):
        return value, key, query


@common("the roles turned round",
        why="The three arguments are used in each other's roles.",
        look="which of the three asks, which is found, which is handed over?", hint="scores")
class RolesTurned:
    def roles(self, query, key, value):
        return key, value, query


@common("the roles turned round")
class RolesTurnedBack:
    def roles(self, query, key, value):
        return value, query, key


@common("keys meet keys",
        why="The scores are key · key: the queries are never asked.",
        look="the first factor of your dot products.", hint="scores", pairs=True)
class KeysMeetKeys:
    def scores(self, query, key, value):
        return super().scores(key, key, value)


@common("queries meet queries",
        why="The scores are query · query: the keys are never used.",
        look="the second factor of your dot products.", hint="scores", pairs=True)
class QueriesMeetQueries:
    def scores(self, query, key, value):
        return super().scores(query, query, value)


@common("the queries in all three roles",
        why="Query, key and value are all the query: the other two arguments are never used.",
        look="where are `key` and `value` used?", hint="scores")
class QueriesOnly:
    def roles(self, query, key, value):
        return query, query, query


@common("cosines for dot products",
        why="The vectors are brought to length 1 before they meet, so a score is a cosine: it no longer "
            "knows how long they are.",
        look="a key twice as long: should its scores change?", hint="scores", pairs=True)
class Cosines:
    def scores(self, query, key, value):
        return super().scores(F.normalize(query, dim=-1), F.normalize(key, dim=-1), value)


@common("one of the two brought to length 1",
        why="Either the queries or the keys are brought to length 1 before they meet: a score no longer "
            "knows how long they are.",
        look="a vector twice as long: should its scores change?", hint="scores", pairs=True)
class QueriesOfLengthOne:
    def scores(self, query, key, value):
        return super().scores(F.normalize(query, dim=-1), key, value)


@common("one of the two brought to length 1")
class KeysOfLengthOne:
    def scores(self, query, key, value):
        return super().scores(query, F.normalize(key, dim=-1), value)


@common("a softmax before the product",
        why="The queries or the keys themselves go through a softmax, not their scores: the rows of the "
            "weights need not sum to 1.",
        look="what does the softmax turn into weights?", hint="scores")
class SoftmaxOfQueries:
    def scores(self, query, key, value):
        return super().scores(query.softmax(dim=-1), key, value)

    def weights(self, scaled):
        return scaled


@common("a softmax before the product")
class SoftmaxOfKeys:
    def scores(self, query, key, value):
        return super().scores(query, key.softmax(dim=-1), value)

    def weights(self, scaled):
        return scaled


@common("a softmax before the product")
class SoftmaxOfBoth:
    def scores(self, query, key, value):
        return super().scores(query.softmax(dim=-1), key.softmax(dim=-1), value)

    def weights(self, scaled):
        return scaled


@common("a softmax before the product")
class SoftmaxOfBothUnscaled(SoftmaxOfBoth):
    def scaled(self, scores, query, key, value):
        return scores


@common("a softmax before the product")
class SoftmaxOfQueriesUnscaled(SoftmaxOfQueries):
    def scaled(self, scores, query, key, value):
        return scores


@common("a softmax before the product")
class SoftmaxOfKeysUnscaled(SoftmaxOfKeys):
    def scaled(self, scores, query, key, value):
        return scores


@common("distances for dot products",
        why="The scores are made of the distances between queries and keys, not of dot products.",
        look="how does the contract make a number out of a query and a key?", hint="scores")
class NegativeDistances:
    def scores(self, query, key, value):
        return -torch.cdist(query, key)


@common("distances for dot products")
class Distances:
    def scores(self, query, key, value):
        return torch.cdist(query, key)


@common("distances for dot products")
class NegativeSquaredDistances:
    def scores(self, query, key, value):
        return -torch.cdist(query, key) ** 2


@common("distances for dot products")
class SquaredDistances:
    def scores(self, query, key, value):
        return torch.cdist(query, key) ** 2


@common("both transposed",
        why="The query is transposed as well as the key, which works only where sizes happen to agree: the "
            "scores mix features with positions.",
        look="`a @ b` takes rows of a and columns of b. Where do the queries stand?", hint="scores")
class BothTransposed:
    def scores(self, query, key, value):
        return query.transpose(-2, -1) @ key.transpose(-2, -1)


@common("one query for all",
        why="The same query asks every time, the first or the last, so all rows of the weights are equal.",
        look="which query asks in row 1 of your weights?", hint="scores")
class FirstAsksForAll:
    def masked(self, scaled):
        return scaled[..., :1, :].expand_as(scaled)


@common("one query for all")
class LastAsksForAll:
    def masked(self, scaled):
        return scaled[..., -1:, :].expand_as(scaled)


@common("summed over the batch",
        why="The scores of all the sequences are added up: every sequence gets the weights of this sum.",
        look="which letters, or dimensions, does the product leave out?", hint="batch")
class SummedOverTheBatch:
    def masked(self, scaled):
        return scaled.sum(0) if scaled.dim() > 2 else scaled


@common("summed over the batch")
class SummedOverAllLeading:
    def masked(self, scaled):
        return scaled.flatten(0, -3).sum(0) if scaled.dim() > 2 else scaled


@common("the vectors centred first",
        why="A mean is subtracted from the queries or the keys before they meet; the contract compares them "
            "as they are.",
        look="what happens to the vectors before the dot products?", hint="scores")
class Centred:
    which, dimension = (True, True), -1

    def scores(self, query, key, value):
        query, key = (one - one.mean(self.dimension, keepdim=True) if centred else one
                      for one, centred in zip((query, key), self.which, strict=True))
        return super().scores(query, key, value)


for name, which, dimension in (("QueriesCentred", (True, False), -1), ("AllCentred", (True, True), -2),
                               ("QueriesCentredTogether", (True, False), -2)):
    common("the vectors centred first")(type(name, (Centred,), {"which": which, "dimension": dimension}))


@common("one batch for all",
        why="The sequences of the batch are strung into one long sequence, so queries also meet the keys of "
            "other sequences.",
        look="every `view`, `reshape` and `flatten`: do the leading dimensions survive?", hint="batch")
class OneBatchForAll:
    def attend(self, query, key, value):
        return super().attend(*(one.reshape(-1, one.shape[-1]) for one in (query, key, value)))


@common("one batch for all")
class OneBatchForAllPutBack(OneBatchForAll):
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output.reshape(*query.shape[:-1], value.shape[-1]), weights


@common("a causal mask",
        why="Each query attends only to the keys up to its own position. No mask is asked for here: each "
            "attends to all.",
        look="the first row of your weights.", hint="weights", pairs=True)
class CausalMask:
    def masked(self, scaled):
        return scaled.masked_fill(torch.ones_like(scaled).triu(1) == 1, -1e9)


@common("a causal mask")
class CausalMaskAfterwards:
    def weights(self, scaled):
        return super().weights(scaled).tril()


@common("a causal mask for the output alone",
        why="The output is made with a causal mask, as `is_causal=True` asks of PyTorch, and without the "
            "weights that are returned: there is no mask in those, and none is asked for.",
        look="with which weights is the output made?", hint="output", pairs=True)
class CausalOutput:
    scale = None  # PyTorch's own

    def attend(self, query, key, value):
        output = F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=self.scale)
        return output, super().attend(query, key, value)[1]


@common("a causal mask for the output alone", alone=True)
class CausalOutputUnscaled(CausalOutput):
    scale = 1.0


@common("a mask on what came before",
        why="Each query attends only to the keys from its own position on. No mask is asked for here: each "
            "attends to all.",
        look="the last row of your weights.")
class AntiCausalMask:
    def masked(self, scaled):
        return scaled.masked_fill(torch.ones_like(scaled).tril(-1) == 1, -1e9)


@common("no query may attend to its own position",
        why="The diagonal is taken out, so no query attends to the key at its own position. No mask is asked"
            " for here.",
        look="the diagonal of your weights.", hint="weights", pairs=True)
class NotItself:
    def masked(self, scaled):
        return scaled.masked_fill(torch.eye(*scaled.shape[-2:], dtype=torch.bool), -1e9)


# Weights: what the softmax runs over


@common("softmax over the queries",
        why="The softmax runs over the queries: each column of the weights sums to 1, instead of each row.",
        look="one query's weights must sum to 1. Which dimension holds them?", pairs=True)
class SoftmaxOverQueries:
    def weights(self, scaled):
        return scaled.softmax(dim=-2)


@common("softmax over dimension 1",
        why="The softmax runs over dimension 1. Those are the keys only as long as there are no leading "
            "dimensions.",
        look="how can the last dimension be named, however many come before?", pairs=True)
class SoftmaxOverOne:
    def weights(self, scaled):
        return scaled.softmax(dim=1)


@common("softmax over dimension 2",
        why="The softmax runs over dimension 2. Those are the keys only as long as there is one leading "
            "dimension.",
        look="how can the last dimension be named, however many come before?", pairs=True)
class SoftmaxOverTwo:
    def weights(self, scaled):
        return scaled.softmax(dim=2)


@common("softmax over dimension 0",
        why="The softmax runs over dimension 0: over the queries, or over the batch where there is one.",
        look="one query's weights must sum to 1. Which dimension holds them?", pairs=True)
class SoftmaxOverZero:
    def weights(self, scaled):
        return scaled.softmax(dim=0)


@common("softmax over the dimension before the queries",
        why="The softmax runs over the dimension before the queries, the sequences or the heads: these then "
            "compete, where the keys should.",
        look="one query's weights must sum to 1. Which dimension holds them?", pairs=True)
class SoftmaxOverHeads:
    def weights(self, scaled):
        return scaled.softmax(dim=-3)


@common("softmax without a dimension",
        why="The softmax is not told its dimension, and takes another one than the keys where there are "
            "leading dimensions. PyTorch warns of this.",
        look="which argument of `softmax` says what must sum to 1?", pairs=True)
class SoftmaxWithoutDimension:
    def weights(self, scaled):
        return F.softmax(scaled, _stacklevel=2)


@common("softmax over everything",
        why="The softmax runs over queries and keys at once: all the weights of a sequence, or of the whole "
            "batch, together sum to 1.",
        look="sum one row of the weights.", pairs=True)
class SoftmaxOverEverything:
    def weights(self, scaled):
        return scaled.flatten(-2).softmax(dim=-1).reshape(scaled.shape)


@common("softmax over everything")
class SoftmaxOverTheWholeBatch:
    def weights(self, scaled):
        return scaled.flatten().softmax(dim=-1).reshape(scaled.shape)


@common("no keepdim",
        why="The sum over a row has lost its dimension, and lines up with the columns: it divides by the "
            "sums of other rows, or raises.",
        look="print the shapes of the exponentials and of their sum, one below the other.", pairs=True)
class NoKeepdim:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp().sum(dim=-1)


@common("no keepdim", alone=True)
class NoKeepdimStable:
    def weights(self, scaled):
        exponentials = (scaled - scaled.max()).exp()
        return exponentials / exponentials.sum(dim=-1)


@common("no keepdim")
class NoKeepdimRowShift:
    def weights(self, scaled):
        exponentials = (scaled - scaled.amax(-1, keepdim=True)).exp()
        return exponentials / exponentials.sum(dim=-1)


@common("the sum changes while it divides",
        why="The sum is taken again after some of the exponentials have been divided already, so each part "
            "is divided by another sum.",
        look="is the sum computed once, before the first division?")
class SumChangesInTheRow:
    def weights(self, scaled):
        weights = scaled.exp()
        for place in range(weights.shape[-1]):
            weights[..., place] /= weights.sum(-1)
        return weights


@common("the sum changes while it divides")
class SumChangesInTheTable:
    def weights(self, scaled):
        weights = scaled.exp()
        for place in range(len(weights)):
            weights[place] = weights[place] / weights.sum()
        return weights


@common("a key left out of the sum",
        why="The sum below the line leaves out one key, the last or the first, so a row sums to more than 1.",
        look="the first and the last turn of the loop, or the slice, that makes the sum.")
class LastLeftOutOfTheSum:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp()[..., :-1].sum(-1, keepdim=True)


@common("a key left out of the sum")
class FirstLeftOutOfTheSum:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp()[..., 1:].sum(-1, keepdim=True)


@common("only one term of the sum",
        why="The exponentials are divided by a single one of them, the last or the first: nothing has been "
            "added up.",
        look="`=` or `+=`?")
class OnlyTheLastOfTheSum:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp()[..., -1:]


@common("only one term of the sum")
class OnlyTheFirstOfTheSum:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp()[..., :1]


@common("divided by the mean",
        why="The exponentials are divided by their mean, so that each row sums to the number of keys.",
        look="sum one row of the weights.")
class DividedByMean:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp().mean(-1, keepdim=True)


@common("divided by the sum so far",
        why="Each exponential is divided while the sum is still growing: by what has been added up to there, "
            "not by the sum of the whole row.",
        look="where does the loop that adds end, and where does the one that divides begin?")
class SumSoFar:
    def weights(self, scaled):
        return scaled.exp() / scaled.exp().cumsum(-1)


@common("torch.softmax without a dimension",
        why="`torch.softmax` must be told which dimension it runs over.",
        look="which dimension of the scores holds what competes?", raises=True)
class SoftmaxToldNothing:
    def weights(self, scaled):
        return torch.softmax(scaled)


@common("torch.softmax without a dimension")
class SoftmaxMethodToldNothing:
    def weights(self, scaled):
        return scaled.softmax()


@common("the columns' largest subtracted",
        why="From each column of the scores its own largest is subtracted. Within a row, different numbers "
            "are then taken off, and that changes the weights.",
        look="which scores must all lose the same amount, so that nothing changes?")
class ColumnsLargest:
    def masked(self, scaled):
        return scaled - scaled.amax(-2, keepdim=True)


@common("the largest, with its place",
        why="`max` with a dimension returns two things, the largest numbers and their places; neither can be "
            "subtracted before one is chosen.",
        look="print what `scores.max(dim=-1)` gives.", raises=True)
class LargestWithItsPlace:
    def masked(self, scaled):
        return scaled - scaled.max(dim=-1, keepdim=True)


# Weights: what is done in the place of a softmax


@common("no softmax",
        why="The scores themselves are used as weights: some are negative, and the rows do not sum to 1.",
        look="what turns scores into weights?", pairs=True)
class NoSoftmax:
    def weights(self, scaled):
        return scaled


@common("scores divided by their sum",
        why="The scores are divided by their sum, with no exponential: negative scores become negative "
            "weights, and a sum near 0 blows everything up.",
        look="which function makes every score positive, and keeps their order?", pairs=True)
class DividedBySum:
    def weights(self, scaled):
        return scaled / scaled.sum(dim=-1, keepdim=True)


@common("exponentials not divided by their sum",
        why="The exponentials are used without being divided by their sum, so the rows do not sum to 1.",
        look="sum one row of the weights.", pairs=True)
class NotNormalised:
    def weights(self, scaled):
        return scaled.exp()


@common("exponentials not divided by their sum", alone=True)
class ShiftedNotNormalised:
    def weights(self, scaled):
        return (scaled - scaled.amax(-1, keepdim=True)).exp()


@common("the logarithm of the weights",
        why="This is a log-softmax: every weight is negative or 0, and a row does not sum to 1.",
        look="sum one row of the weights.", pairs=True)
class LogSoftmax:
    def weights(self, scaled):
        return scaled.log_softmax(dim=-1)


@common("a sigmoid for the softmax",
        why="Each score goes through a sigmoid of its own: the keys of a query do not compete, and its row "
            "does not sum to 1.",
        look="sum one row of the weights.", pairs=True)
class Sigmoid:
    def weights(self, scaled):
        return scaled.sigmoid()


@common("sigmoids divided by their sum",
        why="Each score goes through a sigmoid before the division. The rows sum to 1, but the ratios "
            "between the weights are others.",
        look="scores of 0 and 1: how many times as large should the second weight be?")
class SigmoidsNormalised:
    def weights(self, scaled):
        return F.normalize(scaled.sigmoid(), p=1.0, dim=-1)


@common("a hyperbolic tangent for the softmax",
        why="Each score goes through a tanh of its own: some weights are negative, and a row does not sum to"
            " 1.",
        look="sum one row of the weights.")
class Tanh:
    def weights(self, scaled):
        return scaled.tanh()


@common("negative scores cut to 0",
        why="Negative scores become 0, so that their keys get no weight at all; there is no exponential.",
        look="should a negative score get no weight at all?")
class Relu:
    def weights(self, scaled):
        return scaled.relu()


@common("negative scores cut to 0")
class ReluNormalised:
    def weights(self, scaled):
        return scaled.relu() / scaled.relu().sum(dim=-1, keepdim=True)


@common("negative scores cut to 0")
class ReluNormalisedWithEpsilon:
    def weights(self, scaled):
        return scaled.relu() / (scaled.relu().sum(dim=-1, keepdim=True) + 1e-9)


@common("signs lost before the division",
        why="The scores lose their signs, by `abs` or a square, and are then divided by their sum: a score "
            "of -2 gets as much weight as one of 2.",
        look="should a negative score get more weight than a score of 0?")
class AbsoluteNormalised:
    def weights(self, scaled):
        return scaled.abs() / scaled.abs().sum(dim=-1, keepdim=True)


@common("signs lost before the division")
class SquaresNormalised:
    def weights(self, scaled):
        return scaled ** 2 / (scaled ** 2).sum(dim=-1, keepdim=True)


@common("scores divided by their norm",
        why="The scores are divided by a norm, a root of squares or a sum of absolute values; there is no "
            "exponential, and negative scores become negative weights.",
        look="which function makes every score positive, and keeps their order?", pairs=True)
class DividedByNorm:
    def weights(self, scaled):
        return F.normalize(scaled, dim=-1)


@common("scores divided by their norm", alone=True)
class DividedByAbsoluteSum:
    def weights(self, scaled):
        return F.normalize(scaled, p=1.0, dim=-1)


@common("unit length, not unit sum",
        why="The exponentials are divided by the root of the sum of their squares, so it is the squares of "
            "the weights that sum to 1.",
        look="sum one row of the weights.", pairs=True)
class UnitLength:
    def weights(self, scaled):
        return F.normalize(scaled.exp(), dim=-1)


@common("a small number added below the line",
        why="What is added to the sum, so that it is never 0, is large enough to be seen: the rows sum to "
            "less than 1.",
        look="can a sum of exponentials be 0, once the largest exponent is 0?")
class Epsilon:
    def weights(self, scaled):
        return scaled.exp() / (scaled.exp().sum(-1, keepdim=True) + 1e-2)


@common("a small number added below the line")
class SmallEpsilon:
    def weights(self, scaled):
        return scaled.exp() / (scaled.exp().sum(-1, keepdim=True) + 1e-3)


@common("a lower bound for the weights",
        why="Weights below a limit are raised to it after the softmax, so the rows no longer sum to 1.",
        look="`clamp`, `max` or `where`, after the softmax.")
class LowerBound:
    def weights(self, scaled):
        return super().weights(scaled).clamp(min=0.1)


@common("only the best match",
        why="The whole weight of each row goes to its largest score. A softmax leaves something for all.",
        look="two scores that differ by a hair: should one get everything?", pairs=True)
class OnlyTheBest:
    def weights(self, scaled):
        return F.one_hot(scaled.argmax(dim=-1), scaled.shape[-1]).to(scaled.dtype)


@common("equal weights",
        why="Every key gets the same weight, so each output is the plain average of the values.",
        look="where do the scores enter the weights?")
class EqualWeights:
    def weights(self, scaled):
        return torch.full_like(scaled, 1 / scaled.shape[-1])


@common("a running average",
        why="Each output is the plain average of the values up to the query's own position: the scores have "
            "no part in it, and the later keys are left out.",
        look="where do the scores enter the weights?")
class RunningAverage:
    def weights(self, scaled):
        allowed = torch.ones_like(scaled).tril()
        return allowed / allowed.sum(-1, keepdim=True)


@common("softmax twice",
        why="The weights go through a second softmax, which makes them nearly equal.",
        look="how many times is a softmax taken on the way?", pairs=True)
class SoftmaxTwice:
    def weights(self, scaled):
        return super().weights(super().weights(scaled))


@common("the sign flipped",
        why="The scores enter the softmax with the opposite sign: the worst match gets the largest weight.",
        look="every minus on the way to the softmax.", pairs=True)
class SignFlipped:
    def masked(self, scaled):
        return -scaled


@common("signs lost before the softmax",
        why="The scores enter the softmax without their signs: a key that points away counts as one that "
            "matches.",
        look="should opposite vectors match?")
class AbsoluteScores:
    def masked(self, scaled):
        return scaled.abs()


@common("signs lost before the softmax")
class SquaredScores:
    def masked(self, scaled):
        return scaled ** 2


@common("negative scores cut to 0 before the softmax",
        why="Negative scores become 0 before the softmax, so that a bad match counts as much as none.",
        look="what stands between the dot products and the softmax?")
class ReluBefore:
    def masked(self, scaled):
        return scaled.relu()


@common("the scores clipped",
        why="The scores are cut off at a limit, so that a good match and a very good one become equal.",
        look="which operations stand between the dot products and the softmax in the "
             "contract?", hint="weights")
class Clipped:
    limits = -1, 1

    def masked(self, scaled):
        return scaled.clamp(*self.limits)


for limits in ((-0.5, 0.5), (-2, 2), (None, 1), (0, 1)):
    common("the scores clipped")(type("ClippedAt", (Clipped,), {"limits": limits}))


@common("rounded scores",
        why="The scores are rounded before the softmax: keys that match differently well become equal.",
        look="`round`, `int`, `long` and `//` on the way to the softmax.")
class RoundedScores:
    def masked(self, scaled):
        return scaled.round()


@common("rounded scores")
class ScoresWithoutDecimals:
    def masked(self, scaled):
        return scaled.trunc()


@common("rounded scores")
class ScoresOfOneDecimal:
    def masked(self, scaled):
        return scaled.round(decimals=1)


@common("rounded scores")
class ScoresOfTwoDecimals:
    def masked(self, scaled):
        return scaled.round(decimals=2)


@common("only the few best",
        why="Each query attends only to the few keys that match best, and the others get nothing; a softmax "
            "leaves something for all.",
        look="which of your weights are exactly 0?")
class OnlyTheTwoBest:
    many, again = 2, True

    def weights(self, scaled):
        weights = super().weights(scaled)
        least = weights.topk(min(self.many, weights.shape[-1]), dim=-1).values[..., -1:]
        kept = torch.where(weights >= least, weights, 0)
        return kept / kept.sum(-1, keepdim=True) if self.again else kept


for many, again in ((3, True), (2, False), (3, False)):
    common("only the few best")(type("OnlyTheBestOf", (OnlyTheTwoBest,), {"many": many, "again": again}))


@common("scores divided by one of themselves",
        why="The scores are divided by the largest of them, or by their mean, in each row or in all: how "
            "sharp the softmax is then no longer depends on the vectors.",
        look="what stands between the dot products and the softmax in the contract?", hint="weights")
class OverTheLargest:
    def masked(self, scaled):
        return scaled / scaled.abs().amax(-1, keepdim=True)


for divide_by in (lambda scores: scores.abs().max(), lambda scores: scores.amax(-1, keepdim=True),
                  lambda scores: scores.max(), lambda scores: scores.mean(),
                  lambda scores: scores.mean(-1, keepdim=True)):
    common("scores divided by one of themselves")(type("OverOneOfThem", (), {
        "masked": lambda self, scaled, divide_by=divide_by: scaled / divide_by(scaled)}))


@common("squashed scores",
        why="Each score goes through a tanh or a sigmoid before the softmax: a good match and a very good "
            "one become nearly equal.",
        look="what stands between the dot products and the softmax?")
class TanhBefore:
    def masked(self, scaled):
        return scaled.tanh()


@common("squashed scores")
class SigmoidBefore:
    def masked(self, scaled):
        return scaled.sigmoid()


for cap in (2, 5, 10):
    common("squashed scores")(type("Capped", (), {
        "masked": lambda self, scaled, cap=cap: cap * (scaled / cap).tanh()}))


@common("the exponential taken twice",
        why="The softmax gets the exponentials of the scores, and takes theirs once more: the best match "
            "gets nearly everything.",
        look="how many times is an exponential taken on the way?")
class ExponentialTwice:
    def masked(self, scaled):
        return scaled.exp()


@common("divided over rows and columns",
        why="The weights are made to sum to 1 over the keys and over the queries as well; the second spoils "
            "the first.",
        look="how many times is something divided by a sum?")
class KeysThenQueries:
    def weights(self, scaled):
        weights = super().weights(scaled)
        return weights / weights.sum(-2, keepdim=True)


@common("divided over rows and columns")
class QueriesThenKeys:
    def weights(self, scaled):
        weights = scaled.softmax(-2)
        return weights / weights.sum(-1, keepdim=True)


@common("divided over rows and columns")
class SoftmaxOfBothInTurn:
    def weights(self, scaled):
        return super().weights(scaled).softmax(-2)


@common("divided over rows and columns")
class SoftmaxOfBothInOtherTurn:
    def weights(self, scaled):
        return super().weights(scaled.softmax(-2))


@common("divided over rows and columns")
class SoftmaxOfBothMultiplied:
    def weights(self, scaled):
        return super().weights(scaled) * scaled.softmax(-2)


@common("standardised scores",
        why="The scores are divided by their own standard deviation, so that every softmax comes out about "
            "equally sharp, whatever the vectors are.",
        look="which operations stand between the dot products and the softmax in the "
             "contract?", hint="weights")
class Standardised:
    def masked(self, scaled):
        return scaled / scaled.std(-1, keepdim=True)


@common("standardised scores")
class StandardisedBiased:
    def masked(self, scaled):
        return F.layer_norm(scaled, scaled.shape[-1:])


@common("standardised scores")
class StandardisedOverAll:
    def masked(self, scaled):
        return scaled / scaled.std()


@common("rounded weights",
        why="The weights are rounded, so they no longer sum to exactly 1. Decimals are cut for showing, not "
            "for computing.",
        look="every call of `round` on the way to the `return`.")
class RoundedWeights:
    def weights(self, scaled):
        return super().weights(scaled).round(decimals=2)


@common("rounded weights")
class WeightsRoundedToOne:
    def weights(self, scaled):
        return super().weights(scaled).round(decimals=1)


@common("rounded weights")
class WeightsRoundedToThree:
    def weights(self, scaled):
        return super().weights(scaled).round(decimals=3)


@common("rounded weights")
class WeightsRoundedToFour:
    def weights(self, scaled):
        return super().weights(scaled).round(decimals=4)


# Output


@common("the keys' average for the output",
        why="The weights average the keys; the values are never read.",
        look="what does a key offer to be found by, and what does it hand over once "
             "found?", hint="output", pairs=True)
class AveragesKeys:
    def roles(self, query, key, value):
        return query, key, key


@common("the queries' average for the output",
        why="The weights average the queries; the values are never read.",
        look="which of the three is handed over once it is found?", hint="output", pairs=True)
class AveragesQueries:
    def roles(self, query, key, value):
        return query, key, query


@common("weights transposed for the output",
        why="The output reads the weights by columns: how much each key is asked for, not how much each "
            "query asks; and a column need not sum to 1.",
        look="output row 0 belongs to query 0. Which row of the weights is that?", hint="output", pairs=True)
class WeightsTransposed:
    def output(self, weights, value, query):
        return weights.transpose(-2, -1) @ value


@common("the value transposed",
        why="The weights meet the value with its last two dimensions swapped, which works only where sizes "
            "happen to agree: the sums run over features, not over keys.",
        look="`a @ b` sums over the rows of b. What should the sum run over?", hint="output")
class ValueTransposed:
    def output(self, weights, value, query):
        return weights @ value.transpose(-2, -1)


@common("the value before the weights",
        why="The value stands before the weights, which works only where sizes happen to agree: the weights "
            "then mix features, not positions.",
        look="`a @ b` sums over the columns of a and the rows of b. Which of the two holds "
             "the keys?", hint="output")
class ValueFirst:
    def output(self, weights, value, query):
        return value @ weights


@common("weights times value, number by number",
        why="`*` multiplies number by number; the output is a sum over the keys.",
        look="what does the output of one query add up?", hint="output")
class TimesValue:
    def output(self, weights, value, query):
        return weights * value


@common("the weighted values not summed",
        why="Each value has been multiplied by its weight, but nothing is added up: for every query there "
            "are still as many values as there are keys.",
        look="which dimension must disappear, and how?", hint="output")
class NotSummed:
    def output(self, weights, value, query):
        return weights[..., None] * value[..., None, :, :]


@common("summed over the queries",
        why="The weighted values are summed over the queries: what each key gives away in all, one row for "
            "each key.",
        look="which dimension of the weighted values holds the keys?", hint="output")
class SummedOverQueries:
    def output(self, weights, value, query):
        return (weights[..., None] * value[..., None, :, :]).sum(-3)


@common("averaged twice",
        why="The weighted sums are divided by the number of keys. Weights that sum to 1 have already made "
            "averages of them.",
        look="every `mean` and every division after the softmax.", hint="output", pairs=True)
class AveragedTwice:
    def output(self, weights, value, query):
        return super().output(weights, value, query) / value.shape[-2]


@common("the plain average of the values",
        why="The output is the same plain average of the values for every query: the weights are not used.",
        look="where do the weights enter the output?", hint="output")
class PlainAverage:
    def output(self, weights, value, query):
        return super().output(torch.full_like(weights, 1 / weights.shape[-1]), value, query)


@common("the best match for the output",
        why="The output is the one value with the largest weight, not the average of all of them.",
        look="what do the other weights of the row do?", hint="output")
class BestValue:
    def output(self, weights, value, query):
        best = F.one_hot(weights.argmax(-1), weights.shape[-1])
        return super().output(best.to(weights.dtype), value, query)


@common("the scores for the output",
        why="The output is made with the scores, from before the softmax; the weights that are returned "
            "never meet the values.",
        look="which tensor stands beside the value in the last product?", hint="output", pairs=True)
class ScoresForTheOutput:
    def attend(self, query, key, value):
        scaled = self.scaled(self.scores(query, key, value), query, key, value)
        return self.output(scaled, value, query), super().attend(query, key, value)[1]


@common("the scores for the output", alone=True)
class RawScoresForTheOutput:
    def attend(self, query, key, value):
        scores = self.scores(query, key, value)
        return self.output(scores, value, query), super().attend(query, key, value)[1]


@common("the query added to the output",
        why="The query is added to the average. Such a skip connection comes in lesson 7; this contract asks"
            " for the average alone.",
        look="what stands after the average?", hint="output", pairs=True)
class QueryAdded:
    def output(self, weights, value, query):
        return super().output(weights, value, query) + query


@common("the value added to the output",
        why="The value is added to the average. The contract asks for the average alone.",
        look="what stands after the average?", hint="output", pairs=True)
class ValueAdded:
    def output(self, weights, value, query):
        return super().output(weights, value, query) + value


@common("the sum starts at 1",
        why="The sum of the weighted values does not start from 0 but from 1: every number of the output is "
            "1 too large.",
        look="what is in the output before the first value is added?", hint="output")
class StartsAtOne:
    def output(self, weights, value, query):
        return super().output(weights, value, query) + 1


@common("the largest weighted value, not the sum",
        why="Of the weighted values only the largest is kept, feature by feature; the output adds them up.",
        look="which operation follows the products with the weights?", hint="output")
class LargestWeighted:
    def output(self, weights, value, query):
        return (weights[..., None] * value[..., None, :, :]).amax(-2)


@common("the values changed first",
        why="The values are brought to length 1, or lose their mean, before they are averaged. They are "
            "handed over as they are.",
        look="what happens to the value before it meets the weights?", hint="output")
class ValuesOfLengthOne:
    def output(self, weights, value, query):
        return super().output(weights, F.normalize(value, dim=-1), query)


@common("the values changed first")
class ValuesCentred:
    def output(self, weights, value, query):
        return super().output(weights, value - value.mean(-1, keepdim=True), query)


@common("a softmax of the output",
        why="The output goes through a softmax of its own: its features then sum to 1, which no average of "
            "values does.",
        look="what stands after the average?", hint="output")
class SoftmaxOfOutput:
    def output(self, weights, value, query):
        return super().output(weights, value, query).softmax(dim=-1)


@common("something done to the average",
        why="The average goes through a ReLU, a tanh or a layer norm before it is returned; the contract "
            "asks for the average alone.",
        look="what stands after the average?", hint="output")
class ReluOfOutput:
    def output(self, weights, value, query):
        return super().output(weights, value, query).relu()


@common("something done to the average")
class TanhOfOutput:
    def output(self, weights, value, query):
        return super().output(weights, value, query).tanh()


@common("something done to the average")
class NormOfOutput:
    def output(self, weights, value, query):
        return F.layer_norm(super().output(weights, value, query), value.shape[-1:])


@common("something done to the average")
class LengthOneOfOutput:
    def output(self, weights, value, query):
        return F.normalize(super().output(weights, value, query), dim=-1)


@common("the sums run on",
        why="What is summed for one query is not cleared for the next, so each output also holds all the "
            "outputs before it.",
        look="where in the loop does the sum start from 0?", hint="output")
class SumsRunOn:
    def output(self, weights, value, query):
        return super().output(weights, value, query).cumsum(dim=-2)


@common("only the last term of the sum",
        why="Each turn of the loop over the keys replaces the output, so that of the sum only the last "
            "weighted value is left.",
        look="`=` or `+=`?", hint="output")
class OnlyTheLastTerm:
    def output(self, weights, value, query):
        return weights[..., -1:] * value[..., -1:, :]


@common("a key left out",
        why="The sum over the keys leaves out the last one, or the first: the loop ends too early, or starts"
            " too late.",
        look="the first and the last turn of the loop over the keys.", hint="output", pairs=True)
class LastKeyLeftOut:
    def output(self, weights, value, query):
        return weights[..., :-1] @ value[..., :-1, :]


@common("a key left out", alone=True)
class FirstKeyLeftOut:
    def output(self, weights, value, query):
        return weights[..., 1:] @ value[..., 1:, :]


@common("a query left out",
        why="One row of the output is never filled in and keeps its zeros: the loop ends too early, or "
            "starts too late.",
        look="the first and the last turn of the loop over the queries.", hint="output")
class LastQueryLeftOut:
    def output(self, weights, value, query):
        output = super().output(weights, value, query)
        return torch.cat([output[..., :-1, :], torch.zeros_like(output[..., -1:, :])], dim=-2)


@common("one vector for the whole sequence",
        why="One vector is left of each sequence, where every query should have its own average.",
        look="print the shape of the output beside that of the query.", hint="output")
class OneVector:
    def output(self, weights, value, query):
        return super().output(weights, value, query).mean(dim=-2)


@common("one vector for the whole sequence")
class OneSum:
    def output(self, weights, value, query):
        return super().output(weights, value, query).sum(dim=-2)


@common("one vector for the whole sequence")
class LastVector:
    def output(self, weights, value, query):
        return super().output(weights, value, query)[..., -1, :]


@common("only the last of the batch",
        why="Only the last sequence of the batch gets a result: each turn of the loop throws away the one "
            "before, or the loop leaves the others out.",
        look="where does the loop keep what it has computed?", hint="output")
class LastOfTheBatch:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return (output, weights) if query.dim() < 3 else (output[-1], weights[-1])


@common("only the last of the batch")
class LastOfTheBatchRestZero:
    def attend(self, query, key, value):
        results = super().attend(query, key, value)
        if query.dim() < 3:
            return results
        return tuple(torch.cat([torch.zeros_like(one[:-1]), one[-1:]]) for one in results)


@common("only the first of the batch",
        why="The result of the first sequence stands for the whole batch.",
        look="every `[0]` and every `return` inside a loop.", hint="output")
class FirstOfTheBatch:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return (output, weights) if query.dim() < 3 else (output[0], weights[0])


@common("only the first of the batch")
class FirstOfTheBatchRepeated:
    def attend(self, query, key, value):
        results = super().attend(query, key, value)
        if query.dim() < 3:
            return results
        return tuple(one[:1].expand_as(one) for one in results)


@common("the keys of the first of the batch for all",
        why="All the queries meet the keys and values of the first sequence of the batch.",
        look="every `[0]`.", hint="output")
class KeysOfTheFirst:
    def attend(self, query, key, value):
        if query.dim() < 3:
            return super().attend(query, key, value)
        return super().attend(query, key[:1].expand_as(key), value[:1].expand_as(value))


@common("the batch summed up",
        why="The result of each sequence also holds those of the sequences before it: a sum is not cleared "
            "between them.",
        look="where in the loop does the sum start from 0?", hint="output")
class BatchSummedUp:
    def output(self, weights, value, query):
        output = super().output(weights, value, query)
        return output.cumsum(dim=0) if output.dim() > 2 else output


# What is handed over


@common("the scores for the weights",
        why="What is returned in the place of the weights are the scores, from before the softmax.",
        look="the names in the `return` line.", hint="weights", pairs=True)
class ScoresReturned:
    def attend(self, query, key, value):
        scores = self.scores(query, key, value)
        return super().attend(query, key, value)[0], self.scaled(scores, query, key, value)


@common("the scores for the weights")
class RawScoresReturned:
    def attend(self, query, key, value):
        return super().attend(query, key, value)[0], self.scores(query, key, value)


@common("weights returned transposed",
        why="The weights are returned with queries and keys swapped.",
        look="rows ask, columns answer. What happens to the weights after the output is "
             "made?", hint="weights", pairs=True)
class WeightsReturnedTransposed:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output, weights.transpose(-2, -1)


@common("output returned transposed",
        why="The output comes with positions and features swapped.",
        look="what happens to the output after the weighted sum?", hint="output", pairs=True)
class OutputReturnedTransposed:
    def output(self, weights, value, query):
        return super().output(weights, value, query).transpose(-2, -1)


@common("weights averaged over the batch or the heads",
        why="The weights are averaged over a leading dimension before they are returned: one table is left "
            "where there should be one for each.",
        look="every `mean` or `sum` of the weights.", hint="weights", pairs=True)
class WeightsAveraged:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output, weights if weights.dim() < 3 else weights.mean(-3)


@common("weights averaged over the batch or the heads", alone=True)
class WeightsAveragedOverFirst:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output, weights if weights.dim() < 3 else weights.mean(0)


@common("the scores as output",
        why="What comes in the place of the output are the scores: no value has been averaged.",
        look="the names in the `return` line.", hint="output")
class ScoresAsOutput:
    def attend(self, query, key, value):
        _, weights = super().attend(query, key, value)
        return self.scaled(self.scores(query, key, value), query, key, value), weights


@common("only one row of the weights",
        why="The weights that are returned are those of the last query, or of the first, alone.",
        look="where does the loop keep the weights of each query?", hint="weights")
class LastRowOfWeights:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output, weights[..., -1, :]


@common("only one row of the weights")
class FirstRowOfWeights:
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output, weights[..., 0, :]


@common("the features averaged away",
        why="The output is averaged or summed over its features, and one number is left for each query.",
        look="print the shape of the output beside that of the value.", hint="output")
class FeaturesAveraged:
    def output(self, weights, value, query):
        return super().output(weights, value, query).mean(-1)


@common("the features averaged away")
class FeaturesSummed:
    def output(self, weights, value, query):
        return super().output(weights, value, query).sum(-1)


@common("one result twice",
        why="The same result is returned twice: one of the two that are asked for is missing.",
        look="the names in the `return` line.", hint="weights")
class OutputTwice:
    def attend(self, query, key, value):
        output, _ = super().attend(query, key, value)
        return output, output


@common("one result twice")
class WeightsTwice:
    def attend(self, query, key, value):
        _, weights = super().attend(query, key, value)
        return weights, weights


@common("the value for the output",
        why="The value itself is returned: no weighted average has been made of it.",
        look="the names in the `return` line.", hint="output")
class ValueReturned:
    def attend(self, query, key, value):
        return value, super().attend(query, key, value)[1]


# Divisors: what the scores are divided by. Which of them are mistakes depends on the exercise.


def divided(*divisors):
    """Mixins that divide the scores by what each divisor makes of query, key and value."""
    def mixin(divisor):
        class Divided:
            def scaled(self, scores, query, key, value):
                return scores / divisor(query, key, value)
        return Divided
    return [mixin(divisor) for divisor in divisors]


FIXED = (8, 2, 64, 4, 10, math.sqrt(512), 3, 5, 6, 7, 16, 100, 512, 0.5, math.sqrt(2), math.sqrt(128))

ROOT_OF_FEATURES = divided(lambda query, key, value: math.sqrt(query.shape[-1]))
FEATURES = divided(lambda query, key, value: query.shape[-1])
TIMES_ROOT_OF_FEATURES = divided(lambda query, key, value: 1 / math.sqrt(query.shape[-1]))
TIMES_FEATURES = divided(lambda query, key, value: 1 / query.shape[-1])
DIVISORS = []  # name, "The scores are divided by …", mixins


def divisor(name, what, *ways):
    DIVISORS.append((name, what, divided(*ways)))


divisor("scaled by the number of keys", "how many keys there are, or by the square root of that",
        lambda query, key, value: math.sqrt(key.shape[-2]),
        lambda query, key, value: key.shape[-2])
divisor("scaled by the number of queries", "how many queries there are, or by the square root of that",
        lambda query, key, value: math.sqrt(query.shape[-2]),
        lambda query, key, value: query.shape[-2])
divisor("scaled by the features of a value", "how many features a value has, or by the square root of that",
        lambda query, key, value: math.sqrt(value.shape[-1]),
        lambda query, key, value: value.shape[-1])
divisor("scaled by dimension 0", "the size of dimension 0, or by the square root of that",
        lambda query, key, value: math.sqrt(query.shape[0]),
        lambda query, key, value: query.shape[0],
        lambda query, key, value: math.sqrt(key.shape[0]))
divisor("scaled by dimension 1", "the square root of dimension 1, which is another with a batch than without",
        lambda query, key, value: math.sqrt(query.shape[1]),
        lambda query, key, value: math.sqrt(key.shape[1]),
        lambda query, key, value: math.sqrt(value.shape[1]))
divisor("scaled by dimension 2", "the square root of dimension 2, which is another with heads than without",
        lambda query, key, value: math.sqrt(query.shape[2]),
        lambda query, key, value: math.sqrt(key.shape[2]))
divisor("scaled by the features of all heads", "the square root of the features of all the heads together",
        lambda query, key, value: math.sqrt(query.shape[-1] * (query.shape[-3] if query.dim() > 2 else 1)),
        lambda query, key, value: math.sqrt(query.shape[-1] * query[..., 0, 0].numel()))
divisor("scaled by the number of dimensions", "the square root of how many dimensions the query has",
        lambda query, key, value: math.sqrt(query.dim()))
divisor("scaled by √d times a number", "the square root of the number of features times something more",
        lambda query, key, value: 2 * math.sqrt(query.shape[-1]),
        lambda query, key, value: math.sqrt(query.shape[-1]) / 2,
        lambda query, key, value: 10 * math.sqrt(query.shape[-1]))
divisor("scaled by how many numbers there are",
        "the square root of how many numbers the query or the key has",
        lambda query, key, value: math.sqrt(query.numel()),
        lambda query, key, value: math.sqrt(key.numel()))
divisor("scaled by d²", "the square of the number of features",
        lambda query, key, value: query.shape[-1] ** 2)
divisor("scaled by √d of a changed d", "the square root of twice the features, or of one more or less",
        lambda query, key, value: math.sqrt(2 * query.shape[-1]),
        lambda query, key, value: math.sqrt(query.shape[-1] - 1),
        lambda query, key, value: math.sqrt(query.shape[-1] + 1))
divisor("scaled by d / 2", "half the number of features, which is also what `(d ** 1 / 2)` gives",
        lambda query, key, value: query.shape[-1] / 2,
        lambda query, key, value: query.shape[-1] // 2)
divisor("scaled by 2 d", "twice the number of features, which is also what `/ d ** 1 / 2` does",
        lambda query, key, value: 2 * query.shape[-1])
divisor("scaled by another root of d", "the third or the fourth root of the number of features",
        lambda query, key, value: query.shape[-1] ** 0.25,
        lambda query, key, value: query.shape[-1] ** (1 / 3))
divisor("scaled by the logarithm of d", "the logarithm of the number of features",
        lambda query, key, value: math.log(query.shape[-1]),
        lambda query, key, value: math.log2(query.shape[-1]))
divisor("scaled by √d without its decimals", "√d rounded to a whole number",
        lambda query, key, value: math.isqrt(query.shape[-1]),
        lambda query, key, value: round(math.sqrt(query.shape[-1])),
        lambda query, key, value: math.ceil(math.sqrt(query.shape[-1])))
divisor("scaled by a fixed number", "a fixed number, whatever the number of features",
        *(lambda query, key, value, fixed=fixed: fixed for fixed in FIXED))


# Inputs


def draw_roles(generator, lead, query, key, d_head, d_v):
    return (normal(generator, *lead, query, d_head), normal(generator, *lead, key, d_head),
            normal(generator, *lead, key, d_v))


SIZES = [  # pairwise different; then equal where a mistake runs only so, or where it must not hide
    {"lead": (), "query": 2, "key": 3, "d_head": 4, "d_v": 2},
    {"lead": (), "query": 3, "key": 3, "d_head": 3, "d_v": 3},
    {"lead": (2,), "query": 3, "key": 5, "d_head": 4, "d_v": 6},
    {"lead": (2,), "query": 4, "key": 4, "d_head": 3, "d_v": 5},
    {"lead": (3,), "query": 3, "key": 3, "d_head": 3, "d_v": 3},
    {"lead": (2, 3), "query": 4, "key": 6, "d_head": 5, "d_v": 7},
    {"lead": (3, 2), "query": 7, "key": 4, "d_head": 8, "d_v": 8},
]


# Symptoms, for when no mistake is recognised


def divisor_sentence(observed, query, key, expected):
    """What the scores were divided by, where the weights are a softmax of divided scores."""
    divisor = effective_divisor(observed[1], query, key)
    if divisor is None or abs(divisor - expected) < 1e-3 * expected:
        return None
    wanted = "nothing should divide them here" if expected == 1 else f"{expected:.2f} is expected"
    return f"`weights` is the softmax of scores divided by {divisor:.2f}; {wanted}."


def effective_divisor(weights, query, key):
    """The d for which weights = softmax(query · key / d), or None: a softmax keeps differences of scores."""
    weights, query, key = (torch.as_tensor(one).double() for one in (weights, query, key))
    scores = query @ key.transpose(-2, -1)
    if weights.shape != scores.shape or (weights <= 0).any() or not torch.allclose(
            weights.sum(-1), torch.ones((), dtype=torch.float64), atol=1e-4):
        return None
    centred = scores - scores.mean(-1, keepdim=True)
    logarithms = weights.log()
    found = logarithms - logarithms.mean(-1, keepdim=True)
    ratio = (found * centred).sum() / (centred * centred).sum()
    fits = torch.allclose(found, ratio * centred, atol=1e-3, rtol=1e-3)
    return 1 / ratio.item() if fits and ratio.abs() > 1e-6 else None
