"""
kitty: everything that runs inside the kitty process, and the only room that imports kitty.

`starter` is what kitty loads, `watcher` what it calls; `host` looks at the windows and shows what is decided. Nothing
on kitty's main thread waits or reads the disk. `light` and `light_text` are for a `tab_bar.py` of your own: see
docs/lights.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallylight.model.decision import Decision


def _tabs() -> Any:
    """What draws the lights of tabs, for code of the person's own; None while nothing runs."""
    from tallylight.hosts.kitty import starter

    host = starter.running()
    if host is None:
        return None
    host.surfaces.tabs.was_asked()
    return host.surfaces.tabs


def light(tab_id: int) -> Decision | None:
    """What is decided for a tab: its `status`, `kind`, `reason`, `report`. None while nothing is known of it."""
    tabs = _tabs()
    shown = tabs.rollup.shown(tab_id) if tabs is not None else None
    return shown.decision if shown is not None else None


def light_text(tab_id: int) -> str:
    """The light of a tab as it is drawn by default, with its colour as an SGR sequence; nothing where there is none."""
    tabs = _tabs()
    return tabs.rendered(tab_id) if tabs is not None else ""
