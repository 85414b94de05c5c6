"""
Ways to start a program below an agent, and what each makes of it: by hand as a process table, and as real processes.

The agent `codex` (pid 50) runs in the shell (pid 40) of a pane; `tally` (pid 90) is what it has started.
"""

from __future__ import annotations

import attrs

from tallylight.actions.caller import Who
from tallylight.evidence.process import Process
from tests.actions.callers import NULL, ZERO, Hand
from tests.evidence.agents import AGENTS as AGENTS

ASKER, AGENT, SHELL, KITTY, TMUX = 90, 50, 40, 30, 35
#: The numbers of terminals: of the pane, and others; and of the person's own window.
PANE_TTY, OWN_TTY, OTHER_TTY, WINDOW_TTY = 100, 101, ZERO, NULL


def made(pid: int, ppid: int, name: str, start: int = 0, exe: str = "", *words: str) -> Process:
    """A process by its name; *words* are its arguments."""
    return Process(pid, ppid, pid, name, (name, *words), exe or f"/usr/bin/{name}", start or pid)


def shell(pid: int, ppid: int) -> Process:
    """A shell that runs a program for somebody else."""
    return made(pid, ppid, "sh", 0, "", "-c", "tally send; true")


#: The terminal around it all, by the surface that is asked: this kitty, or a tmux that anybody asks; and the window in
#: which the person has attached to that tmux.
AROUND = {KITTY: made(KITTY, 1, "kitty"), TMUX: made(TMUX, 1, "tmux")}
WINDOW = (made(20, 1, "foot"), made(21, 20, "bash"), made(22, 21, "tmux"))
WINDOW_TTYS = {21: WINDOW_TTY, 22: WINDOW_TTY}
#: By what the client of the person, and others, are connected.
ATTACHED = {22: ("socket:[2]",), TMUX: ("socket:[3]",)}


@attrs.frozen
class Way:
    """
    How the program is started: the processes between it and what goes on, the last of them below *above*; and who it
    is for kitty, and for what asks from outside of it. *real* is the same in the shell of a real agent, which starts
    `$PROBE`; nothing where it cannot be had by a shell, or not here. *files* are what the processes have open, *owners*
    those of other users.
    """

    in_kitty: Who
    elsewhere: Who
    above: int = AGENT
    between: tuple[Process, ...] = ()
    terminals: tuple[tuple[int, int], ...] = ((ASKER, PANE_TTY),)
    asker: str = "tally"
    exe: str = "/usr/bin/python3"
    real: str = ""
    files: tuple[tuple[int, str], ...] = ()
    owners: tuple[tuple[int, int], ...] = ()

    def table(self, terminal: int) -> Hand:
        """The processes, in a pane of *terminal*."""
        first = self.between[0].pid if self.between else self.above
        line = [attrs.evolve(one, start=one.pid * 10) for one in self.between]
        return Hand(
            made(1, 0, "init"),
            *AROUND.values(),
            *(attrs.evolve(one, start=one.pid * 10) for one in WINDOW),
            made(SHELL, terminal, "bash", SHELL * 10),
            made(AGENT, SHELL, "codex", AGENT * 10),
            *line,
            Process(ASKER, first, ASKER, self.asker, (self.asker, "send"), self.exe, ASKER * 10),
            terminals={SHELL: PANE_TTY, AGENT: PANE_TTY, **WINDOW_TTYS, **dict(self.terminals)},
            owners=dict(self.owners),
            files=ATTACHED | {pid: (path,) for pid, path in self.files},
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
        _U, _S, above=TMUX, between=(shell(62, TMUX),), terminals=((ASKER, OTHER_TTY), (62, OTHER_TTY)),
        real="tmux -S $FOLDER/person new-session -d $PROBE; sleep 100",
    ),
    "a tmux of its own": Way(
        _U, _S, above=1, between=(shell(64, 63), made(63, 1, "tmux")),
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
        _U, _U, above=TMUX, between=(shell(62, TMUX),), terminals=_NO_TTY,
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
#: Nothing of it is left in the machine's own.
_OWN_SPOOL = (
    "for at in /run /etc/cron.d /var/spool/cron; do mount -t tmpfs own $at; done; cd /var/spool/cron; "
    "mkdir atjobs atspool; chown daemon: atjobs atspool; touch atjobs/.SEQ; chown daemon: atjobs/.SEQ; cd /"
)
#: What else runs programs in terminals of its own, started by the agent. None of it makes a person.
SIBLINGS: dict[str, Way] = {
    "`expect`": Way(
        _A, _A, between=(made(61, AGENT, "expect"),), terminals=((ASKER, OWN_TTY), (61, PANE_TTY)),
        real="expect -c 'spawn $env(PROBE); expect eof'",
    ),
    "`dtach`": Way(
        _U, _U, above=1, between=(made(61, 1, "dtach"),), terminals=((ASKER, OWN_TTY),),
        real="dtach -n $FOLDER/own $PROBE; sleep 100",
    ),
    "`abduco`": Way(_U, _U, above=1, between=(made(61, 1, "abduco"),), terminals=((ASKER, OWN_TTY),)),
    "GNU Screen": Way(
        _U, _S, above=1, between=(made(61, 1, "screen"),), terminals=((ASKER, OWN_TTY),),
        real="screen -dmS tallylight-own $PROBE; sleep 100",
    ),
    "a tmux that it is attached to": Way(
        _U, _S, above=1, between=(made(61, 1, "tmux"), made(65, AGENT, "script"), made(66, 65, "tmux")),
        terminals=((ASKER, OWN_TTY), (65, PANE_TTY), (66, OTHER_TTY)), files=((61, "socket:[5]"), (66, "socket:[4]")),
        real="script -qec \"tmux -S $FOLDER/own new-session $PROBE\" /dev/null </dev/zero >/dev/null",
    ),
    "a window of the person's tmux": Way(
        _U, _S, above=TMUX, terminals=((ASKER, OTHER_TTY),),
        real="tmux -S $FOLDER/person new-window $PROBE; sleep 100",
    ),
    "`ssh` to this machine": Way(
        _U, _S, above=1, between=(shell(62, 61), made(61, 1, "sshd-session")),
        terminals=((ASKER, OWN_TTY), (62, OWN_TTY)), owners=((61, 0),),
        real="ssh -F $FOLDER/ssh.conf -tt here $PROBE </dev/zero >/dev/null",
    ),
    "`systemd-run --user --pty`": Way(
        _U, _U, above=1, between=(made(61, 1, "systemd"),), terminals=((ASKER, OWN_TTY),),
    ),
    "`at`": Way(
        _U, _U, above=1, between=(shell(62, 61), made(61, 1, "atd")), terminals=_NO_TTY,
        real=f"unshare -m sh -c '{_OWN_SPOOL}; echo $PROBE | at now; atd'; sleep 100",
    ),
    "`cron`": Way(
        _U, _U, above=1, between=(shell(62, 61), made(61, 1, "cron")), terminals=_NO_TTY,
        real=f"unshare -m sh -c '{_OWN_SPOOL}; echo @reboot root $PROBE >/etc/cron.d/own; cron'; sleep 100",
    ),
    "a terminal that `cron` starts": Way(
        _U, _S, above=1, between=(made(63, 62, "foot"), shell(62, 61), made(61, 1, "cron")),
        terminals=((ASKER, OWN_TTY),),
    ),
    "another kitty over `kitten @ launch`": Way(
        _U, _S, above=KITTY, between=(made(61, KITTY, "kitty"),), terminals=((ASKER, OWN_TTY),),
    ),
    "`wezterm cli spawn`": Way(
        _U, _S, above=1, between=(made(61, 1, "wezterm-gui"),), terminals=((ASKER, OWN_TTY),),
    ),
}  # fmt: skip
EVERY: dict[str, Way] = {**WAYS, **MORE, **SIBLINGS}
