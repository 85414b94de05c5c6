"""`tally doctor`: every fault has its finding and its remedy, and looking changes nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.cli import doctor, output, setup
from tallylight.model.finding import Finding, Health
from tallylight.model.status import Status
from tallylight.snapshot.schema import RecordEntry
from tallylight.snapshot.writer import Snapshot, SnapshotError
from tests.entries import new_pane, pane_with
from tests.setup.fakes import FakeSystem, make_system, tree

#: Long before and long after anything a test installs.
BEFORE, AFTER = 0.0, 1e12


@dataclasses.dataclass
class FakeWire:
    """A terminal whose kitty, if there is one, publishes what was sent after *delay* looks."""

    kitty: int | None = None
    started_at: float = AFTER
    has_terminal: bool = True
    delay: int = 2
    problems: list[SnapshotError] = dataclasses.field(default_factory=list)
    sent: list[dict[str, str]] = dataclasses.field(default_factory=list)
    slept: float = 0.0
    scripting: str = ""
    withheld: tuple[str, ...] = ()

    def send(self, fields: Mapping[str, str]) -> bool:
        self.sent.append(dict(fields))
        return self.has_terminal

    def snapshots(self) -> tuple[list[Snapshot], list[SnapshotError]]:
        if self.kitty is None:
            return [], self.problems
        records = ()
        if self.sent and self.slept >= self.delay * 0.05:
            records = (RecordEntry(id=self.sent[-1]["id"], status=Status.ACTIVE),)
        pane = new_pane(id="3", status=Status.ACTIVE, records=records)
        host = Snapshot(
            host="kitty",
            pid=self.kitty,
            started=self.started_at,
            written=0.0,
            allow=self.scripting,
            withheld=self.withheld,
            panes=(pane,),
        )
        return [host], self.problems

    def sleep(self, seconds: float) -> None:
        self.slept += seconds

    def started(self, pid: int) -> float | None:
        return self.started_at


@pytest.fixture
def system(home: Path) -> FakeSystem:
    """A machine on which `tally setup` has run."""
    system = make_system(home)
    place = home / ".local/bin"
    system = dataclasses.replace(system, env={**system.env, "PATH": f"{system.env['PATH']}:{place}"})
    assert setup.main(["--yes"], system) == 0
    system.said.clear()
    return system


def findings(system: FakeSystem, wire: FakeWire | None = None, **env: str) -> dict[str, Finding]:
    """What is not in order, by name; every fault has a remedy."""
    system = dataclasses.replace(system, env={**system.env, **env})
    found = {finding.what: finding for finding in doctor.examine(system, wire or FakeWire())}
    for finding in found.values():
        assert bool(finding.remedy) == (finding.is_fault or finding.health is Health.HINT)
    return found


@pytest.mark.slow
def test_set_up_machine_is_well(system: FakeSystem, home: Path) -> None:
    """After setup there is nothing to mend, and looking wrote nothing."""
    before = tree(home)

    assert doctor.main([], system, FakeWire()) == 0
    assert "No problems found, but no terminal with Tallylight is running." in system.text
    assert "start kitty or WezTerm" in system.text
    assert tree(home) == before
    system.said.clear()
    assert doctor.main([], system, FakeWire(kitty=7)) == 0
    assert system.text.endswith("No problems found.\n") or system.text.endswith("No problems found.")


def test_bare_machine_is_told_what_is_missing(home: Path) -> None:
    """Before setup the installation and the include are missing, and each line says what to run."""
    system = make_system(home)

    assert doctor.main([], system, FakeWire()) == 1
    assert "missing    installation" in system.text
    assert "missing    kitty.conf" in system.text
    assert "tally setup" in system.text


@pytest.mark.slow
def test_json_carries_a_version_and_the_same_findings(system: FakeSystem) -> None:
    """--json is one object with a version, a verdict, and a row for each finding."""
    assert doctor.main(["--json"], system, FakeWire()) == 0

    told = json.loads(system.text)
    assert (told["version"], told["ok"]) == (1, True)
    assert {"what", "health", "text", "remedy"} == set(told["findings"][0])


@pytest.mark.parametrize(
    ("edit", "health"),
    [
        (lambda text: "", Health.MISSING),
        (lambda text: text.replace("/.local/share/", "/elsewhere/"), Health.STALE),
        (lambda text: text + text, Health.DUPLICATE),
        (lambda text: text + text.splitlines()[1] + "\n", Health.DUPLICATE),
        (lambda text: text.replace("# END_TALLYLIGHT\n", ""), Health.BROKEN),
        (lambda text: text.splitlines()[1] + "\n", Health.OK),
        (lambda text: "include ${HOME}/.local/share/tallylight/kitty.conf\n", Health.OK),
        (lambda text: "include ~/.local/share/tallylight/kitty.conf\n", Health.OK),
    ],
)
def test_each_fault_of_kitty_conf_has_its_name(system: FakeSystem, home: Path, edit, health: Health) -> None:  # type: ignore[no-untyped-def]
    """No block, an old one, two, half of one: told apart. An include by hand is fine."""
    conf = home / ".config/kitty/kitty.conf"
    conf.write_text(edit(conf.read_text()))

    assert findings(system)["kitty.conf"].health is health


def test_a_kitty_conf_that_cannot_be_changed_is_told_so(
    system: FakeSystem, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tally setup` could not mend it: what it would say is said, with the line to add elsewhere."""
    conf = home / ".config/kitty/kitty.conf"
    conf.write_text("")
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith(str(conf.parent)))

    found = findings(system)["kitty.conf"]
    assert "cannot be changed" in found.text and "tally setup" not in found.remedy
    assert f"include {home}/.local/share/tallylight/kitty.conf" in found.remedy


def test_include_of_a_file_that_is_gone_is_broken(system: FakeSystem, home: Path) -> None:
    """The block alone is not enough: what it includes has to be there."""
    (home / ".local/share/tallylight/kitty.conf").unlink()

    assert findings(system)["kitty.conf"].health is Health.BROKEN
    assert findings(system)["installation"].health is Health.BROKEN


def test_damaged_installation_is_stale(system: FakeSystem, home: Path) -> None:
    """A file of the release that was changed is noticed."""
    (home / ".local/share/tallylight/lib/tallylight/model/status.py").write_text("")

    assert findings(system)["installation"].health is Health.STALE


def test_attrs_that_does_not_import_is_broken(system: FakeSystem, home: Path) -> None:
    """The packages are tried as kitty would, not looked for."""
    place = home / ".local/share/tallylight/lib/attrs"
    # Put aside, not written into: it may be a link to the attrs that these tests run with.
    place.rename(place.with_name("elsewhere"))
    place.mkdir()
    (place / "__init__.py").write_text("syntax error")

    assert findings(system)["attrs"].health is Health.BROKEN


@pytest.mark.parametrize(
    ("version", "health"),
    [
        ("kitty 0.40.2 created by Kovid Goyal", Health.STALE),
        ("kitty 0.41.1 created by Kovid Goyal", Health.OK),
        ("kitty 1.2.3 created by Kovid Goyal", Health.OK),
        ("command not found", Health.BROKEN),
    ],
)
def test_version_of_kitty_is_judged(system: FakeSystem, version: str, health: Health) -> None:
    """Older than the oldest tested is stale; newer is fine, and told."""
    assert findings(dataclasses.replace(system, kitty=version))["kitty"].health is health


def test_other_tally_on_the_path_is_told(system: FakeSystem, home: Path) -> None:
    """Another program named tally that comes first is a duplicate; no tally on PATH is missing."""
    other = home.parent / "other"
    other.mkdir()
    (other / "tally").write_text("#!/bin/sh\n")
    (other / "tally").chmod(0o755)

    assert findings(system, PATH=f"{other}:{system.env['PATH']}")["command"].health is Health.DUPLICATE
    assert findings(system, PATH="/nowhere")["command"].health is Health.MISSING


def test_fault_in_the_configuration_has_file_and_line(system: FakeSystem, home: Path) -> None:
    """A wrong key is named with its file and its line."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('# mine\nsilence_s = "four"\n')

    finding = findings(system)["config.toml"]
    assert finding.health is Health.BROKEN
    assert f"{config}:2" in finding.text


@pytest.mark.slow
def test_a_level_that_is_not_in_force_is_told(system: FakeSystem, home: Path) -> None:
    """A host that runs lets programs do less than the file says; one that lets them do as much, or more, is well."""
    path = home / ".config/tallylight/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('[scripting]\nallow = "ask"\n')
    for scripting, withheld, text in (
        ("own", ("scripting.allow",), 'scripting.allow is "ask" in config.toml, and "own" in force in kitty-1 until'),
        ("ask", ("notify.command",), "notify.command was changed in config.toml, but is not in force in kitty-1 until"),
        ("ask", (), ""),
        ("all", (), ""),
        ("", (), ""),
    ):
        found = findings(system, FakeWire(kitty=1, scripting=scripting, withheld=withheld)).get("in force")
        assert (found is not None and found.text.startswith(text)) if text else found is None, scripting


def test_unusable_agent_files_are_told(system: FakeSystem, home: Path) -> None:
    """An agent file that is not TOML, or leads nowhere, or is no file at all."""
    folder = home / ".config/tallylight/agents"
    folder.mkdir(parents=True)
    (folder / "a.toml").write_text("name = [")
    (folder / "b.toml").symlink_to("nowhere")
    (folder / "c.toml").mkdir()

    told = [f.text for f in doctor.examine(system, FakeWire()) if f.what == "agents" and f.health is Health.BROKEN]
    assert [next(name for name in ("a.toml:1", "b.toml", "c.toml") if name in text) for text in sorted(told)] == [
        "a.toml:1",
        "b.toml",
        "c.toml",
    ]


def test_light_that_arrives_is_told_with_its_pane(system: FakeSystem) -> None:
    """The report is found in the snapshot, its pane named, and it is withdrawn again."""
    wire = FakeWire(kitty=77)

    finding = findings(system, wire, KITTY_PID="77")["light"]

    assert finding.health is Health.OK
    assert "kitty-77:3" in finding.text
    assert [fields["state"] for fields in wire.sent] == ["waiting", "clear"]
    assert len({fields["id"] for fields in wire.sent}) == 1


def test_light_that_does_not_arrive_is_broken_and_withdrawn(system: FakeSystem) -> None:
    """After two seconds of looking, in a kitty of ours, the way is broken; nothing is left behind."""
    wire = FakeWire(kitty=77, delay=1000)

    finding = findings(system, wire, KITTY_PID="77")["light"]

    assert finding.health is Health.BROKEN
    assert wire.slept == pytest.approx(doctor.ARRIVES_S, abs=0.06)
    assert wire.sent[-1]["state"] == "clear"


def test_zellij_is_named(system: FakeSystem) -> None:
    """It has no way to pass sequences on: to restart kitty, as is said otherwise, would be of no use."""
    finding = findings(system, FakeWire(kitty=77, delay=1000), KITTY_PID="77", ZELLIJ="0")["light"]

    assert "Zellij" in finding.text and "restart" not in finding.remedy


def test_light_from_elsewhere_is_no_fault(system: FakeSystem) -> None:
    """Outside of kitty, or without any terminal, not arriving says nothing about the wiring."""
    assert findings(system, FakeWire(kitty=77, delay=1000))["light"].health is Health.SKIPPED
    assert findings(system, FakeWire(kitty=77, has_terminal=False))["light"].health is Health.SKIPPED


def test_kitty_from_before_is_stale(system: FakeSystem) -> None:
    """A kitty that was started before setup wants a restart, one that came after it and is silent is broken."""
    early = FakeWire(started_at=BEFORE)
    late = FakeWire(started_at=AFTER)

    assert findings(system, early, KITTY_PID="77")["this kitty"].health is Health.STALE
    assert findings(system, late, KITTY_PID="77")["this kitty"].health is Health.BROKEN


def test_kitty_that_runs_an_older_release_is_stale(system: FakeSystem) -> None:
    """After an update a kitty that runs goes on with what it has loaded, and that is told."""
    assert findings(system, FakeWire(kitty=77, started_at=BEFORE), KITTY_PID="77")["this kitty"].health is Health.STALE
    assert findings(system, FakeWire(kitty=77, started_at=AFTER), KITTY_PID="77")["this kitty"].health is Health.OK


def test_other_kittys_that_run_an_older_release_are_named(system: FakeSystem) -> None:
    """Each by its process, from whichever terminal the doctor is asked; one that came after is none."""
    found = findings(system, FakeWire(kitty=7, started_at=BEFORE))["kitty 7"]
    assert (found.health, found.text) == (Health.STALE, "still runs the previous installation")
    assert "kitty 7" not in findings(system, FakeWire(kitty=7))


def test_snapshot_that_cannot_be_read_is_told(system: FakeSystem, home: Path) -> None:
    """A damaged snapshot is named."""
    wire = FakeWire(problems=[SnapshotError(home / "kitty-1.json", "is not JSON")])

    assert findings(system, wire)["snapshots"].health is Health.BROKEN


@pytest.mark.parametrize(
    ("shown", "code", "health"),
    [("off", 0, Health.HINT), ("on", 0, Health.OK), ("all", 0, Health.OK), ("", 1, Health.SKIPPED)],
)
def test_tmux_passthrough_is_judged(system: FakeSystem, shown: str, code: int, health: Health) -> None:
    """With passthrough off nothing is broken, for agents in tmux are heard; no light is sent, since tmux drops it."""

    class WithTmux(FakeSystem):
        def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
            if command[0] != "tmux":
                return super().run(command, timeout)
            answer = shown if "-gv" in command else "tmux 3.2a" if "-V" in command else ""
            return subprocess.CompletedProcess([], code, answer, "")

    wire = FakeWire(kitty=77)
    found = findings(WithTmux(**vars(system)), wire, TMUX="/tmp/tmux-0/default,1,0", TERM="tmux-256color")

    assert found["tmux"].health is health
    assert bool(wire.sent) == (shown != "off")


def test_control_characters_of_a_file_do_not_reach_the_terminal(system: FakeSystem, home: Path) -> None:
    """What a broken file holds is quoted harmlessly."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('"\\u001b]0;x\\u0007" = 1\n')

    doctor.main([], system, FakeWire())

    assert not any(ord(char) < 32 and char != "\n" for char in system.text)


def test_a_notify_command_that_is_not_there(system: FakeSystem, home: Path) -> None:
    """A person who would be told nothing hears of it here."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[notify]\ncommand = ["/no/such/program", "-x"]\n')
    assert findings(system)["config.toml"].health is Health.BROKEN
    config.write_text('[notify]\ncommand = ["/bin/sh", "-x"]\n')
    assert findings(system)["config.toml"].health is Health.OK


def test_sessions_that_nobody_looks_after_are_told(system: FakeSystem) -> None:
    """Where there are detached sessions doctor says how they get a light, too; that is no fault."""

    class WithScreen(FakeSystem):
        def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
            if command[0] != "screen":
                return super().run(command, timeout)
            listed = "There is a screen on:\n\t7.build\t(Detached)\n1 Socket in /run/screen/S-me.\n"
            return subprocess.CompletedProcess([], 0, listed, "")

    found = findings(WithScreen(**vars(system)), FakeWire())["sessions"]
    assert (found.health, "tally host sessions" in found.remedy) == (Health.HINT, True)


def test_what_makes_an_agent_behind_ssh_exact(system: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is known by its screen alone is named by what it is behind, with what would tell more."""
    wire = FakeWire(kitty=4711)
    far = new_pane(id="3", status=Status.WAITING, agent="ssh", unknown="ssh", signs="a spinner in its title")
    near = pane_with(far, agent="mystery", unknown="mystery", agent_pid=12)
    host = attrs.evolve(wire.snapshots()[0][0], panes=(far, near))
    monkeypatch.setattr(wire, "snapshots", lambda: ([host], []))

    found = findings(system, wire)["far agents"]
    assert (found.health, found.text) == (Health.HINT, "only the screen of an agent behind ssh can be read")
    assert "`tally run`" in found.remedy and "[machines]" in found.remedy


def test_a_machine_without_a_terminal(home: Path) -> None:
    """Where there is neither kitty nor WezTerm one of them is missing; at the far end of ssh none is needed."""
    for env, shown in (({}, {"terminal"}), ({"SSH_CONNECTION": "192.0.2.1 5 192.0.2.2 22"}, set())):
        bare = make_system(home, kitty=False, **env)
        found = {finding.what: finding for finding in doctor.examine(bare, FakeWire())}
        assert found.keys() & {"terminal", "kitty", "kitty.conf"} == shown
        assert all(found[what].health is Health.MISSING and "tmux" in found[what].remedy for what in shown)


def test_completions_are_told(system: FakeSystem, home: Path) -> None:
    """Not there, which is no fault, or where a shell finds them."""
    assert findings(system, XDG_DATA_DIRS=str(home))["completions"].health is Health.HINT
    packaged = home / "share/bash-completion/completions/tally"
    packaged.parent.mkdir(parents=True)
    packaged.write_text("# completions")
    assert findings(system, XDG_DATA_DIRS=f"{home / 'share'}")["completions"].health is Health.OK


def test_the_state_of_each_is_coloured(system: FakeSystem) -> None:
    """Green is well, amber can be better, red is wrong; without colours the words stand alone."""
    assert doctor.main(["--color", "always"], system, FakeWire()) == 0
    green = output.Output(sys.stdout, colour=True).lit(Status.DONE, "ok       ")
    assert f"{green}  installation" in system.text
    system.said.clear()
    assert doctor.main([], system, FakeWire()) == 0
    assert "\x1b" not in system.text


def test_narrow_terminal_breaks_between_words() -> None:
    """A finding goes on below itself; a remedy, which may be a command to copy, stays in one line."""
    head = "broken     keys          "
    text = "ctrl+shift+y jump, ctrl+shift+i agents"

    assert output.hanging(head, text, "run " + "x" * 60, 25, 48).splitlines() == [
        "broken     keys          ctrl+shift+y jump,",
        "                         ctrl+shift+i agents",
        "                         → run " + "x" * 60,
    ]
