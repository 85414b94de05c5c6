"""
The relay, `tally run`: it sits on the pty between a program and a terminal that drops the protocols of agents.

`relay.core` is what it does to the bytes, without input, output or a clock; the shell around it owns the pty.
"""
