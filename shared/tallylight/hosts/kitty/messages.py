"""Messages of this kitty to the user: notifications of panes, and others, such as mistakes in the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kitty.fast_data_types import add_timer
from kitty.utils import log_error

from tallylight.actions.once import DECIDE_S
from tallylight.hosts.kitty import actions
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.notifications import Notices
from tallylight.tracker.mutes import Mutes
from tallylight.wire.text import sanitise


def log(line: str) -> None:
    """Write *line* to kitty's log."""
    log_error(f"tallylight: {line}")


class Messages:
    """Messages to the user from *host*, a `hosts.kitty.host.KittyHost`."""

    def __init__(self, host: Any) -> None:
        self._host = host
        #: Notifications of panes; None until the settings are known.
        self.notices: Notices | None = None

    def mistakes(self, problems: Sequence[str]) -> None:
        """Report problems with the settings, in the log and as a notification."""
        for problem in problems:
            log(problem)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        body = sanitise(f"{problems[0]}{more}; run `tally doctor`")
        self._host.guarded("notice of mistakes", self.notify)("Tallylight: settings", body)

    def start(self, mutes: Mutes, received: Callable[[int], None]) -> None:
        """Start notifications, once the settings are known; *received* is called for each pane that one has changed."""
        self.notices = Notices(
            boss=self._host.boss,
            settings=self._host.config.notify,
            panes=self._host.panes,
            name_of=lambda id_: kitty_windows.name(self._host.boss.window_id_map.get(id_)),
            perform=lambda asked, caller: self._host.perform(asked, caller),  # noqa: PLW0108 - it may be put there later
            received=received,
            later=lambda call: add_timer(self._host.guarded("notifications", call), DECIDE_S, False),
            features=self._host.features,
            host=self._host.name,
            mutes=mutes,
            worker=self._host.worker,
            also=self._host.parts.notify,
        )
        self.notices.listen()

    def notify(self, title: str, body: str) -> None:
        """Show a notification that is about no pane."""
        if self.notices is not None:
            self._host.guarded("notifications", self.notices.notify)(title, body)

    def unwritten(self, problem: str) -> None:
        """Report that the snapshot cannot be written: others see an older state of this kitty."""
        log(problem)
        self.notify("Tallylight: other terminals do not see what this kitty shows", sanitise(problem))

    def resumable(self, number: int) -> None:
        """Offer to resume *number* conversations of an earlier kitty, in a tab behind the current one."""
        what, them = ("1 conversation was", "it") if number == 1 else (f"{number} conversations were", "them")
        opened: list[bool] = []

        def open_tab() -> None:
            command, title = [self._host.command, "restore", "--tabs"], f"↻  {what} open: Enter resumes {them}"
            opened.append(bool(self._host.command) and actions.offer(self._host.boss, command, title))

        self._host.guarded("tab of open conversations", open_tab)()
        where = f"Press Enter in the tab ↻ to resume {them}." if any(opened) else "Run `tally restore`."
        self.notify(f"{what} open when kitty ended", where)
