"""
Ways to start a program below an agent, and what each makes of it: by hand as a process table, and as real processes.

The agent `codex` (pid 50) runs in the shell (pid 40) of a pane; `tally` (pid 90) is what it has started.
"""

from __future__ import annotations

import attrs

from tallylight.actions.caller import Who
from tallylight.evidence.process import Process
from tests.actions.callers import Hand
from tests.evidence.agents import AGENTS as AGENTS

ASKER, AGENT, SHELL, KITTY, TMUX = 90, 50, 40, 30, 35
#: The numbers of terminals: of the pane, and others.
PANE_TTY, OWN_TTY, OTHER_TTY = 100, 101, 102


def made(pid: int, ppid: int, name: str, start: int = 0, exe: str = "") -> Process:
    """A process by its name."""
    return Process(pid, ppid, pid, name, (name,), exe or f"/usr/bin/{name}", start or pid)


#: The terminal around it all, by the surface that is asked: this kitty, or a tmux that anybody asks.
AROUND = {KITTY: made(KITTY, 1, "kitty"), TMUX: made(TMUX, 1, "tmux")}


@attrs.frozen
class Way:
    """
    How the program is started: the processes between it and what goes on, the last of them below *above*; and who it
    is for kitty, and for what asks from outside of it. *real* is the same in the shell of a real agent, which starts
    `$PROBE`; nothing where it cannot be had by a shell.
    """

    in_kitty: Who
    elsewhere: Who
    above: int = AGENT
    between: tuple[Process, ...] = ()
    terminals: tuple[tuple[int, int], ...] = ((ASKER, PANE_TTY),)
    asker: str = "tally"
    exe: str = "/usr/bin/python3"
    real: str = ""

    def table(self, terminal: int) -> Hand:
        """The processes, in a pane of *terminal*."""
        first = self.between[0].pid if self.between else self.above
        line = [attrs.evolve(one, start=one.pid * 10) for one in self.between]
        around = {1: made(1, 0, "init"), terminal: AROUND[terminal], TMUX: AROUND[TMUX]}
        return Hand(
            *around.values(),
            made(SHELL, terminal, "bash", SHELL * 10),
            made(AGENT, SHELL, "codex", AGENT * 10),
            *line,
            Process(ASKER, first, ASKER, self.asker, (self.asker, "send"), self.exe, ASKER * 10),
            terminals={SHELL: PANE_TTY, AGENT: PANE_TTY, **dict(self.terminals)},
        )


_A, _S, _U, _T = Who.AGENT, Who.SCRIPT, Who.UNKNOWN, Who.STRAY
_NO_TTY = ((ASKER, 0),)
SH = made(60, AGENT, "sh")

#: Sixteen that have nothing of their own to call themselves, and five more.
WAYS: dict[str, Way] = {
    "a plain child": Way(_A, _A, real="$PROBE"),
    "a child of a shell": Way(_A, _A, between=(SH,), real="sh -c '$PROBE; true'"),
    "a background job": Way(_A, _A, between=(SH,), real="sh -c '$PROBE & wait'"),
    "nohup": Way(_A, _A, real="nohup $PROBE >/dev/null 2>&1"),
    "setsid": Way(_A, _A, terminals=_NO_TTY, real="sh -c 'setsid -w $PROBE'"),
    "a double fork": Way(_U, _U, above=1, real="sh -c '$PROBE &'; sleep 100"),
    "a double fork and setsid": Way(_U, _U, above=1, terminals=_NO_TTY, real="sh -c 'setsid $PROBE &'; sleep 100"),
    "fork, setsid, fork, with the middle gone": Way(
        _U, _U, above=1, terminals=_NO_TTY, real="sh -c 'setsid sh -c \"$PROBE & true\"'; sleep 100"
    ),
    "exec over the shell of the agent": Way(_A, _A, real="sh -c 'exec $PROBE'"),
    "env -i": Way(_A, _A, real="env -i $PROBE"),
    "a terminal of its own": Way(
        _A, _A, between=(made(61, AGENT, "script"),), terminals=((ASKER, OWN_TTY), (61, PANE_TTY)),
        real="script -qec $PROBE /dev/null </dev/null",
    ),
    "a terminal of its own, as an orphan": Way(
        _U, _U, above=1, between=(made(61, 1, "script"),), terminals=((ASKER, OWN_TTY),),
        real="setsid sh -c 'script -qec $PROBE /dev/null </dev/null & true'; sleep 100",
    ),
    "the tmux of the person": Way(
        _U, _S, above=TMUX, between=(made(62, TMUX, "sh"),), terminals=((ASKER, OTHER_TTY), (62, OTHER_TTY)),
        real="tmux -S $FOLDER/person new-session -d $PROBE; sleep 100",
    ),
    "a tmux of its own": Way(
        _U, _S, above=1, between=(made(64, 63, "sh"), made(63, 1, "tmux")),
        terminals=((ASKER, OTHER_TTY), (64, OTHER_TTY)), real="tmux -S $FOLDER/own new-session -d $PROBE; sleep 100",
    ),
    "another name, and a copied interpreter": Way(
        _A, _A, asker="vim", exe="/tmp/x/vim", real="cp $PYTHON $FOLDER/vim; $FOLDER/vim $PROBE.py",
    ),
    "a reaper of its own in between": Way(
        _A, _A, between=(made(66, AGENT, "python3"),), terminals=_NO_TTY, real="$PYTHON $FOLDER/reaper.py $PROBE",
    ),
}  # fmt: skip
#: And those that say what they are not, or that need more than the person has.
MORE: dict[str, Way] = {
    "an orphan that is called like an agent": Way(
        _T, _T, above=1, between=(made(68, 1, "claude"),), terminals=_NO_TTY,
        real="sh -c 'setsid $FOLDER/claude -c \"$PROBE; true\" &'; sleep 100",
    ),
    "a job of tmux, in no pane": Way(
        _U, _U, above=TMUX, between=(made(62, TMUX, "sh"),), terminals=_NO_TTY,
        real="tmux -S $FOLDER/person run-shell -b $PROBE; sleep 100",
    ),
    "a copy of a terminal, as an orphan": Way(
        _U, _S, above=1, between=(made(69, 1, "python3", exe="/tmp/x/xterm"),), terminals=((ASKER, OTHER_TTY),),
    ),
    "a terminal below the agent": Way(
        _A, _A, between=(made(69, AGENT, "xterm"),), terminals=((ASKER, OTHER_TTY),),
    ),
    "a process namespace": Way(
        _A, _A, between=(made(67, AGENT, "unshare"),), real="unshare --pid --fork $PROBE",
    ),
}  # fmt: skip
