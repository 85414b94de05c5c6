"""
The engine of one pane, for every host: its tracker, its evidence, and what is remembered of its conversation.

A host gives a pane what it sees and draws its decision. Nothing here knows a terminal program or reads a file; what has
to be read is asked for. A pane has three layers: start with `known`, then `occupied` and `pane`.
"""
