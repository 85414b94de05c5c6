"""
`tally shell-init`: print code for a shell that runs the known agents through the relay.

A user's own rc file is never edited: the last lines explain the line to add to it. Each shell has its template in
`tallylight/cli/shells`, a whole script except for the agents' names; all have the same sections. Every new shell waits
for it. So without agent files of the user's own it loads only the names, which are prepared.
"""

from __future__ import annotations

import os
import sys

from tallylight.agents import agent_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.agents.agent import Agents
    from tallylight.cli.parser import Parser

TEMPLATES = {"bash": "bash.sh", "zsh": "zsh.zsh", "fish": "fish.fish"}
#: The placeholder of the names in a template.
PLACEHOLDER = "@AGENTS@"
#: A name without special characters for a shell. Other names from a user's file are left out.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
#: Words of the shells themselves: an agent may have such a name, but must not replace theirs.
_RESERVED = frozenset(
    word
    for words in (
        "alias and begin bg bind break builtin case cd command complete contains continue coproc count declare dirs",
        "disown do done echo elif else emulate enable end esac eval exec exit export false fc fg fi for function",
        "functions getopts hash help history if in isatty jobs kill let local logout mapfile math not nocorrect",
        "noglob or popd print printf psub pushd pwd random read readarray readonly repeat return select set setopt",
        "shift shopt source status string suspend switch tally test then time times trap true type typeset ulimit",
        "umask unalias unset until vared wait whence where which while zle",
    )
    for word in words.split()
)


def make_parser() -> Parser:
    from tallylight.cli.parser import Parser

    parser = Parser(
        prog="tally shell-init",
        description="Print code that runs the known agents through the relay. Its last line says where to put it.",
        examples={
            'eval "$(tally shell-init bash)"': "in ~/.bashrc; zsh the same in ~/.zshrc",
            "tally shell-init fish | source": "in ~/.config/fish/config.fish",
        },
    )
    parser.add_argument("shell", choices=tuple(TEMPLATES))
    return parser


def main(argv: list[str]) -> int:
    """Print the code for one shell."""
    shell = argv[0] if len(argv) == 1 and argv[0] in TEMPLATES else make_parser().parse_args(argv).shell
    if any(agent_files.of_user(os.environ)):
        from tallylight.cli.output import complain

        agents, errors = agent_files.load_agents(os.environ)
        complain("shell-init", *errors)
        found = names(agents)
    else:
        from tallylight.agents.names import NAMES

        found = sorted({name for agent in NAMES for name in agent.get("processes", ())})
    sys.stdout.write(render(shell, found))
    return 0


def names(agents: Agents) -> list[str]:
    """
    Return the names that a person types to start an agent, in order.

    Only unique names of an agent count: `agent` and `copilot` may be anything. A shell's or an interpreter's name never
    counts, even from a user's file.
    """
    import re

    from tallylight.evidence.commands import interpreter_name

    found = {name for agent in agents for name in agent.processes} - _RESERVED
    return sorted(name for name in found if re.fullmatch(_NAME, name, re.ASCII) and not interpreter_name(name))


def render(shell: str, agents: list[str]) -> str:
    """Return the code for *shell*."""
    folder = os.path.dirname(__file__)  # noqa: PTH120 - `pathlib` would cost more than all the rest
    with open(f"{folder}/shells/{TEMPLATES[shell]}", encoding="utf-8") as template:  # noqa: PTH123
        text = template.read()
    return text.replace(PLACEHOLDER, " ".join(f"'{name}'" for name in agents))
