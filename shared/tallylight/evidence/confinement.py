"""
A sandbox around a process, as far as Linux shows one: namespaces of its own, and the flag `NoNewPrivs`.

A user's program needs that flag for Landlock or seccomp. Without `/proc` no sandbox is known.
https://man7.org/linux/man-pages/man7/namespaces.7.html
"""

from __future__ import annotations

from tallylight.evidence.process_table import Table
from tallylight.evidence.procfs import ProcTable

_KINDS = ("user", "mnt", "pid", "net")


def is_confined(pid: int, host: int, of: Table) -> bool:
    """Return whether the process *pid* is in another sandbox than *host*; True where that cannot be read."""
    if not isinstance(of, ProcTable):
        return False
    marks = _sandbox_marks(pid, of)
    return "" in marks or marks != _sandbox_marks(host, of)


def _sandbox_marks(pid: int, of: ProcTable) -> tuple[str, ...]:
    """Return the namespaces of *pid* and its flag `NoNewPrivs`; "" for each that cannot be read."""
    flag = of.read(pid, "status", 4096).partition(b"NoNewPrivs:")[2].strip()[:1].decode("ascii", "replace")
    return (*(of.link(pid, f"ns/{kind}") for kind in _KINDS), flag)
