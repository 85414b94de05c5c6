"""The mailbox of a host's loop: it gives what was put, in order, and never waits longer than it was told to."""

from __future__ import annotations

import queue
import signal
import threading
import time

import pytest

from tallylight.hosts.mailbox import Mailbox

pytestmark = pytest.mark.timeout(30)


def test_in_order() -> None:
    """What was put is got, the first one first; then there is nothing."""
    box: Mailbox[object] = Mailbox()
    for item in (1, None, 2):
        box.put(item)

    assert [box.get(), box.get(0.0), box.get(60)] == [1, None, 2]
    assert box.is_empty()
    for timeout in (0.0, -1.0, 0.001):
        with pytest.raises(queue.Empty):
            box.get(timeout)


def test_the_shortest_wait_ends() -> None:
    """A timeout that is over before the wait begins is over: `queue.SimpleQueue` of Python 3.11 hangs here."""
    box: Mailbox[int] = Mailbox()
    for number in range(5000):
        # After an item that nobody had to wait for, the bell has rung and there is nothing.
        box.put(number)
        box.get()
        with pytest.raises(queue.Empty):
            box.get((1e-7, 3e-7, 1e-6, 2e-6)[number % 4])


def test_it_is_waited_for() -> None:
    """A thread that puts something wakes the one that waits, at once; the bell of an earlier item does not."""
    box: Mailbox[str] = Mailbox()
    box.put("early")
    assert box.get() == "early"
    began = time.monotonic()
    threading.Timer(0.05, box.put, ["late"]).start()

    assert box.get(600) == "late"
    assert time.monotonic() - began > 0.04


@pytest.mark.slow
def test_a_signal_handler_puts() -> None:
    """Also in the midst of putting and getting, at any place."""
    box: Mailbox[int] = Mailbox()
    before = signal.signal(signal.SIGALRM, lambda *_: box.put(1))
    got = put = 0
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            box.put(0)
            put += 1
            got += box.get(0.001) == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    while not box.is_empty():
        got += box.get() == 0

    assert got == put
