"""A hostile file, printed behind the relay: it changes what that pane displays and nothing else, and runs nothing.

One stream a class of bad input. Each carries commands wherever a careless reader might run one, all of which would
leave a file behind. Printed in one window of a real kitty, while another one waits for a person.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from tallylight.snapshot.schema import Pane
from tallylight.wire.text import sanitise
from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

ESC, BEL, ST = b"\x1b", b"\x07", b"\x1b\\"
#: What would leave a trace if anything ran it.
RUN = b"touch /tmp/tallylight-pwned-$PPID"
DANGER = b"$(" + RUN + b")`" + RUN + b"`;" + RUN + b"|{fmt.fg.red}%s%n<b>&amp;#[fg=red]\\u{1b}"


def b64(data: bytes) -> bytes:
    return base64.b64encode(data)


def osc(body: bytes, end: bytes = BEL) -> bytes:
    return ESC + b"]" + body + end


def percent(data: bytes) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in data)


ARM = osc(b"88;arm;cmd=" + b64(b"bash") + b";args=" + b64(b"-c '" + RUN + b"'"))
HOSTILE: dict[str, bytes] = {
    "framing": ESC + b"]1338;state=waiting" + osc(b"1338;state=\x18done") + ESC * 9 + b"\x9d7501;state=error\x9c" + BEL,
    "oversize": osc(b"1338;state=error;tool=" + b"x" * 200_000) + osc(b"7501;state=error:msg=" + b"QUFB" * 5000),
    "number": b"".join(osc(n + b";state=error") for n in (b"01338", b"+1338", b"", b"133800", b"13", b"\xd9\xa1338")),
    "utf-8": osc(b"1338;state=done;tool=\xc0\x80\xed\xa0\x80\xff\xef\xbb\xbf") + osc(b"2;\xff\xfe"),
    "controls": osc(b"1338;state=done;message=" + percent(b"\x1b]2;x\x07\x00\r\n\x7f\xc2\x9b2J" + RUN + b"\n")),
    "bidi": osc(b"1338;state=done;message=" + percent("\u202e\u2066\u200b\ufeff\U000e0041gnp.exe".encode())),
    "width": osc(b"1338;state=done;message=" + percent(("e" + "\u0301" * 300).encode()) + b";project=" + b"W" * 3000),
    "look-alike": osc(b"1338;state=done;tool=" + percent("сlaude".encode())) + osc(b"7501;state=done:app=claude-code"),
    "encoding": osc(b"1338;state=done;tool=%2525%ZZ") + osc(b"7501;state=done:msg=Y") + osc(b"26;SessionId=!!!"),
    "structure": osc(b"1338;" + b"a=b;" * 1000 + b"state=done") + osc(b"26;" + b";" * 7000)
    + osc(b"7501;=:=:state=done"),
    "integers": osc(b"26;TaskProgress=9/4") + osc(b"9;4;1;" + b"9" * 5000)
    + osc(b"1338;state=done;progress=1/" + b"9" * 5000),
    "paths": osc(b"1338;state=done;cwd=" + percent(b"/../../etc/passwd\0\n//server/share")) + osc(b"7;file://x/etc"),
    "exec": ARM + osc(b"26;CodeAgent=claude;MethodFork=" + b64(b"bash -c " + RUN) + b";Status=running"),
    "template": osc(b"1338;state=done;project=" + percent(DANGER) + b";message=" + percent(DANGER))
    + osc(b"2;" + DANGER),
    "replay": b"".join(osc(b"7501;state=%s" % s) for s in (b"working", b"blocked") * 3000),
    "channels": osc(b"3008;start=x;type=shell;cmdline=" + RUN) + osc(b"777;notify;warp://cli-agent;" + b"[" * 9000)
    + osc(b'777;notify;warp://cli-agent;{"event":"stop","event":"' + RUN + b'","agent":NaN}'),
    "multiplexer": ESC + b"Ptmux;" + ESC + osc(b"1338;state=error") + ST + ESC + b"P+q]1338;state=error" + ST,
    "titles": osc("0;✳ Claude Code".encode()) + osc(b"2;" + b"T" * 100_000) + osc(b"0;\x01\x02"),
    "records": b"".join(osc(b"7501;state=blocked:id=r%d" % n) for n in range(3000)) + osc(b"7501;state=clear"),
    "queries": osc(b"7501;?") * 3000 + osc(b"88;query") * 100 + osc(b"7501;??"),
    "paste": b"\x1b[200~" + RUN + b"\n\x1b[201~\x9b201~" + osc(b"52;c;" + b64(RUN))
    + osc(b"1337;SetUserVar=tally=" + b64(DANGER)),
}  # fmt: skip


@pytest.fixture(scope="module")
def desk(kitty_version: str) -> Iterator[Desk]:
    desk = Desk(
        kitty_version, "tab_bar_style fade\nshell bash\n", "[kitty]\npulse = false\n", size=(1000, 400), scale=SMALL
    )
    yield desk
    desk.close()


def texts(desk: Desk, window: int) -> list[str]:
    """Every text the snapshot has of a window."""

    def listed() -> list[Pane]:
        found = desk.snapshot()
        return [pane for pane in found.panes if pane.id == str(window)] if found is not None else []

    [pane] = desk.kitty.wait_until(listed, what="the window in the snapshot")
    shown = [pane.title, pane.agent, pane.project, pane.session, pane.message, pane.reason.rule]
    for record in pane.evidence.records:
        shown += [record.agent, record.rule, *record.fields.values()]
    return shown


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_only_shown(desk: Desk, name: str) -> None:
    """What is printed ends as harmless fields of its own pane; the one beside it stays as it was, and nothing runs."""
    kitty = desk.kitty
    path = kitty.home / f"hostile-{name}"
    path.write_bytes(HOSTILE[name])
    desk.close_all_but_first()
    before = {window["id"] for window in kitty.windows()}
    other = desk.lamp("other", "waiting")
    desk.wait_status(other, "waiting")
    # What is answered must find no shell: it goes to `cat`, which shows it.
    window = kitty.launch("tally", "run", "sh", "-c", f"cat {path}; printf 'END%s' OF; exec cat", keep_focus=True)
    kitty.wait_text(window, "ENDOF", 60)
    kitty.send_text(window, "still here\r")
    kitty.wait_text(window, "still here", 20)

    assert kitty.user_vars(other)["tally_status"] == "waiting"
    variables = kitty.user_vars(window)
    assert variables.get("tally_status", "") in ("", "working", "waiting", "done", "idle", "background", "error")
    for value in variables.values():
        assert "\x1b" not in value
    fields = texts(desk, window)
    assert fields == [sanitise(text, cells=10_000) for text in fields]
    assert not kitty.run(["sh", "-c", "ls /tmp/tallylight-pwned-* 2>/dev/null"], check=False).stdout
    assert {found["id"] for found in kitty.windows()} == before | {window, other}
    assert not [line for line in kitty.log.splitlines() if "tallylight" in line and "switched off" in line]


def test_nothing_of_it_is_left(desk: Desk) -> None:
    """After all of them kitty is up, and its snapshot can be read and is small."""
    found = desk.snapshot()

    assert found is not None
    assert len(json.dumps(found.to_json())) < 100_000
    assert desk.kitty.alive()
