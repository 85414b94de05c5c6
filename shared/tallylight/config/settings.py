"""
The configuration: `~/.config/tallylight/config.toml`, its keys, defaults and limits.

Text goes in, a `Config` and a list of errors come out. A bad key costs itself: it keeps its default, or the nearest
value that is allowed, and is named with its line. An unknown key is reported and does nothing. Each field says of its
key what it means; docs/configuration.md shows that.
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

#: What programs may do to panes, from the least to the most; see `actions.permission`.
SCRIPTING = ("none", "own", "ask", "all")
_PALETTES = (*PALETTES, THEME)
_SPAN = "([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])"
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"


@attrs.frozen(kw_only=True)
class Trust:
    """Whom a light believes, and for how long."""

    explicit_lasts: str = setting(
        "agent", 'how long one report silences guesses: "agent" or "tab"', choices=("agent", "tab")
    )
    unknown_agents: bool = setting(True, "a program that no agent file names may have a light; see trust.md")
    done_is: Status = setting(
        Status.DONE,
        'as what a finished turn is shown: "done", or "waiting" until you act',
        choices=("done", "waiting"),
        read=Status,
    )
    idle_is: Status = setting(
        Status.IDLE,
        'the same of an agent at its prompt: "idle" or "waiting"',
        choices=("idle", "waiting"),
        read=Status,
    )


@attrs.frozen(kw_only=True)
class Kitty:
    """How kitty's tab bar shows the light."""

    style: str = setting(
        "filled",
        'what needs you fills its tab; or "stripe", a stripe and a mark; or "off"',
        choices=("filled", "stripe", "off"),
        former={"icon": "filled", "colour": "filled"},
    )
    names: bool = setting(True, "a tab says its project and what it asks; false: only the title, as the agent wrote it")
    pulse: bool = setting(True, "waiting lights pulse for ten seconds")
    splits: bool = setting(True, "each of several windows in a tab has its own light")
    os_window_title: str = setting(
        "auto",
        'the mark in the OS window\'s title: "auto" where no tab bar is seen, "always" or "off"',
        choices=("auto", "always", "off"),
    )


@attrs.frozen(kw_only=True)
class Panel:
    """The list as a panel."""

    width: int = setting(32, "columns of the panel", limits=(24, 40))
    per: str = setting(
        "window",
        'one in view in every tab of an OS window, or only where you opened it: "tab"',
        choices=("window", "tab"),
    )


@attrs.frozen(kw_only=True)
class Push:
    """Messages to browsers; *private_hosts* are written `host` or `host:port`."""

    question: bool = setting(
        False, "true: they say what is asked, which a locked phone may show; false: only whose agent needs you"
    )
    private_hosts: tuple[str, ...] = setting(
        (),
        'push services of your own network: ["push.lan", "push.lan:8443"]; others need a public address',
        pattern=_HOST,
        wrong='write "push.lan" or "push.lan:8443"',
        read=str.lower,
    )
    contact: str = setting(
        "",
        'what push services are told of you: "mailto:you@example.org"; else the address of the page',
        pattern="(?:(?:mailto:|https://)[!-~]+)?",
        wrong='write "mailto:you@example.org" or "https://example.org"',
    )


@attrs.frozen(kw_only=True)
class Listed:
    """What lists show of an agent beside its light."""

    branches: bool = setting(True, "read the branch and the changes of each agent's repository; false: read none")
    pull_requests: bool = setting(
        False, "and ask GitHub, by `gh`, for the open pull request of its branch and its checks"
    )


@attrs.frozen(kw_only=True)
class History:
    """What is kept of the turns of agents."""

    keep: bool = setting(True, "write down what agents did, for `tally log`; false: write nothing")


def _span(word: str) -> tuple[int, int]:
    """A span of the day, in minutes after midnight, of a text with the form of one."""
    start, end = (60 * int(time[:2]) + int(time[3:]) for time in word.split("-"))
    return start, end


def _spans(spans: Iterable[tuple[int, int]]) -> list[str]:
    return ["-".join(f"{at // 60:02}:{at % 60:02}" for at in span) for span in spans]


_SOUND = 'of a status: a sound of the desktop\'s theme, a file or "silent": {done = "silent", error = "~/x.oga"}'
#: The forms of the settings of `tracker.notify`, which knows no file.
_NOTIFY = {
    "when": Form(
        about='what you are told of: of these and "down"; [] is nothing',
        choices=tuple(status.value for status in STATUSES),
        read=Status,
        many=frozenset,
        write=lambda found: [status.value for status in STATUSES if status in found],
    ),
    "min_turn_s": Form(about="the end of a shorter turn is not told", limits=(0, 3600)),
    "quiet": Form(
        about='spans of the day without notifications: ["22:00-07:00", "12:00-13:00"]',
        pattern=_SPAN,
        wrong='write a time span as "22:00-07:00"',
        read=_span,
        write=_spans,
    ),
    "command": Form(about='run instead of a notification: ["/home/me/bin/tell", "--urgent"]'),
    "buttons": Form(about="answer a question, never a permission, by buttons of its notification (kitty)"),
    "snooze_min": Form(about="how long a snooze is that names no time", limits=(1, 1440)),
    "delay_s": Form(about="tell only what is still so after this many seconds", limits=(0, 3600)),
    "mute": Form(about='names of projects that you are never told of: ["notes"]', many=frozenset, write=sorted),
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

    poll_ms: int = setting(250, "how often each pane is looked at", limits=(100, 30_000))
    silence_s: float = setting(4.0, "a guessed agent that is silent for so long waits for you", limits=(0.1, 60))
    stale_s: float = setting(30.0, 'a guessed or titled "working" without evidence ends', limits=(5, 3600))
    fuse_s: float = setting(300.0, 'a reported "working" without evidence ends', limits=(10, 3600), zero="never")
    debounce_ms: int = setting(100, "changes faster than this are held back", limits=(50, 10_000))
    keep_conversations: bool = setting(True, "keep what is open on disk, for `tally restore`; false: keep nothing")
    trust: Trust = section(Trust)
    kitty: Kitty = section(Kitty)
    panel: Panel = section(Panel, "see list.md")
    notify: Notify = section(Notify, "see notifications.md", own=_NOTIFY)
    push: Push = section(Push, "see serve.md: messages to browsers that are not open")
    listed: Listed = section(Listed, "see list.md", key="list")
    history: History = section(History, "see notifications.md")
    #: One of `SCRIPTING`.
    scripting: str = setting(
        "own",
        'what programs may do to panes: "none", "own" (type into those they started), "ask" (you, once), "all"',
        choices=SCRIPTING,
        key="scripting.allow",
        table="see scripting.md",
    )
    #: A person's own by the names of `key_bindings.ACTIONS`; `""` is none.
    keys: dict[str, str] = setting(
        attrs.Factory(dict),
        'read by `tally setup`: a key as in kitty.conf, or "" for none; without an entry it finds one',
        names=_KEYS,
        is_own=True,
    )
    palette: str = setting(
        "default",
        'or "light", "theme", "protan", "deutan", "tritan"; colours below take the place of its own',
        choices=_PALETTES,
        key="colours.palette",
    )
    #: Red, green and blue, 0 to 255 each.
    colours: dict[Status, RGB] = setting(attrs.Factory(lambda: dict(COLOURS)), "", names=_COLOURS)
    #: Other machines, by the names that a person gave them.
    machines: dict[str, Machine] = attrs.Factory(dict)
    fleet: Fleet = section(Fleet, "see fleet.md; without a broker there is none", is_own=True)
    #: The lights whose colour is to be that of the terminal's theme, where the host knows it.
    themed: frozenset[Status] = frozenset()

    @property
    def poll_s(self) -> float:
        return self.poll_ms / 1000

    @property
    def timing(self) -> Timing:
        """What a tracker needs of it."""
        return Timing(
            silence_s=self.silence_s,
            stale_s=self.stale_s,
            fuse_s=self.fuse_s,
            debounce_s=self.debounce_ms / 1000,
            explicit_lasts=self.trust.explicit_lasts,
            unknown_agents=self.trust.unknown_agents,
            done_is=self.trust.done_is,
            idle_is=self.trust.idle_is,
        )


#: What each of the fields is in the file, and every setting of it, in the order of the file.
FORMS = forms(Config)
SETTINGS: tuple[Setting, ...] = tuple(settings(FORMS, Config()))


def load(text: str, path: str) -> tuple[Config, list[DataFileError]]:
    """
    The configuration in *text*, and everything that is wrong with it; never raises.

    *path* is only for the messages. Text that is not TOML at all gives the defaults and one error.
    """
    try:
        top = parse(text, path)
    except DataFileError as error:
        return Config(), [error]
    values: dict[str, Any] = {"machines": parse_machines(top.table("machines"))}
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
    tables["list"].retire("ports")
    tables["kitty"].retire("mark", "strip_glyphs")
    for table in tables.values():
        table.close()
    return config, top.errors
