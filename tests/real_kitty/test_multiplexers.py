"""`tally emit` inside a real tmux and a real GNU Screen inside a real kitty."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from tallylight.evidence.titles import SPINNER_TURN_S
from tallylight.snapshot import writer
from tests.real_kitty.asking_claude import install_asking_claude
from tests.real_kitty.desk import Desk
from tests.real_kitty.roots import CHECKOUT

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    """A kitty with steady lights."""
    desk = Desk(kitty_version, "tab_bar_style fade\n", "[kitty]\npulse = false\nstyle = 'stripe'\n", size=(1000, 400))
    yield desk
    desk.close()


def tmux(desk: Desk, passthrough: str, script: str) -> int:
    """A tab with a tmux server of its own that runs a shell script; its window."""
    conf = desk.kitty.home / "tmux.conf"
    conf.write_text(f"set -g allow-passthrough {passthrough}\n")
    socket = desk.kitty.home / f"tmux-{passthrough}"
    argv = ["tmux", "-S", str(socket), "-f", str(conf), "new-session", f"{script}; exec cat"]
    return desk.kitty.launch(*argv, keep_focus=True, tab_title="tmux")


def test_tmux_with_passthrough_lights_the_tab(desk: Desk) -> None:
    """With `allow-passthrough on`, what is emitted in tmux is the light of the tab around it."""
    window = tmux(desk, "on", "tally emit waiting --tool claude --kind permission")
    desk.wait_status(window, "waiting")

    assert desk.kitty.user_vars(window)["tally_kind"] == "permission"
    desk.wait_colours({desk.kitty.tab_of(window): "waiting"})
    desk.kitty.close_window(window)


def test_tmux_without_passthrough_is_found_out(desk: Desk) -> None:
    """With `allow-passthrough off` no light comes, and `tally doctor` says why and what to do."""
    window = tmux(desk, "off", "tally emit waiting; tally doctor > doctor.txt; touch ended")
    desk.kitty.wait_until((desk.kitty.home / "ended").exists, 60, "the doctor's end")
    said = (desk.kitty.home / "doctor.txt").read_text()

    assert "allow-passthrough is off: agents in tmux are heard all the same" in said
    assert "tmux set -g allow-passthrough on" in said
    assert "~/.tmux.conf" in said
    assert "not sent: tmux would drop it" in said
    desk.let_pass(0.5)
    assert desk.status(window) == ""
    assert "tally" not in desk.kitty.user_vars(window)
    desk.kitty.close_window(window)


def test_the_doctors_light_arrives_through_tmux(desk: Desk) -> None:
    """With `allow-passthrough on` the doctor's own light is seen to arrive, and leaves nothing behind."""
    window = tmux(desk, "on", "tally doctor > doctor-on.txt; touch ended-on")
    desk.kitty.wait_until((desk.kitty.home / "ended-on").exists, 60, "the doctor's end")
    said = (desk.kitty.home / "doctor-on.txt").read_text()

    assert "allow-passthrough is on" in said
    # Whichever host hears it first: kitty by way of tmux, or the one that reads the output of tmux's panes.
    assert re.search(rf"sent from here, arrived in (?:kitty[-0-9]*:{window}|sessions-\d+:tmux/\S+) ", said), said
    desk.wait_status(window, "")
    desk.kitty.close_window(window)


def test_screen_lights_the_tab(desk: Desk) -> None:
    """What is emitted in GNU Screen, however long, is the light of the tab around it."""
    home = desk.kitty.home
    rc, folder = home / "screenrc", home / "screens"
    rc.write_text("startup_message off\n")
    folder.mkdir(mode=0o700)
    script = f"tally emit waiting --tool codex --kind question --message {'m' * 2000}; exec cat"
    window = desk.kitty.launch(
        "screen", "-c", str(rc), "sh", "-c", script, keep_focus=True, tab_title="screen", env={"SCREENDIR": str(folder)}
    )
    desk.wait_status(window, "waiting")

    assert desk.kitty.user_vars(window)["tally_agent"] == "codex"
    assert desk.kitty.user_vars(window)["tally"].endswith("m" * 2000)
    desk.wait_colours({desk.kitty.tab_of(window): "waiting"})
    desk.kitty.close_window(window)


def test_an_agent_in_tmux_lights_the_tab_without_any_report(desk: Desk) -> None:
    """Nothing gets through tmux, and nothing in it knows of us: kitty has it watched, by whichever socket it is."""
    kitty = desk.kitty
    agent = kitty.home / ".local/bin/claude"
    titles = ("printf '\\033]2;%s Fix the rounding\\007' " + glyph + "\nread -r line\n" for glyph in "◐✳")
    agent.write_text("#!/bin/sh\n" + "".join(titles))
    agent.chmod(0o755)
    window = tmux(desk, "off", "exec claude")
    tab = kitty.tab_of(window)
    other = kitty.launch("cat", tab_title="other", keep_focus=True)
    kitty.wait_until(lambda: "●" in desk.bar(), 30, "the mark of work")
    kitty.eval(f"boss.tab_for_id({tab}).set_title('')")
    kitty.wait_until(lambda: "Fix the rounding" in desk.bar(), 10, "the title of the pane in tmux")
    desk.let_pass(2 * SPINNER_TURN_S)  # what is shorter is no turn of an agent that has just started
    kitty.send_text(window, "\r")
    kitty.wait_until(lambda: "✓" in desk.bar(), 30, "the mark of a turn that is done")
    kitty.close_window(window)
    kitty.close_window(other)


def test_tmux_is_found_by_itself(desk: Desk) -> None:
    """Nobody has started a host of sessions: kitty does, as a child, for the tmux that its window shows."""
    kitty = desk.kitty
    folder = kitty.home / "tmux-folder"
    folder.mkdir(mode=0o700)
    install_asking_claude(kitty.home)
    env = {"TMUX_TMPDIR": str(folder)}
    window = kitty.launch("tmux", "new-session", "-s", "shop", "claude", env=env, tab_title="tmux")
    tab = kitty.tab_of(window)
    other = kitty.launch("cat", tab_title="other")
    desk.wait_colours({tab: "waiting", kitty.tab_of(other): ""})
    # This kitty has a pid namespace of its own, so from out here nothing proves who wrote a snapshot.
    hosts = [writer.read(path) for path in (kitty.runtime_dir / "tallylight").glob("sessions-*.json")]

    assert ("shop", "waiting", "claude") in [
        (pane.place.host_title, pane.status, pane.agent) for pane in hosts[0].panes
    ]
    parent = kitty.eval(f"import os\nreturn open('/proc/{hosts[0].pid}/stat').read().split()[3] == str(os.getpid())")
    assert parent is True and len(hosts) == 1
    kitty.run(["tmux", "kill-server"], env=env)
    desk.wait_colours({kitty.tab_of(other): ""})
    kitty.close_window(other)


#: An agent that works until it reads a line from a named pipe; it says both in its title.
_TITLED = r"""#!/bin/sh
printf '\033]2;◐ {what}\007'
read -r line < "$HOME/{pipe}"
printf '\033]2;✳ {what}\007'
read -r line
"""
#: What a person sees in the first window, once they press Enter.
_SHELL = r"""stty -echo; printf '\n \033[34m~\033[m \033[32m❯\033[m '
read -r go; echo tally status; tally status; exec cat"""


def test_the_status_line_of_the_documentation(desk: Desk) -> None:
    """The lines of docs/places.md show the light of each window of tmux: one asks, one works, one is done."""
    kitty, home = desk.kitty, desk.kitty.home
    page = (CHECKOUT / "docs/places.md").read_text("utf-8")
    (lines,) = re.findall(r"^```tmux\n(# ~/.tmux.conf\n.*?)^```", page, re.M | re.S)
    conf = home / "documented.conf"
    conf.write_text(
        f"set -g status-style 'bg=#23272f fg=#aab0bc'\nset -g status-right ''\nset -g status-position top\n{lines}"
    )
    install_asking_claude(home)
    words = ["tmux", "-S", str(home / "documented"), "-f", str(conf), "new-session", "-n", "zsh", "sh", "-c", _SHELL]
    for name, what in {"shop": "", "api": "Fix the rounding", "docs": "Rewrite the tutorial"}.items():
        program = home / name / "claude"
        program.parent.mkdir()
        if what:
            program.write_text(_TITLED.format(pipe=f"{name}/pipe", what=what))
            program.chmod(0o755)
            os.mkfifo(program.with_name("pipe"))
        words += [";", "new-window", "-d", "-n", name, "-c", str(program.parent), str(program) if what else "claude"]
    window = kitty.launch(*words, tab_title="tmux")

    def has(*lights: str) -> bool:
        return all(light in kitty.get_text(window).splitlines()[0] for light in lights)

    kitty.wait_until(lambda: has("!  1:shop", "● 2:api", "● 3:docs"), 60, "the lights")
    desk.let_pass(2 * SPINNER_TURN_S)
    (home / "docs/pipe").write_text("\n")
    kitty.wait_until(lambda: has("!  1:shop", "● 2:api", "✓ 3:docs"), 30, "the end of a turn")
    kitty.send_text(window, "\r")
    kitty.wait_text(window, "Rewrite the tutorial")
    kitty.wait_text(window, "waited")
    desk.keep(kitty.screenshot().crop((0, 0, 1000, 200)), "tmux")
    kitty.close_window(window)
