"""Where the course lives, for links to it: from CI's environment, or git's remote; otherwise there are no links."""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[1]


def on_github():
    """(owner/name, branch) of the repository that builds the site; (None, None) if it is not on GitHub."""
    name, branch = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GITHUB_REF_NAME")
    if not name:
        found = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", git("remote", "get-url", "origin"))
        name, branch = found and found[1], git("branch", "--show-current")
    return (name, branch or "main") if name else (None, None)


def git(*command):
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def source():
    """The address of the repository, or None."""
    name, _ = on_github()
    return f"https://github.com/{name}" if name else None


def changed():
    """The day of the last commit, such as 24 May 2026, or None."""
    day = git("log", "-1", "--format=%cd", "--date=format:%d %B %Y").lstrip("0")
    return day or None


def clone_command():
    """The commands that fetch the course, if its address is known."""
    return f"git clone {source()}\ncd {source().split('/')[-1]}\n" if source() else ""


def in_colab(path):
    """The address of a notebook in Colab, or None."""
    name, branch = on_github()
    place = f"{name}/blob/{quote(branch or '')}/notebooks/{path.name}"
    return f"https://colab.research.google.com/github/{place}" if name else None


def in_binder(path):
    """The address of a notebook in Binder, or None."""
    name, branch = on_github()
    place = f"{name}/{quote(branch or '', safe='')}?urlpath=lab/tree/notebooks/{path.name}"
    return f"https://mybinder.org/v2/gh/{place}" if name else None


def home():
    """Where GitHub publishes the site, or None."""
    name, _ = on_github()
    if not name:
        return None
    owner, project = name.split("/")
    return f"https://{owner.lower()}.github.io/{project}/"
