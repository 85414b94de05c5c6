"""Changing a user's file: by the receipt, or not at all; and a receipt is read whole, or said to be damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallylight.files import read_write, receipt, user_file
from tallylight.model.errors import TallyError
from tests.setup.fakes import tree
from tests.strategies import at_most

#: Names as Python has them, also those whose bytes are no UTF-8.
WORDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
    st.binary(max_size=20).map(lambda name: os.fsdecode(name.replace(b"\0", b""))),
)
PATHS = WORDS.map(lambda text: Path("/", text))
COMMON = {
    "path": PATHS,
    "pristine": WORDS,
    "backup": WORDS,
    "made": st.lists(WORDS, max_size=3).map(tuple),
    "at": st.integers(0, 1 << 36).map(float),
}
ENTRIES = st.builds(receipt.Entry, **COMMON)  # type: ignore[arg-type]
HOOKS = st.builds(receipt.Entry, agent=WORDS, pieces=st.lists(WORDS, max_size=3).map(tuple), written=WORDS, **COMMON)  # type: ignore[arg-type]
#: What somebody may have put into one field of an entry.
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.one_of(st.text(max_size=3), st.integers()), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@pytest.fixture
def home(fake_home: Path) -> Path:
    """A home with nothing in it but what the tests put there."""
    home = fake_home / "home"
    home.mkdir()
    return home


def change(home: Path, path: Path) -> receipt.Entry | None:
    """Put three letters into *path*, by a receipt in *home*; what that says of it then."""
    folder = home / "state"
    user_file.change(user_file.Edit(path, None, b"new", backup=b"old"), receipt.load(folder), 1.0)
    return receipt.load(folder).find(path)


def test_a_change_is_in_the_receipt(home: Path) -> None:
    """The file has the new bytes, its copy the old ones, and the receipt says where that is and what was made."""
    path = home / "a/b/file"
    entry = change(home, path)

    assert entry is not None and path.read_bytes() == b"new"
    assert Path(entry.backup).read_bytes() == b"old"
    assert entry.made == (str(home / "a"), str(home / "a/b"))


def test_a_directory_that_cannot_be_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second directory fails, the first goes again, and with it the copy and the entry."""
    real = Path.mkdir

    def mkdir(path: Path, *args: object, **how: object) -> None:
        if path.name == "b":
            raise PermissionError(13, "no")
        real(path, *args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", mkdir)
    before = tree(home)
    with pytest.raises(PermissionError):
        change(home, home / "a/b/file")

    assert tree(home) == before


def test_what_cannot_be_taken_back_costs_the_rest_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed write the receipt knows nothing of it, even if somebody has put a file where we made a place."""

    def rewrite(path: Path, _data: bytes) -> None:
        (path.parent / "another's").touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(read_write, "rewrite", rewrite)
    with pytest.raises(OSError, match="No space"):
        change(home, home / "a/file")

    assert not (home / "state").exists()
    assert (home / "a/another's").exists()


@settings(max_examples=at_most(50))  # each waits for the disk
@given(st.lists(ENTRIES, max_size=3, unique_by=lambda entry: entry.path))
def test_a_receipt_comes_back(home: Path, entries: list[receipt.Entry]) -> None:
    """What was saved is loaded, whatever bytes are in the names; an empty receipt leaves no file."""
    saved = receipt.Receipt(home / "state", receipt.SETUP, tuple(entries))
    saved.save()

    assert receipt.load(home / "state") == saved
    assert saved.path.exists() is bool(entries)


@settings(max_examples=at_most(50))  # each waits for the disk
@given(st.lists(HOOKS, max_size=3))
def test_a_book_of_hooks_comes_back(home: Path, entries: list[receipt.Entry]) -> None:
    """The same of the receipt of hooks, in its order."""
    saved = receipt.Receipt(home / "state", receipt.HOOKS, tuple(entries))
    saved.save()

    assert receipt.load(home / "state", receipt.HOOKS) == saved


@example("at", 10**400)
@example("at", float("inf"))
@example("path", "relative")
@example("path", "/a\0b")
@example("made", "abc")
@given(st.sampled_from(["path", "pristine", "backup", "made", "at", "agent", "pieces", "written"]), ODD)
def test_a_damaged_field(home: Path, name: str, odd: object) -> None:
    """An entry with anything else in one field is an error with the file's name, or an entry of the right types."""
    row = {"path": "/x", "pristine": "", "backup": "", "made": [], "at": 1, "agent": "", "pieces": [], "written": ""}
    (home / "receipt.json").write_text(json.dumps({"version": 1, "files": [row | {name: odd}]}))
    (home / "hooks.json").write_text((home / "receipt.json").read_text())
    found: list[receipt.Entry] = []
    try:
        found += receipt.load(home).entries
        found += receipt.load(home, receipt.HOOKS).entries
    except TallyError as error:
        assert str(home) in str(error)
    for entry in found:
        assert entry.path.is_absolute() and 0 <= entry.at < 1e12
        assert all(isinstance(word, str) for word in (entry.pristine, entry.backup, *entry.made))
