"""The report for the projector: the commonest mistakes, one on each screen, and numbers. Nobody can be recognised."""

from collections import Counter, defaultdict

from transformer_lessons.marking.mistakes import answer_to_show, handed_in, mistakes_in
from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.report import (
    broken,
    prose,
    questions,
    safe,
    table,
    title_of,
    with_script,
    worth_telling,
)
from transformer_lessons.tools import atomic

LINES, SHORT = 16, 9  # lines of an answer on a screen; of one above the text, not beside it


def write_projector(known):
    """report-anonymous.html: no names, no pseudonyms, and no code in which a name occurs."""
    atomic.write(known.out / "report-anonymous.html", with_script("The class", body(known), "projector"))


def body(known):
    mistakes = mistakes_in(known, "exercise")
    telling = worth_telling(mistakes)
    screens = [screen(known, one, rank, len(telling)) for rank, one in enumerate(telling, 1)]
    screens = screens or ['<section class="screen"><h2>No mistake was made twice.</h2></section>']
    parts = {
        "Who has solved what": solved(known),
        "All mistakes": all_mistakes(known, mistakes),
        "Questions": questions(known, can_be_sorted=False),
    }
    rest = "".join(f'<section class="rest"><h2>{title}</h2>{text}</section>\n' for title, text in parts.items())
    return "\n".join([*screens, rest, '<p id="keys" class="quiet" hidden></p>'])


def screen(known, mistake, rank, count):
    """An answer and a question; then, one key after another, what is wrong with it, and where to look."""
    lines, wrong = answer_to_show(known, mistake)
    lines = [clean(line, 200) for line in lines[:LINES]] + ["…"] * (len(lines) > LINES)
    shown = "\n".join(f"<mark>{safe(line)}</mark>" if n in wrong else safe(line) for n, line in enumerate(lines))
    longest = max([*map(len, lines), 30])
    code = f'<pre style="--longest: {longest}; --lines: {len(lines)}">{shown}</pre>' if lines else ""
    kind = "pair" if len(lines) > SHORT else "pile"
    look = f'<p class="look step"><strong>Where to look:</strong> {prose(mistake.look)}</p>' if mistake.look else ""
    return (
        f'<section class="screen"><p class="rank">{rank} of {count} · {title_of(mistake.lesson)} · '
        f"{mistake.share()} who handed it in</p><h2><code>{broken(mistake.item)}</code></h2>"
        f'<div class="{kind}">{code}<div class="told"><p class="ask">What is wrong here?</p>'
        f'<div class="step"><h3>{prose(mistake.name)}</h3><p>{prose(mistake.why)}</p></div>{look}</div></div></section>'
    )


def solved(known):
    """For each exercise, how many have solved it, of those who have handed in the lesson."""
    count, items, students = Counter(), defaultdict(dict), handed_in(known)
    for row in known.rows:
        if row["kind"] in ("exercise", "hunt"):
            items[row["lesson"]][row["item"]] = None
            count[row["item"]] += row["status"] == "passed"
    lines = []
    for lesson in sorted(items, key=int):
        of = len(students[lesson])
        lines.append(f'<tr><th class="group" colspan="3" scope="colgroup">{title_of(lesson)}</th></tr>')
        lines += [
            f'<tr><th scope="row">{broken(item)}</th><td class="n">{count[item]} of {of}</td>'
            f'<td><span class="bar"><i style="width: {count[item] / of:.0%}"></i></span></td></tr>'
            for item in items[lesson]
        ]
    header = ['<tr><th scope="col">exercise</th><th scope="col">solved by</th><th></th></tr>']
    return table("Who has solved what", header, lines, "text solved") if lines else "<p>Nothing was handed in.</p>"


def all_mistakes(known, mistakes):
    lines = [
        f'<tr><th scope="row">{one.lesson} · {broken(one.item)}: {prose(one.name)}</th>'
        f'<td class="n">{one.share()}</td><td>{prose(one.why)}</td></tr>'
        for one in sorted(mistakes, key=lambda one: int(one.lesson))
    ]
    header = ['<tr><th scope="col">mistake</th><th scope="col">students</th><th scope="col">what is wrong</th></tr>']
    return table("All mistakes", header, lines, "text mistakes") if lines else "<p>None.</p>"
