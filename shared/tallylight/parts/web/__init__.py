"""
The server: the state of all agents, for programs and for a page in a browser.

`guard` decides which requests are served, `hub` sends every change to every listener, `model` has the replies, and
`app` is the ASGI application around them. docs/places.md describes it for users.
"""

from __future__ import annotations

from tallylight.parts import Part, Verb

PART = Part(
    name="web",
    about="the page, for a browser and for programs",
    verbs={
        "serve": Verb(
            "See", "serve all agents over HTTP and a WebSocket, with a web page", words=("web", "page", "server")
        ),
    },
)
