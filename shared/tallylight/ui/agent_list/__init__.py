"""The list of agents: its rows (`state`), its keys (`press`), its drawing (`draw`). Pure; `loop` runs it."""
