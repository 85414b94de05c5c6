"""
Build the documentation site: .venv/bin/python docs/site/build.py OUT

The pages are those of docs/ and of the checkout's top, as they stand; the reference is made from the code. Every
warning of Sphinx is a failure, and so is a link or an anchor of a finished page that leads nowhere. Nothing is asked
from the network, neither here nor by a page that somebody reads. Links to files that are no pages lead to the
repository, which is known where continuous integration names it (GITHUB_SERVER_URL and GITHUB_REPOSITORY); elsewhere
they are plain text.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import reference
from sphinx.cmd.build import main as sphinx

SITE = Path(__file__).resolve().parent
ROOT = SITE.parents[1]
#: Pages outside of docs/, and their names on the site.
OUTSIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "SECURITY.md": "reporting.md",
    "README.md": "index.md",
}
#: Blocks and words in code, which stay as they are, or a link: its text, its target and the anchor there.
_LINK = re.compile(
    r"^```.*?^```|`[^`\n]+`|(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#:\s]+)(#[^)\s]*)?\)", re.MULTILINE | re.DOTALL
)


def assemble(source: Path, repository: str) -> None:
    """Put every page into *source*, with the links as they must be there."""
    pages = {path: path.name for path in sorted((ROOT / "docs").glob("*.md"))}
    pages |= {ROOT / name: page for name, page in OUTSIDE.items() if page != "index.md"}
    for path, name in pages.items():
        page = reference.rooms(path.read_text("utf-8"))
        (source / name).write_text(linked(page, path.parent, repository), "utf-8")
    first = (SITE / "index.md").read_text("utf-8")
    for name, address in {"REPOSITORY": repository, "SITE": _published(repository)}.items():
        first = first.replace(name, address or (ROOT / "packaging/address").read_text("utf-8").strip())
    (source / "index.md").write_text(first, "utf-8")
    shutil.copytree(ROOT / "docs/images", source / "images")
    (source / "published").mkdir()
    for path in (ROOT / "docs").glob("*.json"):
        shutil.copy2(path, source)
        shutil.copy2(path, source / "published")
    for name, text in reference.pages(ROOT).items():
        (source / name).write_text(text, "utf-8")


def _published(repository: str) -> str:
    """The address at which GitHub publishes the site of a *repository* there; nothing of another."""
    owner, _, name = repository.removeprefix("https://github.com/").partition("/")
    return f"https://{owner.lower()}.github.io/{name}" if repository.startswith("https://github.com/") else ""


def linked(page: str, folder: Path, repository: str) -> str:
    """*page*, which stands in *folder*, with links to where its targets are on the site."""

    def moved(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0]
        text, target, anchor = match[1], (folder / match[2]).resolve(), match[3] or ""
        place = str(target.relative_to(ROOT))
        if place in OUTSIDE:
            return f"[{text}]({OUTSIDE[place]}{anchor})"
        if target.parent == ROOT / "docs":
            return f"[{text}]({target.name}{anchor})"
        if not target.exists():
            return match[0]
        return f"[{text}]({repository}/blob/HEAD/{place})" if repository else text

    return _LINK.sub(moved, page).replace("](docs/images/", "](images/")


class _Page(HTMLParser):
    """What a finished page links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {""}
        self.fetched: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)
                if name == "src" or tag == "link":
                    self.fetched.add(value)


def broken(site: Path) -> list[str]:
    """Every link inside the *site* that leads nowhere, and everything that a page would fetch from elsewhere."""
    pages = {path: _Page(path.read_text("utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name} fetches {link}" for link in page.fetched if urlsplit(link).netloc]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name} links to {link}, which is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {link}: no such anchor")
    return sorted(found)


def build(out: Path, repository: str) -> int:
    """Build the site in *out*; 0 if nothing is wrong with it."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        source.mkdir()
        assemble(source, repository)
        options = ["--quiet", "--fail-on-warning", "--nitpicky", "-D", f"html_extra_path={source}/published"]
        if code := sphinx([*options, "-d", f"{scratch}/doctrees", "-c", str(SITE), str(source), str(out)]):
            return code
    found = broken(out)
    for fault in found:
        print(f"build: {fault}", file=sys.stderr)  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    server, repository = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_REPOSITORY", "")
    sys.exit(build(Path(sys.argv[1]).resolve(), f"{server}/{repository}" if server and repository else ""))
