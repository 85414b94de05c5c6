"""GNU Screen's list of sessions in every layout it has, and what is read of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallylight.hosts.gnu_screen.session_list import (
    MAX_LISTED_SESSIONS,
    Session,
    is_query_socket,
    keeps_text,
    read_folder,
    read_info,
    read_list,
)
from tests.tables import each

DETACHED, ATTACHED, GONE = False, True, None


def listed(*lines: str) -> str:
    """A list as Screen prints it, with its own line ends."""
    return "There are screens on:\r\n" + "".join(f"\t{line}\n" for line in lines) + "2 Sockets in /run/screen/S-me.\r\n"


@each(
    ("line", "state"),
    [
        ("4711.work\t(11/21/26 03:12:54)\t(Detached)", DETACHED),
        ("4711.work\t(11/21/2026 03:12:54 AM)\t(Attached)", ATTACHED),
        ("4711.work\t(21.11.2026 03:12:54)\t(Detached)", DETACHED),
        ("4711.work\t(2026年11月21日 03時12分54秒)\t(Multi, attached)", ATTACHED),
        ("4711.work\t(21/11/26 03:12:54)\t(Multi, detached)", DETACHED),
        ("4711.work\t(٢١/١١/٢٠٢٦ ٠٣:١٢:٥٤ ص)\t(Attached)", ATTACHED),
        ("4711.work\t(Detached)", DETACHED),
        ("4711.work\t(Attached)", ATTACHED),
        ("4711.work\t(11/21/26 03:12:54)\t(Dead ???)", GONE),
        ("4711.work\t(Remote or dead)", GONE),
        ("4711.work\t(11/21/26 03:12:54)\t(Private)", GONE),
        ("4711.work\t(11/21/26 03:12:54)\t(Unreachable)", GONE),
        ("4711.work\t(11/21/26 03:12:54)\t(Something new)", GONE),
    ],
)
def test_layouts(line: str, state: bool | None) -> None:
    """With or without a date, whatever the locale makes of it, the state is read; what is not known is gone."""
    assert read_list(listed(line)) == [Session(4711, "work", state)]


@each(
    "name",
    ["tty1.host", 'a b "c" $(reboot) ;\'', "x\t(y)\t(Attached)", "(Dead ???)", "..", "-r", "ü❯", "L" * 80, ""],
)
def test_names(name: str) -> None:
    """A name is taken as it is, whatever it looks like, and the address is pid and name."""
    (session,) = read_list(listed(f"4711.{name}\t(11/21/26 03:12:54)\t(Detached)"))

    assert session == Session(4711, name, DETACHED)
    assert session.address == f"4711.{name}"


def test_what_is_no_session() -> None:
    """The lines around the list, and somebody's idea of one, are none."""
    text = (
        "There is a screen on:\r\n 1.a\t(Detached)\n\t.b\t(Detached)\n\tx.c\t(Detached)\n\t0.d\t(Detached)\n\t7.e\n"
        "\t12345678901.f\t(Detached)\nRemove dead screens with 'screen -wipe'.\r\nNo Sockets found in /run.\r\n"
    )

    assert read_list(text) == []


def test_what_asks_is_no_session() -> None:
    """The socket of a question to a session has the session's pid, and is not taken for it."""
    lines = ["9.work-queryA\t(d)\t(Detached)", "9.work\t(d)\t(Attached)", "9.work-queryB\t(d)\t(Detached)"]

    assert read_list(listed(*lines)) == [Session(9, "work", ATTACHED)]
    assert is_query_socket("9.work-queryA")
    assert not is_query_socket("9.query")


@each(
    ("text", "folder"),
    [
        ("2 Sockets in /run/screen/S-me.\r\n", "/run/screen/S-me"),
        ("1 Socket in /tmp/a b/.screen.\n", "/tmp/a b/.screen"),
        ("No Sockets found in /run/screen/S-me.\r\n\r\n", "/run/screen/S-me"),
        ("", ""),
    ],
)
def test_folder(text: str, folder: str) -> None:
    """The directory of the sockets stands in the last line."""
    assert read_folder(text) == folder


def test_info_and_version() -> None:
    """`info` counts from 1; the version tells whether hardcopies keep their text."""
    assert read_info(b"(1,8)/(80,24)+1024 +(+)flow UTF-8 0(bash)") == (0, 7, 80, 24)
    assert read_info(b"") is None
    assert not keeps_text(b"Screen version 4.09.00 (GNU) 30-Jan-22\n")
    assert keeps_text(b"Screen version 5.0.2 (build on 2026-08-25 08:57:57)\n")
    assert not keeps_text(b"")


def test_limit() -> None:
    """No more than `MAX_LISTED_SESSIONS` are read."""
    lines = [f"{pid}.x\t(Detached)" for pid in range(1, MAX_LISTED_SESSIONS + 2)]

    assert len(read_list(listed(*lines))) == MAX_LISTED_SESSIONS


@given(st.text(max_size=300), st.binary(max_size=60))
def test_anything_is_read(text: str, data: bytes) -> None:
    """No text raises."""
    read_list(text)
    read_folder(text)
    read_info(data)
    keeps_text(data)
