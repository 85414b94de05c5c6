"""The verbs of the part `hooks`, one file each."""
