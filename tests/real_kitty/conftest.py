"""Fixtures for tests against a real kitty. Every test in this folder is marked ``kitty``.

A test that asks for `kitty_version`, directly or through another fixture, runs once for each kitty we have roots for,
unless `IN_ONE_KITTY` in its module says otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.real_kitty.harness import Kitty
from tests.real_kitty.install import install, watcher_line
from tests.real_kitty.roots import ROOTS_DIR, SUITES, kitty_here, root_of

_FOLDER = Path(__file__).parent
_KITTYS: pytest.StashKey[list[Kitty]] = pytest.StashKey()

# Without root rights there are no namespaces to put a root into: then the one kitty on PATH has to do.
VERSIONS = list(SUITES) if os.geteuid() == 0 else ["here"]


class MakeKitty(Protocol):
    """What the fixture `make_kitty` gives."""

    def __call__(self, config: str = "", *, installed: bool = False, start: bool = True, **options: Any) -> Kitty:
        """A kitty with this kitty.conf, ended after the test. `installed`: with our package and watcher in its home.

        With ``start=False`` the test may first put files into its home. `options` go to `Kitty`.
        """


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if _FOLDER in item.path.parents:
            item.add_marker(pytest.mark.kitty)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add to a failed test's report what its kittys show and wrote."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.when == "call" and report.failed:
        for kitty in item.stash.get(_KITTYS, []):
            report.sections.append((f"kitty {kitty.version}", kitty.describe()))
    return report  # type: ignore[return-value]


@pytest.fixture(scope="session", params=VERSIONS)
def kitty_version(request: pytest.FixtureRequest) -> str:
    """The name of a kitty to test with."""
    version = str(request.param)
    if version == "here":
        if not kitty_here():
            pytest.skip("NOT TESTED: neither root rights for the kitty roots, nor kitty and Xvfb on PATH")
    elif root_of(version) is None:
        pytest.fail(f"no kitty root at {ROOTS_DIR / SUITES[version]}: run tests/run, which builds it")
    return version


@pytest.fixture
def make_kitty(kitty_version: str, request: pytest.FixtureRequest) -> Iterator[MakeKitty]:
    """A factory of kittys."""
    made: list[Kitty] = []
    request.node.stash[_KITTYS] = made

    def make(config: str = "", *, installed: bool = False, start: bool = True, **options: Any) -> Kitty:
        kitty = Kitty(kitty_version, config, **options)
        made.append(kitty)
        if installed:
            data = install(kitty.home, kitty_version)
            kitty.kitty_conf.write_text(config + watcher_line(data))
        return kitty.start() if start else kitty

    yield make
    for kitty in made:
        kitty.close()


@pytest.fixture
def kitty(make_kitty: MakeKitty) -> Kitty:
    """A fresh kitty that knows nothing of us."""
    return make_kitty()


@pytest.fixture
def lit_kitty(make_kitty: MakeKitty) -> Kitty:
    """A fresh kitty with our package and watcher."""
    return make_kitty(installed=True)
