"""Break the package, one line at a time, and see which test notices.

    python tests/proofs/mutations.py                       the mistakes that people make (known_mutations.py)
    python tests/proofs/mutations.py --all masks layers    and every operator, number, argument and line of these
    python tests/proofs/mutations.py --sample 500 --seed 1 --state FOLDER exercises/checker language tools

Prints, for each mutation, the test that turned red, and at the end the survivors, which no test noticed. A folder
stands for its modules. Operators, numbers and comparisons are cosmic-ray's (`pip install cosmic-ray`); what that
does not reach, arguments and lines left out, is added here. A script for Linux and macOS, not a part of pytest.
The list takes 2 minutes of processor time.

With --all or --sample, the tests run once with coverage, which finds out what each test reaches and how long it
takes; a mutated line is then tried by the tests that reach it, the quickest first: all that fit in 10 seconds and,
for what survives these, in a minute. With --state, the package as it was, the record and the results lie in a folder,
and the same command resumes from there.
"""

import argparse
import ast
import compileall
import gc
import inspect
import json
import multiprocessing
import os
import py_compile
import random
import resource
import shutil
import signal
import sys
import tempfile
import types
from functools import partial
from pathlib import Path

import hypothesis  # noqa: F401 - what every run needs is imported once, before the forks
import nbclient  # noqa: F401
import numpy  # noqa: F401
import pytest
import sympy  # noqa: F401
import torch
from known_mutations import EQUIVALENT, MISTAKES
from one_edit import Replace, replacements

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["validation", "masks", "attention", "positions", "layers", "models", "tasks/reversal"]
NAMES = ["layers", "models", "influence", "attention", "masks", "positions", "validation"]
THEOREMS = [*(f"tests/implementation/test_{name}.py" for name in NAMES), "tests/tasks/test_reversal.py"]
TESTS = {folder: [f"tests/{folder}"] for folder in ("exercises", "language", "inspection", "marking", "tools")}
SLOW = "two_processes or killed_at_random"  # these tests take a minute each, and try no mutation
BUDGETS = 10, 60  # seconds of the tests that try one mutation: first, and for what survives
PATIENCE = 60  # seconds for the start of the tests, or for a list of them


def explanation(module, mutation):
    before, after = mutation.split("  ->  ", 1)
    known = EQUIVALENT.get(module, {}).items()
    return next((why for part, why in known if part in after and part not in before), None)


# --- what can be mutated: (line, what it does, the mutated source) -----------------------------------------


def listed(module, source):
    """Every mistake of the list; the line is 0: all tests of the module may notice it."""
    for before, mistakes in MISTAKES.get(module, {}).items():
        if source.count(before) != 1:
            sys.exit(f"{module}: {before!r} stands there {source.count(before)} times, and must stand there once")
        for after in mistakes:
            yield 0, f"{before.strip()}  ->  {after.strip() or 'nothing'}", source.replace(before, after)


def operators(source):
    """Every other operator, number, comparison and truth, by cosmic-ray: functions that make the mutated source."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if name.startswith("core/Variable") or name.endswith(("_Is", "_IsNot")):  # need settings; mostly the same
            continue
        operator = get_operator(name)()
        number = sum(1 for node in nodes for _ in operator.mutation_positions(node))
        yield from (partial(mutate_code, source, operator, occurrence) for occurrence in range(number))


def omissions(source):
    """Every argument, call, branch and line left out, and arguments that have changed places, in the same way."""
    for number, node in enumerate(ast.walk(ast.parse(source))):
        yield from (partial(omission, source, number, choice) for choice in range(len(replacements(node))))


def omission(source, number, choice):
    tree = ast.parse(source)
    target = list(ast.walk(tree))[number]
    Replace(target, replacements(target)[choice]).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


def described(source, mutated):
    """The first line that differs, as it was and as it is; None if none does, or if Python cannot read it."""
    try:
        compile(mutated, "mutated", "exec")
    except SyntaxError:
        return None
    pairs = enumerate(zip(source.splitlines(), mutated.splitlines(), strict=False), 1)
    number, pair = next(((number, pair) for number, pair in pairs if pair[0] != pair[1]), (None, None))
    return pair and (number, "  ->  ".join(line.strip() for line in pair), mutated)


# --- which tests notice ------------------------------------------------------------------------------------


class Watch:
    """A pytest plugin: runs the chosen tests in their order, tells which one runs, and keeps the first that fails."""

    def __init__(self, tests, tell):
        self.turns, self.tell, self.red = {test: turn for turn, test in enumerate(tests)}, tell, ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        if self.turns:
            items[:] = sorted(
                (item for item in items if item.nodeid in self.turns), key=lambda item: self.turns[item.nodeid]
            )

    def pytest_runtest_logstart(self, nodeid):
        self.tell(nodeid)

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.red:
            self.red = report.nodeid


class Recorder:
    """A pytest plugin that keeps what each test reaches and how long it takes."""

    def __init__(self, folder):
        import coverage

        self.seconds, self.failed = {}, set()
        package = f"{folder}/transformer_lessons/*"
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=[package])

    @pytest.hookimpl(wrapper=True, trylast=True)  # within conftest.py, which turns tracing off for some
    def pytest_runtest_setup(self, item):
        return (yield from self.traced(item))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        return (yield from self.traced(item))

    def traced(self, item):
        self.coverage.start()
        self.coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self.coverage.stop()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def record(self, modules):
        data = self.coverage.get_data()
        lines = {module: data.contexts_by_lineno(str(file)) for module, file in modules.items()}
        return {"seconds": self.seconds, "failed": sorted(self.failed), "lines": lines}


class Bench:
    """A pytest plugin that collects the tests once; then the work begins, whose forks run some of them."""

    def __init__(self, work):
        self.work = work

    def pytest_runtestloop(self, session):
        self.items, self.plugins = {item.nodeid: item for item in session.items}, session.config.pluginmanager
        self.functions = {}
        for one in gc.get_objects():
            if type(one) is types.FunctionType:  # isinstance would ask the object, and a hostile one raises
                self.functions.setdefault(key_of(one.__code__), []).append(one)
        self.work(self)
        return True

    def replace(self, file, source, mutated):
        """Gives the functions in memory their mutated code; False where the change lies outside functions."""
        before, after = (codes_in(compile(text, str(file), "exec")) for text in (source, mutated))
        changed = [key for key in before if before[key] != after.get(key)]
        functions = self.functions.get(changed[0], []) if len(changed) == 1 else []
        code = after.get(changed[0]) if functions else None
        if not code or any(one.__code__.co_freevars != code.co_freevars for one in functions):
            return False
        state = sys.modules.get("transformer_lessons.exercises.checker.global_state")
        for one in functions:
            one.__code__ = code
            if state and one in state.namespaces.code:  # a check has run, and would put the old code back
                state.namespaces.code[one] = state.CODE(one)
        return True

    def run(self, tests, watch):
        self.plugins.register(watch)
        items = [self.items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if watch.red:
                break


def key_of(code):
    return code.co_filename, code.co_name, code.co_firstlineno


def codes_in(code):
    """The code of a module's functions and methods."""
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    functions = {key_of(one): one for one in inner if one.co_flags & inspect.CO_OPTIMIZED}
    for one in inner:
        functions |= codes_in(one) if key_of(one) not in functions else {}
    return functions


def run_pytest(arguments, plugin):
    options = [
        "-s",
        "-o",
        "addopts=",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:unraisableexception",
        "-p",
        "no:terminal",
        "--assert=plain",
    ]
    return pytest.main([*options, *arguments], plugins=[plugin])


def record_tests(folder, file, modules, answer):
    recorder = Recorder(folder)
    run_pytest(["-k", f"not ({SLOW})", file], recorder)
    answer.send(("ends", recorder.record(modules)))


def recorded(state, folder, files, modules):
    """What all tests reach, recorded file by file."""
    total = {"seconds": {}, "failed": [], "lines": {module: {} for module in modules}}
    for file in files:
        part = saved(state / f"record_{Path(file).stem}.json", partial(in_a_fork, record_tests, folder, file, modules))
        total["seconds"] |= part["seconds"]
        total["failed"] += part["failed"]
        for module, lines in part["lines"].items():
            for line, tests in lines.items():
                total["lines"][module].setdefault(line, []).extend(tests)
    return total


def try_tests(folder, tests, chosen, replace, bench, answer):
    """Sends each test that begins and, at the end, the first that fails. replace: changes the functions in memory.

    Where that is not possible, everything is imported afresh.
    """
    watch = Watch(chosen, lambda test: answer.send(("runs", test)))
    if replace and replace():
        bench.run(chosen, watch)
        return answer.send(("ends", watch.red))
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
    code = run_pytest(["-x", *tests], watch)
    if not sys.modules["transformer_lessons"].__file__.startswith(str(folder)):
        sys.exit("the copy was not the one that was tested")
    return answer.send(("ends", "" if code == 0 else watch.red or "it cannot even be imported"))


def in_a_fork(work, *arguments, patience=lambda test: None):
    """What the work sends at its end; patience: seconds until the next news, by the test that runs."""
    fork = multiprocessing.get_context("fork")
    news, answer = fork.Pipe(duplex=False)

    def quietly():
        os.setsid()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        work(*arguments, answer)

    process = fork.Process(target=quietly)
    process.start()
    answer.close()
    kind, value = "runs", None
    try:
        while kind == "runs":
            kind, value = news.recv() if news.poll(patience(value)) else ("ends", f"it never ends: {value}")
    except EOFError:
        value = f"it dies: {value}"
    try:
        os.killpg(process.pid, signal.SIGKILL)  # and what the tests have started
    except ProcessLookupError:
        process.kill()
    process.join()
    return value


def tests_of(module):
    """Its own test first: the soonest red."""
    tests = TESTS.get(module.split("/")[0], THEOREMS)
    return sorted(tests, key=lambda test: module.split("/")[-1] not in test)


def chosen_tests(record, module, line, budget):
    """The quickest of those that reach the line; coverage does not see the processes that tests of tools start."""
    lines = record["lines"][module]
    chosen = set(lines.get(str(line)) or [test for tests in lines.values() for test in tests])
    if module.startswith("tools/") or not chosen:
        chosen |= {test for test in record["seconds"] if f"/test_{module.split('/')[-1]}.py::" in test}
    total, quick = 0, []
    for test in sorted(chosen & set(record["seconds"]) - set(record["failed"]), key=record["seconds"].get):
        total += record["seconds"][test]
        if quick and total > budget:
            break
        quick.append(test)
    return quick


# --- the run ------------------------------------------------------------------------------------------------


def modules_of(folder, names):
    """{module: its file} of the modules named, and of those in the folders named."""
    package, found = folder / "transformer_lessons", {}
    for name in names:
        files = sorted((package / name).glob("[!_]*.py")) if (package / name).is_dir() else [package / f"{name}.py"]
        for file in files:
            if not file.is_file():
                sys.exit(f"there is no module {name}")
            found[file.relative_to(package).with_suffix("").as_posix()] = file
    return found


def saved(path, make):
    """What lies in the file, if anything; otherwise what is made, which then lies there."""
    if not path.exists():
        path.write_text(json.dumps(make()), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def mutations(modules, texts, arguments):
    """[(module, line, what it does, the mutated source)]; texts: of the modules as they were."""
    found = [(module, *mutation) for module, text in texts.items() for mutation in listed(module, text)]
    if not (arguments.all or arguments.sample):
        return found
    sources = {module: file.read_text(encoding="utf-8") for module, file in modules.items()}
    makers = [
        (module, make) for module, source in sources.items() for kind in (operators, omissions) for make in kind(source)
    ]
    if arguments.sample:
        found = []
        random.Random(arguments.seed).shuffle(makers)
    for module, make in makers:
        if len(found) == arguments.sample:
            break
        if change := described(sources[module], make()):
            found.append((module, *change))
    return found


def clone(source, target):
    shutil.copytree(
        source,
        target,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".git", ".hypothesis", "__pycache__", ".*_cache"),
    )
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="operators and omissions, too")
    parser.add_argument("--sample", type=int, metavar="NUMBER", help="so many of these alone, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of that draw")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="where to keep what is needed to resume")
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="module", help=f"default: {', '.join(MODULES)}")
    arguments = parser.parse_args()
    sys.dont_write_bytecode = True
    torch.set_num_threads(1)
    torch.ones(2, 2, device="meta").tril()  # here, and not in every run, PyTorch imports what that takes
    with tempfile.TemporaryDirectory() as name:
        state = (arguments.state or Path(name)).resolve()
        if not (state / "clone").exists():
            clone(ROOT, state / "clone")
        survivors = run(clone(state / "clone", Path(name).resolve() / "copy"), state, arguments)
    seconds = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    print(f"\n{len(survivors)} survivors that nothing explains; {seconds:.0f} s of processor time")
    for module, line, mutation in survivors:
        print(f"    {module} {line}: {mutation}")
    sys.exit(bool(survivors))


def run(folder, state, arguments):
    """Tries all mutations; returns the survivors that nothing explains."""
    modules, deep = modules_of(folder, arguments.modules), arguments.all or arguments.sample
    texts = {module: file.read_text(encoding="utf-8") for module, file in modules.items()}
    if deep:  # without comments, one statement a line, so that lines can be compared
        for module, file in modules.items():
            file.write_text(ast.unparse(ast.parse(texts[module])), encoding="utf-8")
    every = saved(state / "mutations.json", lambda: mutations(modules, texts, arguments))
    results = saved(state / "results.json", dict)
    # compiled once; a file counts as changed when its text differs, however fast that follows
    compileall.compile_dir(folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    os.chdir(folder)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # nbval takes longer to import than most mutations live
    os.environ |= {"PYTHONPATH": str(folder), "PYTEST_DEBUG_TEMPROOT": str(folder.parent)}
    sys.path[:0] = [str(folder), str(folder / "tests/implementation")]
    tests = sorted({test for module in modules for test in tests_of(module)})

    def keep(number, budget, red):
        module, line, mutation, _ = every[number]
        results[str(number)] = budget, red
        (state / "results.json").write_text(json.dumps(results), encoding="utf-8")
        why = red or explanation(module, mutation) or f"SURVIVES {budget} seconds of tests"
        print(f"{number} {module} {line}: {mutation}\n    {why}", flush=True)

    def try_chosen(bench):
        files = sorted({test.partition("::")[0] for test in bench.items})
        record = recorded(state, folder, files, modules)
        print(f"{len(record['seconds'])} tests recorded; these fail as it is: {', '.join(record['failed']) or 'none'}")
        for budget in BUDGETS:
            for number, (module, line, _, mutated) in enumerate(every):
                tried, red = results.get(str(number), (0, ""))
                if red or tried >= budget:
                    continue
                chosen = chosen_tests(record, module, line, budget)
                files = list(dict.fromkeys(test.partition("::")[0] for test in chosen))
                source = modules[module].read_text(encoding="utf-8")
                at_import = budget == BUDGETS[-1] or str(line) not in record["lines"][module]
                replace = None if at_import else partial(bench.replace, modules[module], source, mutated)
                modules[module].write_text(mutated, encoding="utf-8")
                red = in_a_fork(
                    try_tests,
                    folder,
                    files,
                    chosen,
                    replace,
                    bench,
                    patience=lambda test: PATIENCE if test is None else 10 + 10 * record["seconds"][test],
                )
                modules[module].write_text(source, encoding="utf-8")
                keep(number, budget, red)

    def try_all():
        if red := in_a_fork(try_tests, folder, tests, [], None, None):
            sys.exit(f"the tests fail even for the package as it is: {red}")
        for number, (module, _, _, mutated) in enumerate(every):
            if str(number) not in results:
                modules[module].write_text(mutated, encoding="utf-8")
                red = in_a_fork(try_tests, folder, tests_of(module), [], None, None, patience=lambda test: PATIENCE)
                modules[module].write_text(texts[module], encoding="utf-8")
                keep(number, BUDGETS[0], red)

    if deep:
        if run_pytest(tests, Bench(try_chosen)):
            sys.exit("the tests cannot even be collected")
    else:
        try_all()
    dead = sum(bool(red) for _, red in results.values())
    print(f"\n{len(every)} mutations, {dead} of them noticed")
    return [
        (module, line, mutation)
        for number, (module, line, mutation, _) in enumerate(every)
        if not results[str(number)][1] and not explanation(module, mutation)
    ]


if __name__ == "__main__":
    main()
