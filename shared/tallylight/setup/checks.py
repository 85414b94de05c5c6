"""
The checks of `tally doctor` on disk: they read the same state as `tally setup`, and yield findings. Reads only.

Each check takes the system; a finding that is not ok has a remedy.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import tallylight
from tallylight.agents import agent_files
from tallylight.config import config_file, key_bindings
from tallylight.files import directories, install_paths, managed_block, user_file
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding, Health
from tallylight.setup import environment, free_keys, kitty, kitty_conf
from tallylight.snapshot.schema import Snapshot

SETUP = "run `tally setup`"


def installation(system: System) -> Iterator[Finding]:
    """Check the private environment, the packages in it, and the command."""
    place = install_paths.layout(system)
    name = system.short(place.data)
    if not place.lib.exists():
        text = f"{name} has no installation"
        remedy = "run ./install.sh in a checkout of tallylight"
        yield Finding("installation", Health.MISSING, text, remedy)
        return
    state = environment.look(system, environment.running_source(), environment.base_python())
    if state.build:
        text = f"{name} is damaged, or not version {tallylight.__version__}"
        yield Finding("installation", Health.STALE, text, SETUP)
    elif set(state.stale) - {place.command}:
        broken = ", ".join(system.short(path) for path in state.stale)
        yield Finding("installation", Health.BROKEN, f"changed or missing: {broken}", SETUP)
    else:
        yield Finding("installation", Health.OK, f"tallylight {tallylight.__version__} in {name}")
    yield from _packages(system, place)
    if state.foreign_command:
        text = f"{system.short(place.command)} is another program; Tallylight's is {system.short(place.launcher)}"
        yield Finding("command", Health.BROKEN, text, "remove or rename it, then " + SETUP)
        return
    if place.command in state.stale:
        yield Finding("command", Health.MISSING, f"{system.short(place.command)} does not exist", SETUP)
        return
    found = system.which("tally")
    if found is None:
        text = f"{system.short(place.command.parent)} is not on PATH"
        yield Finding("command", Health.MISSING, text, f'add it: export PATH="{place.command.parent}:$PATH"')
    elif Path(os.path.realpath(found)) != Path(os.path.realpath(place.launcher)):
        text = f"`tally` is {system.short(found)}, another program or another installation"
        yield Finding("command", Health.DUPLICATE, text, f"put {system.short(place.command.parent)} before it on PATH")
    else:
        yield Finding("command", Health.OK, system.short(place.command))


def _packages(system: System, place: install_paths.Layout) -> Iterator[Finding]:
    """Check that attrs and psutil import."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import importlib; importlib.import_module(sys.argv[2])"
    for name in ("attrs", "psutil"):
        done = system.run([environment.base_python(), "-IS", "-c", code, place.lib, name], timeout=30)
        if done.returncode == 0:
            yield Finding(name, Health.OK, "imports")
        elif name == "psutil" and Path("/proc/self/stat").exists():
            yield Finding(name, Health.OK, "not installed and not needed: /proc is read instead")
        else:
            reason = (done.stderr.strip().splitlines() or ["failed"])[-1]
            yield Finding(name, Health.BROKEN, f"does not import: {reason}", "run ./install.sh again")


def terminal(system: System, *, has_other: bool = False) -> Iterator[Finding]:
    """
    Check kitty, its version, and the include in kitty.conf. *has_other*: kitty is not needed, for there is WezTerm.
    """
    here = kitty.look(system)
    if not here.is_here:
        if not has_other:
            text = "neither kitty nor WezTerm was found"
            yield Finding("terminal", Health.MISSING, text, "install one of them, or run your agents in tmux")
        return
    if here.program is not None:
        yield _kitty(system, here, here.program)
    yield _kitty_conf(system, here.conf)
    place = install_paths.layout(system)
    bound = environment.present_keys(place)
    asked = (*(binding.key for binding in bound), *(key for key in free_keys.wishes(system).values() if key))
    answer = free_keys.ask(system, place, here, asked)
    for problem in free_keys.impossible(system, answer):
        remedy = f'write it as in kitty.conf, "ctrl+shift+y", in {system.short(directories.config_file(system.env))}'
        yield Finding("keys", Health.BROKEN, problem, f"{remedy}; then {SETUP}")
    if bound:
        yield from _keys(system, bound, answer)
    if answer is not None and answer.bar_style:
        yield _tab_bar(system, answer)


def _kitty(system: System, here: kitty.Kitty, program: Path) -> Finding:
    """Return the finding about the *program* and its version."""
    if here.version is None:
        text = f"{system.short(program)} does not report its version"
        return Finding("kitty", Health.BROKEN, text, "update kitty")
    oldest, newest = (".".join(map(str, version)) for version in (kitty.OLDEST, kitty.NEWEST))
    if here.version[:2] < kitty.OLDEST:
        text = f"{here.version_text} is older than {oldest}, the oldest that is tested"
        return Finding("kitty", Health.STALE, text, "update kitty")
    note = f" (newer than {newest}, the newest that is tested)" if here.version[:2] > kitty.NEWEST else ""
    return Finding("kitty", Health.OK, f"{here.version_text}{note} in {system.short(program)}")


def _tab_bar(system: System, answer: free_keys.Answer) -> Finding:
    """Return whether a light is visible: in a tab bar, or else in the title of the OS window."""
    what, min_tabs = "tab bar", answer.bar_min_tabs
    config, _ = config_file.load_config(system.env)
    if config.kitty.style == "off":
        return Finding(what, Health.SKIPPED, '[kitty] style is "off": no light is drawn')
    is_hidden = answer.bar_style == "hidden"
    if not is_hidden and min_tabs <= 1:
        return Finding(what, Health.OK, "always shown")
    without = "hidden by tab_bar_style" if is_hidden else f"hidden with fewer than {min_tabs} tabs"
    show = "set another tab_bar_style in kitty.conf" if is_hidden else "run `tally setup --tab-bar`"
    if config.kitty.os_window_title == "off":
        text = f'{without}, and [kitty] os_window_title is "off": you see no light then'
        return Finding(what, Health.BROKEN, text, f'{show}, or set os_window_title = "auto" in config.toml')
    if not answer.has_decorations:
        text = f"{without}; the mark moves to the window's title, but hide_window_decorations hides that too"
        return Finding(what, Health.BROKEN, text, f"{show}; a task bar may still show the mark")
    return Finding(what, Health.OK, f"{without}; the mark moves to the window's title")


def _keys(system: System, bound: list[key_bindings.Binding], answer: free_keys.Answer | None) -> Iterator[Finding]:
    """Yield the key bindings, and other bindings of those keys."""
    shown = ", ".join(
        f"{key} {binding.action.name}" for binding, (key, _) in zip(bound, free_keys.rows(bound, answer), strict=True)
    )
    yield Finding("keys", Health.OK, shown)
    wanted = free_keys.wishes(system)
    for binding, (key, other) in free_keys.hidden(bound, answer) if answer is not None else ():
        if binding.action.name not in wanted:
            text = f"{key} is for {binding.action.name}, and also for `{other}`"
            yield Finding("keys", Health.DUPLICATE, text, f"{SETUP}; it will choose another key")


def _kitty_conf(system: System, conf: Path) -> Finding:
    what, name = "kitty.conf", system.short(conf)
    ours = install_paths.layout(system).kitty_conf
    try:
        data = user_file.read(conf)
        edit = kitty_conf.plan(system, conf)
    except TallyError as error:
        return Finding(what, Health.BROKEN, str(error), "make it readable")
    text = managed_block.decode(data or b"")
    blocks = managed_block.blocks(text)
    if edit is None:
        if not ours.is_file():
            return Finding(what, Health.BROKEN, f"{name} includes {system.short(ours)}, which does not exist", SETUP)
        return Finding(what, Health.OK, f"{name} includes {system.short(ours)}")
    if not kitty_conf.is_writable(conf):
        line = kitty_conf.include_line(system, conf)
        text = f"{name} does not include Tallylight as it should, and cannot be changed"
        return Finding(what, Health.MISSING, text, f"add this line where that file is managed: `{line}`")
    if data is None or not blocks:
        return Finding(what, Health.MISSING, f"{name} does not include Tallylight", SETUP)
    if not all(block.whole for block in blocks):
        return Finding(what, Health.BROKEN, f"{name}: half of Tallylight's block is missing", SETUP)
    if len(blocks) > 1 or managed_block.is_included(text, str(ours), str(system.home)):
        return Finding(
            what, Health.DUPLICATE, f"{name} includes Tallylight twice; kitty shows an error window for it", SETUP
        )
    return Finding(what, Health.STALE, f"{name} includes an installation in another place", SETUP)


def settings(system: System) -> Iterator[Finding]:
    """Check the configuration and the agent files."""
    path = directories.config_file(system.env)
    config, errors = config_file.load_config(system.env)
    for error in errors:
        health = Health.HINT if error.is_note else Health.BROKEN
        remedy = "run `tally config edit`" if error.is_note else "correct it; until then its default is used"
        yield Finding("config.toml", health, str(error), remedy)
    if not errors:
        text = system.short(path) if path.exists() else "not present; using defaults"
        yield Finding("config.toml", Health.OK, text)
    program = config.notify.command[0] if config.notify.command else ""
    if program and system.which(program) is None:
        text = f"notify.command: {program} does not exist, or cannot be run"
        yield Finding("config.toml", Health.BROKEN, text, "correct it; until then no notification is shown")
    agents, errors = agent_files.load_agents(system.env)
    for error in errors:
        yield Finding("agents", Health.BROKEN, str(error), "correct it; until then this file is ignored")
    if not errors:
        yield Finding("agents", Health.OK, f"{len(agents)} known: {', '.join(sorted(agent.name for agent in agents))}")


def in_force(system: System, hosts: Iterable[Snapshot]) -> Iterator[Finding]:
    """Yield settings that would let programs do more than the running *hosts* allow."""
    from tallylight.config.powers import ALLOW, is_more  # setup begins without attrs

    config, _ = config_file.load_config(system.env)
    remedy = "if you changed it, restart the host; otherwise a program did: check config.toml"
    for host in hosts:
        until = f"in force in {host.name} until it restarts"
        if is_more(config.scripting, host.allow):
            text = f'scripting.allow is "{config.scripting}" in config.toml, and "{host.allow}" {until}'
            yield Finding("in force", Health.STALE, text, remedy)
        for key in host.withheld:
            if key != ALLOW:
                yield Finding("in force", Health.STALE, f"{key} was changed in config.toml, but is not {until}", remedy)
