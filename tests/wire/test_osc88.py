"""OSC 88: its vectors and its limits."""

from __future__ import annotations

from base64 import b64encode

import pytest

from tallylight.model.errors import DecodeError
from tallylight.wire import osc88
from tallylight.wire.osc1338 import Recipe
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


def decode(body: bytes) -> Recipe:
    return osc88.decode(only_sequence(b"\x1b]88;%b\x07" % body))


@each("vector", vector_params("osc88"))
def test_osc88(vector: Vector) -> None:
    """OSC 88 arms and clears; what is broken or could not be shown as it is arms nothing."""
    check_vector(vector, lambda data: osc88.decode(only_sequence(data)))


def test_frame_limit() -> None:
    """A frame of exactly 8 KiB is read, one byte more is not."""
    fits = b"\x1b]88;arm;cmd=c3No;x=".ljust(osc88.FRAME_LIMIT - 1, b"x") + b"\x07"

    assert osc88.decode(only_sequence(fits)) == Recipe(("ssh",))
    with pytest.raises(DecodeError, match="too-long"):
        osc88.decode(only_sequence(fits[:-1] + b"x\x07"))


def test_field_limit() -> None:
    """The 64th field is read, the 65th is not."""
    assert decode(b"arm;" + b"x=1;" * 63 + b"cmd=c3No") == Recipe(("ssh",))
    with pytest.raises(DecodeError, match="malformed"):
        decode(b"arm;" + b"x=1;" * 64 + b"cmd=c3No")


@each(("key", "most"), [("cmd", 256), ("args", 1024), ("cwd", 1024)])
def test_text_limits(key: str, most: int) -> None:
    """A text as long as could be shown is read; one character more would be run unseen and costs the arm."""
    for size, fits in ((most, True), (most + 1, False)):
        body = b"arm;cmd=c3No;%b=%b" % (key.encode(), b64encode(b"a" * size))
        if fits:
            assert decode(body)
        else:
            with pytest.raises(DecodeError, match="unsafe"):
                decode(body)


def test_argv() -> None:
    """An argument list is the command and the words after it, and nothing splits a word again."""
    assert decode(b"arm;cmd=%b;args=%b" % (b64encode(b"a b"), b64encode(b"'c d' e"))).argv == ("a b", "c d", "e")
