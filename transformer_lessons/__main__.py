"""The command line: python3 -m transformer_lessons COMMAND."""

import sys

from transformer_lessons import doctor, install

USAGE = """Usage: python3 -m transformer_lessons COMMAND [ARGUMENTS]

  lab       make the environment if need be, and open the first lesson in JupyterLab
  test      make the environment if need be, and run the tests, notebooks included
  doctor    tell what is installed, what is missing, and the command that mends it
  progress  tell which exercises are solved, in notebooks or in another folder
  reset     a fresh copy of a lesson, by its number or name; yours is kept beside it
  train     train a language model on Shakespeare, or on any text
  generate  let a model write; the course's own needs no training
  evaluate  measure how well a model foretells a text
  glossary  gather the lessons' new words on one page, notebooks/glossary.md

Further arguments go to JupyterLab or to pytest; the others tell theirs with --help."""


def glossary(arguments):
    from transformer_lessons import glossary

    return glossary.write(arguments)


def progress(arguments):
    from transformer_lessons import progress

    return progress.run(arguments)


def reset(arguments):
    from transformer_lessons import reset

    return reset.run(arguments)


def language_model(name):
    """A command that needs PyTorch: where that is missing, the environment of the course does the work."""
    def call(arguments):
        if not install.has("torch"):
            if not install.works():
                print("Nothing is installed: python3 -m transformer_lessons lab does it.", file=sys.stderr)
                return 1
            return install.run_to_its_end(install.PYTHON, "-m", "transformer_lessons", name, *arguments)
        from transformer_lessons import commands

        return commands.run(getattr(commands, name), arguments)
    return call


def main(arguments):
    commands = {"lab": install.lab, "test": install.test, "glossary": glossary}
    commands.update(doctor=doctor.run, progress=progress, reset=reset)
    commands.update({name: language_model(name) for name in ("train", "generate", "evaluate")})
    if arguments and arguments[0] in commands:
        return commands[arguments[0]](arguments[1:])
    asked = arguments[:1] in (["help"], ["-h"], ["--help"])
    print(USAGE, file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
