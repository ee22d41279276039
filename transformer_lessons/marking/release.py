"""What teachers hand out, and what they keep: a version for students, and the answer key."""

import ast
import io
import json
import re
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from transformer_lessons.basis import atomic, memory
from transformer_lessons.exercises import sealing
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.kinds import Choices, FreeText, Value
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.exercises.questions.question_pages import MODEL, POINTS
from transformer_lessons.tools import reset
from transformer_lessons.tools.install import ROOT

KEPT = "Kept for your teacher."
FOLDERS = ("transformer_lessons", "imgs")
RUNS_NOTEBOOKS = ("quick_start", "strict_notebooks", "forked_kernels", "shape_comments", "learner")  # beside nbval
FILES = (
    "README.md",
    "LICENSE",
    "pyproject.toml",
    "requirements.txt",
    ".ci/constraints.txt",
    "tests/notebooks/learner.cfg",
    *(f"tests/notebooks/{name}.py" for name in RUNS_NOTEBOOKS),
)
NOT_FOR_STUDENTS = ("marking", "__pycache__", ".ipynb_checkpoints")


def hidden_lines() -> list[str]:
    """The lines of the solutions that appear in no task, that is, in no stub and in no bug hunt's code."""
    given = {line.strip() for one in EXERCISES.values() for line in one.stub.splitlines()}
    for path in memory.lessons():
        given |= {line.strip() for source in tasks_in(path) for line in source.splitlines()}
    lines = {line.strip() for one in EXERCISES.values() for line in one.solution_text().splitlines()} - given
    return [line for line in lines if len(line) >= 30 and not line.startswith(("import ", "from ", "def ", "class "))]


def tasks_in(path: Path) -> Iterator[str]:
    """The cells that learners need in full: stubs, and the first cell of each bug hunt."""
    hunting = False
    for one in json.loads(path.read_bytes())["cells"]:
        source = "".join(one["source"])
        if one["cell_type"] == "markdown":
            hunting = "## Bug hunt" in source
        elif hunting or "raise NotImplementedError" in source:
            hunting = False
            yield source


def release(out: Path, hold: Collection[str]) -> None:
    """Writes the students' zip; hold: "texts", "solutions", or both."""
    file, lines = io.BytesIO(), hidden_lines()
    paths = {path.relative_to(ROOT).as_posix(): path for path in files_for_students()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in paths.items():
            data = held(name, as_handed_out(path), hold, lines)
            if name == "README.md":
                data = readme_for_students(data.decode()).encode()
            archive.writestr(zipfile.ZipInfo(f"transformer-lessons/{name}", (2020, 1, 1, 0, 0, 0)), data)
    atomic.write(out, file.getvalue())


def readme_for_students(course: str) -> str:
    """A README for those who unpack the zip; it ends in the list of lessons that the course's own README has."""
    lessons = re.search(r"^## The lessons\n.*?(?=^## )", course, flags=re.MULTILINE | re.DOTALL)[0]
    own = Path(__file__).with_name("students.md").read_text(encoding="utf-8")
    return own.replace("## The lessons\n", lessons.rstrip() + "\n")


def files_for_students() -> Iterator[Path]:
    """The files that students get, in order; of notebooks/, only the lessons and the glossary."""
    notebooks = [ROOT / "notebooks" / name for name in (*reset.lessons(), "glossary.md")]
    paths = [
        *notebooks,
        *(ROOT / name for name in FILES),
        *(one for name in FOLDERS for one in (ROOT / name).rglob("*")),
    ]
    for path in sorted(path for path in paths if path.is_file()):
        name = path.relative_to(ROOT)
        if not set(name.parts) & set(NOT_FOR_STUDENTS) and not re.fullmatch(r"imgs/\w+\.py", name.as_posix()):
            yield path


def as_handed_out(path: Path) -> bytes:
    """A file's content; a lesson as this version of the course has it, whatever a teacher has solved in it."""
    lesson = path.suffix == ".ipynb" and path.name in reset.lessons()
    return (reset.original(path.name) if lesson else None) or path.read_bytes()


def held(name: str, data: bytes, hold: Collection[str], lines: list[str]) -> bytes:
    """A file in the form that students get."""
    if name.endswith(".ipynb"):
        return held_notebook(json.loads(data), hold, lines)
    if name.endswith(".svg") and "solutions" in hold:
        return without(data.decode(), lines).encode()
    inner = name.removeprefix("transformer_lessons/")
    if inner.startswith("exercises/questions/lesson_") and hold:
        page = without_model_answers(data.decode()) if "texts" in hold else data.decode()
        return sealing.sealed(page).encode()
    if inner.startswith("exercises/catalogue/") and inner.endswith(".md") and "README" not in inner:
        return sealing.sealed(data.decode()).encode() if "solutions" in hold else data
    if not name.endswith(".py") or inner == name:
        return data
    text = data.decode()
    if "solutions" in hold and inner == "exercises/checker/help.py":
        text = text.replace("exercise.solution_text()", repr(KEPT))
    if hold and any(line in text for line in lines):
        tree = ast.parse(text)
        first = (ast.get_docstring(tree) or "Sealed.").splitlines()[0]
        text = f'"""{first}"""\n\n{sealed(ast.unparse(tree), "__file__")}'
    return text.encode()


def without_model_answers(page: str) -> str:
    """A page of questions without what a free text is compared with."""
    kept = f"**{MODEL}**\n\n{KEPT}\n\n**{POINTS}**\n\n" + f"- {KEPT}\n" * 3
    return re.sub(rf"\*\*{MODEL}\*\*\n.*?(?=\n## |\Z)", kept, page, flags=re.DOTALL)


def without(text: str, lines: list[str]) -> str:
    for line in lines:
        text = text.replace(line, KEPT)
    return text


def held_notebook(book: dict[str, Any], hold: Collection[str], lines: list[str]) -> bytes:
    """A notebook without model answers; cells that show part of a solution still run, but cannot be read."""
    lines = [line for line in lines if len(line) >= 40]
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and "texts" in hold:
            source = re.sub(r"(?is)<details>\s*<summary>[^<]*answer[^<]*</summary>.*?</details>", f"*{KEPT}*", source)
            source = KEPT if any(line in source for line in model_lines()) else source
        if "solutions" in hold and any(line in source for line in lines):
            source = without(source, lines) if cell["cell_type"] == "markdown" else f"# {KEPT}\n{sealed(source)}"
        cell["source"] = source
    return json.dumps(book, ensure_ascii=False, indent=1).encode()


def model_lines() -> set[str]:
    models = [question.model for question in all_questions().values() if isinstance(question, FreeText)]
    return {line.strip() for one in models for line in re.split(r"(?<=[.:]) ", one) if len(line) >= 40}


def sealed(text: str, file: str = "'<kept>'") -> str:
    """The same code, in a form that nobody reads by chance. It is not secret: the checks and lessons need it."""
    lines = "\n".join(f'    "{line}"' for line in sealing.packed(text))
    return (
        f"import base64\nimport zlib\n\nexec(compile(zlib.decompress(base64.b85decode(\n{lines}\n)), {file}, 'exec'))\n"
    )


def write_key(out: Path) -> None:
    """Writes the answer key, a page for each lesson, but never into a git repository."""
    if any((folder / ".git").exists() for folder in (out.resolve(), *out.resolve().parents)):
        raise ValueError(f"{out} is inside a git work tree, where it could soon be published: choose another folder.")
    out.mkdir(parents=True, exist_ok=True)
    for lesson, text in key().items():
        atomic.write(out / f"lesson_{lesson}.md", text.encode())


def key() -> dict[int, str]:
    """{lesson: solutions, right answers and model answers}."""
    lessons: dict[int, list[str]] = {}
    for exercise in EXERCISES.values():
        text = f"## {exercise.name}\n\n```python\n{exercise.solution_text()}```\n"
        lessons.setdefault(exercise.lesson, []).append(text)
    for number, question in all_questions().items():
        if isinstance(question, FreeText):
            text = f"{question.model}\n\n" + "".join(f"- {point}\n" for point in question.points)
        elif isinstance(question, Choices):
            text = "".join(
                f"- **{letter})** {question.lettered[letter].text} {question.lettered[letter].why}\n"
                for letter in sorted(question.right_letters)
            )
        elif isinstance(question, Value):
            text = f"**{question.say(question.right)}** {question.why}\n"
        text = f"## {number} {question.title}\n\n{question.text}\n\n{text}"
        lessons.setdefault(int(number.split(".")[0]), []).append(text)
    return {lesson: f"# Lesson {lesson}: the key\n\n" + "\n".join(parts) for lesson, parts in lessons.items()}
