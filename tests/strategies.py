"""Hypothesis strategies, named for what they make."""

from __future__ import annotations

import itertools

from hypothesis import settings
from hypothesis import strategies as st

from tallylight.model.report import Progress, Report, Source
from tallylight.model.status import CONCLUDED, Kind, Status

#: Pieces that matter to a scanner; random bytes alone would seldom hold one whole sequence.
FRAGMENTS = [
    b"\x1b", b"\x1b\x1b", b"\x1b]", b"\x1bP", b"\x1bX", b"\x1b^", b"\x1b_", b"\x1b[", b"\x1b\\", b"\x07",
    b"\x18", b"\x1a",
    b"\x9c", b"\x9d", b"\x90", b"\x9b", b"\x00", b"\x7f", b"\n", b"\r\n", b";", b"=", b"%", b"\\", b"[", b"]",
    b"7501;state=", b":id=a/b", b":msg=YQ==", b"88;arm;cmd=c3No", b";args=YSBi", b"777;notify;", b"warp://cli-agent;",
    b'{"event":"stop"}', b"Terax;claude;working", b"99;i=1:d=0;", b"21337;status=Idle", b"\\;",
    b"3008;start=claude;event=busy",
    b"0;", b"2;", b"9;4;", b"26;", b"133;", b"1337;SetUserVar=", b"1338;", b"tmux;", b"state=waiting",
    b"tool=", b"%C3%A9",
    b"Status=running", b"CodeAgent=claude", b"YQ==", b"x=YQ==", b"D;0", b"31m", b"2J", b"38;5;9m", b" q", b"(B",
    b"text", b"\xe2\x9c\x9c", b"\xe2\x80\x9d", b"\xf0\x9f\x92\xa1", b"a" * 40, b"1" * 40,
    b"\x1b]1338;state=waiting\x07", b"\x1b]0;title\x1b\\", b"\x1b[1;31m", b"\x1bPtmux;\x1b\x1b]133;A\x07\x1b\\",
]  # fmt: skip


def at_most(number: int) -> int:
    """*number* of examples, and in the inner loop as much fewer as the other tests have there."""
    return min(number, number * settings().max_examples // 100)


def streams() -> st.SearchStrategy[bytes]:
    """Bytes as a program might send them, whole, broken and hostile."""
    piece = st.one_of(st.sampled_from(FRAGMENTS), st.binary(max_size=8))
    return st.lists(piece, max_size=40).map(b"".join)


@st.composite
def chunkings(draw: st.DrawFn, streams: st.SearchStrategy[bytes]) -> tuple[bytes, list[bytes]]:
    """A stream, and the same stream in pieces (empty ones too)."""
    data = draw(streams)
    places = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    bounds = [0, *places, len(data)]
    return data, [data[start:end] for start, end in itertools.pairwise(bounds)]


#: Characters that sanitising is about, and ordinary ones.
NASTY = (
    "\x00\x07\x1b\x7f\x85\x9b\x9c\x9d\t\n\r \u00a0\u3000\u2028\u2029\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c"
    "\u200d\u200e\u202a\u202e\u2060\u2066\u2069\u3164\ufe0e\ufe0f\ufeff\ufff9\ufffe\ud800\udfff\U000e0041\U000e007f"
    "\u0301\u0300\u0308\u0345\u20e3\u0f71\u0f72\u0f74\u1100\u1161\u11a8\u00e9\u0958\ufb1d\u1e9b\u0323\u2126\u212a\u037e\u1fef\u2764\u00a91#*"
    "\U0001f469\U0001f4bb\U0001f3fb\U0001f1e9\U0001f1ea\U0001f525漢ｃсa;%"
)


def texts() -> st.SearchStrategy[str]:
    """Text as a hostile program might send it, lone surrogates included."""
    return st.one_of(
        st.text(alphabet=st.sampled_from(NASTY), max_size=60),
        st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=40),
        st.text(
            alphabet=st.one_of(st.sampled_from(NASTY), st.characters(codec=None, exclude_categories=())), max_size=40
        ),
    )


def _labels(most: int) -> st.SearchStrategy[str]:
    """Clean text: what sanitising leaves as it is."""
    return st.text(alphabet=st.sampled_from("abc XYZ019;=%/\\'\"{}<>$é漢✓"), max_size=most)


def progresses() -> st.SearchStrategy[Progress]:
    """Any valid progress."""
    return st.integers(1, 999_999).flatmap(lambda total: st.integers(0, total).map(lambda done: Progress(done, total)))


def argument_lists() -> st.SearchStrategy[tuple[str, ...]]:
    """A program and its arguments, or nothing. What could not be shown as it is does not travel."""
    words = st.lists(_labels(10), max_size=4)
    return st.none().map(lambda _: ()) | words.map(lambda arguments: ("claude", *arguments))


@st.composite
def wire_reports(draw: st.DrawFn) -> Report:
    """A report that OSC 1338 can carry in one frame."""
    status = draw(st.none() | st.sampled_from([status for status in Status if status not in CONCLUDED]))
    kind = draw(st.none() | st.sampled_from(Kind)) if status is Status.WAITING else None
    names = ("agent", "project", "session", "title", "cwd", "worktree", "mode", "message", "detail")
    return Report(
        source=Source.PROTOCOL,
        rule="osc-1338",
        status=status,
        kind=kind,
        id=draw(st.sampled_from(["", "a", "a/b", "tmux:%3@1".replace("%", "-"), "x/y/z"])),
        progress=draw(st.none() | progresses()),
        background=draw(st.integers(0, 9999)),
        resume=draw(argument_lists()),
        fork=draw(argument_lists()),
        **{name: draw(_labels(20)) for name in names},
    )
