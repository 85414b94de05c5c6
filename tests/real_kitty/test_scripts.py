"""What scripts may do in a real kitty: whom a person is asked about, and what is started for whom."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import attrs
import pytest

from tests.actions.desk import seen as screen
from tests.real_kitty.desk import Desk
from tests.real_kitty.test_agents_list import Board, picture, typed

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.41"

_CODEX = """#!/bin/sh
tally start claude > ~/started 2>&1
echo $? >> ~/started
"""


_LATER = """
from types import SimpleNamespace
from tallylight.hosts.kitty import power_consent
power_consent.time = SimpleNamespace(monotonic=lambda: 1e9)
"""


@pytest.fixture(scope="module")
def board(kitty_version: str) -> Iterator[Board]:
    board = Board(kitty_version)
    yield board
    board.close()


def test_a_script_that_calls_itself_an_agent_starts_what_kitty_finds(board: Board) -> None:
    """Neither the program nor the environment is from the script; what kitty gave its window, it gives anew."""
    home, kitty = board.kitty.home, board.kitty
    forged = home / "forged"
    forged.mkdir()
    for name, text in (("codex", _CODEX), ("claude", "#!/bin/sh\ntouch ~/forged/ran\nexec sleep 1000\n")):
        (forged / name).write_text(text)
        (forged / name).chmod(0o755)
    shell = kitty.launch(*("bash", "--norc"), env={"TALLY_KEY": "a $$HOME b$$"})
    kitty.wait_until(lambda: board.in_front() == shell, what="the shell")
    before = {window["id"] for window in kitty.windows()}
    kitty.send_text(shell, 'PATH="$HOME/forged:$PATH" ANTHROPIC_BASE_URL=http://forged codex\r')
    kitty.wait_until(lambda: (home / "started").exists(), what="the end of the script")
    kitty.wait_until(lambda: (home / "started").read_text().endswith("\n0\n"), what="what was started")
    (made,) = {window["id"] for window in kitty.windows()} - before
    board.wait_status(made, "waiting")

    environ = kitty.eval(f"return boss.window_id_map[{made}].child.environ")
    assert "forged" not in str(environ)
    assert environ["TALLY_KEY"] == "a $HOME b$"
    assert kitty.eval(f"return boss.window_id_map[{made}].child.argv") == [f"{home}/.local/bin/claude"]
    assert not (forged / "ran").exists()


def test_a_person_is_asked_before_an_agent_starts_outside_of_a_sandbox(board: Board) -> None:
    """Where others start one unasked: after no, nothing runs; after yes, it runs where kitty is."""
    kitty, told = board.kitty, board.kitty.home / "told"
    shell = kitty.launch("bash", "--norc")
    kitty.wait_until(lambda: board.in_front() == shell, what="the shell")
    before = {window["id"] for window in kitty.windows()}
    for sandbox, word in (("unshare --mount", "no"), ("setpriv --no-new-privs", "yes")):
        told.unlink(missing_ok=True)
        if word == "yes":
            # A no counts for the whole pane.
            kitty.close_window(shell)
            shell = kitty.launch("bash", "--norc")
            kitty.wait_until(lambda shell=shell: board.in_front() == shell, what="the shell")
            before = {window["id"] for window in kitty.windows()}
        kitty.send_text(shell, f"{sandbox} tally start claude --json >~/told.new; mv ~/told.new ~/told\r")
        assert "asks to start agents in new panes OUTSIDE of its sandbox." in shown(board)
        write(board, word)
        kitty.wait_until(told.exists, what="what the script is told")
        found = json.loads(told.read_text())
        made = {window["id"] for window in kitty.windows()} - before
        assert found["refused"] == (None if word == "yes" else "permission"), found
        assert len(made) == (word == "yes")
    pid = kitty.eval(f"return boss.window_id_map[{made.pop()}].child.pid")
    assert "NoNewPrivs:\t0" in kitty.run(["cat", f"/proc/{pid}/status"]).stdout.decode()


def question(board: Board) -> int | None:
    """The window in which a person is asked."""
    found = (one["id"] for one in board.kitty.windows() if "Tallylight asks" in str(one["title"]))
    return next(found, None)


def shown(board: Board) -> str:
    """The words of the question, once they stand there."""
    kitty = board.kitty
    window = kitty.wait_until(lambda: question(board), what="the question")
    kitty.wait_text(window, "▏")
    assert window == board.in_front()
    return " ".join(kitty.get_text(window).split())


def write(board: Board, word: str) -> None:
    """Write it key by key, as it is shown, and press Enter."""
    kitty, window = board.kitty, question(board)
    assert window is not None
    for end in range(1, len(word) + 1):
        board.press(word[end - 1])
        kitty.wait_text(window, f"> {word[:end]}▏")
    board.press("Return")
    kitty.wait_until(lambda: question(board) is None, what="the end of the question")


@attrs.define
class Asking:
    """Pane *agent* shows a question; scripts in the shell in front want to answer it."""

    board: Board
    agent: int
    address: str

    def send(self, name: str, how: str = "sh") -> None:
        """Have a script answer 2; what comes of it goes into the file *name*."""
        self.board.kitty.send_text(self.board.in_front(), f"{how} ~/answer {name}\r")

    def told(self, name: str) -> str:
        """What the script *name* was told, and its exit code, once it has ended."""
        file = self.board.kitty.home / name
        self.board.kitty.wait_until(lambda: file.with_name(f"{name}.code").exists(), what=f"the end of {name}")
        return file.read_text() + file.with_name(f"{name}.code").read_text()


@pytest.fixture
def asking(board: Board) -> Iterator[Asking]:
    """With `allow = "ask"`."""
    kitty, settings = board.kitty, board.config_toml.read_text()
    board.close_all_but_first()
    (kitty.home / "typed").write_bytes(b"")
    for file in (*kitty.home.glob("*.code"), kitty.home / "question"):
        file.unlink(missing_ok=True)
    Desk.configure(board, f'{settings}\n[scripting]\nallow = "ask"\n')
    agent = kitty.launch("claude", keep_focus=True)
    board.wait_status(agent, "waiting")
    host = next((kitty.runtime_dir / "tallylight").glob("kitty-*.json")).stem
    (kitty.home / "answer").write_text(
        f"tally read {host}:{agent} --question > ~/read && mv ~/read ~/question\n"
        f"tally send {host}:{agent} --answer 2 --to $(tail -n 1 ~/question | cut -c 4-) > ~/$1 2>&1\n"
        "echo $? > ~/$1.code\n"
    )
    yield Asking(board, agent, f"{host}:{agent}")
    Desk.configure(board, settings)


def test_a_person_is_asked_whether_a_script_may_answer(asking: Asking) -> None:
    """Over the pane of the script, in words that leave nothing out: nothing is typed before yes; it is asked once."""
    board, kitty = asking.board, asking.board.kitty
    asking.send("first")
    text = shown(board)
    assert f"asks to act for you in 'claude' (window {asking.agent}), where Claude Code runs." in text
    assert "answer what is asked there, PERMISSIONS INCLUDED, and stop turns, until it or Claude Code ends." in text
    if path := picture(board, "script-asks"):
        kitty.screenshot(path)
    assert typed(board) == b""
    write(board, "yes")
    assert asking.told("first").startswith("answered 2. ")
    assert typed(board) == b"2"
    kitty.wait_text(asking.agent, "rm -rf build")
    asking.send("second")
    assert asking.told("second").endswith("\n0\n")
    assert typed(board) == b"22"
    assert question(board) is None


def test_a_no_holds_for_every_session(asking: Asking) -> None:
    """Keys that were pressed before the question was there agree to nothing; after a no, a new session is refused."""
    board, kitty = asking.board, asking.board.kitty
    # What is typed while the window of the question opens: kitty's own loop is held up meanwhile.
    code = """
from tallylight.hosts.kitty import consents
old = consents.ask
def ask(window, page, answered):
    refused = old(window, page, answered)
    for made in boss.window_id_map.values():
        if made.override_title == page.title:
            made.write_to_child(b"yes\\r")
    consents.ask = old
    return refused
consents.ask = ask
"""
    kitty.eval(code)
    asking.send("first")
    assert shown(board).endswith("> ▏")
    write(board, "no")
    assert asking.told("first").startswith("tally send: permission: you did not agree")
    # What leaves its parents cannot even read the question: the ID is of before.
    for number, (how, rule) in enumerate(
        (("sh", "permission"), ("setsid -w sh", "permission"), ("setsid -f sh", "caller"))
    ):
        asking.send(f"again{number}", how)
        assert asking.told(f"again{number}").startswith(f"tally send: {rule}: ")
    assert question(board) is None
    assert typed(board) == b""


def test_nobody_is_asked_where_the_question_cannot_be_seen(asking: Asking) -> None:
    """In a window of a few cells: the caller is told so, and nothing is typed."""
    board, kitty = asking.board, asking.board.kitty
    screen = f"screen = boss.window_id_map[{board.in_front()}].screen\n"
    size = kitty.eval(f"{screen}size = screen.lines, screen.columns\nscreen.resize(2, 20)\nreturn size")
    asking.send("small")
    told = asking.told("small")
    kitty.eval(f"{screen}screen.resize(*{tuple(size)})")
    assert told.startswith("tally send: room: ")
    assert "has 20 columns and 2 lines; make it larger" in told
    assert question(board) is None
    assert typed(board) == b""


def test_a_change_that_lets_programs_do_more_is_asked_about(board: Board) -> None:
    """Whoever edits the file while kitty runs: nothing of it is in force before a person has written yes."""
    board.close_all_but_first()
    settings = board.config_toml.read_text()
    ran = board.kitty.home / "ran"
    command = f'command = ["/bin/sh", "-c", "touch {ran}"]'
    allow = '[scripting]\nallow = "{}"\n'

    def in_force() -> str:
        return str(board.host("(host.config.scripting, len(host.config.notify.command))"))

    try:
        Desk.configure(board, f"{settings}{allow.format('all')}[notify]\n{command}\n", agrees=False)
        text = shown(board)
        assert 'scripting.allow is "all" in config.toml, and "own" in force.' in text
        assert f'notify.command is ["/bin/sh", "-c", "touch {ran}"] in config.toml, and [] in force.' in text
        if path := picture(board, "settings-ask"):
            board.kitty.screenshot(path)
        assert in_force() == "('own', 0)"
        found = board.snapshot()
        assert found is not None
        assert (found.allow, found.withheld) == ("own", ("scripting.allow", "notify.command"))
        write(board, "no")
        board.let_pass(1)
        assert (in_force(), question(board)) == ("('own', 0)", None)
        assert not ran.exists()

        board.kitty.eval(_LATER)
        Desk.configure(board, f"{settings}{allow.format('ask')}", agrees=False)
        assert 'scripting.allow is "ask" in config.toml, and "own" in force.' in shown(board)
        write(board, "yes")
        board.kitty.wait_until(lambda: in_force() == "('ask', 0)", what="what a person agreed to")
        Desk.configure(board, settings, agrees=False)
        assert in_force() == "('own', 0)"
    finally:
        Desk.configure(board, settings)


#: An agent that works on whatever it is told, and notes every key.
_BUSY = r"""
stty raw -echo
printf '\033]0;\342\240\213 turn\007'
while printf '\033[H%s\r\n' "$(cat ~/working)"; do
    read -rsn1 -t 1 key && printf '%q\n' "$key" >> ~/keys
done
"""


def test_two_scripts_interrupt_one_turn_once(board: Board) -> None:
    """Both look, and both ask kitty to press the key while the agent still works: one is told that it was done."""
    home, kitty, settings = board.kitty.home, board.kitty, board.config_toml.read_text()
    board.close_all_but_first()
    (home / "busy").mkdir()
    # A copy, because a process is known by its executable.
    shutil.copy("/bin/bash", home / "busy/claude")
    (home / "busy/claude").chmod(0o755)
    (home / "busy/claude.sh").write_text(_BUSY)
    (home / "working").write_text("\n".join(screen("claude/working-80").look.lines).rstrip())
    Desk.configure(board, f'{settings}\n[scripting]\nallow = "all"\n')
    agent = kitty.launch(str(home / "busy/claude"), str(home / "busy/claude.sh"), keep_focus=True)
    board.wait_status(agent, "working")
    host = next((kitty.runtime_dir / "tallylight").glob("kitty-*.json")).stem
    one = f"tally interrupt {host}:{agent} > ~/told$n 2>&1; echo $? >> ~/told$n; mv ~/told$n ~/over$n"
    kitty.send_text(board.in_front(), f"for n in 1 2; do ({one}) & done\r")
    over = [home / "over1", home / "over2"]
    kitty.wait_until(lambda: all(path.exists() for path in over), what="the end of both scripts")
    kitty.wait_until(lambda: (home / "keys").exists(), what="the key")
    told = sorted(path.read_text().splitlines()[-1] for path in over)
    assert told == ["0", "7"], [path.read_text() for path in over]
    assert (home / "keys").read_text().splitlines() == ["$'\\E'"]
    assert any("interrupted a moment ago" in path.read_text() for path in over)
    Desk.configure(board, settings)
