"""The configuration: defaults, every key, limits at and beyond, and mistakes that cost only themselves."""

from __future__ import annotations

import attrs
import pytest

from tallylight.config.settings import Config, load
from tallylight.model.lights import COLOURS, RGB
from tallylight.model.palettes import PALETTES
from tallylight.model.status import Status
from tallylight.tracker.notify import Settings
from tests.tables import each

ALL = """
poll_ms = 500
silence_s = 2.5
stale_s = 60
fuse_s = 0
debounce_ms = 200
[trust]
explicit_lasts = "tab"
unknown_agents = false
done_is = "waiting"
idle_is = "waiting"
[kitty]
style = "stripe"
pulse = false
names = false
mark = false
strip_glyphs = false
[colours]
working = "#010203"
waiting = "#aabbcc"
"""


NOTIFY = """
[notify]
when = ["down", "waiting"]
min_turn_s = 5
quiet = ["22:00-07:00", "12:00-12:30"]
command = ["/bin/tell me", "-x"]
snooze_min = 60
delay_s = 20
mute = ["notes"]
[notify.sounds]
waiting = "bell"
down = "/a/b.oga"
"""


@each(
    ("value", "colour"),
    [("#FA0", (0xFF, 0xAA, 0)), ("blue", (0, 0, 255)), ("Orange", (255, 165, 0)), ("#0a0b0c", (10, 11, 12))],
)
def test_colours_as_people_write_them(value: str, colour: tuple[int, int, int]) -> None:
    """Three digits or six, or a name that every web page knows."""
    config, errors = load(f'[colours]\nwaiting = "{value}"\n', "c.toml")

    assert (config.colours[Status.WAITING], errors) == (colour, [])


@each(
    ("text", "said"),
    [
        ("silence = 4", "did you mean 'silence_s'?"),
        ('[kitty]\nstyle = "strip"', "did you mean 'stripe'?"),
        ("[colour]\nx = 1", "did you mean 'colours'?"),
        ('[colours]\nwating = "#FA0"', "did you mean 'waiting'?"),
        ('[colours]\nwaiting = "orenge"', "did you mean 'orange'?"),
        ('[notify]\nwhen = ["eror"]', "did you mean 'error'?"),
        ('allow = "all"', "allow: is unknown; it belongs to [scripting]"),
        ("[list]\nsnooze_min = 3", "list.snooze_min: is unknown; it belongs to [notify]"),
        ("quiet = []", "is it misspelt"),
        ("zzzz = 1", "is it misspelt"),
        ("x" * 100_000 + " = 1", "is it misspelt"),
    ],
)
def test_what_was_meant_is_asked(text: str, said: str) -> None:
    """A word that is almost one of ours is told with that one."""
    _, errors = load(text, "c.toml")

    assert len(errors) == 1 and said in str(errors[0])


def test_notify() -> None:
    """What a person is told of, when not, by which command, and how long a snooze is."""
    config, errors = load(NOTIFY, "c.toml")

    assert errors == []
    assert config.notify == Settings(
        when=frozenset({Status.DOWN, Status.WAITING}),
        min_turn_s=5,
        quiet=((22 * 60, 7 * 60), (12 * 60, 12 * 60 + 30)),
        command=("/bin/tell me", "-x"),
        snooze_min=60,
        delay_s=20,
        mute=frozenset({"notes"}),
        sounds={Status.WAITING: "bell", Status.DOWN: "/a/b.oga"},
    )
    assert load("[notify]\nwhen = []\n", "c.toml")[0].notify.when == frozenset()


@each(
    ("line", "key", "settings"),
    [
        ("when = 'waiting'", "when", {}),
        ("when = ['wating']", "when", {}),
        ("when = ['working', 'done']", "when", {"when": frozenset({Status.DONE})}),
        ("min_turn_s = -1", "min_turn_s", {"min_turn_s": 0}),
        ("min_turn_s = '5'", "min_turn_s", {}),
        ("quiet = ['24:00-07:00']", "quiet", {}),
        ("quiet = ['22-7', '12:00-13:00']", "quiet", {"quiet": ((720, 780),)}),
        ("quiet = '22:00-07:00'", "quiet", {}),
        ("command = 'notify-send hi'", "command", {}),
        ("command = ['notify-send', 5]", "command", {}),
        ("snooze_min = 0", "snooze_min", {"snooze_min": 1}),
        ("sound = true", "sound", {}),
        ("delay_s = -1", "delay_s", {"delay_s": 0}),
        ("mute = 'notes'", "mute", {}),
        ("sounds.waiting = true", "sounds.waiting", {}),
        ("sounds.working = 'bell'", "sounds.working", {}),
    ],
)
def test_mistakes_in_notify(line: str, key: str, settings: dict[str, object]) -> None:
    """Each is named with its line and costs itself."""
    config, errors = load(f"[notify]\n{line}\n", "c.toml")

    assert [(error.key, error.line) for error in errors] == [(f"notify.{key}", 2)]
    assert config.notify == attrs.evolve(Settings(), **settings)


@each(
    ("text", "palette", "own", "themed"),
    [
        ('colours = "deutan"', "deutan", {}, False),
        ('colours = "default"', "default", {}, False),
        ('colours = "theme"', "default", {}, True),
        ('[colours]\npalette = "light"\nerror = "#010203"', "light", {Status.ERROR: (1, 2, 3)}, False),
        ('[colours]\npalette = "theme"\nerror = "#010203"', "default", {Status.ERROR: (1, 2, 3)}, True),
    ],
)
def test_palettes(text: str, palette: str, own: dict[Status, RGB], themed: bool) -> None:
    """A palette by name, at the top or in the table, and colours of one's own beside it, which no theme changes."""
    config, errors = load(text, "c.toml")

    assert errors == []
    assert config.colours == {**PALETTES[palette], **own}
    assert config.themed == (set(COLOURS) - set(own) if themed else set())


def problems(text: str) -> list[tuple[str, int | None]]:
    return [(error.key, error.line) for error in load(text, "c.toml")[1]]


@each(
    "lines",
    [
        '[machines]\n"my host" = "ssh x"',
        "[machines]\n'my host' = \"ssh x\"",
        '[machines]\n"büro" = "ssh x"',
        '[machines]\n"my\\thost" = "ssh x"',
        '[machines]\n"a = b" = "ssh x"',
        '[machines]\nb = "ssh b"\n[machines."my host"] # one\ncommand = "ssh x"',
        '[machines]\nb = "ssh b"\n[machines."a]b"]\ncommand = "ssh x"',
        '[machines]\nb = "ssh b"\n[ machines . "büro" ]\ncommand = "ssh x"',
        'machines."my host" = "ssh x"',
    ],
)
def test_a_quoted_key_is_named_with_its_line(lines: str) -> None:
    """Whatever stands between the quotes: blanks, dots, brackets, letters of any language, escapes."""
    text = f"# the machines\n{lines}\n"
    expected = 2 + max(number for number, line in enumerate(lines.splitlines()) if "command" not in line)

    assert [line for _, line in problems(text)] == [expected]


def test_defaults() -> None:
    """An empty file is the defaults, without a complaint."""
    config, errors = load("", "c.toml")

    assert (config, errors) == (Config(), [])
    assert (config.poll_s, config.silence_s, config.stale_s, config.fuse_s, config.debounce_ms) == (
        0.25,
        4,
        30,
        300,
        100,
    )
    assert (config.kitty.style, config.kitty.pulse, config.kitty.names) == ("filled", True, True)
    assert config.trust.explicit_lasts == "agent"
    assert config.trust.unknown_agents is True
    assert config.colours == COLOURS


def test_every_key() -> None:
    """Each key arrives where it belongs, and in the tracker's own terms."""
    config, errors = load(ALL, "c.toml")

    assert errors == []
    assert (config.poll_ms, config.kitty.style, config.kitty.pulse, config.kitty.names) == (500, "stripe", False, False)
    assert config.colours[Status.WORKING] == (1, 2, 3)
    assert config.colours[Status.WAITING] == (0xAA, 0xBB, 0xCC)
    assert config.colours[Status.DONE] == COLOURS[Status.DONE]
    timing = config.timing
    assert (timing.silence_s, timing.stale_s, timing.fuse_s, timing.debounce_s) == (2.5, 60, 0, 0.2)
    assert timing.explicit_lasts == "tab"
    assert timing.unknown_agents is False
    assert (timing.done_is, timing.idle_is) == ("waiting", "waiting")


def test_comments_and_crlf() -> None:
    """Comments and the line ends of another system change nothing, and lines are counted right."""
    config, errors = load("# hello\r\npoll_ms = 500 # ms\r\nstile = 1\r\n", "c.toml")

    assert config.poll_ms == 500
    assert [(error.key, error.line) for error in errors] == [("stile", 3)]


@each(
    ("key", "low", "high"),
    [
        ("poll_ms", 100, 30_000),
        ("debounce_ms", 50, 10_000),
        ("silence_s", 0.1, 60),
        ("stale_s", 5, 3600),
        ("fuse_s", 10, 3600),
    ],
)
def test_limits(key: str, low: float, high: float) -> None:
    """A number at its limit stands; one beyond is moved to the limit and said to be."""
    for value, expected in ((low, low), (high, high), (low - 0.05, low), (high + 1, high), (-1, low), (1e300, high)):
        config, errors = load(f"{key} = {value!r}", "c.toml")
        assert getattr(config, key) == expected
        assert bool(errors) == (value != expected)


@pytest.mark.parametrize("value", ["inf", "-inf"])
def test_infinity(value: str) -> None:
    """Infinity is beyond every limit."""
    config, errors = load(f"silence_s = {value}", "c.toml")

    assert config.silence_s in (0.1, 60) and len(errors) == 1


@each(
    ("line", "key"),
    [
        ("poll_ms = '250'", "poll_ms"),
        ("poll_ms = true", "poll_ms"),
        ("poll_ms = nan", "poll_ms"),
        ("poll_ms = [1]", "poll_ms"),
        ("silence_s = 1979-05-27", "silence_s"),
        ("trust = 1", "trust"),
        ("trust.explicit_lasts = 'pane'", "trust.explicit_lasts"),
        ("trust.done_is = 'idle'", "trust.done_is"),
        ("trust.idle_is = 'done'", "trust.idle_is"),
        ("kitty.style = 'Stripe'", "kitty.style"),
        ("kitty.style = 1", "kitty.style"),
        ("kitty.pulse = 1", "kitty.pulse"),
        ("kitty.pulse = 'no'", "kitty.pulse"),
        ("kitty.puls = true", "kitty.puls"),
        ("colours.working = 'bleu'", "colours.working"),
        ("colours = 'detuan'", "colours"),
        ("colours = 5", "colours"),
        ("colours.palette = 'detuan'", "colours.palette"),
        ("colours.palette = 5", "colours.palette"),
        ("colours.working = '#12345'", "colours.working"),
        ("colours.working = '#1234567'", "colours.working"),
        ("colours.working = '#12345g'", "colours.working"),
        ("colours.working = '#١٢٣٤٥٦'", "colours.working"),
        ("colours.working = 0x3399FF", "colours.working"),
        ("colours.active = '#000000'", "colours.active"),
        ("colors.working = '#000000'", "colors"),
        ("unknown = 1", "unknown"),
        ("[unknown]\nx = 1", "unknown"),
    ],
)
def test_mistakes_cost_themselves(line: str, key: str) -> None:
    """A bad key keeps its default and is named with its line; the good keys around it stand."""
    config, errors = load(f"debounce_ms = 200\n{line}\n", "/home/u/c.toml")

    assert config == Config(debounce_ms=200)
    assert [(error.path, error.key, error.line) for error in errors] == [("/home/u/c.toml", key, 2)]
    assert str(errors[0]).startswith(f"/home/u/c.toml:2: {key}: ")


def test_many_mistakes_are_all_told() -> None:
    """One reading tells every mistake."""
    assert sorted(problems("poll_ms = 1\nx = 1\n[kitty]\nstyle = 1\ny = 2\n")) == [
        ("kitty.style", 4),
        ("kitty.y", 5),
        ("poll_ms", 1),
        ("x", 2),
    ]


@each(
    ("text", "line"),
    [
        ("poll_ms =", 1),
        ("a = 1\nb = 2\npoll_ms = = 3\n", 3),
        ("poll_ms = 1\npoll_ms = 2\n", 2),
        ("\ufffd", 1),
        ("[kitty\n", 1),
        ('x = "never closed', 1),
    ],
)
def test_not_toml(text: str, line: int) -> None:
    """A file that is not TOML gives the defaults and one error with the line."""
    config, errors = load(text, "c.toml")

    assert config == Config()
    assert [error.line for error in errors] == [line]


@each("text", ["a = " + "[" * 100_000, "poll_ms = " + "9" * 5_000, "\0" * 10, "x" * 2_000_000])
def test_hostile(text: str) -> None:
    """Whatever stands in it, reading the configuration does not raise."""
    config, errors = load(text, "c.toml")

    assert config == Config() and len(errors) == 1


def test_huge_number() -> None:
    """A number too long to print is moved to the limit, in a short message."""
    config, errors = load("poll_ms = 1" + "0" * 4_000, "c.toml")

    assert config.poll_ms == 30_000
    assert len(str(errors[0])) < 200


@pytest.mark.slow
def test_many_mistakes_are_counted() -> None:
    """Of thousands of unknown keys the first are named with their lines, and the rest is a number."""
    _, errors = load("\n".join(f"k{number} = 1" for number in range(3000)), "config.toml")

    assert [error.line for error in errors[:20]] == list(range(1, 21))
    assert [str(error) for error in errors[20:]] == ["config.toml: k20: and 2979 more are unknown"]


def test_a_key_of_an_older_version_is_no_mistake() -> None:
    """What it said counts for nothing, whatever it is; another word is still unknown."""
    config, errors = load("[list]\nports = 7\nport = 1\n", "config.toml")

    assert config == Config() and [error.key for error in errors] == ["list.port"]


def test_a_name_of_many_parts_is_refused() -> None:
    """A dotted name that Python would take minutes over is a mistake with a line, wherever it stands."""
    for text in (
        ".".join("a" * 33) + " = 1",
        "x = 1\n[" + " . ".join("a" * 5000) + "]",
        "\nx = {" + "a." * 40 + "b=1}",
    ):
        config, errors = load(text, "config.toml")
        assert config == Config() and [error.line for error in errors] == [text.count("\n", 0, text.index("a")) + 1]
    assert not load('[keys]\njump = "a.b"\n# ' + "a." * 20, "config.toml")[1]
