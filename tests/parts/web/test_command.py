"""`tally serve` as a command: where it listens, what it is called, and what it says when it cannot."""

from __future__ import annotations

import socket

import pytest

from tallylight.cli.main import main
from tallylight.model.errors import TallyError
from tallylight.parts.web.verbs import serve
from tests.tables import each


@each("port", ["x", "-1", "65536", "80000", "1.5", ""])
def test_a_port_there_is_not(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A port that no machine has is wrong usage, with what there may be."""
    assert main(["serve", "--port", port]) == 2
    assert "must be 0 to 65535" in capsys.readouterr().err


@each("name", ["a b", "", "http://box/", "box:x", "::1", "box:1234567", "-x.example\x1b"])
def test_a_name_nothing_can_have(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that no browser could call is wrong usage."""
    assert main(["serve", f"--allow-host={name}"]) == 2
    said = capsys.readouterr().err
    assert "is not a host name; write box.example" in said and "\x1b" not in said


def test_it_takes_connections_before_it_says_where() -> None:
    """Whoever reads the address can connect at once."""
    listener = serve.listen("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()[:2], timeout=10) as client:
        assert client.getpeername() == listener.getsockname()


def test_a_port_that_is_taken() -> None:
    """It is said which port, and what to do."""
    with serve.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            TallyError, match=f"^cannot listen on 127.0.0.1, port {port}: .*use --port to choose another.*$"
        ):
            serve.listen("127.0.0.1", port)


@each("address", ["192.0.2.1", "a" * 70 + ".example", "\udcff"])
def test_an_address_that_is_not_of_this_machine(address: str) -> None:
    """One line with the address and the reason."""
    with pytest.raises(TallyError, match=r"^cannot listen on ") as error:
        serve.listen(address, 0)
    assert "\n" not in str(error.value)


@each(
    ("address", "names"),
    [
        ("127.0.0.1", []),
        ("localhost", []),
        ("0.0.0.0", []),
        ("::", []),
        ("192.0.2.7", ["192.0.2.7"]),
        ("::1", ["[::1]"]),
        ("2001:db8::7", ["[2001:db8::7]"]),
    ],
)
def test_the_address_it_listens_at_is_a_name_of_it(address: str, names: list[str]) -> None:
    """A server that was opened at an address of its own may be called by it; one at every address by no other."""
    assert serve._own_name(address) == names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("127.0.0.1", "http://127.0.0.1:8787/#abc"),
        ("box:9000", "http://box:9000/#abc"),
        ("box.example:443", "https://box.example/#abc"),
        ("[::1]", "http://[::1]:8787/#abc"),
    ],
)
def test_the_address_that_is_printed(name: str, found: str) -> None:
    """It can be opened as it stands: with the port that leads there, and encrypted where that is the port for it."""
    assert serve.address(name, 8787, "abc") == found
