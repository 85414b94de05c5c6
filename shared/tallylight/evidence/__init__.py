"""
What was seen of a pane, read: its processes, title, screen, progress bar, notifications and the agent's own files.

The readers are pure: text and tables go in, reports and prompts come out. Only `process_table`, `procfs`, `ports`,
`connections` and `records.places` look at the machine. Start with `foreground` (who runs here) and `prompts` (what the
screen asks).
"""
