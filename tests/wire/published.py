"""
The vectors of the `tally` user variable for other implementations, made from our own: `python -m tests.wire.published`
writes docs/tally-variable.json, which docs/protocol.md explains.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from tallylight import wire
from tallylight.model.errors import DecodeError
from tallylight.wire import osc1338, user_var
from tests.helpers import Vector, describe, load_vectors, only_sequence

FILE = Path(__file__).parents[2] / "docs" / "tally-variable.json"
_START, _ENDS = b"\x1b]1338;", (b"\x07", b"\x1b\\")


def text() -> str:
    """The file, as it should be."""
    carried = (payload for vector in load_vectors("osc1338") if (payload := _payload(vector)) is not None)
    document = {
        "protocol": "the tally user variable",
        "version": 1,
        "vectors": [_told(name, payload) for name, payload in carried],
        "carrier": [_carried(vector) for vector in load_vectors("user_var")],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _payload(vector: Vector) -> tuple[str, bytes] | None:
    """What a whole frame of OSC 1338 carries; None for what is a vector of the frame itself."""
    for end in _ENDS:
        inside = vector.data[len(_START) : -len(end)]
        if vector.data.startswith(_START) and vector.data.endswith(end) and not {0x07, 0x1B} & set(inside):
            return vector.id, inside
    return None


def _told(name: str, payload: bytes) -> dict[str, Any]:
    """The sequence that carries *payload*, and what a reader of it finds."""
    sequence = b"\x1b]1337;SetUserVar=tally=%b\x07" % b64encode(payload)
    found: dict[str, Any] = {"id": name, "sequence": sequence.decode("ascii")}
    event = wire.decode(only_sequence(sequence))
    if not isinstance(event, user_var.UserVar):
        return found | {"report": None}
    found["value"] = event.value
    try:
        return found | {"report": describe(osc1338.decode_payload(event.value or ""))["report"]}
    except DecodeError:
        return found | {"report": None}


def _carried(vector: Vector) -> dict[str, Any]:
    """One sequence, and which variable it sets to what; `variable` None: none."""
    event = wire.decode(only_sequence(vector.data))
    known = {"name": event.name, "value": event.value} if isinstance(event, user_var.UserVar) else None
    return {"id": vector.id, "sequence": vector.data.decode("latin-1"), "variable": known}


if __name__ == "__main__":
    FILE.write_text(text(), "ascii")
