"""
kitty: everything that runs inside the kitty process, and the only room that imports kitty.

kitty loads `starter` and calls `watcher`; `host` looks at the windows and shows the lights. Nothing on kitty's main
thread waits or reads the disk. `light` and `light_text` are for a `tab_bar.py` of your own: see docs/lights.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallylight.model.decision import Decision


def _tabs() -> Any:
    """Return the tab lights, for a user's own code; None while Tallylight does not run."""
    from tallylight.hosts.kitty import starter

    host = starter.running()
    if host is None:
        return None
    host.surfaces.tabs.was_drawn_by_user()
    return host.surfaces.tabs


def light(tab_id: int) -> Decision | None:
    """Return a tab's `Decision`: its `status`, `kind`, `reason` and `report`. None while nothing is known of it."""
    tabs = _tabs()
    shown = tabs.rollup.shown(tab_id) if tabs is not None else None
    return shown.decision if shown is not None else None


def light_text(tab_id: int) -> str:
    """Return the light of a tab as drawn by default, with its colour as an SGR sequence; empty without a light."""
    tabs = _tabs()
    return tabs.rendered(tab_id) if tabs is not None else ""
