"""The verbs of the part `work`, one file each."""
