"""
Recordings of a pane: asciicast files with evidence beside the output, how they are made and how they are replayed.

Start with `asciicast` for the format and `replay` for what a recording's light would have been.
"""
