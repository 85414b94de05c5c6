"""
Words and values that every other room uses: a status, a report, a decision, an error, how a light looks.

Nothing in here reads, writes or knows the time; it uses the standard library and attrs alone. Start with `status`, then
`report` (the statement of one source) and `decision` (the status to show, and why).
"""
