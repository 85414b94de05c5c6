"""Strangers: which process and which file a program is that no agent file names."""

from __future__ import annotations

from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.evidence.stranger import process_and_file, stranger
from tests.actions.known import AGENTS, process
from tests.parts.conversations.test_forking import HandTable
from tests.tables import each

NODE = "/usr/bin/node"


def found(*processes: Process) -> tuple[int, str] | None:
    """The process and the file of the stranger whose foreground these are, the leader first."""
    known = process_and_file(identify(processes, AGENTS), HandTable("/w", "", {p.pid: p for p in processes}))
    return (known[0].pid, known[1]) if known is not None else None


@each(
    ("argv", "exe", "file"),
    [
        (("zebra", "--quiet"), "/opt/zebra", "/opt/zebra"),
        (("zebra",), "/opt/zebra/versions/1.2.3", "/opt/zebra/versions/1.2.3"),
        (("zebra",), "/opt/zebra (deleted)", "/opt/zebra"),
        (("/usr/bin/python3", "-I", "/home/me/bin/zebra"), "/usr/bin/python3.12", "/home/me/bin/zebra"),
        ((NODE, "/v/node_modules/zebra/cli.js"), NODE, "/v/node_modules/zebra/cli.js"),
        (("node", "/v/bin/zebra.js", "chat"), NODE, "/v/bin/zebra.js"),
        # Where it was started may have been another directory, and what wrote its own title tells no script.
        (("node", "bin/zebra"), NODE, ""),
        (("python3", "-m", "zebra"), "/usr/bin/python3", ""),
        (("zebra",), NODE, ""),
        (("zebra",), "", ""),
        (("bash", "/home/me/bin/zebra"), "/usr/bin/bash", ""),
        (("npx", "zebra"), NODE, ""),
        # These are no strangers: known, ordinary, of another machine, or without a name.
        (("claude",), "/opt/claude", ""),
        (("vim", "zebra"), "/usr/bin/vim", ""),
        (("sudo", "zebra"), "/usr/bin/sudo", ""),
        (("ssh", "zebra"), "/usr/bin/ssh", ""),
        (("bash",), "/usr/bin/bash", ""),
        (("zebra",), "/usr/bin/vim.basic", ""),
        ((NODE, "/v/cli.js"), NODE, ""),
        # `amp` is the name of an agent that needs a second sign.
        (("amp", "x"), "/opt/amp", ""),
    ],
)
def test_its_file(argv: tuple[str, ...], exe: str, file: str) -> None:
    """It is the executable, or the script that its interpreter was given by its whole path; else it is not known."""
    own = Process(20, 10, 20, argv[0][:15], argv, exe, 200)

    assert found(own) == ((20, file) if file else None)


def test_behind_a_relay_and_a_runner() -> None:
    """What a command only leads to is found among its children, whatever group they are in."""
    relay = process(
        "/usr/bin/python3", "/home/me/.local/bin/tally", "run", "--", "npx", "zebra", exe="/usr/bin/python3"
    )
    again = process(*relay.argv, pid=21, ppid=20, exe=relay.exe)
    runner = process("npx", "zebra", pid=30, ppid=20, pgrp=30, exe=NODE)
    other = process("helper", pid=31, ppid=20, pgrp=30, exe="/opt/helper")
    own = process("node", "/v/.bin/zebra", pid=32, ppid=20, pgrp=30, exe=NODE)

    assert found(relay, again, runner, other, own) == (32, "/v/.bin/zebra")
    assert found(relay, again, runner, other) is None


def test_all_that_it_may_ask_for_names_one_conversation() -> None:
    """A list has the program, the session id once, and no option of one letter."""
    agent = stranger("zebra")
    for words in agent.lists:
        assert words[0] == "zebra"
        assert words.count("{session}") == 1
        assert all(len(word) > 2 for word in words)
    # No list is for both: a fork leaves the old conversation alone.
    assert not {*agent.resume.lists} & {*agent.fork.lists}
