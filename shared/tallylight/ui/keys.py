"""
Keys: a terminal's bytes for keys, the mouse and a paste, as events.

Bytes go in as they come, in any pieces; events come out. An unknown sequence is dropped whole, and nothing is buffered
without a bound. Sequences: ECMA-48, xterm's SGR mouse (1006) and bracketed paste (2004),
https://invisible-island.net/xterm/ctlseqs/ctlseqs.html ; kitty's keyboard protocol, which distinguishes keys such as
Enter and Shift+Enter, https://sw.kovidgoyal.net/kitty/keyboard-protocol/ .
"""

from __future__ import annotations

import re

import attrs

from tallylight.model.lights import RGB
from tallylight.wire.values import digits

#: The requests to a terminal, and their end: mouse buttons and wheel, in SGR form; bracketed paste; kitty's protocol
#: for keys.
ENABLE = "\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[>1u"
DISABLE = "\x1b[<u\x1b[?2004l\x1b[?1006l\x1b[?1000l"
#: Asks for the foreground and the background (OSC 10 and 11, xterm).
ASK_COLOURS = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\"
#: The same for reports of the keyboard focus (1004).
ENABLE_FOCUS, DISABLE_FOCUS = "\x1b[?1004h", "\x1b[?1004l"
#: Bytes of one paste, more than the longest text that is typed into an agent; the rest is dropped.
MAX_PASTE_BYTES = 16 * 1024 + 4
#: Bytes of one sequence. The longest known one has some 20.
MAX_KEY_BYTES = 64


@attrs.frozen
class Key:
    """A key: its name, `up`, `enter`, `ctrl+c`; or its character, if it makes text."""

    name: str


@attrs.frozen
class Paste:
    """Text that was pasted and not typed."""

    text: str


@attrs.frozen
class Mouse:
    """An action of the mouse, `press`, `wheel_up` or `wheel_down`, and its cell, from 0."""

    what: str
    line: int
    column: int


@attrs.frozen
class Focus:
    """The terminal has got the keyboard, or lost it. Sent after `ENABLE_FOCUS`."""

    is_in: bool


@attrs.frozen
class TerminalColour:
    """The terminal's own colour of its background, or of its text."""

    is_background: bool
    colour: RGB


Event = Key | Paste | Mouse | Focus | TerminalColour

_CONTROL = {0x0D: "enter", 0x09: "tab", 0x7F: "backspace", 0x08: "backspace", 0x1B: "escape"}
_LETTERS = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "Z": "shift+tab",
}  # fmt: skip
_TILDE = {"1": "home", "7": "home", "4": "end", "8": "end", "5": "page_up", "6": "page_down", "3": "delete"}
_CSI = re.compile(rb"\x1b\[([0-?]*)[ -/]*([@-~])")
#: The code points of keys in kitty's protocol. Keys of the keypad count as the same keys.
_CODES = {9: "tab", 13: "enter", 27: "escape", 127: "backspace", 57414: "enter", 57417: "left", 57418: "right",
          57419: "up", 57420: "down", 57421: "page_up", 57422: "page_down", 57423: "home", 57424: "end",
          57426: "delete"}  # fmt: skip
_MODIFIERS = {1: "shift", 2: "alt", 4: "ctrl"}
#: Caps lock and num lock, which change no key here.
_LOCKS = 64 | 128
#: Keys that mean something else with a modifier.
_MODIFIED = ("shift+tab", "shift+enter", "alt+enter", "ctrl+enter")
_SS3 = re.compile(rb"\x1bO(.)", re.DOTALL)
_SGR_MOUSE = re.compile(r"<([0-9]{1,4});([0-9]{1,5});([0-9]{1,5})")
_COLOUR = re.compile(rb"\x1b\](1[01]);rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:/[^\x07\x1b]*)?")
_STRING_END = re.compile(rb"\x07|\x1b\\")
_OLD_MOUSE = b"\x1b[M"
_PASTE, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_WHEEL = {64: "wheel_up", 65: "wheel_down"}


class Decoder:
    """Decodes the bytes of one terminal."""

    def __init__(self) -> None:
        self._data = b""
        self._paste: bytes | None = None

    @property
    def is_pending(self) -> bool:
        """Return whether a lone ESC, or the start of a sequence, waits for its rest: call `flush` after a moment."""
        return bool(self._data) and self._paste is None

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes, and return the events that are whole."""
        self._data += data
        events: list[Event] = []
        while self._data:
            used, event = self._next()
            if not used:
                break
            self._data = self._data[used:]
            if event is not None:
                events.append(event)
        return events

    def flush(self) -> list[Event]:
        """
        Return the events of bytes without a rest: a lone ESC is that key, half a sequence is none. A paste may go on.
        """
        if not self.is_pending:
            return []
        data, self._data = self._data, b""
        return [Key("escape")] if data == b"\x1b" else []

    def _next(self) -> tuple[int, Event | None]:
        """Return how many bytes the first event took, 0 if more are needed; and the event, None for none."""
        data = self._data
        if self._paste is not None:
            return self._pasted(self._paste)
        if data.startswith(_PASTE):
            self._paste = b""
            return len(_PASTE), None
        if data[0] == 0x1B:
            return _sequence(data)
        if data[0] < 0x20 or data[0] == 0x7F:
            return 1, Key(_CONTROL.get(data[0]) or f"ctrl+{chr(data[0] | 0x60)}")
        return _character(data)

    def _pasted(self, before: bytes) -> tuple[int, Event | None]:
        """Return the rest of the paste that began with *before*, in the form of `_next`."""
        end = self._data.find(_PASTE_END)
        if end < 0:
            # The last bytes may be the start of the end.
            used = max(0, len(self._data) - len(_PASTE_END) + 1)
            self._paste = (before + self._data[:used])[:MAX_PASTE_BYTES]
            return used, None
        self._paste = None
        return end + len(_PASTE_END), Paste((before + self._data[:end])[:MAX_PASTE_BYTES].decode("utf-8", "replace"))


def _character(data: bytes) -> tuple[int, Event | None]:
    """Return a character of UTF-8; a byte that begins none is dropped."""
    length = 1 if data[0] < 0x80 else 2 if data[0] < 0xE0 else 3 if data[0] < 0xF0 else 4
    if 0x80 <= data[0] < 0xC2 or data[0] > 0xF4 or any(not 0x80 <= byte < 0xC0 for byte in data[1:length]):
        return 1, None
    if len(data) < length:
        return 0, None
    try:
        return length, Key(data[:length].decode("utf-8"))
    except UnicodeDecodeError:
        return 1, None


def _sequence(data: bytes) -> tuple[int, Event | None]:
    """Return the event of a sequence that begins with an ESC."""
    if len(data) == 1:
        return 0, None
    if data[1] == 0x1B:
        return 1, Key("escape")
    if data[1:2] == b"O":
        found = _SS3.match(data)
        return (found.end(), _key(_LETTERS.get(chr(found[1][0]), ""))) if found is not None else (0, None)
    if data[1:2] == b"\r":
        return 2, Key("alt+enter")
    if data[1:2] == b"]":
        return _string(data)
    if data[1:2] != b"[":
        return 2, None  # alt and a key
    if data.startswith(_OLD_MOUSE):
        # A terminal without the SGR form. Its three bytes look like keys, and must not be taken for any.
        return len(_OLD_MOUSE) + 3 if len(data) >= len(_OLD_MOUSE) + 3 else 0, None
    if (found := _CSI.match(data)) is not None:
        return found.end(), _csi(found[1].decode("ascii"), chr(found[2][0]))
    # With other characters in it, it can no longer become a control sequence.
    is_broken = any(byte < 0x20 or byte > 0x7E for byte in data[2:])
    return min(len(data), MAX_KEY_BYTES) if len(data) >= MAX_KEY_BYTES or is_broken else 0, None


def _string(data: bytes) -> tuple[int, Event | None]:
    """Return the colour in an operating system command; None for any other."""
    end = _STRING_END.search(data, 2)
    if end is None:
        return MAX_KEY_BYTES if len(data) >= MAX_KEY_BYTES else 0, None
    found = _COLOUR.fullmatch(data, 0, end.start())
    if found is None:
        return end.end(), None
    red, green, blue = (round(255 * int(part, 16) / (16 ** len(part) - 1)) for part in found.groups()[1:])
    return end.end(), TerminalColour(found[1] == b"11", (red, green, blue))


def _csi(parameters: str, final: str) -> Event | None:
    """Return the event of a control sequence."""
    if mouse := _SGR_MOUSE.fullmatch(parameters):
        button, column, line = (int(number) for number in mouse.groups())
        what = _WHEEL.get(button) or ("press" if button == 0 else "")
        return Mouse(what, line - 1, column - 1) if final == "M" and what and line and column else None
    if not parameters and final in "IO":
        return Focus(final == "I")
    number, _, modifiers = parameters.partition(";")
    if final == "u":
        return _key(_named(number, _modifier(modifiers)))
    name = _TILDE.get(number, "") if final == "~" else _LETTERS.get(final, "")
    return _key("" if _modifier(modifiers) else name)


def _key(name: str) -> Key | None:
    return Key(name) if name else None


def _modifier(parameter: str) -> str:
    """Return the one modifier in *parameter*: "" for none, `?` for several, or if it is not one."""
    held = parameter.partition(":")[0]
    if not (held.isascii() and held.isdigit() and len(held) < 4):
        return "?" if parameter else ""
    bits = (int(held) - 1) & ~_LOCKS if held != "0" else 0
    return _MODIFIERS.get(bits, "?") if bits else ""


def _named(code: str, modifier: str) -> str:
    """Return the key of kitty's protocol with the code point *code*; "" if it means nothing here."""
    found = digits(code.partition(":")[0], 6)
    if name := _CODES.get(found, ""):
        name = f"{modifier}+{name}" if modifier else name
        return name if not modifier or name in _MODIFIED else ""
    return f"ctrl+{chr(found)}" if modifier == "ctrl" and ord("a") <= found <= ord("z") else ""
