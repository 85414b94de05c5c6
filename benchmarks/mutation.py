"""
How many small faults in the modules that decide are caught by those modules' own tests.

    python -m benchmarks.mutation [MODULE…] [--sample N] [--seed S] [--jobs 2]

A mutant is a module with one small fault. A comparison is turned, half of a condition dropped, or a number moved by
one. A statement or an element of a set is removed, a result forgotten, or arguments are swapped. A cell of the trust
table weighs more or less, so that it overrules another source or is overruled. The module's own tests run against each,
in a process of its own. It is *killed* if one of them fails or does not end; it *survives* if all of them pass.

How to read it: every survivor is named with its line and its change. It is a rule that no test holds, or code that does
nothing. Write the test that tells it from the module, or remove the code; where neither can be done, put it into
`mutation_equal.toml` with the reason. A mutant in that file is not made; an entry without a mutant is reported. The
exit code is 1 where fewer than the aim are killed.

All of them take some ten minutes of two processors. `--sample` makes so many of each module at most; which, the seed
says.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import io
import math
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import tomllib
import types
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import attrs
import hypothesis
import pytest
from benchmarks.mutants import Mutant, mutants, table_mutants

ROOT = Path(__file__).parents[1]
#: Of the mutants, the part that is to be killed.
AIM = 0.95
_TRACKER = ("tests/tracker/test_tracker.py", "tests/tracker/test_questions.py", "tests/tracker/test_explained.py")
#: The modules, by their names below `tallylight`, and the tests that are each one's own.
MODULES: dict[str, tuple[str, ...]] = {
    "tracker.table": ("tests/tracker/test_overruling.py", "tests/tracker/test_trust_rules.py", *_TRACKER),
    "tracker.questions": ("tests/tracker/test_trust_rules.py", *_TRACKER, "tests/tracker/test_overruling.py"),
    "tracker.claims": ("tests/tracker/test_trust_rules.py", *_TRACKER),
    "tracker.subagents": ("tests/tracker/test_trust_rules.py", *_TRACKER),
    "tracker.tracker": ("tests/tracker/test_trust_rules.py", *_TRACKER),
    "tracker.records": (
        "tests/tracker/test_records.py",
        "tests/tracker/test_trust_rules.py",
        "tests/tracker/test_tracker.py",
    ),
    "tracker.startup": ("tests/tracker/test_trust_rules.py", "tests/tracker/test_tracker.py"),
    "tracker.after_exit": ("tests/tracker/test_trust_rules.py", "tests/tracker/test_tracker.py"),
    "model.decision": ("tests/tracker/test_decision.py", "tests/tracker/test_tracker.py"),
    "tracker.rollup": ("tests/tracker/test_decision.py", "tests/tracker/test_tracker.py"),
    "tracker.attention": ("tests/tracker/test_attention.py",),
    "actions.gate": ("tests/actions/test_gate.py", "tests/parts/conversations/test_plan.py"),
    "actions.shape": ("tests/actions/test_shape.py",),
    "actions.view": ("tests/actions/test_view.py",),
    "actions.answer": ("tests/actions/test_answer.py", "tests/actions/test_say.py"),
    "actions.say": ("tests/actions/test_say.py",),
    "evidence.fingerprint": ("tests/actions/test_fingerprint.py", "tests/actions/test_answer.py"),
    "evidence.choices": ("tests/evidence/test_dialogs.py", "tests/evidence/test_prompts.py"),
    "evidence.subject": ("tests/evidence/test_subject.py", "tests/evidence/test_prompts.py"),
    "evidence.dialogs": ("tests/evidence/test_dialogs.py", "tests/evidence/test_prompts.py"),
    "evidence.prompts": ("tests/evidence/test_applied_rules.py", "tests/evidence/test_prompts.py"),
    "model.dialog": ("tests/model/test_dialog.py", "tests/evidence/test_prompts.py"),
    "parts.lab.scanner": ("tests/parts/lab/test_scanner.py",),
}
#: Mutants that no test can tell from their module: tables `[[MODULE]]` with `function`, `line` (its text), `change`
#: and `why`.
EQUAL = Path(__file__).with_name("mutation_equal.toml")

#: Tests that measure time: they take most of it, and a fault is seldom slow.
_NOT_OF_TIME = "not are_linear and not cost_no_time"

_Key = tuple[str, str, str]


@attrs.frozen
class Outcome:
    """The result for one module's mutants. *stale* are named in `EQUAL` and not there."""

    made: int
    survivors: list[tuple[int, _Key]]
    stale: list[_Key]

    @property
    def killed(self) -> float:
        """The part that was killed."""
        return 1 - len(self.survivors) / self.made if self.made else 1.0


class _Loader(importlib.machinery.SourceFileLoader):
    """Finds one module and makes it of *tree*; without one it cannot be imported."""

    def __init__(self, name: str, path: Path, tree: ast.Module | None) -> None:
        super().__init__(name, str(path))
        self._tree = tree

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> types.CodeType:
        if self._tree is None:
            raise ImportError(fullname)
        return compile(ast.fix_missing_locations(self._tree), self.path, "exec")


class _Repeatable:
    """A pytest plugin: hypothesis makes the same examples in every run, keeps none, and simplifies nothing."""

    def pytest_configure(self) -> None:
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutation", derandomize=True, database=None, phases=phases)
        hypothesis.settings.load_profile("mutation")


def run_tests(tests: Sequence[str]) -> int:
    """pytest's exit code for *tests*, file after file, up to the first that fails."""
    without = ("no:cacheprovider", "no:logging", "no:unraisableexception", "no:threadexception")
    options = ["-xq", "--tb=short", "-W", "ignore", "-k", _NOT_OF_TIME, *(f"-p{each}" for each in without)]
    return next((code for test in tests if (code := int(pytest.main([*options, test], plugins=[_Repeatable()])))), 0)


def campaign(module: str, chosen: Callable[[list[Mutant]], list[Mutant]], jobs: int) -> Outcome:
    """Make the *chosen* mutants of *module*. Imports all that its tests need; to be run in a process of its own."""
    name = f"tallylight.{module}"
    path = ROOT / "shared/tallylight" / f"{module.replace('.', '/')}.py"
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    found = mutants(source, tree)
    if module == "tracker.table":
        found += table_mutants(source, tree, "TABLE")
    equal = {(each["function"], each["line"], each["change"]) for each in _equal().get(module, [])}
    made = chosen([mutant for mutant in found if mutant.key not in equal])

    def run(mutant: Mutant | None) -> int:
        if mutant is not None:
            mutant.make()
        sys.meta_path.insert(0, _Loader(name, path, tree))
        return run_tests(MODULES[module])

    seconds = _warm(name, path, lambda: run(None))
    limit = math.ceil(10 + 5 * seconds)
    survivors: list[tuple[int, _Key]] = []
    running: dict[int, Mutant] = {}
    waiting = collections.deque(made)
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.popleft()
            running[_fork(lambda mutant=mutant: run(mutant), limit)] = mutant  # type: ignore[misc]
        pid, status = os.wait()
        mutant = running.pop(pid)
        if status == 0:
            survivors.append((mutant.number, mutant.key))
    stale = equal - {mutant.key for mutant in found}
    return Outcome(len(made), sorted(survivors), sorted(stale))


def _equal() -> dict[str, list[dict[str, str]]]:
    return tomllib.loads(EQUAL.read_text("utf-8"))


def _fork(work: Callable[[], int], limit: int, output: int | None = None) -> int:
    """Let a child do *work* in at most *limit* seconds of a processor and ten times as many of the clock."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.alarm(10 * limit)
        sink = os.open(os.devnull, os.O_WRONLY) if output is None else output
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        code = work()
    finally:
        os._exit(code)


def _warm(name: str, path: Path, run: Callable[[], int]) -> float:
    """Import all that *run* imports and that does not need the module *name*; return the processor time of *run*."""
    reader, writer = os.pipe()

    def work() -> int:
        code = run()
        os.write(writer, "\n".join(sys.modules).encode())
        return code

    with tempfile.TemporaryFile() as output:
        pid = _fork(work, 600, output.fileno())
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as pipe:
            names = pipe.read().split("\n")
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            output.seek(0)
            sys.exit(f"{output.read().decode()}mutation: the tests of {name} fail as it is")
    # Whatever imports the module, at any depth, fails and is imported by each mutant's run.
    blocked = _Loader(name, path, None)
    sys.meta_path.insert(0, blocked)
    for each in names:
        if not each.startswith(("tests.", "benchmarks.", "__")):
            with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):
                importlib.import_module(each)
    sys.meta_path.remove(blocked)
    gc.freeze()  # what is there is there for good: no run need look through it
    return usage.ru_utime + usage.ru_stime


def _in_process(work: Callable[[], Outcome]) -> Outcome:
    """Return the result of *work*, done in a child, so that its imports end with it."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)

    def send(pipe: Connection) -> None:
        pipe.send(work())

    child = context.Process(target=send, args=(writer,))
    child.start()
    writer.close()
    try:
        outcome: Outcome = reader.recv()
    except EOFError:
        sys.exit(1)
    finally:
        child.join()
    return outcome


def main() -> int:
    """Run the campaigns one after the other; print a line for each, and its survivors."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__.strip().splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(MODULES)}; all if none is named")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants of each module at most")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.modules if name not in MODULES]:
        parser.error(f"no such module: {', '.join(unknown)}; there are {', '.join(MODULES)}")
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "shared"))
    os.environ |= {"FAST": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    is_good = True
    for module in arguments.modules or MODULES:

        def chosen(made: list[Mutant], module: str = module) -> list[Mutant]:
            if arguments.sample is None or len(made) <= arguments.sample:
                return made
            picked = random.Random(f"{arguments.seed} {module}").sample(range(len(made)), arguments.sample)
            return [made[index] for index in sorted(picked)]

        outcome = _in_process(lambda module=module, chosen=chosen: campaign(module, chosen, arguments.jobs))  # type: ignore[misc]
        killed = outcome.made - len(outcome.survivors)
        print(f"{module}: {killed} of {outcome.made} killed, {outcome.killed:.1%}, seed {arguments.seed}", flush=True)
        for number, (function, line, change) in outcome.survivors:
            print(f"  {number} {function}: {line}\n      {change}")
        for key in outcome.stale:
            print(f"  {EQUAL.name} names what is not there: {key}")
        is_good &= outcome.killed >= AIM
    return not is_good


if __name__ == "__main__":
    sys.exit(main())
