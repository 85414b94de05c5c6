"""
Other machines: their panes beside those of this one, by a bridge or by a broker. Nothing below `cli` uses this room.

`messages` has the messages between machines, `panes` the panes that one of them has sent, by either way. Without a
broker, one `ssh`, `docker exec` or similar for each machine runs `tally bridge` there. `bridge` is the far end, `host`
the near one, with a `link` and a `machine` for each; `commands` are the argument lists.

A fleet has an MQTT broker. `topics` has the places and formats of its messages, `outbox` those still to send, and
`publisher` sends them. `mirror` has the messages that a `subscriber` received, `marks` checks requests of other
machines, and `broker` is the connection. docs/places.md describes both.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="remote",
    about="agents of other machines, by ssh or a broker",
    verbs={
        "publish": Verb("More to set up", "send the state of this machine's agents to the broker of a fleet"),
        "bridge": Verb("For scripts", "report this machine's agents to another machine, which calls this"),
    },
    serves={"fleet": f"{__name__}.fleet", "attaching": f"{__name__}.commands", "machines": f"{__name__}.host"},
)
