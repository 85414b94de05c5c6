"""
The relay, `tally run`: a pty between a program and a terminal that drops the protocols of agents.

`relay.core` processes the bytes, without input, output or a clock; `relay.loop` around it owns the pty.
"""
