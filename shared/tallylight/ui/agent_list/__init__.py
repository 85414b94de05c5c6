"""
The list of agents: which rows (`state`), what a key does (`press`), how they are drawn (`draw`). Pure; `loop` runs it.
"""
