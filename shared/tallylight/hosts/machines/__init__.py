"""
Other machines without a broker: `tally bridge` at the far end of one `ssh`, `docker exec` or the like for each.

`messages` is the protocol, `machine` what is known of one machine, `commands` the argument lists; none of the three
does any input or output. `bridge` is the far end; `host` is the near end, with one `link` a machine. docs/machines.md
describes both.
"""
