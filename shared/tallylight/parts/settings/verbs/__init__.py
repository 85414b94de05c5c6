"""The verbs of the part `settings`, one file each."""
