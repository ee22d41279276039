"""What a diagnosis has found out, for a verdict that does not pass."""

from dataclasses import dataclass

from transformer_lessons.exercises.checker.parts import Part


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a verdict says, in its first line and below it."""

    headline: str
    mistake: str | None = None  # its name
    why: str = ""
    evidence: tuple[Part, ...] = ()
    error: str = ""  # that it reports: "ValueError: the message"
    line: str = ""  # the learner's own line that raised it
    look: str = ""
    hint: int | None = None  # the hint to suggest; by default the next


def named(name: str, why: str, **more) -> Finding:
    """A finding whose headline is the name of the mistake."""
    return Finding(headline=f"{name}.", mistake=name, why=why, **more)
