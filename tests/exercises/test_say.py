"""Reports are shown once, on any screen."""

import builtins

from reported import NAME, right, verdict

from transformer_lessons.exercises.checker.report import say


def test_a_notebook_does_not_show_a_report_twice(capsys):
    report = verdict(right)
    assert repr(report) == f"<{NAME}: passed>"
    assert report._ipython_display_() is None
    assert capsys.readouterr().out == f"✓ {NAME}\n"


def test_a_screen_without_the_signs_gets_letters(monkeypatch):
    shown = []

    def narrow(text):
        if not text.isascii():
            raise UnicodeEncodeError("cp1252", text, 0, 1, "no such sign")
        shown.append(text)

    monkeypatch.setattr(builtins, "print", narrow)
    say("✓ yes ✗ no ○ maybe √")
    assert shown == ["OK yes X no O maybe ?"]
