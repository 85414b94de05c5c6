"""
The scene: all that our Lua draws, decided here. Pure.

    {"version": 1, "stale": false, "written": 1700000000.5, "pid": 4712, "summary": "!1 ●2",
    "tabs": {"3": {"pane": 7, "status": "waiting", "mark": "!", "name": "shop", "what": "npm test", …}},
    "paints": {"tab": {"waiting": {"fill": "#FFAA00", "sign": "#000000", …}}, "#000000": {…}},
    "words": {"7": "waiting:permission;pane=4711.7;…"}, "seen": {"4711.3": 1700000000}}

A tab has one light for its panes. `paints` are by the ground of the mark: `tab` where a whole tab may be filled, else
the colour of a tab that keeps its own. The scene of a mux server has only `words`, its Lua's reports to the GUIs.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.titles import clean_title
from tallylight.hosts.sessions_inside import with_inside
from tallylight.hosts.wezterm.mux_word import ServerReport
from tallylight.hosts.wezterm.pane_list import TabBar
from tallylight.model import contrast, lights
from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tallylight.model.tool_call import request
from tallylight.snapshot import rows
from tallylight.snapshot.schema import Pane
from tallylight.tracker.rollup import precedence
from tallylight.ui import tab_sign
from tallylight.ui.layout import countdown
from tallylight.wire import values
from tallylight.wire.text import sanitise

VERSION = 1
#: The longest texts, in cells.
TAB_NAME_CELLS, TAB_WHAT_CELLS = 80, 256
#: The order in a status bar.
_COUNTED = (
    Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE, Status.LIMITED, Status.QUIET, Status.BACKGROUND,
    Status.WORKING,
)  # fmt: skip


#: A pane of the scene, in JSON.
Drawn = dict[str, Any]


@attrs.frozen(kw_only=True)
class Place:
    """The tab, the title and the processes of a pane."""

    tab: str
    title: str = ""
    #: WezTerm's titles for a program that has set none: the names of the foreground process.
    processes: frozenset[str] = frozenset()
    #: The report of a mux server.
    server: ServerReport | None = None


@attrs.frozen
class Scene:
    """All that Lua draws, and in how many seconds a text of it changes."""

    tabs: Mapping[str, Drawn]
    paints: Mapping[str, Mapping[str, Drawn]]
    summary: str
    changes_in: float


def shown(entry: Pane, place: Place, seen: Mapping[str, float]) -> Pane:
    """
    Return *entry* with the report of its server, as its tab shows it; a finished turn that was *seen* becomes idle.
    """
    if place.server is None:
        return entry
    told = place.server.pane
    if told.status is Status.DONE and seen.get(place.server.where) == told.since:
        told = attrs.evolve(told, status=Status.IDLE)
    return with_inside(entry, told)


def compose(panes: Mapping[str, tuple[Pane, Place]], bar: TabBar, agents: Agents, now: float) -> Scene:
    """Return the scene of *panes*, each as `shown`, in a *bar*, at *now* in seconds since the epoch."""
    by_tab: dict[str, list[tuple[Pane, Place]]] = {}
    for pane, place in panes.values():
        if rows.is_lit(pane) and pane.status is not Status.ACTIVE:
            by_tab.setdefault(place.tab, []).append((pane, place))
    tabs, changes_in = {}, 3600.0
    for tab, members in by_tab.items():
        owner, place = max(members, key=lambda one: (precedence(one[0].status), one[0].since))
        words, until = _what(owner, now)
        changes_in = min(changes_in, until)
        tabs[tab] = _tab(owner, place, [pane for pane, _ in members], words if bar.names else "", bar, agents)
    counts = Counter(pane.status for members in by_tab.values() for pane, _ in members)
    summary = " ".join(f"{lights.mark(status)}{counts[status]}" for status in _COUNTED if counts[status])
    return Scene(tabs, paints(bar, counts), summary, changes_in)


def _tab(owner: Pane, place: Place, members: Iterable[Pane], what: str, bar: TabBar, agents: Agents) -> Drawn:
    """Return a tab for Lua: the light of *owner* with its name and its request *what*; *members* are all its panes."""
    statuses = {pane.status for pane in members}
    has_done = Status.DONE in statuses and owner.status in (Status.WORKING, Status.BACKGROUND)
    name, is_ours = _name(owner, place, agents.get(owner.agent), is_named=bar.names)
    drawn: Drawn = {
        "pane": int(owner.id),
        "status": owner.status.value,
        "kind": owner.kind.value if owner.kind is not None else "",
        "agent": owner.agent,
        "project": owner.project,
        "message": owner.question or owner.message,
        "since": owner.since,
        "source": owner.reason.source,
        "vars": dict(owner.about.vars),
        "mark": lights.mark(owner.status, owner.kind) + (lights.MARKS[Status.DONE] if has_done else ""),
        "stripe": lights.stripe(owner.status),
        "collides": any(pane.collides for pane in members),
        "name": sanitise(name, cells=TAB_NAME_CELLS),
        "ours": is_ours,
        "what": sanitise(what, cells=TAB_WHAT_CELLS),
        "countdown": owner.status is Status.LIMITED and owner.limited_until > 0,
        "idle": owner.status is Status.IDLE,
        "filled": owner.status in lights.FILLED,
    }
    # Absent values keep it short; an empty map would become a list in Lua.
    return {key: value for key, value in drawn.items() if value not in ("", False, {})}


def pane_of(drawn: Mapping[str, Any]) -> Pane | None:
    """Return the pane that an earlier sidecar drew as *drawn*; None if that cannot be read."""
    id_ = values.integer(drawn.get("pane"), 0, 2**53)
    if id_ is None:
        return None
    name = drawn.get("name") if drawn.get("ours") is True else ""
    return Pane.from_json({**drawn, "id": str(id_), "name": name, "reason": {"source": drawn.get("source")}})


def _what(pane: Pane, now: float) -> tuple[str, float]:
    """Return the question, error or limit as text, and in how many seconds that changes."""
    if pane.status in lights.FILLED:
        # The first line of several.
        asked = request(pane.what).partition("↵")[0].strip() if pane.what else pane.question or pane.message
        return asked.rstrip(), 3600.0
    if pane.status is Status.LIMITED:
        return countdown(pane.limited_until - now) if pane.limited_until > now else (pane.message, 3600.0)
    return "", 3600.0


def _name(pane: Pane, place: Place, agent: Agent | None, *, is_named: bool) -> tuple[str, bool]:
    """
    Return the name of a tab, and whether it is another one than the program's title.

    It is the user's name for the conversation, else the program's title. If the title only names the program, it is the
    session or project. A name that the user gives the tab comes before it.
    """
    if not is_named:
        return place.title, False
    if pane.name:
        return pane.name, True
    title = clean_title(place.title)
    bare = {"", "tally", "wezterm", pane.agent.casefold(), *(name.casefold() for name in place.processes)}
    bare |= {name.casefold() for name in (agent.display, *agent.processes)} if agent is not None else set()
    if not _is_bare(title, bare):
        return title, False
    name = pane.project if _is_bare(pane.topic, bare) else pane.topic
    return (name, True) if name else (title, False)


def _is_bare(title: str, names: set[str]) -> bool:
    """Return whether *title* is one of the program's *names*, or the command that starts it, as shells set it."""
    return title.casefold() in names or title.partition(" ")[0].casefold() in names


def paints(bar: TabBar, statuses: Iterable[Status]) -> dict[str, dict[str, Drawn]]:
    """Return the paints of *statuses* on every ground of *bar*."""
    grounds = {
        f"#{red:02X}{green:02X}{blue:02X}": (red, green, blue) for red, green, blue in (bar.active, *bar.grounds)
    }
    lit = sorted(set(statuses) - {Status.ACTIVE}, key=lambda status: status.value)
    return {
        "tab": {status.value: dict(_paint(bar.paint_key, status, bar.tab, keeps=False)) for status in lit},
        **{
            name: {status.value: dict(_paint(bar.paint_key, status, ground, keeps=True)) for status in lit}
            for name, ground in grounds.items()
        },
    }


@functools.lru_cache(maxsize=256)
def _paint(key: tuple[Any, ...], status: Status, ground: RGB, *, keeps: bool) -> tuple[tuple[str, Any], ...]:
    """Return the paint of a light on *ground*; with *keeps*, in a tab that keeps its colours."""
    touching, active, changed = key
    colours = lights.COLOURS | dict(changed)
    amber, red, down = (colours[one] for one in (Status.WAITING, Status.ERROR, Status.DOWN))
    fills = tab_sign.bar_of(amber, red, down, touching, active)
    sign = tab_sign.sign(status, "x", ground, fills, colours, is_box=keeps)
    whole = fills[status] if status in lights.FILLED and not keeps else None
    fill = sign.back or whole
    plain = contrast.marked(colours[status], ground)
    paint = {
        "fill": fill,
        "sign": sign.fore,
        "plain": plain,
        "also": contrast.legible(amber, ground),
        "ground": whole,
        "words": contrast.readable_on(whole) if whole is not None else None,
    }
    made: dict[str, Any] = {name: _hex(colour) for name, colour in paint.items() if colour is not None}
    if status is Status.LIMITED and not keeps:
        made["hollow"] = True
    if status is Status.WAITING:
        is_boxed = fill == contrast.BLACK
        bright = {"plain": plain, "ground": whole, "sign" if is_boxed else "fill": sign.fore if is_boxed else fill}
        made["bright"] = {name: _hex(_lighter(colour)) for name, colour in bright.items() if colour is not None}
    return tuple(made.items())


def _hex(colour: RGB) -> str:
    return "#{:02X}{:02X}{:02X}".format(*colour)


def _lighter(colour: RGB) -> RGB:
    return lights.blend(contrast.WHITE, colour, lights.PULSE_WHITE)
