"""The documentation site: it is built as strictly as it is published, and what checks it finds what is wrong."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tallylight.agents import agent_files
from tallylight.cli.main import every_verb
from tallylight.config.settings import SETTINGS
from tallylight.parts.settings import reference
from tests.tables import each

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "docs/site/build.py"
REPOSITORY = "https://forge.example/me/tallylight"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built as a person builds it."""
    out = tmp_path_factory.mktemp("site") / "out"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "shared"), "http_proxy": "http://127.0.0.1:9"}
    env |= {"https_proxy": env["http_proxy"], "GITHUB_SERVER_URL": "", "GITHUB_REPOSITORY": ""}
    done = subprocess.run([sys.executable, BUILD, out], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BUILD.parent))
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(page: Path) -> str:
    """What a page says, without its markup."""
    return re.sub(r"<[^>]+>", "", page.read_text("utf-8")).replace("&quot;", '"')


@pytest.mark.programs
def test_the_reference_is_that_of_the_code(site: Path) -> None:
    """Every verb, setting and agent is there, each page can be searched, and the schema is the one that is printed."""
    verbs = text(site / "verbs.html")
    assert [verb for verb in every_verb() if f"usage: tally {verb}" not in verbs] == []
    settings = text(site / "settings.html")
    assert [one.key for one in SETTINGS if one.key not in settings] == []
    agents = text(site / "known-agents.html")
    files = Path(agent_files.__file__).parent.glob("*.toml")
    named = agents.lower().replace(" ", "-")
    assert [path for path in files if path.stem not in named] == []
    assert json.loads((site / "config.schema.json").read_text("utf-8")) == reference.schema()
    found = (site / "searchindex.js").read_text("utf-8")
    assert all(f'"{page.stem}"' in found for page in (ROOT / "docs").glob("*.md"))


@pytest.mark.programs
def test_the_vectors_have_an_address(site: Path) -> None:
    """What other implementations read is published as it is, at an address that stays."""
    assert (site / "tally-variable.json").read_bytes() == (ROOT / "docs/tally-variable.json").read_bytes()


@pytest.mark.programs
def test_the_first_page_can_be_shared(site: Path) -> None:
    """It has a sentence and a picture for previews, an icon, its film for both looks, and commands to copy."""
    page = (site / "index.html").read_text("utf-8")
    metas = re.findall(r'<meta content="([^"]+)" (?:name|property)="([^"]+)"', page)
    found = {name: text for text, name in metas}
    assert {"description", "og:title", "og:description", "og:image", "twitter:card"} <= found.keys()
    assert (site / "_images" / found["og:image"].rpartition("/")[2]).is_file()
    assert 'icon" href="_static/icon.svg"' in page and "film-dark.gif" in page and "film-light.gif" in page
    assert "copybutton.js" in page and "install.sh" in page and "REPOSITORY" not in page


@pytest.mark.programs
def test_a_picture_of_rooms_is_a_table(site: Path) -> None:
    """The site draws no diagrams: it shows what they say."""
    page = text(site / "architecture.html")
    assert "flowchart" not in page and "trust rules" in page


@pytest.mark.slow
@each(
    ("page", "wanted"),
    [
        ("[a](../ARCHITECTURE.md#x)", "[a](architecture.md#x)"),
        ("[`a` b](trust.md)", "[`a` b](trust.md)"),
        ("[a](../LICENSE)", f"[a]({REPOSITORY}/blob/HEAD/LICENSE)"),
        ("`[a](../LICENSE)` [a\nb](../LICENSE)", f"`[a](../LICENSE)` [a\nb]({REPOSITORY}/blob/HEAD/LICENSE)"),
        ("```\n[a](../LICENSE)\n```\n", "```\n[a](../LICENSE)\n```\n"),
        ("[a](https://example.org/)", "[a](https://example.org/)"),
        ("![a](images/x.png)", "![a](images/x.png)"),
        # Sphinx, which gets to see it, refuses it.
        ("[a](none.md)", "[a](none.md)"),
    ],
)
def test_links_lead_to_the_same_on_the_site(build: ModuleType, page: str, wanted: str) -> None:
    """Pages by their new names, other files in the repository, and nothing in code."""
    assert build.linked(page, ROOT / "docs", REPOSITORY) == wanted


@pytest.mark.slow
def test_without_a_repository_its_files_are_text(build: ModuleType) -> None:
    """A link that could lead nowhere is none."""
    assert build.linked("[the licence](../LICENSE)", ROOT / "docs", "") == "the licence"


@pytest.mark.slow
@each(
    ("page", "said"),
    [
        ('<a href="b.html">', "a.html links to b.html, which is not there"),
        ('<a href="#none">', "a.html links to #none: no such anchor"),
        ('<p id="x"><a href="#x"><a href="c.html#y"><a href="https://example.org/">', ""),
        ('<a href="c.html#x">', "a.html links to c.html#x: no such anchor"),
        ('<script src="https://cdn.example/x.js">', "a.html fetches https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "a.html fetches //fonts.example/x.css"),
    ],
)
def test_what_is_broken_is_found(build: ModuleType, tmp_path: Path, page: str, said: str) -> None:
    """Dead links and anchors, and what would be asked from the network to show a page."""
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "c.html").write_text('<p id="y">')
    assert build.broken(tmp_path) == ([said] if said else [])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_warning_is_a_failure(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link to a page that is not there, for one, is not published in silence."""

    def one_page(source: Path, repository: str) -> None:
        (source / "index.md").write_text("# One\n\n[a](nowhere.md)\n")
        (source / "published").mkdir()

    monkeypatch.setattr(build, "assemble", one_page)
    assert build.build(tmp_path / "out", "") != 0
    assert "nowhere.md" in capsys.readouterr().err


def test_the_workflow_publishes_what_was_built() -> None:
    """It builds as the test above does, for every change; only `main` is published, and only that job may."""
    workflow: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/docs.yml").read_text("utf-8"))
    jobs = workflow["jobs"]
    assert any("docs/site/build.py" in step.get("run", "") for step in jobs["build"]["steps"])
    assert jobs["publish"]["needs"] == "build" and "refs/heads/main" in jobs["publish"]["if"]
    assert workflow["permissions"] == {"contents": "read"}
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish"}
    uses = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert uses and all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", one) for one in uses)
    assert not any("${{" in step.get("run", "") for job in jobs.values() for step in job["steps"])


#: Whether all pictures are there, and nothing is wider than a window of that width in pixels.
_FITS = """
const [width, done] = arguments, pictures = [...document.images];
for (const one of pictures) one.loading = "eager";
Promise.all(pictures.map((one) => one.decode()))
    .then(() => done(document.documentElement.scrollWidth <= width), () => done(false));
"""


@pytest.mark.programs
def test_pages_fit_a_phone_and_a_desk(site: Path) -> None:
    """Every page fits a phone, some a desk too, with their pictures and no error; axe finds nothing in these."""
    from tests.parts.web import axe
    from tests.parts.web.browser import WIDTHS, Browser  # a second, for this test alone

    browser = Browser()
    pages = sorted(site.glob("*.html"))
    some = [page for page in pages if page.stem in ("index", "start", "settings")]
    try:
        for width, scheme, shown in zip(WIDTHS, ("light", "dark"), (pages, some), strict=True):
            browser.width(width)
            browser.scheme(scheme)
            for page in shown:
                browser.driver.get(page.as_uri())
                assert browser.driver.execute_async_script(_FITS, width), (page.name, width)
                if page in some:
                    browser.picture(f"site-{page.stem}-{width}")
        assert browser.problems() == []
        for width in WIDTHS:
            browser.width(width)
            for page in some:
                browser.driver.get(page.as_uri())
                assert browser.violations(axe.script()) == [], (page.name, width)
    finally:
        browser.driver.quit()
