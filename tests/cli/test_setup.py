"""`tally setup`: a good guest in a configuration that is somebody's."""

from __future__ import annotations

import dataclasses
import functools
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.cli.setup import main
from tallylight.model.errors import TallyError
from tallylight.parts import index
from tallylight.setup import dependencies
from tallylight.setup.kitty import compile_modules
from tests.setup.fakes import FakeSystem, make_system, tree
from tests.terminal import SHARED, Terminal

#: A configuration of 200 lines that somebody has lived with for years.
LINES = [
    "# vim:fileencoding=utf-8:foldmethod=marker",
    "include themes/mine dark.conf",
    "tab_bar_style powerline",
    'tab_title_template "{fmt.fg.red}{bell_symbol}{fmt.fg.tab}{title}"',
    "watcher /home/me/other_watcher.py",
    "symbol_map U+E0A0-U+E0A3 Symbols Nerd Font — ünïcode",
    *(f"map ctrl+alt+{number} goto_tab {number}" for number in range(194)),
]


@pytest.fixture
def conf(home: Path) -> Path:
    conf = home / ".config" / "kitty" / "kitty.conf"
    conf.parent.mkdir(parents=True)
    conf.write_bytes("\n".join(LINES).encode() + b"\n")
    return conf


def include_of(home: Path) -> str:
    return f"include {home}/.local/share/tallylight/kitty.conf"


def setup(system: FakeSystem, *argv: str) -> int:
    system.said.clear()
    return main(argv, system)


@pytest.mark.slow
def test_it_starts_before_there_is_any_package(conf: Path) -> None:
    """On a fresh machine the Python that is found has neither attrs nor psutil: setup is what brings them."""
    code = f"import sys; sys.path.insert(0, {str(SHARED)!r}); from tallylight.cli.main import main; sys.exit(main("
    for words in (["setup", "--dry-run"], ["setup", "--help"], ["setup", "--undo", "--yes"]):
        done = subprocess.run([sys.executable, "-IS", "-c", f"{code}{words}))"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664])
def test_setup_and_undo_give_the_same_bytes(home: Path, conf: Path, end: bytes, final: bool, mode: int) -> None:
    """200 lines come back to the byte, whatever their ends, with or without a final one, and the mode stays."""
    pristine = end.join(line.encode() for line in LINES) + (end if final else b"")
    conf.write_bytes(pristine)
    conf.chmod(mode)
    system = make_system(home)

    assert setup(system, "--yes") == 0
    wired = conf.read_bytes()
    assert wired.startswith(pristine)
    assert include_of(home).encode() in wired
    assert wired.count(b"\r\n") == (wired.count(b"\n") if end == b"\r\n" else 0)
    assert conf.stat().st_mode & 0o7777 == mode

    assert setup(system, "--undo", "--yes") == 0
    assert conf.read_bytes() == pristine
    assert conf.stat().st_mode & 0o7777 == mode
    assert "byte for byte" in system.text
    assert not (home / ".local" / "state" / "tallylight").exists()


def test_the_line_holds_in_every_home_of_a_dotfiles_repository(home: Path, conf: Path) -> None:
    """A kitty.conf in a repository is read on other machines too: no home of this one stands in it."""
    real = home / "dotfiles" / "kitty.conf"
    (real.parent / ".git").mkdir(parents=True)
    real.write_text("font_size 11\n")
    conf.parent.mkdir(parents=True, exist_ok=True)
    conf.unlink(missing_ok=True)
    conf.symlink_to(real)
    system = make_system(home)

    assert main(["--yes"], system) == 0
    assert "include ${HOME}/.local/share/tallylight/kitty.conf\n" in real.read_text()
    assert str(home) not in real.read_text()
    assert main(["--undo", "--yes"], system) == 0
    assert real.read_text() == "font_size 11\n"


def test_link_into_a_dotfiles_repository_is_followed(home: Path, conf: Path) -> None:
    """The file behind the link changes; the link stays one, there and back."""
    real = home / "dotfiles" / "kitty.conf"
    real.parent.mkdir()
    pristine = conf.read_bytes()
    conf.rename(real)
    conf.symlink_to("../../dotfiles/kitty.conf")
    system = make_system(home)

    setup(system, "--yes")
    assert conf.is_symlink()
    assert include_of(home).encode() in real.read_bytes()

    setup(system, "--undo", "--yes")
    assert conf.is_symlink()
    assert real.read_bytes() == pristine


def test_second_name_of_the_file_stays_its_name(home: Path, conf: Path) -> None:
    """A hard-linked kitty.conf is changed in place, so its other name still names it."""
    other = home / "kitty-copy.conf"
    os.link(conf, other)

    setup(make_system(home), "--yes")

    assert other.samefile(conf)
    assert include_of(home) in other.read_text()


def test_setup_twice_changes_nothing(home: Path, conf: Path) -> None:
    """The second run writes nothing at all: no byte, no mode, no time of change in the whole home."""
    setup(make_system(home), "--yes")
    before = tree(home)
    system = make_system(home)

    assert setup(system, "--yes") == 0
    assert tree(home) == before
    assert "nothing changed" in system.text


def test_kitty_compiles_what_it_will_load(home: Path, conf: Path) -> None:
    """Once for each release: its Python and its level of optimisation are its own, so that nobody else can."""
    system, told = make_system(home), home.parent / "told"
    program = home.parent / "programs/kitty"
    program.write_text(f'#!/bin/sh\n[ "$1" = +runpy ] || exit 1\nshift\nprintf "%s\\n" "$2" >> "{told}"\n')
    assert setup(system, "--yes") == 0
    lib = f"{home}/.local/share/tallylight/lib"
    assert told.read_text().splitlines().count(lib) == 1
    conf.write_bytes(b"")
    assert setup(system, "--yes") == 0
    assert told.read_text().splitlines().count(lib) == 1


def test_modules_are_compiled_as_the_program_runs_them(home: Path) -> None:
    """What is compiled is what that program looks for; one that cannot is told by the answer."""
    system, lib = make_system(home), home / "lib"
    program = home.parent / "programs/kitty"
    lib.mkdir()
    (lib / "one.py").write_text('"""Text."""\n')
    program.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -OO -c "$@"\n')
    assert compile_modules(system, program, lib)
    assert [path.name.split(".", 2)[2] for path in (lib / "__pycache__").iterdir()] == ["opt-2.pyc"]
    (lib / "broken.py").write_text("(")
    assert not compile_modules(system, program, lib)


def test_dry_run_shows_the_diff_and_writes_nothing(home: Path, conf: Path) -> None:
    """With --dry-run the diff is on the screen and the home is as it was."""
    before = tree(home)
    system = make_system(home, answer=True)

    assert setup(system, "--dry-run") == 0
    assert tree(home) == before
    assert f"+{include_of(home)}" in system.text.splitlines()


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--yes",)])
def test_what_is_missing_is_said_before_the_plan(
    home: Path, conf: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """Offline and without attrs one message names the packages; no change is shown that cannot be made."""
    monkeypatch.setattr(dependencies, "_OWN_FILES", ())
    before = tree(home)
    system = dataclasses.replace(make_system(home, answer=True), is_online=False)

    with pytest.raises(TallyError, match="has no attrs and psutil; nothing was changed"):
        setup(system, *options)
    assert system.said == [] and tree(home) == before


@pytest.mark.parametrize(("answer", "told"), [(None, "--yes"), (False, "Nothing was changed.")])
def test_without_a_yes_nothing_is_written(home: Path, conf: Path, answer: bool | None, told: str) -> None:
    """Nobody to ask, or a no: the diff is shown, nothing is done, and the exit code says so."""
    before = tree(home)
    system = make_system(home, answer=answer)

    assert setup(system) == 1
    assert tree(home) == before
    assert "# BEGIN_TALLYLIGHT" in system.text
    assert told in system.said[-1]


def test_a_yes_from_the_person_is_enough(home: Path, conf: Path) -> None:
    """Answering yes wires kitty."""
    assert setup(make_system(home, answer=True)) == 0
    assert include_of(home) in conf.read_text()


def test_missing_kitty_conf_is_made_and_unmade(home: Path) -> None:
    """A kitty without a configuration gets one, and undo takes away the file and the directories made for it."""
    system = make_system(home)

    setup(system, "--yes")
    assert include_of(home) in (home / ".config/kitty/kitty.conf").read_text()

    setup(system, "--undo", "--yes")
    assert not (home / ".config").exists()


def test_kitty_conf_we_made_stays_if_somebody_wrote_into_it(home: Path) -> None:
    """Undo removes our lines from a file that we made, and keeps the file for what was added."""
    system = make_system(home)
    setup(system, "--yes")
    conf = home / ".config/kitty/kitty.conf"
    conf.write_text(conf.read_text() + "font_size 14\n")

    setup(system, "--undo", "--yes")

    assert conf.read_text() == "font_size 14\n"


def test_link_that_leads_nowhere_yet_is_followed(home: Path) -> None:
    """A dangling kitty.conf is made behind its link, and undo removes the file and keeps the link."""
    conf = home / ".config/kitty/kitty.conf"
    conf.parent.mkdir(parents=True)
    conf.symlink_to(home / "kitty.conf")
    system = make_system(home)

    setup(system, "--yes")
    assert include_of(home) in (home / "kitty.conf").read_text()

    setup(system, "--undo", "--yes")
    assert conf.is_symlink()
    assert not (home / "kitty.conf").exists()


def test_no_kitty_means_no_kitty_conf(home: Path) -> None:
    """Where there is no kitty, none of its files is made, and it is said."""
    system = make_system(home, kitty=False)

    assert setup(system, "--yes") == 0
    assert not (home / ".config").exists()
    assert "not found" in system.text


def test_wezterms_lua_is_left_alone(home: Path, conf: Path) -> None:
    """WezTerm is named if it is there, and its configuration is not written."""
    system = make_system(home)
    program = Path(system.env["PATH"]) / "wezterm"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    lua = home / ".wezterm.lua"
    lua.write_text("return {}\n")

    assert setup(system, "--yes") == 0
    assert "WezTerm" in system.text
    assert lua.read_text() == "return {}\n"


def test_agents_on_the_path_are_listed(home: Path, conf: Path) -> None:
    """What was found is said by the names of the agent files."""
    system = make_system(home)
    program = Path(system.env["PATH"]) / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    setup(system, "--yes")

    assert "  agents      claude" in system.text.splitlines()


def test_block_of_a_moved_install_is_repaired(home: Path, conf: Path) -> None:
    """An include of a data directory that is no longer ours is replaced where it stands, not doubled."""
    old = "# BEGIN_TALLYLIGHT\ninclude /old/share/tallylight/kitty.conf\n# END_TALLYLIGHT\n"
    conf.write_text(f"a 1\n{old}b 2\n")
    system = make_system(home)

    setup(system, "--yes")
    assert conf.read_text() == f"a 1\n# BEGIN_TALLYLIGHT\n{include_of(home)}\n# END_TALLYLIGHT\nb 2\n"

    setup(system, "--undo", "--yes")
    assert conf.read_text() == "a 1\nb 2\n"


def test_include_written_by_hand_is_enough(home: Path, conf: Path) -> None:
    """kitty shows an error window for a file that is included twice, so a line of the user's own counts."""
    conf.write_text(f"a 1\n{include_of(home)}\n")
    before = conf.read_bytes()

    setup(make_system(home), "--yes")

    assert conf.read_bytes() == before


def test_what_was_edited_since_is_left_alone(home: Path, conf: Path) -> None:
    """Undo takes our lines out of an edited file, keeps the edits, and says where the old file is."""
    system = make_system(home)
    pristine = conf.read_bytes()
    setup(system, "--yes")
    conf.write_bytes(conf.read_bytes().replace(b"powerline", b"slant") + b"font_size 14\n")

    assert setup(system, "--undo", "--yes") == 0
    assert conf.read_bytes() == pristine.replace(b"powerline", b"slant") + b"font_size 14\n"
    assert "was edited since" in system.text
    [backup] = (home / ".local/state/tallylight/backup").iterdir()
    assert str(backup) in system.text
    assert backup.read_bytes() == pristine


def test_backup_is_made_once(home: Path, conf: Path) -> None:
    """A second setup of an edited file keeps the copy of the file as it was before us."""
    system = make_system(home)
    pristine = conf.read_bytes()
    setup(system, "--yes")
    conf.write_text("font_size 14\n")
    setup(system, "--yes")

    [backup] = (home / ".local/state/tallylight/backup").iterdir()
    assert backup.read_bytes() == pristine


def test_undo_of_a_file_that_is_gone(home: Path, conf: Path) -> None:
    """A kitty.conf that was deleted since is not made again."""
    system = make_system(home)
    setup(system, "--yes")
    conf.unlink()

    assert setup(system, "--undo", "--yes") == 0
    assert not conf.exists()
    assert "no longer exists" in system.text


def test_undo_without_a_receipt(home: Path, conf: Path) -> None:
    """With the receipt lost, our lines are still found and taken out."""
    system = make_system(home)
    pristine = conf.read_bytes()
    setup(system, "--yes")
    (home / ".local/state/tallylight/receipt.json").unlink()

    assert setup(system, "--undo", "--yes") == 0
    assert conf.read_bytes() == pristine


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 1}', '{"version": 1, "files": [{"path": 3}]}', "[" * 9999]
)
def test_damaged_receipt_is_told_and_nothing_is_touched(home: Path, conf: Path, text: str) -> None:
    """A receipt that cannot be read stops undo with its path, before anything is written."""
    system = make_system(home)
    setup(system, "--yes")
    receipt = home / ".local/state/tallylight/receipt.json"
    receipt.write_text(text)
    before = tree(home)

    with pytest.raises(TallyError, match=r"receipt\.json"):
        setup(system, "--undo", "--yes")
    assert tree(home) == before


def test_undo_twice_finds_nothing(home: Path, conf: Path) -> None:
    """The second undo changes nothing and says so."""
    system = make_system(home)
    setup(system, "--yes")
    setup(system, "--undo", "--yes")
    before = tree(home)

    assert setup(system, "--undo", "--yes") == 0
    assert tree(home) == before
    assert "nothing changed" in system.text


def test_uninstall_leaves_the_home_as_it_was(home: Path, conf: Path) -> None:
    """After --uninstall every file in the home is one that was there before, to the byte."""

    def regular() -> dict[str, object]:
        return {name: entry[2] for name, entry in tree(home).items() if entry[2] is not None}

    before = regular()
    system = make_system(home)
    setup(system, "--yes")
    index.refresh(system.env)

    assert setup(system, "--uninstall", "--yes") == 0
    assert regular() == before
    assert not (home / ".local/share/tallylight").exists()


def test_a_part_that_is_off_stays_off(home: Path, conf: Path) -> None:
    """What a person has turned off is a setting of theirs: the index that says so outlives --uninstall."""
    system = make_system(home)
    setup(system, "--yes")
    index.refresh(system.env, off={"web"})

    assert setup(system, "--uninstall", "--yes") == 0
    assert index.path(system.env).exists()


def test_foreign_tally_is_left_alone(home: Path, conf: Path) -> None:
    """Another program of our name in ~/.local/bin is not overwritten, by setup or by uninstall."""
    other = home / ".local/bin/tally"
    other.parent.mkdir(parents=True)
    other.write_text("#!/bin/sh\n")
    system = make_system(home)

    assert setup(system, "--yes") == 0
    assert "was not made by Tallylight" in system.text
    assert setup(system, "--uninstall", "--yes") == 0
    assert other.read_text() == "#!/bin/sh\n"


def test_failing_installer_leaves_nothing_half_done(
    home: Path, conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no way to install works, kitty.conf is untouched, nothing is linked, and each way tried is named."""
    before = conf.read_bytes()
    index = (tmp_path / "no index").as_uri()
    monkeypatch.setattr(dependencies, "fetch_pip", functools.partial(dependencies.fetch_pip, index=index))

    with pytest.raises(TallyError) as caught:
        setup(make_system(home, pip_works=False), "--yes")
    tried = [line.split(": ")[:2] for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert tried == [
        ["  pip", "ERROR"],
        ["  uv", "not on PATH"],
        ["  a virtual environment", "ERROR"],
        ["  pip from PyPI", index],
    ]
    assert conf.read_bytes() == before
    assert not (home / ".local/bin").exists()
    assert not (home / ".local/share/tallylight").exists()


@pytest.mark.parametrize("linked", [False, True])
def test_full_disk_leaves_kitty_conf_as_it_was(home: Path, conf: Path, linked: bool) -> None:
    """A kitty.conf that cannot be written, by rename or in place, is as before, and no receipt claims otherwise."""
    if linked:
        os.link(conf, home / "other name")
    system = make_system(home)
    setup(system, "--yes")
    setup(system, "--undo", "--yes")
    before = {name: entry[2] for name, entry in tree(home).items()}
    # The file is longer than any that this process may write: the nearest thing to a full disk.
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    conf.write_bytes(conf.read_bytes())
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (conf.stat().st_size + 10, limit[1]))
    try:
        with pytest.raises(TallyError, match="it was not changed"):
            setup(system, "--yes")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert {name: entry[2] for name, entry in tree(home).items()} == before


def test_data_directory_that_is_a_file_is_told(home: Path, conf: Path) -> None:
    """A directory that cannot be made stops everything with its path, and kitty.conf is untouched."""
    place = home / ".local/share/tallylight"
    place.parent.mkdir(parents=True)
    place.write_text("")
    before = tree(home)

    with pytest.raises(TallyError, match="cannot install into"):
        setup(make_system(home), "--yes")
    assert tree(home) == before


def test_kitty_conf_that_cannot_be_read_is_told(home: Path) -> None:
    """A directory named kitty.conf is reported and left, and nothing is installed first."""
    (home / ".config/kitty/kitty.conf").mkdir(parents=True)
    before = tree(home)

    with pytest.raises(TallyError, match=r"kitty\.conf"):
        setup(make_system(home), "--yes")
    assert tree(home) == before


def test_path_that_kitty_cannot_read_is_refused(home: Path, conf: Path) -> None:
    """A data directory with a line break in its name could never be included."""
    with pytest.raises(TallyError, match="XDG_DATA_HOME"):
        setup(make_system(home, XDG_DATA_HOME=f"{home}/a\nb"), "--yes")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in another's home")
def test_another_users_home_is_refused(home: Path, conf: Path) -> None:
    """Under sudo with the user's HOME nothing is written, unless it is meant."""
    os.chown(home, 12345, 12345)

    with pytest.raises(TallyError, match="without sudo"):
        setup(make_system(home, answer=True))
    assert setup(make_system(home), "--yes") == 0


@pytest.mark.parametrize(
    ("env", "made", "found"),
    [
        ({}, [], ".config/kitty"),
        ({"XDG_CONFIG_HOME": "{home}/conf"}, [], "conf/kitty"),
        ({"XDG_CONFIG_HOME": "{home}/conf"}, [".config/kitty"], ".config/kitty"),
        ({"XDG_CONFIG_HOME": "{home}/conf"}, [".config/kitty", "conf/kitty"], "conf/kitty"),
        ({"XDG_CONFIG_DIRS": "{home}/etc"}, ["etc/kitty"], "etc/kitty"),
        ({"KITTY_CONFIG_DIRECTORY": "~/mine"}, [".config/kitty"], "mine"),
    ],
)
def test_kitty_conf_is_looked_for_as_kitty_does(home: Path, env: dict[str, str], made: list[str], found: str) -> None:
    """The same variables and the same order as kitty's own search."""
    for folder in made:
        (home / folder).mkdir(parents=True)
        (home / folder / "kitty.conf").write_text("a 1\n")

    setup(make_system(home, **{key: value.format(home=home) for key, value in env.items()}), "--yes")

    assert include_of(home) in (home / found / "kitty.conf").read_text()


_ASKS = f"""
import select, sys
sys.path.insert(0, {str(SHARED)!r})
from tallylight.files.system import System
print("ready", flush=True)
select.select([sys.stdin], [], [])
print("answer", System().ask("Go ahead?"), flush=True)
"""


def test_what_was_typed_before_the_question_is_no_answer() -> None:
    """A `y` that lay there before the changes were shown agrees to nothing."""
    with Terminal() as terminal:
        process = terminal.start([sys.executable, "-c", _ASKS])
        terminal.wait_for(b"ready")
        terminal.type(b"y\n")
        terminal.wait_for(b"Go ahead? [y/N]")
        terminal.type(b"n\n")
        terminal.wait_for(b"answer False")
        assert process.wait(30) == 0
