"""
Other machines: their panes beside those of this one, by a bridge or by a broker. Nothing below `cli` uses this room.

`messages` is what machines tell each other, `panes` what one of them has told, whichever way it came. Without a broker
one `ssh`, `docker exec` or the like a machine runs `tally bridge` over there: `bridge` is the far end, `host` the near
one, with a `link` and a `machine` for each; `commands` are the argument lists. A fleet has an MQTT broker: `topics` is
what it keeps and where, `outbox` what a machine has yet to tell, `publisher` tells it, `mirror` is what a `subscriber`
was told, `marks` what is asked for panes from elsewhere, `broker` the connection. docs/places.md
describes both.
"""
