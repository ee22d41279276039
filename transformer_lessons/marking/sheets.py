"""Tables in CSV files: those that this package writes, and those that come back from a teacher's spreadsheet."""

import csv
import io
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from transformer_lessons.basis import atomic
from transformer_lessons.basis.words import joined
from transformer_lessons.marking.naming import CELL, cell

LONGEST = 1 << 20  # characters of a cell
NAMES = ("full name", "vollständiger name", "nombre completo", "nom complet", "student")  # heads of their column
SEPARATORS = (",", ";", "\t")  # spreadsheets use semicolons where the comma is the decimal sign


def read_table(path: Path, *columns: str) -> list[dict[str, str]]:
    """The rows of a table with these columns, and perhaps others; none if there is no such file.

    ValueError, with the file's name and line, if it is not such a table.
    """
    if not path.exists():
        return []
    text = text_of(path)
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(SEPARATORS, key=first.count), strict=False)
    csv.field_size_limit(LONGEST)
    rows = []
    try:
        header = [name.strip() for name in next(reader, [])]
        for row in reader:
            filled = [*row, *[""] * len(header)]
            if any(value.strip() for value in row):
                rows.append(dict(zip(header, filled, strict=False)))
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: this is not a CSV table ({error}).") from None
    if missing := [name for name in columns if name not in header]:
        has = ", ".join(header)[:200] or "no columns at all"
        names = f"{'a column' if len(missing) == 1 else 'columns'} called {joined(missing)}"
        raise ValueError(f"{path} needs {names}; it has {has}.")
    return rows


def text_of(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 with its mark, which is what spreadsheets call Unicode."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path}, line {line}, is not UTF-8: in the spreadsheet, save the table as “CSV UTF-8” once more."
        ) from None
    return re.sub("\r\n?", "\n", text.replace("\0", ""))  # some spreadsheets write such line ends within a cell, too


def points_from(text: object) -> float | None:
    """The points that a teacher has typed, with a comma or a point; None if these are no points."""
    form = re.fullmatch(r"\s*(\d*)((?:[.,]\d+)?|½)\s*", str(text or ""))
    if not form or not any(form.groups()):
        return None
    whole, rest = form.groups()
    value = float(f"{whole}.5" if rest == "½" else f"{whole}{rest.replace(',', '.')}")
    return value if value <= 1000 else None


def taken_off(text: object) -> float:
    """The points that a teacher takes off, typed with a minus or without; 0 if there are none."""
    return points_from(re.sub(r"^\s*'?\s*[-−]", "", str(text or ""))) or 0.0


def named_by(text: str, students: Collection[str]) -> set[str]:
    """Whom a cell names: "12", or "Participant 12"."""
    return {name for name in (text, without_word(text)) if name in students}


def without_word(text: str) -> str:
    return re.sub(r"^\D+(?=\d+$)", "", text)


def fullest(columns: Iterable[list[str]], students: Collection[str]) -> list[str]:
    """The column of a sheet in which most of these students are named; none of its cells, if there is no column."""
    return max(columns, key=lambda cells: len(set().union(*(named_by(text, students) for text in cells))), default=[])


def written(path: Path, header: Iterable[str], rows: Iterable) -> None:
    """Writes a CSV file in which no text is a formula, not even if a spreadsheet splits lines at semicolons."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    lines.writerow(header)
    for row in rows:
        lines.writerow(
            ["" if one is None else f"{one:g}" if isinstance(one, (int, float)) else cell(one, CELL) for one in row]
        )
    atomic.write(path, file.getvalue().encode("utf-8-sig"))
