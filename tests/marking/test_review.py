"""Strikingly similar work is found, and honest work is not."""

from types import SimpleNamespace

from transformer_lessons.marking import review
from transformer_lessons.marking.notebook import shape_of


def test_copies_are_found_and_honest_work_is_left_alone():
    works, rows = {}, []
    for number in range(30):
        names = "abcdefgh"[number % 8] + str(number)
        source = "\n".join(
            [
                f"def future_leak(model{n}, tokens{names}):"
                if n == 0
                else f"    {names}{n} = model{n}({n} * {number}, tokens{names}[{(n * number) % 7}])"
                for n in range(12)
            ]
        )
        works[f"s{number:02}", "future_leak"] = {"source": source, "comments": []}
    for copy in range(5):  # renamed, and in another order
        lines = works[f"s{copy:02}", "future_leak"]["source"].split("\n")
        source = "\n".join([lines[0], *reversed(lines[1:])]).replace("tokens", "other").replace("model", "net")
        works[f"copy{copy}", "future_leak"] = {"source": source, "comments": []}
    for work in works.values():
        digest, nodes, lines = shape_of(work["source"])
        work |= {"digest": digest, "nodes": nodes, "lines": lines}
    for student, item in works:
        rows.append({"student": student, "item": item, "exercise": item, "status": "passed"})
    known = SimpleNamespace(works=works, rows=rows, students=dict.fromkeys(student for student, _ in works))
    pairs = {(one, other) for _, one, other, _, _ in review.alike(known)}
    assert pairs == {(f"copy{n}", f"s{n:02}") for n in range(5)}
    for work in (works["s01", "future_leak"], works["s09", "future_leak"]):
        work["comments"] = [f"my own comment, number {n}" for n in range(30)]
    assert "the same comment: my own comment, number 0" in {why for *_, why in review.alike(known)}
