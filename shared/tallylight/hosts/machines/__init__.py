"""
Other machines without a broker: `tally bridge` at the far end of one `ssh`, `docker exec` or the like for each.

`messages` is the protocol and does no input or output; `bridge` is the far end. docs/machines.md describes both.
"""
