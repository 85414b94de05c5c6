"""Names of conversations: to whom they belong, and their file."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import attrs
import pytest

from tallylight.files.read_write import FileError
from tallylight.snapshot import labels, labels_file
from tallylight.snapshot.labels import MAX_LABELS, NOTHING, Label, Labels, named
from tallylight.snapshot.labels_file import BrokenError, LabelsFile, path, read
from tallylight.snapshot.schema import ConversationEntry, Pane
from tallylight.wire.text import width
from tests.tables import each
from tests.ui.agent_list.panes import pane

NOW = 1_763_690_000.0
MAIN = Label("the shop")


def talking(id_: int, session: str = "", **more: object) -> Pane:
    """A pane whose host knows the conversation of its agent."""
    found = ConversationEntry(agent="claude", session=session)
    return pane(id_, conversation=found, **{"agent_pid": 70 + id_, **more})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return path({"XDG_STATE_HOME": str(tmp_path)})


def test_a_label_follows_its_conversation() -> None:
    """After a resume in another terminal it is there again; the pane that it left has none."""
    found = Labels().with_label("kitty-7", talking(1, "abc"), MAIN, NOW)

    assert found.of("kitty-7", talking(1, "abc")) == MAIN == found.of("wezterm-9", talking(4, "abc"))
    assert found.of("kitty-7", talking(1, "other")) == NOTHING
    other = ConversationEntry(agent="codex", session="abc")
    assert found.of("kitty-7", attrs.evolve(talking(1, "abc"), conversation=other)) == NOTHING


def test_without_a_conversation_it_follows_the_process() -> None:
    """It ends with the agent's process, and a conversation that becomes known later takes it over."""
    found = Labels().with_label("kitty-7", talking(1), MAIN, NOW)

    assert found.of("kitty-7", talking(1)) == MAIN == found.of("kitty-7", talking(1, "abc"))
    assert found.of("kitty-7", talking(1, agent_pid=99)) == NOTHING == found.of("kitty-8", talking(1))
    changed = found.with_label("kitty-7", talking(1, "abc"), Label("new"), NOW + 1)
    assert changed.of("kitty-8", talking(3, "abc")) == Label("new") and len(changed.to_json()["labels"]) == 1


def test_only_so_many_are_kept() -> None:
    """The one that was changed longest ago goes; one without anything is none."""
    found = Labels()
    for number in range(MAX_LABELS + 1):
        found = found.with_label("kitty-7", talking(1, f"s{number}"), MAIN, NOW + number)

    assert found.of("kitty-7", talking(1, "s0")) == NOTHING and found.of("kitty-7", talking(1, "s1")) == MAIN
    assert len(found.to_json()["labels"]) == MAX_LABELS
    less = found.with_label("kitty-7", talking(1, "s5"), NOTHING, NOW)
    assert less.of("kitty-7", talking(1, "s5")) == NOTHING and len(less.to_json()["labels"]) == MAX_LABELS - 1


def test_a_name_is_one_short_line() -> None:
    """Whatever is pasted: no control characters, and as many cells as a list has for it."""
    assert named(" a\x1b[31mb\nc ") == named(named(" a\x1b[31mb\nc ")) and "\x1b" not in named("a\x1b[31mb")
    assert width(named("語" * 100)) <= labels.MAX_NAME


def test_written_and_read(file: Path) -> None:
    """What one list keeps another reads, and a reader reads only what has changed; for nobody else to read."""
    first, second = LabelsFile(file), LabelsFile(file)
    assert not second.poll() and second.labels == Labels()

    assert first.change(lambda found: found.with_label("kitty-7", talking(1, "a\udc80"), MAIN, NOW)) == ""
    assert first.change(lambda found: attrs.evolve(found, group="project")) == ""

    assert second.poll() and not second.poll()
    assert second.labels.of("kitty-7", talking(1, "a\udc80")) == MAIN and second.labels.group == "project"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_file_of_an_earlier_version_is_read(file: Path) -> None:
    """Its names stay; colours and pins, which there were then, are left out, and go with the next change."""
    file.parent.mkdir(0o700, parents=True)
    had = [
        {"key": "claude/abc", "name": "the shop", "colour": "blue", "pinned": True, "at": NOW},
        {"key": "claude/other", "name": "", "colour": "red", "pinned": False, "at": NOW},
    ]
    file.write_text(json.dumps({"version": 1, "group": "project", "labels": had}))

    reader = LabelsFile(file)
    assert reader.poll() and not reader.problem and reader.labels.group == "project"
    assert reader.labels.of("kitty-7", talking(1, "abc")) == MAIN
    assert reader.labels.of("kitty-7", talking(1, "other")) == NOTHING
    assert reader.change(lambda found: attrs.evolve(found, group="")) == ""
    assert json.loads(file.read_bytes())["labels"] == [{"key": "claude/abc", "name": "the shop", "at": NOW}]


@each("document", [b"", b"[]", b"{", b'{"version": 9}', b"\xff\xfe\0"])
def test_a_broken_file_is_told_and_set_aside(file: Path, document: bytes) -> None:
    """Reading leaves it as it is and says so; the next change keeps it under another name, and says that too."""
    file.parent.mkdir(0o700, parents=True, exist_ok=True)
    file.write_bytes(document)
    reader = LabelsFile(file)

    assert reader.poll() and reader.labels == Labels() and str(file) in reader.problem
    with pytest.raises(BrokenError):
        read(file)
    assert file.read_bytes() == document
    message = reader.change(lambda found: found.with_label("kitty-7", talking(1, "s"), MAIN, NOW))
    aside = file.with_suffix(".broken")
    assert str(aside) in message and aside.read_bytes() == document
    assert reader.poll() and not reader.problem and reader.labels.of("kitty-7", talking(1, "s")) == MAIN


def test_a_file_that_others_can_change_is_refused(file: Path) -> None:
    """It is neither read nor replaced."""
    file.parent.mkdir(0o700, parents=True)
    file.write_text(json.dumps(Labels(group="project").to_json()))
    file.parent.chmod(0o755)
    file.chmod(0o666)
    reader = LabelsFile(file)

    assert reader.poll() and reader.labels == Labels() and "other users" in reader.problem
    with pytest.raises(FileError):
        read(file)
    file.chmod(0o600)
    file.parent.chmod(0o777)
    assert "other users" in reader.change(lambda found: attrs.evolve(found, group="machine"))
    assert json.loads(file.read_bytes())["group"] == "project"


def test_a_list_that_does_not_end_writing_is_not_waited_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and nothing is lost."""
    monkeypatch.setattr(labels_file, "LOCK_WAIT_S", 0.05)
    reader = LabelsFile(file)
    reader.change(lambda found: attrs.evolve(found, group="project"))
    lock = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        assert "another list keeps" in reader.change(lambda found: attrs.evolve(found, group=""))
    finally:
        os.close(lock)
    assert read(file).group == "project"


def test_what_cannot_be_written_is_said(file: Path) -> None:
    """A state directory that is a file costs the change alone."""
    file.parent.parent.parent.mkdir(parents=True, exist_ok=True)
    file.parent.parent.write_text("")
    assert "cannot be written" in LabelsFile(file).change(lambda found: attrs.evolve(found, group="project"))
