"""A part of Tallylight: each notification goes to a topic of ntfy, too. https://docs.ntfy.sh/publish/"""

from tallylight.parts import Part, Verb

PART = Part(
    name="ntfy",
    about="your notifications on your phone, by ntfy",
    verbs={"ntfy": Verb("More", "send a text to your topic of ntfy", "tallylight_ntfy.verb")},
    host="tallylight_ntfy.host:Ntfy",
    checks="tallylight_ntfy.host:checks",
    fact="tallylight_ntfy.host:fact",
)
