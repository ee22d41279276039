"""Damaged and hostile zips, notebooks, tables and policies: no traceback, and nobody else loses anything.

python tests/proofs/fuzz_marking.py                   200 of each, seed 0, through `mark`
python tests/proofs/fuzz_marking.py 1000 7            1,000 others
python tests/proofs/fuzz_marking.py --without-torch   through what reads files alone: for a Python without PyTorch
"""

import argparse
import contextlib
import copy
import io
import json
import random
import sys
import tempfile
import traceback
import warnings
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "marking")]

import hostile  # noqa: E402

from transformer_lessons.marking import notebook, policy, sheets, submissions  # noqa: E402

FILE = "06_masking.ipynb"
NAMES = ["", "/", "a/", "../x.ipynb", "/etc/x.ipynb", "C:x.ipynb", "a\\b.ipynb", "\u202e.ipynb", "x" * 3000 + ".ipynb"]
NAMES += [
    "café/06_masking.ipynb",
    "a.zip",
    ".hidden/x.ipynb",
    "x.IPYNB",
    "annb_99_1_x.ipynb",
    "Ann_12_assignsubmission_file_/x.ipynb",
]
VALUES = [
    None,
    True,
    -1,
    1e308,
    10**30,
    "",
    "x",
    "\ud800",
    "\0",
    [],
    {},
    [[]],
    {"cells": []},
    ["def causal_mask"],
    {"": None},
]
TABLES = {
    "overrides.csv": "student,item,points,reason\nann,causal_mask,1,generous\nbob,6.6,0.5,\n",
    "texts.csv": "question,who,text,p1,p2,p3,comment,flags\n6.11,S1,we hide it,1,0.5,0,good,\n",
    "roster.csv": "student,name,group\nann,Ann,\nbob,Bob,g\n",
    "sheet.csv": 'Identifier,"Full name",Grade\r\nParticipant 12,"Ann, B",\r\nann,X,7\r\n',
    "policy.json": json.dumps(policy.POLICY, indent=1),
}


def damaged(draw, data):
    """Bytes with a few changes: other bytes, a part left out, a part twice, the end cut off, another encoding."""
    data = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        place, length = draw.randrange(len(data) + 1), draw.choice([1, 1, 2, 8, 100])
        kind = draw.randrange(6)
        if kind == 0:
            data[place : place + length] = draw.randbytes(length)
        elif kind == 1:
            del data[place : place + length]
        elif kind == 2:
            data[place:place] = data[place : place + length] * draw.choice([1, 2, 50])
        elif kind == 3 and draw.random() < 0.3:
            del data[place:]
        elif kind == 4:
            data[place:place] = draw.choice(
                [b"\0", b'"', b";", b"\xff\xfe", b"\r", b"\xef\xbb\xbf", b",,,", b"[" * 5000]
            )
        elif kind == 5 and draw.random() < 0.1:
            data = bytearray(
                bytes(data).decode("utf-8", "replace").encode(draw.choice(["utf-16", "latin-1", "utf-32"]), "replace")
            )
    return bytes(data)


def a_zip(draw):
    """A zip with notebooks, strange names and entries that lie; half of them damaged."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for number in range(draw.randint(1, 4)):
            about = zipfile.ZipInfo("x")
            about.filename = draw.choice([*NAMES, f"s{number}/{FILE}"])
            about.external_attr = draw.choice([0, 0o120777 << 16, 0o644 << 16, -1 & 0xFFFFFFFF])
            data = a_zip(draw) if about.filename.endswith(".zip") else json.dumps(hostile.honest()).encode()
            with contextlib.suppress(Exception):  # what cannot be written needs no reader
                archive.writestr(about, data)
        for about in archive.infolist():
            if draw.random() < 0.3:
                about.flag_bits |= draw.choice([1, 0x800, 8])
            if draw.random() < 0.3:
                about.file_size = draw.choice([0, 1, 2**31, 2**32 - 1])
    return damaged(draw, file.getvalue()) if draw.random() < 0.5 else file.getvalue()


def a_notebook(draw):
    """An honest notebook with some of its parts replaced by something else, or with damaged bytes."""
    book = json.loads(json.dumps(hostile.honest()))
    for _ in range(draw.randint(1, 3)):
        place = book
        while isinstance(place, (dict, list)) and place:
            key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if draw.random() < 0.3 or not isinstance(place[key], (dict, list)):
                place[key] = copy.deepcopy(draw.choice(VALUES))
                break
            place = place[key]
    data = json.dumps(book).encode(errors="replace")
    return damaged(draw, data) if draw.random() < 0.5 else data


def tried(what, call, *arguments):
    """Prints the traceback, unless it is a sentence for the user; returns 1 if there was one."""
    try:
        call(*arguments)
    except ValueError as error:
        if len(str(error)) > 5 and str(error)[-1] in ".)":
            return 0
        print(what, repr(error))
        return 1
    except Exception:
        print(what)
        traceback.print_exc()
        return 1
    return 0


def read_notebook(data):
    """As a student's process does, where a traceback would end that process, too."""
    with contextlib.suppress(notebook.Unreadable):
        book = notebook.Notebook(data)
        book.lesson({"6": {"items": [["causal_mask", "causal_mask"]]}})
        work = book.work_on("causal_mask", "causal_mask")
        if work is not None:
            notebook.shape_of(notebook.excerpt_of(work, "causal_mask"))


def read_all(source):
    for work in submissions.find(source)[0]:
        work.read()


def files_alone(folder, number, draw):
    """Zips, notebooks and tables through the functions that read them."""
    failed = 0
    for count in range(number):
        (folder / f"{count}.zip").write_bytes(a_zip(draw))
        failed += tried(f"zip {count}", read_all, folder / f"{count}.zip")
        failed += tried(f"notebook {count}", read_notebook, a_notebook(draw))
        name = draw.choice(list(TABLES))
        path = folder / str(count) / name
        path.parent.mkdir()
        path.write_bytes(damaged(draw, TABLES[name].encode()))
        failed += tried(
            path,
            policy.read_policy if name == "policy.json" else sheets.read_table,
            path.parent if name == "policy.json" else path,
        )
    return failed


def whole(folder, number, draw):
    """All of them through `mark`, beside honest work that must keep its marks."""
    from transformer_lessons.marking import commands

    for student in ("ann", "bob"):
        (folder / "class" / student).mkdir(parents=True)
        (folder / "class" / student / FILE).write_text(json.dumps(hostile.honest()))
    failed = tried("the honest class", marked, commands, folder / "class", folder / "marks")
    before = rows_of(folder / "marks")
    for count in range(number):
        name = draw.choice(list(TABLES))
        path = folder / ("marks" if name in ("overrides.csv", "texts.csv", "policy.json") else ".") / name
        kept = path.read_bytes() if path.exists() else None
        path.write_bytes(damaged(draw, TABLES[name].encode()))
        options = ["--roster", str(path)] if name == "roster.csv" else []
        call = (
            (commands.fill, [str(path), "--out", str(folder / "marks")])
            if name == "sheet.csv"
            else (marked, commands, folder / "class", folder / "marks", *options)
        )
        failed += tried(f"table {count}: {path}", *call)
        path.unlink() if kept is None else path.write_bytes(kept)
    for count in range(number):
        (folder / "class" / f"notebook{count}").mkdir()
        (folder / "class" / f"notebook{count}" / FILE).write_bytes(a_notebook(draw))
        (folder / "class" / f"zip{count}.zip").write_bytes(a_zip(draw))
    failed += tried("all of them", marked, commands, folder / "class", folder / "marks")
    after = rows_of(folder / "marks")
    lost = [row for row in before if row not in after]
    print(f"{len(lost)} honest rows lost or changed; {len(after)} rows in all")
    return failed + len(lost)


def marked(commands, source, out, *options):
    if commands.mark([str(source), "--out", str(out), "--jobs", "2", *options]) not in (0, 1):
        raise RuntimeError("another exit code")


def rows_of(out):
    rows = sheets.read_table(out / "marks.csv", "student", "item", "status", "points")
    return [tuple(row.items()) for row in rows if row["student"] in ("ann", "bob")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int, nargs="?", default=200)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--without-torch", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # two entries of one name
    with tempfile.TemporaryDirectory() as place:
        failures = (files_alone if given.without_torch else whole)(Path(place), given.number, random.Random(given.seed))
    print(f"Python {sys.version.split()[0]}, seed {given.seed}, {given.number} of each: {failures} failures")
    sys.exit(failures > 0)
