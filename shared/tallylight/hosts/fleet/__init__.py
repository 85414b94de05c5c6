"""
The fleet: the panes of several machines, carried by an MQTT broker as retained messages.

`messages` is the wire, `outbox` what a machine still has to tell, `mirror` what a reader has been told; none of the
three does any input or output. `link` is the connection. docs/fleet.md describes topics and payloads.
"""
