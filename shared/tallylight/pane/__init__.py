"""
The engine of one pane, for every host: its tracker, its evidence, and its agent's conversation.

A host passes to a pane all that it sees there, and draws its decision. Nothing here knows a terminal program or reads a
file; a pane asks its host to have files read. It has three layers: start with `known`, then `occupied` and `pane`.
"""
