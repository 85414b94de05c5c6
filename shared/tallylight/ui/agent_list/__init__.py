"""The list of agents: which rows, in what order, how they are drawn, what a key does. Pure; `listing` runs it."""
