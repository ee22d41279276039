"""The environment that the two commands make: when it is made, repaired, brought up to date, and refused."""

import ast
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp
from packaging.requirements import Requirement

from transformer_lessons import __main__
from transformer_lessons.tools import install

PACKAGE = Path(install.__file__).parents[1]
LISTS = ["requirements.txt", "pyproject.toml", ".ci/constraints.txt"]


@pytest.mark.parametrize(
    "name", ["__init__", "__main__", "tools/__init__", "tools/install", "basis/__init__", "basis/chat_model"]
)
def test_what_runs_before_the_environment_needs_neither_packages_nor_a_new_python(name):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    nodes = list(ast.walk(tree))
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names | {"transformer_lessons"}


class Shell:
    """Stands in for the shell: notes the commands that install.py runs, and fails those with a given word."""

    def __init__(self, fail=""):
        self.fail, self.commands = fail, []

    def __call__(self, *command):
        text = " ".join(str(part) for part in command)
        self.commands.append(text)
        if self.fail and self.fail in text:
            return 1
        if " venv " in text:
            install.PYTHON.parent.mkdir(parents=True, exist_ok=True)
            install.PYTHON.touch()
            install.STAMP.unlink(missing_ok=True)
        return 0

    def ran(self, words):
        return sum(words in command for command in self.commands)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A clone in an empty folder, on Linux without a GPU, with a Python that has ensurepip."""
    for name in LISTS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((PACKAGE.parent / name).read_bytes())
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(install, "PYTHON", tmp_path / ".venv/bin/python")
    monkeypatch.setattr(install, "STAMP", tmp_path / ".venv/stamp.txt")
    monkeypatch.setattr(install, "works", lambda: install.PYTHON.exists())
    monkeypatch.setattr(install, "has", lambda module: module == "ensurepip")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(install.shutil, "which", lambda command: None)
    monkeypatch.setattr(install.chat_model, "fetch", lambda python: FETCHED.append(python))
    monkeypatch.delenv(install.chat_model.UNWANTED, raising=False)
    FETCHED.clear()
    return install_with(monkeypatch, Shell())


FETCHED = []  # by which Pythons the chat model was fetched


def install_with(monkeypatch, shell):
    for name in ("call", "call_quietly"):
        monkeypatch.setattr(install, name, shell)
    return shell


INSTALL = "pip install -r requirements.txt"


def test_an_empty_clone_gets_an_environment_and_then_everything_in_it(shell):
    install.make_environment()
    assert [shell.ran("-m venv --clear"), shell.ran(INSTALL)] == [1, 1]
    assert INSTALL in shell.commands[-2]  # JupyterLab is silenced after it


def test_a_finished_environment_is_left_alone(shell):
    install.make_environment()
    before = list(shell.commands)
    install.make_environment()
    assert shell.commands == before


@pytest.mark.parametrize("name", LISTS)
def test_new_requirements_are_installed_into_the_same_environment(shell, name):
    install.make_environment()
    (install.ROOT / name).open("a").write("# more\n")
    install.make_environment()
    assert [shell.ran("-m venv"), shell.ran(INSTALL)] == [1, 2]


def test_an_environment_made_by_hand_is_kept_and_completed(shell):
    install.PYTHON.parent.mkdir(parents=True)
    install.PYTHON.touch()
    install.make_environment()
    assert [shell.ran("-m venv"), shell.ran(INSTALL)] == [0, 1]


def test_an_installation_that_broke_off_is_restarted_by_the_next_run(shell, monkeypatch):
    install_with(monkeypatch, Shell(fail=INSTALL))
    with pytest.raises(SystemExit, match="run again, starts afresh"):
        install.make_environment()
    shell = install_with(monkeypatch, Shell())
    install.make_environment()
    assert [shell.ran("-m venv --clear"), shell.ran(INSTALL)] == [1, 1]
    install.make_environment()
    assert shell.ran(INSTALL) == 1


def test_an_environment_without_its_python_is_made_again(shell):
    install.make_environment()
    install.PYTHON.unlink()
    install.make_environment()
    assert [shell.ran("-m venv --clear"), shell.ran(INSTALL)] == [2, 2]


def test_what_is_installed_lies_in_the_ranges_of_the_package():
    pins = (PACKAGE.parent / ".ci/constraints.txt").read_text(encoding="utf-8")
    for line in importlib.metadata.requires("transformer-lessons"):
        wanted = Requirement(line)
        versions = re.findall(rf"^{wanted.name}==([^ \n]+)", pins, flags=re.MULTILINE)
        assert versions, f"{wanted.name} is not pinned"
        assert all(version in wanted.specifier for version in versions), line


def test_on_linux_without_a_gpu_torch_comes_first_and_as_its_cpu_build(shell):
    install.make_environment()
    uv, everything = shell.commands[-3:-1]
    assert uv.endswith("-c .ci/constraints.txt --torch-backend=cpu torch")
    assert INSTALL in everything


def test_where_there_is_no_cpu_build_pip_takes_another_and_says_so(shell, monkeypatch, capsys):
    shell = install_with(monkeypatch, Shell(fail="--torch-backend"))
    install.make_environment()
    assert shell.ran(INSTALL) == 1
    assert "may be the one with CUDA" in capsys.readouterr().out


@pytest.mark.parametrize(("system", "driver"), [("Darwin", None), ("Windows", None), ("Linux", "nvidia-smi")])
def test_elsewhere_pip_chooses_the_build(shell, monkeypatch, system, driver):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setattr(install.shutil, "which", lambda command: driver)
    install.make_environment()
    assert shell.ran(" uv ") == 0


def test_a_python_without_ensurepip_lends_its_pip(shell, monkeypatch):
    monkeypatch.setattr(install, "has", lambda module: module == "pip")
    install.make_environment()
    assert shell.ran("--without-pip") == 1
    assert shell.ran(f"-m pip --python {install.PYTHON} install pip") == 1


@pytest.mark.parametrize("there", [None, "/usr/bin/command"], ids=["without apt", "with apt"])
def test_a_python_without_either_is_told_what_to_type_and_nothing_is_run(shell, monkeypatch, there):
    monkeypatch.setattr(install, "has", lambda module: False)
    monkeypatch.setattr(install.shutil, "which", lambda command: there)
    package = f"python3.{sys.version_info.minor}-venv"
    with pytest.raises(SystemExit, match=rf"(?s)neither ensurepip nor pip.*Type this.*sudo apt-get install {package}$"):
        install.make_environment()
    assert shell.commands == []


def test_no_command_of_the_course_runs_sudo_or_a_systems_package_manager():
    for path in PACKAGE.rglob("*.py"):
        words = re.findall(r"""["'](sudo|apt|apt-get|brew|dnf|winget)["']""", path.read_text(encoding="utf-8"))
        assert words == [], path


def test_an_old_python_is_refused_in_one_sentence(shell, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    with pytest.raises(SystemExit, match=r"needs Python 3\.10 or later; this is Python 3\.9\.18 at .+\.$"):
        install.make_environment()


def test_a_python_of_32_bits_is_refused_in_one_sentence(shell, monkeypatch):
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    with pytest.raises(SystemExit, match=r"^PyTorch needs a 64-bit Python; this is Python .+, 32-bit\.$"):
        install.make_environment()


def test_a_mac_without_a_torch_is_refused_in_one_sentence(shell, monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(SystemExit, match="need a Mac with Apple silicon; this is Python"):
        install.make_environment()


def test_a_package_without_its_clone_is_refused_in_one_sentence(shell):
    (install.ROOT / "requirements.txt").unlink()
    with pytest.raises(SystemExit, match=r"belongs in a clone .* has no requirements\.txt"):
        install.make_environment()


@pytest.fixture
def last_command(shell, monkeypatch):
    commands = []
    monkeypatch.setattr(install, "run_to_its_end", lambda *command: commands.append(command[1:]) or 0)
    return lambda: " ".join(str(part) for part in commands[-1])


def test_lab_opens_the_first_lesson_prints_its_address_and_says_how_to_stop(last_command, monkeypatch, capsys):
    monkeypatch.setattr(install.os, "geteuid", lambda: 1000, raising=False)
    lesson = install.ROOT / "notebooks/01_self_attention.ipynb"
    lesson.parent.mkdir()
    lesson.touch()
    assert __main__.main(["lab", "--no-browser"]) == 0
    words = ["-m", "jupyterlab", lesson.relative_to(install.ROOT), f"--ServerApp.root_dir={install.ROOT}"]
    address = "--LabApp.default_url=/lab/tree/notebooks/01_self_attention.ipynb"
    assert last_command() == " ".join([*map(str, words), address, "--no-browser"])
    assert "To stop it, press Ctrl+C here" in capsys.readouterr().out


def test_the_pictures_of_the_lessons_lie_within_what_jupyterlab_serves(monkeypatch):
    monkeypatch.chdir(install.ROOT)
    server = ServerApp()
    server.parse_command_line([str(part) for part in install.jupyterlab()[2:]])
    served = Path(server.root_dir)
    assert Path(server.file_to_run).is_relative_to(served)
    lessons = sorted(install.ROOT.glob("notebooks/*.ipynb"))
    pictures = [
        lesson.parent / name
        for lesson in lessons
        for name in re.findall(r"\]\((\S+\.svg)\)", lesson.read_text(encoding="utf-8"))
    ]
    assert len(pictures) > 8
    for picture in pictures:
        assert picture.resolve().is_relative_to(served)
        assert picture.exists()


def test_jupyterlab_is_told_neither_to_fetch_news_nor_to_look_for_newer_versions(shell):
    install.make_environment()
    plugin = "@jupyterlab/apputils-extension:announcements"
    assert shell.commands[-1].endswith(f"labextension disable --level=sys_prefix {plugin}")


def test_an_environment_is_finished_though_jupyterlab_could_not_be_silenced(shell, monkeypatch):
    shell = install_with(monkeypatch, Shell(fail="labextension"))
    install.make_environment()
    install.make_environment()
    assert shell.ran(INSTALL) == 1


def test_the_lessons_are_trusted_so_that_a_page_loaded_again_can_be_clicked(shell):
    lessons = [install.ROOT / "notebooks" / name for name in ("01_first.ipynb", "02_second.ipynb")]
    lessons[0].parent.mkdir()
    for lesson in lessons:
        lesson.touch()
    install.make_environment()
    install.make_environment()
    trusting = [command for command in shell.commands if " jupyter trust " in command]
    assert trusting == [" ".join(map(str, [install.PYTHON, "-m jupyter trust", *lessons]))]


@pytest.mark.parametrize(("code", "said"), [(0, ""), (1, "a\nb\n")])
def test_a_quiet_command_speaks_only_if_it_fails(code, said, capsys):
    program = f"import sys; print('a'); sys.stdout.flush(); print('b', file=sys.stderr); sys.exit({code})"
    assert install.call_quietly(sys.executable, "-c", program) == code
    assert capsys.readouterr().out == said


def test_the_chat_model_comes_with_the_environment_and_only_then(shell):
    install.make_environment()
    install.make_environment()
    assert FETCHED == [install.PYTHON]


def test_an_option_or_a_variable_leaves_the_chat_model_out(last_command, monkeypatch):
    for command, words in {"lab": "--no-browser", "test": "tests/tools"}.items():
        assert __main__.main([command, "--without-model", words]) == 0
        assert last_command().endswith(words)
        assert "--without-model" not in last_command()
        install.STAMP.unlink()
    assert __main__.main(["test", "--without-model"]) == 0
    assert "--cov" in last_command()
    install.STAMP.unlink()
    monkeypatch.setenv(install.chat_model.UNWANTED, "1")
    assert __main__.main(["test"]) == 0
    assert FETCHED == []


def test_a_chat_model_that_cannot_be_had_gets_a_sentence_and_stops_nothing(last_command, monkeypatch, capsys):
    def fetch(python):
        raise ValueError("The chat model could not be downloaded (x).")

    monkeypatch.setattr(install.chat_model, "fetch", fetch)
    assert __main__.main(["test", "tests/tools"]) == 0
    assert last_command() == "-m pytest tests/tools"
    assert "The chat model could not be downloaded (x).\n" in capsys.readouterr().out
    assert install.STAMP.read_text() == install.fingerprint()


def test_test_runs_all_tests_with_coverage_or_those_asked_for(last_command):
    assert __main__.main(["test"]) == 0
    assert last_command() == "-m pytest --cov --durations=15 --numprocesses=auto --dist=loadfile --max-worker-restart=0"
    assert __main__.main(["test", "tests/implementation/test_masks.py", "-x"]) == 0
    assert last_command() == "-m pytest tests/implementation/test_masks.py -x"


def test_without_a_command_the_usage_is_shown(capsys):
    assert __main__.main([]) == 2
    assert "usage: python3 -m transformer_lessons COMMAND" in capsys.readouterr().err
    for asked in ("--help", "-h", "help"):
        assert __main__.main([asked]) == 0
        assert capsys.readouterr().out.startswith("usage: python3 -m transformer_lessons COMMAND")


@pytest.mark.parametrize(("typed", "meant"), [("trian", "train"), ("Train", "train"), ("generates", "generate")])
def test_a_mistyped_command_is_named_with_the_nearest_one(capsys, typed, meant):
    for arguments in ([typed, "--steps", "3"], ["help", typed]):
        assert __main__.main(arguments) == 2
        assert capsys.readouterr() == ("", f"There is no command '{typed}': did you mean {meant}?\n")


def test_a_command_unlike_any_is_named_and_gets_the_usage(capsys):
    assert __main__.main(["xyzzy"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("There is no command 'xyzzy'.\n\nusage: ")


COMMANDS = re.findall(r"^  (\w+) ", __main__.USAGE, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("ask", ["{} --help", "{} -h", "help {}"])
def test_every_command_explains_itself_and_starts_nothing(monkeypatch, capsys, name, ask):
    for starts in ("call", "run_to_its_end", "make_environment"):
        monkeypatch.setattr(install, starts, None)  # which cannot be called
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    assert __main__.exit_code(ask.format(name).split()) == 0
    said = capsys.readouterr().out
    assert said.lower().startswith("usage: python")
    assert f"transformer_lessons {name} " in said.splitlines()[0]


@pytest.mark.parametrize("name", ["train", "generate", "evaluate", "chat", "mark", "release", "key"])
def test_where_nothing_is_installed_help_says_what_a_command_does(monkeypatch, capsys, name):
    monkeypatch.setattr(install, "has", lambda module: False)
    monkeypatch.setattr(install, "works", lambda: False)
    assert __main__.main([name, "--help"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"usage: python3 -m transformer_lessons {name} ")
    assert said.err == "Nothing is installed: run python3 -m transformer_lessons lab.\n"


@pytest.mark.parametrize("name", ["mark", "release", "key"])
def test_in_the_course_for_students_a_command_for_teachers_ends_in_a_sentence(monkeypatch, capsys, name):
    monkeypatch.setattr(install, "has", lambda module: True)
    monkeypatch.setitem(sys.modules, "transformer_lessons.marking", None)  # which cannot be imported
    assert __main__.main([name, "--help"]) == 1
    assert capsys.readouterr() == ("", f"{name} is for teachers, and this copy of the course is for students.\n")


def test_pip_makes_a_command_that_calls_what_the_module_calls(monkeypatch):
    settings = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    module, function = re.search(r'^transformer-lessons = "(.+):(.+)"$', settings, re.MULTILINE).groups()
    assert (module, function) == (__main__.__name__, __main__.command.__name__)
    monkeypatch.setattr(sys, "argv", ["transformer-lessons", "--version"])
    with pytest.raises(SystemExit, match="0"):
        __main__.command()
    code = (
        f"import sys; sys.argv = ['/x/{install.SCRIPT}']; from transformer_lessons.__main__ import USAGE; print(USAGE)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert said.stdout.startswith("usage: transformer-lessons COMMAND")


def test_the_version_is_that_of_the_clone_or_of_the_installed_package(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"{name} 7")
    assert __main__.main(["--version"]) == 0
    text = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{capsys.readouterr().out.strip()}"\n' in text
    monkeypatch.setattr(install, "ROOT", tmp_path)
    assert install.version() == "transformer-lessons 7"


def test_an_install_that_stops_says_its_sentence_and_exits_with_1(monkeypatch, capsys):
    monkeypatch.setattr(install, "check_python", lambda: sys.exit("Not here."))
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    assert __main__.exit_code(["lab"]) == 1
    assert capsys.readouterr().err == "Not here.\n"


SETTINGS = ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"]


def settings_of(monkeypatch, **chosen):
    """What OpenMP will read, where the user has chosen these."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(name, chosen[name]) if name in chosen else None
    install.let_waiting_threads_sleep()
    return {name: os.environ[name] for name in SETTINGS if name in os.environ}


def test_threads_that_wait_let_others_have_their_core_unless_the_user_says_otherwise(monkeypatch):
    assert settings_of(monkeypatch) == dict(zip(SETTINGS, ["PASSIVE", "5000", "1"], strict=True))
    for name in SETTINGS:
        assert settings_of(monkeypatch, **{name: "7"}) == {name: "7"}


def test_every_command_and_whatever_it_starts_waits_so_and_torch_is_not_there_yet(monkeypatch):
    seen = []
    monkeypatch.setattr(__main__, "main", lambda arguments: seen.append(arguments) or 0)
    settings_of(monkeypatch)
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    assert __main__.exit_code(["lab"]) == 0
    assert seen == [["lab"]]
    assert set(SETTINGS) <= set(os.environ)
    code = "import sys, transformer_lessons.__main__; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.call([sys.executable, "-c", code], cwd=PACKAGE.parent) == 0


@pytest.mark.parametrize("name", ["train", "mark"])
def test_where_pytorch_is_missing_the_environment_of_the_course_does_the_work(monkeypatch, name):
    monkeypatch.setattr(install, "has", lambda module: False)
    monkeypatch.setattr(install, "works", lambda: True)
    monkeypatch.setattr(install, "run_to_its_end", lambda *command: command)
    assert __main__.main([name, "class.zip"]) == (install.PYTHON, "-m", "transformer_lessons", name, "class.zip")
