"""The verbs of the part `diary`, one file each."""
