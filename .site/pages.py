"""The pages of the reading site, made from the committed notebooks, the exercises and the package.

`write(folder)` fills a folder with what Sphinx reads. build.py runs this in a separate process, since this
script needs PyTorch and that one Sphinx, and both take seconds to load.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from diagrams import with_zoom
from evidence import evidence_page
from exercises import EXERCISES, exercise_page, exercises_page
from facts import LESSONS, ROOT
from finding import found
from glossary import glossary_page
from lessons import lesson_page
from reference import MODULES, module_page, reference_page
from running import write_cells
from start import front_page
from teaching import teaching_page
from try_it import TRIED, editor_on_its_own_page, try_page, write_tried
from wrong_lines import puzzles_fold, write_puzzles, wrong_lines_page

from transformer_lessons.inspection import live
from transformer_lessons.language.checkpoints import SHIPPED


def write(folder):
    """Writes every page below a folder; links between them are relative, as in the repository."""
    hidden = shutil.ignore_patterns("*.py", "*.md", "_*", ".*")
    for name in ("imgs", "notebooks"):  # what pages show, and offer to download
        shutil.copytree(ROOT / name, folder / "beside" / name, ignore=hidden)
    write_model(folder / "beside" / "live")
    write_puzzles(folder / "beside" / "wrong-lines")
    write_tried(folder / "beside" / "try")
    write_cells(LESSONS, folder / "beside" / "run")
    pages = {
        "index.md": front_page(LESSONS),
        "exercises/index.md": exercises_page(TRIED),
        "try.md": try_page(),
        "wrong_lines.md": wrong_lines_page(),
        "reference/index.md": reference_page(),
        "notebooks/glossary.md": glossary_page(),
        "teaching.md": teaching_page(),
        "evidence.md": evidence_page(),
    }
    pages |= {
        f"exercises/{name}.md": exercise_page(
            exercise, puzzles_fold(name), editor_on_its_own_page(name) if name in TRIED else ""
        )
        for name, exercise in EXERCISES.items()
    }
    pages |= {f"reference/{module}.md": module_page(module) for module in MODULES}
    pages |= {f"notebooks/{path.name}": lesson_page(path) for path in LESSONS}
    pages = {name: with_zoom(name, text) for name, text in pages.items()}
    (folder / "beside" / "found.js").write_text(
        f"const FOUND = {json.dumps(found(pages), ensure_ascii=False)};\n", encoding="utf-8"
    )
    for name, text in pages.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return pages


def write_model(folder):
    """The model that runs on the start page, as scripts that are loaded when someone asks for it."""
    folder.mkdir(parents=True)
    for name in live.SCRIPTS:
        (folder / name).write_text(live.source(name), encoding="utf-8")
    styles = re.sub(r"^ +", "", live.source("live.css"), flags=re.MULTILINE)
    (folder / "live.css").write_text(styles, encoding="utf-8")
    for number, script in enumerate(live.weight_scripts(SHIPPED.read_bytes())):
        (folder / f"weights-{number}.js").write_text(script, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
