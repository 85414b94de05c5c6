"""
The configuration: `~/.config/tallylight/config.toml`, its keys, defaults and limits.

`load` takes text and returns a `Config` and a list of errors. A bad key costs itself: it has its default, or the
nearest allowed value, and is reported with its line. An unknown key is reported and does nothing. docs/configuration.md
has the descriptions of the keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from tallylight.config.colour import FORM, NAMES, hexadecimal, parse_colour
from tallylight.config.declared import Form, Setting, forms, section, setting, settings
from tallylight.config.fleet import Fleet, unsafe
from tallylight.config.key_bindings import ACTIONS, KEY
from tallylight.config.machines import Machine, parse_machines
from tallylight.files.toml import Table, parse
from tallylight.model.errors import DataFileError
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.palettes import PALETTES, THEME
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.tracker.notify import STATUSES
from tallylight.tracker.notify import Settings as Notify

#: The levels of power over panes for programs, from the least to the most; see `actions.permission`.
SCRIPTING = ("none", "own", "ask", "all")
_PALETTES = (*PALETTES, THEME)
_SPAN = "([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])"
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"


@attrs.frozen(kw_only=True)
class Trust:
    """The settings of trust: how long sources count, and the statuses of some cases."""

    explicit_lasts: str = setting(
        "agent", 'how long one report silences guesses: "agent" or "tab"', choices=("agent", "tab")
    )
    unknown_agents: bool = setting(True, "programs without an agent file can get a light")
    done_is: Status = setting(
        Status.DONE,
        'how a finished turn shows: "done", or "waiting" until you act',
        choices=("done", "waiting"),
        read=Status,
    )
    idle_is: Status = setting(
        Status.IDLE,
        'how an agent at its prompt shows: "idle" or "waiting"',
        choices=("idle", "waiting"),
        read=Status,
    )
    quiet_is: Status = setting(
        Status.QUIET,
        'how an agent shows that draws nothing and is not understood: "quiet" or "waiting"',
        choices=("quiet", "waiting"),
        read=Status,
    )


@attrs.frozen(kw_only=True)
class Kitty:
    """The look of the light in kitty's tab bar."""

    style: str = setting(
        "filled",
        '"filled": fill a tab that needs you; "stripe": a stripe and a mark; "off"',
        choices=("filled", "stripe", "off"),
        former={"icon": "filled", "colour": "filled"},
    )
    names: bool = setting(True, "tabs show the project and the question; false: only the agent's own title")
    pulse: bool = setting(True, "waiting lights pulse for ten seconds")
    splits: bool = setting(True, "each window of a split tab has its own light")
    os_window_title: str = setting(
        "auto",
        'mark in the OS window title: "auto" (only without a visible tab bar), "always" or "off"',
        choices=("auto", "always", "off"),
    )


@attrs.frozen(kw_only=True)
class Panel:
    """The list as a panel."""

    width: int = setting(32, "columns of the panel", limits=(24, 40))
    per: str = setting(
        "window",
        '"window": shown in every tab of the OS window; "tab": only where you opened it',
        choices=("window", "tab"),
    )


@attrs.frozen(kw_only=True)
class Push:
    """
    Messages to browsers; *private_hosts* are the push services that may have a private address: `host` or `host:port`.
    """

    question: bool = setting(
        False, "include the question (it may show on the lock screen); false: only the agent and the project"
    )
    private_hosts: tuple[str, ...] = setting(
        (),
        'push services with a private address: ["push.lan", "push.lan:8443"]',
        pattern=_HOST,
        wrong='write "push.lan" or "push.lan:8443"',
        read=str.lower,
    )
    contact: str = setting(
        "",
        'contact for push services: "mailto:you@example.org"; empty: the address of the page',
        pattern="(?:(?:mailto:|https://)[!-~]+)?",
        wrong='write "mailto:you@example.org" or "https://example.org"',
    )


@attrs.frozen(kw_only=True)
class Listed:
    """The additional information about agents in lists."""

    branches: bool = setting(True, "show the branch and the changes of each agent's repository")


@attrs.frozen(kw_only=True)
class History:
    """The history of agents' turns."""

    keep: bool = setting(True, "keep turns and grades, for `tally log` and `tally accuracy`")


def _span(word: str) -> tuple[int, int]:
    """Return a span of the day in minutes after midnight, from a text like `22:00-07:00`."""
    start, end = (60 * int(time[:2]) + int(time[3:]) for time in word.split("-"))
    return start, end


def _spans(spans: Iterable[tuple[int, int]]) -> list[str]:
    return ["-".join(f"{at // 60:02}:{at % 60:02}" for at in span) for span in spans]


_SOUND = 'sound per status: a theme sound, a file or "silent": {done = "silent", error = "~/x.oga"}'
#: The forms of the settings of `tracker.notify`, which knows no file.
_NOTIFY = {
    "when": Form(
        about='statuses that notify; may include "down"; [] for none',
        choices=tuple(status.value for status in STATUSES),
        read=Status,
        many=frozenset,
        write=lambda found: [status.value for status in STATUSES if status in found],
    ),
    "min_turn_s": Form(about="shorter turns do not notify when they end", limits=(0, 3600)),
    "quiet": Form(
        about='quiet hours: ["22:00-07:00", "12:00-13:00"]',
        pattern=_SPAN,
        wrong='write a time span as "22:00-07:00"',
        read=_span,
        write=_spans,
    ),
    "command": Form(about='program to run instead of a notification: ["/home/me/bin/alert", "--urgent"]'),
    "buttons": Form(about="answer buttons on notifications of questions, never of permissions (kitty)"),
    "snooze_min": Form(about="default length of a snooze", limits=(1, 1440)),
    "delay_s": Form(about="delay before notifying", limits=(0, 3600)),
    "no_answer": Form(about="notify when the model has not answered for a minute"),
    "mute": Form(about='projects that never notify: ["notes"]', many=frozenset, write=sorted),
    "sounds": Form(about=_SOUND, names=dict.fromkeys(STATUSES, Form(about=_SOUND))),
}
_KEYS = {
    action.name: Form(
        about=action.what,
        pattern=f"({KEY})?",
        wrong='write a key as in kitty.conf: "ctrl+shift+y"',
        sample=action.keys[0].replace("kitty_mod", "ctrl+shift"),
    )
    for action in ACTIONS
}
_ABOUT_COLOURS = {
    Status.WORKING: 'also "#39F", or a name: "blue", "orange"',
    Status.WAITING: "pulses between this and a brighter one",
}
_COLOURS = {
    status: Form(
        about=_ABOUT_COLOURS.get(status, ""),
        pattern=FORM,
        wrong='write a colour as "#RRGGBB", "#RGB" or a name',
        near=NAMES,
        read=parse_colour,
        write=hexadecimal,
    )
    for status in COLOURS
}


@attrs.frozen(kw_only=True)
class Config:
    """Every setting, in the order of the file. Times end in their unit."""

    poll_ms: int = setting(250, "time between two looks at a pane", limits=(100, 30_000))
    silence_s: float = setting(4.0, "silence after which an agent without reports is quiet", limits=(0.1, 60))
    stale_s: float = setting(30.0, 'a "working" from a guess or a title ends without new evidence', limits=(5, 3600))
    fuse_s: float = setting(300.0, 'a reported "working" ends without new evidence', limits=(10, 3600), zero="never")
    debounce_ms: int = setting(100, "shortest time between two changes of a light", limits=(50, 10_000))
    keep_conversations: bool = setting(True, "remember open conversations on disk, for `tally restore`")
    trust: Trust = section(Trust)
    kitty: Kitty = section(Kitty)
    panel: Panel = section(Panel, "the list at the edge of a window")
    notify: Notify = section(Notify, "desktop notifications", own=_NOTIFY)
    push: Push = section(Push, "messages of `tally serve` to browsers that are not open")
    listed: Listed = section(Listed, "what `tally agents` shows beside each agent", key="list")
    history: History = section(History)
    collisions: bool = setting(
        True,
        "mark agents of one repository that edit the same lines",
        key="collisions.on",
        table="two agents that edit one file",
    )
    #: One of `SCRIPTING`.
    scripting: str = setting(
        "own",
        'what programs may do to panes: "none", "own" (panes they started), "ask" (you agree once) or "all"',
        choices=SCRIPTING,
        key="scripting.allow",
        table="what scripts and agents may do",
    )
    #: A person's own keys by the names of `key_bindings.ACTIONS`; `""` is none.
    keys: dict[str, str] = setting(
        attrs.Factory(dict),
        'a key as in kitty.conf, or "" for none; unset: `tally setup` chooses a free key',
        names=_KEYS,
        is_own=True,
    )
    palette: str = setting(
        "default",
        '"default", "light", "theme", "protan", "deutan" or "tritan"; the colours below override it',
        choices=_PALETTES,
        key="colours.palette",
    )
    #: Red, green and blue, 0 to 255 each.
    colours: dict[Status, RGB] = setting(attrs.Factory(lambda: dict(COLOURS)), "", names=_COLOURS)
    #: Other machines by name.
    machines: dict[str, Machine] = attrs.Factory(dict)
    #: The settings of each part, by its name: texts that the part reads.
    parts: dict[str, dict[str, str]] = attrs.Factory(dict)
    fleet: Fleet = section(Fleet, "machines that share their state through an MQTT broker", is_own=True)
    #: The lights that have a colour of the terminal's theme, if the host knows it.
    themed: frozenset[Status] = frozenset()

    @property
    def poll_s(self) -> float:
        return self.poll_ms / 1000

    @property
    def timing(self) -> Timing:
        """The settings for a tracker."""
        return Timing(
            silence_s=self.silence_s,
            stale_s=self.stale_s,
            fuse_s=self.fuse_s,
            debounce_s=self.debounce_ms / 1000,
            explicit_lasts=self.trust.explicit_lasts,
            unknown_agents=self.trust.unknown_agents,
            done_is=self.trust.done_is,
            idle_is=self.trust.idle_is,
            quiet_is=self.trust.quiet_is,
        )


#: The form of each field, and every setting, in the order of the file.
FORMS = forms(Config)
SETTINGS: tuple[Setting, ...] = tuple(settings(FORMS, Config()))
#: The table of each key that only one table has: its heading is easily forgotten.
_HOMES = {
    one.key.rpartition(".")[2]: one.table
    for one in SETTINGS
    if one.table and sum(other.key.endswith(f".{one.key.rpartition('.')[2]}") for other in SETTINGS) == 1
}


def load(text: str, path: str) -> tuple[Config, list[DataFileError]]:
    """
    Return the configuration in *text*, and all errors in it; never raise.

    *path* is only for the messages. Text that is no TOML gives the defaults and one error.
    """
    try:
        top = parse(text, path)
    except DataFileError as error:
        return Config(), [error]
    values: dict[str, Any] = {"machines": parse_machines(top.table("machines")), "parts": _parts(top.table("parts"))}
    tables = {"": top}
    colours = top.text_or_table("colours", _PALETTES)
    if isinstance(colours, str):
        values["palette"] = colours or "default"
        colours = Table({}, "", "")
    tables["colours"] = colours
    for one in SETTINGS:
        above, _, name = one.table.rpartition(".")
        if one.table not in tables:
            tables[one.table] = tables[above].table(name)
        if (found := one.read(tables[one.table])) is not None:
            place = values
            for part in one.path[:-1]:
                place = place.setdefault(part, {})
            place[one.path[-1]] = found
    default = Config()
    for field, found in values.items():
        if attrs.has(cls := type(getattr(default, field))):
            values[field] = cls(**found)
    own = values.get("colours", {})
    palette = values.get("palette", default.palette)
    values["colours"] = {**PALETTES.get(palette, COLOURS), **own}
    values["themed"] = frozenset(COLOURS) - own.keys() if palette == THEME else frozenset()
    config = Config(**values)
    if unsafe(config.fleet):
        tables["fleet"].complain("tls", "is off: the password is sent over the network unencrypted")
    tables["list"].retire("ports", "pull_requests")
    tables["kitty"].retire("mark", "strip_glyphs")
    for table in tables.values():
        table.close(_HOMES)
    return config, top.errors


def _parts(table: Table) -> dict[str, dict[str, str]]:
    """Return the texts in the table of each part."""
    found = {}
    for name in table.names():
        own = table.table(name)
        found[name] = {key: own.text(key) for key in own.names()}
    return found
