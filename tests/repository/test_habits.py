"""The repository's habits: what CI runs, what editors and GitHub are told, and that all of it fits together."""

import argparse
import json
import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

from transformer_lessons import __main__
from transformer_lessons.basis import chat_model
from transformer_lessons.tools import doctor, install

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
FIRST_LESSON = "notebooks/01_self_attention.ipynb"


def settings(path):
    """A JSON file's content, without the comments that editors allow in it."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def proofs(pattern):
    """The scripts of tests/proofs that are run by themselves."""
    paths = (ROOT / "tests/proofs").glob(pattern)
    return {path.name for path in paths if '__name__ == "__main__"' in path.read_text(encoding="utf-8")}


def test_every_proof_and_every_benchmark_is_run_by_a_workflow():
    scripts = proofs("**/*.py")
    assert len(scripts) > 15
    assert scripts - set(re.findall(r"\w+\.py", str(yaml.safe_load(WORKFLOWS["proofs.yml"])))) == set()


def test_the_table_of_tests_has_every_proof_and_no_other():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("| `python tests/proofs/")]
    named = [name for row in rows for name in re.findall(r"\w+\.py", row.split("|")[1])]
    assert sorted(named) == sorted(proofs("*.py"))


def test_a_workflow_runs_no_script_that_is_not_there():
    named = re.findall(r"^ +- (\w+\.py)", WORKFLOWS["proofs.yml"], re.MULTILINE)
    assert [name for name in named if not list((ROOT / "tests/proofs").rglob(name))] == []


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_what_github_reads_is_yaml(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_windows_runs_the_notebooks_too():
    matrix = yaml.safe_load(WORKFLOWS["tests.yml"])["jobs"]["elsewhere"]["strategy"]["matrix"]["include"]
    (windows,) = [entry for entry in matrix if entry["os"].startswith("windows")]
    assert "notebooks" in windows["paths"]


def test_whoever_reports_a_misnamed_answer_is_asked_for_code_and_verdict():
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/misnamed-answer.yml").read_text(encoding="utf-8"))
    required = {field["id"] for field in form["body"] if field.get("validations", {}).get("required")}
    assert {"exercise", "code", "verdict"} <= required


def hooks():
    """{id: entry} of what runs before a commit."""
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    return {hook["id"]: hook["entry"] for hook in repository["hooks"]}


def lint_steps():
    return yaml.safe_load(WORKFLOWS["tests.yml"])["jobs"]["lint"]["steps"]


def test_the_hooks_before_a_commit_call_what_the_lint_job_calls():
    lint = [f"python -m {step['run']}".removesuffix(" --check") for step in lint_steps() if "run" in step]
    assert [entry for name, entry in hooks().items() if name != "subject"] == lint[1:4]
    assert lint[1:4] == ["python -m ruff format", "python -m ruff check", "python -m mypy"]


def test_the_lint_job_holds_the_subjects_of_a_pull_request_alone_to_the_hook():
    (checkout, *_, subjects) = lint_steps()
    assert checkout["with"] == {"fetch-depth": 0}
    assert subjects["if"] == "github.event_name == 'pull_request'"
    (hook,) = re.findall(r"pre-commit run (\S+) --hook-stage commit-msg ", subjects["run"])
    assert hook in hooks()


def test_the_script_for_other_cis_runs_mypy_before_the_readmes_test_command():
    *_, mypy, tests = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert mypy == '"$TRANSFORMER_LESSONS_VENV/bin/python" -m mypy'
    assert tests == "python3 -m transformer_lessons test"


@pytest.mark.parametrize(
    ("message", "is_kept"),
    [
        ("lab: serve the whole clone\n", True),
        ("lab: serve the whole clone\n\n" + "why " * 30, True),
        ("lab: " + "x" * 67 + "\n", True),
        ("lab: " + "x" * 68 + "\n", False),
        ("serve the whole clone\n\nlab: it was cut\n", False),
        ("Merge branch 'main'\n", True),
    ],
)
def test_the_hook_for_subjects_wants_a_scope_and_at_most_72_characters(message, is_kept):
    assert bool(re.search(hooks()["subject"], message, re.MULTILINE | re.DOTALL)) == is_kept


def test_the_subjects_of_dependabot_pass_the_hook():
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text(encoding="utf-8"))["updates"]
    for update in updates:
        (group,) = update["groups"]
        prefix = update["commit-message"]["prefix"]  # which is followed by a colon
        subject = f"{prefix}: bump the {group} group across 1 directory with 12 updates"
        assert re.search(hooks()["subject"], subject)


def test_a_devcontainer_opens_the_first_lesson_with_the_kernel_that_it_names():
    container = settings(".devcontainer/devcontainer.json")
    assert container["customizations"]["codespaces"]["openFiles"] == [FIRST_LESSON]
    assert container["postAttachCommand"] == f"code {FIRST_LESSON}"
    script = ROOT / container["postCreateCommand"]
    assert os.name == "nt" or os.access(script, os.X_OK)
    kernel = json.loads((ROOT / FIRST_LESSON).read_text(encoding="utf-8"))["metadata"]["kernelspec"]["name"]
    assert f"--name {kernel} " in script.read_text(encoding="utf-8")
    version = re.search(r"python:(\d+)\.(\d+)$", container["image"])
    assert doctor.OLDEST <= tuple(map(int, version.groups())) <= doctor.NEWEST


def test_vs_code_takes_the_environment_that_lab_makes():
    chosen = settings(".vscode/settings.json")["python.defaultInterpreterPath"]
    assert chosen == "${workspaceFolder}/.venv/bin/python"
    assert install.VENV.name == ".venv" or "TRANSFORMER_LESSONS_VENV" in os.environ
    assert "ms-toolsai.jupyter" in settings(".vscode/extensions.json")["recommendations"]


def test_vs_code_breaks_long_lines_as_jupyter_does_and_cuts_no_saved_output():
    chosen = settings(".vscode/settings.json")
    assert chosen["notebook.output.wordWrap"]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                assert "".join(output.get("text", "")).count("\n") < chosen["notebook.output.textLineLimit"]


def test_every_place_that_names_the_pythons_or_the_size_of_a_download_says_the_same():
    oldest, newest = (".".join(map(str, version)) for version in (doctor.OLDEST, doctor.NEWEST))
    or_later, model = f"Python {oldest} or later", f"{chat_model.MEGABYTES} MB"
    said = {
        "pyproject.toml": [
            *(f'requires-python = ">={oldest}"', f'python_version = "{oldest}"'),
            f'target-version = "py{oldest.replace(".", "")}"',
        ],
        "README.md": [f"[Python {oldest} to {newest}]", f"Python-{oldest}_to_{newest}-", or_later, model],
        "MEASUREMENTS.md": [model],
        "notebooks/10_modern_models.ipynb": [model],
        "transformer_lessons/tools/install.py": [f"sys.version_info < {doctor.OLDEST}", or_later],
        "transformer_lessons/marking/students.md": [or_later],
        ".site/start.py": [or_later],
        ".site/finding.py": [or_later],
    }
    texts = {place: (ROOT / place).read_text(encoding="utf-8") for place in said}
    assert [(place, one) for place, every in said.items() for one in every if one not in texts[place]] == []
    matrix = yaml.safe_load(WORKFLOWS["tests.yml"])["jobs"]["elsewhere"]["strategy"]["matrix"]["include"]
    tested = {tuple(map(int, one["python"].split("."))) for one in matrix}
    assert (min(tested), max(tested)) == (doctor.OLDEST, doctor.NEWEST)


def test_the_version_to_cite_is_the_packages():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == install.version()


class Parsed(BaseException):
    """A command has parsed its arguments; it shall do no more."""


@pytest.fixture
def only_parsed(monkeypatch):
    parse = argparse.ArgumentParser.parse_known_args

    def parse_and_stop(parser, arguments=None, namespace=None):
        raise Parsed(parse(parser, arguments, namespace)[1])

    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse_and_stop)


@pytest.mark.usefixtures("only_parsed")
@pytest.mark.parametrize("manual", ["README.md", "CONTRIBUTING.md", "TEACHING.md", "SECURITY.md"])
def test_every_command_in_a_manual_names_what_is_there(manual):
    text = (ROOT / manual).read_text(encoding="utf-8")
    lines = re.findall(r"(?:^|`)((?:python3?|pytest) [^`\n]+)", text, flags=re.MULTILINE)
    assert lines
    for line in lines:
        paths = re.findall(r"(?<= )(?:tests|notebooks|imgs|\.site)\b[\w./]*", line)
        assert [path for path in paths if not (ROOT / path).exists()] == [], line
        if command := re.search(r"-m transformer_lessons (\w+)(.*)", line):
            assert f"\n  {command[1]} " in __main__.USAGE, line
            if command[1] not in __main__.PASSED_ON:
                with pytest.raises(Parsed) as parsed:
                    __main__.main([command[1], *shlex.split(command[2], comments=True)])
                assert parsed.value.args == ([],), line


@pytest.mark.parametrize(
    "place",
    ["colab.research.google.com/github/", "mybinder.org/v2/gh/", "codespaces.new/", "git clone https://github.com/"],
)
def test_a_workflow_makes_the_readmes_links_lead_to_this_repository(place):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pattern = re.search(r"places='(.+)'", WORKFLOWS["links.yml"])[1]
    filled = re.sub(rf"({pattern})[^/]+/[^/?) ]+", r"\1ada/lessons", readme)
    assert re.findall(re.escape(place) + r"([^/]+/[^/?)\s]+)", filled) == ["ada/lessons"]


def test_every_claim_that_is_measured_stands_in_its_lesson(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/proofs")
    import known_claims

    for lesson, claims in [*known_claims.CLAIMS.items(), *known_claims.NEED_THE_CHAT_MODEL.items()]:
        (path,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = " ".join(" ".join("".join(cell["source"]) for cell in cells).split())
        assert [claim.quotation for claim in claims if " ".join(claim.quotation.split()) not in text] == [], path.name


def test_every_known_mutation_changes_one_place_of_its_module(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/proofs")
    import known_mutations

    for module, places in known_mutations.MISTAKES.items():
        source = (ROOT / f"transformer_lessons/{module}.py").read_text(encoding="utf-8")
        assert [before for before in places if source.count(before) != 1] == [], module


def actions(text):
    return re.findall(r"uses: (.+)", text)


def test_every_action_of_a_workflow_is_pinned_to_a_commit():
    used = [action for text in WORKFLOWS.values() for action in actions(text)]
    assert len(used) > 10
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v[\d.]+", one)] == []


def test_the_readmes_workflow_uses_the_actions_that_ours_use():
    taught = actions((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(taught) == 2
    assert set(taught) <= set(actions(WORKFLOWS["tests.yml"]))
