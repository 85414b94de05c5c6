"""The address as a QR code: a decoder reads it off the terminal's cells again."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image

from tallylight.model.errors import TallyError
from tallylight.parts.web import qr
from tallylight.parts.web.verbs import serve
from tests.parts.web.live import TALLY

#: Of the picture that is decoded: pixels of a module.
MODULE = 4
ROW = re.compile(r"\x1b\[38;5;16;48;5;231m([ ▀▄█]+)\x1b\[0m")
TOKEN = "0123456789abcdef" * 4


def decoded(printed: str) -> str:
    """What a camera reads in the rows that were printed, in the colours that they set."""
    rows = [found[1] for line in printed.splitlines() if (found := ROW.fullmatch(line))]
    image = Image.new("L", (len(rows[0]), 2 * len(rows)), 255)
    for y, row in enumerate(rows):
        for x, character in enumerate(row):
            image.putpixel((x, 2 * y), 0 if character in "▀█" else 255)
            image.putpixel((x, 2 * y + 1), 0 if character in "▄█" else 255)
    found = zxingcpp.read_barcodes(image.resize((image.width * MODULE, image.height * MODULE)))
    return "".join(code.text for code in found)


@pytest.mark.parametrize("host", ["127.0.0.1:8787", "[2001:db8::7]:65535", f"{'a' * 249}.example:443"[-257:]])
def test_it_is_read_again(host: str) -> None:
    """Of every host there may be the code fits 80 columns and reads as the address, its token included."""
    where = serve.address(host, 8787, TOKEN)
    rows = qr.rows(where)
    assert {len(row) for row in rows} == {len(rows[0])} and len(rows[0]) <= 80
    assert decoded(qr.coloured(rows)) == where


def test_too_narrow_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A code whose rows would be broken is not printed; it says how wide it is."""
    monkeypatch.setenv("COLUMNS", "44")
    with pytest.raises(TallyError, match="45 columns wide, and this terminal has 44"):
        serve._code(serve.address("127.0.0.1", 8787, TOKEN))


@pytest.mark.programs
def test_a_server_prints_it(tmp_path: Path) -> None:
    """`tally serve --qr` prints the address, and the same as a code; it says that no other machine gets there."""
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    env = {**kept, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    env["PYTHONPATH"] = str(Path("shared").resolve())
    command = [*TALLY, "serve", "--qr", "--port", "0"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        where = process.stdout.readline().strip()
        # All of it is written at once, before the server waits for anybody.
        printed = "".join(process.stdout.readline() for _ in qr.rows(where))
        process.terminate()
        _, said = process.communicate(timeout=20)
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/#[0-9a-f]{64}", where)
    assert decoded(printed) == where
    assert "a phone cannot reach 127.0.0.1" in said
