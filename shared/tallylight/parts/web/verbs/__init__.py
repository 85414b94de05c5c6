"""The verbs of the part `web`, one file each."""
