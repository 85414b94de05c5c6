"""
Evidence of a pane: readers of its processes, title, screen, progress bar, notifications and the agent's own files.

The readers are pure: text and tables go in, reports and prompts come out. Only `process_table`, `procfs`, `ports`,
`connections` and `records.places` read the machine. Start with `foreground` (the agent in the pane) and `prompts` (the
question on its screen).
"""
