"""How the inputs of `merge` are drawn, and whether an answer keeps every byte."""

from transformer_lessons.exercises.catalogue.byte_parts import letters, spelled, what_the_parts_show
from transformer_lessons.exercises.catalogue.plain_results import equal, is_a_list
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.language import byte_pairs


def draw(generator, parts, pair, high=False):
    table = letters(generator, "uvwxyz", high)
    return spelled(parts, table), tuple(spelled(pair, table))


def is_a_new_list(call, parts, pair):
    return "the given list returned" if call(parts, pair) is parts else None


def keeps_every_byte(call, parts, pair):
    """All the bytes as parts, with nothing to merge: are they all kept? Checked once, where parts is empty."""
    every = [bytes([byte]) for byte in (*range(256), 0)]
    return None if parts or equal(call(list(every), (b"<", b"<")), every) else "not right for every byte"


setup = Setup(
    sizes=[
        {"parts": parts, "pair": pair, **more}
        for parts, pair, more in (
            ("x y z", "x y", {}),
            ("x x x", "x x", {}),
            ("z y x y", "x y", {}),
            ("x y z x y x x y", "x y", {}),
            ("x xy y x yz zx y yx x yy", "x y", {}),
            ("xy y x y y x x yx x x y", "xy y", {}),
            ("x x x x x z x x y x x x", "x x", {}),
            ("x xy xy x xy z xyx y", "x xy", {}),
            ("x yz xy z yz x x yz", "xy z", {}),
            ("z x y", "x y", {"high": True}),
            ("y x z x x y z y", "x z", {"high": True}),
            ("_ x y z", "x y", {}),
            ("z _x y _ x", "_x y", {}),
            ("", "x y", {}),
            ("x", "x y", {}),
            ("y x", "x y", {}),
            ("u v w x y z u v w u x", "u v", {}),
            ("w x x x x x x x", "x x", {}),
            ("x", "x x", {}),
            ("x y", "x y", {}),
        )
    ],
    draw=draw,
    reference=byte_pairs.merge,
    names_steps=False,
    same=equal,
    checks=[is_a_list, is_a_new_list, keeps_every_byte],
    symptoms=[what_the_parts_show],
)
