"""Real Claude Code, Codex and OpenCode, forked and answered in a real kitty by keys typed into its window.

The scripted model tells what was asked: a forked conversation asks with all of the first one's words, and the first one
stays as it was. `tests/real_kitty/test_fork.py` has everything else about forking, without an agent.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallylight.model.status import Status
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.flow import PICTURE_SHOWN_S
from tests.real_agents.desk import CODEX, Desk, Tab
from tests.real_agents.install import AGENTS, InstallError, install
from tests.real_agents.manners import MANNERS
from tests.real_agents.prepare import _WAYS as WAYS
from tests.real_kitty.harness import Kitty

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: The kitten is tried in each kitty, with Claude in one and with Codex in the other.
IN_ONE_KITTY = {"test_opencode": "0.48", "claude": "0.48", "codex": "0.41"}

_KEYS = """
enabled_layouts splits
map ctrl+alt+f kitten {kittens}/fork.py
map ctrl+alt+r kitten {kittens}/fork.py --resume
map ctrl+alt+g kitten {kittens}/agents.py
"""


@pytest.fixture(scope="module")
def keys(desk: Desk) -> Desk:
    """The desk, whose kitty has keys for the kitten."""
    kitty = desk.kitty
    kittens = kitty.home / ".local/share/tallylight/kittens"
    with kitty.kitty_conf.open("a") as file:
        file.write(_KEYS.format(kittens=kittens))
    kitty.eval("boss.load_config_file()")
    return desk


@pytest.fixture
def tab(keys: Desk, borrow: Callable[[str, str], Tab], request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab in front with an agent at its prompt; what was opened in the test is closed after it."""
    kitty = keys.kitty
    tab = borrow(*request.param)
    before = {window["id"] for window in kitty.windows()}
    first = kitty.windows()[0]["id"]
    kitty.focus_window(tab.window)
    yield tab
    for window in kitty.windows():
        if window["id"] not in before:
            kitty.close_window(window["id"])
    kitty.focus_window(first)


def entry(tab: Tab) -> Pane:
    """What the host wrote of a tab's window for other programs."""
    return entry_of(tab.kitty, tab.window)


def entry_of(kitty: Kitty, window: int) -> Pane:
    """What the host wrote of a window."""
    path = next((kitty.runtime_dir / "tallylight").glob("kitty-*.json"))
    return next(pane for pane in writer.read(path).panes if pane.id == str(window))


def fork(desk: Desk | Tab, page: str, key: str = "ctrl+alt+f") -> tuple[int, str]:
    """Press the key over a tab and Enter on the page; the new window, and what the page showed."""
    kitty = desk.kitty
    before = {window["id"] for window in kitty.windows()}

    def shown() -> str | None:
        texts = (kitty.get_text(window["id"]) for window in kitty.windows() if window["id"] not in before)
        return next((text for text in texts if page in text), None)

    def opened() -> int | None:
        marked = re.compile("[⎇↻] +(?!fork$|resume$)")  # those are the page's own
        return next((w["id"] for w in kitty.windows() if w["id"] not in before and marked.match(w["title"])), None)

    kitty.xdotool("key", key)
    text = kitty.wait_until(shown, 20, f"{page!r} on a page")
    kitty.xdotool("key", "Return")
    return kitty.wait_until(opened, 20, "the new pane"), re.sub(r"\s+", " ", text)


def status_file(tab: Tab, window: int) -> dict[str, Any]:
    """What the Claude in a window wrote of itself."""
    kitty = tab.kitty

    def found() -> dict[str, Any] | None:
        pids = {process["pid"] for process in kitty.window(window)["foreground_processes"]}
        for path in (kitty.home / ".claude/sessions").glob("*.json"):
            if path.stem.isdigit() and int(path.stem) in pids:
                with contextlib.suppress(ValueError):  # it is being written
                    read: dict[str, Any] = json.loads(path.read_text())
                    return read
        return None

    return kitty.wait_until(found, 30, f"the status file of the Claude in {window}")


@pytest.mark.parametrize("tab", [("claude", "claude --permission-mode manual")], indirect=True, ids=["claude"])
def test_claude(tab: Tab) -> None:
    """Claude's fork knows what was said, has an id of its own, and leaves the first conversation as it was."""
    kitty = tab.kitty
    word = tab.new("remember")
    tab.submit(word)
    tab.truth("done")
    first = status_file(tab, tab.window)
    kitty.wait_until(lambda: entry(tab).conversation.session == first["sessionId"], what="the session id")
    transcripts = kitty.home / ".claude/projects"
    transcript = kitty.wait_until(
        lambda: next(transcripts.glob(f"*/{first['sessionId']}.jsonl"), None), what="the first transcript"
    )
    kitty.wait_until(lambda: word in transcript.read_text(), what="the first transcript")
    before = transcript.read_text()
    forked, page = fork(tab, "Fork Claude")
    kitty.wait_text(forked, word, 30)
    answer(tab, forked, "zebra")
    second = status_file(tab, forked)

    assert f"--resume {first['sessionId']} --fork-session" in page
    assert kitty.tab_of(forked) == kitty.tab_of(tab.window)
    assert second["sessionId"] != first["sessionId"]
    assert second["cwd"] == first["cwd"]
    assert status_file(tab, tab.window)["sessionId"] == first["sessionId"]
    # Claude may yet have had to write down the end of its own turn, but nothing of the fork's.
    left = transcript.read_text()
    assert left.startswith(before)
    assert "zebra" not in left
    assert "zebra" not in kitty.get_text(tab.window)


def answer(desk: Desk | Tab, window: int, prompt: str) -> None:
    """Have the agent in *window* answer one prompt of the scripted model."""
    kitty = desk.kitty
    done = sum(mark["mark"] == "done" for mark in desk.model.marks)
    kitty.wait_until(lambda: kitty.get_text(window).strip(), what="a screen")
    kitty.send_text(window, prompt)
    kitty.wait_text(window, prompt)
    time.sleep(CODEX.settles)  # an Enter that comes at once belongs to what is pasted
    kitty.send_key(window, "enter")

    def answered() -> bool:
        return bool(sum(mark["mark"] == "done" for mark in desk.model.marks) > done)

    kitty.wait_until(answered, 60, "an answer")


@pytest.mark.parametrize(
    ("tab", "answers"),
    [
        (("claude", "claude --permission-mode manual"), ["1  Yes", "No"]),
        (("codex", "codex --no-daemon"), ["1  Yes, proceed"]),
    ],
    indirect=["tab"],
    ids=["claude", "codex"],
)
def test_a_permission_is_answered_from_the_list(tab: Tab, answers: list[str]) -> None:
    """`a` in the list over another tab shows the command and the answers; the first one, and the agent goes on."""
    kitty = tab.kitty
    first = kitty.windows()[0]["id"]
    kitty.focus_window(first)
    tab.submit(f"TOOL touch {(made := tab.new())} THEN fine")
    tab.wait("waiting/permission", since=tab.truth("waiting:permission"), timeout=20)
    tab.shows(tab.manner.permission)  # a status file may be earlier than the screen
    list_ = asked_in_list(kitty)
    shown = kitty.wait_text(list_, "answer   Esc leave", 20)
    if folder := os.environ.get("TALLYLIGHT_PICTURES"):
        kitty.screenshot(Path(folder) / f"{kitty.version}-answer-{tab.agent}.png")
    assert f"touch {made}" in shown
    assert all(answer in shown for answer in answers)
    assert not (tab.project / made).exists()
    answer_first(kitty, list_, "answered 1. Yes")
    tab.truth("done")

    assert (tab.project / made).exists()
    leave(kitty, list_)


def asked_in_list(kitty: Kitty) -> int:
    """The list over the window in front, once `a` was pressed in it on the permission that an agent asks for."""
    kitty.xdotool("key", "ctrl+alt+g")
    list_ = kitty.wait_until(lambda: next((w["id"] for w in kitty.windows() if w["title"] == "Agents"), None), 20)
    kitty.wait_until(lambda: "!" in selected(kitty, list_), 20, "the question in the list")
    kitty.xdotool("key", "a")
    return list_


def answer_first(kitty: Kitty, list_: int, outcome: str) -> None:
    """Press the number of the first answer, which counts once the question has stood in the list for a moment."""
    time.sleep(2 * PICTURE_SHOWN_S)
    kitty.xdotool("key", "1")
    kitty.wait_text(list_, outcome, 20)


def leave(kitty: Kitty, list_: int) -> None:
    """Close the list."""
    kitty.xdotool("key", "q")
    kitty.wait_until(lambda: all(w["id"] != list_ for w in kitty.windows()), what="the end of the list")


def selected(kitty: Kitty, list_: int) -> str:
    """The row that is selected in a list, once its program draws it."""
    return next((line for line in kitty.get_text(list_).splitlines() if line.startswith("▸")), "")


def rollouts(tab: Tab) -> dict[str, Path]:
    """Codex's sessions by their ids."""
    paths = (tab.kitty.home / ".codex/sessions").glob("*/*/*/rollout-*.jsonl")
    return {path.stem[-36:]: path for path in paths}


@pytest.mark.parametrize("tab", [("codex", "codex --no-daemon")], indirect=True, ids=["codex"])
def test_codex(tab: Tab) -> None:
    """Codex's fork knows what was said, by the id of the session that the record of its process is of."""
    kitty = tab.kitty
    known = set(rollouts(tab))
    word = tab.new("remember")
    tab.submit(word)
    tab.truth("done")
    kitty.wait_until(lambda: [p for p in rollouts(tab).values() if word in p.read_text()], what="the session's file")
    first = next(id_ for id_, path in rollouts(tab).items() if word in path.read_text())
    before = rollouts(tab)[first].read_text()
    kitty.wait_until(lambda: entry(tab).conversation.session == first, what="the session id")
    forked, page = fork(tab, "Fork Codex")
    kitty.wait_text(forked, word, 30)
    answer(tab, forked, "zebra")

    def new() -> list[str]:
        return [id_ for id_ in rollouts(tab) if id_ not in known | {first}]

    assert f"fork {first}" in page
    assert kitty.wait_until(new, what="a session of its own")
    # Codex may yet have had to write down the end of its own turn, but nothing of the fork's.
    left = rollouts(tab)[first].read_text()
    assert left.startswith(before)
    assert "zebra" not in left
    assert "zebra" not in kitty.get_text(tab.window)


@pytest.fixture
def opencode(keys: Desk) -> Iterator[int]:
    """A tab in front with OpenCode at its prompt, in a directory of its own."""
    kitty = keys.kitty
    if os.geteuid() != 0:
        pytest.skip("real agents run in a network namespace with nothing but loopback: that needs root")
    try:
        program = install(AGENTS["opencode"])
    except InstallError as error:
        pytest.skip(str(error))
    local = kitty.home / ".local/bin/opencode"
    if not local.exists():
        try:
            os.link(program.resolve(), local)
        except OSError:
            shutil.copy(program, local)
    launch = WAYS["opencode"](kitty.home, keys.model.port)
    project = kitty.home / "opencode-project"
    project.mkdir(exist_ok=True)
    first = kitty.windows()[0]["id"]
    before = {window["id"] for window in kitty.windows()}
    window = kitty.launch("bash", env=launch.env, cwd=str(project))
    kitty.wait_until(lambda: kitty.window(window)["at_prompt"], 10, "the shell's prompt")
    kitty.send_text(window, "opencode\r")
    kitty.wait_until(lambda: re.search(MANNERS["opencode"].ready, kitty.get_text(window)), 60, "OpenCode's prompt")
    time.sleep(1.0)  # nothing says when it takes keys
    yield window
    for each in kitty.windows():
        if each["id"] not in before:
            kitty.close_window(each["id"])
    kitty.focus_window(first)


def test_opencode(keys: Desk, opencode: int) -> None:
    """
    OpenCode is answered from the list, though only a colour tells which answer is selected. Its fork knows what was
    said, by the id that its own records tell, and is a session of its own.
    """
    kitty = keys.kitty
    answer(keys, opencode, "remember opencode")
    answered_by_colour(keys, opencode)
    sessions = listed(keys)
    (session,) = sessions
    forked, page = fork(keys, "Fork OpenCode")
    kitty.wait_text(forked, "remember opencode", 60)
    answer(keys, forked, "zebra")

    assert f"opencode --session {session} --fork" in page
    assert kitty.tab_of(forked) == kitty.tab_of(opencode)
    assert sessions < listed(keys)
    assert "zebra" not in kitty.get_text(opencode)


def answered_by_colour(desk: Desk, window: int) -> None:
    """The person there has moved the selection; the keys lead from where it stands now, and the agent goes on."""
    kitty, made = desk.kitty, desk.kitty.home / "opencode-project/by-colour"
    first = kitty.windows()[0]["id"]
    kitty.send_text(window, "TOOL touch by-colour THEN fine")
    kitty.wait_text(window, "TOOL touch by-colour")
    time.sleep(CODEX.settles)
    kitty.send_key(window, "enter")
    kitty.wait_text(window, MANNERS["opencode"].permission, 60)
    kitty.wait_until(lambda: entry_of(kitty, window).status is Status.WAITING, 20, "the light of the question")
    time.sleep(CODEX.settles)

    def drawn() -> str:
        rows = kitty.eval(f"from tallylight.hosts.kitty import screens\nreturn screens.styled_rows({at})")
        return next(row for row in rows if "Allow once" in row)

    at = f"boss.window_id_map[{window}]"
    before = drawn()
    kitty.send_key(window, "right")
    kitty.wait_until(lambda: drawn() != before, 10, "another answer selected")
    kitty.focus_window(first)
    list_ = asked_in_list(kitty)
    # Its begin is shown first, and all of it has to be.
    texts = [kitty.wait_text(list_, "Esc leave", 20)]
    while "answer   Esc leave" not in texts[-1]:
        kitty.xdotool("key", "Next")
        texts.append(kitty.wait_until(lambda: text if (text := kitty.get_text(list_)) != texts[-1] else None, 20))
    text = "\n".join(texts)
    if folder := os.environ.get("TALLYLIGHT_PICTURES"):
        kitty.screenshot(Path(folder) / f"{kitty.version}-answer-opencode.png")
    assert "touch by-colour" in text
    assert all(answer in text for answer in ("Allow once", "Allow always", "Reject"))
    assert not made.exists()
    answer_first(kitty, list_, "answered 1. Allow once")
    kitty.wait_until(made.exists, 60, "what was allowed")
    leave(kitty, list_)
    kitty.focus_window(window)


def listed(desk: Desk) -> set[str]:
    """The ids of OpenCode's sessions."""
    with contextlib.closing(sqlite3.connect(desk.kitty.home / ".local/share/opencode/opencode.db")) as database:
        return {row[0] for row in database.execute("SELECT id FROM session WHERE parent_id IS NULL")}
