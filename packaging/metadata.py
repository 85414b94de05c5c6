"""
What an index shows of the package: README with whole addresses, and where the project is. hatchling runs it.

The repository is known where continuous integration names it (GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_SHA);
elsewhere README stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or a picture of Markdown, or an attribute of HTML, that names a file of the checkout.
_FILE = re.compile(r'(\]\(|\b(?:src|srcset|href)=")(?![a-z]+:|#|//)([^)"\s]+)')
_PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")


class Metadata(MetadataHookInterface):
    """The fields that pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        found = fields(text, os.environ)
        metadata.update(found)


def fields(readme: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """The fields for this *readme*, built where *environ* says."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    server, repository, commit = (environ.get(name, "") for name in names)
    address = f"{server}/{repository}" if server and repository and commit else ""

    def whole(match: re.Match[str]) -> str:
        is_picture = match[2].partition("#")[0].endswith(_PICTURES)
        return f"{match[1]}{address}/{'raw' if is_picture else 'blob'}/{commit}/{match[2]}"

    text = _FILE.sub(whole, readme) if address else readme
    urls = {
        "Repository": address,
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Documentation": f"{address}/tree/main/docs",
    }
    return {"readme": {"content-type": "text/markdown", "text": text}, "urls": urls if address else {}}
