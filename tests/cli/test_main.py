"""The command as a whole: verbs, exit codes, and what an error looks like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tallylight
from tallylight.cli import agents, emit, status
from tallylight.cli.main import ALIASES, DAILY, WANTED, every_verb, groups, main, module_of
from tallylight.files import build
from tallylight.model.errors import TallyError
from tallylight.parts import index
from tests.tables import each
from tests.terminal import bare_environment, launcher

VERBS = every_verb()
#: The command with this Python's packages, which the launcher of the other tests does without.
COMMAND = [sys.executable, "-c", "from tallylight.cli.main import run; run()"]
SHARED = str(Path(tallylight.__file__).parents[1])


@each("argv", [["--help", "--all"], ["help", "--all"]])
def test_help_lists_every_verb(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help of all names each verb, on standard output."""
    assert main(argv) == 0

    said = capsys.readouterr().out
    assert all(f"\n  {verb}" in said for verb in VERBS)


def test_help_shows_what_people_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Sixteen verbs, in at most forty lines of eighty columns, and how to see the others."""
    assert main(["--help"]) == 0

    said = capsys.readouterr().out
    assert [verb for verb in VERBS if f"\n  {verb} " in said] == [verb for group in DAILY for verb in groups()[group]]
    assert sum(len(groups()[group]) for group in DAILY) == 16
    assert "`tally help --all`" in said and len(said.splitlines()) <= 40


def test_every_verb_has_its_module() -> None:
    """Each verb is a module with a function `main`."""
    for verb in VERBS:
        assert callable(__import__(module_of(verb), fromlist=["main"]).main)
    for verb in index.verbs():
        assert callable(__import__(module_of(verb), fromlist=["main"]).main)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """--version is one line with the version of the package, its build and its Python."""
    for word in ("--version", "version"):
        assert main([word]) == 0
        assert capsys.readouterr().out == f"tally {build.name()}\n"


@each(("is_terminal", "verb"), [((True, True), "agents"), ((True, False), "status"), ((False, True), "status")])
def test_no_verb_shows_the_agents(is_terminal: tuple[bool, bool], verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a verb the list opens on a terminal; in a pipe it is the status."""
    given: list[str] = []
    for module in (agents, status):
        monkeypatch.setattr(module, "main", lambda argv, name=module.__name__: given.append(name) or 0)
    for stream, is_one in zip((sys.stdin, sys.stdout), is_terminal, strict=True):
        monkeypatch.setattr(stream, "isatty", lambda is_one=is_one: is_one)

    assert main([]) == 0 and given == [f"tallylight.cli.{verb}"]


@each(
    ("verb", "wanted"),
    [
        ("statsu", "status"), ("emt", "emit"), ("doctr", "doctor"), ("answer", "agents` and there the key `a"),
        ("uninstall", "setup --uninstall"), ("update", "doctor --online"), ("history", "log"), ("open", "jump"),
        ("undo", "setup --undo"),
    ],
)  # fmt: skip
def test_unknown_verb(verb: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A verb that does not exist is exit code 2, with the command line that was probably meant."""
    assert main([verb]) == 2
    assert capsys.readouterr().err == f"tally: there is no verb `{verb}`; you want `tally {wanted}`\n"


@each(
    ("argv", "said"),
    [
        (["status", "--jsn"], "--jsn; did you mean '--json'?\n"),
        (["status", "--zzz"], "--zzz\n"),
        (["jump", "shop"], "'shop' is one word too many; `tally jump --help` shows what it takes\n"),
    ],
)
def test_unknown_option(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that is like one of the verb's names that; one like none names nothing."""
    assert main(argv) == 2
    assert capsys.readouterr().err.endswith(said)


def test_unknown_verb_like_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing was meant that there is, it says where all are listed."""
    assert main(["zzz"]) == 2
    assert capsys.readouterr().err == "tally: there is no verb `zzz`; `tally help --all` lists them all\n"


def test_what_is_wanted_is_there() -> None:
    """Each word that is no verb leads to one that there is, and to options that it has."""
    for word, wanted in {**ALIASES, **WANTED}.items():
        assert word not in every_verb()
        verb, *options = wanted.partition("`")[0].split()
        assert verb == "--version" or (verb in VERBS and main([verb, *options, "--help"]) == 0)
    assert not {word for verb in index.verbs().values() for word in verb.words} & {*ALIASES, *WANTED, *every_verb()}


@each(("word", "verb"), [("top", "agents"), ("list", "agents"), ("ls", "status"), ("ps", "status")])
def test_another_word_runs_the_verb(word: str, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can go wrong, what people type runs what they want, with all that they give it."""
    given: list[list[str]] = []
    monkeypatch.setattr(f"tallylight.cli.{verb}.main", lambda argv: given.append(argv) or 0)

    assert main([word, "--broker"]) == 0 and given == [["--broker"]]


def test_hostile_verb_is_shown_harmlessly(capsys: pytest.CaptureFixture[str]) -> None:
    """Controls and lone surrogates in the verb do not reach the terminal."""
    assert main(["\x1b]0;x\x07\udcff" + "y" * 500]) == 2

    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert len(said) < 200


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (TallyError("the disk is full: make room"), 1, "tally: the disk is full: make room\n"),
        (KeyboardInterrupt(), 130, ""),
        (SystemExit(2), 2, ""),
        (SystemExit(0), 0, ""),
    ],
)
def test_errors_become_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    """An expected error is one line and 1, an interrupt is 130, and argparse keeps its codes."""

    def fail(argv: list[str]) -> int:
        raise error

    monkeypatch.setattr(emit, "main", fail)

    assert main(["emit"]) == code
    assert capsys.readouterr().err == said


def test_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody expected keeps its traceback."""
    monkeypatch.setattr(emit, "main", lambda argv: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        main(["emit"])


@each("verb", sorted({*VERBS} - {"emit", "hook", "run"}))
def test_wrong_option_is_wrong_usage(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option a verb does not have is exit code 2, with how that very verb is used."""
    words = ["x", "--", "true"] if verb == "record" else ["sessions"] if verb == "host" else []
    assert main([verb, "--bogus", *words]) == 2
    assert f"usage: tally {verb} " in capsys.readouterr().err


def test_launcher_as_installed(tmp_path: Path) -> None:
    """The launcher runs isolated and without site, in a folder that holds modules with our modules' names."""
    for name in ("os.py", "tallylight.py", "stat.py"):
        (tmp_path / name).write_text("raise SystemExit('taken from the current directory')")
    folder = tmp_path / "bin"
    folder.mkdir()

    done = subprocess.run(
        [*launcher(folder), "--version"],
        cwd=tmp_path,
        env=bare_environment(PYTHONPATH=str(tmp_path)),
        capture_output=True,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, f"tally {build.name()}\n".encode(), b"")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--version"], ["status", "--help"], ["doctor"], ["watch", "--once"]])
def test_full_disk_below_the_output_is_one_line(tmp_path: Path, words: list[str]) -> None:
    """What cannot be written because the disk is full ends in one line that says so, and 1; never in a traceback."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *words],
            env=bare_environment(HOME=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path), PYTHONPATH=SHARED),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
        )

    assert (done.returncode, done.stderr) == (1, b"tally: No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--version"], ["status"], ["doctor"], ["watch", "--once"]])
def test_closed_streams_are_no_error(tmp_path: Path, words: list[str]) -> None:
    """With its standard streams closed, as some daemons start programs, a command runs and writes nowhere."""
    command = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *COMMAND, *words]

    done = subprocess.run(
        command,
        env=bare_environment(HOME=str(tmp_path), XDG_RUNTIME_DIR=str(tmp_path), PYTHONPATH=SHARED),
        stderr=subprocess.PIPE,
    )

    assert done.stderr == b""
    assert done.returncode in (0, 1), "doctor has something to mend in an empty home"


def test_file_error_names_the_file(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A file that cannot be read or written is one line with its name and the reason, and 1."""

    def fail(argv: list[str]) -> int:
        raise PermissionError(13, "Permission denied", "/some/\x1bfile")

    monkeypatch.setattr(emit, "main", fail)
    monkeypatch.setattr("tallylight.cli.main._drop_output", lambda: None)

    assert main(["emit"]) == 1
    assert capfd.readouterr().err == "tally: /some/?file: Permission denied\n"


@pytest.mark.slow
def test_missing_package_is_one_line(tmp_path: Path) -> None:
    """An installation that has lost a package it needs says which, and what to do."""
    done = subprocess.run(
        [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, {SHARED!r})\n{COMMAND[-1]}", "config"],
        env=bare_environment(HOME=str(tmp_path)),
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert done.stderr == "tally: the Python module `attrs` is missing: run ./install.sh again\n"


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["doctor"], ["setup", "--dry-run"]])
def test_locale_without_our_signs(tmp_path: Path, words: list[str]) -> None:
    """Where the output's encoding has no `…` and no `→`, there stands `?`, and no traceback."""
    env = bare_environment(HOME=str(tmp_path), PYTHONPATH=SHARED, PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    done = subprocess.run([*COMMAND, *words], env=env, capture_output=True, text=True)

    assert done.stderr == "" and "Traceback" not in done.stdout
    assert done.stdout.isascii() and len(done.stdout) > 100


@pytest.mark.slow
@each(
    ("locale", "shown"),
    [
        ({"LC_ALL": "C"}, "!1 xv1 +1 *1 検"),
        ({"LANG": "POSIX"}, "!1 xv1 +1 *1 検"),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, "!1 ×▼1 ✓1 ●1 検"),
        ({"PYTHONIOENCODING": "latin-1"}, "!1 ×v1 +1 *1 ?"),
        ({}, "!1 ×▼1 ✓1 ●1 検"),
    ],
)
def test_marks_in_a_locale_without_them(locale: dict[str, str], shown: str) -> None:
    """Each mark has an ASCII character of its own, so that none looks like a question; a name stays where it can."""
    text = "!1 ×▼1 ✓1 ●1 検"
    code = (
        "import sys\nfrom tallylight.cli import main\nfrom tallylight.ui.terminal import encoded\n"
        "def verb(argv): sys.stdout.write(TEXT + chr(10)); sys.stdout.flush(); sys.stdout.buffer.write(encoded(TEXT))\n"
        f"TEXT = {text!r}; main.main = verb; main.run()"
    )
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": SHARED} | locale
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
    encoding = "latin-1" if "PYTHONIOENCODING" in locale else "utf-8"
    assert (done.stdout.decode(encoding).splitlines(), done.stderr) == ([shown, shown], b"")
