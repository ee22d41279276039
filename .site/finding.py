"""What the search finds: lessons and their sections, exercises, mistakes, terms, and the package."""

import json
import re

import repository
from anchors import slug
from exercises import EXERCISES
from facts import LESSONS, facts_of
from glossary import terms
from plain_formulas import in_plain_text
from reference import MODULES, definitions


def found(pages):
    """What the search finds: [kind, title, address, text], one for each thing.

    Of a lesson's section, the terms that it introduces follow.
    """
    places = "JupyterLab or Colab" if repository.source() else "JupyterLab"
    things = [
        [
            "start",
            "Install and run it on your machine",
            "index.html#run-it-on-your-machine",
            f"Install the course (git clone) and run it in {places}; to download a notebook, open its lesson. "
            "Python 3.10 or later, no GPU, MIT licence (license).",
        ],
        [
            "start",
            "How sharp are the checks?",
            "evidence.html",
            "What has been measured of the checks (evidence: mutants, other courses' tests, published faults), and "
            "what has not.",
        ],
        [
            "start",
            "Type the code, and the page checks it",
            "try.html",
            "Write and run Python in the browser (editor, online), without installing it: exercises of a few lines.",
        ],
        [
            "start",
            "Which line is wrong?",
            "wrong_lines.html",
            "A puzzle (game, quiz) for every day: a solution with one wrong line, a mistake (bug) that people make.",
        ],
        ["start", "Present a page to a class", "index.html#the-path", "Press p to show it one screen at a time."],
        [
            "start",
            "The path: which lessons there are, and how long they take",
            "index.html#the-path",
            "Twelve lessons in order, with the time (hours, minutes) that each takes. Where do I start?",
        ],
    ]
    things += teaching(pages["teaching.md"])
    for path in LESSONS:
        title, page = facts_of(path)["title"], json.loads(pages[f"notebooks/{path.name}"])
        written = "\n\n".join(
            cell["source"] if cell["cell_type"] == "markdown" else code_of(cell) for cell in page["cells"][2:]
        )
        _, *sections = re.split(r"^##+ +(.+)$", written, flags=re.MULTILINE)
        things.append(["lesson", title, f"notebooks/{path.stem}.html", words_of(facts_of(path)["promise"])])
        for heading, text in zip(sections[::2], sections[1::2], strict=True):
            heading = re.sub("[`*]", "", heading)
            if not heading.startswith("Exercise · "):
                things.append(
                    [
                        "lesson",
                        f"{heading} ({title})",
                        f"notebooks/{path.stem}.html#{slug(heading)}",
                        words_of(text, 6000),
                        introduced(text),
                    ]
                )
    for name, exercise in EXERCISES.items():
        address = f"exercises/{name}.html"
        things.append(["exercise", f"{name}: {exercise.title}", address, words_of(exercise.contract)])
        things += [
            ["mistake", f"{mistake.name} ({name})", f"{address}#{slug(mistake.name)}", words_of(mistake.why)]
            for mistake in exercise.mistakes.values()
        ]
    for term, meaning, _ in terms():
        things.append(["glossary", term, f"notebooks/glossary.html#{slug(term)}", words_of(meaning)])
    for module, what in MODULES.items():
        things.append(["code", module, f"reference/{module}.html", what])
        docstrings = definitions(module)
        things += [
            ["code", f"{module}.{name}", f"reference/{module}.html#{slug(name)}", words_of(text)]
            for name, text in docstrings
        ]
    return things


def teaching(page):
    """The teacher's page, and its sections."""
    beginning, *sections = re.split(r"^##+ +(.+)$", page, flags=re.MULTILINE)
    _, title, beginning = re.split(r"^# (.+)$", beginning, maxsplit=1, flags=re.MULTILINE)
    return [["teaching", title, "teaching.html", words_of(beginning)]] + [
        ["teaching", f"{heading} ({title})", f"teaching.html#{slug(heading)}", words_of(text, 3000)]
        for heading, text in zip(sections[::2], sections[1::2], strict=True)
    ]


def introduced(text):
    """The terms that a section introduces: it sets them in bold."""
    text = re.sub(r"(?s)```.*?```|<(form|svg|details|pre|div)\b.*?</\1>|^[|].*?$", " ", text)
    terms = re.findall(r"\*\*([^*\n.:?!]{2,40})\*\*", text)
    return ", ".join(dict.fromkeys(words_of(term) for term in terms))


KEPT = {ord(sign): 0xE000 + place for place, sign in enumerate("`*|{}\\[](")}  # signs that mean something else in prose
INDICES = str.maketrans("ijkmn0123", "ᵢⱼₖₘₙ₀₁₂₃")


def code_of(cell):
    """A cell's code, in signs that words_of does not take for marks."""
    return re.sub("[<$#]", " ", "".join(cell["source"])).translate(KEPT)


def words_of(text, most=400):
    """Prose without tags and marks, to be searched and shown in excerpts."""
    text = re.sub(r"^ *[-*] ", "", text, flags=re.MULTILINE)
    text = re.sub(r"\b([a-z])_([ijkmn0-3])\b", lambda name: name[1] + name[2].translate(INDICES), text)
    text = re.sub(r"(?s)<(form|svg|details|pre)\b.*?</\1>|```.*?```|<[^>]+>", " ", text)
    text = re.sub(r"(?s)\$\$(.+?)\$\$|\$([^$]+)\$", lambda tex: in_plain_text(tex[1] or tex[2]).translate(KEPT), text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[`*|{}$\\]", "", text).translate({kept: sign for sign, kept in KEPT.items()})
    return " ".join(text.split())[:most]
