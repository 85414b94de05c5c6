"""
Pairs: `key=value;key=value` with percent-encoded values, the payload grammar of OSC 1338.

Spec: https://github.com/bjhengen/vibeflow (crate `vibeflow-protocol`). The bytes from `percent_decode` are not yet
sanitised.

`tally emit` must start in no time, so this module imports nothing that takes any: no re, enum, typing or attrs.
"""

from __future__ import annotations

from tallylight.model.errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: OSC 1338 allows a sequence of 4096 bytes, introducer and terminator included.
MAX_PAYLOAD = 4096 - len(b"\x1b]1338;") - len(b"\x07")
#: Keys of texts that are shortened, in this order, if the payload is too long: a message must not cost the light.
ELASTIC = ("detail", "message", "title", "what")
#: Keys that are left out, in this order, if that is not enough: half a path is another path.
DISPENSABLE = ("worktree", "cwd")

_HEX = b"0123456789abcdefABCDEF"
#: The characters as sent: `;`, `=`, `%`, controls and all that is not ASCII are encoded.
_ENCODED = [f"%{byte:02X}" if byte < 0x20 or byte > 0x7E or byte in b";=%" else chr(byte) for byte in range(256)]


def percent_encode(value: str | bytes) -> str:
    """Encode one value. A lone surrogate has no UTF-8 and goes out as `?`."""
    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return "".join([_ENCODED[byte] for byte in data])


def percent_decode(value: bytes) -> bytes:
    """Decode one value. Raise DecodeError `bad-encoding` for a `%` that two hexadecimal digits do not follow."""
    first, *rest = value.split(b"%")
    if not rest:
        return value
    out = bytearray(first)
    for piece in rest:
        if len(piece) < 2 or piece[0] not in _HEX or piece[1] not in _HEX:
            raise DecodeError("bad-encoding", f"% without two hexadecimal digits, before {piece[:8]!r}")
        # Each digit was checked first: int() alone would accept "+1", " 1" and "1_".
        out.append(int(piece[:2], 16))
        out += piece[2:]
    return bytes(out)


def join(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Write pairs in the order given. Keys are ours and go out as they are; values are encoded."""
    return ";".join([f"{key}={percent_encode(value)}" for key, value in pairs]).encode("ascii")


def split(payload: bytes) -> list[tuple[bytes, bytes]]:
    """Read pairs, each split at its first `=`; a token without one is skipped. Values stay encoded."""
    return [(key, value) for key, equals, value in [token.partition(b"=") for token in payload.split(b";")] if equals]


def fit(fields: dict[str, str]) -> bytes:
    """Return the encoded payload; if it is too long, texts are cut and paths left out."""
    payload = join(fields.items())
    for key in ELASTIC + DISPENSABLE:
        excess = len(payload) - MAX_PAYLOAD
        if excess <= 0:
            return payload
        if key in fields:
            budget = len(percent_encode(fields[key])) - excess
            fields[key] = _shortened(fields[key], budget) if key in ELASTIC else ""
            payload = join((name, value) for name, value in fields.items() if value)
    if len(payload) > MAX_PAYLOAD:
        longest = max(fields, key=lambda key: len(fields[key]))
        raise ValueError(f"too long: {len(payload)} bytes, the limit is {MAX_PAYLOAD}; shorten --{longest}")
    return payload


def _shortened(text: str, budget: int) -> str:
    """Return *text*, cut so that it has at most *budget* bytes with an ellipsis when encoded; `""` if nothing fits."""
    budget -= len(percent_encode("…"))
    for index, character in enumerate(text):
        budget -= len(percent_encode(character))
        if budget < 0:
            return text[:index] + "…" if index else ""
    return text
