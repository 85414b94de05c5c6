"""Who holds the foreground, as a table: argument lists, executables and children, and what they are."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import attrs

from tallylight.agents.agent import Agents, parse_agent
from tallylight.evidence.commands import unwrap
from tallylight.evidence.foreground import Identity, identify
from tallylight.evidence.process import Process, base_name, package_name, script_name
from tests.evidence.agents import AGENTS
from tests.tables import each

NODE = "/usr/bin/node"


def process(argv: str | tuple[str, ...], exe: str = "", comm: str = "", pid: int = 100, pgrp: int = 100) -> Process:
    words = tuple(argv.split()) if isinstance(argv, str) else argv
    return Process(pid, 1, pgrp, comm, words, exe, 5)


def below(argv: str, pid: int, ppid: int) -> Process:
    return attrs.evolve(process(argv, pid=pid), ppid=ppid)


def line(processes: Sequence[Process], process: Process) -> Iterator[Process]:
    """The processes above *process*, the first one left out."""
    above = {one.pid: one for one in processes[1:]}
    while (found := above.get(process.ppid)) is not None:
        yield found
        process = found


def who(*processes: Process) -> Identity:
    found = identify(processes, AGENTS, functools.partial(line, processes))
    if found.agent is not None:
        # What is looked for quickly in all processes of a directory finds what is looked at closely.
        words = ["\0".join((one.exe, *(one.argv if any(one.argv) else (one.comm,)))) for one in processes]
        assert any(map(found.agent.may_be, words)), words
    return found


def name_of(identity: Identity) -> str:
    return identity.agent.name if identity.agent else ""


@each(
    ("comm", "argv", "expected"),
    [
        ("codex", (), ("codex",)),
        # A divergence on purpose: the shell's script is a candidate, because somebody named it so.
        ("bash", ("bash", "/usr/bin/codex"), ("bash", "codex")),
        ("node", ("node", "/usr/bin/codex"), ("node", "codex")),
        ("python3", ("python3", "/home/u/.local/bin/aider"), ("python3", "aider")),
        ("node", ("node", "--inspect", "server.js"), ("node", "server")),
        ("node", ("node",), ("node",)),
        ("python3.12", ("python3.12", "-X", "dev", "-m", "aider"), ("python3.12", "aider")),
        ("sudo", ("sudo", "-u", "x", "npx", "-y", "@openai/codex"), ("sudo", "npx", "@openai/codex")),
        ("", (), ()),
        ("x", ("", "", ""), ("x",)),
    ],
)
def test_candidates(comm: str, argv: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """Candidates are the programs that the argument list names, outermost first."""
    names = [invocation.name for invocation in unwrap(argv, "", comm).invocations]
    assert tuple(dict.fromkeys(names)) == expected


# Rows of real agents: leader's comm, argv, executable; with Node 20 and with Node 24 where it differs.
REAL = [
    (
        "claude",
        "claude",
        "claude --permission-mode manual",
        "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe",
    ),
    ("claude", "claude", "claude", "/home/u/.local/share/claude/versions/2.1.329"),
    (
        "claude",
        "2.1.329",
        "/home/u/.local/share/claude/versions/2.1.329",
        "/home/u/.local/share/claude/versions/2.1.329",
    ),
    ("claude", "claude.exe", "/opt/claude.exe --resume 1", "/opt/claude.exe"),
    ("codex", "codex", "/n/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex", ""),
    ("codex", "node", "node /home/u/.npm/bin/codex", NODE),
    ("opencode", "opencode", "opencode", "/n/opencode-ai/bin/opencode.exe"),
    ("gemini", "MainThread", "node /n/.bin/gemini", NODE),
    ("gemini", "node", "node /n/.bin/gemini", NODE),
    ("gemini", "node", "/usr/bin/node --max-old-space-size=4096 /n/.bin/gemini", NODE),
    ("qwen", "MainThread", "node /n/.bin/qwen", NODE),
    ("qwen", "node", "node /n/.bin/qwen", NODE),
    ("qwen", "node", "node --expose-gc /usr/lib/node_modules/@qwen-code/qwen-code/dist/cli.js", NODE),
    ("copilot", "MainThread", "node /n/.bin/copilot", NODE),
    ("copilot", "MainThread", "/n/@github/copilot-linux-x64/copilot", "/n/@github/copilot-linux-x64/copilot"),
    ("kilo", "MainThread", "node /n/.bin/kilo", NODE),
    ("kilo", "node", "node /n/.bin/kilo", NODE),
    ("kilo", ".kilo", "/n/@kilocode/cli/bin/.kilo", "/n/@kilocode/cli/bin/.kilo"),
    ("amp", "amp", "amp", "/n/@ampcode/cli/bin/amp.exe"),
    ("aider", "aider", "/v/bin/python3 /v/bin/aider --model x", "/usr/bin/python3.11"),
    ("crush", "crush", "crush", "/usr/bin/crush"),
    ("goose", "goose", "goose session", "/usr/bin/goose"),
    ("goose", "goose", "goose", "/home/u/.local/bin/goose"),
    ("kimi", "kimi-code", "kimi-code", NODE),
    ("pi", "pi", "pi", NODE),
    ("auggie", "MainThread", "node /n/.bin/auggie", NODE),
    ("droid", "droid", "/n/@factory/cli-linux-x64/bin/droid", "/n/@factory/cli-linux-x64/bin/droid"),
    ("grok", "MainThread", "node /n/.bin/grok", NODE),
    ("grok-build", "grok", "grok", "/n/@xai-official/grok-linux-x64/bin/grok"),
    ("nanocoder", "MainThread", "node /n/.bin/nanocoder", NODE),
    ("vibe", "vibe-rs", "/v/site-packages/vibe/_bin/vibe-rs", "/v/site-packages/vibe/_bin/vibe-rs"),
    ("vibe", "vibe", "/v/bin/python3 /v/bin/vibe", "/usr/bin/python3.13"),
    ("cline", "cline", "/n/@cline/cli-linux-x64/bin/cline", "/n/@cline/cli-linux-x64/bin/cline"),
    ("cursor-agent", "node", "/h/.local/bin/cursor-agent --use-system-ca /h/x/index.js", "/h/x/node"),
    (
        "cursor-agent",
        "MainThread",
        "/h/.local/bin/agent --use-system-ca /h/.local/share/cursor-agent/versions/1/index.js",
        "/h/.local/share/cursor-agent/versions/1/node",
    ),
]


@each(("name", "comm", "argv", "exe"), REAL)
def test_real_agents(name: str, comm: str, argv: str, exe: str) -> None:
    """The leader of each real agent is known, whatever Node calls its threads, and is the agent's own process."""
    found = who(process(argv, exe, comm))

    assert (name_of(found), found.is_direct, found.is_remote, found.is_open) == (name, True, False, False)
    assert found.rule


def test_real_agents_are_all_there() -> None:
    """Every packaged agent has a row."""
    assert {row[0] for row in REAL} == {agent.name for agent in AGENTS}


def test_process_title_padding() -> None:
    """Empty arguments, left behind by a program that set its title, change nothing."""
    for name, comm, argv, exe in REAL:
        assert name_of(who(process((*argv.split(), "", "", ""), exe, comm))) == name


@each(
    ("argv", "name"),
    [
        ("npx -y @anthropic-ai/claude-code", "claude"),
        ("npx @anthropic-ai/claude-code@2.1.329 --resume 1", "claude"),
        ("npx -p @openai/codex codex", "codex"),
        ("npx --package=@openai/codex codex", "codex"),
        ("npx codex", "codex"),
        ("node /usr/bin/npx -y @google/gemini-cli", "gemini"),
        ("node /usr/lib/node_modules/npm/bin/npx-cli.js -y @google/gemini-cli", "gemini"),
        ("npm exec -- @qwen-code/qwen-code", "qwen"),
        ("npm exec @qwen-code/qwen-code", "qwen"),
        ("npm x @qwen-code/qwen-code", "qwen"),
        ("pnpm dlx @openai/codex", "codex"),
        ("pnpm exec claude", "claude"),
        ("pnpx @openai/codex", "codex"),
        ("yarn dlx @openai/codex", "codex"),
        ("bunx opencode-ai", "opencode"),
        ("bun x opencode-ai@latest", "opencode"),
        ("bun run /n/.bin/gemini", "gemini"),
        ("deno run -A npm:@google/gemini-cli", "gemini"),
        ("uv run aider --model x", "aider"),
        ("uv run --with x -p 3.12 aider", "aider"),
        ("uv run -m aider", "aider"),
        ("uv run python -m aider", "aider"),
        ("uv tool run aider-chat", "aider"),
        ("uv --directory /x run aider", "aider"),
        ("uvx aider-chat@0.86", "aider"),
        ("uvx --from aider-chat aider", "aider"),
        ("pipx run aider-chat==0.86.2", "aider"),
        ("poetry run aider", "aider"),
        ("env FOO=1 claude", "claude"),
        ("env -i -u X PATH=/bin claude --resume 1", "claude"),
        ("/usr/bin/env FOO=1 node /n/.bin/gemini", "gemini"),
        ("sudo -u x claude", "claude"),
        ("sudo -E FOO=1 -- claude", "claude"),
        ("doas -u x claude", "claude"),
        ("nice -n 5 claude", "claude"),
        ("nice -5 claude", "claude"),
        ("nice --adjustment=5 claude", "claude"),
        ("ionice -c 2 -n 7 claude", "claude"),
        ("time -p claude", "claude"),
        ("timeout 5 claude", "claude"),
        ("timeout -s KILL -k 5 1h claude", "claude"),
        ("timeout -- 5 claude", "claude"),
        ("nohup claude", "claude"),
        ("stdbuf -oL -i 0 claude", "claude"),
        ("setsid -w claude", "claude"),
        ("taskset 0x1 claude", "claude"),
        ("script -q -- claude --resume 1", "claude"),
        ("mise exec node@22 -- claude", "claude"),
        ("mise x -- claude", "claude"),
        ("direnv exec . claude", "claude"),
        ("conda run -n env aider", "aider"),
        ("op run --env-file=x -- claude", "claude"),
        ("tally run claude", "claude"),
        ("tally run -- claude --resume 1", "claude"),
        ("/v/bin/python3 /v/bin/tally run -- node /n/.bin/gemini", "gemini"),
        ("python3 -m tallylight run claude", "claude"),
        ("tally record out.cast -- claude", "claude"),
        ("python3 -m aider.main", "aider"),
        ("sudo nice env A=b timeout 5 npx -y @openai/codex", "codex"),
    ],
)
def test_seen_through(argv: str, name: str) -> None:
    """Runners and wrappers in front of an agent do not hide it, and are not taken for its own process."""
    found = who(process(argv))

    assert name_of(found) == name
    direct = argv.startswith(("python3 -m aider", "bun run"))
    assert (found.is_direct, found.is_open) == (direct, not direct)


@each(
    "argv",
    [
        ("bash", "-c", "claude --resume 1"),
        ("sh", "-lc", "exec claude"),
        ("bash", "-ic", "FOO=1 command claude"),
        ("zsh", "-c", "env A=1 claude"),
        ("fish", "--command", "claude"),
        ("script", "-qc", "claude", "/dev/null"),
        ("script", "-c", "claude --resume 1"),
        ("script", "--command=claude", "f"),
        ("su", "-", "x", "-c", "claude"),
        ("env", "-S", "claude --resume 1"),
        ("npm exec @anthropic-ai/claude-code", "", "", ""),
        ("sudo", "bash", "-c", "npx -y '@anthropic-ai/claude-code'"),
        ("bash", "--norc", "/home/u/bin/claude"),
        ("sh", "-eu", "/home/u/bin/claude"),
    ],
)
def test_seen_through_shell(argv: tuple[str, ...]) -> None:
    """A shell's one command, a title that npm made of its arguments and a script named as the agent are the agent."""
    found = who(process(argv))

    assert (name_of(found), found.is_direct) == ("claude", False)


PLAIN = [
    "bash",
    "-bash",
    "zsh -l",
    "node server.js",
    "node /home/u/claude/server.js",
    "node -e claude",
    "node -p claude claude",
    "npm run dev",
    "npm",
    "npm install @anthropic-ai/claude-code",
    "npm run claude",
    "vim",
    "vim claude.md",
    "vim claude",
    "grep claude",
    "cat claude",
    "man claude",
    "less claude",
    "tail -f claude",
    "which claude",
    "git commit -m claude",
    "git claude",
    "python3 manage.py claude",
    "python3 -c claude",
    "python3 -m http.server claude",
    "python3 -m manage.claude",
    "sudo -u claude bash",
    "sudo -u claude",
    "env claude=1",
    "timeout 5 vim claude",
    "timeout claude",
    "nice -n claude vim",
    "uv pip install aider-chat",
    "uv run pytest aider",
    "pipx install aider-chat",
    "tally status",
    "tally why claude",
    "tally hook claude Stop",
    "tally",
    "tmux new claude",
    "xargs claude",
    "watch claude",
    "/home/u/claude/bin/thing",
    "/n/@anthropic-ai/claude-code/vendor/ripgrep/rg x",
    "claude-squad",
    "claude.md",
    "Claude",
    "claudе",  # the last letter is Cyrillic
    "сlaude",
    "ｃｌａｕｄｅ",
    "cl\u200baude",
    "codex\u0301",
    "agent",
    "pi",
    "amp",
    "goose",
    "goose postgres up",
    "goose status",
    "/usr/bin/kilo notes.txt",
    "copilot svc deploy",
    "node agent.js",
    "python3 goose.py",
]


@each("argv", PLAIN)
def test_no_agent(argv: str) -> None:
    """Whatever merely mentions an agent, has a common word for a name, or looks like one, is none."""
    found = who(process(argv))

    assert (name_of(found), found.is_remote) == ("", False)


@each(
    "argv",
    [
        "claude mcp serve",
        "claude --version",
        "claude -v",
        "claude -p hello",
        "claude --model opus --print hello",
        "claude --debug-file x doctor",
        "claude --output-format json --print",
        "codex app-server --listen unix:// --managed-daemon",
        "codex -m gpt-5 exec fix",
        "node /n/.bin/codex app-server",
        "opencode serve --port 1",
        "opencode run hello",
        "node /n/.bin/gemini -p hello",
        "node /n/.bin/gemini --prompt=hello",
        "aider --message hello",
        "npx -y @anthropic-ai/claude-code --version",
        "sudo claude mcp serve",
        "goose run -t x",
    ],
)
def test_not_a_conversation(argv: str) -> None:
    """An agent's servers, one-shots and subcommands are no agent that a person talks to; nobody asks their children."""
    found = who(process(argv), process("claude", pid=101))

    assert (name_of(found), found.is_open) == ("", False)
    assert "is not a conversation" in found.rule


@each(
    "argv",
    [
        "claude --resume mcp",
        "claude --model opus",
        "claude fix it -- --version",
        ("claude", "please run -p"),
        ("claude", "explain", "mcp"),
        "codex -c a=b resume 1",
        "claude --continue",
    ],
)
def test_conversation(argv: str | tuple[str, ...]) -> None:
    """The value of an option, a later word and what stands behind `--` do not make an agent a server."""
    assert who(process(argv)).agent is not None


@each(
    "argv",
    [
        "ssh host claude",
        "ssh host",
        "mosh host -- claude",
        "mosh-client -# host claude",
        "docker run -it image claude",
        "podman exec -it c claude",
        "kubectl exec -it pod -- claude",
        "sudo docker exec c claude",
        "env A=1 ssh host",
        "sshpass -p x ssh host claude",
        "tally run -- ssh host claude",
        "kitten ssh host",
        "wezterm ssh host",
        "gh codespace ssh",
        "perl /usr/bin/mosh host",
        ("bash", "-c", "ssh host claude"),
    ],
)
def test_remote(argv: str | tuple[str, ...]) -> None:
    """What runs behind ssh, docker and the like is of another machine and never an agent of this one."""
    found = who(process(argv))

    assert (name_of(found), found.is_remote) == ("", True)


@each(
    ("argv", "far"),
    [
        ("ssh cart", "cart"),
        ("ssh -p 22 -o BatchMode=yes me@cart claude", "cart"),
        ("ssh ssh://me@cart:22", "cart"),
        ("ssh me@2001:db8::1", "2001:db8::1"),
        ("sudo ssh -i key cart", "cart"),
        ("mosh --port 60001 cart", "cart"),
        ("mosh-client -# cart | 10.0.0.1 60001", "cart"),
        ("kitten ssh cart", "cart"),
        ("docker exec -it -u me shop-db claude", "shop-db"),
        ("podman container exec shop-db bash", "shop-db"),
        ("kubectl -n prod exec -it pod/api-7 -- claude", "api-7"),
        ("distrobox enter box", "box"),
        ("gcloud compute ssh vm-1", "vm-1"),
        ("docker run -it image", ""),
        ("ssh", ""),
        ("gh codespace ssh", ""),
    ],
)
def test_a_far_machine_is_called_as_it_was_typed(argv: str, far: str) -> None:
    """The host, container or pod among the arguments, without a user, a port or an option's value."""
    found = who(process(argv))
    assert (found.is_remote, found.far) == (True, far)


def test_children_tell_the_process() -> None:
    """Behind a wrapper the child that is the agent tells the process id, in whatever group it is."""
    found = who(
        process("sudo -u x claude"),
        process("sudo -u x claude", pid=101, pgrp=101),
        process("claude", pid=102, pgrp=102),
    )

    assert found.process is not None and found.leader is not None
    assert (name_of(found), found.process.pid, found.leader.pid, found.is_direct) == ("claude", 102, 100, True)


def test_children_of_another_agent_do_not_tell() -> None:
    """A child that is another agent is not taken for the one that the wrapper names."""
    found = who(process("npx -y @anthropic-ai/claude-code"), process("codex", pid=101))

    assert found.process is not None
    assert (name_of(found), found.process.pid) == ("claude", 100)


@each(
    "argv",
    [
        ("npm", "run", "agent"),
        ("bash", "./start.sh"),
        ("bash", "-c", "cd /x && claude"),
        ("node", "start.js"),
        ("bash",),
        ("elvish",),
        ("make", "chat"),
        ("git", "chat"),
        ("nvim",),
        ("fence", "claude"),
        ("bwrap", "--unshare-pid", "claude"),
        ("tclsh8.6", "/usr/bin/unbuffer", "-p", "claude"),
        ("anything", "at", "all"),
    ],
)
def test_an_agent_behind_a_leader(argv: tuple[str, ...]) -> None:
    """An agent that has the foreground of a terminal is the pane's, whatever leads to it; no other is."""
    leader, child, other = process(argv), below("claude", 102, 101), below("sleep 1", 101, 100)

    assert name_of(who(leader)) == ""
    found = who(leader, other, child)
    assert (name_of(found), found.process, found.leader) == ("claude", child, leader)
    assert (found.is_direct, found.is_behind, found.is_open) == (True, True, False)
    assert name_of(who(leader, other)) == ""


@each(
    "wall",
    [
        "claude -p hello",
        "claude mcp serve",
        "codex exec fix",
        "ssh host",
        "docker run image",
        "tmux new",
        "screen",
        "kitty",
        "wezterm-gui",
    ],
)
def test_nobody_looks_behind_these(wall: str) -> None:
    """What an agent's one-shot, another machine or a terminal started is no agent of the pane, in front or deeper."""
    inner = process(wall, exe="/usr/bin/" + wall.split()[0])
    behind = attrs.evolve(inner, pid=101, ppid=100), below("sh -c x", 102, 101), below("claude", 103, 102)

    assert name_of(who(process("make"), *behind)) == ""
    assert name_of(who(inner, below("sh -c x", 101, 100), below("claude", 102, 101))) == ""
    assert name_of(who(process("make"), *behind, below("codex", 104, 100))) == "codex"


def test_leader_is_dead() -> None:
    """If the leader of a pipeline is gone, the rest of its group stands in."""
    found = who(process("tee log", pid=101), process("claude", pid=102))

    assert (name_of(found), found.leader) == ("claude", None)
    assert name_of(who(process("tee log", pid=101))) == ""
    assert who().agent is None


def test_title_as_second_sign() -> None:
    """A name that lacks its second sign is doubtful until the pane's title gives it."""
    text = 'name="pi"\ngeneric=["pi"]\n[sign]\ntitles=["π - "]'
    agents = Agents([parse_agent(text, "pi.toml")])
    found = identify([process("pi", exe=NODE)], agents)

    assert found.agent is None
    assert found.with_title("pi - x").agent is None
    assert name_of(found.with_title("π - x")) == "pi"
    assert who(process("vim")).with_title("π - x").agent is None


def test_bounds() -> None:
    """Wrappers without end and arguments without end are read to a bound."""
    assert name_of(who(process(("nohup",) * 100 + ("claude",)))) == ""
    assert name_of(who(process(("claude",) + ("x" * 1000,) * 10_000))) == "claude"
    assert name_of(who(process(("bash", "-c", "claude " + "x" * 100_000)))) == ""


@each("text", ["'", "claude '", "$(claude)", "claude; ls", "ls | claude", "claude &", "", "(", "\0"])
def test_shell_commands_not_understood(text: str) -> None:
    """A shell command that is not one simple command decides nothing."""
    assert name_of(who(process(("bash", "-c", text)))) == ""


def test_names() -> None:
    """A base name has no directories, login dash, dot, `.exe` or packager's suffix."""
    assert [
        base_name(w)
        for w in (
            "/x/-bash",
            ".kilo",
            "claude.exe",
            "/nix/s/.claude-wrapped",
            "/n/.claude-unwrapped",
            "/x/claude (deleted)",
        )
    ] == [
        "bash",
        "kilo",
        "claude",
        "claude",
        "claude",
        "claude",
    ]
    assert [script_name(w) for w in ("/x/gemini.mjs", "a.cjs", "b.py", "c.js", "d.md")] == [
        "gemini",
        "a",
        "b",
        "c",
        "d.md",
    ]
    assert [package_name(w) for w in ("@a/b@1", "@a/b", "npm:@a/b@^1", "x==1.2", "x[y]", "x@latest", "x", "")] == [
        "@a/b",
        "@a/b",
        "@a/b",
        "x",
        "x",
        "x",
        "x",
        "",
    ]
