"""
The state of one pane: what each source claims, which claim wins, and what a person still has to look at.

Everything here is pure: reports and the time go in, a decision comes out. Start with `tracker`; docs/trust.md has the
rules.
"""
