"""The facts about real Claude Code that the evidence is built on. A version that changes one of them fails here.

Claude runs in a room with nothing but loopback, with no hook and no setting changed, against the scripted model. The
truth is the model's marks, and a key press for what the model cannot know. Its status file has to follow within a
second: no light made from it can be earlier.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tallylight.parts.transcripts import claude as records
from tests.real_agents.conftest import Claude, pid_of
from tests.real_agents.dialect import CONTENT
from tests.real_agents.driver import wait_until

pytestmark = pytest.mark.agents

BUSY_TITLE = re.compile("[◐◑] ")
IDLE_TITLE = re.compile("✳ ")
DIALOG = "Do you want to proceed"
#: Claude leaves a key alone that comes with the dialog (0.1 s was too early, 0.2 s was not).
DIALOG_SETTLES = 0.6


def last_title(claude: Claude) -> str:
    """What the tab would be called."""
    return claude.pane.titles()[-1].payload


def transcript(claude: Claude) -> list[dict[str, Any]]:
    """What Claude itself wrote about the session so far."""
    paths = list((claude.home / ".claude/projects").glob("*/*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines(True) if line.endswith("\n")]


def ends(claude: Claude) -> list[str]:
    """How each turn ended, by the transcript: `finished`, `interrupted` or `failed`."""
    found = []
    for entry in transcript(claude):
        if entry["type"] == "system" and entry.get("subtype") == "turn_duration":
            found.append("finished")
        elif entry["type"] == "assistant" and entry.get("isApiErrorMessage"):
            found.append("failed")
        elif entry["type"] == "user" and "[Request interrupted by user" in json.dumps(entry["message"]):
            found.append("interrupted")
    return found


def answer(claude: Claude, key: str) -> float:
    """Wait for the permission dialog and answer it with a key; the time of the key."""
    claude.pane.wait_text(DIALOG)
    time.sleep(DIALOG_SETTLES)  # no event says when it listens
    return claude.pane.send(key)


def test_ready(claude: Claude) -> None:
    """At its prompt Claude is `idle`, its title says so, and its file names the process and the session."""
    record = claude.status.history[-1].record
    assert record is not None
    stat = Path(f"/proc/{pid_of(claude.home)}/stat").read_text()

    assert IDLE_TITLE.match(last_title(claude))
    assert record["procStart"] == stat.rpartition(")")[2].split()[19]
    assert record["cwd"] == str(claude.home / "project")
    assert {"pid", "sessionId", "version", "kind", "statusUpdatedAt"} <= record.keys()


def test_answer(claude: Claude) -> None:
    """A turn is `busy` while the model answers, then `idle`, and the transcript closes it with its duration."""
    claude.pane.submit("HOLD text")
    working = claude.model.wait_mark("working")
    busy = claude.status.wait("busy")
    wait_until(lambda: BUSY_TITLE.match(last_title(claude)), 10, "the busy title")
    claude.model.release("text")
    done = claude.model.wait_mark("done")
    idle = claude.status.wait("idle", since=busy.at)
    wait_until(lambda: ends(claude), 10, "the end of the turn in the transcript")
    claude.pane.wait_text(r"✻ \w+ for .* · done", 10)

    assert claude.late(busy.at, working["monotonic"]) < 1
    assert claude.late(idle.at, done["monotonic"]) < 1
    assert IDLE_TITLE.match(last_title(claude))
    assert ends(claude) == ["finished"]


def test_short_answer_leaves_a_trace(claude: Claude) -> None:
    """A turn too short for a poll is still seen afterwards, because `statusUpdatedAt` has moved.

    A turn that starts and ends within one frame of Claude's, as no real model's does, may be in the transcript alone.
    """
    before = claude.status.history[-1].record
    claude.pane.submit("SLOW 0.3")
    done = claude.model.wait_mark("done")
    wait_until(lambda: ends(claude), 10, "the end of the turn in the transcript")
    after = claude.status.wait("idle", since=done["monotonic"]).record

    assert before is not None
    assert after is not None
    assert after["statusUpdatedAt"] > before["statusUpdatedAt"]


def test_permission_approved(claude: Claude) -> None:
    """A permission dialog is `waiting` for a `permission prompt`; approval is `busy` again, while the tool runs."""
    claude.pane.submit("TOOL touch made; sleep 2 THEN fine")
    asked = claude.model.wait_mark("waiting:permission")
    waiting = claude.status.wait("waiting/permission prompt")
    idle_title = last_title(claude)
    pressed = answer(claude, "1")
    busy = claude.status.wait("busy", since=pressed)
    done = claude.model.wait_mark("done")
    idle = claude.status.wait("idle", since=pressed)

    assert claude.late(waiting.at, asked["monotonic"]) < 1
    assert claude.late(busy.at, made_at(claude)) < 1
    assert busy.at < done["monotonic"]
    assert claude.late(idle.at, done["monotonic"]) < 1
    assert IDLE_TITLE.match(idle_title), "the title cannot tell waiting from idle"


def made_at(claude: Claude) -> float:
    """When the approved tool made its file, on the monotonic clock: the truth about when work went on."""
    return (claude.home / "project" / "made").stat().st_mtime - time.time() + time.monotonic()


def test_permission_dismissed(claude: Claude) -> None:
    """Esc in a permission dialog goes from `waiting` to `idle`, with no `busy` between and nothing finished."""
    claude.pane.submit("TOOL touch made")
    claude.status.wait("waiting/permission prompt")
    pressed = answer(claude, "\x1b")
    shown = claude.pane.wait_text(r"⎿\s+Interrupted ·")
    idle = claude.status.wait("idle", since=pressed)
    wait_until(lambda: ends(claude), 10, "the end of the turn in the transcript")

    assert claude.late(idle.at, shown) < 1
    assert [seen.status for seen in claude.status.history if seen.at >= pressed] == ["idle"]
    assert ends(claude) == ["interrupted"]


def test_question(claude: Claude) -> None:
    """A question is `waiting` for `input needed`, and its answer makes Claude go on."""
    claude.pane.submit("ASK THEN HOLD more")
    asked = claude.model.wait_mark("waiting:question")
    waiting = claude.status.wait("waiting/input needed")
    claude.pane.wait_text("Enter to select")
    time.sleep(DIALOG_SETTLES)
    pressed = claude.pane.send("1")
    busy = claude.status.wait("busy", since=pressed)
    working = claude.model.wait_mark("working", after=claude.model.marks.index(asked))
    claude.model.release("more")
    done = claude.model.wait_mark("done")
    idle = claude.status.wait("idle", since=pressed)

    assert claude.late(waiting.at, asked["monotonic"]) < 1
    assert claude.late(busy.at, working["monotonic"]) < 1
    assert claude.late(idle.at, done["monotonic"]) < 1


@pytest.mark.parametrize("key", ["\x1b", "\x03"], ids=["esc", "ctrl-c"])
def test_interrupted(claude: Claude, key: str) -> None:
    """An interrupt in mid-answer is `idle`; transcript and screen tell it from a finished turn, the file does not."""
    claude.pane.submit("HOLD text")
    claude.pane.wait_text("scripted model answers")
    pressed = claude.pane.send(key)
    idle = claude.status.wait("idle", since=pressed)
    interrupted = claude.model.wait_mark("interrupted")
    claude.pane.wait_text(r"⎿\s+Interrupted ·", 2)
    wait_until(lambda: ends(claude), 10, "the end of the turn in the transcript")

    assert claude.late(idle.at, interrupted["monotonic"]) < 1
    assert IDLE_TITLE.match(last_title(claude))
    assert ends(claude) == ["interrupted"]
    assert "· done" not in claude.pane.text()


def test_error(claude: Claude) -> None:
    """An API error is `idle` in the file; screen and transcript say that it failed, within a second."""
    claude.pane.submit("ERROR 400")
    claude.model.wait_mark("error")
    idle = claude.status.wait("idle", since=claude.status.wait("busy").at)
    shown = claude.pane.wait_text("● API Error: 400", 2)
    wait_until(lambda: ends(claude), 10, "the error in the transcript")
    truth = claude.model.marks[-1]["monotonic"]
    entry = next(entry for entry in transcript(claude) if entry.get("isApiErrorMessage"))

    assert claude.late(idle.at, truth) < 1
    assert claude.late(shown, truth) < 1
    assert IDLE_TITLE.match(last_title(claude))
    assert ends(claude) == ["failed"]
    assert entry["apiErrorStatus"] == 400


def test_background_shell(claude: Claude) -> None:
    """A finished turn that leaves a shell running is `shell`, until Claude takes up that shell's end by itself."""
    claude.pane.submit("BACKGROUND touch made; sleep 3 THEN started")
    answer(claude, "1")
    done = claude.model.wait_mark("done")
    shell = claude.status.wait("shell")
    busy = claude.status.wait("busy", since=shell.at)

    assert claude.late(shell.at, done["monotonic"]) < 1
    assert ends(claude)[0] == "finished"
    assert busy.at > made_at(claude) + 2


def test_retry_is_busy(claude: Claude) -> None:
    """While Claude tries an overloaded model again by itself it is `busy`, and a late answer is a finished turn."""
    claude.pane.submit("ERROR 529 2")
    done = claude.model.wait_mark("done")
    statuses = [seen.status for seen in claude.status.history if seen.at < done["monotonic"]]
    wait_until(lambda: ends(claude), 10, "the end of the turn in the transcript")

    assert [mark["mark"] for mark in claude.model.marks].count("refused") == 2
    assert statuses == [None, None, "idle", "busy"] or statuses == [None, "idle", "busy"]
    assert ends(claude) == ["finished"]


def test_typing_changes_nothing(claude: Claude) -> None:
    """Typing at the prompt changes neither file nor title; only its echo is sent."""
    before = len(claude.status.history), len(claude.pane.titles())
    claude.pane.send("half a thought")
    claude.pane.wait_text("half a thought")
    time.sleep(0.5)  # nothing is awaited: that nothing comes is the claim

    assert (len(claude.status.history), len(claude.pane.titles())) == before


def test_menu_is_not_a_question(claude: Claude) -> None:
    """A menu that the person opened is `waiting` too, but for `dialog open`: nobody needs them."""
    claude.pane.submit("/model")
    claude.pane.wait_text("Esc to cancel")
    opened = claude.status.wait("waiting/dialog open")
    time.sleep(DIALOG_SETTLES)
    claude.pane.send("\x1b")
    claude.status.wait("idle", since=opened.at)

    assert claude.model.marks == []


def test_exit(claude: Claude) -> None:
    """`/exit` clears the title and removes the status file before the process is gone."""
    pressed = claude.pane.submit("/exit")
    gone = claude.status.wait(None, since=pressed)
    ended = claude.pane.wait_end()

    assert claude.late(gone.at, ended) < 1
    assert last_title(claude) == ""


def test_killed(claude: Claude) -> None:
    """`kill -9` leaves the status file behind, `busy` for ever, and the busy title: only the process table knows."""
    claude.pane.submit("HOLD text")
    claude.status.wait("busy")
    claude.room.popen(["kill", "-9", str(claude.status.pid)], env={"PATH": "/usr/bin:/bin"}, cwd="/").wait(5)
    claude.pane.wait_end()

    assert claude.status.history[-1].status == "busy"
    assert list(claude.status.folder.glob("*.json"))
    assert BUSY_TITLE.match(last_title(claude))


def test_says_little_to_the_terminal(claude: Claude) -> None:
    """Titles and one unanswered `OSC 7501` query are all the status a terminal gets from Claude by itself."""
    claude.pane.submit("TOOL touch made")
    answer(claude, "\x1b")
    claude.status.wait("idle", since=claude.status.wait("waiting/permission prompt").at)
    numbers = {said.number for said in claude.pane.said}

    assert numbers <= {"0", "2", "8", "11", "7501"}
    assert [said.payload for said in claude.pane.said if said.number == "7501"] == ["?"]


def test_what_it_writes_is_in_its_record(claude: Claude) -> None:
    """A call that writes a file is in the transcript with the file and its text, once it asks for it."""
    made = claude.home / "project/made.py"
    claude.pane.submit(f"EDIT {made} THEN fine")
    claude.status.wait("waiting/permission prompt")
    path = next((claude.home / ".claude/projects").glob("*/*.jsonl"))
    found = wait_until(lambda: records.read(path.read_bytes(), None).edits, 10, "the edit in the transcript")
    assert [(edit.path, edit.old, edit.new) for edit in found] == [(str(made), None, CONTENT)]
