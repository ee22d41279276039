"""What a teacher reads about a class, and what the class sees of it on the projector."""

import ast
import json
import re

import pytest

from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking import (
    marks,
    mistakes,
    policy,
    projector,
    report,
    review,
    sample,
    sheets,
    tables,
    verdicts,
)
from transformer_lessons.tools import reset

HUNTS = [(lesson, *one) for lesson, known in verdicts.course().items() for one in known["items"] if one[0] != one[1]]
START = "import torch.nn.functional as F\nfrom transformer_lessons import attention\n"
MISTAKE, OTHER = list(EXERCISES["causal_mask"].mistakes.values())[:2]
UPPER = "def causal_mask(length):\n    return torch.ones(length, length).triu() > 0"

# Versions


def written_by(mistake):
    """In place of the processes that mark: every answer is wrong."""

    def share(jobs, waiting, out, say=None):
        for work, path in waiting:
            source = json.loads(work.read())["answer"]
            row = {
                "item": "causal_mask",
                "exercise": "causal_mask",
                "kind": "exercise",
                "status": "failed",
                "flags": [],
            }
            row |= {"mistake": mistake}
            answer = {"source": source, "digest": source, "nodes": 9, "lines": [], "comments": []}
            result = {"lesson": "6", "held": [], "fresh": False, "rows": [row], "work": {"causal_mask": answer}}
            path.write_text(json.dumps(result))
        return {}

    return share


@pytest.fixture
def versions(tmp_path, monkeypatch):
    """A function that hands in an answer, marks it with a version of the course, and returns (again, what is said)."""
    monkeypatch.setattr(marks, "share", written_by("the mask inverted"))
    (tmp_path / "class" / "ada").mkdir(parents=True)

    def hand_in(answer, version, other=""):
        monkeypatch.setattr(verdicts, "version", lambda: version)
        (tmp_path / "class" / "ada" / "06_masking.ipynb").write_text(json.dumps({"answer": answer, "other": other}))
        said = []
        known = marks.mark(tmp_path / "class", tmp_path / "marks", 1, said.append)
        return known.rows[0]["again"], said[0]

    return hand_in


def test_an_update_of_the_course_makes_nobody_stuck_and_no_work_new(versions):
    assert versions("a", "first") == (False, "1 notebook from 1 student, 1 of them new")
    assert versions("a", "second") == (
        False,
        "1 notebook from 1 student, 0 of them new; the course has changed, so 1 is marked again",
    )
    assert versions("a", "second") == (False, "1 notebook from 1 student, 0 of them new")


def test_the_same_mistake_in_another_answer_is_stuck_and_the_same_answer_in_another_notebook_is_not(versions):
    versions("a", "first")
    assert versions("a", "first", "another cell")[0] is False
    assert versions("b", "first")[0] is True
    assert versions("b", "second")[0] is True


# Mistakes


def row(student, item, status, **more):
    about = {"student": student, "lesson": "6", "item": item, "exercise": item, "kind": "exercise", "flags": []}
    about |= {"status": status, "mistake": "", "answer": "", "again": False, "file": "x"}
    return marks.scored(about | more, policy.POLICY)


def class_of(folder, answers, students=None):
    """A class in which each student has handed in an answer: (mistake, source)."""
    known = marks.Class(folder, 5, held={"files", "processes", "network"})
    for student in [*answers, *(students or ())]:
        known.students[student] = {"name": student.capitalize(), "folder": "", "slug": student}
    for student, (mistake, source) in answers.items():
        about = {"headline": "wrong in row 1.", "said": [Part("why", "Row 1 may attend to <b>nothing</b>.")]}
        known.rows.append(row(student, "causal_mask", "failed", mistake=mistake, **about))
        known.works[student, "causal_mask"] = {"source": source, "digest": source}
    return known


def hunt(student, mistake):
    return row(student, "fixed_mask", "failed", mistake=mistake, exercise="causal_mask", kind="hunt")


def test_mistakes_are_counted_by_exercise_of_those_who_handed_it_in_and_hunts_apart(tmp_path):
    answers = {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER), "eve": (OTHER.name, UPPER)}
    known = class_of(tmp_path, answers, ["zoe"])
    known.rows += [hunt(one, OTHER.name) for one in ("ada", "bob", "eve")]
    found = {(one.item, one.name): one.share() for one in mistakes.mistakes_in(known, "exercise")}
    assert found == {("causal_mask", MISTAKE.name): "2 of 3", ("causal_mask", OTHER.name): "1 of 3"}
    text = report.Report(known).body()
    assert [one for one in text.split("<tr>") if "bug hunt not solved" in one and "3 of 3" in one]
    assert text.count("<ol class=") == 1


def test_wrong_fixes_of_bug_hunts_are_told_like_other_mistakes_and_counted_apart(tmp_path):
    answers = {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER), "eve": ("", UPPER)}
    known = class_of(tmp_path, answers)
    known.rows += [hunt(one, MISTAKE.name) for one in ("ada", "bob")]
    known.rows += [hunt(one, OTHER.name) | {"item": "fixed_other"} for one in known.students]
    known.works |= {(one, item): {"source": UPPER} for one in known.students for item in ("fixed_mask", "fixed_other")}
    (telling,) = re.findall(r'<ol class="next">.*?</ol>', report.Report(known).body())
    first, second = re.findall(r"<li data-lesson=''>.*?</li>", telling)
    assert f"<strong>{report.sentence(OTHER.name)}</strong>" in first
    assert "3 of 3 in the bug hunt fixed_<wbr>other<" in first
    assert report.prose(report.sentence(OTHER.look)) in first
    assert "2 students in all; 2 of 3 in causal_<wbr>mask; 2 of 3 in the bug hunt fixed_<wbr>mask<" in second
    text = projector.body(known)
    screens = re.findall(r'<section class="screen">.*?</section>', text, re.DOTALL)
    assert "· 3 students in all; 3 of 3 in a bug hunt</p><h2><code>fixed_<wbr>other" in screens[0]
    assert (
        "· 2 students in all; 2 of 3 in an exercise; 2 of 3 in a bug hunt</p><h2><code>causal_<wbr>mask" in screens[1]
    )
    assert "triu()" in screens[0]
    table = text.partition("Mistakes of more than one")[2]
    assert re.search(r"bug hunt fixed_<wbr>other: .*?3 of 3", table)


def test_where_no_two_make_the_same_mistake_the_report_tells_what_single_students_did_and_the_projector_does_not(
    tmp_path,
):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (OTHER.name, UPPER), "eve": (marks.OWN, UPPER)})
    telling = report.Report(known).commonest()
    assert telling.startswith("<p data-lesson=''>No two students made the same mistake")
    assert "projector" not in telling
    lines = re.findall(r"<li data-lesson=''.*?</li>", telling)
    assert len(lines) == 2
    for line, one, student in zip(lines, (MISTAKE, OTHER), ("Ada", "Bob"), strict=True):
        assert f"<strong>{report.sentence(report.prose(one.name))}</strong>" in line
        assert re.search(rf'causal_<wbr>mask, <a href="#c\d"><bdi>{student}</bdi></a>', line)
        assert report.prose(report.sentence(one.look)) in line
    assert "Eve" not in telling
    screen = projector.body(known).partition("</section>")[0]
    assert '<p class="rank">For example · Lesson 6 · Masking · nobody in this class has made it</p>' in screen
    example = re.search(r"<h3>(.*?)</h3>", screen)[1]
    names = [report.sentence(report.prose(one.name)) for one in EXERCISES["causal_mask"].mistakes.values()]
    assert example in set(names) - {report.sentence(report.prose(one.name)) for one in (MISTAKE, OTHER)}
    assert UPPER.splitlines()[0] in re.sub("<.*?>", "", screen)
    assert "Nothing was handed in" in projector.body(marks.Class(tmp_path, 5))
    assert "Made once" not in report.Report(class_of(tmp_path, {"eve": ("", UPPER)})).commonest()


def test_what_fewer_than_three_share_is_filled_up_from_the_exercises_that_most_have_wrong(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ada", "bob"), (MISTAKE.name, UPPER)), ["eve", "kim", "lea"])
    padding, softmax = (list(EXERCISES[name].mistakes) for name in ("padding_mask", "masked_softmax"))
    for number, student in enumerate(("ada", "bob", "eve")):
        known.rows.append(row(student, "padding_mask", "failed", mistake=padding[number + 1]))
        known.works[student, "padding_mask"] = {"source": f"{student.upper()} = 1", "digest": student}
    known.rows.append(row("kim", "masked_softmax", "failed", mistake=softmax[5]))
    known.rows.append(row("lea", "layer_norm", "failed", mistake=""))
    known.rows.append(row("kim", "padding_mask", "failed", mistake="endless", said=[Part("why", "Too long.")]))
    lines = re.findall(r"<li data-lesson=''>.*?</li>", report.Report(known).commonest())
    assert [re.search(r"<strong>(.*?)</strong>", one)[1] for one in lines] == [
        report.sentence(report.prose(one)) for one in (MISTAKE.name, sorted(padding[1:4])[0])
    ]
    assert "made once: padding_<wbr>mask, <a href" in lines[1]
    one, *examples = re.findall(r'<section class="screen">.*?</section>', projector.body(known), re.DOTALL)
    assert "1 of 1 · " in one
    assert len(examples) == 1, "of what a single student has wrong there is no example"
    assert "For example · Lesson 6 · Masking · an exercise that 4 of 5 have wrong</p><h2><code>padding_" in examples[0]
    assert not any(student.upper() in examples[0] for student in known.students), "the code is the course's own"


def test_the_projector_shows_the_mistakes_and_exercises_that_the_report_lists(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ada", "bob"), (MISTAKE.name, UPPER)))
    for item in ("padding_mask", "masked_softmax"):
        for student, name in zip(("ada", "bob"), list(EXERCISES[item].mistakes)[1:], strict=False):
            known.rows.append(row(student, item, "failed", mistake=name))
    known.rows += [hunt("ada", OTHER.name), hunt("bob", "")]
    lines = re.findall(r"<li data-lesson=''>.*?</li>", report.Report(known).commonest())
    screens = re.findall(r'<section class="screen">.*?</section>', projector.body(known), re.DOTALL)
    assert len(lines) == len(screens) == 3
    for line, screen in zip(lines, screens, strict=True):
        assert re.search("<strong>(.*?)</strong>", line)[1] == re.search("<h3>(.*?)</h3>", screen)[1]
        assert re.search(r"<h2><code>(.*?)</code>", screen)[1] in line


def test_what_the_catalogue_has_no_name_for_is_told_last_and_in_words_that_hold_for_all_who_did_it(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ada", "bob"), (MISTAKE.name, UPPER)), ["eve"])
    for student, kind in {"ada": "float32", "bob": "int32", "eve": "int64"}.items():
        why = f"The numbers compared so far are right. The result holds {kind}; bool is expected."
        said = [Part("why", why), Part("look", "what the last operation returns.")]
        known.rows.append(row(student, "padding_mask", "failed", mistake=verdicts.KIND, said=said))
    _, kinds = re.findall(r"<li data-lesson=''>.*?</li>", report.Report(known).commonest())
    assert "<strong>Wrong kind of result</strong>" in kinds
    assert "The numbers compared so far are right. The result should hold bool. Where to look: what the last" in kinds
    assert "<em>Where to look:</em> what the last" in report.Report(known).all_mistakes()
    assert "Where to look:</strong> what the last" in projector.body(known)


def test_two_mistakes_at_once_count_as_each_of_them(tmp_path):
    known = class_of(tmp_path, {})
    empty, changed = "NaN for an empty row", "the scores are changed"
    names = {"ada": empty, "bob": empty, "eve": f"{changed}, and {empty}", "kim": f"{changed} and {empty}"}
    for student, name in names.items():
        known.students[student] = {"name": student, "folder": "", "slug": student}
        known.rows.append(row(student, "masked_softmax", "failed", mistake=name))
        known.works[student, "masked_softmax"] = {"source": f"at_once = {'and' in name}"}
    found = mistakes.mistakes_in(known, "exercise")
    assert [(one.name, one.share()) for one in found] == [(empty, "4 of 4"), (changed, "2 of 4")]
    (lines, _), (example, _) = (mistakes.answer_to_show(known, one) for one in found)
    assert lines == ["at_once = False"]
    assert "at_once" not in example[0], "no answer of the class makes this mistake alone"


def test_the_exercises_name_the_commonest_mistakes_and_whose_they_are(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER), "eve": ("", UPPER)})
    (line,) = [one for one in report.Report(known).exercises().split("<tr") if "causal_" in one]
    told = re.sub("<.*?>", "", line.rpartition("<td>")[2]).strip()
    assert told == f"{MISTAKE.name}, Ada, Bob"
    assert line.count('<a href="#c') == 2
    known.rows += [row("eve", "causal_mask", "failed", mistake=name) for name in ("endless", OTHER.name, "not finite")]
    told = re.sub("<.*?>", "", report.Report(known).exercises())
    assert f"{MISTAKE.name}, Ada, Bob; {OTHER.name}, Eve; and 2 more" in told


def test_where_no_text_waits_none_is_mentioned(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    assert "not yet read" not in report.Report(known).results()
    assert "unread texts" not in report.Report(known).tiles()


def test_who_left_a_hunts_own_bug_is_counted_apart_from_those_who_changed_its_lines(tmp_path):
    known = class_of(tmp_path, {}, ["ada", "bob", "eve"])
    bug = "def f(scores, mask):\n    scores.masked_fill(~mask, -torch.inf)  # ?\n    return scores.softmax(dim=-1)"
    for student in known.students:
        source = bug if student == "ada" else bug.replace("    scores.masked", "    scores = scores.masked")
        known.rows.append(hunt(student, "NaN for an empty row") | {"exercise": "masked_softmax"})
        known.works[student, "fixed_mask"] = {"source": source, "digest": source}
    assert "1 left the hunt's own bug as it was; 2 changed its lines." in report.Report(known).all_mistakes()
    known.works["ada", "fixed_mask"] = known.works["bob", "fixed_mask"]
    assert "0 left the hunt's own bug as it was; 3 changed its lines." in report.Report(known).all_mistakes()


def test_the_names_of_few_exercises_stand_side_by_side_and_those_of_many_upright(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    assert '<table class="class few">' in report.Report(known).results()
    known.rows += [row("ada", name, "passed") for name in list(EXERCISES)[: report.WIDE]]
    assert '<table class="class">' in report.Report(known).results()


def test_one_slip_with_two_names_is_told_once(tmp_path):
    known = class_of(tmp_path, {}, ["ada", "bob"])
    slips = {"ada": ("softmax", "sum down the columns"), "bob": ("self_attention", "softmax over the queries")}
    for student, (item, name) in slips.items():
        known.rows.append(row(student, item, "failed", mistake=name) | {"lesson": "1"})
        known.works[student, item] = {"source": f"def {item}(x):\n    return x", "digest": item}
    (line,) = re.findall(r"<li data-lesson=''>.*?</li>", report.Report(known).commonest())
    assert "<strong>Softmax over the queries, or sum down the columns</strong>" in line
    assert "2 students in all; 2 in 2 exercises: self_<wbr>attention, softmax<" in line
    both = [one.name for one in report.worth_telling(mistakes.mistakes_in(known, "exercise"))[0]]
    assert sorted(both) == ["softmax over the queries", "sum down the columns"]
    for item, name in (
        ("masked_softmax", "a sum over the wrong dimension"),
        ("masked_softmax", "softmax over the queries"),
    ):
        known.rows.append(row("ada" if "sum" in name else "bob", item, "failed", mistake=name))
    (group,) = report.worth_telling(report.Report(known).telling)
    shown = report.counted(group, with_names=True)
    assert shown == "2 students in all; 2 in 3 exercises: self_<wbr>attention, softmax, masked_<wbr>softmax"


def test_each_name_of_a_slip_is_a_mistake_of_the_catalogue():
    names = {name for exercise in EXERCISES.values() for name in exercise.mistakes}
    assert {name for slip in mistakes.SAME_SLIPS for name in slip} <= names


@pytest.mark.parametrize(("lesson", "exercise", "subject"), HUNTS)
def test_the_screen_of_a_hunt_ends_with_lines_that_repair_its_code(tmp_path, lesson, exercise, subject):
    cells = json.loads(reset.original(f"{verdicts.course()[lesson]['stem']}.ipynb"))["cells"]
    own = subject.replace("fixed", "suspicious").replace("Fixed", "Suspicious")
    (code,) = [code for one in cells if (code := sample.published({"cells": [one]}, subject))]
    for wrong, right in mistakes.REPAIRED[exercise].items():
        assert code.count(wrong) == 1
        code = code.replace(wrong, right)
    space = {}
    exec("import math\nimport numpy as np\nimport torch\nfrom torch import nn\n" + START + code, space)
    draws = Draws(EXERCISES[exercise], 3)
    assert judge(EXERCISES[exercise], space[subject], draws).status == "passed", own
    mistake = next(iter(EXERCISES[exercise].mistakes))
    about = mistakes.Mistake(lesson, subject, exercise, mistake, "why", "look", {"ada"}, 1, is_hunt=True)
    title, lines = mistakes.lines_instead(about, ["something = else_that_nobody_knows"], set())
    assert (title, lines) == (mistakes.REPAIR, [*mistakes.REPAIRED[exercise].values()])
    assert projector.shape(code.splitlines(), set(), title, lines).title == title


def test_the_courses_own_code_counts_in_bug_hunts_too_for_who_is_stuck(tmp_path):
    known = class_of(tmp_path, {"ada": (marks.OWN, UPPER)})
    known.rows += [hunt("ada", marks.OWN), hunt("ada", MISTAKE.name) | {"item": "fixed_other"}]
    assert "the course's own code, 2 times: " in "".join(report.Report(known).stuck_in("")).replace("&#x27;", "'")


def test_what_is_not_recognised_says_so_and_the_same_answer_of_several_is_told(tmp_path):
    known = class_of(tmp_path, {"ada": ("", UPPER), "bob": ("", UPPER), "eve": ("", UPPER + " ")})
    first, second = mistakes.mistakes_in(known, "exercise")
    assert (first.name, first.share(), first.why) == ("not recognised", "2 of 3", "Row 1 may attend to <b>nothing</b>.")
    assert (second.share(), second.why) == ("1 of 3", "")
    assert "<b>nothing" not in report.Report(known).body() + projector.body(known)
    assert "may attend to &lt;b&gt;nothing" in projector.body(known)


def test_what_does_not_run_for_other_reasons_is_counted_apart_and_stays_off_the_projector(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ann", "bob", "eve"), (verdicts.NOT_RUN, UPPER)))
    for one, why in zip(known.rows, ("Python cannot read this code", *["its cell ends Python"] * 2), strict=True):
        one |= {"headline": f"{why}.", "said": [Part("why", f"IndentationError: {one['student']}")]}
    found = mistakes.mistakes_in(known, "exercise")
    assert [(one.students, one.why) for one in found] == [
        ({"bob", "eve"}, "Its cell ends Python."),
        ({"ann"}, "Python cannot read this code."),
    ]
    assert projector.all_mistakes(known, found) == "<p>None.</p>"


# Names


@pytest.mark.parametrize(
    ("student", "source", "shown"),
    [
        ("ask", UPPER, True),  # a part of "mask"
        ("length", UPPER, True),  # a word of the task
        ("triu", UPPER, True),  # a word of the library
        ("ada", UPPER.replace("triu()", "triu(ada)"), False),
        ("ada", UPPER + " + ada_mask", False),
        ("ada", UPPER + " + maskOfAda", False),
        ("ada", UPPER + " + 'by Ada'", False),
        ("max", UPPER + " + 'by Max'", False),
        ("max", UPPER.replace("triu()", "max()"), True),
        ("u1234", UPPER + " + u1234", False),
    ],
)
def test_code_is_shown_unless_somebodys_name_is_a_word_in_it(tmp_path, student, source, shown):
    known = class_of(tmp_path, {student: (MISTAKE.name, source), "bob": (MISTAKE.name, "")})
    lines, _ = mistakes.answer_to_show(known, mistakes.mistakes_in(known, "exercise")[0])
    assert ("\n".join(lines) == source) is shown
    assert lines, "the catalogue has an answer that makes the mistake"


def test_the_line_that_is_wrong_is_marked_where_the_catalogue_knows_it():
    solution = "def f(x):\n    y = x + 1\n    return (y, 1)"
    variant = "def f(x):\n    y = x + 2\n    return (y, 1)"
    assert mistakes.wrong_lines("def f(x):\n    y = (x + 2)\n    return y, 1", [variant], solution) == {1}
    assert mistakes.wrong_lines("def f(x):\n    z = x + 2\n    return z, 1", [variant], solution) == set()


def test_the_projector_shows_numbers_and_nobody(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER)})
    text = projector.body(known)
    assert "1 of 1 · Lesson 6 · Masking · 2 students in all; 2 of 2 in an exercise" in text
    assert not any(one in text.lower() for one in (*known.students, *map(known.pseudonym, known.students)))
    assert text.index("What is wrong here?") < text.index(report.prose(MISTAKE.why))


def known_answer(exercise, name):
    """A class that has made a mistake of the catalogue's, and its screen."""
    answer = ast.unparse(EXERCISES[exercise].mistakes[name].variants[0].tree)
    mistake = mistakes.Mistake("7", exercise, exercise, name, "Why.", "Where?", {"ada"}, 2)
    wrong = mistakes.wrong_lines(answer, [answer], EXERCISES[exercise].solution_text())
    return mistake, answer.splitlines(), wrong


def test_the_right_line_is_the_solutions_own_where_nothing_else_differs():
    found = mistakes.lines_instead(*known_answer("layer_norm", "epsilon outside the fraction"))
    assert found == ("Right", ["normalised = (x - mean) / torch.sqrt(variance + eps)"])
    mistake, lines, wrong = known_answer("layer_norm", "epsilon outside the fraction")
    assert mistakes.lines_instead(mistake, lines, set())[0] == "One right way"
    assert mistakes.lines_instead(mistake, lines, wrong | {0})[0] == "One right way"
    assert mistakes.lines_instead(*known_answer("softmax", "nothing subtracted"))[0] == "Right"


def test_a_line_too_many_or_too_few_is_said_so_and_another_style_gets_a_whole_solution():
    assert mistakes.lines_instead(*known_answer("masked_softmax", "the mask inverted")) == (
        "Right: without this line",
        [],
    )
    mistake, _, _ = known_answer("layer_norm", "epsilon outside the fraction")
    title, right = mistakes.lines_instead(mistake, ["def layer_norm(v):", "    return v"], set())
    solution = mistakes.without_comments(EXERCISES["layer_norm"].solution_text())
    assert (title, ["import torch", *right]) == ("One right way", solution.splitlines())
    mistake.exercise = "DecoderLayer"
    assert mistakes.lines_instead(mistake, ["class DecoderLayer(nn.Module):", "    pass"], set()) == ("", [])


def test_on_a_screen_the_hint_comes_before_the_answer(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER)})
    text = projector.body(known)
    assert text.index("Where to look:") < text.index(f"<h3>{report.sentence(report.prose(MISTAKE.name))}</h3>")


def test_a_wrong_line_far_below_is_on_its_screen():
    lines = ["import x", "class Long:", *(f"    x{n} = {n}" for n in range(40))]
    shown, wrong = projector.part_to_show(lines, {30})
    assert shown[:2] == ["class Long:", "…"]
    assert [shown[number] for number in wrong] == [lines[30]]
    assert len(shown) == projector.LINES + 1
    assert projector.part_to_show(lines[:5], {2}) == (lines[:5], {2})
    for room in range(4, 20):
        shown, wrong = projector.part_to_show(lines, {30}, room)
        assert [shown[number] for number in wrong] == [lines[30]]
        assert len(shown) <= room + 1
    assert projector.part_to_show(lines, set()) == ([*lines[: projector.LINES], "…"], set())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Your code gives 0: yours never differs.", "The code gives 0: this one never differs."),
        ("You return a list; where do you use `pad_id`?", "The code returns a list; where does the code use `pad_id`?"),
        ("what do you get, once you have seen it?", "what do you get, once you have seen it?"),
        ("the exercise is to write your own", "the exercise is to write one's own"),
        ("You chose a, b and e.", "Chosen: a, b and e."),
        ("You chose b: nothing wrong with that, but …", "Chosen: b. There is nothing wrong with that, but …"),
        ("the last weights that you return", "the last weights that the code returns"),
    ],
)
def test_the_projector_speaks_of_an_answer_and_not_to_its_author(words, told):
    assert report.to_all(words) == told


def test_a_lesson_has_screens_of_its_own_even_where_all_lessons_have_commoner_mistakes(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER)})
    text = projector.body(known)
    assert text.count('<section class="screen">') == text.count('<section class="screen" data-only="6">') == 1
    assert '<button data-lesson="6"' in text
    assert '<tr data-lesson="6">' in text


def size_of_code(text, width=1920, height=1080):
    """The size of the code on a screen in px, as the style sheet computes it."""
    found = re.search(r'class="(pair|pile)" style="--longest: (\d+); --lines: (\d+); --room: (\d+)vh"', text)
    wide = {"pair": 57, "pile": 92}[found[1]]
    longest, lines, room = map(int, found.groups()[1:])
    most = min(0.031 * width, (wide - 5) / 100 * width / longest / 0.61, room / 100 * height / lines / 1.5)
    return max(0.0178 * width, most)


@pytest.mark.parametrize("exercise", ["sinusoidal_encoding", "AttentionHead", "tiled_attention", "from_gpt2"])
def test_code_on_a_screen_is_never_smaller_than_its_words_and_its_wrong_line_is_there(tmp_path, exercise):
    for name, one in EXERCISES[exercise].mistakes.items():
        mistake = mistakes.Mistake("5", exercise, exercise, name, one.why, one.look, {"ada", "bob"}, 2)
        text = projector.screen(marks.Class(tmp_path, 1), [mistake], "1 of 1")
        assert size_of_code(text) >= 34, name
        _, wrong = mistakes.answer_to_show(marks.Class(tmp_path, 1), mistake)
        assert ("<mark>" in text) is bool(wrong), name
        code = text.partition("<pre>")[2].partition("</pre>")[0]
        assert max(len(line) for line in code.split('<span class="line"')) < 400, name


def test_code_takes_the_shape_in_which_it_is_largest_and_long_lines_are_broken():
    assert projector.shape(["x = 1"] * 4, set()).kind == "pile"
    assert projector.shape(["x = 1"] * 14, set()).kind == "pair"
    _, longest, count, *_ = projector.shape([" ".join(["xx"] * 34), *["x = 1"] * 7], set())
    assert longest < 101
    assert count > 8


def test_code_for_which_no_screen_has_room_keeps_what_is_wrong_and_its_size():
    lines = ["def long(x):", *(f"    value_{n} = x + {n}" for n in range(16))]
    shown = projector.shape(lines, {9}, "Right", ["value_8 = x"], 40)
    assert shown.size >= projector.SMALLEST
    assert [shown.lines[n] for n in shown.wrong] == [lines[9]]
    whole = projector.shape(lines[:16], set(), "One right way", lines[:9], 40)  # nothing may be left out
    assert (whole.lines, whole.right) == (lines[:16], [])
    assert projector.shape(["x = 1"] * 3, set(), "One right way", ["x = 2"], 20).right == ["x = 2"]
    assert projector.hanging("    x").startswith('<span class="line" style="--indent: 8ch">    ')


def test_code_is_broken_after_spaces_and_commas_alone():
    line = "    hidden = scores.masked_fill(~mask,-torch.inf) - 1"
    pieces = re.split(r" |<wbr>", re.sub(r"</?span[^>]*>", "", projector.hanging(line)).strip())
    assert pieces == ["hidden", "=", "scores.masked_fill(~mask,", "-torch.inf)", "-", "1"]
    kept = ["-torch.inf)", "-"]
    assert re.findall(r'<span class="keep">(.*?)</span>', projector.hanging(line)) == kept
    for most in range(1, 60):
        assert projector.wrapped(line, most)[0] <= max(most, len("    hidden"))
    assert projector.wrapped(line, 36) == [len("    hidden ="), len("        scores.masked_fill(~mask,"), 23]
    assert projector.wrapped("x" * 97, 48) == [report.LONG, 97 - report.LONG + projector.HANGING]
    assert '<span class="keep">' not in projector.hanging("    " + "x-" * 40), "no screen is as wide"
    shown = projector.hanging("    x = '<b>', \"</span>\"")
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


STUB = "class FeedForward(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError"
LAYER = "class DecoderLayer(nn.Module):\n    def forward(self, x):\n        return x"


def layers(folder, answers, item="DecoderLayer", name=""):
    """A class that has made the same mistake in an exercise of lesson 7: {student: source}."""
    known, name = marks.Class(folder, 5), name or next(iter(EXERCISES[item].mistakes))
    for student, source in answers.items():
        known.students[student] = {"name": student.capitalize(), "folder": "", "slug": student}
        known.rows.append(row(student, item, "failed", lesson="7", mistake=name))
        known.works[student, item] = {"source": source, "digest": source}
    return known


def test_a_screen_leaves_out_what_is_an_exercise_of_its_own(tmp_path):
    known = layers(tmp_path, {"ada": f"{STUB}\n\n\n{LAYER}", "bob": f"{STUB}\n\n\n{LAYER}"})
    text = projector.body(known)
    assert "FeedForward" not in text
    assert "class DecoderLayer(nn.Module):" in re.sub("<.*?>", "", text)


def test_a_screen_keeps_the_other_exercise_in_which_the_wrong_line_is(tmp_path):
    name = "heads split by view alone"
    variants = [ast.unparse(one.tree) for one in EXERCISES["MultiHeadAttention"].mistakes[name].variants]
    answer = next(one for one in variants if "def split_heads" in one)
    known = layers(tmp_path, {"ada": answer}, "MultiHeadAttention", name)
    (mistake,) = mistakes.mistakes_in(known, "exercise")
    lines, wrong = mistakes.answer_to_show(known, mistake)
    assert lines == mistakes.without_comments(answer).splitlines()
    assert wrong


def test_a_screen_shows_the_shortest_answer_that_it_has_room_for(tmp_path):
    many = "\n".join(["class DecoderLayer:", *["    x = 1"] * projector.LINES])
    wide = LAYER.replace("return x", f"return {' + '.join(['x'] * 99)}")
    known = layers(tmp_path, {"ada": many, "bob": wide})
    (mistake,) = mistakes.mistakes_in(known, "exercise")
    assert mistakes.answer_to_show(known, mistake, projector.LINES)[0] == wide.splitlines()
    assert mistakes.answer_to_show(known, mistake)[0] == many.splitlines()


def test_a_screen_shows_an_exercise_before_a_bug_hunt_if_there_is_room_for_it(tmp_path):
    long = UPPER.replace("    return", "    x = 1\n" * projector.LINES + "    return")
    for source, shown in ((UPPER, "causal_<wbr>mask"), (long, "fixed_<wbr>mask")):
        known = class_of(tmp_path, {"ada": (MISTAKE.name, source)}, ["bob", "eve"])
        known.rows += [hunt(one, MISTAKE.name) for one in ("bob", "eve")]
        known.works |= {(one, "fixed_mask"): {"source": "def fixed_mask(n):\n    pass"} for one in ("bob", "eve")}
        (screen,) = re.findall(r'<section class="screen">.*?</section>', projector.body(known), re.DOTALL)
        assert f"<h2><code>{shown}</code> " in screen


def test_an_identifier_at_the_start_of_a_title_keeps_its_case():
    for text in ("num_heads and d_hidden swapped", "d_model", "view(…) alone", "x.view alone", "`eps` outside"):
        assert report.sentence(text) == text
    assert report.sentence("the mask inverted") == "The mask inverted"


# The report


def test_equal_answers_share_a_box_that_leads_back_and_every_link_leads_somewhere(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ada", "bob", "eve"), (MISTAKE.name, UPPER)))
    known.rows.append(row("ada", "padding_mask", "passed", flags=["as the course's solution"]))
    known.works["ada", "padding_mask"] = {"source": "pass", "digest": "x"}
    text = report.Report(known).body()
    assert text.count("<details data-lesson='6'>") == 2
    assert "3 students: " in text
    assert 'title="ada, padding_mask: as the course&#x27;s solution">✓⚑</a>' in text
    links, places = set(re.findall(r'href="#([^"]+)"', text)), set(re.findall(r' id="([^"]+)"', text))
    assert links <= places
    assert 'href="feedback/ada/lesson_6.html"' in text


def test_the_report_says_which_class_it_is_about(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    for source, title in (("", "The class"), ("CS 1 <i>", "The class · CS 1 &lt;i&gt;")):
        known.source = source
        report.write_report(known)
        assert f"<title>{title}</title>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_late_work_and_points_that_the_teacher_gave_have_signs_of_their_own(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    known.rows[0] |= {"late": True, "flags": ["late", "override"], "points": 1, "max": 1, "reason": "at the board"}
    text = report.Report(known).body()
    (cell,) = re.findall(r'<td class="p first">.*?</td>', text)
    assert "✗✎" in cell
    assert "⚑" not in cell
    assert "at the board" in cell
    assert '<span class="late"' in text


def test_points_that_the_teacher_gave_stand_beside_the_code_and_apart_from_equal_answers(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ada", "bob"), (MISTAKE.name, UPPER)))
    known.rows[0] |= {"flags": ["override"], "points": 0.5, "reason": "<b> at the board"}
    first, second = re.findall(r"<details.*?</details>", report.Report(known).body(), flags=re.DOTALL)
    assert "You gave 0.5 of 1: &lt;b&gt; at the board" in first
    assert "Ada" in first
    assert "Bob" not in first
    assert "You gave" not in second


def test_each_lesson_has_totals_of_its_own_and_a_way_to_its_texts(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe"])
    known.rows += [row("zoe", "softmax", "passed", lesson="1"), row("ada", "6.11", "given", kind="text")]
    text = report.Report(known).body()
    tiles = dict(re.findall(r'<ul class="facts" data-lesson="(\d?)"[^>]*>(.*?)</ul>', text))
    assert list(tiles) == ["", "1", "6"]
    assert "<strong>1 of 2</strong>handed in Lesson 6 · Masking" in tiles["6"]
    assert "<strong>0</strong>exercises solved, of 1 that" in tiles["6"]
    assert '<a href="grading.html#6">text waiting for a reader</a>' in tiles["6"]
    assert "<strong>0</strong>texts waiting for a reader" in tiles["1"]
    assert "<strong>1</strong>exercises solved, of 2 that" in tiles[""]


def test_a_wrong_answer_to_a_question_and_its_number_read_as_no_product(tmp_path):
    known = class_of(tmp_path, {})
    for student, status, answer in (("ada", "failed", "14"), ("bob", "failed", "14"), ("eve", "passed", "4")):
        said = [Part("why", "You answered 14."), Part("why", "You added the values.")]
        known.rows.append(row(student, "1.1", status, kind="question", answer=answer, said=said, lesson="1"))
    text = report.questions(known)
    assert '<b>14</b> <span class="quiet">answered by 2 of 3</span><br>This answer added the values.' in text


def test_shares_have_one_base_for_all_and_texts_that_wait_are_on_neither_side(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe"])
    known.rows += [row("ada", "padding_mask", "passed"), row("ada", "6.11", "given", kind="text")]
    scores = report.scores_of(known)
    most = known.rows[0]["max"] + known.rows[1]["max"]
    assert scores["ada"] == {"6": (known.rows[1]["points"], most)}
    assert scores["zoe"] == {"6": (0, most + 3)}


def test_what_was_handed_in_is_counted_even_if_it_could_not_be_read(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe", "eve"])
    known.in_doubt["zoe", "6"] = "it breaks off"
    known.unread = [("zoe/06_masking.ipynb", "it breaks off")]
    text = report.Report(known).body()
    assert "<strong>2 of 3</strong>handed in Lesson 6 · Masking; 1 could not be read" in text
    assert text.count('data-what="handed in">2 of 3</td>') == 2, "for the lesson and for all"
    assert re.search(r'handed in by</th><td class="first base" colspan="\d+">2</td>', text)
    assert "1 file was not read</strong> and counted as 0:" in text


def test_a_notebook_that_was_not_read_is_not_shown_as_not_handed_in(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe"])
    known.in_doubt["zoe", "6"] = "it breaks off"
    text = report.Report(known).body()
    assert 'colspan="2"><a href="#unread" title="it breaks off">! not read</a>' in text


def test_a_notebook_that_was_not_read_is_said_so_in_the_tables_and_never_filled_in_as_nothing(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe", "eve"])
    known.in_doubt["zoe", "6"] = "it breaks off"
    known.unread.append(("zoe/06.ipynb", "it breaks off"))
    tables.write_marks(known)
    wide = {row["student"]: row for row in sheets.read_table(tmp_path / "marks_wide.csv")}
    head = f"lesson 6 (of {known.rows[0]['max']:g})"
    assert [wide[one][head] for one in ("ada", "zoe", "eve")] == ["0", "not read", ""]
    (line,) = [row for row in sheets.read_table(tmp_path / "marks.csv") if row["student"] == "zoe"]
    assert (line["lesson"], line["status"], line["points"]) == ("6", "not read", "")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("id,Grade\nada,\nzoe,\n")
    assert tables.fill(sheet, tmp_path / "marks.csv", lesson="6") == (1, {tables.NOT_READ: ["zoe"]})
    assert sheet.read_text() == "id,Grade\nada,0\nzoe,\n"
    assert "1 file was not read" in report.Report(known).summary()
    known.left_out["max"], known.students["max"] = [("x.ipynb", "it is empty")], known.students["eve"]
    tables.write_marks(known)
    totals = [row["total"] for row in sheets.read_table(tmp_path / "marks_wide.csv")]
    assert totals == ["0", "0", "", ""]  # of ada and eve, who handed in nothing else; of max and zoe nobody knows


def test_what_was_not_read_and_who_is_stuck_follow_the_chosen_lesson(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe", "eve"])
    known.rows += [row("ada", name, "failed") for name in list(EXERCISES)[:3]]
    known.rows += [row("zoe", "softmax", "passed", lesson="1")]
    known.in_doubt["zoe", "6"] = "it breaks off"
    known.unread += [("zoe/06_masking.ipynb", "it breaks off"), ("zoe/<i>.txt", "it is not a notebook")]
    text = report.Report(known).body()
    banners = dict(re.findall(r'<p class="warning unread" data-lesson="(\d?)"[^>]*>(.*?)</p>', text))
    assert {one: re.search(r"\d", said)[0] for one, said in banners.items()} == {"": "2", "1": "1", "6": "2"}
    section = text.partition('<section id="unread">')[2].partition("</section>")[0]
    lists = dict(re.findall(r'<div data-lesson="(\d?)"[^>]*>(.*?)</div>', section, re.DOTALL))
    assert {one: said.count("<li>") for one, said in lists.items()} == {"": 2, "1": 1, "6": 2}
    assert "breaks off" not in lists["1"]
    assert "zoe/&lt;i&gt;.txt" in lists["1"]
    stuck = "".join(report.Report(known).stuck_in("6"))
    assert '<a href="feedback/ada/lesson_6.html">' in stuck
    assert "Not read: <a " in stuck
    assert "Not handed in: <bdi>Eve</bdi>" in stuck
    assert '<a href="feedback/ada/index.html">' in "".join(report.Report(known).stuck_in(""))


def test_who_has_solved_little_or_is_silent_is_stuck(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe"])
    names = [name for name in EXERCISES if name != "causal_mask"][:6]
    known.rows += [row("zoe", name, "passed", lesson="1") for name in names[:3]]
    known.rows += [row("ada", name, "failed", lesson=lesson) for name, lesson in zip(names, "677788", strict=True)]
    stuck = report.Report(known).stuck()
    everywhere = "".join(re.findall(r'<tr data-lesson="">.*?</tr>', stuck, re.DOTALL))
    assert re.findall(r"<bdi>(\w+)</bdi></a></th><td[^>]*>(\d+ of \d+)</td>", everywhere) == [
        ("Ada", "0 of 7"),
        ("Zoe", "3 of 7"),
    ]
    assert everywhere.count("less than a third solved") == 1
    assert 'less than a third solved; wrong: <a href="#c' in everywhere
    assert "not handed in: lessons 6, 7, 8" in everywhere
    assert "not handed in: lesson 1<" in everywhere, "it stands beside other signs, though it is none by itself"
    assert '<a href="feedback/ada/index.html">' in everywhere


def test_a_lesson_that_few_have_handed_in_makes_nobody_stuck(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe", "eve", "bob"])
    names = [name for name in EXERCISES if name != "causal_mask"]
    known.rows += [row(one, names[0], "passed", lesson="1") for one in ("ada", "zoe", "eve", "bob")]
    known.rows += [row("ada", name, "failed", lesson="8") for name in names[1:6]]
    text = report.Report(known)
    (line,) = text.stuck_in("")
    assert "<bdi>Ada</bdi></a></th>" in line
    assert "1 of 7" in line
    assert [re.findall(r'<th scope="row">.*<bdi>(\w+)', one) for one in text.stuck_in("8")] == [["Ada"], []]
    assert "Nobody" in text.stuck_in("1")[0]


def test_where_many_are_stuck_those_who_have_solved_least_have_a_line_and_the_others_a_name(tmp_path):
    known = class_of(tmp_path, {f"s{n}": (MISTAKE.name, UPPER) for n in range(8)}, ["zoe"])
    known.rows += [row(one, name, "failed") for one in list(known.students)[:8] for name in list(EXERCISES)[:6]]
    known.rows[8] |= {"status": "passed"}
    *lines, others, nothing = report.Report(known).stuck_in("")
    assert [re.findall(r"<bdi>(\w+)</bdi>", line) for line in lines] == [["S1"], ["S2"], ["S3"]]
    assert re.findall(r"<bdi>(\w+)</bdi>", others) == ["S4", "S5", "S6", "S7", "S0"]
    assert "Handed in nothing: <bdi>Zoe</bdi>" in nothing
    known.in_doubt["zoe", "6"] = "it is cut off"
    assert "Not read: <bdi>Zoe</bdi>" in report.Report(known).stuck_in("")[-1]


def test_who_has_solved_most_is_stuck_only_with_the_same_mistake_after_a_change(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    names = [name for name in EXERCISES if name != "causal_mask"]
    known.rows += [row("ada", names[0], "failed", mistake=MISTAKE.name)]
    known.rows += [row("ada", name, "passed") for name in names[1:6]]
    assert "Nobody" in report.Report(known).stuck_in("")[0]
    known.rows[0]["again"] = True
    assert "the same mistake after a change" in report.Report(known).stuck_in("")[0]


def test_the_same_mistake_in_several_exercises_is_one_and_those_of_most_students_come_first(tmp_path):
    answers = dict.fromkeys(("ada", "bob", "eve"), (OTHER.name, UPPER))
    known = class_of(tmp_path, answers, ["zoe", "max", "kim"])
    more = ["padding_mask", "masked_softmax"]
    for item, who in zip(more, (("ada", "zoe"), ("max", "kim")), strict=True):
        known.rows += [row(one, item, "failed", mistake=MISTAKE.name, said=[Part("why", "Wrong.")]) for one in who]
    (telling,) = re.findall(r'<ol class="next">.*?</ol>', report.Report(known).body())
    everywhere = re.findall(r"<li data-lesson=''>.*?</li>", telling)
    assert "4 students in all; 4 in 2 exercises: masked_<wbr>softmax, padding_<wbr>mask" in everywhere[0]
    assert "3 students in all; 3 of 6 in causal_<wbr>mask" in everywhere[1]
    assert "4 students in all; 4 in 2 exercises" in projector.body(known)


def test_exercises_and_bug_hunts_are_listed_with_the_most_often_wrong_first(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER)}, ["eve"])
    known.rows += [hunt(one, OTHER.name) for one in ("ada", "bob", "eve")]
    known.rows += [row("eve", "causal_mask", "untouched")]
    lines = re.findall(r"<tr.*?</tr>", report.Report(known).exercises())[1:]
    told = [[re.sub("<.*?>", "", one) for one in re.findall(r"<t[hd].*?</t[hd]>", line)] for line in lines]
    assert [one[:4] for one in told] == [["6 · fixed_mask", "0", "3", "0"], ["6 · causal_mask", "0", "2", "1"]]


@pytest.mark.parametrize(("slow", "alarm"), [(3, True), (2, False)])
def test_where_all_who_tried_an_exercise_run_out_of_time_the_machine_is_suspected_and_not_the_class(
    tmp_path, slow, alarm
):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER)}, ["eve", "zoe"])
    late = {"mistake": verdicts.NOT_RUN, "flags": [verdicts.TOO_SLOW], "headline": "the cells …"}
    known.rows += [row(one, "padding_mask", "failed", **late) for one in ("ada", "bob", "eve")[:slow]]
    known.rows += [row("zoe", "padding_mask", "untouched")]
    known.rows += [row("ada", name, "failed", mistake=MISTAKE.name) for name in ("attention", "masked_softmax")]
    shown = report.Report(known)
    assert ("padding_<wbr>mask: all 3 who tried it ran out of time" in shown.summary()) is alarm
    assert "padding_<wbr>mask" not in projector.all_mistakes(known, shown.telling)
    for text in (shown.exercises(), shown.all_mistakes()):
        assert ("padding_<wbr>mask" in text) is not alarm
    assert f">0 of {3 if alarm else 4}<" in shown.stuck()
    assert "⚑" not in shown.results().partition("</ul>")[2]
    known.rows[2]["flags"] = []
    assert "ran out of time" not in report.Report(known).summary()


def test_the_projector_names_nothing_that_one_student_did_and_no_borrowed_code(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER), "eve": (OTHER.name, UPPER)})
    for one in ("zoe", "max"):
        known.students[one] = {"name": one.capitalize(), "folder": "", "slug": one}
        known.rows.append(row(one, "causal_mask", "passed", flags=[verdicts.BORROWED]))
    assert [one["mistake"] for one in known.rows[3:]] == [marks.OWN] * 2
    text = projector.body(known)
    assert report.prose(MISTAKE.name) in text
    assert report.prose(OTHER.name) not in text
    assert marks.OWN not in text
    assert "own code" not in text


def test_a_table_has_a_screen_where_it_has_more_than_one_row(tmp_path):
    known = class_of(tmp_path, dict.fromkeys(("ada", "bob"), (MISTAKE.name, UPPER)))
    known.rows += [row(one, "padding_mask", "passed") for one in ("ada", "bob")]
    known.rows += [row("ada", "merge", "passed", lesson="9")]
    screens = re.findall(r'<section class="rest" data-lessons="(.*?)"><h2>(.*?)<', projector.body(known))
    assert screens == [
        ("all 6", "How many have solved what"),
        ("", "Mistakes of more than one"),
        ("", "Questions that many got wrong"),
    ]


def test_questions_come_hardest_first_with_their_text_and_the_right_answer(tmp_path):
    known = class_of(tmp_path, {})
    for number, right in (("1.1", 9), ("6.1", 1), ("6.2", 3)):
        for n in range(10):
            status = "passed" if n < right else "failed"
            said = [Part("why", "You answered 14."), Part("why", "You added the values.")]
            known.rows.append(row(f"s{n}", number, status, kind="question", answer="14", said=said))
    text = report.questions(known)
    assert re.findall(r"<summary>(\d\.\d)", text) == ["6.1", "6.2", "1.1"]
    assert "How many entries" in text or report.prose(report.all_questions()["6.1"].text) in text
    assert text.count("Right: <b>") == 3
    assert "Right: <b>0.33</b>" in report.asked("6.4"), "with the decimal places that it asks for"
    shown = projector.questions(known)
    assert shown.count('<tr class="asks"') == 2, "whose answers a key shows"
    assert re.findall(r"<b>(\d\.\d)</b>", shown) == ["6.1", "6.2"]
    assert "You " not in shown
    assert "Right: <b>" in shown


def test_a_text_that_nobody_has_read_waits_in_the_table(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)}, ["zoe"])
    known.rows += [row(one, "6.11", "given", kind="text") for one in ("ada", "zoe")]
    known.rows[-1] |= {"points": 2, "flags": ["override"]}
    tables.write_marks(known)
    found = [line["status"] for line in sheets.read_table(tmp_path / "marks.csv") if line["kind"] == "text"]
    assert found == ["waiting", "read"]


def test_a_text_that_only_repeats_what_the_page_shows_is_flagged(tmp_path):
    question, known = all_questions()["6.11"], class_of(tmp_path, {})
    own = "The loss alone proves nothing, as the decoder might have seen the answer in its input."
    texts = {
        "ada": (" ".join(reversed(question.points)), "like the points"),
        "bob": (question.model, "like the model answer"),
        "eve": (own, ""),
        "zoe": (f"{own} {own} {question.points[0]}", ""),
    }
    for one, (text, _) in texts.items():
        known.students[one] = {"name": one, "folder": "", "slug": one}
        known.rows.append(row(one, "6.11", "given", kind="text", answer=text))
    review.write_texts(known)
    found = {line["text"]: line["flags"] for line in sheets.read_table(tmp_path / "texts.csv")}
    assert all(found[text] == flags for text, flags in texts.values())


def test_the_page_for_texts_says_the_command_that_goes_on(tmp_path):
    known = class_of(tmp_path, {}, ["ada"])
    known.rows.append(row("ada", "6.11", "given", kind="text", answer="Because."))
    known.command = "python3 -m transformer_lessons mark 'my class'"
    review.write_texts(known)
    assert known.command in (tmp_path / "grading.html").read_text(encoding="utf-8")


def test_points_have_their_maximum_and_texts_that_wait_a_column(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    known.rows.append(row("ada", "6.11", "given", kind="text"))
    text = report.Report(known).body()
    assert f"points of {known.rows[0]['max'] + known.rows[1]['max']:g}</span>" in text
    assert 'data-waiting="1"' in text


def test_who_left_one_exercise_is_not_stuck_and_a_hunts_own_bug_is_no_second_mistake(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER)})
    known.rows += [hunt("ada", MISTAKE.name), row("ada", "padding_mask", "untouched")]
    known.rows += [row("ada", "sliding_window_mask", "passed"), row("ada", "shift_matrix", "passed")]
    assert "Nobody" in report.Report(known).stuck()
    known.rows.append(row("ada", "masked_softmax", "failed", mistake=MISTAKE.name))
    assert "masked_<wbr>softmax" in report.Report(known).stuck()


def test_the_same_file_of_two_students_is_named_and_where_nothing_is_alike_it_says_so(tmp_path):
    known = class_of(tmp_path, {"ada": (MISTAKE.name, UPPER), "bob": (MISTAKE.name, UPPER)})
    for work in known.works.values():
        work |= {"nodes": 9, "lines": [], "comments": []}
    review.write_similar(known)
    assert "No two pieces of the work" in (tmp_path / "similar.html").read_text(encoding="utf-8")
    known.notebooks = {(one, "6"): (f"{one}/6.ipynb", "digest") for one in ("ada", "bob")}
    review.write_similar(known)
    text = (tmp_path / "similar.html").read_text(encoding="utf-8")
    assert "<li>Lesson 6 · Masking: <bdi>Ada</bdi>, <bdi>Bob</bdi></li>" in text
    assert "No two" not in text
    known.notebooks = {(one, "6"): ("group/6.ipynb", "digest") for one in ("ada", "bob")}
    assert review.same_files(known) == ""
