"""Tests for the corpus: every recording can be read, holds the truth, names nobody, and is shown rightly.

How quickly is for benchmarks/accuracy.py to measure; here only what no machine's load can spoil is asserted.
"""

from __future__ import annotations

import functools
import getpass
import gzip
import itertools
import json
import re
import socket
from pathlib import Path

import pytest
from benchmarks import accuracy, exact_words
from benchmarks.accuracy import CORPUS, HELD_OUT, ROWS, Recording, recordings_for

from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Mark
from tests.real_agents import held_out, situations
from tests.tables import each, sampled

TUNED = {path.name.partition(".")[0]: path for path in sorted(CORPUS.glob("*.cast.gz"))}
#: Those that were held out; their names are none of the others'.
OTHERS = {path.name.partition(".")[0]: path for path in sorted(HELD_OUT.glob("*.cast.gz"))}
#: Those whose times a busy machine made.
UNTIMED = {path.name.partition(".")[0]: path for path in sorted((CORPUS / "untimed").glob("*.cast.gz"))}
#: What goes on around a turn; a quarter of it was held out.
SITUATIONS = {path.name.partition(".")[0]: path for path in sorted((CORPUS / "situations").rglob("*.cast.gz"))}
#: Agents that were recorded after the rules were frozen.
FROZEN = {path.name.partition(".")[0]: path for path in sorted(CORPUS.glob("frozen*/*.cast.gz"))}
PATHS = TUNED | OTHERS | UNTIMED | SITUATIONS | FROZEN
#: Those in which an agent asks before it has a prompt.
STARTS = {"trust", *(name for _, name in situations.FIRST)}
WORDS = {"starting", "idle", "working", "done", "error", "background", "gone"}
WORDS |= {f"waiting:{kind}" for kind in ("permission", "question", "auth")}
#: What would name a person, a machine, a key or where this was made.
SECRETS = re.compile(r"/root\b|/tmp/tallylight|sk-[a-z]+-[A-Za-z0-9]{8}|BEGIN [A-Z ]*PRIVATE KEY|/home/(?!user\b)")


@functools.cache
def recording(name: str) -> Recording:
    """One recording, read once."""
    return accuracy.read(PATHS[name])


def test_size() -> None:
    """Both parts of the corpus hold at least forty recordings of the agents, in at most six megabytes in all."""
    for part in (TUNED, OTHERS):
        assert len(part) >= 40
        assert len({name.partition("-")[0] for name in part}) == 8
    assert sum(path.stat().st_size for path in PATHS.values()) <= 6_000_000


@pytest.mark.slow
def test_held_out() -> None:
    """No held-out recording plays a scene of the other part, and each tells the version of its agent."""
    assert {scene_of(name) for name in TUNED} & {scene_of(name) for name in OTHERS} == set()
    sizes = {name: (recording(name).header.columns, recording(name).header.rows) for name in OTHERS}
    assert sizes == {scene.file.partition(".")[0]: scene.size for scene in held_out.scenes()}
    for name in OTHERS:
        marks = [event.what.label for event in recording(name).events if isinstance(event.what, Mark)]
        assert re.fullmatch(rf"agent {name.partition('-')[0]} \d+\.\d+\.\d+\S*", marks[0])


def test_situations() -> None:
    """Each situation is one of the scenes, and held out if its name says so."""
    known = {scene.file.partition(".")[0]: scene for scene in situations.scenes()}

    assert SITUATIONS.keys() <= known.keys()
    assert len(SITUATIONS) >= 90
    for name, path in SITUATIONS.items():
        assert (path.parent.name == "held-out") == situations.is_held_out(known[name])


def scene_of(name: str) -> str:
    """What is played in a recording."""
    return name.split("-")[1]


@pytest.mark.slow
@each("name", PATHS)
def test_decodes(name: str) -> None:
    """A recording is read without a problem, and is as long as what it shows: eight seconds to two minutes."""
    assert recording(name).problems == []
    assert 8 <= recording(name).end <= 120


@pytest.mark.slow
@each("name", PATHS)
def test_truth(name: str) -> None:
    """The truth begins with the start and ends with the end, in known words, each of which says something new."""
    words = [word for _, word in recording(name).truth]
    times = [at for at, _ in recording(name).truth]

    assert words[0] == "starting"
    assert words[-1] == "gone"
    assert set(words) <= WORDS
    assert times == sorted(times)
    assert all(one != other for one, other in itertools.pairwise(words))
    if "idle" in words and scene_of(name) not in STARTS:
        assert words[1] == "idle"
    for before, word in itertools.pairwise(words):
        if word.startswith("waiting") and scene_of(name) not in STARTS:
            assert before in ("working", "background"), "nobody is asked who has not set an agent to work"


@pytest.mark.slow
@each("name", PATHS)
def test_names_nobody(name: str) -> None:
    """A recording holds no host or user name, no path of the machine it was made on, and no key."""
    text = gzip.decompress(PATHS[name].read_bytes()).decode()
    header = json.loads(text.partition("\n")[0])

    assert SECRETS.search(text) is None
    assert str(CORPUS.parents[1]) not in text
    assert socket.gethostname() not in text
    assert getpass.getuser() == "root" or getpass.getuser() not in text
    assert set(header) <= {"version", "width", "height", "timestamp", "started", "command", "env"}
    assert set(header["env"]) <= {"SHELL", "TERM"}


#: Rests whose very word is not shown, and why.
OTHER_WORDS = {
    ("aider-question", "done"): "a refused file is the end of its turn there, and of any other agent a dialog put away",
    ("claude-compaction-relay", "idle"): "it calls its own compaction a turn that is done",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(recordings_for(ROWS[0], TUNED | UNTIMED)))
def test_shown(name: str) -> None:
    """With all its sources Tallylight shows every truth that lasts three seconds, and by its very word if it rests."""
    found = recording(name)
    light = ROWS[0].light(found)
    ends = [at for at, _ in found.truth[1:]] + [found.end]
    wrong = []
    for (start, word), end in zip(found.truth, ends, strict=True):
        if end - start < 3 or word in ("starting", "background"):
            continue  # of what runs on in the background, Claude says itself that it works
        shown = {scoring.class_of(status) for at, status in light if start <= at <= end}
        last = next((status for at, status in reversed(light) if at <= end - scoring.GRACE_S), "idle")
        before = next((status for at, status in reversed(light) if at <= start), "idle")
        wanted = scoring.class_of(word)
        # An agent that is told to leave may draw some more, so that its last turn is over and it works all the same.
        if wanted not in shown | {scoring.class_of(before)} or (wanted == "waiting" and last != "waiting"):
            wrong.append(f"{start:.2f} to {end:.2f}: {word}, shown {last}")
        settled = next(status for at, status in reversed(light) if at <= end - exact_words.TYPING_S)
        is_exact = settled == word or (name, word) in OTHER_WORDS
        if name in TUNED and word in ("idle", "done", "error") and not is_exact:
            wrong.append(f"{start:.2f} to {end:.2f}: {word}, and shown in the end {settled}")

    assert wrong == []


def test_files_are_ours() -> None:
    """Nothing lies beside the recordings but their description."""
    folders = {HELD_OUT, *accuracy.LATER}
    folders |= {CORPUS / name for name in ("untimed", "situations", "situations/held-out")}
    found = {path for folder in (CORPUS, *folders) for path in folder.iterdir()}

    assert (
        found - set(PATHS.values())
        == {CORPUS / name for name in ("README.md", "modes", "records", "quiet", "unseen")} | folders
    )


def test_rows() -> None:
    """A row without set-up is tried on what nobody had set up, one with set-up on the same scenes with it."""
    names = ["claude-text", "claude-text-relay", "claude-text-hooks", "gemini-text", "claude-tmux"]

    assert recordings_for(ROWS[1], names) == ["claude-text", "claude-tmux", "gemini-text"]
    assert recordings_for(ROWS[0], names) == ["claude-text-hooks", "claude-text-relay", "claude-tmux", "gemini-text"]


def test_partings(tmp_path: Path) -> None:
    """The list of what is wrong names the times, what was shown and what was true; the grace is left out."""
    events = ['[0.0, "m", "truth idle"]', '[5.0, "m", "truth working"]', '[9.0, "o", "x"]']
    file = tmp_path / "a-b.cast"
    file.write_text('{"version": 2, "width": 80, "height": 24}\n' + "\n".join(events) + "\n")
    light = [(0.0, "idle"), (5.4, "working"), (7.0, "waiting"), (8.0, "working")]

    found = scoring.partings(accuracy.read(file).truth, light, 9.0)
    assert found == ["   7.00 to    8.00: waiting, and it was working"]
