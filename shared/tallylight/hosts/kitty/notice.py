"""A notification that is about no pane, by kitty's own manager."""

from __future__ import annotations

from typing import Any

APPLICATION = "Tallylight"


def show(boss: Any, title: str, body: str) -> None:
    manager = boss.notification_manager
    command = manager.create_notification_cmd()
    command.title, command.body, command.application_name = title, body, APPLICATION
    manager.notify_with_command(command, 0)
