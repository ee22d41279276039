"""Where HTML is shown, a verdict is a card: the same words, with the numbers that differ marked."""

import base64
import html
import json
import re
import subprocess
import sys
import types

import numpy as np
import pytest
import torch

from transformer_lessons.basis import memory
from transformer_lessons.exercises import answer, check, hint, solution
from transformer_lessons.exercises.checker import card, display
from transformer_lessons.exercises.checker.parts import WIDTH, Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions import clicked
from transformer_lessons.exercises.questions.lookup import all_questions

TABLE = re.compile("<table.*?</table>", re.DOTALL)


def words(text):
    return re.findall(r"[^\s|]+", text)


def letters(text):
    return "".join(words(text.replace("`", "")))


def text_of(page):
    page = re.sub("(?s)<script>.*</script>", "", page)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


@pytest.fixture
def cards(monkeypatch):
    """What is displayed, as pairs of a plain text and a page."""
    shown = []
    monkeypatch.setattr(card, "is_shown", lambda: True)
    monkeypatch.setattr(card, "show", lambda *both: shown.append(both))
    return shown


def over_the_queries(query, key, value):
    weights = (query @ key.mT).softmax(-2)
    return weights @ value, weights


def raising(message):
    def softmax(scores):
        raise ValueError(message)

    return softmax


SAYINGS = [
    lambda: check("attention", over_the_queries),
    lambda: check("attention", lambda query, key, value: (torch.zeros(len(query), 2), torch.zeros(len(query), 3))),
    lambda: check("causal_mask", lambda length: torch.ones(length, length).bool().triu()),
    lambda: check("tokenize", str.split),
    lambda: check("split_heads", lambda x, num_heads: x),
    lambda: check("softmax", raising("no <script>alert(1)</script> & `ticks`")),
    lambda: check("softmax", None),
    lambda: check("sofmax", None),
    lambda: answer("1.2"),
    lambda: answer("1.2", "a"),
    lambda: answer("1.2", "z"),
    lambda: answer("99.1"),
    lambda: hint("softmax", 1),
    lambda: solution("softmax"),
]


@pytest.mark.parametrize("number", range(len(SAYINGS)))
def test_a_card_says_what_the_plain_text_says(number, cards, capsys):
    SAYINGS[number]()
    ((text, page),) = cards
    assert capsys.readouterr().out == ""
    if number == len(SAYINGS) - 1:  # a solution has a heading besides
        assert letters(text) in letters(text_of(page))
        return
    text, said, around = (letters(one) for one in (text, text_of(page), text_of(TABLE.sub(" ", page))))
    assert sorted(said) == sorted(text)
    rest = iter(text)
    assert all(letter in rest for letter in around)  # in the same order


def test_a_pass_says_how_many_known_mistakes_are_ruled_out(cards):
    check("causal_mask", lambda length: torch.ones(length, length).bool().tril())
    number = int(re.search(r"passed · (\d+) known mistakes ruled out", text_of(cards[0][1]))[1])
    assert number == len(check.__globals__["EXERCISES"]["causal_mask"].mistakes) > 8


def test_exactly_the_numbers_that_differ_are_marked_and_read_aloud_with_the_expected(cards):
    check("causal_mask", lambda length: torch.ones(length, length).bool().triu())
    ours, theirs = (
        [re.findall(r"<td.*?</td>", row) for row in re.findall("<tr><td.*", one)] for one in TABLE.findall(cards[0][1])
    )
    right = np.tri(3, dtype=bool)
    assert (np.array([["<strong" in cell for cell in row] for row in ours]) == (right != right.T)).all()
    assert 'aria-label="True, not False"' in ours[0][1]
    assert [text_of(cell).strip() for cell in theirs[1]] == ["True", "True", "False"]
    assert not any("<strong" in cell or "aria-label" in cell for row in theirs for cell in row)


def test_a_sign_has_a_name_for_those_who_hear_it(cards):
    for status, sign, name in [
        ("passed", "✓", "passed"),
        ("failed", "✗", "not right"),
        ("not attempted", "○", "not attempted"),
    ]:
        assert f'aria-label="{name}">{sign}</span> y' in card.card(status, f"{sign} y: so.", [])
    hint("softmax", 1)
    assert "aria-label" not in cards[0][1]


def test_a_heading_is_no_markup_and_stands_in_bold_to_its_end():
    page = card.card("failed", "✗ y: no <img> & `ticks`.", card.blocks_of("failed", [Part("why", "So.")]))
    assert "</span> y: no &lt;img&gt; &amp; <code>ticks</code>.</strong></p>\n<p>So.</p>" in page


def test_an_exercise_that_is_untouched_offers_a_hint_as_code_below_the_heading(cards):
    check("softmax", None)
    assert 'softmax: not attempted yet.</strong></p>\n<p>Stuck? <code>hint("softmax")</code></p>' in html.unescape(
        cards[0][1]
    )


def test_sentences_are_paragraphs_and_only_values_keep_their_columns(cards):
    check("split_heads", lambda x, num_heads: x)
    assert "<p>With x of shape (1, 3, 6), num_heads=2: <code>heads</code> has shape (1, 3, 6); (1, 2" in cards[0][1]
    check("softmax", raising("too much"))
    assert "<p>at the line: <code>raise ValueError(message)</code></p>" in cards[1][1]
    check("tokenize", str.split)
    assert re.search("<pre[^>]*>yours     .*\nexpected  .*</pre>", cards[2][1])
    assert not any("<pre" in page for _, page in cards[:2])


def test_what_an_answer_says_is_never_markup(cards):
    check("softmax", raising("<img src=x onerror=alert(1)>"))
    assert "<img" not in cards[0][1]
    assert "&lt;img" in cards[0][1]


def test_a_card_is_shown_in_a_kernel_that_somebody_looks_at_and_nowhere_else(monkeypatch):
    shell = types.SimpleNamespace(kernel=object(), user_ns={})
    python = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", python)
    python.get_ipython = lambda: None
    monkeypatch.setenv("JPY_SESSION_NAME", "01_self_attention.ipynb")
    assert not card.is_shown()
    python.get_ipython = lambda: shell
    assert card.is_shown()
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert not card.is_shown()
    shell.user_ns["__vsc_ipynb_file__"] = "01_self_attention.ipynb"
    assert card.is_shown()


def test_in_a_plain_python_check_prints_and_importing_it_has_read_no_page():
    code = (
        "from transformer_lessons.exercises import check\n"
        "from transformer_lessons.exercises.checker import registry\n"
        "assert not any(registry.EXERCISES.known.values())\n"
        'check("softmax", None)'
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("○ softmax: not attempted yet.")


def test_numbers_of_many_digits_stand_beside_the_expected_in_one_line():
    expected = torch.linspace(-9, 9, 24).reshape(4, 6)
    (table,) = display.beside(expected + 3e-5, expected, "y", 1e-9)
    lines = table.table
    assert len(lines) == 5
    assert max(map(len, lines)) + 4 <= WIDTH


# --- what is remembered ---


@pytest.fixture
def solved(tmp_path, monkeypatch):
    """The file that remembers, and an open copy of lesson 1 in JupyterLab."""
    monkeypatch.setenv(memory.ELSEWHERE, str(tmp_path / "solved.txt"))
    monkeypatch.setenv("JPY_SESSION_NAME", "/somewhere/01_self_attention.mine.ipynb")
    return tmp_path / "solved.txt"


def right(name):
    """The right answer of the page, as a learner defines it: under the exercise's name."""
    answer_of_page = EXERCISES[name].right.answer
    return types.FunctionType(answer_of_page.__code__, answer_of_page.__globals__, name)


def test_a_pass_says_how_much_of_the_lesson_is_solved_and_links_what_comes_next(cards, solved):
    check("softmax", right("softmax"))
    page = cards[-1][1]
    assert "1 of 2 exercises in this lesson solved. Next: read on to question 1.5" in " ".join(words(text_of(page)))
    (step,) = [step for step in memory.steps(memory.lessons()[0]) if step.name == "1.5"]
    assert f'href="01_self_attention.mine.ipynb#cell-id={step.cell}"' in page
    assert 'Other right ways to write it: <code>solution("softmax")</code>' in page
    answer("1.1", 4)
    assert "1 of 9 questions in this lesson answered. Next: read on to question 1.2" in " ".join(
        words(text_of(cards[-1][1]))
    )
    memory.remember(["self_attention", *(f"1.{number}" for number in range(2, 9))])
    answer("1.9", "A weighted average.")
    said = " ".join(words(text_of(cards[-1][1])))
    assert "This lesson is solved , with every exercise and question. Next: lesson 2, question 2.1" in said
    assert 'href="02_queries_keys_values.ipynb#' in cards[-1][1]
    assert solved.read_text().split()[:2] == ["softmax", "1.1"]


def test_what_fails_and_what_bears_another_name_is_not_remembered(cards, solved):
    check("softmax", lambda scores: scores)
    answer("1.1", 14)
    check("softmax", types.FunctionType(right("softmax").__code__, right("softmax").__globals__, "fixed"))
    assert "0 of 2" in text_of(cards[-1][1])
    assert memory.solved() == []


def test_the_plain_text_never_depends_on_what_is_remembered_and_without_a_card_nothing_is(capsys, solved):
    check("softmax", right("softmax"))
    answer("1.1", 4)
    solution("softmax")
    before = capsys.readouterr().out
    assert not solved.exists()
    memory.remember(["softmax", "1.1"])
    check("softmax", right("softmax"))
    answer("1.1", 4)
    solution("softmax")
    assert capsys.readouterr().out == before


def test_a_solution_is_coloured_and_offers_other_styles_once_the_exercise_is_solved(cards, solved):
    solution("softmax")
    memory.remember(["softmax"])
    solution("softmax")
    (_, before), (_, after) = cards
    styles = EXERCISES["softmax"].page.styles
    assert "<details>" not in before
    assert re.findall("<summary.*?>Also right: (.*?)</summary>", after) == [card.marked_up(style) for style in styles]
    assert all(source in html.unescape(re.sub("<[^>]+>", "", after)) for source in styles.values())
    assert "overflow-x: auto" in before
    assert ">return</span>" in before


@pytest.mark.parametrize("name", EXERCISES)
def test_coloured_code_is_the_code(name):
    for source in (EXERCISES[name].solution_text(), *EXERCISES[name].page.styles.values()):
        assert html.unescape(re.sub("<[^>]+>", "", card.coloured(source))) == source


@pytest.mark.parametrize(("kind", "line"), [("keyword", "if"), ("string", "'a'"), ("comment", "# a"), ("number", "1")])
def test_code_has_the_colours_of_the_theme_in_jupyterlab_and_in_vs_code(kind, line):
    in_vs_code = f"var(--vscode-{card.COLOURS_IN_VS_CODE[kind]}, {card.COLOURS_OF_CODE[kind]})"
    assert f'"color: var(--jp-mirror-editor-{kind}-color, {in_vs_code})"' in card.coloured(line)


def test_a_question_that_waits_can_be_clicked_and_one_that_is_answered_or_free_cannot(cards, solved):
    for given in (["1.2"], ["1.2", "..."], ["1.1"], ["1.9"], ["1.2", "a"], ["1.2", "z"]):
        answer(*given)
    assert ["<script>" in page for _, page in cards] == [True, True, True, False, False, False]
    told = json.loads(base64.b64decode(re.search('data-told="(.*?)"', cards[0][1])[1]))
    assert [choice["letter"] for choice in told["choices"] if choice["right"]] == ["c"]
    assert "9, more than the 5" not in text_of(cards[0][1])  # nothing is given away


@pytest.mark.parametrize("number", all_questions())
def test_what_a_script_is_told_of_a_question_is_what_python_judges(number):
    question, told = all_questions()[number], clicked.what_is_told(all_questions()[number])
    if told is None:
        assert question.kind == "free text"
    elif "choices" in told:
        letters = "".join(choice["letter"] for choice in told["choices"] if choice["right"])
        assert question.judge(question.read(letters))[0]
    else:
        given = json.loads(json.dumps(told))
        assert question.judge(question.read(given["right"]))[0]
        for value, why in given["slips"]:
            passed, said = question.judge(question.read(value))
            assert (passed, card.marked_up(said[-1])) == (False, why)
