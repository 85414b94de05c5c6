"""
hatchling runs this: the parts of a package that are no files of the checkout.

An index shows README with whole addresses, and where the project is.

The repository is known where continuous integration names it (GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_SHA);
elsewhere README stays as it is. Completions of shells and manual pages come from `packaging/completions`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or a picture of Markdown, or an attribute of HTML, that names a file of the checkout.
_FILE = re.compile(r'(\]\(|\b(?:src|srcset|href)=")(?![a-z]+:|#|//)([^)"\s]+)')
_PICTURES = (".gif", ".jpg", ".png", ".svg", ".webp")


class Completions(BuildHookInterface):
    """Puts completions and manual pages into a package. A source package has them already; an editable one has none."""

    @property
    def _sources(self) -> Path:
        return Path(self.root, "shared/tallylight/_completions")

    @property
    def _is_checkout(self) -> bool:
        return not Path(self.root, "PKG-INFO").is_file()

    def dependencies(self) -> list[str]:
        return ["argparse-manpage>=4.6", "attrs>=23.1", "psutil>=5.9", "shtab>=1.13"] if self._is_checkout else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        made = self._sources
        if self._is_checkout:
            self._made = tempfile.TemporaryDirectory()
            made = Path(self._made.name)
            subprocess.run([sys.executable, Path(self.root, "packaging/completions"), made], check=True)
        is_wheel = self.target_name == "wheel"
        build_data["force_include"][str(made)] = f"{'' if is_wheel else 'shared/'}tallylight/_completions"


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
