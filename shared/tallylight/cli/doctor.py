"""
`tally doctor`: checks the whole installation, and whether a light sent from here arrives.

One line a finding, with its remedy. Nothing is written, except for one report to this terminal and its withdrawal. It
is a child record of this pane, so that the reports of the pane's own agent stay. The tab turns amber for a moment.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence

import tallylight
from tallylight.cli import emit
from tallylight.cli.output import Output, clean, hanging
from tallylight.cli.parser import Parser
from tallylight.cli.why import EXACT_THERE
from tallylight.config import settings
from tallylight.evidence import process_table
from tallylight.files import directories, install_paths, read_write, receipt
from tallylight.files.system import System
from tallylight.hosts.wezterm import pane_list
from tallylight.model import lights
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding, Health
from tallylight.model.prose import counted
from tallylight.model.status import Status
from tallylight.parts import index
from tallylight.setup import checks, completions, online, running_kitty, sessions, wezterm
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.wire import tty

#: The version of `--json`.
VERSION = 1
#: Seconds that a light may take to arrive; the snapshot is at most 0.2 s behind.
ARRIVES_S = 2.0
_NOTHING = "no terminal with Tallylight is running"
_COLOURS = dict.fromkeys(Health, lights.COLOURS[Status.ERROR]) | {
    Health.OK: lights.COLOURS[Status.DONE],
    Health.HINT: lights.COLOURS[Status.WAITING],
    Health.STALE: lights.COLOURS[Status.WAITING],
    Health.SKIPPED: lights.COLOURS[Status.WORKING],
}


class Wire:
    """The way to the terminal and back."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env

    def send(self, fields: Mapping[str, str]) -> bool:
        """Write a report to this process's terminal; False if it has none."""
        fd = tty.open_terminal(self.env)
        if fd is None:
            return False
        try:
            tty.write(fd, tty.wrap(emit.sequences(fields), self.env))
        finally:
            os.close(fd)
        return True

    def snapshots(self) -> tuple[list[Snapshot], list[writer.SnapshotError]]:
        return writer.read_snapshots(writer.directory(self.env))

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def started(self, pid: int) -> float | None:
        """Return when a process started, in seconds since the epoch."""
        return process_table.table().start_time(pid)


def make_parser() -> Parser:
    parser = Parser(
        prog="tally doctor",
        description="Check that everything is set up and that a light arrives.",
        allow_abbrev=False,
        examples={
            "tally doctor": "check everything",
            "tally doctor --json": "the same for programs",
            "tally doctor --report": "to paste into an issue",
            "tally doctor --online": "also whether there is a newer release",
        },
        codes={0: "no problems", 1: "at least one problem"},
    )
    parser.add_argument(
        "--report", action="store_true", help="print a report to paste into an issue; nothing private is in it"
    )
    parser.add_argument(
        "--online", action="store_true", help="also ask the Python Package Index whether there is a newer release"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_color()
    return parser


def main(argv: Sequence[str], system: System | None = None, wire: Wire | None = None) -> int:
    """Run every check; return 1 if there is a fault."""
    options = make_parser().parse_args(list(argv))
    system = system or System()
    wire = wire or Wire(system.env)
    output = Output.chosen(options.color, system.env)
    found = []
    more = online.findings(tallylight.__version__) if options.online else ()
    for finding in itertools.chain(examine(system, wire), more):
        found.append(finding)
        if not (options.json or options.report):
            health = output.coloured(_COLOURS[finding.health], f"{finding.health.value:<9}")
            system.say(hanging(f"{health}  {finding.what:<12}  ", finding.text, finding.remedy, 25, output.columns))
    faults = sum(finding.is_fault for finding in found)
    if options.report:
        text = read_write.text_or_nothing(directories.config_file(system.env))
        report = index.need("report", "reports")
        system.say(report.report(found, wire.snapshots()[0], (settings.load(text, "")[0], text), system.env))
    elif options.json:
        rows = [finding._asdict() for finding in found]
        system.say(json.dumps({"version": VERSION, "ok": not faults, "findings": rows}, indent=2))
    else:
        none = "No problems found." if wire.snapshots()[0] else f"No problems found, but {_NOTHING}."
        system.say(f"\n{counted(faults, 'problem')} found." if faults else f"\n{none}")
    return 1 if faults else 0


def examine(system: System, wire: Wire) -> Iterator[Finding]:
    """Yield every finding, ordered so that a fault explains the ones after it."""
    yield from checks.installation(system)
    hosts = {host.host for host in wire.snapshots()[0]}
    # In tmux, and at the far end of ssh, the terminal may be of another machine.
    is_elsewhere = "sessions" in hosts or bool(system.env.get("TMUX") or system.env.get("SSH_CONNECTION"))
    yield from checks.terminal(system, has_other=wezterm.look(system).is_here or is_elsewhere)
    yield from wezterm.findings(system, [host.name for host in wire.snapshots()[0] if host.host == "wezterm"])
    yield from _feeds(system)
    yield from checks.settings(system)
    yield from checks.in_force(system, wire.snapshots()[0])
    # Sequences need a terminal with Tallylight; reading tmux itself needs none.
    has_terminal = bool(hosts & {"kitty", "wezterm"}) or running_kitty.named(system) > 0
    passthrough = _multiplexer(system) if has_terminal else []
    # Before the bus: a kitty without any light yet has written no snapshot.
    blocked = any(finding.text == _DROPS for finding in passthrough)
    light = list(_light(system, wire, blocked=blocked, has_terminal=has_terminal))
    yield from _bus(system, wire)
    yield from sessions.findings(system, wire.snapshots()[0])
    yield completions.finding(system)
    yield from _agents([pane for host in wire.snapshots()[0] for pane in host.panes])
    yield from _parts(system, wire)
    yield from passthrough
    yield from light


def _parts(system: System, wire: Wire) -> Iterator[Finding]:
    """Yield faults of parts, and the findings of their own checks."""
    for found in index.all_parts(system.env):
        if found.fault:
            text = f"the part {clean(found.part.name, 40)} cannot be loaded: {clean(found.fault, 200)}"
            remedy = f"remove its package, or run `tally parts --off {found.part.name}`"
            yield Finding("parts", Health.BROKEN, text, remedy)
    for name, load in index.checks():
        try:
            yield from load()(system.env, wire.snapshots()[0])
        except Exception as error:  # a fault in a part costs its own checks
            text = f"the checks of the part {clean(name, 40)} failed: {clean(f'{type(error).__name__}: {error}', 200)}"
            yield Finding("parts", Health.BROKEN, text)


def _agents(panes: Sequence[Pane]) -> Iterator[Finding]:
    """Yield problems of the running agents, such as files that cannot be read."""
    for where in sorted({pane.evidence.hangs for pane in panes} - {""}):
        there = (pane for pane in panes if pane.evidence.hangs == where)
        names = ", ".join(sorted({pane.agent or pane.program.name for pane in there} - {""}))
        text = f"{where} does not respond: the files of {names or 'agents'} there are not read"
        yield Finding("disk", Health.BROKEN, text, "mount it again; reading continues when it responds")
    if far := sorted({pane.program.name for pane in panes if pane.program.signs and pane.agent_pid is None}):
        text = f"only the screen of an agent behind {', '.join(far)} can be read"
        yield Finding("far agents", Health.HINT, text, EXACT_THERE)
    for agent in sorted({pane.agent for pane in panes if pane.evidence.strange_record}):
        text = f"the records of {agent} have an unknown format: model, context, tasks and reply are not shown"
        yield Finding("records", Health.SKIPPED, text)


#: Problems that the Lua in a WezTerm reports, by its names for them: the message and the remedy.
_LUA_PROBLEMS = {
    "titles": (
        "another format-tab-title handler was registered before Tallylight's, so tabs show no light",
        "load Tallylight before it: move the line with `require 'tallylight'` to the top of wezterm.lua",
    ),
    "formatter": (
        "a format-tab-title handler fails, so Tallylight draws the titles without it",
        "correct it; WezTerm's log (ctrl+shift+l) names its error",
    ),
    "keys": (
        "`config.keys = …` comes after apply_to_config, so Tallylight's keys are gone",
        "move apply_to_config behind it",
    ),
    "handlers": (
        "an event handler registered before Tallylight's fails or returns false, so lights come late",
        "correct it, or register it after apply_to_config; WezTerm's log (ctrl+shift+l) names its error",
    ),
}


def _feeds(system: System) -> Iterator[Finding]:
    """Yield the reports of the Lua in each running WezTerm."""
    folder = writer.directory(system.env)
    for path in sorted(folder.glob("wezterm-*.feed.json"))[: writer.MAX_HOST_FILES]:
        number = path.name.removeprefix("wezterm-").removesuffix(".feed.json")
        if not (number.isdecimal() and len(number) < 11) or process_table.table().start(int(number)) is None:
            continue
        feed = pane_list.read_feed(read_write.own_or_nothing(path, pane_list.MAX_FEED))
        if feed is None:
            continue
        if feed.release != tallylight.__version__:
            text = f"WezTerm {number} runs the Lua files of {feed.release or 'an earlier version'}"
            remedy = "reload its configuration (ctrl+shift+r); a plugin first needs `wezterm.plugin.update_all()`"
            yield Finding("WezTerm", Health.STALE, text, remedy)
        if feed.keys:
            keys = ", ".join(f"{name} {_key_words(key)}" for name, key in feed.keys)
            lost = [name for name, key in feed.keys if not key]
            remedy = "give them keys in the option `keys` of apply_to_config" if lost else ""
            yield Finding("WezTerm keys", Health.HINT if lost else Health.OK, keys, remedy)
        for name in sorted(feed.problems & _LUA_PROBLEMS.keys()):
            text, remedy = _LUA_PROBLEMS[name]
            yield Finding("WezTerm", Health.BROKEN, text, remedy)


def _key_words(chord: str) -> str:
    """Return a key in a person's notation: `ctrl+shift+i` for `CTRL|SHIFT i`."""
    return chord.lower().replace("|", "+").replace(", ", " then ").replace(" ", "+", 1) or "none: all are taken"


def _bus(system: System, wire: Wire) -> Iterator[Finding]:
    """Yield findings about the directory of snapshots, and the kittys that write into it."""
    folder = writer.directory(system.env)
    living, problems = wire.snapshots()
    for problem in problems:
        yield Finding("snapshots", Health.BROKEN, str(problem), problem.remedy)
    pid = running_kitty.named(system)
    if living and not problems:
        hosts = ", ".join(f"{host.host} {host.pid}" for host in living)
        yield Finding("snapshots", Health.OK, f"{system.short(folder)}: {hosts}")
    elif not problems and not living and not pid:
        text = f"{_NOTHING}: start kitty or WezTerm, or restart one that already runs"
        yield Finding("snapshots", Health.SKIPPED, text)
    if pid:
        yield _this_kitty(system, wire, pid, next((host for host in living if host.pid == pid), None))
    linked, _ = _times(system)
    for host in living:
        if host.host == "kitty" and host.pid != pid and linked is not None and host.started < linked:
            text = "still runs the previous installation"
            yield Finding(f"kitty {host.pid}", Health.STALE, text, "restart it when you can")


def _this_kitty(system: System, wire: Wire, pid: int, host: Snapshot | None) -> Finding:
    """Return whether the kitty around us runs this release."""
    what = "this kitty"
    linked, wired = _times(system)
    if host is not None:
        if linked is not None and host.started < linked:
            return Finding(what, Health.STALE, f"kitty {pid} still runs the previous installation", "restart kitty")
        return Finding(what, Health.OK, f"kitty {pid} runs tallylight")
    started = wire.started(pid)
    if started is not None and wired is not None and started < wired:
        remedy = "reload kitty's configuration (ctrl+shift+f5), then open a new tab or press one of Tallylight's keys"
        return Finding(what, Health.STALE, f"kitty {pid} was started before Tallylight was set up", remedy)
    text = f"kitty {pid} did not load the watcher, or the watcher failed"
    return Finding(what, Health.BROKEN, text, "start `kitty` from another terminal and read what it prints")


def _times(system: System) -> tuple[float | None, float | None]:
    """Return when the release in use was linked, and when setup last changed a file of the person."""
    linked = wired = None
    with contextlib.suppress(OSError):
        linked = install_paths.layout(system).lib.lstat().st_mtime
    with contextlib.suppress(TallyError):
        wired = max((entry.at for entry in receipt.load(directories.state_dir(system.env)).entries), default=linked)
    return linked, wired


#: The finding about a tmux as it comes, and its remedy: a host reads the output of panes with agents alone.
_DROPS = "allow-passthrough is off: agents in tmux are heard all the same, `tally emit` in a plain shell is not"
_PASSING = "for that, run `tmux set -g allow-passthrough on`, and put `set -g allow-passthrough on` into ~/.tmux.conf"


def _multiplexer(system: System) -> list[Finding]:
    """Return whether tmux or GNU Screen passes our sequences on."""
    kind = tty.multiplexer(system.env)
    if kind == "screen":
        return [Finding("GNU Screen", Health.OK, "passes Tallylight's sequences on")]
    if kind != "tmux":
        return []
    done = system.run(["tmux", "show-options", "-gv", "allow-passthrough"], timeout=5)
    # A pane may have a value of its own.
    pane = system.run(["tmux", "show-options", "-pv", "allow-passthrough"], timeout=5).stdout.strip()
    value = pane or done.stdout.strip()
    if value in ("on", "all"):
        return [Finding("tmux", Health.OK, f"allow-passthrough is {value}")]
    if done.returncode != 0:
        # Before 3.3 there was no such option, and everything was let through.
        version = system.run(["tmux", "-V"], timeout=5).stdout.strip() or "tmux"
        return [Finding("tmux", Health.SKIPPED, f"{clean(version, 40)} has no allow-passthrough")]
    return [Finding("tmux", Health.HINT, _DROPS, _PASSING)]


def _light(system: System, wire: Wire, *, blocked: bool, has_terminal: bool) -> Iterator[Finding]:
    """Send a report from here and look for it in a snapshot."""
    if blocked:
        yield Finding("light", Health.SKIPPED, "not sent: tmux would drop it")
        return
    living, _ = wire.snapshots()
    if not has_terminal:
        yield Finding("light", Health.SKIPPED, "not sent: no terminal on this machine runs tallylight yet")
        return
    record = {"id": f"doctor-{os.getpid()}"}
    try:
        if not wire.send({"state": "waiting", "tool": "tally", "kind": "input", "message": "tally doctor"} | record):
            yield Finding("light", Health.SKIPPED, "not sent: this process has no terminal")
            return
        try:
            began = time.monotonic()
            where = _arrival(wire, record["id"])
            took = time.monotonic() - began
        finally:
            wire.send({"state": "clear"} | record)
    except (OSError, tty.TerminalStuckError) as error:
        yield Finding("light", Health.BROKEN, f"cannot be sent: {error}", "try it in another tab")
        return
    is_in_wezterm = system.env.get("TERM_PROGRAM") == "WezTerm" and not tty.multiplexer(system.env)
    if where:
        yield Finding("light", Health.OK, f"sent from here, arrived in {where} after {took:.1f} s")
    elif system.env.get("ZELLIJ"):
        # https://github.com/zellij-org/zellij/issues/3954
        text = "sent, but not received: Zellij blocks Tallylight's sequences"
        yield Finding("light", Health.BROKEN, text, "run the agent outside of Zellij, or in tmux or GNU Screen")
    elif is_in_wezterm and any(host.host == "wezterm" for host in living):
        remedy = "look into WezTerm's log (ctrl+shift+l) for lines that start with tallylight"
        yield Finding("light", Health.BROKEN, f"sent, but not received within {ARRIVES_S:g} s", remedy)
    elif not running_kitty.named(system) and not tty.multiplexer(system.env):
        text = "sent, but not received: this terminal is not a local kitty or WezTerm with Tallylight"
        yield Finding("light", Health.SKIPPED, text)
    else:
        remedy = "restart kitty; if that does not help, start it from another terminal and read what it prints"
        yield Finding("light", Health.BROKEN, f"sent, but not received within {ARRIVES_S:g} s", remedy)


def _arrival(wire: Wire, record: str) -> str:
    """Return the address of the pane that shows *record*, or ""."""
    left = ARRIVES_S
    while left > 0:
        for host in wire.snapshots()[0]:
            for pane in host.panes:
                if any(entry.id == record for entry in pane.evidence.records):
                    return f"{host.name}:{pane.id}"
        wire.sleep(0.05)
        left -= 0.05
    return ""
