"""The verbs of the part `scripts`, one file each."""
