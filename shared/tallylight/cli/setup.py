"""
`tally setup`: install the files that kitty needs, set kitty up, and take both back.

It looks first and shows every change, asks once, makes them, and ends with a report. A second run changes nothing.
`install.sh` runs this from the checkout, so it imports nothing but the standard library.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tallylight
from tallylight.agents import names
from tallylight.cli.parser import Parser
from tallylight.config.key_bindings import Binding
from tallylight.files import directories, extras, install_paths, user_file
from tallylight.files.read_write import explained
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.model import contrast, lights
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.parts import index
from tallylight.setup import (
    completions,
    dependencies,
    environment,
    free_keys,
    kitty,
    kitty_conf,
    running_kitty,
    tmux,
    unit,
    wezterm,
)
from tallylight.ui import colours

DONE, FAILED = 0, 1
#: Files kept by an uninstallation that are named, at most.
MAX_NAMED_FILES = 8


def make_parser() -> Parser:
    parser = Parser(
        prog="tally setup",
        description="Install Tallylight for your user and set up your terminals: one include in kitty.conf, one link "
        "for WezTerm, a unit of systemd for tmux alone. Every change is shown first.",
        allow_abbrev=False,
        examples={
            "tally setup --dry-run": "show the changes",
            "tally setup": "show them, ask, make them",
            "tally setup --with serve": "what `tally serve` needs",
            "tally setup --undo": "take the changes back",
        },
        codes={1: "failed, or you said no"},
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show the changes without making them")
    parser.add_argument(
        "--undo", action="store_true", help="remove Tallylight's lines from kitty.conf and agents' files"
    )
    parser.add_argument(
        "--uninstall", action="store_true", help="--undo, and also remove everything that was installed"
    )
    parser.add_argument(
        "--tab-bar",
        action=argparse.BooleanOptionalAction,
        help="show kitty's tab bar even with one tab, so that you always see the light; or leave it",
    )
    parser.add_argument(
        "--with",
        dest="extras",
        action="append",
        default=[],
        choices=sorted([*extras.EXTRAS, "completions", "tmux"]),
        metavar="EXTRA",
        help="install only the requirements of `serve` (`tally serve`), `push` (its messages to browsers) or `fleet` "
        "(`tally publish`, --broker). Or `completions` and manual pages for your shells, or `tmux`: its keys and the "
        "lights of its windows",
    )
    parser.add_color()
    return parser


def main(argv: Sequence[str], system: System | None = None) -> int:
    """Run `tally setup` with these arguments, and return the exit code."""
    options = make_parser().parse_args(list(argv))
    system = system or System()
    system = dataclasses.replace(system, env=colours.chosen(system.env, options.color))
    if not options.dry_run:
        _refuse_anothers_home(system, yes=options.yes)
    for name in options.extras:
        if name == "completions" and options.dry_run:
            completions.made()
            system.say("Dry run: completions and manual pages would be installed; nothing was changed.")
        elif name == "completions":
            bash, zsh, fish, man = map(system.short, completions.install(system))
            system.say(f"Completions installed: {bash}, {fish}, {zsh}; manual pages: {man}.")
            folder = zsh.rpartition("/")[0]
            system.say(f"zsh: if it does not look there, put fpath+={folder} before compinit in ~/.zshrc.")
        elif name == "tmux":
            if (code := _set_up_tmux(system, yes=options.yes, dry_run=options.dry_run)) != DONE:
                return code
        elif options.dry_run:
            system.say(f"Dry run: {', '.join(extras.EXTRAS[name])} would be installed; nothing was changed.")
        else:
            place = environment.add_extra(system, environment.base_python(), name)
            system.say(f"{', '.join(extras.EXTRAS[name])} installed into {system.short(place)}.")
    if options.extras:
        return DONE
    if options.undo or options.uninstall:
        return _undo(system, yes=options.yes, dry_run=options.dry_run, everything=options.uninstall)
    return _setup(system, yes=options.yes, dry_run=options.dry_run, tab_bar=options.tab_bar)


def _set_up_tmux(system: System, *, yes: bool, dry_run: bool) -> int:
    """Show the keys and the lights for tmux, then install them."""
    edit, made = tmux.plan(system)
    ours = install_paths.layout(system).tmux_conf
    system.say(f"tallylight will write {system.short(ours)}:\n\n{made.rstrip()}\n")
    if edit is not None:
        system.say(f"and change {system.short(edit.path)}:\n\n{edit.diff(system.short(edit.path)).rstrip()}")
    if (refusal := _refusal(system, yes=yes, dry_run=dry_run)) is not None:
        return refusal
    tmux.apply(system, edit, made)
    system.say(f"\nDone. In each running tmux: tmux source-file {system.short(tmux.conf(system))}")
    return DONE


def _refuse_anothers_home(system: System, *, yes: bool) -> None:
    """
    Raise `TallyError` in another user's home: `sudo ./install.sh` keeps HOME on some systems, and would leave root's
    files there.
    """
    with explained(f"the home directory {system.home} cannot be used"):
        owner = system.home.stat().st_uid
    if owner != os.geteuid() and not yes:
        raise TallyError(
            f"{system.home} is the home of user {owner}, and you are user {os.geteuid()}: run this without sudo "
            "(or with --yes if you mean it)"
        )


class _Plan(NamedTuple):
    """The present state of the terminals and the installation, and the changes to make."""

    here: kitty.Kitty
    beside: wezterm.WezTerm
    bindings: list[Binding]
    answer: free_keys.Answer | None
    state: environment.State
    edit: Edit | None
    #: The kitty around this command.
    running: int | None
    #: Whether the unit that watches tmux is to be made.
    has_unit: bool


def _setup(system: System, *, yes: bool, dry_run: bool, tab_bar: bool | None) -> int:
    """Plan the setup, show it, and make the changes once the person agrees."""
    source, python, place = environment.running_source(), environment.base_python(), install_paths.layout(system)
    here = kitty.look(system)
    beside = wezterm.look(system)
    bindings, answer = free_keys.plan(system, place, here)
    plan = _Plan(
        here,
        beside,
        bindings,
        answer,
        environment.look(system, source, python, bindings, tab_bar),
        kitty_conf.plan(system, here.conf) if here.is_here else None,
        running_kitty.find(system) if here.is_here else None,
        unit.is_stale(system, has_terminal=here.is_here or beside.is_here),
    )
    if plan.state.is_current and plan.edit is None and not plan.has_unit and not wezterm.is_stale(plan.beside):
        system.say(f"tallylight {tallylight.__version__} is installed and up to date; nothing changed.")
        _report(system, plan)
        return DONE
    _show(system, plan)
    if (refusal := _refusal(system, yes=yes, dry_run=dry_run)) is not None:
        return refusal
    # By its own answer kitty shows no tab bar for one tab, and shows one for more.
    hides_one = answer is not None and answer.bar_min_tabs > 1 and answer.bar_style != "hidden"
    if tab_bar is None and not yes and hides_one and not environment.has_tab_bar(place):
        plan = plan._replace(state=environment.look(system, source, python, bindings, _offer_tab_bar(system)))
    _carry_out(system, plan)
    system.say("\nDone.")
    _report(system, plan)
    _report_next(system, plan)
    return DONE


def _carry_out(system: System, plan: _Plan) -> None:
    """Make the planned changes."""
    source, python = environment.running_source(), environment.base_python()
    if not plan.state.is_current and not environment.apply(system, source, python, plan.state):
        system.say("psutil is not available for this machine; /proc is read instead.")
    if plan.state.build and plan.here.program is not None:
        # One that fails costs time only: kitty compiles them itself when it starts, as far as it may write there.
        kitty.compile_modules(system, plan.here.program, install_paths.layout(system).lib)
    if plan.edit is not None:
        kitty_conf.apply(system, plan.edit)
    if wezterm.is_stale(plan.beside):
        wezterm.apply(system, plan.beside)
    if plan.has_unit and (problem := unit.apply(system)):
        system.say(f"{system.short(unit.file(system))} was created, but does not run: {problem}")


def _offer_tab_bar(system: System) -> bool:
    """Ask whether kitty is to show its tab bar always, with a picture of it."""
    tab = f" {lights.MARKS[Status.WAITING]} api "
    if colours.are_wanted(system.env, is_terminal=sys.stdout.isatty()):
        amber = lights.COLOURS[Status.WAITING]
        text = lights.sgr_foreground(contrast.readable_on(amber))
        tab = f"{lights.sgr_background(amber)}{text}{tab}\x1b[39;49m"
    system.say(
        "\nkitty shows no tab bar while there is one tab; its light is in the title of the window then."
        f"\nWith `{environment.TAB_BAR}` the bar is always there:\n\n    {tab}\n"
    )
    return bool(system.ask("Show the tab bar with one tab, too?"))


def _report_next(system: System, plan: _Plan) -> None:
    """Start Tallylight in the kitty around us, if possible; else print the remaining steps."""
    running = plan.running
    if not plan.here.is_here:
        if plan.beside.is_here:
            first = "" if plan.beside.uses_us else "save these lines in your WezTerm configuration, then "
            system.say(f"\nNext: {first}run `tally doctor` in WezTerm.")
        return
    if plan.edit is None and plan.state.build:
        system.say("\nA running kitty keeps the previous release until you restart it; `tally doctor` lists them.")
        return
    place = install_paths.layout(system)
    if running is not None and running_kitty.take_over(system, place, plan.here, plan.answer, running):
        system.say("\nThis kitty runs Tallylight now, and its open windows have lights. Run `tally doctor` to check.")
        return
    keys = free_keys.rows([binding for binding in plan.bindings if binding.action.name == "agents"], plan.answer)
    press = f"press {keys[0][0]} once, or open a new tab" if keys else "open a new tab"
    if running is not None:
        system.say(f"\nNext: {press}. Then all open windows have lights. Run `tally doctor` to check.")
        return
    system.say(
        "\nNext, in each running kitty: reload its configuration (ctrl+shift+f5), then"
        f"\n{press}. Now all its windows have lights. Run `tally doctor` there to check."
    )


def _refusal(system: System, *, yes: bool, dry_run: bool) -> int | None:
    """Ask whether to make the shown changes; return the exit status if they are not made, else None."""
    if dry_run:
        system.say("\nDry run: nothing was changed.")
        return DONE
    return None if system.agrees(yes=yes) else FAILED


def _show(system: System, plan: _Plan) -> None:
    """Show every change; raises `TallyError` if a requirement is not available."""
    if plan.state.build:
        dependencies.check(system)
    place, state, edit = install_paths.layout(system), plan.state, plan.edit
    system.say(f"tallylight {tallylight.__version__} will")
    if state.build:
        system.say(f"  install itself, attrs and psutil into {system.short(place.data)}")
    elif set(state.stale) - {place.command}:
        system.say(f"  repair its files in {system.short(place.data)}")
    if place.command in state.stale:
        system.say(f"  link {system.short(place.command)} to its command")
    if edit is not None:
        system.say(f"  {'change' if edit.before is not None else 'make'} {system.short(edit.path)}:\n")
        system.say(edit.diff(system.short(edit.path)).rstrip("\n"))
    if wezterm.is_stale(plan.beside):
        system.say(f"  link {system.short(plan.beside.link)} to its Lua files, for WezTerm")
    if plan.has_unit:
        system.say(f"  make {system.short(unit.file(system))} and start it (systemctl --user): it watches tmux")
    if plan.bindings != environment.present_keys(place):
        system.say("\n" * (edit is not None) + "  bind keys that are free in your kitty, in a separate file:\n")
        system.say("\n".join(f"    {key:<20}{what}" for key, what in free_keys.rows(plan.bindings, plan.answer)))
    if plan.running is not None:
        system.say("  have this kitty read its configuration again")
    if state.has_tab_bar != environment.has_tab_bar(place):
        system.say(f"  {'add' if state.has_tab_bar else 'remove'} `{environment.TAB_BAR}` there")


def _report(system: System, plan: _Plan) -> None:
    """Print the state after the setup."""
    system.say("")
    here, place = plan.here, install_paths.layout(system)
    beside = wezterm.look(system)
    _report_terminal(system, here, has_other=beside.is_here)
    known: Sequence[Mapping[str, Any]] = names.NAMES
    agents = [one["name"] for one in known if any(map(system.which, one.get("processes", (one["name"],))))]
    system.say(f"  agents      {', '.join(agents) if agents else 'none found on PATH; they need no setup'}")
    if agents:
        system.say("              they need no setup; `tally hooks install` makes them report their status themselves")
    for line in wezterm.lines(system, beside):
        system.say(line)
    command = system.short(place.command)
    if plan.state.foreign_command:
        system.say(f"  command     {system.short(place.launcher)}")
        system.say(f"              {command} was not made by Tallylight and was not changed")
    else:
        system.say(f"  command     {command}")
        folder = place.command.parent
        if str(folder) not in system.env.get("PATH", "").split(os.pathsep):
            system.say(f"              {system.short(folder)} is not on your PATH: add it to use `tally` by name")
    if here.is_here:
        _report_keys(system, plan.bindings, plan.answer)


def _report_terminal(system: System, here: kitty.Kitty, *, has_other: bool) -> None:
    """Print where the lights are: in kitty, else in tmux, unless there is another terminal."""
    if here.is_here:
        name = here.version_text or ("found" if here.program else "its program was not found")
        system.say(f"  kitty       {name}; set up in {system.short(here.conf)}")
        if here.version and here.version[:2] < kitty.OLDEST:
            oldest = ".".join(map(str, kitty.OLDEST))
            system.say(f"              older than {oldest}, the oldest that is tested: update kitty")
    elif system.which("tmux") is not None and not has_other:
        watched = f"watched by {unit.NAME}, from each login on; " if unit.is_there(system) else ""
        system.say(f"  tmux        {watched}`tally setup --with tmux` adds keys and the lights of its windows")
    elif not has_other:
        system.say("  kitty       not found: install it or WezTerm, then run `tally setup` again")


def _report_keys(system: System, bindings: list[Binding], answer: free_keys.Answer | None) -> None:
    """Print the keys with their actions, and problems with them."""
    for number, (key, what) in enumerate(free_keys.rows(bindings, answer)):
        system.say(f"  {'' if number else 'keys':<12}{key:<20}{what}")
    if not bindings:
        system.say(f"  {'keys':<12}none bound")
    for problem in free_keys.impossible(system, answer):
        system.say(f'{"":<14}{problem}; write it as in kitty.conf: "ctrl+shift+y"')
    if lacking := free_keys.lacking(system, bindings):
        why = "kitty did not report which keys are free" if answer is None else f"no free key for {', '.join(lacking)}"
        system.say(f"{'':<14}{why}: set some in [keys]")
        system.say(f"{'':<14}of {system.short(directories.config_file(system.env))}, then run this again")


def _undo(system: System, *, yes: bool, dry_run: bool, everything: bool) -> int:
    """Plan what to take back, show it, and do it once the person agrees."""
    wiring = kitty_conf.plan_undo(system, kitty.find_conf(system))
    place = install_paths.layout(system)
    taken = _edits_of_parts(system)
    is_there = os.path.lexists(place.data) or os.path.lexists(place.command) or bool(completions.installed(system))
    goes = everything and is_there
    linked, watched = not wezterm.is_undone(system), unit.is_there(system)
    if not any((wiring, taken, linked, watched, goes)):
        system.say("Tallylight is not in kitty.conf or any agent's settings; nothing changed.")
        _report_kept_environment(system)
        return DONE
    _show_undo_plan(system, wiring, [edit for _, edit in taken], linked=linked, everything=everything)
    if (refusal := _refusal(system, yes=yes, dry_run=dry_run)) is not None:
        return refusal
    for edit in wiring:
        kitty_conf.undo(system, edit)
        system.say(user_file.taken_back(system, edit, "lines"))
    if any(map(_is_of_kitty, wiring)):
        _report_running(system, running_kitty.give_back(system))
    for part, edit in taken:
        system.say(part.undo(system, edit))
    for path in wezterm.undo(system) if linked else ():
        system.say(f"{system.short(path)} removed.")
    if watched:
        unit.undo(system)
        system.say(f"{system.short(unit.file(system))} removed.")
    if everything:
        _remove_everything(system)
    else:
        _report_kept_environment(system)
    return DONE


def _edits_of_parts(system: System) -> list[tuple[Any, Edit]]:
    """Return the edits that parts made in the person's files, each with its part; print unreadable files."""
    taken = []
    for part in index.undoing():
        edits, problems = part.plan(system)
        taken += [(part, edit) for edit in edits]
        for problem in problems:
            system.say(str(problem))
    return taken


def _remove_everything(system: System) -> None:
    """Remove Tallylight itself, and print which files of the person stay."""
    for path in environment.remove(system):
        system.say(f"{system.short(path)} removed.")
    completions.remove(system)
    index.discard(system.env)
    if directories.config_dir(system.env).exists():
        system.say(f"Your own settings in {system.short(directories.config_dir(system.env))} were not changed.")
    _report_state(system)


def _report_state(system: System) -> None:
    """Print which data stays, and where."""
    state = directories.state_dir(system.env)
    kept = sorted(str(path.relative_to(state)) for path in state.rglob("*") if path.is_file())
    if kept:
        more = [f"{len(kept) - MAX_NAMED_FILES} more"] if len(kept) > MAX_NAMED_FILES else []
        held = ", ".join([*kept[:MAX_NAMED_FILES], *more])
        system.say(f"{system.short(state)} was kept; it holds {held}. Delete it if you do not want it.")


def _report_running(system: System, count: int) -> None:
    """Print the effect on the *count* kittys that reload their configuration."""
    if count:
        system.say("Every kitty with lights reloads its configuration: its lights go out, and its keys are free.")
    else:
        system.say("A running kitty keeps its lights and keys until you reload its configuration (ctrl+shift+f5).")


def _show_undo_plan(
    system: System, wiring: Sequence[Edit], taken: Sequence[Edit], *, linked: bool, everything: bool
) -> None:
    """Show all that the undo will change, as diffs and sentences; *taken*: the edits in files of parts."""
    for line in wezterm.warning(system):
        system.say(line)
    for edit in (*wiring, *taken):
        if edit in wiring and edit.goes:
            system.say(f"{system.short(edit.path)} was made by Tallylight and will be removed.")
        system.say(edit.diff(system.short(edit.path)).rstrip("\n"))
    if any(map(_is_of_kitty, wiring)):
        system.say("Every kitty with lights will reload its configuration.")
    if unit.is_there(system):
        system.say(f"{system.short(unit.file(system))} will be stopped and removed.")
    if linked:
        system.say(f"The link {system.short(wezterm.look(system).link)} will be removed; your own Lua is not changed.")
    if everything:
        place = install_paths.layout(system)
        system.say(f"{system.short(place.data)} and the link {system.short(place.command)} will be removed.")
        if pages := completions.installed(system):
            system.say(f"So will completions and manual pages: {', '.join(map(system.short, pages))}.")


def _is_of_kitty(edit: Edit) -> bool:
    return edit.path.name != "tmux.conf" and edit.path.name != ".tmux.conf"


def _report_kept_environment(system: System) -> None:
    """Print that the private environment stays, and how to remove it."""
    place = install_paths.layout(system)
    if place.data.exists():
        system.say(f"{system.short(place.data)} was kept; `tally setup --uninstall` removes it too.")
