"""
The `[fleet]` table of the configuration: the broker, the account there, and the name of this machine.

Without `broker` there is no fleet.
"""

from __future__ import annotations

import attrs

from tallylight.config.declared import setting

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@attrs.frozen(kw_only=True)
class Fleet:
    """The broker, and how to reach it. A path may begin with `~`."""

    broker: str = setting(
        "", "the MQTT broker to which `tally publish` sends this machine's state", sample="broker.example"
    )
    tls: bool = setting(
        attrs.Factory(lambda self: self.broker not in _LOOPBACK, takes_self=True),
        "TLS is off by default only for a broker on this machine",
    )
    port: int = setting(
        attrs.Factory(lambda self: 8883 if self.tls else 1883, takes_self=True), "1883 without TLS", limits=(1, 65535)
    )
    ca_file: str = setting("", "CA of the broker's certificate; empty: the system's CAs")
    cert_file: str = setting("", "client certificate")
    key_file: str = setting("", "its private key")
    username: str = setting("", "user name at the broker")
    password_file: str = setting("", "file with the password, mode 600")
    prefix: str = setting(
        "tallylight",
        "first part of every topic",
        pattern=r"[^+#\x00/$]([^+#\x00]*[^+#\x00/])?",
        wrong="it cannot be the beginning of an MQTT topic",
    )
    machine: str = setting("", "name of this machine; empty: its host name")
    #: With fewer seconds a machine would come and go on a busy network.
    keepalive_s: float = setting(20.0, "seconds until an unreachable machine shows as gone", limits=(10, 3600))
    marks: bool = setting(False, "people on other machines may mark this machine's panes as seen, and snooze them")


def unsafe(fleet: Fleet) -> bool:
    """Return whether its password would be sent over the network unencrypted."""
    return bool(fleet.password_file) and not fleet.tls and fleet.broker not in _LOOPBACK
