"""`tally emit`: its arguments, its bytes, where they go and what they cost."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tallylight.cli import emit
from tallylight.cli.main import main
from tallylight.model.report import Progress, Report
from tallylight.model.status import CONCLUDED, Kind, Status
from tallylight.parts.lab.scanner import Scanner
from tallylight.wire import osc1338, pairs
from tallylight.wire.scanner import Sequence
from tests.tables import each
from tests.terminal import SHARED, Terminal, bare_environment, launcher


def both(payload: str) -> bytes:
    value = base64.b64encode(payload.encode())
    return b"\x1b]1338;%b\x07\x1b]1337;SetUserVar=tally=%b\x07" % (payload.encode(), value)


def variable(payload: str) -> bytes:
    return b"\x1b]1337;SetUserVar=tally=%b\x07" % base64.b64encode(payload.encode())


def run(command: list[str], *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the installed command with its output taken instead of a terminal."""
    return subprocess.run(
        [*command, *arguments],
        env=bare_environment(TALLY_EMIT_STDOUT="1") | environment,
        capture_output=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def tally(tmp_path: Path) -> list[str]:
    return launcher(tmp_path)


@each(
    ("arguments", "payload"),
    [
        ("working", "state=working"),
        ("waiting --tool=claude", "state=waiting;tool=claude"),
        ("waiting --tool claude --project vibeflow", "state=waiting;tool=claude;project=vibeflow"),
        ("--project=x --tool=y done", "state=done;tool=y;project=x"),
        ("active --tool=a=b", "state=active;tool=a%3Db"),
        ("waiting --kind permission", "state=waiting;kind=permission"),
        ("working --progress 01/4", "state=working;progress=1/4"),
        ("working --progress 40%", "state=working;progress=40/100"),
        ("working --progress 7", "state=working;progress=7/100"),
        ("background --background 03", "state=background;background=3"),
        ("idle --tool=", "state=idle"),
        ("idle --tool a --tool b", "state=idle;tool=b"),
        ("error --message --tool", "state=error;message=--tool"),
    ],
)
def test_arguments_become_a_payload(arguments: str, payload: str) -> None:
    """A command line becomes one payload, carried by both sequences."""
    assert emit.sequences(emit.parse(arguments.split())) == both(payload)


def test_record_with_an_id_goes_into_the_variable_only() -> None:
    """A subagent's status is not sent as OSC 1338, where it would be taken for the tab's."""
    assert emit.sequences(emit.parse(["done", "--id", "a/b"])) == variable("state=done;id=a/b")


def test_clear_puts_the_light_out_in_both_languages() -> None:
    """Withdrawing is `clear` in the variable and `active` in OSC 1338, which has no word for it."""
    expected = b"\x1b]1338;state=active\x07" + variable("state=clear;tool=x")

    assert emit.sequences(emit.parse(["clear", "--tool", "x"])) == expected


@each(
    "arguments",
    [
        *("bogus", "WAITING", "down", "waiting done", "--tool=x", "waiting --tool", "waiting --bogus", "waiting -x"),
        *("waiting --kind hunger", "working --kind question", "working --progress 5/4", "working --progress 0/0"),
        *("working --progress x", "working --progress 1/2/3", "working --progress -1/2", "working --progress ²/4"),
        *("working --background many", "working --background 12345", "working --id a//b", "working --id /a"),
        *("working --id a/b/c/d/e/f/g/h/i", "working --id é", "working --id a;b", f"working --id {'x' * 65}"),
    ],
)
def test_wrong_usage(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be meant is refused with one line and exit code 2."""
    assert main(["emit", *arguments.split(" ")]) == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_without_arguments_the_usage_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """As with vibeflow-emit, no argument at all prints the usage on standard error, exit code 2."""
    assert main(["emit"]) == 2
    assert capsys.readouterr().err.startswith("usage:")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Help goes to standard output, exit code 0, and names every option."""
    assert main(["emit", option]) == 0

    said = capsys.readouterr().out
    assert all(name in said for name in (*emit.OPTIONS, *emit.STATUSES, *emit.KINDS))


def test_words_are_those_of_the_package() -> None:
    """The words this module repeats, to start quickly, are the package's; `down` and a limit are for us to tell."""
    assert set(emit.STATUSES) == {status.value for status in set(Status) - CONCLUDED} | {"clear"}
    assert (*emit.KINDS, "limit") == tuple(kind.value for kind in Kind)


def _received(frame: bytes) -> Report:
    """What a terminal's reader makes of a frame."""
    (sequence,) = Scanner().feed(frame)
    assert isinstance(sequence, Sequence)
    return osc1338.decode(sequence)


def test_receiver_understands_every_option() -> None:
    """What is sent is what the package's own codec reads."""
    texts = {"tool": "claude", "project": "café; 100%", "session": "s", "title": "t", "cwd": "/x y", "message": "hä?"}
    options = [f"--{key}={value}" for key, value in texts.items()]
    options += ["--worktree=w", "--mode=m", "--detail=d", "--progress=1/4", "--background=2", "--kind=input"]
    options += ["--task=Read", "--task", "Write", "--var=ticket=X-1", "--var=a=", "--resume=claude  --resume s"]
    options += ["--fork", "claude --resume s --fork-session"]

    frame = emit.sequences(emit.parse(["waiting", *options])).partition(b"\x07")[0] + b"\x07"
    report = _received(frame)

    assert (report.status, report.kind) == (Status.WAITING, Kind.INPUT)
    assert (report.agent, report.project, report.session, report.title) == ("claude", "café; 100%", "s", "t")
    assert (report.cwd, report.message, report.worktree, report.mode, report.detail) == ("/x y", "hä?", "w", "m", "d")
    assert (report.progress, report.background) == (Progress(1, 4), 2)
    assert (report.tasks, report.vars) == (("Read", "Write"), (("ticket", "X-1"),))
    assert (report.resume, report.fork) == (
        ("claude", "--resume", "s"),
        ("claude", "--resume", "s", "--fork-session"),
    )


@each("status", [word for word in emit.STATUSES if word != "clear"])
def test_receiver_knows_every_status(status: str) -> None:
    """Every status that may be sent is read back as itself."""
    frame = emit.sequences(emit.parse([status])).partition(b"\x07")[0] + b"\x07"

    assert _received(frame).status == Status(status)


@pytest.mark.parametrize(("over", "shortened"), [(0, False), (1, True)])
def test_payload_at_the_limit_and_one_over(over: int, shortened: bool) -> None:
    """A frame of 4096 bytes goes out whole; of 4097, with a shorter message."""
    message = "m" * (pairs.MAX_PAYLOAD - len("state=done;message=") + over)

    frame = emit.sequences(emit.parse(["done", "--message", message])).partition(b"\x07")[0] + b"\x07"

    assert len(frame) <= 4096
    assert (message.encode() not in frame) is shortened
    assert frame.endswith(b"m%E2%80%A6\x07" if shortened else b"m\x07")
    assert _received(frame).status is Status.DONE


@each("letter", ["m", "é", "✓", "🙂", ";"])
def test_long_texts_are_cut_at_a_character(letter: str) -> None:
    """Detail, message and title give way, in this order, at whole characters, and the rest stays."""
    texts = [f"--{name}={letter * 3000}" for name in ("title", "message", "detail")]

    frame = emit.sequences(emit.parse(["done", "--project=p", *texts])).partition(b"\x07")[0] + b"\x07"
    report = _received(frame)

    assert 4000 < len(frame) <= 4096
    assert report.project == "p"
    assert (report.detail, report.message) == ("", "") or report.title.startswith(letter * 50)


def test_long_paths_are_left_out_whole() -> None:
    """A path that does not fit is not cut into another path."""
    frame = emit.sequences(emit.parse(["done", f"--cwd=/{'日' * 400}", f"--worktree=/{'日' * 300}"]))
    report = _received(frame.partition(b"\x07")[0] + b"\x07")

    assert report.cwd == "/" + "日" * 400
    assert report.worktree == ""


def test_what_cannot_be_shortened_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A session that does not fit is an error that names it: half an id is another id."""
    assert main(["emit", "done", "--session", "s" * 4096]) == 1
    assert "shorten --session" in capsys.readouterr().err


def test_bytes_that_are_no_utf8(tally: list[str]) -> None:
    """An argument of arbitrary bytes is sent with replacement characters, and does not crash."""
    done = subprocess.run(
        [*tally, "emit", "done", b"--title=a\xffb\xed\xa0\x80"],
        env=bare_environment(TALLY_EMIT_STDOUT="1"),
        capture_output=True,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == both("state=done;title=a%EF%BF%BDb%EF%BF%BD%EF%BF%BD%EF%BF%BD")


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "de_DE.ISO-8859-1"])
def test_locale_changes_nothing(tally: list[str], locale: str) -> None:
    """The bytes are those of the argument in every locale."""
    done = run(tally, "emit", "done", "--title=café", LC_ALL=locale)

    assert done.stdout == both("state=done;title=caf%C3%A9")


@pytest.mark.parametrize("value", ["", "0"])
def test_standard_output_is_not_used_unasked(tally: list[str], value: str) -> None:
    """An empty variable, or 0, does not send the sequences to standard output."""
    with Terminal() as terminal:
        code = terminal.run(
            ["sh", "-c", 'said=$("$@") && [ -z "$said" ]', "sh", *tally, "emit", "done"],
            bare_environment(TALLY_EMIT_STDOUT=value),
        )

        assert code == 0
        assert terminal.received == both("state=done")


def test_vibeflow_variable_is_heard(tally: list[str]) -> None:
    """VIBEFLOW_EMIT_STDOUT, whatever it holds, sends to standard output as well."""
    done = run(tally, "emit", "done", TALLY_EMIT_STDOUT="", VIBEFLOW_EMIT_STDOUT="0")

    assert done.stdout == both("state=done")


def test_hook_without_a_terminal_reaches_the_tab(tally: list[str]) -> None:
    """From a session of its own with pipes for descriptors, as Claude Code runs a hook, the bytes reach the pty."""
    code = (
        "import subprocess,sys\n"
        "sys.exit(subprocess.run(sys.argv[1:],start_new_session=True,stdin=subprocess.DEVNULL,"
        "capture_output=True).returncode)"
    )
    with Terminal() as terminal:
        assert terminal.run([sys.executable, "-I", "-c", code, *tally, "emit", "waiting", "--kind=question"]) == 0
        assert terminal.received == both("state=waiting;kind=question")


def test_no_terminal_anywhere_is_success(tally: list[str]) -> None:
    """A process whose ancestors have no terminal emits nothing, says nothing and succeeds."""
    code = (
        "import os,subprocess,sys\n"
        "parent=os.getpid()\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "while os.getppid() == parent: pass\n"
        "d=subprocess.run(sys.argv[1:],stdin=subprocess.DEVNULL,capture_output=True)\n"
        "print(d.returncode,d.stdout,d.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *tally, "emit", "done"],
        env=bare_environment(),
        capture_output=True,
        start_new_session=True,
    )

    assert done.stdout == b"0 b'' b''\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_failed_write_is_told(tally: list[str]) -> None:
    """Where writing fails the exit code is 1 and the message says why."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*tally, "emit", "done"], env=bare_environment(TALLY_EMIT_STDOUT="1"), stdout=full, stderr=subprocess.PIPE
        )

    assert done.returncode == 1
    assert b"No space left" in done.stderr


@each(
    ("environ", "is_enough"),
    [
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "3"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "3", "TERM_PROGRAM": "vibeflow"}, False),
        ({"TERM": "tmux-256color", "TMUX": "x", "TERM_PROGRAM": "tmux", "WEZTERM_PANE": "0"}, True),
        ({"TERM": "tmux-256color", "TMUX": "x", "TERM_PROGRAM": "tmux"}, False),
        ({"TERM": "xterm-256color"}, False),
        ({}, False),
    ],
)
def test_kitty_and_wezterm_get_what_they_understand(
    environ: dict[str, str], is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both log an OSC 1338 as a fault; other terminals may know nothing else."""
    sent: list[bytes] = []
    monkeypatch.setattr(emit, "send", lambda data, _: sent.append(data) or 0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "environ", environ)
        emit.main(["working"])
        patch.setattr(os, "environ", environ | {"TALLY_EMIT_STDOUT": "1"})
        emit.main(["working"])

    assert sent == [variable("state=working") if is_enough else both("state=working"), both("state=working")]


def test_both_sequences_are_one_write() -> None:
    """One write(2) carries both sequences, so that the agent's own drawing cannot come between."""
    count = (
        f"import posix as os,sys;sys.path.insert(0,{str(SHARED)!r})\n"
        "import tallylight.cli.main as m;real=os.write;calls=[]\n"
        "os.write=lambda fd,data:(calls.append(len(data)),real(fd,data))[1]\n"
        "assert m.main(['emit','waiting','--message','x'*2500])==0\n"
        "sys.exit(len(calls))"
    )
    with Terminal() as terminal:
        assert terminal.run([sys.executable, "-IS", "-c", count]) == 1
        assert len(terminal.received) > 5000


def test_nothing_dear_is_imported(tally: list[str], tmp_path: Path) -> None:
    """The path of `tally emit` loads no module that would cost it its budget."""
    dear = {"re", "enum", "typing", "argparse", "attr", "attrs", "json", "pathlib", "subprocess", "select", "signal"}
    script = Path(tally[-1])
    script.write_text(
        script.read_text().replace(
            "run()", "run.__globals__['main'](sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
        )
    )

    with Terminal() as terminal:
        modules = tmp_path / "modules"
        command = [*tally, "emit", "waiting", "--tool=x", "--progress=1/2", "--id=a"]
        terminal.run(["sh", "-c", '"$@" 2>"$0"', str(modules), *command])
        loaded = modules.read_text().split()

    assert "tallylight.cli.emit" in loaded
    assert dear & set(loaded) == set()
