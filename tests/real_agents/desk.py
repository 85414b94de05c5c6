"""A desk: one real kitty with the suite installed, the scripted model beside it, and real agents started in its tabs.

All of it runs in one room with nothing but loopback. The truth is the model's marks, or a key press or what is on the
glass for what the model cannot know. The light is what `kitten @ ls` says: the window's variables, which kitty itself
notes with the time whenever they are published, on the clock that the marks are dated by. (Asking with `ls` all the
time would date them by the answers, and load the machine that is measured.) The tab of an agent is never the one shown,
so that `done` is not seen away.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from tallylight.evidence.titles import TITLE_START_S
from tallylight.snapshot import writer
from tallylight.snapshot.schema import RecordEntry
from tests.real_agents.driver import Launch, RemoteModel, StatusWatch, prepare_claude, prepare_codex, wait_until
from tests.real_agents.waits import Waits
from tests.real_kitty.harness import SMALL, Kitty
from tests.real_kitty.install import install, watcher_line

#: How late a light may be that is made from looking on.
PROMPTLY = 1.0
#: How late one may be that the agent itself asks for, on a machine that has nothing else to do.
AT_ONCE = 0.25
#: The word goes from the model through the agent, the relay and kitty. On a machine that is busy with other things each
#: of them gets its turn as late as kitty gets it to answer a question: so much longer may it take.
STATIONS = 4
#: More pixels than a character is wide.
_CELL = 12

_NOTE = """
import time, tallylight.hosts.kitty.watcher as module
from tallylight.hosts.kitty import user_vars
real, clock = user_vars.publish, time.monotonic
module.agent_lights = []

def noting(window, pane):
    real(window, pane)
    found = {k: v for k, v in window.user_vars.items() if k.startswith("tally_")}
    reason = pane.decision.reason
    if "tally_reason" in found:  # the newest, which by itself is not published
        found["tally_reason"] = f"{reason.source.word if reason.source else 'none'}: {reason.rule}"
    below = {id_: str(found.status) for id_, found in pane.tracker.records().items() if id_}
    module.agent_lights.append((clock(), window.id, found, below))

user_vars.publish = noting
"""
_LIGHTS = """
import tallylight.hosts.kitty.watcher as module
rows = [row for row in module.agent_lights if row[1] == {window}]
first = max((number for number, row in enumerate(rows) if row[0] <= {since}), default=0)
return rows[first:]
"""


class Manner(NamedTuple):
    """How one agent looks and is talked to: patterns for its screen, and keys."""

    ready: str
    permission: str
    approve: str
    question: str
    plan: str
    interrupted: str
    failed: str
    leave: str
    #: How long it leaves keys alone that come with a dialog, or an Enter that comes with the text.
    settles: float


CLAUDE = Manner(
    ready="manual mode on",
    permission="Do you want to proceed",
    approve="1",
    question="Enter to select",
    plan="",
    interrupted=r"⎿\s+Interrupted ·",
    failed="API Error: 400",
    leave="/exit",
    settles=0.6,  # 0.1 s was too early, 0.2 s was not
)
CODEX = Manner(
    ready="Ask Codex to do anything",
    permission="Would you like to run",
    approve="y",
    question="enter to submit answer",
    plan="/plan ",  # it asks nothing otherwise
    interrupted="Conversation interrupted",
    failed="the script says 400",
    leave="/quit",
    settles=0.3,
)


class Light(NamedTuple):
    """What one window's light was from `at` on, and the records below its own."""

    at: float
    variables: dict[str, str]
    below: dict[str, str]

    @property
    def status(self) -> str:
        """The status that is published."""
        return self.variables.get("tally_status", "")

    @property
    def agent(self) -> str:
        """Whose light it is."""
        return self.variables.get("tally_agent", "")

    @property
    def reason(self) -> str:
        """Why, and by whom."""
        return self.variables.get("tally_reason", "")

    @property
    def name(self) -> str:
        """`status`, and after a slash the kind."""
        kind = self.variables.get("tally_kind", "")
        return f"{self.status}/{kind}" if kind else self.status


class Desk:
    """A kitty with the suite installed, the scripted model beside it, and the tabs in which agents are at rest."""

    def __init__(
        self,
        version: str,
        folder: Path,
        *,
        claude: Path | None = None,
        codex: Path | None = None,
        env: Mapping[str, str] | None = None,
        columns: int = 0,
    ) -> None:
        """*env* is for kitty, beside its own; *columns* is how wide its windows are, 0 for as wide as they come."""
        self.kitty = Kitty(version, scale=SMALL, env=env, size=(max(1000, columns * _CELL), 600))
        width = f"initial_window_width {columns}c\n" if columns else ""
        self.kitty.kitty_conf.write_text(width + watcher_line(install(self.kitty.home, version)))
        local = self.kitty.home / ".local/bin"
        self.kitty.start()
        self.kitty.eval(_NOTE)
        self.model = RemoteModel(self.kitty, folder)
        self.launches: dict[str, Launch] = {}
        if claude is not None:
            os.link(claude, local / "claude")
            self.launches["claude"] = prepare_claude(self.kitty.home, local / "claude", self.model.port)
        if codex is not None:
            (local / "codex").symlink_to(codex)
            self.launches["codex"] = prepare_codex(self.kitty.home, local / "codex", self.model.port)
        self._resting: dict[str, Tab] = {}

    def borrow(self, agent: str, command: str) -> Tab:
        """A tab in which `command` has brought `agent` to its prompt: one at rest, or a fresh one."""
        tab = self._resting.pop(command, None) or Tab(self, agent, command)
        tab.begin()
        return tab

    def give_back(self, tab: Tab) -> None:
        """Keep a tab for the next test if its agent is at rest, else close it."""
        sys.stdout.write(f"{tab.history()}\n")  # pytest shows it with a failed test
        if tab.is_at_rest():
            self._resting[tab.command] = tab
        else:
            tab.close()

    def close(self) -> None:
        """End it all."""
        for tab in self._resting.values():
            tab.close()
        self.model.close()
        self.kitty.close()


class Tab:
    """A tab with a shell in it, in which an agent was started by a command."""

    def __init__(self, desk: Desk, agent: str, command: str) -> None:
        self.kitty, self.model, self.agent, self.command = desk.kitty, desk.model, agent, command
        self.manner = {"claude": CLAUDE, "codex": CODEX}[agent]
        self.project = desk.launches[agent].cwd
        self._names = 0
        self._prompt = "\0"  # none yet, and none is like it
        self._trips: list[tuple[float, float]] = []
        self._waits = Waits(())
        self._status = StatusWatch(self.kitty.home) if agent == "claude" else None
        # Only what is the agent's own: the rest of its surroundings are the kitty's.
        given = {n: v for n, v in desk.launches[agent].env.items() if n.startswith(("ANTHROPIC", "CLAUDE", "DISABLE"))}
        given |= {n: v for n, v in desk.launches[agent].env.items() if n.startswith("SCRIPTED")}
        self.window = self.kitty.launch(env=given, cwd=str(self.project), keep_focus=True)
        self.kitty.wait_until(lambda: self.kitty.window(self.window)["at_prompt"], 30, "the shell's prompt")
        self.started = self.type(f"{command}\r")
        self.begin()
        self.shows(self.manner.ready, 30)
        self.ready = time.monotonic()
        # The agent, the relay, the shell, kitty, and the room that they run in; and its daemon, if it has one.
        pid = self.pid()
        parents = [parent.pid for parent in psutil.Process(pid).parents()]
        self._waits = Waits([pid, *parents, *self._pids(has_terminal=False)])

    def begin(self) -> None:
        """Forget what was before: a test begins."""
        self.since = time.monotonic()
        self._marks_before = len(self.model.marks)
        self._waits.note()

    # What is done to it ------------------------------------------------------------------------------------------

    def new(self, word: str = "made") -> str:
        """A name that this tab has not used: for what is held, for a file."""
        self._names += 1
        return f"{word}{self.window}x{self._names}"

    def type(self, text: str) -> float:
        """Type text; the time."""
        self.kitty.send_text(self.window, text)
        self._waits.note()
        return time.monotonic()

    def key(self, key: str) -> float:
        """Press a key; the time."""
        self.kitty.send_key(self.window, key)
        self._waits.note()
        return time.monotonic()

    def submit(self, prompt: str) -> float:
        """Type a prompt and press Enter; the time of Enter."""
        # Nobody is so quick, and what an agent does while it starts is not taken for a turn.
        time.sleep(max(0.0, self.started + TITLE_START_S + 0.5 - time.monotonic()))
        start = prompt[:40]
        before = self.kitty.get_text(self.window).count(start)
        self.type(prompt)
        self.kitty.wait_until(
            lambda: self.kitty.get_text(self.window).count(start) > before, 30, f"{start!r} in the window"
        )
        self._prompt = prompt.removeprefix(self.manner.plan)
        if self.agent == "codex":
            time.sleep(self.manner.settles)  # an Enter that comes at once belongs to what is pasted
        return self.key("enter")

    def answer(self, dialog: str, text: str = "", *, key: str = "") -> float:
        """Wait for a dialog and answer it, with text or with a key; the time."""
        self.shows(dialog)
        time.sleep(self.manner.settles)  # no event says when it listens
        return self.key(key) if key else self.type(text)

    def look(self) -> None:
        """Have a look at the tab that is done, as a person: that is old news then. Look away again."""
        other = next(window["id"] for window in self.kitty.windows() if window["id"] != self.window)
        self.kitty.focus_window(self.window)
        try:
            self.wait("idle", since=time.monotonic())
        finally:
            self.kitty.focus_window(other)

    def leave(self) -> float:
        """End the agent as a person does; the time of the shell's prompt."""
        self.submit(self.manner.leave)
        self.kitty.wait_until(lambda: self.kitty.window(self.window)["at_prompt"], 30, "the shell's prompt")
        return time.monotonic()

    def unlit(self) -> Light:
        """The light of a tab whose agent is gone, once it is nobody's any more."""
        try:
            light: Light = wait_until(
                lambda: next((x for x in self.lights()[-1:] if not x.agent), None), 30, "nobody's light"
            )
            return light
        except TimeoutError as error:
            raise AssertionError(f"{error}; the lights were\n{self.history()}") from None

    # What is seen of it ------------------------------------------------------------------------------------------

    def lights(self, since: float = 0.0) -> list[Light]:
        """Every light this window had since then, beginning with the one that was on."""
        self._waits.note()
        asked = time.monotonic()
        rows = self.kitty.eval(_LIGHTS.format(window=self.window, since=since))
        self._trips.append((asked, time.monotonic() - asked))
        lights = [Light(at, variables, below) for at, _, variables, below in rows]
        ends = [*(light.at for light in lights[1:]), float("inf")]
        return [light for light, end in zip(lights, ends, strict=True) if end > since]

    def names(self, since: float | None = None) -> set[str]:
        """What the light was called in this test, or since then."""
        return {light.name for light in self.lights(self.since if since is None else since)}

    def wait(self, *names: str, since: float, timeout: float = 30, source: str = "") -> Light:
        """
        The first time from `since` on that the light was called one of `names`; at `since`, if it was on then.

        With a `source`, the first one that is decided by it: another may be a moment quicker to say the same.
        """

        def found() -> Light | None:
            lights = self.lights(since)
            return next((one for one in lights if one.name in names and one.reason.startswith(source)), None)

        try:
            light: Light = wait_until(found, timeout, f"light {' or '.join(names)!r} {source}".rstrip(), 0.05)
        except TimeoutError as error:
            raise AssertionError(f"{error}; the lights were\n{self.history()}\n{self.kitty.describe()}") from None
        return light

    def at_once(self, light: Light, truth: float, what: str = "", *, within: float = AT_ONCE) -> None:
        """Assert that a light came so soon after the truth, as far as this machine is quick."""
        late = light.at - truth
        self._waits.note()
        kept = self._waits.between(truth, light.at)
        trip = max((seconds for at, seconds in self._trips if at >= truth - 0.5), default=0.0)
        what = what or light.name
        slow = f"trip {trip * 1000:4.0f} ms  kept {kept * 1000:4.0f} ms"
        sys.stdout.write(f"late {late * 1000:5.0f} ms  {slow}  {self.command}: {what}\n")
        assert late < within + STATIONS * trip + kept, f"{what}: {late:.3f} s late; {slow}"

    def promptly(self, light: Light, truth: float) -> None:
        """The same of a light that is made from looking on."""
        self.at_once(light, truth, within=PROMPTLY)

    def truth(self, name: str, nth: int = 1) -> float:
        """When a mark of this tab's agent came for the `nth` time in this test."""

        def found() -> list[float]:
            marks = self.model.marks[self._marks_before :]
            return [mark["monotonic"] for mark in marks if mark["mark"] == name][nth - 1 :]

        at: float = wait_until(found, 30, f"mark {name!r} number {nth}")[0]
        return at

    def shows(self, pattern: str, timeout: float = 30) -> float:
        """Wait for the window to show what matches, below the last prompt; the time it was seen."""

        def found() -> bool:
            text = self.kitty.get_text(self.window)
            return bool(re.search(pattern, text.rpartition(self._prompt)[2]))

        self.kitty.wait_until(found, timeout, f"{pattern!r} in the window")
        return time.monotonic()

    def made_at(self, name: str) -> float:
        """When a tool made a file, on the monotonic clock: the truth about when work went on."""
        return (self.project / name).stat().st_mtime - time.time() + time.monotonic()

    def pid(self) -> int:
        """The agent's pid, as this side of the room counts. Behind a relay it is not in kitty's foreground."""
        for pid in self._pids(f"KITTY_WINDOW_ID={self.window}", has_terminal=True):
            return pid
        raise AssertionError(f"no process of window {self.window} is called {self.agent}")

    def _pids(self, *variables: str, has_terminal: bool) -> Iterator[int]:
        """The processes of this kitty's home that are called as the agent is, with *variables* in their environment."""
        wanted = {variable.encode() for variable in (f"HOME={self.kitty.home}", *variables)}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                program = (process / "cmdline").read_bytes().split(b"\0")[0].decode()
                terminal = (process / "stat").read_text().rpartition(")")[2].split()[4]
                is_ours = wanted <= set((process / "environ").read_bytes().split(b"\0"))
            except OSError:
                continue
            if is_ours and (terminal != "0") is has_terminal and Path(program).name == self.agent:
                yield int(process.name)

    def records(self) -> Sequence[RecordEntry]:
        """The records of this window that the host wrote for other programs."""
        found = next(iter((self.kitty.runtime_dir / "tallylight").glob("kitty-*.json")), None)
        read = writer.read(found) if found else None
        return next((pane.evidence.records for pane in read.panes if pane.id == str(self.window)), ()) if read else ()

    def history(self) -> str:
        """What was written on the clock in this test, in words and in order of time."""
        events: list[tuple[float, str]] = []
        before: tuple[object, ...] = ()
        for light in self.lights(self.since):
            words = (light.name, re.sub("glyph .", "glyph", light.reason), light.below)
            if words != before:
                events.append((light.at, f"{light.name} ({light.reason}) {light.below or ''}"))
            before = words
        marks = self.model.marks[self._marks_before :]
        events += [(mark["monotonic"], f"    mark {mark['mark']} {mark['prompt'][:60]!r}") for mark in marks]
        files = self._status.history if self._status else []
        events += [(seen.at, f"    file {seen.status}") for seen in files if seen.at >= self.since]
        return "\n".join(f"{at - self.since:7.3f} {what}" for at, what in sorted(events))

    def is_at_rest(self) -> bool:
        """Whether the agent is at its prompt, with nothing typed and nothing asked."""
        text, lights = self.kitty.get_text(self.window), self.lights()
        at_work = {"working", "waiting", "background"}
        return bool(re.search(self.manner.ready, text) and lights and lights[-1].status not in at_work)

    def close(self) -> None:
        """Close the tab, and wait for its agent's end: while it saves its files the next one cannot have them."""
        if self._status:
            self._status.close()
        pids = [*self._pids(f"KITTY_WINDOW_ID={self.window}", has_terminal=True)]
        self.kitty.close_window(self.window)
        self.kitty.wait_until(lambda: not any(map(psutil.pid_exists, pids)), what=f"the end of {self.agent}")
