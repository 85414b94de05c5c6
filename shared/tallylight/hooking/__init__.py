"""
Hooks: an agent runs `tally hook` at each of its events, and what that event says becomes a report.

Everything here is pure: payloads and texts of files go in, fields of a report and new texts come out.
"""
