"""
Hooks of agents: the meaning and the order of their events.

`mapping`, `payload` and `tables` are what `tally hook` loads, and must load in no time. `order` puts what hooks say
beside all else. Start with `mapping`. How hooks get into an agent's settings, and out, is in the part `hooks`.
"""
