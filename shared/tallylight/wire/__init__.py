"""
The wire: one codec for each protocol, and the table of codecs.

`wire.CODECS`, `wire.decode` and `wire.Event` are loaded from `wire.registry` at first use: `tally emit` imports only
`wire.pairs` and `wire.envelope` and must start fast.
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
