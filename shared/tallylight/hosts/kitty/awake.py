"""
All that this kitty does beyond its lights: it answers, serves scripts, types queued texts, asks the person, notifies.

`starter` has it loaded on a thread with the first agent, the first script, or a setting that needs consent.
"""

from __future__ import annotations

import functools

from kitty.fast_data_types import add_timer

from tallylight.actions.once import DECIDE_S
from tallylight.hosts.kitty import answering, power_consent, queue, scripts, windows
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.notifications import Notices


def begin(host: KittyHost, woken: float) -> None:
    """Do it for *host* from now on; its first agent was seen at monotonic *woken*."""
    host.guarded("scripts", scripts.serve)(host)
    host.each_tick.append(host.guarded("consent to settings", power_consent.PowerConsent(host).ask_if_new))
    host.each_tick.append(host.guarded("queue", functools.partial(queue.advance, host)))
    host.each_tick.append(host.guarded("notifications", functools.partial(_notify, host, woken)))


def _notify(host: KittyHost, woken: float) -> None:
    """Begin to notify, once the settings are known."""
    if host.messages.notices is not None or host.settings.current is None:
        return
    host.messages.notices = Notices(
        boss=host.boss,
        settings=host.config.notify,
        panes=host.panes,
        name_of=lambda id_: windows.name(host.boss.window_id_map.get(id_)),
        perform=functools.partial(answering.perform, host),
        received=host.received,
        later=lambda call: add_timer(host.guarded("notifications", call), DECIDE_S, False),
        features=host.features,
        host=host.name,
        mutes=host.mutes,
        worker=host.worker,
        also=host.parts.notify,
        since=woken,
    )
    host.messages.notices.listen()
