"""The list of agents in a terminal: keys in, lines out, snapshots watched. `list` decides what they mean."""
