"""What is installed, what is missing, and the command that fixes it: python3 -m transformer_lessons doctor.

Uses only the standard library, in syntax that an old Python can read: it must work where nothing is installed.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from transformer_lessons.basis import chat_model, terminal
from transformer_lessons.tools import install

DESCRIPTION = """Show what is missing or worth knowing, and the command that fixes it: in your own
environment if you use one, otherwise in .venv, which lab and test make. A line begins with a tick (fine), a
circle (worth knowing) or a cross (to be fixed: then the exit code is 1). Where all is well, that is the only line."""
OLDEST, NEWEST = (3, 10), (3, 14)  # of the Pythons that the tests run with
EXTRAS = ("lab", "test")  # what requirements.txt installs beyond the package's own needs
WHERE = "import ipykernel, transformer_lessons; print(transformer_lessons.__file__)"
DOWNLOAD = "from transformer_lessons.tasks import shakespeare; shakespeare.load()"
FETCH = "from transformer_lessons.basis import chat_model; chat_model.fetch()"
LAB = f"{install.COMMAND} lab"


def show_findings(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"{install.COMMAND} doctor", description=DESCRIPTION)
    parser.add_argument("--all", action="store_true", help="list what is fine, too")
    options = parser.parse_args(arguments)
    if not own_environment() and install.works():
        if options.all:
            tell("✓", f"{install.VENV} is there, and its Python starts: it reports the rest")
        return install.run_to_its_end(install.PYTHON, "-m", "transformer_lessons", "doctor", *arguments)
    findings = examine() if own_environment() else [none_yet()]
    shown = findings if options.all else [finding for finding in findings if finding[0] != "✓"]
    for finding in shown:
        tell(*finding)
    if shown:
        print()
    wrong = sum(finding[0] == "✗" for finding in findings)
    if wrong:
        print(f"{wrong} to fix.")
    else:
        tell("✓", f"All is well: {len(findings)} checks, in {sys.prefix}. doctor --all lists them.")
    return 1 if wrong else 0


def tell(mark: str, what: str, command: str | None = None) -> None:
    """Prints a line and, below it, the command."""
    print(f"{terminal.marked(mark)} {what}" + (f"\n      {command}" if command else ""), flush=True)


def own_environment() -> bool:
    """Is this a Python to install the course in: an environment, or one that has PyTorch?"""
    conda = os.path.exists(os.path.join(sys.prefix, "conda-meta"))
    return sys.prefix != sys.base_prefix or conda or install.has("torch")


def none_yet() -> tuple[str, ...]:
    if sys.version_info < OLDEST:
        return outdated()
    if install.VENV.exists():
        return "✗", f"{install.VENV} has no working Python with pip: this command makes it anew", LAB
    return "✗", f"there is no environment in {install.VENV} yet: this command makes it", LAB


def examine() -> list[tuple[str, ...]]:
    """All findings about this environment: (mark, what, command or None)."""
    findings = [python(), environment()]
    findings += [version(*requirement) for requirement in requirements()]
    if not install.has("pip"):
        findings.append(("✗", "pip is missing", f"{quoted(sys.executable)} -m ensurepip"))
    return [finding for finding in [*findings, torch_runs_on(), kernel(), book(), model()] if finding]


def python() -> tuple[str, ...]:
    if sys.version_info < OLDEST:
        return outdated()
    tested = "{}.{} to {}.{} are tested".format(*OLDEST, *NEWEST)
    mark = "✓" if sys.version_info[:2] <= NEWEST else "○"
    return mark, f"Python {platform.python_version()} ({tested})"


def outdated() -> tuple[str, ...]:
    python = f"Python {platform.python_version()} at {sys.executable} is too old"
    return "✗", f"{python}: install {OLDEST[0]}.{OLDEST[1]} or later, and run this with it", LAB


def environment() -> tuple[str, ...]:
    """Which environment this is, and whether it is up to date."""
    if Path(sys.prefix).resolve() != install.VENV.resolve():
        there = f"; lab and test use {install.VENV}" if install.VENV.exists() else ""
        return "○" if there else "✓", f"the environment is {sys.prefix}, your own{there}"
    stamp = install.STAMP.read_text(errors="replace") if install.STAMP.exists() else ""
    if stamp == install.UNFINISHED:
        return "✗", f"the installation in {install.VENV} was cut short: this command redoes it", LAB
    if stamp and stamp != install.fingerprint():
        return "✗", f"what the course needs has changed since {install.VENV} was made", LAB
    return "✓", f"the environment is {install.VENV}, which lab and test use"


# --- versions -----------------------------------------------------------------------------------------------


def requirements() -> list[tuple[str, str]]:
    """[(name, range)] of all that requirements.txt installs, according to the clone or else to the package itself."""
    settings = install.ROOT / "pyproject.toml"
    if settings.exists():
        text = settings.read_text(encoding="utf-8")
        lists = [re.search(rf"(?ms)^{name} = \[$(.*?)^\]", text)[1] for name in ("dependencies", *EXTRAS)]
        lines = re.findall(r'^    "(.+)",$', "".join(lists), re.MULTILINE)
    else:
        from importlib import metadata

        lines = [
            line
            for line in metadata.requires("transformer-lessons") or ()
            if "extra" not in line or re.search(rf"extra == .({'|'.join(EXTRAS)})\b", line)
        ]
    return re.findall(r"^([\w-]+)\s*([^;\s]*)", "\n".join(lines), re.MULTILINE)


def version(name: str, wanted: str) -> tuple[str, ...]:
    """Is it there, in a version that the tests have passed with?"""
    from importlib import metadata

    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        return "✗", f"{name} is missing", fix(name, wanted)
    if not fits(installed, wanted):
        return "✗", f"{name} {installed} is outside the tested range, {wanted}", fix(name, wanted)
    return "✓", f"{name} {installed} ({wanted})"


def fits(installed: str, wanted: str) -> bool:
    """Whether a version lies in a range such as >=2.8,<2.14."""
    limits = [re.match(r"(>=|<)([\d.]+)$", part.strip()) for part in wanted.split(",")]
    return all(
        numbers(installed) >= numbers(limit[2]) if limit[1] == ">=" else numbers(installed) < numbers(limit[2])
        for limit in limits
    )


def numbers(version: str) -> list[int]:
    """[2, 13] for 2.13.0+cpu: zeros at the end do not count."""
    release = [int(number) for number in re.match(r"\d+(?:\.\d+)*", version)[0].split(".")]
    while release and not release[-1]:
        release.pop()
    return release


def fix(name: str, wanted: str) -> str:
    """The command that installs it; for PyTorch on Linux without a GPU, the CPU build."""
    python, what = quoted(sys.executable), f'"{name}{wanted}"'
    if name == "torch" and install.takes_cpu_torch():
        uv = f"{python} -m uv pip install --python {python} --torch-backend=cpu"
        return f'{python} -m pip install "{install.UV}" && {uv} {what}'
    return f"{python} -m pip install {what}"


def quoted(path: str | Path) -> str:
    return f'"{path}"' if re.search(r"[^\w./\\:~+-]", str(path)) else str(path)


# --- what they do -------------------------------------------------------------------------------------------


def torch_runs_on() -> tuple[str, ...] | None:
    """What PyTorch runs on, the CPU or a graphics card, and with how many threads."""
    if not install.has("torch"):
        return None
    try:
        import torch
    except Exception as error:  # a broken installation may raise anything
        again = f"{quoted(sys.executable)} -m pip uninstall -y torch && {fix(*requirements()[0])}"
        return "✗", f"torch is there but does not load: {error}", again
    threads = f"threads: {torch.get_num_threads()}, processors: {os.cpu_count()}"
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    build = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU build"
    return "✓", f"torch runs on {card or 'the CPU'} ({build}); {threads}"


def kernel() -> tuple[str, ...] | None:
    """Whether the kernel that the notebooks ask for, python3, has this package."""
    if not install.has("jupyter_client"):
        return None
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    first = "--user" if sys.prefix == sys.base_prefix else "--sys-prefix"  # where Jupyter looks first
    own = f"{quoted(sys.executable)} -m ipykernel install {first}"
    try:
        spec = KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        return "✗", "Jupyter has no kernel called python3", own
    started = sys.executable if re.match(r"python[\d.]*$", spec.argv[0]) else spec.argv[0]  # as Jupyter does
    try:
        where = subprocess.run(
            [started, "-c", WHERE],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            env={**os.environ, **spec.env},
        ).stdout
    except OSError:
        where = b""
    if where and Path(os.fsdecode(where).strip()).parent.resolve() == Path(__file__).parents[1].resolve():
        return "✓", f"the kernel python3 starts {started}, which has this package"
    has = f"has it from {os.fsdecode(where).strip()}" if where else "has not got it"
    if started != sys.executable:
        return "✗", f"the kernel python3 ({spec.resource_dir}) starts {started}, which {has}", own
    return (
        "✗",
        f"the kernel python3 starts {started}, which {has}",
        f"{quoted(sys.executable)} -m pip install -e {quoted(install.ROOT)}",
    )


def book() -> tuple[str, ...] | None:
    """Whether lesson 8 finds the complete works of Shakespeare."""
    try:
        from transformer_lessons.tasks import shakespeare
    except ImportError:
        return None
    named = os.environ.get("SHAKESPEARE_TXT")
    try:
        corpus = shakespeare.load(named) if named else shakespeare.read_cache(shakespeare.cache())
    except ValueError as error:
        forget = "unset SHAKESPEARE_TXT" if os.name != "nt" else "set SHAKESPEARE_TXT="
        return "✗", f"SHAKESPEARE_TXT: {error}", forget
    if corpus:
        return "✓", f"Shakespeare: {corpus.source} in {named or shakespeare.cache()}"
    return (
        "○",
        "Shakespeare's works are not here yet: lesson 8 downloads them, and so does this command",
        f'{quoted(sys.executable)} -c "{DOWNLOAD}"',
    )


def model() -> tuple[str, ...]:
    """Whether the chat model is here, and as it was downloaded."""
    kept, command = chat_model.path(), f'{quoted(sys.executable)} -c "{FETCH}"'
    try:
        if not kept.exists():
            size = f"{chat_model.MEGABYTES} MB"
            return "○", f"the chat model is not here: chat downloads it, {size}, and so does this command", command
        right = chat_model.is_right(kept)
    except OSError as error:
        return "✗", f"the chat model, {kept}, cannot be read: {error.strerror}", command
    if not right:
        return "✗", f"the chat model, {kept}, has changed since it was downloaded: this command replaces it", command
    return "✓", f"the chat model is here: {kept}"
