"""The verbs of the part `guide`, one file each."""
