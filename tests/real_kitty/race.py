"""
A race in a real kitty: an agent puts another dialog in the place of the one that is answered, just before the answer.

The agent is a program called `claude` that draws when it is told to, notes when, and notes each key and when it came.
The answer goes through the list's channel, through a button of a notification, or through the socket of scripts. What
kitty types is noted at the moment when it is handed to the terminal, on the clock that all of them share.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Self

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import decode_reply, encode
from tests.real_kitty.asking_claude import SCREENS, STATUS
from tests.real_kitty.test_agents_list import Board

SURFACES = ("list", "script", "notification")
SCREEN = SCREENS / "question-80.txt"
#: What is asked first, then instead, and between two rounds.
FIRST, SECOND, BETWEEN = "Which colour?", "Delete it all?", "Which size?"

#: Draws `FIRST`, `SECOND` at a time, or `BETWEEN`; what is typed while `SECOND` has not come yet is its end.
AGENT = r"""#!/usr/bin/python3
import json, os, select, sys, time, tty
STATUS
status("waiting", "input needed")
home = os.environ["HOME"]
columns, height = os.get_terminal_size()
lines = open(f"{home}/screen").read().partition("---\n")[2].rstrip("\n").split("\n")[1 - height:]
# Claude draws its lines as wide as the screen.
body = "\n".join(line[0] * columns if line and line == line[0] * 80 else line for line in lines)
log = open(f"{home}/race-log", "a", buffering=1)
tty.setraw(0)

def show(asked, below=False):
    start = "\r\n" * 60 if below else "\x1b[2J\x1b[H"
    text = start + body.replace("Which colour?", asked).replace("\n", "\r\n") + f"\x1b[{len(lines) - 6};1H"
    begun = time.monotonic()
    os.write(1, text.encode())
    log.write(json.dumps(dict(what=asked, begun=begun, done=time.monotonic())) + "\n")

show("Which colour?")
control = os.open(f"{home}/control", os.O_RDWR)
due, buffer = None, b""
while True:
    wait = None if due is None else max(0.0, due[0] - time.monotonic() - 0.001)
    ready, _, _ = select.select([0, control], [], [], wait)
    if 0 in ready:
        key = os.read(0, 100)
        log.write(json.dumps(dict(what="key", key=key.decode(), at=time.monotonic())) + "\n")
        if due is not None:
            due = None
    if control in ready:
        buffer += os.read(control, 4096)
        *lines, buffer = buffer.split(b"\n")
        for line in lines:
            told = json.loads(line)
            if told["at"]:
                due = told["at"], told["asked"]
            else:
                due = None
                show(told["asked"], told["below"])
    if due is not None and not ready:
        while time.monotonic() < due[0]:
            pass
        show(due[1])
        due = None
""".replace("STATUS", STATUS)

#: Sends each line that it is told to the socket of kitty at a time, and notes the reply.
SCRIPT = r"""
import json, os, socket, sys, time
home, path = os.environ["HOME"], sys.argv[1]
control = os.fdopen(os.open(f"{home}/script-control", os.O_RDWR))
while True:
    with socket.socket(socket.AF_UNIX) as connection:
        # Early: kitty hears those who are there more often than it looks who has come.
        told = json.loads(control.readline())
        connection.connect(path)
        time.sleep(max(0.0, told["at"] - time.monotonic()))
        fired = time.monotonic()
        connection.sendall(told["line"].encode())
        answer = b""
        while not answer.endswith(b"\n") and (chunk := connection.recv(65536)):
            answer += chunk
    with open(f"{home}/script-told.new", "w") as file:
        json.dump(dict(fired=fired, told=answer.decode(), told_at=time.monotonic()), file)
    os.rename(f"{home}/script-told.new", f"{home}/script-told")
"""

#: In kitty, as the module `race`. Each step of a round is a timer of the main loop.
DRIVER = r'''
import json, os, pathlib, socket, time
from kitty.fast_data_types import add_timer
from kitty.window import Window
from tallylight.actions import request
from tallylight.actions.caller import Caller, PERSON, Who
from tallylight.hosts.kitty import agent_list, answering, watcher
from tallylight.hosts.kitty.typist import WindowTypist
from tallylight.hosts.peers import Channel
from tallylight.model.status import Status
from tallylight.tracker.notify import Notice

host, writes, result = watcher.running(), [], {}
boss, home = host.boss, os.environ["HOME"]
real = Window.write_to_child

def write_to_child(window, data):
    writes.append((time.monotonic(), window.id, data if isinstance(data, str) else bytes(data).decode()))
    return real(window, data)

Window.write_to_child = write_to_child

def begin(agent_id, list_id):
    global agent, lamp, far, control, question, script
    agent, lamp = boss.window_id_map[agent_id], boss.window_id_map[list_id]
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    agent_list._lists[list_id] = agent_list._List(host, Channel(near), window_id=list_id)
    control, script = (os.open(f"{home}/{name}", os.O_RDWR) for name in ("control", "script-control"))
    question = None

def typist():
    return WindowTypist(host, agent, host.panes[agent.id])

def ask():
    """The question that the agent asks, once it is known to ask one."""
    global question
    question = answering.perform(host, request.LookRequest(str(agent.id), request.QUESTION), PERSON)
    return request.encode_reply(question).decode()

def text():
    chunks = []
    agent.screen.as_text(chunks.append, False, False)
    return "".join(chunks)

def tell(asked, at=0.0, below=False):
    os.write(control, json.dumps(dict(asked=asked, at=at, below=below)).encode() + b"\n")

def when(condition, then):
    def look(_timer):
        if condition():
            then()
        else:
            add_timer(look, 0.01, False)
    look(None)

def run(surface, line, after, words):
    """One round: the answer comes *after* seconds after the other dialog; without it for None."""
    first, second, between = words
    result.clear()
    del writes[:]

    def shown(asked, then):
        tell(asked)
        when(lambda: asked in text(), then)

    def forgotten():
        answering.once_of(host).look(typist())
        shown(first, lambda: add_timer(lambda _: set_off(), 0.05, False))

    def set_off():
        # Who has come is looked for at each tick; who is there is heard more often.
        at = time.monotonic() + (0.06 if surface != "script" else 2.5 * host.config.poll_s) + max(0.0, -(after or 0.0))
        if surface == "notification":
            prepare()
        if after is not None:
            tell(second, at)
        fires = max(at + (after or 0.0), time.monotonic() + 0.002)
        if surface == "script":
            told = dict(at=fires, line=line)
            os.write(script, json.dumps(told).encode() + b"\n")
            result["fired"] = fires
        else:
            add_timer(lambda _: fire(), fires - time.monotonic(), False)

    def prepare():
        notices = host.messages.notices
        caught = []
        show, type(notices)._question = notices._show, lambda _self, _id, _notice: question
        notices._show = lambda command, id_: caught.append(command)
        try:
            notices._send(Notice(str(agent.id), Status.WAITING, None, "claude", "", "asks", ""))
        finally:
            notices._show = show
        result["command"] = caught[0]

    def fire():
        result["fired"] = time.monotonic()
        if surface == "notification":
            host.boss.notification_manager.notify_with_command = hear_notice
            command = result.pop("command")
            command.on_activation(command, 1)
            return
        far.send(line.encode())
        agent_list.receive(lamp)
        when(hear, lambda: None)

    def hear_notice(command, _id):
        if command.title == "Not answered":
            result.update(told=command.body, told_at=time.monotonic())

    def hear():
        try:
            told = far.recv(65536)
        except BlockingIOError:
            return False
        result.update(told=told.decode(), told_at=time.monotonic())
        return True

    shown(between, forgotten)

def state():
    return dict(result={k: v for k, v in result.items() if k != "command"}, writes=writes)
'''


class Outcome(NamedTuple):
    """
    What became of one answer: `typed` before anything else was drawn, `refused` by the *rule*, typed into the `other`
    dialog, or `meanwhile`: handed over while the agent was writing. *delay* is from the answer to the keys, and *late*
    from the end of the agent's writing to the keys, both in seconds.
    """

    surface: str
    after: float | None
    what: str
    rule: str
    delay: float | None = None
    late: float | None = None


@attrs.define
class Race:
    """The race in the kitty of *board*."""

    board: Board
    agent: int
    question: Question
    _read: int = 0

    @classmethod
    def start(cls, board: Board) -> Self:
        """Open the agent, the window of the list and the script."""
        kitty = board.kitty
        (kitty.home / "screen").write_text(SCREEN.read_text("utf-8"))
        program = kitty.home / ".local/bin/claude"
        program.write_text(AGENT)
        program.chmod(0o755)
        (kitty.home / "script.py").write_text(SCRIPT)
        for name in ("control", "script-control"):
            kitty.run(["mkfifo", f"{kitty.home}/{name}"])
        settings = board.config_toml.read_text()
        super(Board, board).configure(f'{settings}\n[scripting]\nallow = "all"\n')
        agent = kitty.launch("claude", keep_focus=True)
        lamp = board.lamp("list")
        kitty.wait_text(agent, FIRST)
        board.wait_status(agent, "waiting")
        socket_ = next((kitty.runtime_dir / "tallylight").glob("kitty-*.sock"))
        kitty.launch("python3", f"{kitty.home}/script.py", str(socket_), keep_focus=True)
        code = "import sys, types\nrace = sys.modules['race'] = types.ModuleType('race')\n"
        kitty.eval(f"{code}exec({DRIVER!r}, vars(race))\nrace.begin({agent}, {lamp})")

        return cls(board, agent, kitty.wait_until(lambda: _ask(board), what="the question"))

    def ask(self) -> Question | None:
        """What the agent asks now, if that is a whole plain question."""
        return _ask(self.board)

    def notes(self) -> list[dict[str, Any]]:
        """What the agent has noted since the last call."""
        lines = (self.board.kitty.home / "race-log").read_text().splitlines()
        found, self._read = [json.loads(line) for line in lines[self._read :]], len(lines)
        return found

    def run(self, surface: str, after: float | None) -> Outcome:
        """One round: the answer comes *after* seconds after the other dialog, or before it; None: there is no other."""
        kitty = self.board.kitty
        line = encode(self.question.answer(1)).decode()
        told_file = kitty.home / "script-told"
        told_file.unlink(missing_ok=True)
        self.notes()
        words = (FIRST, SECOND, BETWEEN)
        kitty.eval(f"import race; race.run({surface!r}, {line!r}, {after!r}, {words!r})")
        notes: list[dict[str, Any]] = []

        def over() -> dict[str, Any] | None:
            notes.extend(self.notes())
            state: dict[str, Any] = kitty.eval("import race; return race.state()")
            result = state["result"]
            if surface == "script" and told_file.exists():
                result.update(json.loads(told_file.read_text()))
            is_typed = any(window == self.agent for _, window, _ in state["writes"])
            has_key = any(note["what"] == "key" for note in notes)
            if "told" in result:
                # Neither of the two may be of before the other.
                is_refused = surface == "notification" or isinstance(decode_reply(result["told"].encode()), Refusal)
                return state if has_key or (is_refused and not is_typed) else None
            return state if surface == "notification" and is_typed and has_key else None

        state = kitty.wait_until(over, 10, "the end of a round")
        return self._outcome(surface, after, state, notes)

    def _outcome(
        self, surface: str, after: float | None, state: dict[str, Any], notes: list[dict[str, Any]]
    ) -> Outcome:
        typed = [at for at, window, _ in state["writes"] if window == self.agent]
        other = next((note for note in notes if note["what"] == SECOND), None)
        result = state["result"]
        assert len(typed) <= 1, typed
        if not typed:
            told = result["told"]
            reply = decode_reply(told.encode())
            rule = reply.rule if isinstance(reply, Refusal) and surface != "notification" else told
            return Outcome(surface, after, "refused", rule)
        delay = typed[0] - result["fired"]
        if other is None or typed[0] < other["begun"]:
            return Outcome(surface, after, "typed", "", delay)
        late = typed[0] - other["done"]
        return Outcome(surface, after, "other" if late > 0 else "meanwhile", "", delay, late)


def _ask(board: Board) -> Question | None:
    found = decode_reply(board.kitty.eval("import race; return race.ask()").encode())
    return found if isinstance(found, Question) and found.is_plain and not found.missing else None
