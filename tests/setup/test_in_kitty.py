"""install.sh and `tally doctor` in a real kitty: from a kitty that knows nothing to a light that arrives."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import attr
import attrs
import psutil
import pytest

from tests.real_kitty.conftest import MakeKitty, kitty_version, make_kitty
from tests.real_kitty.desk import LIGHTS, send
from tests.real_kitty.harness import Kitty
from tests.real_kitty.roots import CHECKOUT

#: Either is a whole way from nothing to a light.
IN_ONE_KITTY = {
    "test_from_a_clone_to_the_first_light": "0.48",
    "test_from_a_bare_kitty_to_a_light_that_arrives": "0.41",
}

__all__ = ["kitty_version", "make_kitty"]

pytestmark = pytest.mark.kitty

#: Stands for the network: "installs" what the tests' own environment has.
UV = """#!/bin/sh
while [ "$1" != --target ]; do shift; done
mkdir -p "$2" && cp -r {packages}/. "$2"
"""

CONFIG = (
    "# a comment\ntab_bar_style powerline\r\nallow_remote_control socket-only\ninclude nothing.conf\nmap f1 new_tab"
)


@pytest.fixture
def kitty(make_kitty: MakeKitty) -> Kitty:
    """A kitty without us, in a home in which install.sh needs no network."""
    kitty = make_kitty(CONFIG, start=False)
    kitty.kitty_conf.write_bytes(CONFIG.encode())
    packages = kitty.directory / "packages"
    for module in (attr, attrs, psutil):
        folder = Path(str(module.__file__)).parent
        shutil.copytree(folder, packages / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    uv = kitty.home / ".local/bin/uv"
    uv.parent.mkdir(parents=True)
    uv.write_text(UV.format(packages=packages))
    uv.chmod(0o755)
    return kitty.start()


def bound(kitty: Kitty) -> list[str]:
    """What the keys of the kitty do, in words."""
    modes = "boss.mappings.keyboard_modes.values()"
    return list(kitty.eval(f"return [str(d.definition) for m in {modes} for ds in m.keymap.values() for d in ds]"))


def doctor(kitty: Kitty) -> dict[str, dict[str, str]]:
    """The findings of `tally doctor`, run in a new tab, by name."""
    out = kitty.directory / "findings.json"
    out.unlink(missing_ok=True)
    command = f'tally doctor --json > "{out}.part" 2>&1; mv "{out}.part" "{out}"'
    window = kitty.launch("sh", "-c", command + "; exec cat")
    kitty.wait_until(out.exists, 30, "the findings of tally doctor")
    kitty.close_window(window)
    return {row["what"]: row for row in json.loads(out.read_text())["findings"]}


def test_from_a_bare_kitty_to_a_light_that_arrives(kitty: Kitty) -> None:
    """
    Installed from a window of a running kitty: the windows that are open have lights, without a restart, and every
    check is ok; undone, the bytes are back.
    """
    before, told = kitty.launch("cat", tab_title="before"), kitty.directory / "told"
    kitty.eval(f"boss.window_id_map[{before}].set_user_var('tally', 'state=working;tool=mine')")
    script = str(CHECKOUT / "install.sh")
    kitty.launch("sh", "-c", f'sh "{script}" --yes > "{told}.part" 2>&1; mv "{told}.part" "{told}"; exec cat')
    kitty.wait_until(told.exists, 120, "the end of install.sh")
    text = told.read_text()
    assert "Done." in text
    assert "runs Tallylight now, and its open windows have lights" in text
    assert "ctrl+shift+y" in text

    # What was said before is heard, and what is said now.
    kitty.wait_until(lambda: kitty.user_vars(before).get("tally_status") == "working", 10, "what was said before")
    send(kitty, before, "state=waiting;tool=mine")
    kitty.wait_until(lambda: kitty.user_vars(before).get("tally_status") == "waiting", 10, "what is said now")
    found = doctor(kitty)
    assert {name: row["text"] for name, row in found.items() if row["health"] != "ok"} == {
        "completions": "are not installed"
    }, kitty.log
    assert "ctrl+shift+y jump, " in found["keys"]["text"]
    assert "arrived in kitty-" in found["light"]["text"]

    def lists() -> list[str]:
        return [window["title"] for window in kitty.windows() if window["title"] == "Agents"]

    kitty.xdotool("key", "--clearmodifiers", "ctrl+shift+a", "p")
    kitty.wait_until(lists, 30, "the panel")

    # Taken back from a window: the lights go out, and the keys are the person's again, without a restart.
    told.unlink()
    assert any("tallylight" in key for key in bound(kitty))
    kitty.launch(
        "sh", "-c", f'sh "{script}" --uninstall --yes > "{told}.part" 2>&1; mv "{told}.part" "{told}"; exec cat'
    )
    kitty.wait_until(told.exists, 60, "the end of the uninstallation")
    assert kitty.kitty_conf.read_bytes() == CONFIG.encode()
    assert "its lights go out, and its keys are free" in told.read_text()
    assert "history/turns.jsonl" in told.read_text()
    kitty.wait_until(lambda: "tally_status" not in kitty.user_vars(before), 10, "the end of the lights")
    kitty.wait_until(lambda: not any("tallylight" in key for key in bound(kitty)), 10, "the end of the keys")
    kitty.wait_until(lambda: not lists(), 10, "the end of the panel")
    lights = set(LIGHTS.values())
    kitty.wait_until(lambda: not lights & {c for tab in kitty.tab_colours().values() for c in tab}, 10, "dark tabs")
    send(kitty, before, "state=waiting;tool=mine")
    kitty.launch("cat")
    assert "tally_status" not in kitty.user_vars(before)


def test_from_a_clone_to_the_first_light(kitty: Kitty) -> None:
    """
    With a stopwatch, as a new user in a kitty that runs, without downloads: `git clone`, install.sh, another tab whose
    program asks, and its light on the screen. docs/measurements.md has the seconds that are printed here.
    """
    started = time.monotonic()
    clone, told = kitty.directory / "tallylight", kitty.directory / "told"
    subprocess.run(["git", "clone", "--quiet", CHECKOUT, clone], check=True)
    cloned = time.monotonic()
    first = kitty.windows()[0]["id"]
    kitty.send_text(first, f'sh "{clone}/install.sh" --yes > "{told}.part" 2>&1; mv "{told}.part" "{told}"\r')
    kitty.wait_until(told.exists, 120, "the end of install.sh")
    assert "Done." in told.read_text()
    installed = time.monotonic()
    asks = kitty.launch("sh", tab_title="asks", keep_focus=True)
    kitty.send_text(asks, "tally emit waiting --tool mine --message 'Go on?'; read -r answer\r")
    tab = kitty.tab_of(asks)
    kitty.wait_until(lambda: LIGHTS["waiting"] in kitty.tab_colours().get(tab, []), 60, "an amber tab")
    lit = time.monotonic()
    seconds = (cloned - started, installed - cloned, lit - installed)
    sys.stdout.write("kitty {}: clone {:.1f} s, install {:.1f} s, light {:.1f} s\n".format(kitty.version, *seconds))
    assert lit - started < 60
