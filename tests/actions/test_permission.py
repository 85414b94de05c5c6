"""
What each caller may do, at each level, on every surface: sixteen ways to start a program below an agent, and more.

What is expected stands here once, word by word. Every cell is asked of the surface itself: of kitty's scripts, of what
reaches panes from a process of its own, of both ends of a bridge, and of the server with its token.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from starlette.testclient import TestClient

from tallylight.actions.answer import Answer, Done
from tallylight.actions.answered import InProcess
from tallylight.actions.caller import PERSON, Caller, Who, caller_of
from tallylight.actions.client import PaneClient
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.perform import Access, perform
from tallylight.actions.permission import TABLE, Verb, Verdict, check
from tallylight.actions.request import Given, LookRequest, Start
from tallylight.actions.say import Interrupt, Say
from tallylight.actions.seat import let_in
from tallylight.config.settings import SCRIPTING
from tallylight.evidence.screen import Look as ScreenLook
from tallylight.model.status import Kind, Status
from tallylight.parts.conversations.verbs import start
from tallylight.parts.remote.host import forbidden
from tallylight.parts.web.app import Service
from tallylight.parts.web.asking import who_asks
from tallylight.parts.web.push.routes import Push
from tallylight.parts.web.push.subscriptions import Store
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane
from tests.actions.callers import CALLERS, Hand, as_caller, at
from tests.actions.desk import PID, START, Desk, seen
from tests.actions.known import AGENTS
from tests.actions.ways import AGENT, ASKER, EVERY, KITTY, TMUX, WAYS
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.script_desk import CLAUDE, ScriptDesk
from tests.parts.remote.far import HandPanes
from tests.parts.web.serving import AUTH, Served
from tests.tables import each

VERBS = ("read", "text", "permission", "interrupt", "start")
#: Who the program is, for kitty, for what asks from outside of it, and for the page, which has its token.
WHO = {
    "a plain child":                            "agent    agent    agent",
    "a child of a shell":                       "agent    agent    agent",
    "a background job":                         "agent    agent    agent",
    "nohup":                                    "agent    agent    agent",
    "setsid":                                   "agent    agent    agent",
    "a double fork":                            "unknown  unknown  person",
    "a double fork and setsid":                 "unknown  unknown  person",
    "fork, setsid, fork, with the middle gone": "unknown  unknown  person",
    "exec over the shell of the agent":         "agent    agent    agent",
    "env -i":                                   "agent    agent    agent",
    "a terminal of its own":                    "agent    agent    agent",
    "a terminal of its own, as an orphan":      "unknown  unknown  person",
    "the tmux of the person":                   "unknown  script   person",
    "a tmux of its own":                        "unknown  script   person",
    "another name, and a copied interpreter":   "agent    agent    agent",
    "a reaper of its own in between":           "agent    agent    agent",
    "an orphan that is called like an agent":   "stray    stray    stray",
    "a job of tmux, in no pane":                "unknown  unknown  person",
    "a copy of a terminal, as an orphan":       "unknown  script   person",
    "a terminal below the agent":               "agent    agent    agent",
    "a process namespace":                      "agent    agent    agent",
    "`expect`":                                 "agent    agent    agent",
    "`dtach`":                                  "unknown  unknown  person",
    "`abduco`":                                 "unknown  unknown  person",
    "GNU Screen":                               "unknown  script   person",
    "a tmux that it is attached to":            "unknown  script   person",
    "a window of the person's tmux":            "unknown  script   person",
    "`ssh` to this machine":                    "unknown  script   person",
    "`systemd-run --user --pty`":               "unknown  unknown  person",
    "`at`":                                     "unknown  unknown  person",
    "`cron`":                                   "unknown  unknown  person",
    "a terminal that `cron` starts":            "unknown  script   person",
    "another kitty over `kitten @ launch`":     "unknown  script   person",
    "`wezterm cli spawn`":                      "unknown  script   person",
}  # fmt: skip
#: What comes of it in a pane that it has not started, in the order of `VERBS`: it is done, a person is asked, or the
#: rule that refuses it.
CELLS = {
    ("person",  "none"): "done        done        done        done        done",
    ("person",  "own"):  "done        done        done        done        done",
    ("person",  "ask"):  "done        done        done        done        done",
    ("person",  "all"):  "done        done        done        done        done",
    ("script",  "none"): "permission  permission  permission  permission  permission",
    ("script",  "own"):  "done        permission  permission  permission  done",
    ("script",  "ask"):  "done        asked       asked       asked       asked",
    ("script",  "all"):  "done        done        done        done        done",
    ("agent",   "none"): "permission  permission  permission  permission  permission",
    ("agent",   "own"):  "done        permission  permission  permission  done",
    ("agent",   "ask"):  "done        asked       asked       asked       asked",
    ("agent",   "all"):  "done        done        done        done        done",
    ("stray",   "none"): "permission  permission  permission  permission  permission",
    ("stray",   "own"):  "done        permission  permission  permission  done",
    ("stray",   "ask"):  "done        permission  permission  permission  asked",
    ("stray",   "all"):  "done        permission  permission  permission  done",
    ("unknown", "none"): "caller      caller      caller      caller      caller",
    ("unknown", "own"):  "caller      caller      caller      caller      caller",
    ("unknown", "ask"):  "caller      caller      caller      caller      caller",
    ("unknown", "all"):  "done        caller      caller      caller      done",
}  # fmt: skip
SCREENS = {
    "read": ("claude/permission-bash-80", Status.WAITING),
    "text": ("claude/idle-after-turn-80", Status.IDLE),
    "permission": ("claude/permission-bash-80", Status.WAITING),
    "interrupt": ("claude/working-80", Status.WORKING),
    "start": ("claude/idle-after-turn-80", Status.IDLE),
}
NAMES = {"person": Who.PERSON, "script": Who.SCRIPT, "agent": Who.AGENT, "stray": Who.STRAY, "unknown": Who.UNKNOWN}


def expected(surface: int, way: str, level: str, verb: str) -> str:
    """What stands above."""
    return CELLS[WHO[way].split()[surface], level].split()[VERBS.index(verb)]


def outcome(told: object) -> str:
    """The same of what a surface tells."""
    if told is None:
        return "asked"
    return told.rule if isinstance(told, Refusal) else "done"


def given_for(verb: str, pid: int = PID, begun: int = START) -> Given:
    """What is typed into pane 3, or into the process *pid* of another one."""
    if verb == "text":
        return Say("3", pid, begun, "go on", enter=True)
    if verb == "interrupt":
        return Interrupt("3", pid, begun)
    shown = Desk(seen(SCREENS["permission"][0])).shown()
    return Answer("3", pid, begun, shown.fingerprint, 1)


def test_there_are_sixteen() -> None:
    """And each of them stands in the table, as what it is for both sides."""
    assert len(WAYS) == 16
    assert list(WHO) == list(EVERY)
    for name, way in EVERY.items():
        in_kitty, elsewhere, page = WHO[name].split()
        assert (NAMES[in_kitty], NAMES[elsewhere]) == (way.in_kitty, way.elsewhere)
        assert page == ("person" if elsewhere in ("unknown", "script") else elsewhere)


# In kitty -------------------------------------------------------------------------------------------------------------


@attrs.define
class InKitty:
    """A kitty in which *verb* could be done to window 3, and the agent runs in window 2."""

    desk: ScriptDesk
    verb: str

    @classmethod
    def of(cls, kitty: Kitty, verb: str) -> InKitty:
        screen, status = SCREENS[verb]
        desk = ScriptDesk.of(kitty, screen, status)
        desk.scripts.starts = SimpleNamespace(start=lambda *words: Done("4", "") if words[-1]() else None)
        desk.module.consents = SimpleNamespace(ask=lambda *_: None)
        return cls(desk, verb)

    def ask(self, table: Hand, level: str, *, is_own: bool = False) -> object:
        """What the program is told that wants to do that; *is_own*: to the pane in which it runs."""
        desk = self.desk
        desk.module.process_table.table = lambda: Both(table)
        desk.host.config.scripting = level
        desk.scripts._is_asking = False
        desk.host.once = Once(0.0, InProcess())
        caller = desk.scripts.identify(ASKER)
        if self.verb == "start":
            return desk.scripts.act(Start("claude", "tab", "", ""), caller)
        if self.verb == "read":
            return desk.scripts.act(LookRequest("3", "screen"), caller)
        given = given_for(self.verb, *((AGENT, AGENT * 10) if is_own else (PID, START)))
        return desk.scripts.act(attrs.evolve(given, pane="2" if is_own else "3"), caller)


class Both(Hand):
    """The processes of a way, and that of window 3."""

    def __init__(self, table: Hand) -> None:
        super().__init__(*table.processes.values(), CLAUDE, terminals=table.terminals)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_in_kitty(kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """What it starts stands beside the window it runs in: one that runs in none has no place."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    inside = InKitty.of(kitty, verb)
    wrong = []
    for way, level in ((way, level) for way in EVERY for level in SCRIPTING):
        wanted = expected(0, way, level, verb)
        if verb == "start" and wanted in ("done", "asked") and EVERY[way].in_kitty not in (Who.AGENT, Who.SCRIPT):
            wanted = "place"
        typed = len(inside.desk.window.written)
        found = outcome(inside.ask(EVERY[way].table(KITTY), level))
        has_typed = len(inside.desk.window.written) > typed
        if found != wanted or has_typed != (found == "done" and verb not in ("read", "start")):
            wrong.append((way, level, found, wanted))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS[1:4])
def test_never_into_the_pane_in_which_it_runs(
    kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """At no level, in no way: by `self` where its line is whole, else as a stranger, or as one that may nothing."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    inside = InKitty.of(kitty, verb)
    rules = {Who.AGENT: "self", Who.UNKNOWN: "caller", Who.STRAY: "permission"}
    for way in EVERY.values():
        for level in SCRIPTING:
            told = inside.ask(way.table(KITTY), level, is_own=True)
            assert isinstance(told, Refusal) and told.rule == rules[way.in_kitty], (way, level, told)
    assert inside.desk.window.written == []


WORDS = ["  ┃", "  ┃  △ Reject permission", "  ┃  Tell what to do instead", "  ┃", "  ┃   enter confirm"]


@pytest.mark.parametrize(
    ("kind", "confirmed", "rule"),
    [(Kind.INPUT, Kind.INPUT, "done"), *((Kind.INPUT, kind, "permission") for kind in (None, Kind.PERMISSION))],
)
def test_a_text_for_a_dialog_needs_two_sources(kind: Kind, confirmed: Kind | None, rule: str) -> None:
    """A program gives one only to a dialog that two sources call no permission."""
    shown = seen("opencode/denied-80", kind=kind, confirmed_kind=confirmed)
    desk = Desk(attrs.evolve(shown, look=ScreenLook([*shown.look.lines[:8], *WORDS], 10, 0, 80)))
    given = Say("3", PID, START, "go on", enter=True, fingerprint=desk.shown().fingerprint)
    permit = functools.partial(check, "own", is_own=True)
    access = Access(desk, Once(0.0, InProcess()), lambda caller, verb, _: permit(caller, verb))

    assert outcome(perform(access, given, CALLERS[Who.SCRIPT])) == rule
    assert (desk.typed == []) == (rule != "done")
    assert outcome(perform(access, given, PERSON)) == "done" or rule == "done"


# From a process of its own, and over the bridge -----------------------------------------------------------------------


def by_reach(caller: Caller, level: str, verb: str, *, is_own: bool = False) -> object:
    """What is told of a pane of tmux; *is_own*: of the one in which the agent runs."""
    screen, status = SCREENS[verb]
    desk = Desk(seen(screen, status, kind=Kind.PERMISSION if status is Status.WAITING else None))
    reach = PaneClient(HandPanes({"3": desk}), lambda: caller, at(level), once=Once(0.0, InProcess()))
    found = Row("sessions-1", Pane(id="3", status=status))
    if verb == "read":
        return reach.look(found, "screen")
    told = reach.perform(found, given_for(verb, *((AGENT, AGENT * 10) if is_own else (PID, START))))
    assert isinstance(told, Refusal) == (desk.typed == [])
    return told


def by_start(caller: Caller, level: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """What `tally start --in tmux` does."""
    monkeypatch.setattr(start, "own_caller", lambda _: caller)
    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.start.plan", lambda *_: None)
    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.confinement.is_confined", lambda *_: False)
    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.starts.start", lambda *_: Done("tmux/1/%3", ""))
    monkeypatch.setattr("tallylight.parts.conversations.verbs.start.starts.search_path", lambda _: "")
    options = argparse.Namespace(agent="claude", prompt="", name="")
    return start._start_in_tmux(next(iter(AGENTS)), options, level)


def unasked(wanted: str) -> str:
    """Outside of kitty nobody can be asked."""
    return "permission" if wanted == "asked" else wanted


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_from_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """Panes of tmux, GNU Screen and WezTerm; and for the far end of a bridge that a program of this machine runs."""
    for name, way in EVERY.items():
        table = way.table(TMUX)
        monkeypatch.setattr("tallylight.evidence.process_table.table", lambda table=table: table)
        identify = functools.partial(caller_of, agents=AGENTS, table=table)
        caller = identify(ASKER)
        for level in SCRIPTING:
            wanted = unasked(expected(1, name, level, verb))
            for one in (caller, let_in(caller, identify, table)):
                told = by_start(one, level, monkeypatch) if verb == "start" else by_reach(one, level, verb)
                assert outcome(told) == wanted, (name, level, told)
            if verb in VERBS[1:4] and way.elsewhere is Who.AGENT:
                assert outcome(by_reach(caller, level, verb, is_own=True)) == "self"


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS[:4])
def test_over_the_bridge(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """The near end passes on what its own peer may ask for, whether it says that a key was pressed or not."""
    asked = LookRequest("3", "screen") if verb == "read" else given_for(verb)
    for name, way in EVERY.items():
        table = way.table(TMUX)
        monkeypatch.setattr("tallylight.parts.remote.host.process_table.table", lambda table=table: table)
        identify = functools.partial(caller_of, agents=AGENTS, table=table)
        for level in SCRIPTING:
            wanted = unasked(expected(1, name, level, verb))
            for is_key in (False, True):
                told = forbidden(level, identify(ASKER), asked, identify, is_key=is_key)  # type: ignore[arg-type]
                assert ("done" if told is None else told.rule) == wanted, (name, level, is_key, told)


# On the page ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_on_the_page(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """With its token, from this machine. Nothing can be started there, by nobody."""
    screen, status = SCREENS[verb]
    served, table, allow = Served(), Hand(), ["none"]
    served.shows("sessions", Pane(id="%1", status=status, agent="claude"))
    served.guard.writes.burst = 10**6
    monkeypatch.setattr("tallylight.evidence.process_table.table", lambda: table)
    reach = PaneClient(served.panes, as_caller(Who.UNKNOWN), lambda _: allow[0])
    asking = functools.partial(who_asks, agents=AGENTS, processes=lambda *_: (ASKER,))
    app = Service(served.guard, served._read, reach, asking=asking).app()
    with TestClient(app, base_url="http://127.0.0.1:8787", headers=AUTH, client=("127.0.0.1", 50000)) as client:
        for (name, way), level in itertools.product(EVERY.items(), SCRIPTING):
            vars(table).update(vars(way.table(TMUX)))
            allow[0], reach.once = level, Once(0.0, InProcess())
            served.panes.desk("%1", screen, status=status)
            found = on_page(client, verb)
            if verb == "start":
                assert found == "404"
                continue
            assert found == unasked(expected(2, name, level, verb)), (name, level)
            assert bool(served.panes.typed) == (found == "done" and verb != "read"), (name, level)


def on_page(client: TestClient, verb: str) -> str:
    """What comes of a request."""
    address = "sessions-1:%1"
    if verb == "read":
        found = client.get("/api/v1/buffer", params={"address": address})
    else:
        body: dict[str, object] = {"address": address, "pid": PID, "start": START}
        if verb == "permission":
            body |= {"fingerprint": given_for(verb).fingerprint, "choice": 1}  # type: ignore[union-attr]
        if verb == "text":
            body |= {"text": "go on"}
        path = {"permission": "answer"}.get(verb, verb)
        found = client.post(f"/api/v1/{path}", json=body)
    return str(found.json()["rule"]) if found.status_code == 409 else "done" if found.is_success else "404"


@pytest.mark.slow
def test_no_way_around_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages that say what is asked are for a person."""
    served = Served()
    table = WAYS["a plain child"].table(TMUX)
    monkeypatch.setattr("tallylight.evidence.process_table.table", lambda: table)
    asking = functools.partial(who_asks, agents=AGENTS, processes=lambda *_: (ASKER,))
    push = Push(served.guard, Store(Path("/proc/nowhere/push")))
    app = Service(served.guard, served._read, served.client, asking=asking, push=push).app()
    headers = {**AUTH, "Origin": "http://127.0.0.1:8787"}
    with TestClient(app, base_url="http://127.0.0.1:8787", headers=headers, client=("127.0.0.1", 50000)) as client:
        body = {"endpoint": "https://push.example/x", "p256dh": "x", "auth": "x"}
        found = client.post("/api/v1/subscribe", json=body)
    assert (found.status_code, found.json()["rule"]) == (409, "permission")


# Words ----------------------------------------------------------------------------------------------------------------


def test_an_own_pane() -> None:
    """What a caller started it may type into, and answers plain questions there; a permission is a person's."""
    for who in (Who.SCRIPT, Who.AGENT, Who.STRAY):
        for verb in (Verb.TEXT, Verb.QUESTION, Verb.INTERRUPT, Verb.PERMISSION):
            told = check("own", CALLERS[who], verb, is_own=True)
            assert (told is Verdict.ALLOWED) is (verb is not Verb.PERMISSION)
            assert isinstance(check("none", CALLERS[who], verb, is_own=True), Refusal)


def test_a_sandbox_is_left_only_if_a_person_agrees() -> None:
    """Whatever the level lets others start: it asks where it would have started, and refuses what it refused."""
    for who, level in itertools.product(TABLE, SCRIPTING):
        plain = check(level, CALLERS[who], Verb.START)
        told = check(level, CALLERS[who], Verb.START, is_confined=True)
        is_person = who is Who.PERSON
        assert told == (plain if is_person or plain is not Verdict.ALLOWED else Verdict.ASK), (who, level)
        for agreed in (True, False):
            told = check(level, CALLERS[who], Verb.START, is_confined=True, agreed=agreed)
            may = plain in (Verdict.ALLOWED, Verdict.ASK) and (agreed or is_person)
            assert (told is Verdict.ALLOWED) == may, (who, level, agreed)


def test_the_page_has_the_table() -> None:
    """docs/commands.md says of every caller, verb and level what the code does."""
    text = Path("docs/commands.md").read_text().partition("## Who may do what")[2]
    found = {}
    for whom, verbs, *cells in re.findall("^" + r"\| ([^|]+) " * 6 + r"\|$", text, re.MULTILINE):
        for who, verb in itertools.product(whom.split(", "), verbs.split(", ")):
            found[who, verb] = tuple(cells)
    wanted = {(who.value, verb.value): row[verb] for who, row in TABLE.items() for verb in Verb}
    assert {key: found.get(key) for key in wanted} == wanted


#: What docs/security.md calls them.
CALLED = {"agent": "the agent", "script": "a script", "stray": Who.STRAY.value, "unknown": "unknown", "person": "you"}
HEADS = {
    "ways": (
        "started as",
        "for kitty",
        "for tmux, GNU Screen, WezTerm and other machines",
        "for the page, with its token",
    ),
    "rights": ("who", "read", "type text", "answer a permission", "interrupt", "start"),
}
OUTCOMES = {"done": "yes", "asked": "once you agree", "permission": "no", "caller": "no"}
SECURITY = Path(__file__).parents[2] / "docs" / "security.md"


def rows_of(table: str) -> list[tuple[str, ...]]:
    """The rows of a *table* of docs/security.md, by what every surface is asked above."""
    if table == "ways":
        return [(name, *(CALLED[who] for who in found.split())) for name, found in WHO.items()]
    by_verb = {
        who: zip(*(CELLS[who, level].split() for level in SCRIPTING), strict=True)
        for who in dict.fromkeys(who for who, _ in CELLS)
    }
    return [(CALLED[who], *(", ".join(OUTCOMES[one] for one in cell) for cell in row)) for who, row in by_verb.items()]


def security_page() -> str:
    """docs/security.md with these tables; `python -m tests.actions.test_permission` writes them into it."""
    page = SECURITY.read_text("utf-8")
    for table, head in HEADS.items():
        lines = [head, ("---",) * len(head), *rows_of(table)]
        drawn = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        marked = re.compile(rf"(<!-- {table} -->\n).*?(<!-- /{table} -->)", re.DOTALL)
        page, count = marked.subn(lambda match, drawn=drawn: f"{match[1]}{drawn}{match[2]}", page)  # type: ignore[misc]
        assert count == 1, table
    return page


@each("table", [*HEADS])
def test_the_page_of_security_has_every_cell(table: str) -> None:
    """Cell by cell, and nothing beside them."""
    body = SECURITY.read_text("utf-8").partition(f"<!-- {table} -->\n")[2].partition("<!-- /")[0]
    found = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in body.splitlines()]
    wanted = [HEADS[table], ("---",) * len(HEADS[table]), *rows_of(table)]
    differ = [(one, other) for one, other in itertools.zip_longest(found, wanted) if one != other]
    assert differ == []


def test_every_surface_uses_the_same_words(
    kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command, the list, the page and both ends of the bridge pass them on as they are."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    for who, level, verb in (
        ("agent", "own", "text"), ("agent", "own", "permission"), ("unknown", "own", "text"), ("agent", "none", "text"),
        ("stray", "all", "text"),
    ):  # fmt: skip
        caller = CALLERS[NAMES[who]]
        refused = check(level, caller, Verb.PERMISSION if verb == "permission" else Verb.TEXT)
        assert isinstance(refused, Refusal)
        assert said_by_all(caller, level, verb, monkeypatch, capsys) == {refused.text}


def said_by_all(
    caller: Caller, level: str, verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> set[str]:
    """What each surface says to *caller*."""
    from tallylight.cli import reaching
    from tallylight.ui.agent_list.actions import Direct

    screen, status = SCREENS[verb]
    given = given_for(verb)
    found = Row("sessions-1", Pane(id="3", status=status))
    panes = HandPanes({"3": Desk(seen(screen, status))})
    reach = PaneClient(panes, lambda: caller, at(level))
    told = [reach.perform(found, given)]
    # The command.
    reaching.print_reply("send", found, told[0], as_json=False)  # type: ignore[arg-type]
    printed = capsys.readouterr().err.removeprefix("tally send: ").partition(": ")[2].strip()
    # The list.
    spoken = Direct({}, lambda: reach).perform(found, given)
    # The near end of a bridge.
    near = forbidden(level, caller, given, lambda _: caller, is_key=False)  # type: ignore[arg-type]
    assert isinstance(told[0], Refusal) and isinstance(spoken, Refusal) and near is not None
    return {told[0].text, printed, spoken.text, near.text}


if __name__ == "__main__":
    SECURITY.write_text(security_page(), "utf-8")
