"""`tally start --in tmux` in a real tmux: what is started, who may type into it, what a name or directory cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.actions.answer import Done
from tallylight.actions.caller import Being, Who, being_of
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Say
from tallylight.actions.start import StartPlan
from tallylight.evidence import process_table
from tallylight.hosts.detached import starts
from tallylight.hosts.detached.sessions import PaneAccess
from tallylight.model.status import Status
from tallylight.parts.conversations.plan import Method, Plan, Verb
from tallylight.parts.conversations.verbs.fork import open_pane
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tests.actions.callers import CALLERS, at
from tests.entries import new_pane, pane_with
from tests.patience import until
from tests.terminal import SHARED

pytestmark = pytest.mark.programs

TABLE = process_table.table()


@attrs.define
class Session:
    """A session of tmux, and what a program in it has in its environment."""

    folder: Path
    env: dict[str, str]

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", *words], env=self.env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def pane(self, done: Done | Refusal, status: Status = Status.IDLE) -> Pane:
        """What the host of the sessions says of what was started."""
        assert isinstance(done, Done), done
        session, window, id_ = self.tmux(
            "display-message", "-p", "-t", done.pane.rpartition("/")[2], "#{session_id} #{window_id} #{pane_id}"
        ).split()
        socket = self.env["TMUX"].partition(",")[0]
        attach = ("tmux", "-S", socket, "attach-session", "-t", f"{session}:{window}.{id_}")
        return new_pane(id=done.pane, status=status, agent="claude", attach=attach)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    kept = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
    (tmp_path / "t").mkdir(mode=0o700)
    made = Session(tmp_path, {**kept, "TMUX_TMPDIR": str(tmp_path / "t"), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"})
    made.tmux("-f", "/dev/null", "new-session", "-d", "-s", "one", "cat")
    made.env["TMUX"] = made.tmux("display-message", "-p", "#{socket_path},#{pid},0")
    program = tmp_path / "claude"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > "$0.ran.new"; mv "$0.ran.new" "$0.ran"\nexec cat\n')
    program.chmod(0o755)
    yield made
    made.tmux("kill-server")


def plan(session: Session, *words: str, cwd: str = "", title: str = "helper") -> StartPlan:
    argv = (str(session.folder / "claude"), *words)
    return StartPlan(argv=argv, cwd=cwd or str(session.folder), agent="claude", title=title)


def me() -> Being:
    being = being_of(os.getpid(), TABLE)
    assert being is not None
    return being


def start(session: Session, what: StartPlan | None = None, caller: Being | None = None) -> Done | Refusal:
    return starts.start(what or plan(session), os.environ["PATH"], caller or me(), session.env, TABLE)


@pytest.mark.parametrize(
    "words",
    [(), ("fix the tests",), ("a;",), ("$(touch made) `touch made`", "#(touch made)", "two\nlines", "", "-x")],
)
def test_the_list_goes_to_the_program_word_by_word(session: Session, words: tuple[str, ...]) -> None:
    """Also where its name or its directory would be a command to tmux; the pane knows who has started it."""
    folder = session.folder / "#(touch made) #{pid};"
    folder.mkdir()
    done = start(session, plan(session, *words, cwd=str(folder), title="#(touch made)#{pid};"))
    pane = session.pane(done)
    until((session.folder / "claude.ran").exists, "it does not run")
    told = (session.folder / "claude.ran").read_text()
    assert told == "".join(f"{word}\n" for word in (str(folder), *words))
    assert not list(session.folder.rglob("made"))
    id_ = pane.id.rpartition("/")[2]
    assert session.tmux("display-message", "-p", "-t", id_, "#{window_name}") == "#(touch made)#{pid};"
    first = being_of(int(session.tmux("display-message", "-p", "-t", id_, "#{pane_pid}")), TABLE)
    assert starts.started_by(pane, session.env, TABLE) == (me(), first)


def test_its_environment_is_that_of_the_session(session: Session) -> None:
    """What the caller has in its own, the PATH among it, is neither looked through nor handed on."""
    session.tmux("set-environment", "-g", "PATH", "/usr/bin:/bin")
    session.env |= {"PATH": f"{session.folder}/forged:{os.environ['PATH']}", "ANTHROPIC_BASE_URL": "http://forged"}
    assert starts.search_path(session.env) == "/usr/bin:/bin"
    session.tmux("set-environment", "PATH", f"{session.folder}:/usr/bin:/bin")
    assert (path := starts.search_path(session.env)) == f"{session.folder}:/usr/bin:/bin"

    (session.folder / "claude").write_text('#!/bin/sh\nenv > "$0.new"; mv "$0.new" "$0.ran"\nexec cat\n')
    assert isinstance(starts.start(plan(session), path, me(), session.env, TABLE), Done)
    until((session.folder / "claude.ran").exists, "it does not run")
    told = (session.folder / "claude.ran").read_text().splitlines()
    assert f"PATH={path}" in told
    assert not any("forged" in line for line in told)


@pytest.mark.parametrize("how", [["new-window", "-a"], ["split-window", "-h"]])
def test_a_fork_opens_beside_its_pane(session: Session, how: list[str]) -> None:
    """By a command of the tmux around us, with the words, the directory and the environment of the plan."""
    pane = session.pane(start(session))
    # A shell reads its script as it goes on: it has read the first one by then.
    until((session.folder / "claude.ran").exists, "it does not run")
    (session.folder / "claude").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$PWD" "$WHERE" "$@" > "$0.ran.new"; mv "$0.ran.new" "$0.forked"\nexec cat\n'
    )
    folder = session.folder / "#{pid};"
    folder.mkdir()
    fork = Plan(
        verb=Verb.FORK,
        argv=(str(session.folder / "claude"), "--resume", "$(touch made);"),
        cwd=str(folder),
        agent="claude",
        display="Claude Code",
        session="s-1",
        method=Method.SESSION,
        title="api",
        env={"WHERE": "a b;"},
    )
    command = starts.beside(pane, how, fork, session.env)
    assert command is not None
    assert open_pane(command)[1] == ""
    until((session.folder / "claude.forked").exists, "it does not run")
    assert (session.folder / "claude.forked").read_text().splitlines() == [
        str(folder),
        "a b;",
        "--resume",
        "$(touch made);",
    ]
    assert not list(session.folder.rglob("made"))
    assert starts.beside(pane, how, fork, {**session.env, "TMUX": "/elsewhere,1,0"}) is None
    assert starts.beside(pane, how, fork, {}) is None
    assert starts.beside(pane_with(pane, attach=()), how, fork, session.env) is None


def test_a_pane_that_was_reused_or_is_told_lies_is_nobodys(session: Session) -> None:
    """Another program in the pane, another pane, an option with nonsense, and a pane that is gone."""
    pane = session.pane(start(session))
    id_ = pane.id.rpartition("/")[2]
    kept = session.tmux("show-options", "-pqv", "-t", id_, "@tallylight_started_by")
    for value in ("", "1", "1.2.3", "a.b.c.d", "1.2.3.4", f"{kept}.5", f"-{kept}", "9" * 30 + kept, "#(touch made)"):
        session.tmux("set-option", "-p", "-t", id_, "@tallylight_started_by", value)
        assert starts.started_by(pane, session.env, TABLE) is None, value
    session.tmux("set-option", "-p", "-t", id_, "@tallylight_started_by", kept)
    assert starts.started_by(pane, session.env, TABLE) is not None
    session.tmux("respawn-pane", "-k", "-t", id_, "cat")
    assert starts.started_by(pane, session.env, TABLE) is None
    session.tmux("kill-pane", "-t", id_)
    assert starts.started_by(pane, session.env, TABLE) is None
    assert not list(session.folder.rglob("made"))


def test_only_so_many_and_only_in_tmux(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one caller; another one may start more. Without tmux around, or with one that is gone, nothing is started."""
    monkeypatch.setattr(starts, "MAX_OWN", 1)
    assert isinstance(start(session), Done)
    refused = start(session)
    assert isinstance(refused, Refusal) and refused.rule == "too-many"
    assert isinstance(start(session, caller=(me()[0], me()[1] + 1)), Done)
    refused = start(attrs.evolve(session, env={**session.env, "TMUX": f"{session.folder}/none,1,0"}))
    assert isinstance(refused, Refusal) and refused.rule == "failed"
    for tmux in ("", "t,1,0"):
        refused = starts.search_path({**session.env, "TMUX": tmux})
        assert isinstance(refused, Refusal) and refused.rule == "place"


def test_who_has_started_it_may_type(session: Session) -> None:
    """By `own`, into this pane and into no other: what is refused then is the screen, and not the caller."""
    pane = session.pane(start(session))
    multiplexers = PaneAccess(session.env)
    given = Say(pane.id, 1, 2, "go on", enter=True)

    def rule(being: Being) -> str:
        caller = attrs.evolve(CALLERS[Who.SCRIPT], being=being)
        told = PaneClient(multiplexers, lambda: caller, at("own"), multiplexers.started_by).perform(
            Row("sessions-1", pane), given
        )
        assert isinstance(told, Refusal)
        return told.rule

    assert rule(me()) == "process"
    assert rule((me()[0], me()[1] + 1)) == "permission"
    session.tmux("respawn-pane", "-k", "-t", pane.id.rpartition("/")[2], "cat")
    assert rule(me()) == "permission"


_IN_A_SANDBOX = """
import argparse, os
from tallylight.actions.caller import Caller, Who
from tallylight.agents import agent_files
from tallylight.parts.conversations.verbs import start
start.here = lambda *_: Caller(Who.SCRIPT, (9, 9))
agent = agent_files.load_agents({})[0].get("claude")
print(start._start_in_tmux(agent, argparse.Namespace(agent="claude", prompt="", name=""), "all"))
"""


@pytest.mark.parametrize(
    ("sandbox", "rule"),
    [
        ("env", ""),
        ("unshare --mount", "sandbox"),
        ("unshare --pid --fork --mount-proc", "sandbox"),
        ("setpriv --no-new-privs", "sandbox"),
    ],
)
def test_nothing_leaves_a_sandbox(session: Session, sandbox: str, rule: str) -> None:
    """Whatever the level: tmux would start it outside, where nobody can be asked."""
    if subprocess.run([*sandbox.split(), "true"], check=False, capture_output=True).returncode:
        pytest.skip("NOT TESTED: this user can make no such sandbox")
    session.tmux("set-environment", "PATH", f"{session.folder}:/usr/bin:/bin")
    done = subprocess.run(
        [*sandbox.split(), sys.executable, "-c", _IN_A_SANDBOX],
        env=session.env | {"PYTHONPATH": str(SHARED)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("Done(" in done.stdout) == (rule == ""), done.stdout
    assert f"rule='{rule}'" in done.stdout or not rule
    assert len(session.tmux("list-panes", "-a").splitlines()) == (1 if rule else 2)
