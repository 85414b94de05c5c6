"""The verbs of the part `lab`, one file each."""
