"""
The server: what all agents do, for programs and for a page in a browser.

`guard` decides who may ask, `hub` sends every change to every listener, `model` has the replies, `app` is the ASGI
application that ties them together. docs/places.md describes it for those who use it.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="web",
    about="the page, for a browser and for programs",
    verbs={
        "serve": Verb(
            "See",
            "serve all agents over HTTP and a WebSocket, with a web page",
            f"{__name__}.verbs.serve",
            ("web", "page", "server"),
        ),
    },
)
