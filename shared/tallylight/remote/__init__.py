"""
Other machines: their panes beside those of this one, by a bridge or by a broker. Nothing below `cli` uses this room.

`messages` has what machines send each other, `panes` what one of them has sent, by either way. Without a broker
one `ssh`, `docker exec` or similar a machine runs `tally bridge` over there: `bridge` is the far end, `host` the near
one, with a `link` and a `machine` for each; `commands` are the argument lists. A fleet has an MQTT broker: `topics` is
what it keeps and where, `outbox` what a machine has yet to send, `publisher` sends it, `mirror` is what a `subscriber`
received, `marks` what is asked for panes from elsewhere, `broker` the connection. docs/places.md
describes both.
"""
