"""Which mistakes a class has made and how often, and answers that show them without saying whose they are."""

import ast
import builtins
import difflib
import keyword
import re
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking.marks import Class
from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.notebook import parsed
from transformer_lessons.marking.results import Row, own_name, parts_of, whose, why_of
from transformer_lessons.marking.verdicts import NOT_RUN, TOO_SLOW, course

UNKNOWN = "not recognised"
SUSPICIOUS = 3  # who run out of time, and nobody does not
SAME_SLIPS = (  # names of mistakes in several exercises that are one slip, about which there is one thing to say
    ("sum down the columns", "softmax over the queries", "a sum over the wrong dimension", "the softmax over the rows"),
    ("no keepdims", "no keepdim", "keepdim forgotten"),
)
ONE_OF_MANY = "One right way"
REPAIR = "One way to repair the hunt’s code"
REPAIRED = {  # the wrong lines of each bug hunt, as its lesson shows them, and what should stand there
    "self_attention": {
        "weights = exponentials / exponentials.sum(axis=0)": (
            "weights = exponentials / exponentials.sum(axis=1, keepdims=True)"
        ),
    },
    "AttentionHead": {
        "layers = [nn.Linear(d_model, d_head, bias=False)] * 3": (
            "layers = [nn.Linear(d_model, d_head, bias=False) for _ in range(3)]"
        ),
    },
    "scaled_dot_product_attention": {
        "query = query / math.sqrt(d)": "query = query / d**0.25",
        "key = key / math.sqrt(d)": "key = key / d**0.25",
    },
    "MultiHeadAttention": {
        "query = self.linear_q(query).view(shape)": "query = self.linear_q(query).view(shape).transpose(1, 2)",
        "key = self.linear_k(key).view(shape)": "key = self.linear_k(key).view(shape).transpose(1, 2)",
        "value = self.linear_v(value).view(shape)": "value = self.linear_v(value).view(shape).transpose(1, 2)",
        "return self.linear_out(output.flatten(2)), weights": (
            "return self.linear_out(output.transpose(1, 2).flatten(2)), weights"
        ),
    },
    "sinusoidal_encoding": {
        "table[p, i] = math.sin(p / 10000 ** (2 * i / d_model))": "table[p, i] = math.sin(p / 10000 ** (i / d_model))",
        "table[p, i + 1] = math.cos(p / 10000 ** (2 * i / d_model))": (
            "table[p, i + 1] = math.cos(p / 10000 ** (i / d_model))"
        ),
    },
    "masked_softmax": {
        "scores.masked_fill(~mask, -torch.inf)": "scores = scores.masked_fill(~mask, -torch.inf)",
        "return scores.softmax(dim=-1)": "return scores.softmax(dim=-1).masked_fill(~mask, 0)",
    },
    "swiglu": {"return F.linear(first * F.silu(second), down)": "return F.linear(F.silu(first) * second, down)"},
}
ROOM = 10  # lines of a right answer that are shown beside a wrong one
COMMENT = re.compile(r"\s*#[^'\"]*$")
TEXTS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'')


@dataclass
class Mistake:
    """A mistake that students have made in an exercise or a bug hunt."""

    lesson: str
    item: str
    exercise: str
    name: str
    why: str
    look: str
    students: set[str]
    out_of: int  # students who have handed in the lesson
    digest: str = ""  # of the answer, if all have written the same, which the catalogue does not know
    by: set[str] = field(default_factory=set)  # whose hand-ins make it: a group's is one
    is_hunt: bool = False

    def share(self) -> str:
        return f"{len(self.students)} of {self.out_of}"


def handed_in(known: Class) -> dict[str, set[str]]:
    """{lesson: the students who have handed it in}"""
    students = defaultdict(set)
    for row in known.rows:
        students[row["lesson"]].add(row["student"])
    return students


def out_of_time(known: Class) -> dict[str, int]:
    """{exercise: how many have tried it}, where each of them has run out of time: hardly the fault of the class."""
    tried = defaultdict(list)
    for row in known.rows:
        if row["kind"] in ("exercise", "hunt") and row["status"] in ("passed", "failed"):
            tried[row["item"]].append(TOO_SLOW in row["flags"])
    return {item: len(slow) for item, slow in tried.items() if len(slow) >= SUSPICIOUS and all(slow)}


def mistakes_in(known: Class, *kinds: str) -> list[Mistake]:
    """The mistakes in exercises ("exercise"), in bug hunts ("hunt"), or in both, the commonest first.

    They are never counted together: the code of a hunt has its own mistake, which may be one of the exercise's.
    """
    groups, doubtful = defaultdict(list), out_of_time(known)
    rows = [row for row in known.rows if row["kind"] in kinds and row["status"] == "failed"]
    rows = [row for row in rows if row["item"] not in doubtful]
    same = defaultdict(set)
    for row in rows:
        same[row["item"], digest_of_work(known, row)].add(whose(row))
    for row in rows:
        digest = (
            ""
            if row["mistake"] or len(same[row["item"], digest_of_work(known, row)]) < 2
            else digest_of_work(known, row)
        )
        cause = in_short(row) if row["mistake"] == NOT_RUN else ""
        for name in one_by_one(row["exercise"], row["mistake"]) or (UNKNOWN,):
            groups[row["lesson"], row["item"], row["exercise"], name, digest, cause].append(row)
    students = handed_in(known)
    found = []
    for (lesson, item, exercise, name, digest, cause), alike in groups.items():
        page = EXERCISES[exercise].mistakes.get(name) if exercise in EXERCISES else None
        why, look = (page.why, page.look) if page else (cause, "")
        if not page and not cause and (name != UNKNOWN or digest):
            why = in_common([said(row) for row in alike]) or in_common([in_short(row) for row in alike])
            look = in_common([look_of(row) for row in alike])
        who, by = {row["student"] for row in alike}, {whose(row) for row in alike}
        is_hunt = alike[0]["kind"] == "hunt"
        found.append(Mistake(lesson, item, exercise, name, why, look, who, len(students[lesson]), digest, by, is_hunt))
    return sorted(found, key=lambda one: (-len(one.students), int(one.lesson), one.item, one.name, one.digest))


def one_by_one(exercise: str, mistake: str) -> tuple[str, ...]:
    """The names of the two known mistakes of which an answer makes both at once; otherwise its one name, if any."""
    known = EXERCISES[exercise].mistakes if exercise in EXERCISES else {}
    for found in re.finditer(r",? and ", mistake):
        both = mistake[: found.start()], mistake[found.end() :]
        if all(one in known for one in both):
            return both
    return (mistake,) if mistake else ()


def is_named(one: Mistake) -> bool:
    """Has the catalogue a name for it? Other names say of an answer only that it takes too long, say, or its kind."""
    return one.exercise in EXERCISES and one.name in EXERCISES[one.exercise].mistakes


def digest_of_work(known: Class, row: Row) -> str:
    work = known.works.get((row["student"], row["item"]))
    return work.get("digest", "") if work else ""


def said(row: Row) -> str:
    """What a verdict says in sentences, without its first line, numbers and hints."""
    text = why_of(row)
    return text[:1].upper() + text[1:] or in_short(row)


def look_of(row: Row) -> str:
    """Where a verdict tells its author to look, unless that is at a line of their own."""
    text = " ".join(part.text for part in parts_of(row) if part.kind == "look")
    return "" if re.search(r"\bth(at|is) line\b", text) else text


def in_common(texts: list[str]) -> str:
    """The sentences that all texts have; where results are of different kinds, it is only said which they should be."""
    if len({*texts}) == 1:
        return texts[0]
    texts = [re.sub(r"\b(\S+) holds \S+; (\S+) is expected", r"\1 should hold \2", one) for one in texts]
    first, *others = (re.split(r"(?<=[.?!])\s+", one) for one in texts)
    return " ".join(one for one in first if all(one in other for other in others))


def in_short(row: Row) -> str:
    """What is wrong, as the verdict's first line says it."""
    text = clean(row.get("headline", ""), 4000)
    return text[:1].upper() + text[1:]


# Without a name


def answer_to_show(known: Class, mistake: Mistake, room: int = 1000) -> tuple[list[str], set[int]]:
    """(the lines of an answer that makes a mistake, the numbers of those that are wrong, if that is certain).

    It is the shortest answer of the class in which nobody's name occurs, if possible one that needs no more lines than
    there is room for; without its comments and what is an exercise of its own. If there is none, it is the catalogue's.
    """
    known_mistake = EXERCISES[mistake.exercise].mistakes.get(mistake.name)
    variants = [ast.unparse(one.tree) for one in known_mistake.variants] if known_mistake else []
    solution = EXERCISES[mistake.exercise].solution_text()

    def part(source: str, row: Row) -> str:
        """The answer alone, unless lines that are certainly wrong are in what would be left out."""
        alone, _ = part_that_matters(source, row)
        lost = len(wrong_lines(source, variants, solution)) > len(wrong_lines(alone, variants, solution))
        return source if lost else alone

    rows = [
        row
        for row in known.rows
        if row["item"] == mistake.item
        and (row["student"], row["item"]) in known.works
        and row["student"] in mistake.students
        and mistake.digest in ("", digest_of_work(known, row))
        and (row["mistake"] or UNKNOWN) == mistake.name  # and no other mistake at once
    ]
    answers = [without_comments(part(known.works[row["student"], row["item"]]["source"], row)) for row in rows]
    names = words_of_names(known)
    answers = [one for one in answers if one and not names_in(one, names, mistake.exercise)]
    answer = min(sorted(answers or variants[:1]), key=lambda one: (one.count("\n") >= room, len(one)), default="")
    return answer.splitlines(), wrong_lines(answer, variants, solution)


def plain(text: str) -> list[str]:
    """Lines of code that are equal if they differ in blanks, brackets and quotes alone."""
    return [re.sub(r"[\s()]", "", line).replace("'", '"') for line in text.splitlines()]


def lines_instead(mistake: Mistake, lines: list[str], wrong: set[int]) -> tuple[str, list[str]]:
    """(a heading, the right lines): what the course's solution has in place of an answer's wrong lines.

    It is certain where the answer's wrong lines are all by which a known mistake differs from the solution. Where it is
    not, these are the lines of the solution that the answer lacks, if there is room for them; of a bug hunt, what
    should stand in the code that was handed out.
    """
    known = EXERCISES[mistake.exercise].mistakes.get(mistake.name)
    solution = without_comments(EXERCISES[mistake.exercise].solution_text())
    own = dict(zip(plain(solution), solution.splitlines(), strict=True))
    right = without_comments(ast.unparse(ast.parse(solution)))
    marked = {plain(line)[0] for n, line in enumerate(lines) if n in wrong}
    for variant in known.variants if known else ():
        here, there = plain(without_comments(ast.unparse(variant.tree))), plain(right)
        found = difflib.SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
        changes = [one for one in found if one[0] != "equal"]
        extra = [line for _, start, end, *_ in changes for line in here[start:end]]
        lines_there = right.splitlines()
        instead = [own.get(plain(one)[0], one).strip() for *_, start, end in changes for one in lines_there[start:end]]
        if marked and marked == {*extra}:
            title = "Right" if instead else f"Right: without {'this line' if len(extra) == 1 else 'these lines'}"
            return title, instead
    if mistake.is_hunt and mistake.exercise in REPAIRED:
        return REPAIR, [*REPAIRED[mistake.exercise].values()]
    answer = plain("\n".join(lines))
    lacking = [line for line in solution.splitlines() if plain(line)[0] not in answer]
    if not 0 < len(lacking) <= len(own) / 2:
        lacking = [line for line in solution.splitlines() if not line.startswith(("import ", "from "))]
    return (ONE_OF_MANY, textwrap.dedent("\n".join(lacking)).splitlines()) if len(lacking) <= ROOM else ("", [])


def has_own_bug(exercise: str, source: str) -> bool:
    """Are all the lines still there that were wrong in a bug hunt as it was handed out?"""
    return {*plain("\n".join(REPAIRED.get(exercise, ())))} <= {*plain(without_comments(source))}


def wrong_lines(answer: str, variants: list[str], solution: str) -> set[int]:
    """The numbers of the lines that a known wrong answer has and the right one has not."""
    right = {*plain(solution), *plain(ast.unparse(ast.parse(solution)))}
    wrong = {line for variant in variants for line in plain(variant)} - right - {""}
    lines = [COMMENT.sub("", line) for line in answer.splitlines()]
    return {number for number, line in enumerate(lines) if {*plain(line)} & wrong}


def lines_at_fault(answer: str, row: Row) -> set[int]:
    """The numbers of the lines of an answer that its verdict is about, if it is certain which they are."""
    known = EXERCISES[row["exercise"]].mistakes.get(row["mistake"]) if row["exercise"] in EXERCISES else None
    if known and row["status"] == "failed":
        variants = [ast.unparse(one.tree) for one in known.variants]
        return wrong_lines(answer, variants, EXERCISES[row["exercise"]].solution_text())
    lines = [COMMENT.sub("", line).strip() for line in answer.splitlines()]
    return {number for number, line in enumerate(lines) if len(line) > 5 and row.get("line", "").startswith(line)}


def part_that_matters(source: str, row: Row) -> tuple[str, list[str]]:
    """(an answer without the definitions that are exercises of their own, the names of these)."""
    subject = own_name(row)
    others = ({*EXERCISES} | {name for _, name in course().get(row["lesson"], {"items": []})["items"]}) - {subject}
    blocks = blocks_in(source)
    left_out = [name for name, _ in blocks if name in others]
    if subject not in dict(blocks) or not left_out:
        return source, []
    return "\n\n".join(text for name, text in blocks if name not in others), left_out


def own_part(source: str, row: Row) -> tuple[str, str, list[str]]:
    """(the definition that an exercise asks for, what else it needs, the names of that)."""
    blocks, subject = blocks_in(source), own_name(row)
    if subject not in dict(blocks):
        return source, "", []
    own, needed = (
        "\n\n".join(text for name, text in blocks if (name == subject) is is_own) for is_own in (True, False)
    )
    return own, needed, [name for name, _ in blocks if name not in ("", subject)]


def blocks_in(source: str) -> list[tuple[str, str]]:
    """[(name, text)] of the statements of a source, with the comments above them; "" is the name of what has none."""
    tree, lines, blocks, last = parsed(source), source.splitlines(), [], 0
    for node in tree.body if tree else ():
        named = node.targets[0] if isinstance(node, ast.Assign) else node
        name = getattr(named, "name", getattr(named, "id", ""))
        blocks.append((name, "\n".join(lines[last : node.end_lineno]).strip("\n")))
        last = node.end_lineno or last
    return blocks


def without_comments(source: str) -> str:
    """Code without its comments and its texts in triple quotes."""
    source = re.sub(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'', "", source)
    lines = (COMMENT.sub("", line) for line in source.splitlines())
    return "\n".join(line for line in lines if line.strip())


def words_of_names(known: Class) -> set[str]:
    """All words of the class's names and ids, but for single letters and short numbers."""
    texts = {text.lower() for one in known.students for text in (one, known.students[one]["name"])}
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return {word for word in words if len(word) > (3 if word.isdecimal() else 1)}


def names_in(source: str, names: set[str], exercise: str) -> set[str]:
    """The names that occur in code as whole words, or as parts of a name such as `ada_mask`.

    The words of the task are nobody's names; nor, outside texts, are those of Python and of the libraries.
    """
    task, texts = words_of_task(exercise), " ".join(TEXTS.findall(source))
    return names & ((words_in(TEXTS.sub(" ", source)) - task - words_of_libraries()) | (words_in(texts) - task))


def words_in(text: str) -> set[str]:
    words = set()
    for one in re.findall(r"\w+", text):
        words |= {one, *one.split("_"), *re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", one)}
    return {word.lower() for word in words}


@cache
def words_of_task(exercise: str) -> set[str]:
    known = EXERCISES[exercise]
    variants = [variant.text for one in known.mistakes.values() for variant in one.variants]
    return words_in("\n".join([exercise, known.contract, known.stub, known.solution_text(), *variants]))


@cache
def words_of_libraries() -> set[str]:
    named = [keyword.kwlist, *(dir(one) for one in (builtins, str, list, dict, np, np.ndarray, torch, torch.Tensor, F))]
    return {word.lower() for names in named for word in names}
