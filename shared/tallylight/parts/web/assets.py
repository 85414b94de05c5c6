"""
The files that a browser gets without the token: the page, its parts and its colours, and those of an app.

An installed page keeps exactly these files, so that it opens without the server, too: `page/sw.js`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import resources

import attrs

from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tallylight.parts.web import theme

_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
#: The files of the page; the first one is the page itself.
_FILES = (
    "page.html", "page.css", "page.js", "card.js", "screen.js", "push.js", "icon.svg", "icon-192.png",
    "icon-512.png", "manifest.webmanifest",
)  # fmt: skip
_WORKER, _THEME = "sw.js", "theme.css"


@attrs.frozen
class Asset:
    """A file for a browser, with its media type."""

    content: bytes
    kind: str


def all_assets(colours: Mapping[Status, RGB]) -> dict[str, Asset]:
    """Return every file by its path below the page; the page's own is empty. The page's lights have these *colours*."""
    shell = {("" if name == _FILES[0] else name): _asset(name, _read(name)) for name in _FILES}
    shell[_THEME] = _asset(_THEME, theme.stylesheet(colours).encode())
    digest = hashlib.sha256()
    for path, asset in shell.items():
        digest.update(f"{path} {len(asset.content)}\n".encode() + asset.content)
    paths = json.dumps([f"./{path}" for path in shell])
    constants = f'"use strict";\nconst SHELL = {paths};\nconst VERSION = "{digest.hexdigest()[:16]}";\n'
    return {**shell, _WORKER: _asset(_WORKER, constants.encode() + _read(_WORKER))}


def _asset(name: str, content: bytes) -> Asset:
    return Asset(content, _TYPES[name[name.rindex(".") :]])


def _read(name: str) -> bytes:
    return resources.files("tallylight.parts.web").joinpath("page", name).read_bytes()
