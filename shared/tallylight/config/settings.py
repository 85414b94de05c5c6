"""
The configuration: `~/.config/tallylight/config.toml`, its keys, defaults and limits.

Text goes in, a `Config` and a list of errors come out. A bad key costs itself: it keeps its default, or the nearest
value that is allowed, and is named with its line. An unknown key is reported and does nothing. docs/configuration.md
describes each key.
"""

from __future__ import annotations

import re

import attrs

from tallylight.config.colour import FORM, NAMES, hexadecimal, parse_colour
from tallylight.config.fleet import Fleet, parse_fleet
from tallylight.config.key_bindings import wanted
from tallylight.config.machines import Machine, parse_machines
from tallylight.files.toml import Table, did_you_mean, parse
from tallylight.model.errors import DataFileError
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.palettes import PALETTES, THEME
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.tracker.notify import STATUSES
from tallylight.tracker.notify import Settings as Notify

#: What programs may do to panes, from the least to the most; see `actions.permission`.
SCRIPTING = ("none", "own", "ask", "all")
STYLES = ("stripe", "colour", "icon", "off")
OS_WINDOW_TITLES = ("auto", "always", "off")
PANELS_PER = ("window", "tab")
EXPLICIT_LASTS = ("agent", "tab")
SPAN = "([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])"
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_CONTACT = "(?:(?:mailto:|https://)[!-~]+)?"


@attrs.frozen(kw_only=True)
class Trust:
    """
    *explicit_lasts*: how long a protocol report keeps guesses from voting: the `agent`'s life or the `tab`'s.
    *unknown_agents*: whether a program that no agent file names may have a light, see `evidence.unknown`.
    *done_is* and *idle_is*: as what a finished turn and an agent at its prompt are shown; `waiting` until they act.
    """

    explicit_lasts: str = "agent"
    unknown_agents: bool = True
    done_is: Status = Status.DONE
    idle_is: Status = Status.IDLE


@attrs.frozen(kw_only=True)
class Kitty:
    """How kitty's tab bar shows the light."""

    style: str = "stripe"
    #: Whether waiting pulses.
    pulse: bool = True
    #: Whether a mark that is not colour alone is drawn beside it.
    mark: bool = True
    #: Whether an agent's own signs are left out of a title that has the mark beside it.
    strip_glyphs: bool = True
    #: When the title of the OS window has a mark: `auto` is where no tab bar can be seen.
    os_window_title: str = "auto"
    #: Whether each of several windows in a tab has its own light.
    splits: bool = True


@attrs.frozen(kw_only=True)
class History:
    """What is kept of the turns of agents: whether anything is."""

    keep: bool = True


@attrs.frozen(kw_only=True)
class Listed:
    """
    What lists show of an agent beside its light: whether the *branches* and the changes of its repository; and whether
    GitHub is asked for *pull_requests* of the branches.
    """

    branches: bool = True
    pull_requests: bool = False


@attrs.frozen(kw_only=True)
class Panel:
    """The list as a panel: its *width* in columns, and whether there is one *per* tab or for all of an OS window."""

    width: int = 32
    per: str = "window"


@attrs.frozen(kw_only=True)
class Push:
    """
    Messages to browsers: whether they say what is asked, the push services (`host` or `host:port`) that may have a
    *private* address, and the *contact* that push services are told, `mailto:…` or `https:…`.
    """

    question: bool = False
    private_hosts: tuple[str, ...] = ()
    contact: str = ""


@attrs.frozen(kw_only=True)
class Config:
    """Every setting. Times end in their unit."""

    poll_ms: int = 250
    silence_s: float = 4.0
    stale_s: float = 30.0
    #: 0: never.
    fuse_s: float = 300.0
    debounce_ms: int = 100
    #: Whether the conversations that are open are kept on disk, for `tally restore`.
    keep_conversations: bool = True
    trust: Trust = Trust()
    kitty: Kitty = Kitty()
    history: History = History()
    listed: Listed = Listed()
    panel: Panel = Panel()
    notify: Notify = attrs.Factory(Notify)
    push: Push = Push()
    fleet: Fleet = attrs.Factory(Fleet)
    #: Other machines, by the names that a person gave them.
    machines: dict[str, Machine] = attrs.Factory(dict)
    #: A person's own keys by the names of `keys.ACTIONS`; `""` is none.
    keys: dict[str, str] = attrs.Factory(dict)
    #: The palette that colours are from which are not given one by one.
    palette: str = "default"
    #: Red, green and blue, 0 to 255 each; in the file `#RRGGBB`.
    colours: dict[Status, RGB] = attrs.Factory(lambda: dict(COLOURS))
    #: What programs may do to panes: one of `SCRIPTING`.
    scripting: str = "own"
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


def load(text: str, path: str) -> tuple[Config, list[DataFileError]]:
    """
    The configuration in *text*, and everything that is wrong with it; never raises.

    *path* is only for the messages. Text that is not TOML at all gives the defaults and one error.
    """
    try:
        table = parse(text, path)
    except DataFileError as error:
        return Config(), [error]
    return read(table), table.errors


def read(table: Table) -> Config:
    """The configuration in *table*, which keeps what is wrong with it."""
    default = Config()
    trust, kitty = table.table("trust"), table.table("kitty")
    panel = table.table("panel")
    history, scripting, listed = table.table("history"), table.table("scripting"), table.table("list")
    palette, colours, themed = _colours(table)
    config = Config(
        poll_ms=round(table.number("poll_ms", default.poll_ms, 100, 30_000)),
        silence_s=table.number("silence_s", default.silence_s, 0.1, 60),
        stale_s=table.number("stale_s", default.stale_s, 5, 3600),
        fuse_s=table.number("fuse_s", default.fuse_s, 10, 3600, zero=True),
        debounce_ms=round(table.number("debounce_ms", default.debounce_ms, 50, 10_000)),
        keep_conversations=table.boolean("keep_conversations", default.keep_conversations),
        trust=Trust(
            explicit_lasts=trust.text("explicit_lasts", default.trust.explicit_lasts, choices=EXPLICIT_LASTS),
            unknown_agents=trust.boolean("unknown_agents", default.trust.unknown_agents),
            done_is=Status(trust.text("done_is", default.trust.done_is.value, choices=("done", "waiting"))),
            idle_is=Status(trust.text("idle_is", default.trust.idle_is.value, choices=("idle", "waiting"))),
        ),
        kitty=Kitty(
            style=kitty.text("style", default.kitty.style, choices=STYLES),
            pulse=kitty.boolean("pulse", default.kitty.pulse),
            mark=kitty.boolean("mark", default.kitty.mark),
            strip_glyphs=kitty.boolean("strip_glyphs", default.kitty.strip_glyphs),
            splits=kitty.boolean("splits", default.kitty.splits),
            os_window_title=kitty.text("os_window_title", default.kitty.os_window_title, choices=OS_WINDOW_TITLES),
        ),
        history=History(keep=history.boolean("keep", default.history.keep)),
        listed=Listed(
            branches=listed.boolean("branches", default.listed.branches),
            pull_requests=listed.boolean("pull_requests", default.listed.pull_requests),
        ),
        panel=Panel(
            width=round(panel.number("width", default.panel.width, 24, 40)),
            per=panel.text("per", default.panel.per, choices=PANELS_PER),
        ),
        notify=_notify(table.table("notify")),
        push=_push(table.table("push")),
        scripting=scripting.text("allow", default.scripting, choices=SCRIPTING),
        keys=wanted(table.table("keys")),
        fleet=parse_fleet(table.table("fleet")),
        machines=parse_machines(table.table("machines")),
        palette=palette,
        colours=colours,
        themed=themed,
    )
    listed.retire("ports")
    for part in (trust, kitty, history, panel, scripting, listed, table):
        part.close()
    return config


def _notify(table: Table) -> Notify:
    default = Notify()
    when = tuple(status.value for status in STATUSES if status in default.when)
    settings = Notify(
        when=frozenset(map(Status, table.words("when", when, choices=[status.value for status in STATUSES]))),
        min_turn_s=table.number("min_turn_s", default.min_turn_s, 0, 3600),
        quiet=tuple(span for word in table.words("quiet", form=SPAN) if (span := _span(table, word)) is not None),
        command=table.words("command"),
        snooze_min=table.number("snooze_min", default.snooze_min, 1, 1440),
        buttons=table.boolean("buttons", default.buttons),
        delay_s=table.number("delay_s", default.delay_s, 0, 3600),
        mute=frozenset(table.words("mute")),
        sounds=_sounds(table.table("sounds")),
    )
    table.close()
    return settings


def _push(table: Table) -> Push:
    default = Push()
    settings = Push(
        question=table.boolean("question", default.question),
        private_hosts=tuple(host.lower() for host in table.words("private_hosts", form=_HOST)),
        contact=table.text("contact", default.contact, form=_CONTACT),
    )
    for host in settings.private_hosts:
        if not re.fullmatch(_HOST, host):
            table.complain("private_hosts", f'has {host!r:.80}; write "push.lan" or "push.lan:8443"')
    if not re.fullmatch(_CONTACT, settings.contact):
        table.complain(
            "contact", f'is {settings.contact!r:.80}; write "mailto:you@example.org" or "https://example.org"'
        )
        settings = attrs.evolve(settings, contact="")
    table.close()
    return settings


def _sounds(table: Table) -> dict[Status, str]:
    found = {status: table.text(status.value, "") for status in STATUSES}
    table.close()
    return {status: sound for status, sound in found.items() if sound}


def _span(table: Table, word: str) -> tuple[int, int] | None:
    found = re.fullmatch(SPAN, word)
    if found is None:
        table.complain("quiet", f'has {word!r:.40}; write a time span as "22:00-07:00"')
        return None
    hours = [int(part) for part in found.groups()]
    return 60 * hours[0] + hours[1], 60 * hours[2] + hours[3]


def _colours(top: Table) -> tuple[str, dict[Status, RGB], frozenset[Status]]:
    """The name of the palette in *top*, its colours with those given one by one, and those that the theme has."""
    names = (*PALETTES, THEME)
    table = top.text_or_table("colours", "default", choices=names)
    name = table if isinstance(table, str) else table.text("palette", "default", choices=names)
    palette = PALETTES.get(name, COLOURS)
    if isinstance(table, str):
        return name, dict(palette), frozenset(palette) if name == THEME else frozenset()
    own = {status for status in COLOURS if status in table}
    found = {status: _colour(table, status, palette[status]) for status in COLOURS}
    table.close()
    return name, found, frozenset(COLOURS) - own if name == THEME else frozenset()


def _colour(table: Table, status: Status, default: RGB) -> RGB:
    value = table.text(status.value, hexadecimal(default), form=FORM)
    colour = parse_colour(value)
    if colour is None:
        meant = did_you_mean(value, NAMES)
        table.complain(status.value, f'is {value!r:.60}; write a colour as "#RRGGBB", "#RGB" or a name{meant}')
    return colour or default
