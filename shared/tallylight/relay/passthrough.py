"""
Passthrough: opens the envelopes that `wire.envelope` makes, as tmux and GNU Screen do.

tmux: https://github.com/tmux/tmux/blob/master/input.c (`input_dcs_dispatch`)
GNU Screen: https://git.savannah.gnu.org/cgit/screen.git/tree/src/ansi.c (`StringEnd`)

`unwrap` returns the bytes in one envelope. `Unwrapper` reads the bytes of all envelopes as one stream, like the
terminal outside: a frame may span several. It also opens nested envelopes, to a bounded depth, and finds the sequences
that a `Splitter` does.
"""

from __future__ import annotations

from tallylight.relay.splitter import Splitter
from tallylight.wire.envelope import SCREEN_PAYLOAD
from tallylight.wire.scanner import Sequence, SequenceKind

#: The most nested multiplexers; each level costs a splitter.
NESTED_ENVELOPES = 4


def unwrap(sequence: Sequence, *, screen: bool = False) -> bytes | None:
    """
    Return the bytes that the multiplexer would pass to the terminal outside; None if this is no envelope.

    tmux drops each ESC and keeps the byte after it, so that a frame with a single ESC arrives as mere text.
    With *screen*, a DCS that is not tmux's is GNU Screen's, taken as it is; a longer one than Screen takes is None.
    """
    if sequence.kind is not SequenceKind.DCS:
        return None
    if sequence.payload.startswith(b"tmux;"):
        # One ESC of each pair goes, in few steps because of floods; a single one at the end stays.
        pieces = sequence.payload[5:].split(b"\x1b\x1b")
        alone = b"\x1b" if pieces[-1].endswith(b"\x1b") else b""
        return b"\x1b".join([piece.replace(b"\x1b", b"") for piece in pieces]) + alone
    if screen and len(sequence.payload) <= SCREEN_PAYLOAD:
        return sequence.payload
    return None


class Unwrapper:
    """Opens all envelopes of one pane, which are one stream."""

    def __init__(self, *, screen: bool = False, levels: int = NESTED_ENVELOPES) -> None:
        self._screen = screen
        self._found: list[Sequence] = []
        self._inner = Unwrapper(screen=screen, levels=levels - 1) if levels > 1 else None
        self._splitter = Splitter(self._take, lambda: None, self._open if self._inner else None, screen=screen)

    def feed(self, sequence: Sequence) -> list[Sequence]:
        """Open one envelope; return the whole sequences from all levels. Anything but an envelope returns none."""
        data = unwrap(sequence, screen=self._screen)
        self._splitter.feed(data or b"", [])
        found, self._found = self._found, []
        return found

    def _take(self, sequence: Sequence) -> bool:
        self._found.append(sequence)
        return True

    def _open(self, sequence: Sequence) -> None:
        if self._inner is not None:
            self._found += self._inner.feed(sequence)
