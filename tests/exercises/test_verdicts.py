"""Every answer in tests/verdicts/ gets the verdict that stands below it, word for word (README.md there says how)."""

import difflib
import linecache
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from drawn import draws
from torch import nn

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.running.sandbox import Limits, attempt

FOLDER = Path(__file__).parents[1] / "verdicts"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "README.md")
ANSWER = re.compile(r"^```python(?: draws=(\d))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
VERDICT = re.compile(r"\n^```text\n.*?^```\n", re.MULTILINE | re.DOTALL)
GIVEN = {"torch": torch, "F": F, "nn": nn, "math": math, "np": np}
LIMITS = Limits(call=60, check=600)  # a busy machine changes no verdict


def judged(name: str, page: str) -> str:
    """The page with the verdicts that its answers get now; answers that follow each other may share one."""
    page = VERDICT.sub("", page)
    answers = list(ANSWER.finditer(page))
    verdicts = [verdict_on(name, answer[2], int(answer[1] or 1)) for answer in answers]
    parts, start = [], 0
    for number, answer in enumerate(answers):
        parts.append(page[start : answer.end()])
        start = answer.end()
        is_last = number + 1 == len(answers) or page[start : answers[number + 1].start()].strip()
        if is_last or verdicts[number] != verdicts[number + 1]:
            parts.append(f"\n```text\n{verdicts[number]}\n```\n")
    return "".join([*parts, page[start:]])


def verdict_on(name: str, source: str, number: int) -> str:
    """The whole verdict on the first draws, and how it begins on further ones if the mistake's name is another."""
    with standard_state():
        torch.set_num_threads(1)
        reports = [
            judge(EXERCISES[name], defined(name, source), draws(name, seed), run=attempt, limits=LIMITS)
            for seed in range(number)
        ]
    first = reports[0]
    others = [
        f"(draws {seed}) {report.message.splitlines()[0]}"
        for seed, report in enumerate(reports)
        if (report.status, report.mistake) != (first.status, first.mistake)
    ]
    return "\n".join([first.message, *others])


def defined(name: str, source: str) -> object:
    """What the source defines by the exercise's name, anew for each use, since some answers keep things."""
    file = f"<{name} {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"__name__": "answers", **GIVEN}
    exec(compile(source, file, "exec"), names)
    return names[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_answer_gets_the_verdict_that_stands_below_it(page, request):
    approved = page.read_text(encoding="utf-8")
    now = judged(page.stem, approved)
    if request.config.getoption("approve"):
        page.write_text(now, encoding="utf-8")
        return
    if now != approved:
        lines = (text.splitlines() for text in (approved, now))
        difference = difflib.unified_diff(*lines, f"{page.name}, approved", f"{page.name}, now", n=12, lineterm="")
        rule = (
            "These verdicts have changed. If they are better now, run pytest with --approve, and read the difference."
        )
        pytest.fail("\n".join([rule, *difference]), pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_check_prints_the_first_verdict_of_each_page(page, capsys):
    text = page.read_text(encoding="utf-8")
    verdict = re.search(r"^```text\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)[1]
    check(page.stem, defined(page.stem, ANSWER.search(text)[2]))
    assert capsys.readouterr().out == f"{verdict}\n"


def test_each_page_is_named_for_an_exercise():
    assert [page.name for page in PAGES if page.stem not in EXERCISES] == []
