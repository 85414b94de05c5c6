"""
Envelopes: the bytes around a payload, for a terminal and through tmux and GNU Screen.

tmux: https://github.com/tmux/tmux/wiki/FAQ#what-is-the-passthrough-escape-sequence-and-how-do-i-use-it
GNU Screen: https://www.gnu.org/software/screen/manual/html_node/Control-Sequences.html

`tally emit` must start in no time, so this module imports nothing that takes any: no re, enum, typing or attrs.
"""

from __future__ import annotations

from binascii import b2a_base64

#: The user variable that carries a report: its value is the payload of an OSC 1338.
CARRIER = "tally"
BEL = b"\x07"
ST = b"\x1b\\"
#: GNU Screen drops a DCS with a longer payload and prints its tail as text. 767 since 2014, 511 and 255 before.
SCREEN_PAYLOAD = 767


def osc(number: int, payload: str | bytes, *, st: bool = False) -> bytes:
    """Return one OSC. BEL ends it unless *st*: BEL passes through every multiplexer, ST needs an envelope."""
    data = payload.encode("utf-8", "replace") if isinstance(payload, str) else payload
    return b"\x1b]%d;%b%b" % (number, data, ST if st else BEL)


def user_var(name: str, value: str | bytes) -> bytes:
    """Return the sequence that sets a user variable of the pane: OSC 1337 SetUserVar, for kitty and WezTerm."""
    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return osc(1337, b"SetUserVar=%b=%b" % (name.encode("ascii"), b2a_base64(data, newline=False)))


def tmux_wrap(data: bytes, levels: int = 1) -> bytes:
    """Wrap *data* for the terminal outside *levels* of tmux. Each needs `allow-passthrough on`."""
    for _ in range(levels):
        data = b"\x1bPtmux;%b\x1b\\" % data.replace(b"\x1b", b"\x1b\x1b")
    return data


def screen_wrap(data: bytes) -> bytes:
    """
    Wrap *data* for the terminal outside GNU Screen, in as many DCS sequences as their length needs.

    Screen ends a DCS at the first ESC \\, so an ESC \\ inside *data* is split between two of them.
    """
    first, *rest = data.split(ST)
    pieces = [first] + [b"\\" + piece for piece in rest]
    pieces[:-1] = [piece + b"\x1b" for piece in pieces[:-1]]
    most = SCREEN_PAYLOAD
    return b"".join([b"\x1bP%b\x1b\\" % piece[at : at + most] for piece in pieces for at in range(0, len(piece), most)])
