"""
The server: what all agents do, for programs and for a page in a browser.

`guard` decides who may ask, `hub` tells every listener of every change, `model` is what is said, `app` is the ASGI
application that ties them together. docs/places.md describes it for those who use it.
"""
