"""
The command `tally`: one file for each verb, which `main` finds.

Verbs print and ask; the work is done by the rooms below. Start with `main`, then `status`.
"""
