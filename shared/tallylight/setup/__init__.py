"""
Setting up and taking back: the private environment, the plan of edits, the receipt.

Standard library only, because `install.sh` runs this straight from the checkout, before attrs is there.
"""
