"""
The server: what all agents do, for programs and for a page in a browser.

`guard` decides who may ask, `hub` sends every change to every listener, `model` has the replies, `app` is the ASGI
application that ties them together. docs/places.md describes it for those who use it.
"""
