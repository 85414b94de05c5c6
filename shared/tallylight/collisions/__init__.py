"""
Collisions: two agents that change the same lines of a file, found before they are merged. An optional part.

`watch` is a host's: it knows which agents work in one repository, decides when that is looked at, and is where to
start reading. `looks` is a worker's: it asks git by the rules of `actions.git`, and compares what the agents' records
say that they have written. `others` finds the agents of this machine's other hosts. `hunks` is pure: lines of a diff,
and whether two changes are of the same ones. Only `hosts.engine` uses it, and does all else without it.
"""
