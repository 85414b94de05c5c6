"""
Other machines: their panes beside those of this one, by a bridge or by a broker. Nothing below `cli` uses this room.

`messages` has what machines send each other, `panes` what one of them has sent, by either way. Without a broker
one `ssh`, `docker exec` or similar a machine runs `tally bridge` over there: `bridge` is the far end, `host` the near
one, with a `link` and a `machine` for each; `commands` are the argument lists. A fleet has an MQTT broker: `topics` is
what it keeps and where, `outbox` what a machine has yet to send, `publisher` sends it, `mirror` is what a `subscriber`
received, `marks` what is asked for panes from elsewhere, `broker` the connection. docs/places.md
describes both.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="remote",
    about="agents of other machines, by ssh or a broker",
    verbs={
        "publish": Verb(
            "More to set up",
            "send the state of this machine's agents to the broker of a fleet",
            f"{__name__}.verbs.publish",
        ),
        "bridge": Verb(
            "For scripts",
            "report this machine's agents to another machine, which calls this",
            f"{__name__}.verbs.bridge",
        ),
    },
    serves={"fleet": f"{__name__}.fleet", "attaching": f"{__name__}.commands", "machines": f"{__name__}.host"},
)
