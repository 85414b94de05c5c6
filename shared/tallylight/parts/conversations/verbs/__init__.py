"""The verbs of the part `restore`, one file each."""
