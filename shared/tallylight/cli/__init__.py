"""
The command `tally`: one file for each verb, which `main` finds.

Verbs print and ask; the rooms below do the work. Start with `main`, then `status`.
"""
