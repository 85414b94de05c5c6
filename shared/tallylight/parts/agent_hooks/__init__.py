"""
Hooks in the settings of agents: installed, checked, and removed byte for byte.

The meaning of events is in `tallylight.hooks`, which `tally hook` loads. `install` changes an agent's settings,
`remove` reverts that, `state` reports the state. `compact` makes the tables that `tally hook` loads.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="agent_hooks",
    about="hooks in the settings of agents, which make their lights exact",
    verbs={"hooks": Verb("More to set up", "install, remove or show the hooks of agents")},
    checks=f"{__name__}.verbs.hooks:checks",
    undo=f"{__name__}.remove",
)
