"""Marks 30 honest notebooks with and without hostile ones among them.

python tests/proofs/attack_marking.py [--jobs 2] [--write]; --write puts the results into SECURITY.md.
"""

import argparse
import json
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "marking")]

import hostile  # noqa: E402

from transformer_lessons.marking import commands, sheets  # noqa: E402

SECRET = "SECRET-OF-THE-TEACHER"
HONEST = 30  # students
NAMES = list(hostile.ATTACKS)
BEGIN, END = "<!-- attacks: written by tests/proofs/attack_marking.py -->\n", "<!-- end of attacks -->"


def main(jobs, write_table):
    folder = Path(tempfile.mkdtemp())
    canary, (tcp, udp) = folder / "canary", listeners()
    canary.write_text(SECRET)
    for number in range(HONEST):
        write(folder / "class" / f"honest{number:02}", hostile.honest())
    before = marked(folder, "marks", jobs)
    for number, name in enumerate(NAMES):
        write(folder / "class" / f"attack{number:02}", hostile.hostile(name, str(canary), tcp.getsockname()[1]))
    start = time.monotonic()
    after = marked(folder, "again", jobs)
    print(f"wall {time.monotonic() - start:.0f} s")
    masks, beside = (rows_of_attacks(after, item) for item in ("causal_mask", "padding_mask"))
    raised = [name for name, row in masks.items() if row["status"] == "passed"]
    lost = [name for name, row in beside.items() if row["status"] != "passed"]
    same = before == [row for row in after if row["student"].startswith("honest")]
    print(f"{len(NAMES)} attacks: {len(raised)} marks raised {raised}; honest answers beside them lost: {lost}")
    print("honest rows the same:", same)
    broken = {
        "marks raised": raised,
        "honest rows changed": not same,
        "the teacher's file changed": not canary.exists() or canary.read_text() != SECRET,
        "a program started": Path(f"{canary}.touched").exists(),
        "the teacher's file in": [path for path in (folder / "again").rglob("*") if holds_the_secret(path)],
        "files written": list(Path("/tmp").glob("flood*")),
        "TCP reached": reached(tcp.accept),
        "UDP reached": reached(lambda: udp.recv(10)),
        "processes left": left(),
    }
    broken = {what: found for what, found in broken.items() if found}
    print("broken promises:", broken or "none")
    lines = table(masks, lost, (folder / "again" / "unread.txt").read_text(encoding="utf-8"))
    print("\n".join(lines))
    if write_table:
        put_into_the_manual(
            f"{len(NAMES)} attacks among {HONEST} honest notebooks: {len(raised)} marks raised; "
            f"the honest rows are {'the same bytes' if same else 'NOT the same'} with and without them.",
            lines,
        )
    return 1 if broken else 0


def listeners():
    """Two sockets on one port, TCP's and UDP's, which nobody should reach."""
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(tcp.getsockname())
    for listener in (tcp, udp):
        listener.setblocking(False)
    return tcp, udp


def marked(folder, name, jobs):
    """Marks the class into a folder of this name, always with the same seed; returns the rows of marks.csv."""
    out = folder / name
    (out / ".state").mkdir(parents=True)
    (out / ".state" / "seed.json").write_text("12345")
    commands.mark([str(folder / "class"), "--out", str(out), "--jobs", jobs])
    return sheets.read_table(out / "marks.csv")


def rows_of_attacks(rows, item):
    """{attack: its row for an exercise}."""
    own = [row for row in rows if row["student"].startswith("attack") and row["item"] == item]
    return {NAMES[int(row["student"].removeprefix("attack"))]: row for row in own}


def holds_the_secret(path):
    return path.is_file() and b"SECRET-OF" in path.read_bytes()  # its beginning: a report may have cut it


def table(masks, lost, unread):
    """The lines of a table in Markdown: each attack, its mark, and what became of the honest answer beside it."""
    lines = ["| attack | its mark | the honest answer beside it |", "| --- | --- | --- |"]
    for number, name in enumerate(NAMES):
        row = masks.get(name)
        mark = f"{row['status']}: {row['mistake'] or 'no mistake'}" if row else "not read"
        beside = "lost" if name in lost else "kept" if f"attack{number:02}/" not in unread else "not read"
        lines.append(f"| {name} | {mark} | {beside} |")
    return lines


def put_into_the_manual(sentence, lines):
    path = ROOT / "SECURITY.md"
    above, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    below = rest.partition(END)[2]
    path.write_text(f"{above}{BEGIN}{sentence}\n\n" + "\n".join(lines) + f"\n{END}{below}", encoding="utf-8")


def write(folder, book):
    folder.mkdir(parents=True)
    (folder / "06_masking.ipynb").write_text(json.dumps(book))


def left():
    """Processes of students' code that are still there: they ran in a session of their own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(ROOT / "transformer_lessons" / "marking" / "child.py").encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def reached(call):
    try:
        call()
    except BlockingIOError:
        return 0
    return 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    sys.exit(main(options.jobs, options.write))
