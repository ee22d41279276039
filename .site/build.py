"""Builds the reading site, without a network: python .site/build.py [FOLDER]

FOLDER is build/site if none is given. The site needs no server: open its index.html.
"""

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NEEDED = ("sphinx", "myst_nb", "furo")


def main(arguments):
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"Building the site needs {', '.join(missing)}, not installed here. In an environment of the "
            "course, run: python -m pip install -c .ci/constraints.txt -e .[site]",
            file=sys.stderr,
        )
        return 1
    folder = Path(arguments[0] if arguments else ROOT / "build/site").resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / "searchindex.js").exists():
        print(f"{folder} holds something other than a site: nothing has been written.", file=sys.stderr)
        return 1
    return build(folder)


def build(folder):
    start = time.monotonic()
    sys.path[:0] = [str(HERE), str(ROOT)]
    with tempfile.TemporaryDirectory() as temporary:
        sources, site = Path(temporary, "sources"), Path(temporary, "site")
        sources.mkdir()
        writing = subprocess.Popen(
            [sys.executable, HERE / "pages.py", sources], env=os.environ | {"PYTHONPATH": str(ROOT)}
        )
        marking = subprocess.Popen(
            [sys.executable, HERE / "sample_class.py", temporary], env=os.environ | {"PYTHONPATH": str(ROOT)}
        )
        import myst_nb.sphinx_  # noqa: F401 - loaded while the pages are written
        from sphinx.cmd.build import build_main

        status = writing.wait() or build_main(
            [
                "-b",
                "html",
                "-q",
                "-W",
                "--keep-going",
                "-c",
                str(HERE),
                "-d",
                str(Path(temporary, "doctrees")),
                str(sources),
                str(site),
            ]
        )
        if status := marking.wait() or status:
            return status
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(site, folder)
        shutil.copytree(sources / "beside", folder / "beside")
        shutil.copytree(Path(temporary, "shown"), folder / "beside" / "class")
    pages = list(folder.rglob("*.html"))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    took = f"{time.monotonic() - start:.0f} s"
    print(f"{len(pages)} pages, {size:.1f} MB, in {took}: {folder / 'index.html'}")
    return 0


if __name__ == "__main__":
    gc.disable()  # collecting garbage would take a tenth of the time, and this process ends soon
    sys.exit(main(sys.argv[1:]))
