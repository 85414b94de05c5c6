"""
`tally setup`: install what kitty needs, wire kitty, and take both back.

It looks first and shows everything it would do, asks once, does it, and ends by saying what it found. Run again it
finds nothing to do. `install.sh` runs this from the checkout, so it imports nothing but the standard library.
"""

from __future__ import annotations

import argparse
import datetime
import os
from collections.abc import Sequence

import tallylight
from tallylight.config.key_bindings import Binding
from tallylight.files import directories, extras, install_paths, managed_block
from tallylight.files.system import World
from tallylight.hooks import install, remove
from tallylight.model.errors import TallyError
from tallylight.setup import environment, free_keys, kitty, kitty_conf, wezterm
from tallylight.setup.agents import installed_agents

DONE, FAILED = 0, 1


def main(argv: Sequence[str], world: World | None = None) -> int:
    """Run `tally setup` with these arguments."""
    parser = argparse.ArgumentParser(
        prog="tally setup",
        description="Install this for you alone and wire your terminals: one include in kitty.conf, one link for "
        "WezTerm. Every change is shown first.",
        allow_abbrev=False,
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done and do nothing")
    parser.add_argument("--undo", action="store_true", help="take our lines out of kitty.conf and agents' files again")
    parser.add_argument("--uninstall", action="store_true", help="--undo, and remove everything we installed")
    parser.add_argument(
        "--with",
        dest="extras",
        action="append",
        default=[],
        choices=sorted(extras.EXTRAS),
        help="fetch what `tally serve`, or a fleet (`tally publish`, --broker), needs beside the rest; nothing else",
    )
    options = parser.parse_args(list(argv))
    world = world or World()
    if not options.dry_run:
        _refuse_anothers_home(world, yes=options.yes)
    for name in options.extras:
        if options.dry_run:
            world.say(f"Dry run: {', '.join(extras.EXTRAS[name])} would be installed; nothing was changed.")
            continue
        folder = environment.add_extra(world, environment.base_python(), name)
        world.say(f"{', '.join(extras.EXTRAS[name])} installed into {world.short(folder)}.")
    if options.extras:
        return DONE
    if options.undo or options.uninstall:
        return _undo(world, yes=options.yes, dry_run=options.dry_run, everything=options.uninstall)
    return _setup(world, yes=options.yes, dry_run=options.dry_run)


def _refuse_anothers_home(world: World, *, yes: bool) -> None:
    """`sudo ./install.sh` keeps HOME on some systems, and would leave files of root's in it."""
    try:
        owner = world.home.stat().st_uid
    except OSError as error:
        raise TallyError(f"the home directory {world.home} cannot be used: {error.strerror}") from None
    if owner != os.geteuid() and not yes:
        raise TallyError(
            f"{world.home} is the home of user {owner}, and you are user {os.geteuid()}: run this without sudo "
            "(or with --yes if you mean it)"
        )


def _setup(world: World, *, yes: bool, dry_run: bool) -> int:
    source = environment.running_source()
    python = environment.base_python()
    here = kitty.look(world)
    bindings, answer = free_keys.plan(world, install_paths.layout(world), here)
    was = environment.present_keys(install_paths.layout(world))
    state = environment.look(world, source, python, bindings)
    edit = kitty_conf.plan(world, here.conf) if here.is_here else None
    beside = wezterm.look(world)
    links = wezterm.is_stale(beside)
    if state.is_current and edit is None and not links:
        world.say(f"tallylight {tallylight.__version__} is installed and up to date; nothing changed.")
        _tell_what_is_there(world, here, state)
        _tell_keys(world, here, bindings, answer)
        return DONE
    _show(world, state, edit)
    if links:
        world.say(f"  link {world.short(beside.link)} to its Lua files, for WezTerm")
    if bindings != was:
        gap = "" if edit is None else "\n"
        world.say(f"{gap}  bind keys that are free in your kitty, in a file of its own:\n")
        world.say("\n".join(f"    {key:<20}{what}" for key, what in free_keys.rows(bindings, answer)))
    if (refusal := _refusal(world, yes=yes, dry_run=dry_run)) is not None:
        return refusal
    if not state.is_current and not environment.apply(world, source, python, state):
        world.say("psutil has no build for this machine; /proc is read instead.")
    if edit is not None:
        kitty_conf.apply(world, edit)
    if links:
        wezterm.apply(world, beside)
    world.say("\nDone.")
    _tell_what_is_there(world, here, state)
    _tell_keys(world, here, bindings, answer)
    if here.is_here:
        world.say(
            "\nNext: restart kitty, then run `tally doctor` in it. Or reload kitty's configuration (ctrl+shift+f5)"
            "\nand open a new tab; tabs that are open already may stay dark until the restart."
        )
    return DONE


def _refusal(world: World, *, yes: bool, dry_run: bool) -> int | None:
    """Ask whether to do what was shown; give the exit status if it is not to be done."""
    if dry_run:
        world.say("\nDry run: nothing was changed.")
        return DONE
    answer = yes or world.ask("\nGo ahead?")
    if answer:
        return None
    hint = " There is nobody to ask here: run it again with --yes." if answer is None else ""
    world.say(f"Nothing was changed.{hint}")
    return FAILED


def _show(world: World, state: environment.State, edit: kitty_conf.Edit | None) -> None:
    place = install_paths.layout(world)
    world.say(f"tallylight {tallylight.__version__} will")
    if state.build:
        world.say(f"  install itself, attrs and psutil into {world.short(place.data)}")
    elif set(state.stale) - {place.command}:
        world.say(f"  repair its files in {world.short(place.data)}")
    if place.command in state.stale:
        world.say(f"  link {world.short(place.command)} to its command")
    if edit is not None:
        world.say(f"  {'change' if edit.before is not None else 'make'} {world.short(edit.path)}:\n")
        world.say(edit.diff(world.short(edit.path)).rstrip("\n"))


def _tell_keys(world: World, here: kitty.Kitty, bindings: list[Binding], answer: free_keys.Answer | None) -> None:
    if not here.is_here:
        return
    for number, (key, what) in enumerate(free_keys.rows(bindings, answer)):
        world.say(f"  {'' if number else 'keys':<12}{key:<20}{what}")
    if not bindings:
        world.say(f"  {'keys':<12}none bound")
    if lacking := free_keys.lacking(world, bindings):
        why = "kitty did not tell which keys are free" if answer is None else f"no free key for {', '.join(lacking)}"
        world.say(f"{'':<14}{why}: name some in [keys]")
        world.say(f"{'':<14}of {world.short(directories.config_file(world.env))}, then run this again")


def _tell_what_is_there(world: World, here: kitty.Kitty, state: environment.State) -> None:
    world.say("")
    if not here.is_here:
        world.say("  kitty       not found: install it, then run `tally setup` again")
    else:
        name = here.version_text or ("found" if here.program else "its program was not found")
        world.say(f"  kitty       {name}; wired in {world.short(here.conf)}")
        if here.version and here.version[:2] < kitty.OLDEST:
            world.say(f"              older than {'.'.join(map(str, kitty.OLDEST))}, the oldest we test: update kitty")
    agents = installed_agents(world)
    world.say(f"  agents      {', '.join(agents) if agents else 'none found on PATH; they need no wiring'}")
    if agents:
        world.say("              they need no wiring; `tally hooks install` lets them tell their status themselves")
    for line in wezterm.lines(world, wezterm.look(world)):
        world.say(line)
    place = install_paths.layout(world)
    if state.foreign_command:
        world.say(f"  command     {world.short(place.launcher)}")
        world.say(f"              {world.short(place.command)} is not ours and was left alone")
        return
    world.say(f"  command     {world.short(place.command)}")
    if str(place.command.parent) not in world.env.get("PATH", "").split(os.pathsep):
        world.say(
            f"              {world.short(place.command.parent)} is not on your PATH: add it to use `tally` by name"
        )


def _undo(world: World, *, yes: bool, dry_run: bool, everything: bool) -> int:
    steps = kitty_conf.plan_undo(world, kitty.find_conf(world))
    place = install_paths.layout(world)
    taken, problems = remove.plan_removal(world, install.packaged())
    for problem in problems:
        world.say(str(problem))
    installed = os.path.lexists(place.data) or os.path.lexists(place.command)
    linked = not wezterm.is_undone(world)
    if not steps and not taken and not linked and not (everything and installed):
        world.say("Nothing of ours is in kitty.conf or any agent's settings; nothing changed.")
        _tell_how_to_remove_the_rest(world)
        return DONE
    for step in steps:
        name = world.short(step.path)
        if step.goes:
            world.say(f"{name} was made by us and goes.")
        world.say(
            managed_block.diff(name, managed_block.decode(step.before), managed_block.decode(step.after)).rstrip("\n")
        )
    for edit in taken:
        world.say(edit.diff(world.short(edit.path)).rstrip("\n"))
    if linked:
        world.say(f"The link {world.short(wezterm.look(world).link)} goes; your own Lua is left alone.")
    if everything:
        world.say(f"{world.short(place.data)} and the link {world.short(place.command)} go.")
    if (refusal := _refusal(world, yes=yes, dry_run=dry_run)) is not None:
        return refusal
    for step in steps:
        kitty_conf.undo(world, step)
        world.say(_told(world, step))
    for edit in taken:
        world.say(remove.undo(world, edit))
    for path in wezterm.undo(world) if linked else ():
        world.say(f"{world.short(path)} removed.")
    if everything:
        for path in environment.remove(world):
            world.say(f"{world.short(path)} removed.")
        if directories.config_dir(world.env).exists():
            world.say(f"Your own settings in {world.short(directories.config_dir(world.env))} were left alone.")
    else:
        _tell_how_to_remove_the_rest(world)
    return DONE


def _told(world: World, step: kitty_conf.Undone) -> str:
    name = world.short(step.path)
    if step.goes:
        return f"{name} removed: we had made it."
    if step.is_pristine:
        return f"{name} is again what it was, byte for byte."
    if step.entry is None:
        return f"{name}: our lines are out."
    when = datetime.datetime.fromtimestamp(step.entry.at).astimezone().strftime("%Y-%m-%d")
    kept = f" The file as it was before {when}: {step.entry.backup}" if step.entry.backup else ""
    if not step.before:
        return f"{name} is gone; there is nothing to take back.{kept}"
    return f"{name} was edited since we came: our lines are out, everything else was left alone.{kept}"


def _tell_how_to_remove_the_rest(world: World) -> None:
    place = install_paths.layout(world)
    if place.data.exists():
        world.say(f"{world.short(place.data)} stays; `tally setup --uninstall` removes it too.")
