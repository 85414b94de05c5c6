"""
Hooks of agents: the meaning and the order of their events.

`tally hook` loads `mapping`, `payload` and `tables`, which must load in no time. `order` sorts the reports of hooks.
Start with `mapping`. The part `agent_hooks` puts hooks into an agent's settings, and removes them.
"""
