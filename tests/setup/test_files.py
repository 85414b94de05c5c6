"""Files: bounded reading, writing by rename, and the directories."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.config import config_file
from tallylight.files import directories, read_write
from tallylight.model.errors import TallyError
from tests.tables import each


def test_reading_stops_at_the_limit(tmp_path: Path) -> None:
    """A file of the limit is read whole, one of a byte more is refused."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)

    assert len(read_write.read_limited(path, 100)) == 100
    with pytest.raises(TallyError, match="larger than 99"):
        read_write.read_limited(path, 99)


def test_reading_a_fifo_does_not_hang(tmp_path: Path) -> None:
    """A FIFO in the place of a file is refused at once; opening it plainly would wait for a writer for ever."""
    path = tmp_path / "fifo"
    os.mkfifo(path)

    with pytest.raises(TallyError, match="not a regular file"):
        read_write.read_limited(path)


def test_writing_replaces_a_link_and_not_what_is_behind_it(tmp_path: Path) -> None:
    """A file of ours is ours: a link in its place is replaced, its target untouched."""
    other = tmp_path / "other"
    other.write_bytes(b"theirs")
    path = tmp_path / "file"
    path.symlink_to(other)

    read_write.atomic_write(path, b"ours", 0o600)

    assert (other.read_bytes(), path.read_bytes()) == (b"theirs", b"ours")
    assert path.lstat().st_mode & 0o777 == 0o600


def test_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    """If the rename cannot be done, the new bytes are gone and the old name is as it was."""
    path = tmp_path / "folder" / "file"
    path.mkdir(parents=True)

    with pytest.raises(OSError, match="directory"):
        read_write.atomic_write(path, b"x")
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("value", ["", "rel", "~"])
def test_a_relative_home_is_ignored(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A HOME that is no absolute path is not the home, or files would lie wherever a program happens to be."""
    monkeypatch.setenv("HOME", value)

    assert directories.home() == directories.home({}) == Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_nobody_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user database knows no home, either, it is said what to do."""

    def unknown(uid: int) -> object:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(TallyError, match="set HOME"):
        directories.home({"HOME": "rel"})


@each(("value", "found"), [("/conf", "/conf"), ("", "/me/.config"), ("conf", "/me/.config")])
def test_relative_xdg_variable_is_ignored(value: str, found: str) -> None:
    """As the specification demands, only an absolute path counts."""
    assert directories.config_dir({"HOME": "/me", "XDG_CONFIG_HOME": value}) == Path(found, "tallylight")


def test_packaged_agents_are_all_valid(tmp_path: Path) -> None:
    """Every agent file that we ship is read without an error."""
    agents, errors = agent_files.load_agents({"HOME": str(tmp_path)})

    assert errors == []
    assert len(agents) == len(agent_files.packaged_agents()) - 1 > 0  # all but `common`


def test_missing_configuration_is_no_error(tmp_path: Path) -> None:
    """Without a file every setting has its default and there is nothing to tell."""
    assert config_file.load_config({"HOME": str(tmp_path)})[1] == []


@pytest.mark.parametrize("content", [b"x = [", b"\xff\xfe = 1", b"x" * (read_write.MAX_CONFIG_BYTES + 1), None])
def test_unusable_configuration_is_told_and_has_defaults(tmp_path: Path, content: bytes | None) -> None:
    """Not TOML, not UTF-8, far too big, or a directory: one message with the path, and the defaults."""
    path = tmp_path / ".config/tallylight/config.toml"
    path.parent.mkdir(parents=True)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    config, errors = config_file.load_config({"HOME": str(tmp_path)})

    assert config == config_file.load_config({"HOME": str(tmp_path / "empty")})[0]
    assert len(errors) == 1
    assert str(path) in str(errors[0])
