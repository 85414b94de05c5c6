"""
kitty: everything that runs inside the kitty process, and the only room that imports kitty.

`watcher` is what kitty calls; `host` looks at the windows and shows what is decided. Nothing on kitty's main thread
waits or reads the disk. `light` and `light_text` are for a `tab_bar.py` of your own: docs/kitty.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallylight.model.decision import Decision


def light(tab_id: int) -> Decision | None:
    """What is decided for a tab: its `status`, `kind`, `reason`, `report`. None while nothing is known of it."""
    from tallylight.hosts.kitty import watcher

    host = watcher.running()
    return host.light(tab_id) if host is not None else None


def light_text(tab_id: int) -> str:
    """The light of a tab as it is drawn by default, with its colour as an SGR sequence; nothing where there is none."""
    from tallylight.hosts.kitty import watcher

    host = watcher.running()
    return host.light_text(tab_id) if host is not None else ""
