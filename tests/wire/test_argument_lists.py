"""Argument lists on the wire: whole, or not at all."""

from __future__ import annotations

from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.wire import osc1338, pairs
from tests.tables import each


def carried(words: str) -> tuple[str, ...]:
    """What is read of `resume=`*words*."""
    return osc1338.decode_payload(pairs.join([("state", "idle"), ("resume", words)])).resume


@each(
    ("words", "read"),
    [
        ("", ()),
        ("claude", ("claude",)),
        ("claude\n--resume\n{SessionId}", ("claude", "--resume", "{SessionId}")),
        ("claude\n\nx", ("claude", "", "x")),
        ("claude\na b", ("claude", "a b")),
        ("claude\na\tb", ()),
        ("claude\na\x1bb", ()),
        ("claude\na\u202eb", ()),
        ("\n".join(["x"] * osc1338.MAX_LISTED_WORDS), ("x",) * osc1338.MAX_LISTED_WORDS),
        ("\n".join(["x"] * (osc1338.MAX_LISTED_WORDS + 1)), ()),
        ("x" * osc1338.MAX_LISTED_WORD_CHARS, ("x" * osc1338.MAX_LISTED_WORD_CHARS,)),
        ("x" * (osc1338.MAX_LISTED_WORD_CHARS + 1), ()),
    ],
)
def test_a_word_a_line(words: str, read: tuple[str, ...]) -> None:
    """A list that is too long, or has a character that cannot be shown, is no list; what has a space stays one word."""
    assert carried(words) == read


def test_a_word_with_a_line_end_does_not_become_two() -> None:
    """A list that cannot be written so that it comes back the same is not written."""
    report = Report(source=Source.PROTOCOL, status=Status.IDLE, resume=("claude", "a\n--yolo"), fork=("claude",))

    back = osc1338.decode_payload(osc1338.encode_payload(report))

    assert (back.resume, back.fork) == ((), ("claude",))


@each(
    ("value", "read"),
    [
        ("resume=claude%0A--resume%0Ax;cwd=/w", osc1338.Recipe(("claude", "--resume", "x"), "/w")),
        ("resume=", osc1338.Recipe()),
        ("resume=claude;cwd=/w%0A", osc1338.Recipe(("claude",))),
        ("resume=claude%0Aa%1Bb", osc1338.Recipe()),
        ("resume=claude;state=idle", None),
        ("resume=claude%ZZ", None),
        ("resume=%FF", None),
        ("cwd=/w", None),
        (f"resume={'x' * 5000}", None),
        (None, None),
    ],
)
def test_a_variable_without_a_status(value: str | None, read: osc1338.Recipe | None) -> None:
    """It tells how to start the program again, or is nothing; whoever reads statuses finds none in it."""
    assert osc1338.decode_recipe(value) == read
    if read is not None:
        assert osc1338.decode_variable(value) is None


@each("argv", [(), ("claude",), ("claude", "--resume", "a b;c=%"), ("claude", "a\nb"), ("x" * 500,) * 60])
def test_a_recipe_comes_back_the_same_or_not_at_all(argv: tuple[str, ...]) -> None:
    """One that is too long for a frame, or has a line end in a word, is taken back rather than cut."""
    written = osc1338.encode_recipe(osc1338.Recipe(argv, "/w"))
    back = osc1338.decode_recipe(written)

    is_whole = "a\nb" not in argv and len(argv) < 60
    assert back is not None and back.argv == (argv if is_whole else ())
    assert len(written) < osc1338.PAYLOAD_LIMIT


@each(("length", "kept"), [(256, 256), (257, 257), (3000, 257)])
def test_a_session_id_that_is_too_long_stays_too_long(length: int, kept: int) -> None:
    """Cut to its limit it would be another id, which might pass."""
    report = osc1338.decode_payload(f"state=idle;session={'x' * length}")

    assert len(report.session) == kept
