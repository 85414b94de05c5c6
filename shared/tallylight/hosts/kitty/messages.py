"""Messages of this kitty to the user: notifications of panes, and others, such as mistakes in the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kitty.utils import log_error

from tallylight.hosts.kitty import actions
from tallylight.hosts.kitty.notice import show
from tallylight.wire.text import sanitise


def log(line: str) -> None:
    """Write *line* to kitty's log."""
    log_error(f"tallylight: {line}")


class Messages:
    """Messages to the user from *host*, a `hosts.kitty.host.KittyHost`."""

    def __init__(self, host: Any) -> None:
        self._host = host
        #: The `notifications.Notices` of panes; None before the first agent.
        self.notices: Any = None

    def mistakes(self, problems: Sequence[str]) -> None:
        """Report problems with the settings, in the log and as a notification."""
        for problem in problems:
            log(problem)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        body = sanitise(f"{problems[0]}{more}; run `tally doctor`")
        self._host.guarded("notice of mistakes", self.notify)("Tallylight: settings", body)

    def notify(self, title: str, body: str) -> None:
        """Show a notification that is about no pane."""
        self._host.guarded("notifications", show)(self._host.boss, title, body)

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
