"""The private environment: built aside, linked whole, and built again only if there is a reason."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallylight.files import directories, install_paths
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.setup import dependencies, environment, present
from tallylight.setup.environment import Source
from tests.setup.fakes import FakeSystem, make_system, tree
from tests.tables import each

PYTHON = Path(sys.executable)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory whose name a shell would read otherwise."""
    home = tmp_path / "home of $me"
    home.mkdir()
    return home


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A package as small as can be, whose command prints its arguments."""
    package = tmp_path / "src" / "tallylight"
    (package / "cli").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "model").mkdir()
    (package / "model" / "__init__.py").write_text("")
    (package / "model" / "status.py").write_text("")
    (package / "cli" / "__init__.py").write_text("")
    (package / "cli" / "main.py").write_text("import sys\ndef run(): print(sys.argv[1:], sys.flags.isolated)\n")
    kittens = tmp_path / "src" / "kittens"
    kittens.mkdir()
    (kittens / "tally_watcher.py").write_text("# a watcher\n")
    lua = tmp_path / "src" / "wezterm"
    lua.mkdir()
    (lua / "init.lua").write_text("-- Lua files\n")
    return Source(package, kittens, lua)


def install(system: FakeSystem, source: Source, python: Path = PYTHON) -> environment.State:
    state = environment.look(system, source, python)
    environment.apply(system, source, python, state)
    return state


def test_installed_once_is_current(home: Path, source: Source) -> None:
    """After an installation there is nothing to do, and looking writes nothing."""
    system = make_system(home)
    assert not environment.look(system, source, PYTHON).is_current
    install(system, source)
    before = tree(home)

    assert environment.look(system, source, PYTHON).is_current
    assert tree(home) == before


def test_command_runs_through_its_link(home: Path, source: Source) -> None:
    """~/.local/bin/tally runs the installed package, isolated from the user's own Python set-up."""
    install(make_system(home), source)

    done = subprocess.run(
        [home / ".local/bin/tally", "a b", "c"], env={"PYTHONPATH": "/nowhere"}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("['a b', 'c'] 1\n", "")


def test_command_runs_with_a_python_whose_path_has_spaces(home: Path, source: Source, tmp_path: Path) -> None:
    """A `#!` line cannot hold a space, nor 300 characters; the command then starts by way of sh."""
    python = tmp_path / ("a long 'path' with " + "x" * 150) / "python3"
    python.parent.mkdir()
    python.symlink_to(PYTHON)
    install(make_system(home), source, python)

    done = subprocess.run([home / ".local/bin/tally", "a 'b"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ('["a \'b"] 1\n', "")


def test_kitty_conf_names_the_watcher_by_its_whole_path(home: Path, source: Source) -> None:
    """kitty looks for a relative watcher in its own directory, and expands a single dollar."""
    install(make_system(home), source)

    lines = (home / ".local/share/tallylight/kitty.conf").read_text().splitlines()
    data = str(home).replace("$", "$$")
    assert f"watcher {data}/.local/share/tallylight/kittens/tally_watcher.py" in lines


def test_changed_source_makes_a_new_release_and_keeps_one_old(home: Path, source: Source) -> None:
    """An update is linked whole; the release before it stays for a kitty that runs, the one before that goes."""
    system = make_system(home)
    place = install_paths.layout(system)
    names = []
    for text in ("1", "2", "3"):
        (source.kittens / "tally_watcher.py").write_text(text)
        names.append(install(system, source).release)

    assert place.watcher.read_text() == "3"
    assert sorted(path.name for path in place.releases.iterdir()) == sorted(names[1:])


@pytest.mark.parametrize("damage", ["lib/tallylight/model/status.py", "kittens/tally_watcher.py"])
def test_damaged_release_is_built_again(home: Path, source: Source, damage: str) -> None:
    """A file that is missing from the release in use is noticed and put back."""
    system = make_system(home)
    install(system, source)
    lost = home / ".local/share/tallylight" / damage
    lost.unlink()

    assert environment.look(system, source, PYTHON).build
    install(system, source)
    assert lost.exists()
    assert environment.look(system, source, PYTHON).is_current


@pytest.mark.parametrize("lost", ["lib", "kittens", "kitty.conf", "bin/tally"])
def test_lost_link_or_file_is_put_back(home: Path, source: Source, lost: str) -> None:
    """What points at the release is repaired without building it again."""
    system = make_system(home)
    install(system, source)
    path = home / ".local/share/tallylight" / lost
    path.unlink()

    state = environment.look(system, source, PYTHON)
    assert (state.build, state.stale) == (False, (path,))
    install(system, source)
    assert environment.look(system, source, PYTHON).is_current


def test_package_that_does_not_import_is_not_linked(home: Path, source: Source) -> None:
    """A build is tried before it is used: what was installed before stays in use."""
    system = make_system(home)
    first = install(system, source).release
    (source.package / "model" / "status.py").write_text("this is not python\n")

    with pytest.raises(TallyError, match="does not import"):
        install(system, source)
    assert install_paths.layout(system).lib.readlink() == Path("releases", first, "lib")
    assert [path.name for path in install_paths.layout(system).releases.iterdir()] == [first]


def test_code_that_runs_from_a_release_does_not_build_one(home: Path, source: Source) -> None:
    """`tally setup` of the installed command repairs the wiring of what is there."""
    system = make_system(home)
    name = install(system, source).release
    place = install_paths.layout(system)
    private = Source((place.lib / "tallylight").resolve(), place.kittens.resolve(), place.wezterm.resolve())

    state = environment.look(system, private, PYTHON)
    assert (state.release, state.is_current) == (name, True)


def test_remove_leaves_nothing(home: Path, source: Source) -> None:
    """The data directory, the link, the server's token and its devices are gone; a second removal finds nothing."""
    system = make_system(home)
    install(system, source)
    token = directories.serve_token(system.env)
    for file in (token, directories.serve_devices(system.env)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("0" * 64)

    assert len(environment.remove(system)) == 4
    assert not token.parent.exists()
    assert not (home / ".local/share/tallylight").exists()
    assert not (home / ".local/bin/tally").is_symlink()
    assert environment.remove(system) == []


def test_machine_without_psutil_wheels_is_served(home: Path, source: Source) -> None:
    """Where psutil cannot be had, attrs alone is installed and that is told."""

    class Picky(FakeSystem):
        def run(self, command, timeout=10.0):  # type: ignore[no-untyped-def]
            if "psutil>=5.9" in command:
                return subprocess.CompletedProcess([], 1, "", "ERROR: no wheel of psutil")
            return super().run(command, timeout)

    plain = make_system(home)
    system = Picky(**vars(plain))

    state = environment.look(system, source, PYTHON)
    assert environment.apply(system, source, PYTHON, state) is False
    assert (home / ".local/share/tallylight/lib/attrs").is_dir()


BOTH = {"attrs": "25.1.0", "psutil": "7.0"}


@pytest.mark.slow
@each(
    ("packages", "fetched"),
    [
        ({}, "attrs and psutil"),
        (BOTH, ""),
        ({"attrs": "23.1.0"}, "psutil"),
        ({"psutil": "5.9"}, "attrs"),
        # As in Debian 12.
        (BOTH | {"attrs": "22.2.0"}, "attrs"),
        (BOTH | {"psutil": "unknown"}, "psutil"),
    ],
)
def test_what_this_python_has_is_not_fetched(
    tmp_path_factory: pytest.TempPathFactory, packages: dict[str, str], fetched: str
) -> None:
    """What it has and is new enough is copied, without a network; for the rest one line says what is fetched."""
    home = tmp_path_factory.mktemp("home")
    (home / "lib").mkdir()
    system = dataclasses.replace(make_system(home, pip_works=bool(fetched)), packages=packages)

    assert dependencies.provide(system, PYTHON, home / "lib")

    assert system.said == ([f"Fetching {fetched} …"] if fetched else [])
    if "attrs" in packages and "attrs" not in fetched:
        code = "import sys; sys.path.insert(0, sys.argv[1]); import attrs; print(attrs.__file__)"
        done = subprocess.run([PYTHON, "-ISB", "-c", code, home / "lib"], capture_output=True, text=True)
        assert done.stdout.startswith(str(home / "lib"))
        assert not (home / "lib/attrs").is_symlink() and not list(home.rglob("__pycache__"))


def test_without_a_network_nothing_is_tried(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the packages of the system, at once; nothing is left. An index of one's own is asked."""
    monkeypatch.setattr(dependencies, "_OWN_FILES", ())
    offline = dataclasses.replace(make_system(home), is_online=False)
    before = sorted(home.rglob("*"))
    with pytest.raises(TallyError, match="apt install python3-attr python3-psutil"):
        install(offline, environment.running_source())
    assert offline.said == [] and sorted(home.rglob("*")) == before
    assert not dependencies.provide(dataclasses.replace(offline, packages={"attrs": "25.1"}), PYTHON, home / "lib")
    (home / "other").mkdir()
    own = dataclasses.replace(offline, env={**offline.env, "PIP_INDEX_URL": "https://index.example"})
    assert dependencies.provide(own, PYTHON, home / "other")


def test_an_index_that_is_not_there_is_told_at_once() -> None:
    """By the real system: a name that nobody knows, and one that somebody answers for without the port."""
    assert not System().reaches("nobody.invalid", 1.0)
    assert not System().reaches("127.0.0.9", 1.0)


@pytest.mark.slow
def test_without_a_network_psutil_is_not_missed_on_linux(home: Path) -> None:
    """attrs is there and psutil is nowhere: that is enough. Without attrs it is not."""
    system = dataclasses.replace(make_system(home, pip_works=False), packages={"attrs": "25.1.0"})
    assert not dependencies.provide(system, PYTHON, home / "lib")
    with pytest.raises(TallyError, match="cannot install attrs"):
        dependencies.provide(make_system(home, pip_works=False), PYTHON, home / "other")


def test_what_is_compiled_for_one_python_is_not_for_kitty_on_macos(home: Path) -> None:
    """There psutil is needed, in kitty's own Python: a module that only this one can load is left alone."""
    folder = home / "psutil"
    folder.mkdir()
    (folder / "_psutil_osx.cpython-313-darwin.so").write_bytes(b"")

    class Mac(FakeSystem):
        def package(self, name: str, modules: Sequence[str]) -> tuple[str, list[Path]]:
            return "7.0", [folder]

    for platform, copied in (("darwin", []), ("linux", ["psutil>=5.9"])):
        system = Mac(**vars(dataclasses.replace(make_system(home), platform=platform)))
        assert present.copy(system, home / platform, ["psutil>=5.9"]) == copied


def test_the_packages_of_this_python_are_found() -> None:
    """By the real system: attrs is here, and what is not here is not found."""
    version, folders = System().package("attrs", ("attr", "attrs")) or ("", [])
    assert version and [folder.name for folder in folders] == ["attr", "attrs"]
    assert System().package("tallylight-none", ("attr",)) is None
    assert System().package("attrs", ("no_such_module",)) is None


def test_requirements_are_those_of_the_package() -> None:
    """What is installed here is what pyproject.toml declares."""
    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())

    assert sorted(dependencies.REQUIRED + dependencies.WANTED) == sorted(pyproject["project"]["dependencies"])


def _index(folder: Path, checksum: str, **entry: object) -> str:
    wheel = folder / "pip-1.whl"
    wheel.write_bytes(b"a wheel")
    urls = [
        {"packagetype": "sdist"},
        {
            "packagetype": "bdist_wheel",
            # As some mirrors do: relative to the page.
            "url": wheel.name,
            "filename": "../pip-1-py3-none-any.whl",
            "digests": {"sha256": checksum},
        }
        | entry,
    ]
    page = folder / "json"
    page.write_text(json.dumps({"urls": urls}))
    return page.as_uri()


def test_fetched_pip_is_checked_and_stays_in_its_folder(tmp_path: Path) -> None:
    """The wheel has the index's checksum and lies where it was asked for, whatever its file name says."""
    checksum = hashlib.sha256(b"a wheel").hexdigest()
    folder = tmp_path / "scratch"
    folder.mkdir()

    wheel = dependencies.fetch_pip(folder, _index(tmp_path, checksum))

    assert wheel == folder / "pip-1-py3-none-any.whl"
    assert wheel.read_bytes() == b"a wheel"


def test_pip_with_another_checksum_is_refused(tmp_path: Path) -> None:
    """A wheel that is not the index's is not written."""
    folder = tmp_path / "scratch"
    folder.mkdir()

    with pytest.raises(dependencies.NoWayError, match="checksum"):
        dependencies.fetch_pip(folder, _index(tmp_path, "0" * 64))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("page", ["", "[]", "{}", '{"urls": []}', '{"urls": [{"packagetype": "bdist_wheel"}]}'])
def test_page_that_is_not_the_index_is_told(tmp_path: Path, page: str) -> None:
    """A captive portal's page, or half of the index, is a reason and not a traceback."""
    path = tmp_path / "json"
    path.write_text(page)

    with pytest.raises(dependencies.NoWayError, match="is not the index"):
        dependencies.fetch_pip(tmp_path, path.as_uri())
    with pytest.raises(dependencies.NoWayError):
        dependencies.fetch_pip(tmp_path, (tmp_path / "missing").as_uri())
