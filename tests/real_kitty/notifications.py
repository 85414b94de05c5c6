"""A desktop that records: a private D-Bus with a notification daemon on it, as a desktop's own, that draws nothing.

https://specifications.freedesktop.org/notification/latest/ , the part that kitty speaks. The daemon runs in a thread of
the test; `click` and `dismiss` are what a person does to a notification.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
_NAME = "org.freedesktop.Notifications"
_ADDRESS = DBusAddress("/org/freedesktop/Notifications", bus_name=_NAME, interface=_NAME)


@attrs.define
class Shown:
    """One notification: what it said, when it came, and whether it is still there (monotonic seconds)."""

    id: int
    application: str
    title: str
    body: str
    at: float
    #: Its buttons by the names of their actions.
    buttons: dict[str, str]
    #: Whether the daemon is to make no sound of its own.
    is_silent: bool
    closed_at: float | None = None


class Desktop:
    """The bus and the daemon. `env` is what a program has to have in its environment to find them."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="tallylight-bus-", dir="/tmp"))
        socket = self.directory / "bus"
        config = self.directory / "bus.conf"
        config.write_text(_CONFIG.format(socket=socket))
        self.env: Mapping[str, str] = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={socket}"}
        #: Every notification there was, in order.
        self.shown: list[Shown] = []
        self._lock = threading.Lock()
        self._is_open = True
        self._bus = subprocess.Popen(
            ["dbus-daemon", "--nofork", "--print-address", f"--config-file={config}"], stdout=subprocess.PIPE
        )
        try:
            assert self._bus.stdout is not None
            assert self._bus.stdout.readline().startswith(b"unix:"), "dbus-daemon did not start"
            self._connection: DBusConnection = open_dbus_connection(self.env["DBUS_SESSION_BUS_ADDRESS"])
            reply = self._connection.send_and_get_reply(message_bus.RequestName(_NAME))
            assert reply.body == (1,), "the name of the notification daemon is taken"
        except BaseException:
            self._end()
            raise
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End both."""
        self._is_open = False
        self._thread.join(5)
        self._connection.close()
        self._end()

    def _end(self) -> None:
        self._bus.kill()
        self._bus.wait()
        assert self._bus.stdout is not None
        self._bus.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def open(self) -> list[Shown]:
        """The notifications a person would see now."""
        return [one for one in list(self.shown) if one.closed_at is None]

    def click(self, one: Shown) -> None:
        """A person clicks a notification: its default action, and it goes."""
        self._signal("ActionInvoked", "us", (one.id, "default"))
        self._close(one.id, 2)

    def press(self, one: Shown, label: str) -> None:
        """A person presses the button with this label, and the notification goes."""
        name = next(name for name, text in one.buttons.items() if text == label)
        self._signal("ActionInvoked", "us", (one.id, name))
        self._close(one.id, 2)

    def forge(self, one: Shown, action: str) -> None:
        """Another program of the session says that a person has chosen this action."""
        with open_dbus_connection(self.env["DBUS_SESSION_BUS_ADDRESS"]) as stranger:
            stranger.send(new_signal(_ADDRESS, "ActionInvoked", "us", (one.id, action)))

    def dismiss(self, one: Shown) -> None:
        """A person puts a notification away."""
        self._close(one.id, 2)

    # -- the daemon --------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        while self._is_open:
            try:
                message = self._connection.receive(timeout=0.05)
            except TimeoutError:
                continue
            if message.header.message_type is MessageType.method_call:
                self._answer(message)

    def _answer(self, message: Any) -> None:
        member = message.header.fields[HeaderFields.member]
        if member == "Notify":
            application, replaces, _icon, title, body, actions, hints, *_ = message.body
            number = replaces or len(self.shown) + 1
            if replaces:
                self._forget(replaces)
            is_silent = hints.get("suppress-sound", ("b", False))[1]
            self.shown.append(Shown(number, application, title, body, time.monotonic(), _buttons(actions), is_silent))
            reply = new_method_return(message, "u", (number,))
        elif member == "CloseNotification":
            reply = new_method_return(message)
            self._send(reply)
            self._close(message.body[0], 3)
            return
        elif member == "GetCapabilities":
            reply = new_method_return(message, "as", (["body", "actions"],))
        elif member == "GetServerInformation":
            reply = new_method_return(message, "ssss", ("recorder", "tallylight", "1", "1.2"))
        else:
            reply = new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")
        self._send(reply)

    def _close(self, number: int, reason: int) -> None:
        if self._forget(number):
            self._signal("NotificationClosed", "uu", (number, reason))

    def _forget(self, number: int) -> bool:
        for one in self.shown:
            if one.id == number and one.closed_at is None:
                one.closed_at = time.monotonic()
                return True
        return False

    def _signal(self, name: str, signature: str, body: tuple[Any, ...]) -> None:
        self._send(new_signal(_ADDRESS, name, signature, body))

    def _send(self, message: Any) -> None:
        with self._lock:
            self._connection.send(message)


def _buttons(actions: list[str]) -> dict[str, str]:
    """The actions of a notification but for a click on itself: names and labels take turns in the list."""
    pairs = dict(zip(actions[::2], actions[1::2], strict=True))
    pairs.pop("default", None)
    return pairs
