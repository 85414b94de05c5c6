"""
`tally hooks`: install, remove or show the hooks of agents.

It looks first, shows every change, asks once, makes them, and reports the result. An agent's unreadable file stays as
it is, with a message about the place, and the others are changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tallylight.agents import agent_files
from tallylight.cli.output import UNBOUNDED, Output, clean, complain, hanging
from tallylight.cli.parser import Parser
from tallylight.files import directories
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding
from tallylight.parts.agent_hooks import compact, install, remove, state
from tallylight.parts.agent_hooks.install import Target
from tallylight.snapshot.schema import Snapshot

DONE, FAILED, USAGE = 0, 1, 2
#: The version of `--json`.
VERSION = 1


def make_parser() -> Parser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="tally hooks",
        description="Install hooks that report an agent's status. Lights work without hooks; hooks make them exact.",
        allow_abbrev=False,
        examples={
            "tally hooks": "which agents have hooks",
            "tally hooks install claude codex": "show the changes, ask, make them",
            "tally hooks remove": "take all of them out",
        },
        codes={1: "failed, or you said no"},
    )
    parser.add_argument("verb", nargs="?", choices=("install", "remove", "status"), default="status")
    parser.add_argument(
        "agents", nargs="*", metavar="AGENT", help="which agents; all that are installed if none is named"
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show the changes without making them")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main(argv: Sequence[str], system: System | None = None) -> int:
    """Run `tally hooks` with these arguments."""
    options = make_parser().parse_intermixed_args(list(argv))
    system = system or System()
    known = targets(system)
    for name in options.agents:
        if name not in known:
            can = ", ".join(sorted(name for name, target in known.items() if target.form))
            complain("hooks", f"no hooks are known for {clean(name, 40)!r}; known are {can}", cells=UNBOUNDED)
            return USAGE
    if options.verb == "status":
        return _status(system, known, options.agents, as_json=options.json)
    run = _Run(system, yes=options.yes, dry_run=options.dry_run, as_json=options.json)
    if options.verb == "install":
        return _install(run, known, options.agents)
    planned, problems = remove.plan_removal(system, known, options.agents)
    for error in problems:
        run.fail(error)
    if not planned and not problems:
        run.say("No hooks of Tallylight are installed there; nothing changed.")
    return run.do(planned, lambda edit: remove.undo(system, edit))


def checks(environ: Mapping[str, str], _hosts: Sequence[Snapshot]) -> Iterator[Finding]:
    """Yield the state of the hooks of each installed agent."""
    system = System(environ)
    yield from state.findings(system, targets(system))


def targets(system: System) -> dict[str, Target]:
    """Return the packaged agents, and those of the user's own files."""
    known = install.packaged()
    agents, _ = agent_files.load_agents(system.env)
    own = {str(path.stem) for path in (directories.config_dir(system.env) / "agents").glob("*.toml")}
    for agent in agents:
        if agent.hooks is None:
            continue
        place, table = compact.place(agent, agent.hooks), compact.table(agent, agent.hooks)
        ours = known.get(agent.name)
        if ours is None or (own and dict(ours.place) != place):
            known[agent.name] = Target(agent.name, place, table)
    return known


class _Run:
    """One run of install or remove: its output and its question."""

    def __init__(self, system: System, *, yes: bool, dry_run: bool, as_json: bool) -> None:
        self.system, self.yes, self.dry_run, self.as_json = system, yes, dry_run, as_json
        self.changes: list[dict[str, Any]] = []
        self.problems: list[str] = []

    def say(self, text: str) -> None:
        if not self.as_json:
            self.system.say(text)

    def fail(self, error: TallyError) -> None:
        self.problems.append(str(error))
        complain("hooks", error, cells=1000)

    def do(self, planned: list[Edit], act: Callable[[Edit], str]) -> int:
        """Show the plan, ask, and make the edits; return the exit code."""
        for edit in planned:
            name = self.system.short(edit.path)
            text = edit.diff(name)
            self.changes.append({"agent": edit.agent, "path": str(edit.path), "diff": text, "done": False})
            if edit.before is None and edit.after is None:
                continue
            self.say(
                f"{name} will be {'removed' if edit.after is None else 'made' if edit.before is None else 'changed'}:"
            )
            self.say(text.rstrip("\n"))
        code = FAILED if self.problems else DONE
        if self.dry_run:
            self.say("\nDry run: nothing was changed.")
        elif planned and not (self.yes or (not self.as_json and self.system.agrees(yes=False))):
            code = FAILED
        else:
            for edit, change in zip(planned, self.changes, strict=True):
                try:
                    self.say(act(edit))
                    change["done"] = True
                except TallyError as error:
                    self.fail(error)
                    code = FAILED
        if self.as_json:
            ok = {"version": VERSION, "ok": code == DONE, "changes": self.changes, "problems": self.problems}
            self.system.say(json.dumps(ok, indent=2))
        return code


def _install(run: _Run, known: Mapping[str, Target], names: Sequence[str]) -> int:
    """Install the hooks of the agents in *names*, or of all that are installed; return the exit code."""
    system = run.system
    chosen = [known[name] for name in dict.fromkeys(names)]
    if not names:
        chosen = [target for target in known.values() if target.form and state.is_here(system, target)]
        if not chosen:
            run.say("No agent that can have hooks was found on PATH; name one to install its hooks anyway.")
    planned: list[Edit] = []
    right: list[Target] = []
    for target in chosen:
        try:
            edits = install.plan_install(system, target)
        except TallyError as error:
            run.fail(error)
            continue
        planned += edits
        if not edits:
            run.say(f"{target.place['display']}: its hooks are installed and up to date; nothing changed.")
        right.append(target)

    def act(edit: Edit) -> str:
        install.apply(system, edit)
        install.keep_table(system, known[edit.agent])
        return f"{system.short(edit.path)} {'made' if edit.before is None else 'changed'}."

    code = run.do(planned, act)
    changed = {change["agent"] for change in run.changes if change["done"]}
    for target in right:
        if target.agent in changed:
            if target.place["note"]:
                run.say(f"  {target.place['note']}")
            found = state.standing(system, target)
            if found.remedy:
                run.say(f"  But: {found.text}.\n  → {found.remedy}")
            run.say(f"  Restart any {target.place['display']} that already runs.")
    return code


def _status(system: System, known: Mapping[str, Target], names: Sequence[str], *, as_json: bool) -> int:
    """Print the state of the hooks of each agent, or of those in *names*; return the exit code."""
    rows = [state.standing(system, target) for name, target in known.items() if not names or name in names]
    if as_json:
        paths = {name: str(target.path(system)) if target.form else "" for name, target in known.items()}
        found = [row._asdict() | {"path": paths[row.agent]} for row in rows]
        system.say(json.dumps({"version": VERSION, "agents": found}, indent=2))
        return DONE
    columns = Output.to(sys.stdout, system.env).columns
    for row in rows:
        system.say(hanging(f"{row.agent:<13} {row.state.value:<14} ", row.text, row.remedy, 29, columns))
    return DONE
