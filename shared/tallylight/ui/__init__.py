"""
Everything drawn as text on a terminal: the layout of lines, the live list of agents, the page that asks before a fork.

State and drawing are pure; `terminal`, `confirm` and `agent_list.loop` read keys and write to the terminal. No surface
decides a status: it draws the one in the snapshot. Start with `agent_list.record`.
"""
