"""The doctor: what is well, what is wrong, and that each wrong thing comes with the command that fixes it."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from transformer_lessons.tools import doctor, install

PACKAGE = Path(doctor.__file__).parents[1]
# what runs where nothing is installed
BASIS, TOOLS = ("__init__", "atomic", "chat_model", "terminal", "memory"), ("__init__", "install", "doctor")
STARTING = ["__init__", "__main__", *(f"basis/{name}" for name in BASIS), *(f"tools/{name}" for name in TOOLS)]


def tells(finding):
    return " · ".join(part for part in finding if part)


@pytest.fixture(autouse=True)
def _tested_torch(monkeypatch):
    """Every week these tests run with a PyTorch that is newer than the course's range."""
    monkeypatch.setattr(metadata, "version", fake_version("torch", "2.8"))


@pytest.mark.parametrize("name", STARTING)
def test_what_runs_in_any_python_speaks_an_old_one_and_needs_no_package_when_it_starts(name):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    for node in tree.body:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in modules} <= sys.stdlib_module_names | {"transformer_lessons"}


def test_what_docstrings_say_of_old_pythons_is_what_is_tested():
    texts = [(PACKAGE / f"{name}.py").read_text(encoding="utf-8") for name in STARTING]
    assert set(re.findall(r"Python (\S+) can read", "\n".join(texts))) == {"3.7"}


def test_a_bare_python_is_told_to_run_lab(tmp_path):
    settings = os.environ | {"TRANSFORMER_LESSONS_VENV": str(tmp_path / "none"), "PYTHONUTF8": "1"}
    base = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else "bin/python3")
    command = [base, "-S", "-m", "transformer_lessons", "doctor"]  # -S: without what else it may have
    result = subprocess.run(command, cwd=PACKAGE.parent, env=settings, capture_output=True, encoding="utf-8")
    assert result.returncode == 1, result.stderr
    assert re.match(r"✗ there is no environment in .*\n      \S+ -m transformer_lessons lab\n", result.stdout)


def test_a_bare_python_beside_a_working_environment_says_so_and_lets_that_one_report(monkeypatch, capsys):
    handed = []
    monkeypatch.setattr(doctor, "own_environment", lambda: False)
    monkeypatch.setattr(install, "works", lambda: True)
    monkeypatch.setattr(install, "run_to_its_end", lambda *command: handed.append(command) or 7)
    assert doctor.show_findings([]) == 7
    assert capsys.readouterr().out == ""
    assert doctor.show_findings(["--all"]) == 7
    command = (install.PYTHON, "-m", "transformer_lessons", "doctor")
    assert handed == [command, (*command, "--all")]
    assert capsys.readouterr().out == (f"✓ {install.VENV} is there, and its Python starts: it reports the rest\n")


def test_an_environment_of_its_own_reports_itself_though_another_works(monkeypatch):
    monkeypatch.setattr(install, "works", lambda: True)
    monkeypatch.setattr(install, "run_to_its_end", None)  # which cannot be called
    assert doctor.show_findings([]) == 0


def test_where_all_is_well_no_line_has_a_cross(capsys):
    assert doctor.show_findings(["--all"]) == 0
    said = capsys.readouterr().out
    assert "✗" not in said
    assert re.search(r"\n\n✓ All is well: \d+ checks, in .*\. doctor --all lists them\.\n$", said)
    assert "✓ torch 2.8 (" in said
    assert "✓ the kernel python3 starts" in said
    assert "✓ torch runs on" in said


def test_where_all_is_well_there_is_one_line_and_what_is_worth_knowing_comes_before_it(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "own_environment", lambda: True)
    monkeypatch.setattr(doctor, "examine", lambda: [("✓", "this"), ("✓", "that", None)])
    assert doctor.show_findings([]) == 0
    assert capsys.readouterr().out == f"✓ All is well: 2 checks, in {sys.prefix}. doctor --all lists them.\n"
    monkeypatch.setattr(doctor, "examine", lambda: [("✓", "this"), ("○", "that", "a command")])
    assert doctor.show_findings([]) == 0
    assert capsys.readouterr().out.startswith("○ that\n      a command\n\n✓ All is well: 2 checks")
    monkeypatch.setattr(doctor, "examine", lambda: [("✓", "this"), ("✗", "that", "a command")])
    assert doctor.show_findings([]) == 1
    assert capsys.readouterr().out == "✗ that\n      a command\n\n1 to fix.\n"


@pytest.mark.parametrize("name", ["torch", "nbval"])
def test_what_is_missing_or_out_of_range_is_fixed_by_installing_it(monkeypatch, capsys, name):
    ranges = dict(doctor.requirements())
    monkeypatch.setattr(doctor, "kernel", lambda: ("✓", "a kernel"))  # to start one each time takes seconds
    for installed in ("0.1", "99.0", None):
        monkeypatch.setattr(metadata, "version", fake_version(name, installed))
        assert doctor.show_findings([]) == 1
        said = capsys.readouterr().out
        assert said.endswith("\n1 to fix.\n")
        words = f"{name} is missing" if installed is None else f"{name} {installed} is outside the tested range, "
        command = re.search(rf"^✗ {re.escape(words)}.*\n      (.+)$", said, re.MULTILINE)[1]
        assert command.startswith(sys.executable)
        assert command.endswith(f'"{name}{ranges[name]}"')


def fake_version(wanted, installed):
    real = metadata.version

    def version(name):
        if name == wanted and installed is None:
            raise metadata.PackageNotFoundError(name)
        return installed if name == wanted else real(name)

    return version


def test_the_doctor_asks_for_what_requirements_txt_installs_and_for_nothing_else(tmp_path, monkeypatch):
    from_clone = doctor.requirements()
    assert {"torch", "numpy", "matplotlib", "jupyterlab", "nbval", "pytest"} <= dict(from_clone).keys()
    listed = (PACKAGE.parent / "requirements.txt").read_text(encoding="utf-8")
    assert f"-e .[{','.join(doctor.EXTRAS)}]" in listed
    monkeypatch.setattr(install, "ROOT", tmp_path)  # no clone: the metadata say the same
    assert {name for name, _ in doctor.requirements()} == {name for name, _ in from_clone}


@pytest.mark.parametrize(
    ("installed", "fits"),
    [
        ("2.8", True),
        ("2.8.0", True),
        ("2.13.1+cpu", True),
        ("2.7.9", False),
        ("2.14", False),
        ("2.14.0rc1", False),
    ],
)
def test_a_version_fits_from_the_first_number_up_to_the_second(installed, fits):
    assert doctor.fits(installed, ">=2.8.0,<2.14") is fits


def test_torch_is_said_to_be_built_for_the_cuda_that_it_is_built_for(monkeypatch):
    for version, words in ((None, "(the CPU build)"), ("12.9", "(built for CUDA 12.9)")):
        monkeypatch.setattr("torch.version.cuda", version)
        assert words in doctor.torch_runs_on()[1]


def test_on_linux_without_a_gpu_torch_is_fixed_by_its_cpu_build(monkeypatch):
    for cpu in (True, False):  # as the installation itself decides
        monkeypatch.setattr(install, "takes_cpu_torch", lambda cpu=cpu: cpu)
        assert ("--torch-backend=cpu" in doctor.fix("torch", ">=2.8")) is cpu


@pytest.mark.parametrize(
    "spec",
    [
        {"argv": ["/no/such/python", "-m", "ipykernel_launcher"]},  # gone
        {"argv": ["no/such/python", "-m", "ipykernel_launcher"]},
        {"argv": [sys.executable, "-m", "ipykernel_launcher"], "env": {"PYTHONPATH": "ELSEWHERE"}},
    ],
)
def test_a_kernel_without_this_package_is_noticed(tmp_path, monkeypatch, spec):
    elsewhere = tmp_path / "elsewhere" / "transformer_lessons"
    elsewhere.mkdir(parents=True)
    (elsewhere / "__init__.py").touch()
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    text = json.dumps({"display_name": "Python 3", "language": "python", **spec})
    (folder / "kernel.json").write_text(text.replace("ELSEWHERE", elsewhere.parent.as_posix()))
    assert doctor.kernel()[0] == "✓"
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for prefix, place in ((sys.base_prefix, "--user"), ("an environment", "--sys-prefix")):
        monkeypatch.setattr(sys, "prefix", prefix)
        mark, what, command = doctor.kernel()
        assert mark == "✗"
        assert "has not got it" in what or "has it from" in what
        assert command.startswith(doctor.quoted(sys.executable))
        assert "env" in spec or command.endswith(f" -m ipykernel install {place}")


def test_an_environment_that_is_unfinished_or_outdated_or_broken_is_made_by_lab(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "VENV", Path(sys.prefix))
    monkeypatch.setattr(install, "STAMP", tmp_path / "stamp")
    assert doctor.environment()[0] == "✓"
    for text in (install.UNFINISHED, "older", "!"):
        install.STAMP.write_text(text)
        assert doctor.environment()[::2] == ("✗", doctor.LAB)
    install.STAMP.write_text(install.fingerprint())
    assert doctor.environment()[0] == "✓"
    assert doctor.none_yet()[::2] == ("✗", doctor.LAB)


def test_an_environment_of_your_own_is_distinguished_from_the_courses(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "VENV", tmp_path / "none")
    assert tells(doctor.environment()) == f"✓ · the environment is {sys.prefix}, your own"
    (tmp_path / "none").mkdir()
    assert doctor.environment()[0] == "○"
    assert str(install.VENV) in doctor.environment()[1]


def test_an_old_python_is_to_be_replaced_and_a_new_one_is_worth_knowing(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    assert doctor.python()[0] == "✗"
    for newest in ((*doctor.NEWEST, 0, "final", 0), (*doctor.NEWEST, 7, "final", 0)):
        monkeypatch.setattr(sys, "version_info", newest)
        assert doctor.python()[0] == "✓"
    monkeypatch.setattr(sys, "version_info", (9, 9, 0, "final", 0))
    assert doctor.python()[0] == "○"


def test_the_tested_pythons_are_those_of_the_workflow():
    workflow = (PACKAGE.parent / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    named = {
        tuple(map(int, version.split("."))) for version in re.findall(r'python(?:-version)?: "([\d.]+)"', workflow)
    }
    assert (min(named), max(named)) == (doctor.OLDEST, doctor.NEWEST)


def test_the_book_is_there_or_comes_with_the_command_that_fetches_it(tmp_path, monkeypatch):
    monkeypatch.delenv("SHAKESPEARE_TXT", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mark, _, command = doctor.book()
    assert mark == "○"
    assert "shakespeare.load()" in command
    text = tmp_path / "own.txt"
    monkeypatch.setenv("SHAKESPEARE_TXT", str(text))
    forget = "set SHAKESPEARE_TXT=" if os.name == "nt" else "unset SHAKESPEARE_TXT"
    assert doctor.book()[::2] == ("✗", forget)
    text.write_text("All the world. " * 100)
    assert doctor.book()[0] == "✓"


def test_a_screen_without_ticks_gets_letters(monkeypatch):
    class Screen:
        encoding, said = "ascii", ""

        def write(self, text):
            self.said += text

        def flush(self):
            pass

    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    doctor.tell("✓", "well")
    doctor.tell("✗", "not well", "fix it")
    assert screen.said == "OK well\nX not well\n      fix it\n"


def test_a_stamp_that_is_not_utf_8_is_out_of_date(monkeypatch, tmp_path):
    monkeypatch.setattr(install, "VENV", Path(sys.prefix))
    monkeypatch.setattr(install, "STAMP", tmp_path / "stamp")
    install.STAMP.write_bytes(b"\xff\xfe\x00")
    assert doctor.environment()[::2] == ("✗", doctor.LAB)
