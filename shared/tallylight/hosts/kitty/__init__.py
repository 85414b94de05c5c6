"""
kitty: everything that runs inside the kitty process, and the only room that imports kitty.

`starter` is what kitty loads, `watcher` what it calls; `host` looks at the windows and shows what is decided. Nothing
on kitty's main thread waits or reads the disk. `light` and `light_text` are for a `tab_bar.py` of your own: see
docs/kitty.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallylight.model.decision import Decision


def _host() -> Any:
    from tallylight.hosts.kitty import starter

    return starter.running()


def light(tab_id: int) -> Decision | None:
    """What is decided for a tab: its `status`, `kind`, `reason`, `report`. None while nothing is known of it."""
    host = _host()
    return host.light(tab_id) if host is not None else None


def light_text(tab_id: int) -> str:
    """The light of a tab as it is drawn by default, with its colour as an SGR sequence; nothing where there is none."""
    host = _host()
    return host.light_text(tab_id) if host is not None else ""
