"""Marks 30 honest notebooks with and without hostile ones among them.

python tests/proofs/attack_marking.py [--jobs 2] [--write]; --write puts the results into SECURITY.md.
"""

import argparse
import csv
import json
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "marking")]

import hostile  # noqa: E402

from transformer_lessons.marking import commands  # noqa: E402


def marks_of(out):
    with open(out / "marks.csv", encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def main(jobs, write_table):
    folder = Path(tempfile.mkdtemp())
    canary = folder / "canary"
    canary.write_text("SECRET-OF-THE-TEACHER")
    tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(tcp.getsockname())
    for listener in (tcp, udp):
        listener.setblocking(False)
    for number in range(30):
        write(folder / "class" / f"honest{number:02}", hostile.honest())
    (folder / "marks" / ".state").mkdir(parents=True)
    (folder / "marks" / ".state" / "seed.json").write_text("12345")
    commands.mark([str(folder / "class"), "--out", str(folder / "marks"), "--jobs", jobs])
    before = marks_of(folder / "marks")
    for number, name in enumerate(hostile.ATTACKS):
        write(folder / "class" / f"attack{number:02}", hostile.hostile(name, str(canary), tcp.getsockname()[1]))
    (folder / "again" / ".state").mkdir(parents=True)
    (folder / "again" / ".state" / "seed.json").write_text("12345")
    start = time.process_time(), time.monotonic()
    commands.mark([str(folder / "class"), "--out", str(folder / "again"), "--jobs", jobs])
    print(f"wall {time.monotonic() - start[1]:.0f} s")
    after, names = marks_of(folder / "again"), list(hostile.ATTACKS)
    raised = [
        names[int(row["student"][6:])]
        for row in after
        if row["student"].startswith("attack") and row["item"] == "causal_mask" and row["status"] == "passed"
    ]
    lost = [
        names[int(row["student"][6:])]
        for row in after
        if row["student"].startswith("attack") and row["item"] == "padding_mask" and row["status"] != "passed"
    ]
    same = before == [row for row in after if row["student"].startswith("honest")]
    leaked = [path for path in (folder / "again").rglob("*") if path.is_file() and b"SECRET-OF" in path.read_bytes()]
    print(f"{len(names)} attacks: {len(raised)} marks raised {raised}; honest answers beside them lost: {lost}")
    print("honest rows the same:", same)
    broken = {
        "marks raised": raised,
        "honest rows changed": not same,
        "the teacher's file changed": not canary.exists() or canary.read_text() != "SECRET-OF-THE-TEACHER",
        "a program started": Path(f"{canary}.touched").exists(),
        "the teacher's file in": leaked,
        "files written": list(Path("/tmp").glob("flood*")),
        "TCP reached": reached(tcp.accept),
        "UDP reached": reached(lambda: udp.recv(10)),
        "processes left": left(),
    }
    broken = {what: found for what, found in broken.items() if found}
    print("broken promises:", broken or "none")
    results = {
        names[int(row["student"][6:])]: row
        for row in after
        if row["student"].startswith("attack") and row["item"] == "causal_mask"
    }
    unread = (folder / "again" / "unread.txt").read_text(encoding="utf-8")
    lines = ["| attack | its mark | the honest answer beside it |", "| --- | --- | --- |"]
    for number, name in enumerate(names):
        row = results.get(name)
        mark = f"{row['status']}: {row['mistake'] or 'no mistake'}" if row else "not read"
        beside = "lost" if name in lost else "kept" if f"attack{number:02}/" not in unread else "not read"
        lines.append(f"| {name} | {mark} | {beside} |")
    print("\n".join(lines))
    if write_table:
        sentence = (
            f"{len(names)} attacks among 30 honest notebooks: {len(raised)} marks raised; "
            f"the honest rows are {'the same bytes' if same else 'NOT the same'} with and without them."
        )
        path = ROOT / "SECURITY.md"
        begin, end = "<!-- attacks: written by tests/proofs/attack_marking.py -->\n", "<!-- end of attacks -->"
        above, _, rest = path.read_text(encoding="utf-8").partition(begin)
        below = rest.partition(end)[2]
        path.write_text(f"{above}{begin}{sentence}\n\n" + "\n".join(lines) + f"\n{end}{below}", encoding="utf-8")
    return 1 if broken else 0


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
