"""A mount that hangs: a real one, as of a server that does not answer any more."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_DEVICE = "/dev/fuse"
_MNT_DETACH = 2


@contextlib.contextmanager
def hanging_mount(folder: Path) -> Iterator[None]:
    """Have all that asks for *folder* wait, until this ends; then it fails. A test that cannot have it is skipped."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        server = os.open(_DEVICE, os.O_RDWR)
    except OSError as error:
        pytest.skip(f"no mount that hangs can be made here: {error}")
    try:
        options = f"fd={server},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        # Whoever asks waits for the server's first word, and there is none.
        if libc.mount(b"hangs", os.fsencode(folder), b"fuse", 0, options.encode()) != 0:
            pytest.skip(f"no mount that hangs can be made here: {os.strerror(ctypes.get_errno())}")
        try:
            yield
        finally:
            os.close(server)
            server = -1
            libc.umount2(os.fsencode(folder), _MNT_DETACH)
    finally:
        if server >= 0:
            os.close(server)
