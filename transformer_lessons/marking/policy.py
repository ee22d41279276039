"""How many points there are for what: policy.json in the marks folder, which is the teacher's to edit."""

import datetime
import json
import re
from pathlib import Path

from transformer_lessons.basis import atomic
from transformer_lessons.marking.submissions import lesson_of

POLICY = {
    "exercise": [1, 2, 3],  # by difficulty
    "hunt": 1,
    "question": 0.5,
    "text": 3,
    "borrowed": "fail",  # the course's own code in an answer: "fail", "flag" or "ignore"
    "deadline": "",  # "2026-12-01 23:59", in the learning system's own time
    "deadlines": {},  # of single lessons, in place of that one: {"06_masking": "2026-12-08 23:59"}
    "late": 1,  # what late work counts: 0.5 for half of its points
    "right_but_for": 0,  # what an answer counts that is right, but for another exercise that it calls
    "nearly_right": 0,  # what an answer counts that is right, but for a bracket or the kind of its numbers
    "model_answers": True,  # does the feedback show the model answer to a text that has been read?
    "halves": False,  # True: the feedback names no mistakes to one half of the class
}
CHOICES = ("fail", "flag", "ignore")
MOMENT = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[-T ]+(\d\d?)[-:](\d\d)(?:[-:](\d\d))?)?")


def read_policy(out: Path) -> dict:
    """The policy of a marks folder; a new folder gets the course's. ValueError if the file is not a policy."""
    path = out / "policy.json"
    if not path.exists():
        atomic.write(path, json.dumps(POLICY, indent=1).encode())
    try:
        policy = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is empty or damaged ({error}). Delete it, and `mark` writes a new one.") from None
    if wrong := fault_of(policy):
        raise ValueError(f"{path}: {wrong}.")
    return POLICY | policy


def fault_of(policy: object) -> str:
    """What is wrong with a policy, or nothing."""
    if not isinstance(policy, dict):
        return 'it should hold names and values, as in {"question": 0.5}'
    for name, value in policy.items():
        if name not in POLICY:
            return f"there is no setting called {str(name)[:60]!r}; the settings are {', '.join(POLICY)}"
        if name == "borrowed" and value not in CHOICES:
            return f'"borrowed" should be {", ".join(CHOICES[:-1])} or {CHOICES[-1]}'
        if name == "exercise" and not (isinstance(value, list) and len(value) == 3 and all(map(is_points, value))):
            return '"exercise" should be three numbers, for difficulties 1, 2 and 3, as in [1, 2, 3]'
        if name in ("hunt", "question", "text") and not is_points(value):
            return f'"{name}" should be a number from 0 to 1000'
        if name == "deadline" and not (value == "" or is_deadline(value)):
            return '"deadline" should be a date and a time of 24 hours, as in "2026-12-01 23:59", or "" for none'
        if name == "deadlines" and not are_deadlines(value):
            return '"deadlines" should be lessons with dates and times, as in {"06_masking": "2026-12-08 23:59"}'
        if name in ("late", "right_but_for", "nearly_right") and not (is_points(value) and value <= 1):
            return f'"{name}" should be a number from 0 to 1: what such work counts'
        if name in ("halves", "model_answers") and type(value) is not bool:
            return f'"{name}" should be true or false'
    return ""


def is_points(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1000


def is_deadline(text: object) -> bool:
    """Nothing but a date, and perhaps a time, that the calendar has."""
    if not isinstance(text, str) or not MOMENT.fullmatch(text.strip()):
        return False
    try:
        datetime.datetime(*moment(text))  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


def moment(text: str) -> tuple[int, ...]:
    """A date and a time, in any of the forms that learning systems write, as numbers that can be compared."""
    form = MOMENT.match(text.strip())
    return tuple(int(part) for part in form.groups() if part) if form else ()


def are_deadlines(value: object) -> bool:
    """Has each of these lessons a deadline?"""
    return isinstance(value, dict) and all(lesson_of(one) and is_deadline(value[one]) for one in value)


def deadline_of(lesson: str, policy: dict) -> str:
    """A lesson's own deadline or, if it has none, that of all."""
    own = {lesson_of(name): deadline for name, deadline in policy["deadlines"].items()}
    return own.get(lesson, policy["deadline"])


def is_late(time: str, deadline: str) -> bool:
    """Was this handed in after the deadline? If the learning system gives no time, nobody can say."""
    handed_in, last = moment(time), moment(deadline)
    if not handed_in or not last:
        return False
    return handed_in[: len(last)] > last
