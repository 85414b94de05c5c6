"""
The `[fleet]` table of the configuration: which broker, as whom, and under which name.

docs/fleet.md describes the keys. Without `broker` there is no fleet.
"""

from __future__ import annotations

import attrs

from tallylight.config.declared import setting

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@attrs.frozen(kw_only=True)
class Fleet:
    """The broker and what it is told. Of files there are paths, where `~` stands for the home."""

    broker: str = setting("", "where `tally publish` sends the state of this machine", sample="broker.example")
    tls: bool = setting(
        attrs.Factory(lambda self: self.broker not in _LOOPBACK, takes_self=True),
        "off only if you say so, or if the broker is this machine",
    )
    port: int = setting(
        attrs.Factory(lambda self: 8883 if self.tls else 1883, takes_self=True), "1883 without TLS", limits=(1, 65535)
    )
    ca_file: str = setting("", "the authority of the broker's certificate; the system's if left out")
    cert_file: str = setting("", "a certificate of this client's")
    key_file: str = setting("", "the key of that certificate")
    username: str = setting("", "as whom, where the broker asks")
    password_file: str = setting("", "a file with the password, mode 600")
    prefix: str = setting(
        "tallylight",
        "where the topics begin",
        pattern=r"[^+#\x00/$]([^+#\x00]*[^+#\x00/])?",
        wrong="it cannot be the beginning of an MQTT topic",
    )
    machine: str = setting("", "the name of this machine; the host's name if left out")
    #: With less a busy network would make a machine come and go.
    keepalive_s: float = setting(
        20.0, "a machine that has vanished shows as gone after so many seconds", limits=(10, 3600)
    )
    marks: bool = setting(
        False, "true: a person who sees this machine's panes elsewhere may mark them as seen and snooze them"
    )


def unsafe(fleet: Fleet) -> bool:
    """Whether its password would be sent over the network unencrypted."""
    return bool(fleet.password_file) and not fleet.tls and fleet.broker not in _LOOPBACK
