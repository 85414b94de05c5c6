"""What a browser is given without the token: the page, its parts, and what makes it an app that can be installed."""

from __future__ import annotations

import io
import json
import re

import pytest
from PIL import Image, ImageChops
from starlette.testclient import TestClient

from tallylight.model.lights import COLOURS, MARKS
from tallylight.model.status import Status
from tallylight.parts.web.assets import all_assets
from tests.parts.web.make_icons import PAGES, SIZES, icon

ASSETS = all_assets(COLOURS)


def test_every_file_of_the_page_is_given(client: TestClient) -> None:
    """Without the token, with its type, and with the policy that lets it load nothing from elsewhere."""
    assert {path or "page.html" for path in ASSETS} == {file.name for file in PAGES.iterdir()} | {"theme.css"}
    for path, asset in ASSETS.items():
        found = client.get(f"/{path}", headers={"Authorization": ""})
        assert (found.status_code, found.content) == (200, asset.content)
        assert found.headers["content-type"].partition(";")[0] == asset.kind
        assert found.headers["cache-control"] == "no-store"
        for rule in ("default-src 'none'", "manifest-src 'self'", "worker-src 'self'"):
            assert rule in found.headers["content-security-policy"]


def test_the_manifest_names_what_there_is() -> None:
    """It starts at the page without any token, wherever that is, and each of its icons is there in the size it says."""
    manifest = json.loads(ASSETS["manifest.webmanifest"].content)
    assert (manifest["start_url"], manifest["scope"]) == ("./", "./")
    for one in manifest["icons"]:
        asset = ASSETS[one["src"]]
        assert asset.kind == one["type"]
        if one["sizes"] != "any":
            size = Image.open(io.BytesIO(asset.content)).size
            assert one["sizes"] == f"{size[0]}x{size[1]}"
    assert {one["purpose"] for one in manifest["icons"]} == {"any", "maskable"}


@pytest.mark.parametrize("size", SIZES)
def test_the_icons_are_those_of_the_drawing(size: int) -> None:
    """They are what `tests.parts.web.make_icons` makes of `icon.svg`; their light is within what a phone never cuts."""
    kept = Image.open(io.BytesIO(ASSETS[f"icon-{size}.png"].content)).convert("RGB")
    assert ImageChops.difference(kept, icon(size).convert("RGB")).getbbox() is None
    ground = Image.new("RGB", kept.size, kept.getpixel((0, 0)))
    box = ImageChops.difference(kept, ground).getbbox()
    assert box is not None and box[0] >= size * 0.1 and box[2] <= size * 0.9
    assert len(ASSETS[f"icon-{size}.png"].content) < 10_000


def test_the_marks_are_those_of_every_surface() -> None:
    """A status has the same mark on the page as in a tab and in the list."""
    said = ASSETS["card.js"].content.decode().partition("const MARKS = {")[2].partition("};")[0]
    found = dict(re.findall(r'([a-z]+): "(.)"', said))
    assert found == {status.value: mark for status, mark in MARKS.items() if status is not Status.ACTIVE}


def test_the_worker_knows_the_shell_and_its_version() -> None:
    """It keeps every file but itself, by paths that are right below any path, and another one for other content."""
    worker = ASSETS["sw.js"].content.decode()
    paths = json.loads(worker.partition("SHELL = ")[2].partition(";\n")[0])
    assert paths == [f"./{path}" for path in ASSETS if path != "sw.js"]
    other = all_assets({**COLOURS, Status.DONE: (1, 2, 3)})["sw.js"].content.decode()
    assert worker.splitlines()[2] != other.splitlines()[2]
    assert worker.splitlines()[3:] == other.splitlines()[3:]
    assert all_assets(COLOURS) == ASSETS
