"""What the agent nib writes down, for Tallylight."""

from tallylight.parts import Part

PART = Part(name="nib", about="what the agent nib writes down", readers={"nib": "tallylight_nib.journal:READER"})
