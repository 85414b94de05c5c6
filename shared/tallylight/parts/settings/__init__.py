"""
The settings, shown, edited and checked; and the report of an installation that somebody can publish.

`reference` is made of the declarations in `config.settings`: the settings in force, a template, a schema. `report`
masks every word that is not ours.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="settings",
    about="the settings shown, edited and checked, and the report of tally doctor",
    verbs={
        "config": Verb(
            "Set up",
            "show, edit and check the settings",
            f"{__name__}.verbs.config",
            ("settings", "configure", "edit"),
        ),
    },
    serves={"report": f"{__name__}.report"},
)
