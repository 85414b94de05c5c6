"""The runtime directory of one host, as it is left and opened again."""

from __future__ import annotations

from pathlib import Path

from tallylight.hosts.jobs import at_once
from tallylight.hosts.store import Store


def test_what_was_waited_is_added_once(tmp_path: Path) -> None:
    """That of an earlier run by the same number is; our own is not added to itself when the host comes back."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
    for expected in (100.0, 200.0):
        store = Store("kitty", environ, at_once)
        store.ledger.waited_s = 100.0
        store.open()
        for now in (1.0, 500.0, 900.0):
            store.add_waiting_time((), now)
            store.leave()
            store.open()
        assert store.ledger.waited_s == expected
