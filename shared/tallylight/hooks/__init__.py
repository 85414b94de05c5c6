"""
Hooks of agents: the meaning and the order of their events, and how hooks get into an agent's settings and out again.

`mapping`, `payload` and `tables` are what `tally hook` loads, and must load in no time. `install` changes an agent's
settings and `remove` takes that back byte for byte. Start with `mapping`, or with `install`.
"""
