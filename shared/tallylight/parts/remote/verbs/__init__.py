"""The verbs of the part `remote`, one file each."""
