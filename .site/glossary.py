"""The glossary as a page: every term with its letter, its meaning, and the lesson that introduces it."""

import re
from html import escape
from itertools import groupby

from anchors import slug
from facts import LESSONS, facts_of
from markup import HIDE_TOC, html

from transformer_lessons.tools.glossary import terms_of


def terms():
    """[(term, meaning, the lesson's notebook)], in the order of the alphabet."""
    found = [(term, meaning, path) for path in LESSONS for term, meaning in terms_of(path)]
    return sorted(found, key=lambda entry: (not entry[0][0].isalpha(), entry[0].lower()))


def letter(entry):
    return entry[0][0].upper() if entry[0][0].isalpha() else "#"


def glossary_page():
    entries = terms()
    letters = [(name, list(group)) for name, group in groupby(entries, letter)]
    jump = " ".join(f'<a href="#letter-{name.lower()}">{name}</a>' for name, _ in letters)
    lists = "".join(
        f'<section class="letter"><h2 id="letter-{name.lower()}">{name}</h2>\n<dl>\n'
        f"{''.join(map(item, group))}</dl></section>\n"
        for name, group in letters
    )
    return (
        f"{HIDE_TOC}# Glossary\n\n{len(entries)} terms, each with the lesson that introduces it.\n\n"
        '<form class="filter" hidden><label>Show terms with <input type="search" autocomplete="off"></label> '
        "<output></output></form>\n"
        f'<nav class="letters" aria-label="Letters">{jump}</nav>\n\n'
        f'<div class="glossary" data-filter="term">\n{lists}</div>\n'
    )


def unbroken(text):
    """A formula, such as tanh(q A + k B) · v, stays on one line."""
    return re.sub(r"\b[a-z]+\([^()<>]{3,24}\) · \w+", r'<span class="whole">\g<0></span>', text)


def item(entry):
    term, meaning, path = entry
    title = facts_of(path)["title"]
    number = int(path.name[:2])
    return (
        f'<div class="term" id="{slug(term)}"><dt>{html(term)}</dt><dd>{unbroken(html(meaning))} '
        f'<a href="{path.stem}.html" title="{escape(title)}">Lesson {number}</a></dd></div>\n'
    )
