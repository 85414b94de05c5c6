"""
User variables: `OSC 1337 ; SetUserVar=NAME=BASE64 ST`. https://iterm2.com/documentation-escape-codes.html

kitty delivers them to `on_set_user_var` of a watcher, WezTerm to the event `user-var-changed`.

In: one sequence. Out: `UserVar`, or DecodeError. iTerm2 has many other commands under 1337; they are not ours. The
value is another protocol's payload, so only controls are removed from it, as in kitty. Its decoder sanitises the texts.
"""

from __future__ import annotations

import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire import base64
from tallylight.wire.frame import check_length
from tallylight.wire.scanner import Sequence

NUMBER = 1337
BEGINNING = b"1337;SetUserVar="
#: An OSC 26 frame of 8 KiB in base64 fits, with room.
FRAME_LIMIT = 16_384
#: WezTerm takes exactly two parameters, so a raw `;` is wrong for it, too.
_SET = re.compile(rb"1337;SetUserVar=([A-Za-z0-9_.:-]{1,64})(?:=([^;]*))?", re.DOTALL)
_CONTROLS = {code: " " if code == 0x0A else None for code in [*range(0x20), *range(0x7F, 0xA0)]}


@attributes.frozen
class UserVar:
    """A pane's user variable was set; *value* None means that it was deleted."""

    name: str
    value: str | None


def decode(sequence: Sequence) -> UserVar:
    """Read one SetUserVar; `not-ours`, `too-long`, `malformed` or `bad-encoding` otherwise."""
    if sequence.number != NUMBER or not sequence.payload.startswith(BEGINNING):
        raise DecodeError("not-ours")
    check_length(sequence.raw, FRAME_LIMIT)
    found = _SET.fullmatch(sequence.payload)
    if found is None:
        raise DecodeError("malformed", "a name of A-Z a-z 0-9 _ . : - and one base64 value")
    name, value = found.groups()
    if value is None:
        return UserVar(name.decode("ascii"), None)
    data = base64.decode_text(value)
    return UserVar(name.decode("ascii"), data if data.isprintable() else data.translate(_CONTROLS))
