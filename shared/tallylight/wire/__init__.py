"""
The wire: one codec a protocol, and the table of them.

`wire.CODECS`, `wire.decode` and `wire.Event` are those of `wire.registry`, loaded at first use: `tally emit`
imports `wire.pairs` and `wire.envelope` and must not pay for the rest.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.wire.registry import CODECS, Event, decode

__all__ = ["CODECS", "Event", "decode"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tallylight.wire import registry

    value = globals()[name] = getattr(registry, name)  # asked for once: `decode` is called for every sequence
    return value
