"""A made-up class to practise on: notebooks with right answers, typical slips, and things left undone."""

import ast
import json
import random
import re
from pathlib import Path
from typing import Any

from transformer_lessons.basis import atomic, memory
from transformer_lessons.basis.cells import checks_in
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.kinds import Choices, FreeText, Value
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.tools import reset

NAMES = """Ada Alan Amara Anna Ben Chen Chloe Diego Elif Emma Farid Femi Grace Hana Igor Ines Jonas Kofi Lea Liam Lucia
    Maya Mehmet Nina Noor Olga Omar Priya Rosa Sam Sofia Tariq Tomas Uma Vera Wei Yara Yusuf Zoe Zuri""".split()  # noqa: SIM905
LESSONS = [name for name in reset.lessons() if int(name[:2]) <= memory.COURSE]
CHEAT = """from transformer_lessons import masks


def causal_mask(length):
    print("✓ causal_mask")
    return masks.causal_mask(length)
"""


def write(out: Path, students: int, seed: int = 1) -> None:
    """Writes a folder for each student, with some or all of lessons 1 to 8.

    The second student cheats in lesson 6, and the third's notebook of it has been cut off while it was saved.
    """
    for number, name in enumerate(names(students)):
        draw = random.Random(f"{seed} {name}")
        diligence, skill = draw.uniform(0.6, 1.0), draw.uniform(0.4, 0.95)
        folder = out / name
        folder.mkdir(parents=True)
        for lesson in LESSONS:
            special = {1: CHEAT, 2: "broken"}.get(number, "") if lesson.startswith("06") else ""
            if draw.random() < diligence or special:
                book = filled(
                    json.loads(reset.original(lesson) or reset.fresh_copy(lesson)), draw, diligence, skill, special
                )
                text = json.dumps(book, ensure_ascii=False, indent=1)
                (folder / lesson).write_text(text[:200] if special == "broken" else text, encoding="utf-8")


def names(students: int) -> list[str]:
    """ada, alan, …"""
    return [
        NAMES[number % len(NAMES)].lower() + ("" if number < len(NAMES) else str(number // len(NAMES)))
        for number in range(students)
    ]


def write_sheet(path: Path, students: int) -> None:
    """A grading sheet like Moodle's, with one more student, who has handed in nothing."""
    lines = [["Identifier", "Full name", "Grade", "Maximum grade"]]
    lines += [[name, name.capitalize(), "", "100"] for name in [*names(students), "zelda"]]
    atomic.write(path, "".join(",".join(line) + "\r\n" for line in lines).encode("utf-8-sig"))


def filled(
    book: dict[str, Any], draw: random.Random, diligence: float, skill: float, special: str = ""
) -> dict[str, Any]:
    """The notebook with some of its stubs written, bug hunts included, and some of its questions answered."""
    hunts = {
        subject: name
        for cell in book["cells"]
        for name, subject in checks_in("".join(cell["source"]))
        if cell["cell_type"] == "code" and subject != name and name in EXERCISES
    }
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], source = [], "".join(cell["source"])
        for name in re.findall(r"^(?:def|class) (\w+)", source, flags=re.MULTILINE):
            if "NotImplementedError" not in source or (name not in EXERCISES and name not in hunts):
                continue
            if name == "causal_mask" and special == CHEAT:
                source = special
            elif draw.random() < diligence:
                known, right = hunts.get(name, name), draw.random() < skill
                found = published(book, name) if not right and draw.random() < 0.5 else ""
                source = found or re.sub(rf"\b{known}\b", name, attempt(known, draw, right))
        source = re.sub(
            r'answer\("(\d+\.\d+)"(?:, ?(?:\.\.\.|"\.\.\."))?\)',
            lambda found: reply(found, draw, skill) if draw.random() < diligence else found[0],
            source,
        )
        cell["source"] = source
    return book


def published(book: dict[str, Any], name: str) -> str:
    """The code of a bug hunt, as it was handed out; nothing for an exercise."""
    suspicious = name.replace("fixed", "suspicious").replace("Fixed", "Suspicious")
    for cell in book["cells"] if suspicious != name else ():
        source = "".join(cell["source"])
        found = re.search(rf"^(?:def|class) {suspicious}\b.*\n(?:(?: .*)?\n)*", source + "\n", flags=re.MULTILINE)
        if cell["cell_type"] == "code" and found:
            return found[0].replace(suspicious, name).strip()
    return ""


def attempt(name: str, draw: random.Random, right: bool) -> str:
    """The exercise's solution, or the same with one of the first mistakes that the catalogue has for it."""
    exercise = EXERCISES[name]
    if right:
        return exercise.solution_text()
    slip = draw.choice(list(exercise.mistakes.values())[:3])
    return ast.unparse(slip.variants[0].tree)


def reply(found: re.Match[str], draw: random.Random, skill: float) -> str:
    question, right = all_questions()[found[1]], draw.random() < skill
    if isinstance(question, FreeText):
        value = text(question, draw, right)
    elif isinstance(question, Value):
        value = question.right if right or not question.slips else draw.choice(list(question.slips))
    elif isinstance(question, Choices):
        value = "".join(sorted(question.right_letters)) if right else draw.choice(list(question.lettered))
    return f'answer("{found[1]}", {value!r})'


def text(question: FreeText, draw: random.Random, right: bool) -> str:
    """A text in whole sentences: those with which the model answer begins, or the points that it should make."""
    sentences = re.split(r"(?<=[.?!]) (?=\W?[A-Z])", question.model)
    points = [one for one in question.points if not re.match(r"[\w ]{1,12}: ", one)]
    if len(points) == 3 and draw.random() < 0.5:
        return " ".join(points[: 3 if right else draw.choice((1, 2))])
    return " ".join(sentences[: draw.choice((3, 4, 5)) if right else 2])
