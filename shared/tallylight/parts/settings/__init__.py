"""
The settings, shown, edited and checked; and a report on the installation that is safe to publish.

`reference` derives the settings in force, a template and a schema from the declarations in `config.settings`. `report`
masks every word that is not ours.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="settings",
    about="the settings shown, edited and checked, and the report of tally doctor",
    verbs={
        "config": Verb("Set up", "show, edit and check the settings", words=("settings", "configure", "edit")),
    },
    serves={"report": f"{__name__}.report"},
)
