"""Streams for a relay: what programs send, whole, broken and hostile."""

from __future__ import annotations

from hypothesis import strategies as st

from tallylight.relay.splitter import INTRODUCERS
from tests.strategies import FRAGMENTS

#: Whole sequences, each of which a relay reads.
READ = [
    b"\x1b]7501;state=working:app=codex\x07", b"\x1b]7501;state=blocked:kind=question:id=a/b\x1b\\",
    b"\x1b]7501;state=clear\x07", b"\x1b]7501;state=clear:id=a\x07", b"\x1b]7501;?\x07", b"\x1b]7501;?\x1b\\",
    b"\x1b]1338;state=waiting\x07", b"\x1b]1338;state=working;id=a\x1b\\",
    b"\x1b]26;CodeAgent=claude;Status=running;TaskProgress=1/4\x07", b"\x1b]26;Status=finished\x07",
    b"\x1b]26;Status=\x07", b"\x1b]26;CodeAgent=\x1b\\", b"\x1b]26;Status=rate_limited;Detail=tool:Bash\x07",
    b"\x1b]88;arm;cmd=bnZpbQ==\x07", b"\x1b]88;clear\x1b\\", b"\x1b]21337;status=Waiting\x07",
    b"\x1b]3008;start=claude;event=busy\x07", b"\x1b]777;notify;Terax;claude;working\x07",
    b'\x1b]777;notify;warp://cli-agent;{"event":"stop","agent":"x;y"}\x07',
]  # fmt: skip
#: What looks like them and is not.
FOREIGN = [
    b"\x1b]13380;state=waiting\x07", b"\x1b]01338;state=waiting\x07", b"\x1b]1338\x07", b"\x1b]7501\x07",
    b"\x1b]21337;web-terminal;x\x07", b"\x1b]3008;start=abc;type=shell\x07", b"\x1b]777;notify;title;body\x07",
    b"\x1b]777;notify;warp://cli-agent;{}\x07", b"\x1b]9;4;3\x07",
    b"\x1b]9;4\x07", b"\x1b]9;4;", b"\x1b]0;]1338;state=waiting\x07",
    b"\x1bP1$r]1338;state=waiting\x1b\\", b"\x1b_Ga=T;]7501;?\x1b\\", b"\x1b]1337;SetUserVar=tally\x07",
    b"\x1b]1337;SetUserVar=tally=!\x07", b"\x1b]1337;SetUserVar=tally=c3RhdGU9ZG9uZQ==\x07",
    b"\x1bPtmux;\x1b\x1b]1338;state=waiting\x07\x1b\\",
    b"\x1bPtmux;\x1b\x1b]7501;?\x1b\x1b\\\x1b\\", b"\x1bP\x1b]1338;state=waiting\x07\x1b\\",
]  # fmt: skip
_PIECES = [*FRAGMENTS, *READ, *FOREIGN, *INTRODUCERS, b"\x1bc", b"\x1bP", b"c", b"\x1bPtmux;", b"\xe2", b"\x9c\x93"]


def streams() -> st.SearchStrategy[bytes]:
    """Bytes as a program might send them."""
    piece = st.one_of(st.sampled_from(_PIECES), st.sampled_from(READ), st.binary(max_size=6))
    return st.lists(piece, max_size=30).map(b"".join)
