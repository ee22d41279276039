"""How the inputs of `apply_merges` are drawn, and what one word does not show about its ranks."""

from itertools import pairwise

import torch

from transformer_lessons.exercises.catalogue.byte_parts import letters, spelled, what_the_parts_show
from transformer_lessons.exercises.catalogue.plain_results import equal, is_a_list
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.language import byte_pairs

OTHERS = 66_000  # pairs that no word contains: more than two bytes can count


def draw(generator, parts, merges, high=False):
    """The bytes of a word, and merges that training could give, in an order that has nothing to do with their ranks."""
    table = letters(generator, "vwxyz", high)
    pairs = [tuple(spelled(pair, table)) for pair in merges.split(", ")] if merges else []
    order = torch.randperm(len(pairs), generator=generator).tolist()
    if order == sorted(order):
        order = order[::-1]
    return spelled(parts, table), {pairs[rank]: rank for rank in order}


def depends_on_the_ranks(call, parts, ranks):
    """The same word again with fewer ranks, with none, and with its own, always in one and the same dictionary."""
    given = dict(ranks)
    call(list(parts), given)  # what it keeps, it keeps now
    for other_ranks in ({pair: rank for pair, rank in ranks.items() if rank < len(ranks) // 2}, {}, ranks):
        given.clear()
        given.update(other_ranks)
        if not equal(call(list(parts), given), byte_pairs.apply_merges(parts, other_ranks)):
            return "not right when the ranks change"
    return None


def has_no_limit(call, parts, ranks):
    """The same merges, learned after many others."""
    if (len(parts), len(ranks)) != (4, 5):  # one case is enough
        return None
    many = {(b"%d" % rank, b"."): rank for rank in range(OTHERS)}
    later = many | {pair: rank + OTHERS for pair, rank in ranks.items()}
    right = equal(call(list(parts), later), byte_pairs.apply_merges(parts, later))
    return None if right else "not right for large ranks"


def stopped_on_the_way(observed, expected, parts, ranks):
    """The parts as they are after some of the rounds."""
    while pairs := [pair for pair in pairwise(parts) if pair in ranks]:
        if observed == parts:
            return ["too few rounds"]
        parts = byte_pairs.merge(parts, min(pairs, key=ranks.get))
    return []


CHAIN = ", ".join(["v w", *(f"vw{'x' * number} x" for number in range(40))])  # merged in 41 rounds


setup = Setup(
    sizes=[
        {"parts": parts, "merges": merges, **more}
        for parts, merges, more in (
            ("x y z", "y z, x y", {}),
            ("x y z", "x y, xy z", {}),
            ("x x x", "x x", {}),
            ("x y z", "v x, y z, x yz", {}),
            ("x y z", "y z, x y, w xy", {}),
            ("x y x y", "x y", {}),
            ("x y x y", "x y, xy xy", {}),
            ("x y z w", "y z, x y, z w, x yz", {}),
            ("x x x x x", "x x, xx xx, xx x", {}),
            ("w x y z", "x y, w x, y z, w xy, wxy z", {}),
            ("x y z x y w x y", "x y, y z, xy z, xy w", {}),
            ("z y x", "x y, y z", {}),
            ("x y", "", {}),
            ("", "x y", {}),
            ("x", "x y", {}),
            ("v w x y z v w", "v w, w x, x y, y z, vw xy", {}),
            ("x y z w v", "z w, y z, x y, w v, xy zw", {}),
            ("x y z y z x y", "y z, x y, x yz, yz yz", {"high": True}),
            ("x x y y x y z", "x y, y z, x xy, xy y", {}),
            ("v v w v v v w w v", "v v, v w, vv w, w v, vv v", {}),
            ("x y z x y", "v v, v w, y z, v x, v y, v z, w v, w w, w x, w y, x y, x yz", {}),
            ("x y z w x y z w", "z w, x y, xy zw", {}),
            ("y z x y z w y z w", "y z, z w, x yz, yz w, xyz w", {}),
            ("x y z x y z w v", "x y, xy z, xyz xyz, w v, xyzxyz wv", {}),
            ("_ x y z _ x", "_ x, y z, _x yz", {}),
            ("v w" + 40 * " x", CHAIN, {}),
        )
    ],
    draw=draw,
    reference=byte_pairs.apply_merges,
    names_steps=False,
    same=equal,
    checks=[is_a_list, depends_on_the_ranks, has_no_limit],
    symptoms=[what_the_parts_show],
    signs=stopped_on_the_way,
)
