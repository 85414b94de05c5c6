"""
The fleet: the panes of several machines, carried by an MQTT broker as retained messages.

`messages` is the wire, `outbox` what a machine still has to tell, `mirror` what a reader has been told, `marks` what is
asked for panes from elsewhere; none of these does any input or output. `broker` is the connection. docs/fleet.md
describes topics and payloads.
"""
