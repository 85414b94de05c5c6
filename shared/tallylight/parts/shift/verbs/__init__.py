"""The verbs of the part `shift`, one file each."""
