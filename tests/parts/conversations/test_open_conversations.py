"""Open conversations on disk: what is kept of a host, what survives its end, and that each is given out once."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import attrs
import pytest

from tallylight.model.limits import KEPT_S
from tallylight.model.status import Status
from tallylight.parts.conversations import open_conversations
from tallylight.parts.conversations.open_conversations import (
    ENDED_ON_PURPOSE_S,
    INTERVAL_S,
    REWRITE_UNCHANGED_S,
    Lost,
    OpenConversations,
    Tab,
    claim,
    directory,
    offer,
    put_back,
    read_lost,
)
from tallylight.snapshot import writer
from tallylight.snapshot.schema import ConversationEntry, Pane, Snapshot
from tests.entries import new_pane, pane_with
from tests.tables import each

NOW = 1_763_690_000.0
#: A process of an earlier boot.
GONE = "earlier-boot/pid:[1]/5"


def pane(id_: str, session: str = "", **changes: object) -> Pane:
    known = ConversationEntry(agent="claude", session=session or f"s-{id_}", cwd=f"/w/{id_}")
    found = new_pane(id=id_, status=Status.WORKING, agent="claude", agent_pid=2**22 + 5, tab=id_, conversation=known)
    return pane_with(found, **changes)  # type: ignore[arg-type]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}


class Host:
    """A host of this process, whose file says that it was another one as soon as it has ended."""

    def __init__(self, environ: dict[str, str], at: float = NOW, name: str = "kitty") -> None:
        self.file = OpenConversations.for_host(name, environ, lambda: at)

    def ids(self) -> list[str]:
        """The panes in its file."""
        if not self.file.path.exists():
            return []
        return [found["id"] for found in json.loads(self.file.path.read_bytes())["panes"]]

    def die(self) -> None:
        """Its process is gone."""
        document = json.loads(self.file.path.read_bytes())
        document["birth"] = GONE
        self.file.path.write_text(json.dumps(document))


def lost_ids(environ: dict[str, str], *live: Snapshot) -> list[str]:
    lost, problems = read_lost(environ, live)
    assert problems == []
    return [one.pane.id for one in lost]


def test_what_is_open_is_written_at_once_and_then_now_and_then(environ: dict[str, str]) -> None:
    """The first at once, what comes at most every few seconds, and what is the same seldom."""
    host = Host(environ)
    host.file.publish([pane("1"), Pane(id="9", status=Status.ACTIVE)], 0)
    assert host.ids() == ["1"] and host.file.error == ""
    host.file.publish([pane("1"), pane("2")], 1)
    assert host.ids() == ["1"] and host.file.due(1) == INTERVAL_S
    host.file.flush(INTERVAL_S)
    assert host.ids() == ["1", "2"]
    host.file.publish([pane("1", status=Status.DONE), pane("2")], INTERVAL_S + 1)
    assert host.file.due(INTERVAL_S + 1) == INTERVAL_S + REWRITE_UNCHANGED_S


def test_what_asks_is_written_within_seconds(environ: dict[str, str]) -> None:
    """After a crash it is said to have asked, and what; an answer is written as soon, a turn's end is not."""
    host = Host(environ)
    kept = lambda: json.loads(host.file.path.read_bytes())["panes"][0]  # noqa: E731
    host.file.publish([pane("1")], 0)
    host.file.publish([pane("1", status=Status.WAITING, question="Go on?")], 100)
    assert (kept()["status"], kept()["question"]) == ("waiting", "Go on?")
    host.file.publish([pane("1")], 101)
    assert host.file.due(101) == 100 + INTERVAL_S
    host.file.flush(100 + INTERVAL_S)
    assert kept()["status"] == "working"


def test_another_session_in_the_same_pane(environ: dict[str, str]) -> None:
    """What is to be resumed has changed: it is written as soon as it may be."""
    host = Host(environ)
    host.file.publish([pane("1", "old")], 0)
    host.file.publish([pane("1", "new")], INTERVAL_S)
    assert json.loads(host.file.path.read_bytes())["panes"][0]["conversation"]["session"] == "new"


def test_a_terminal_that_ends_loses_nothing(environ: dict[str, str]) -> None:
    """It closes its panes one after the other; what it had before that is what can be resumed."""
    host = Host(environ)
    host.file.publish([pane("1"), pane("2"), pane("3")], 0)
    for n, left in enumerate(([pane("2"), pane("3")], [pane("3")], [])):
        host.file.publish(left, 100 + n / 10)
    host.die()
    assert lost_ids(environ) == ["1", "2", "3"]


def test_what_is_closed_in_a_terminal_that_goes_on_is_over(environ: dict[str, str]) -> None:
    """An agent that was left, or a pane that was closed, is not offered later; without any there is no file."""
    host = Host(environ)
    host.file.publish([pane("1"), pane("2")], 0)
    host.file.publish([pane("2"), pane("1", agent_pid=None)], 100)
    assert host.ids() == ["1", "2"] and host.file.due(101) == 100 + ENDED_ON_PURPOSE_S
    host.file.flush(100 + ENDED_ON_PURPOSE_S)
    assert host.ids() == ["2"]
    host.file.publish([], 200)
    host.file.flush(200 + ENDED_ON_PURPOSE_S)
    assert not host.file.path.exists()


def test_a_pane_that_comes_back_was_not_closed(environ: dict[str, str]) -> None:
    """An agent that is not seen for a moment is still the same conversation."""
    host = Host(environ)
    host.file.publish([pane("1")], 0)
    host.file.publish([], 100)
    host.file.publish([pane("1")], 101)
    host.file.flush(100 + ENDED_ON_PURPOSE_S)
    assert host.ids() == ["1"]


def test_only_what_has_ended_is_lost(environ: dict[str, str]) -> None:
    """Not what a living host shows, not an agent that outlives its multiplexer, not one that was resumed since."""
    host = Host(environ, name="sessions")
    host.file.publish([pane("1"), pane("2", agent_pid=os.getpid()), pane("3")], 0)
    assert lost_ids(environ) == []
    host.die()
    assert lost_ids(environ) == ["1", "3"]
    resumed = attrs.evolve(pane("7"), conversation=pane("3").conversation)
    live = Snapshot(host="kitty", pid=1, started=0.0, written=NOW, panes=(resumed,))
    assert lost_ids(environ, live) == ["1"]


def test_the_newest_of_two_hosts_counts(environ: dict[str, str]) -> None:
    """A conversation that was resumed in a terminal that then ended, too, is one."""
    old, new = Host(environ), Host(environ, NOW + 60)
    old.file.publish([pane("1"), pane("2")], 0)
    new.file.publish([pane("8", "s-1")], 0)
    old.die()
    new.die()
    lost, _ = read_lost(environ, ())
    assert [(one.pane.id, one.host.written) for one in lost] == [("8", NOW + 60), ("2", NOW)]


def test_two_in_one_directory(environ: dict[str, str]) -> None:
    """Each is kept as its program asked to be resumed, and forgotten as soon as that is taken back."""
    host = Host(environ)
    asked = [("claude", "--resume", name) for name in ("aaaa1111", "bbbb2222")]
    here = ConversationEntry(agent="claude", cwd="/w")
    both = [pane(str(n), conversation=here, resume=words) for n, words in enumerate(asked)]
    host.file.publish(both, 0)
    host.file.publish([both[0], pane_with(both[1], resume=())], INTERVAL_S)
    kept = json.loads(host.file.path.read_bytes())["panes"]
    assert [one["resume"] for one in kept] == [list(asked[0]), []]
    host.file.publish(both, 2 * INTERVAL_S)
    host.die()
    lost, _ = read_lost(environ, ())
    assert [one.pane.commands.resume for one in lost] == asked
    # One of them was resumed.
    resumed = Snapshot(host="kitty", pid=1, started=0.0, written=NOW, panes=(attrs.evolve(both[0], id="7"),))
    assert lost_ids(environ, resumed) == ["1"]


def test_two_of_which_nothing_is_known(environ: dict[str, str]) -> None:
    """In one host they are two; one in a host of before is taken for the same."""
    here = ConversationEntry(agent="claude", cwd="/w")
    for at in (NOW, NOW + 1):
        host = Host(environ, at)
        host.file.publish([pane(str(n), conversation=here) for n in range(2)], 0)
        host.die()
    assert lost_ids(environ) == ["0", "1"]


def test_each_is_given_out_once(environ: dict[str, str]) -> None:
    """Of two that want the same conversation one gets it, also when both ask at the same time; it can be given back."""
    host = Host(environ)
    host.file.publish([pane("1"), pane("2")], 0)
    host.die()
    lost, _ = read_lost(environ, ())
    claimed: list[Lost] = []
    threads = [threading.Thread(target=lambda: claimed.extend(claim(lost[:1]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert claimed == lost[:1]
    assert lost_ids(environ) == ["2"]
    assert claim(lost) == lost[1:] and not host.file.path.exists()
    put_back(lost[1])
    put_back(lost[0])
    assert lost_ids(environ) == ["1", "2"]


def test_it_is_offered_once(environ: dict[str, str]) -> None:
    """A terminal that starts tells of it; the next one does not, until there is more."""
    assert offer(environ, NOW) == 0
    host = Host(environ)
    host.file.publish([pane("1"), pane("2")], 0)
    host.die()
    assert offer(environ, NOW + 10) == 2
    assert offer(environ, NOW + 20) == 0
    again = Host(environ, NOW + 30)
    again.file.publish([pane("5")], 0)
    again.die()
    assert offer(environ, NOW + 40) == 1
    assert lost_ids(environ) == ["5", "1", "2"]


def test_what_is_old_goes(environ: dict[str, str]) -> None:
    """After a month nobody resumes it; what a living host keeps stays."""
    old, living = Host(environ), Host(environ, NOW + 1)
    old.file.publish([pane("1")], 0)
    living.file.publish([pane("2")], 0)
    old.die()
    for host in (old, living):
        os.utime(host.file.path, (NOW, NOW))
    Host(environ, NOW + KEPT_S + 5)
    assert not old.file.path.exists() and living.file.path.exists()


def test_a_multiplexer_host_that_is_stopped_loses_nothing(environ: dict[str, str]) -> None:
    """Its agents go on without it: there is nothing to resume."""
    host = Host(environ)
    host.file.publish([pane("1")], 0)
    host.file.close()
    assert not host.file.path.exists()


def test_a_disk_that_fails_costs_the_file_alone(environ: dict[str, str]) -> None:
    """Why is told; nothing is raised, and the next time it may work."""
    folder = directory(environ)
    folder.parent.mkdir()
    folder.write_text("no directory")
    host = Host(environ)
    host.file.publish([pane("1")], 0)
    assert "not a directory" in host.file.error
    folder.unlink()
    host.file.publish([pane("1"), pane("2")], 10)
    assert host.file.error == "" and host.ids() == ["1", "2"]


@each(
    "document",
    [
        b"",
        b"no json",
        b"[]",
        b'{"version": 9}',
        b'{"version": 1, "births": 5, "panes": 7, "pid": 1e9}',
        b"\xff" * 100,
        b" " * (open_conversations.MAX_OPEN_BYTES + 1),
    ],
)
def test_a_broken_file_costs_itself(tmp_path: Path, document: bytes) -> None:
    """The others are read, and what is wrong is told with its path."""
    environ = {"XDG_STATE_HOME": str(tmp_path / str(hash(document)))}
    Path(environ["XDG_STATE_HOME"]).mkdir(exist_ok=True)
    host = Host(environ)
    host.file.publish([pane("1")], 0)
    host.die()
    broken = directory(environ) / "kitty-77-1763690099999.json"
    broken.write_bytes(document)
    lost, problems = read_lost(environ, ())
    assert [one.pane.id for one in lost] == ["1"]
    assert all(str(broken) in str(problem) or "JSON" in str(problem) for problem in problems)


def test_others_cannot_put_anything_there(environ: dict[str, str]) -> None:
    """A directory or a file that others can change is not read."""
    host = Host(environ)
    host.file.publish([pane("1")], 0)
    host.die()
    directory(environ).chmod(0o755)
    host.file.path.chmod(0o666)
    lost, problems = read_lost(environ, ())
    assert lost == [] and "can be changed by other users" in str(problems[0])
    host.file.path.chmod(0o600)
    directory(environ).chmod(0o777)
    lost, problems = read_lost(environ, ())
    assert lost == [] and len(problems) == 1


def test_a_bound(environ: dict[str, str]) -> None:
    """A host with more panes than anyone has keeps the first ones."""
    host = Host(environ)
    host.file.publish([pane(str(n)) for n in range(open_conversations.MAX_OPEN_CONVERSATIONS + 50)], 0)
    assert len(host.ids()) == open_conversations.MAX_OPEN_CONVERSATIONS
    assert writer.is_alive(os.getpid(), json.loads(host.file.path.read_bytes())["birth"])


def test_tabs(environ: dict[str, str]) -> None:
    """Conversations come in the order of their tabs, with the names as they are shown; a new name is written."""
    host = Host(environ)
    panes = [pane("1"), pane("2"), pane("3", os_window="7")]
    host.file.publish(panes, 0, {"1": Tab(1, "web"), "2": Tab(0), "3": Tab(0, "\x1bops"), "9": Tab(4, "no agent")})
    host.file.publish(panes, 1, {"1": Tab(1, "api"), "2": Tab(0), "3": Tab(0, "\x1bops")})
    assert host.file.due(2) == INTERVAL_S
    host.file.flush(INTERVAL_S)
    host.die()
    lost = read_lost(environ, [])[0]
    assert [(one.pane.id, one.tab) for one in lost] == [("2", Tab(0)), ("1", Tab(1, "api")), ("3", Tab(0, "ops"))]

    assert claim(lost[1:]) == lost[1:]
    put_back(lost[1])
    assert read_lost(environ, [])[0] == lost[:2]
    document = json.loads(host.file.path.read_bytes())
    for tabs in (None, [], {"1": 5}, {"1": ["x", 5]}, {"1": [True, []]}, {"1": [-1, None]}):
        host.file.path.write_text(json.dumps(document | {"tabs": tabs}))
        assert [one.tab for one in read_lost(environ, [])[0]] == [Tab(), Tab()]
