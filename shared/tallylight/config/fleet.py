"""
The `[fleet]` table of the configuration: which broker, as whom, and under which name.

docs/fleet.md describes the keys. Without `broker` there is no fleet.
"""

from __future__ import annotations

import attrs

from tallylight.files.toml import Table

#: Below this many seconds a busy network would make a machine come and go.
MIN_KEEPALIVE_S = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@attrs.frozen(kw_only=True)
class Fleet:
    """
    The broker and what it is told.

    *keepalive_s*: a machine that has vanished shows as gone after so many seconds. *password_file*, *ca_file*,
    *cert_file* and *key_file* are paths; `~` stands for the home. *tls* is on unless the broker is this machine.
    *marks*: whoever may write to the broker may mark panes of this machine as seen, and snooze them.
    """

    broker: str = ""
    port: int = 8883
    tls: bool = True
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    username: str = ""
    password_file: str = ""
    prefix: str = "tallylight"
    #: The host's name if left out.
    machine: str = ""
    keepalive_s: float = 20.0
    marks: bool = False


def parse_fleet(table: Table) -> Fleet:
    """The settings in *table*, whose mistakes it keeps."""
    default = Fleet()
    broker = table.text("broker")
    tls = table.boolean("tls", broker not in _LOOPBACK)
    prefix = table.text("prefix", default.prefix)
    if not prefix or any(c in prefix for c in "+#\0") or prefix.startswith(("/", "$")) or prefix.endswith("/"):
        table.complain("prefix", "cannot be the beginning of an MQTT topic")
        prefix = default.prefix
    found = Fleet(
        broker=broker,
        port=round(table.number("port", 8883 if tls else 1883, 1, 65535)),
        tls=tls,
        ca_file=table.text("ca_file"),
        cert_file=table.text("cert_file"),
        key_file=table.text("key_file"),
        username=table.text("username"),
        password_file=table.text("password_file"),
        prefix=prefix,
        machine=table.text("machine"),
        marks=table.boolean("marks", default.marks),
        keepalive_s=table.number("keepalive_s", default.keepalive_s, MIN_KEEPALIVE_S, 3600),
    )
    if found.password_file and not found.tls and broker not in _LOOPBACK:
        table.complain("tls", "is off: the password is sent over the network unencrypted")
    table.close()
    return found
