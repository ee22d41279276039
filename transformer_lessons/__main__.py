"""The command line: python3 -m transformer_lessons COMMAND.

Uses only the standard library, in syntax that Python 3.7 can read, until a command needs more.
"""

import contextlib
import difflib
import os
import sys

from transformer_lessons.basis import chat_model
from transformer_lessons.basis.terminal import say
from transformer_lessons.tools import doctor, install


def glossary(arguments):
    from transformer_lessons.tools import glossary

    return glossary.write(arguments)


def progress(arguments):
    from transformer_lessons.tools import progress

    return progress.show_progress(arguments)


def reset(arguments):
    from transformer_lessons.tools import reset

    return reset.reset_lesson(arguments)


def language_model(name, arguments):
    from transformer_lessons.tools import model_commands

    return model_commands.exit_code(getattr(model_commands, name), arguments)


def teaching(name, arguments):
    try:
        from transformer_lessons.marking import commands
    except ModuleNotFoundError as error:
        if error.name != "transformer_lessons.marking":
            raise
        say(f"{name} is for teachers, and this copy of the course is for students.")
        return 1
    return getattr(commands, name)(arguments)


def with_pytorch(name, command):
    """Wraps a command that needs PyTorch: if it is missing here, the course's own environment runs the command."""

    def call(arguments):
        if install.has("torch"):
            return command(name, arguments)
        if install.works():
            return install.run_to_its_end(install.PYTHON, "-m", "transformer_lessons", name, *arguments)
        say(f"Nothing is installed: run {install.COMMAND} lab.")
        return explain(name) if asks_for_help(arguments) else 1

    return call


def passing_on(name, command):
    """Wraps a command that passes its arguments on to another program: asked for help, it starts nothing."""
    return lambda arguments: explain(name) if asks_for_help(arguments) else command(arguments)


def asks_for_help(arguments):
    return "-h" in arguments or "--help" in arguments


def explain(name):
    """Prints what a command does, and where its arguments go."""
    does, _ = COMMANDS[name]
    print(f"usage: {install.COMMAND} {name} [ARGUMENTS]\n\n{does[0].upper()}{does[1:]}.")
    if name in PASSED_ON:
        print(f"Arguments go to {PASSED_ON[name]}")
        print(f"{install.WITHOUT_MODEL} leaves out the chat model, a download of {chat_model.MEGABYTES} MB.")
    return 0


PASSED_ON = {
    "lab": "JupyterLab, which lists them with: jupyter lab --help",
    "test": "pytest, which lists them with: pytest --help",
}
COMMANDS = {  # name: what it does, in the usage; the function
    "lab": (
        "make the environment if need be, and open the first unfinished lesson in JupyterLab",
        passing_on("lab", install.lab),
    ),
    "test": (
        "make the environment if need be, and run the tests, notebooks included",
        passing_on("test", install.test),
    ),
    "doctor": ("show what is installed, what is missing, and the command that fixes it", doctor.show_findings),
    "progress": ("show what you have solved, and what comes next", progress),
    "reset": ("replace a lesson, by its number or name, with a fresh copy; yours is kept beside it", reset),
    "train": ("train a language model on Shakespeare, or on any text", with_pytorch("train", language_model)),
    "generate": ("let a model write; the course's own needs no training", with_pytorch("generate", language_model)),
    "show": (
        "make one HTML file from a model, in which it writes before your eyes",
        with_pytorch("show", language_model),
    ),
    "evaluate": ("measure how well a model predicts a text", with_pytorch("evaluate", language_model)),
    "chat": ("talk with a chat model, on the decoder that the lessons build", with_pytorch("chat", language_model)),
    "glossary": ("collect the lessons' new terms on one page, notebooks/glossary.md", glossary),
    "mark": ("mark a class: a folder or zip of students' notebooks (TEACHING.md)", with_pytorch("mark", teaching)),
    "release": (
        "make a zip of the course for students, without what the teacher keeps",
        with_pytorch("release", teaching),
    ),
    "key": ("the answer key: solutions, right answers, model answers", with_pytorch("key", teaching)),
}
LINES = "\n".join(f"  {name:<8}  {does}" for name, (does, _) in COMMANDS.items())
USAGE = f"""usage: {install.COMMAND} COMMAND [ARGUMENTS]

{LINES}

COMMAND --help, or help COMMAND, explains a command and starts nothing; --version prints the version."""


def main(arguments):
    """Runs a command line; returns its exit code."""
    name, arguments = (arguments or [""])[0], arguments[1:]
    if name == "help" and arguments:
        name, arguments = arguments[0], ["--help"]
    if name in COMMANDS:
        _, call = COMMANDS[name]
        return call(arguments)
    if name in ("help", "-h", "--help", "--version"):
        print(install.version() if name == "--version" else USAGE)
        return 0
    if not name:
        say(USAGE)
        return 2
    near = difflib.get_close_matches(name.lower(), [*COMMANDS, "help"], 1)
    say(f"There is no command {name!r}" + (f": did you mean {near[0]}?" if near else f".\n\n{USAGE}"))
    return 2


def exit_code(arguments):
    """Does what main does, but prints a sentence instead of a traceback if the output cannot be written."""
    if sys.stderr is None:  # closed, as with 2>&-
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - stays open to the end
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        sys.stdout.reconfigure(errors="replace")  # not every terminal has every character
        install.let_waiting_threads_sleep()
        try:
            code = main(arguments)
        except SystemExit as end:  # from argparse, or from install with a sentence
            code = end.code
        if isinstance(code, str):
            say(code)
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):  # the reader has had enough, as in: … generate | head
            with contextlib.suppress(OSError):
                say(f"{error.filename or 'The output cannot be written'}: {error.strerror or error}.")
                sys.stderr.flush()
        silence(sys.stderr)
        return 1


def silence(stream):
    """Keeps Python from trying again, as it exits, to write what is still in the buffer."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def command():
    """What the command transformer-lessons calls."""
    sys.exit(exit_code(sys.argv[1:]))


if __name__ == "__main__":
    command()
