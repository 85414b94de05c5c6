"""
The trust rules to the letter: every source, time and exception that docs/trust.md names, each as a time-line.

`test_tracker` has what the rules are for. Here stand their edges: the moment at which each begins to hold, the sources
of which it holds, and those of which it does not.

A time-line is written `SECONDS WHAT, …`; what happens is one of `STEPS`, or what a source says: its name, a status (or
`gone`, for a report that is taken back), and the id of a subagent. What it comes to is `STATUS/KIND by SOURCE: RULE`,
without the rule where it is only the name of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane.explained import put_aside
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.records import MAX_RECORDS
from tallylight.tracker.tracker import Tracker
from tests.tables import each
from tests.tracker.test_tracker import EVENTS, Step, agent, explicit, run, say, tick, title

#: What may happen: the word, and what follows it.
STEPS: dict[str, Callable[..., Step]] = {
    "agent": lambda instance="1": lambda tracker, now: tracker.foreground(Foreground("claude", int(instance)), now),
    "speaker": lambda: lambda tracker, now: tracker.foreground(Foreground("claude", 1, speaks=True), now),
    "ssh": lambda: lambda tracker, now: tracker.foreground(Foreground("ssh", 7, is_agent=False), now),
    "shell": lambda: lambda tracker, now: tracker.foreground(None, now),
    "stopped": lambda: lambda tracker, now: tracker.foreground(None, now, is_gone=False),
    "prompt": lambda: lambda tracker, now: tracker.command_end(None, now),
    "starts": lambda: lambda tracker, now: tracker.command_start(now),
    "ends": lambda code="": lambda tracker, now: tracker.command_end(int(code) if code else None, now),
    "output": lambda: lambda tracker, now: tracker.output(now),
    "stirs": lambda: lambda tracker, now: tracker.output(now, has_started=True),
    "look": lambda: lambda tracker, now: tracker.seen(now),
    "unseen": lambda: lambda tracker, now: tracker.seen(now, is_so=False),
    "tick": lambda: lambda tracker, now: tracker.tick(now),
    "deadline": lambda: lambda tracker, now: tracker.tick(tracker.deadline() or now),
    "pause": lambda seconds: lambda tracker, now: tracker.pause(float(seconds)),
}
#: What a row may say of a tracker, beside what it shows; times are seconds of the row's own clock.
FACTS: dict[str, Callable[[Tracker], Any]] = {
    "at": lambda tracker: tracker.decision.reason.at,
    "since": lambda tracker: tracker.decision.since,
    "deadline": lambda tracker: tracker.deadline(),
    "losing": lambda tracker: [
        f"{each.source} {each.status}: {each.why}" for each in put_aside(tracker.answers, float)
    ],
    "children": lambda tracker: {id_: shown(each) for id_, each in tracker.records().items() if id_},
    "wants": lambda tracker: (tracker.wants_output, tracker.wants_screen),
}
TIMES = {"at", "since", "deadline"}


def steps(line: str, boot: float = 0.0) -> Iterator[tuple[float, Step]]:
    """The steps of a time-line, for a clock that began at *boot*."""
    for part in line.split(", ") if line else ():
        seconds, word, *rest = part.split(" ")
        if word in STEPS:
            yield boot + float(seconds), STEPS[word](*rest)
        else:
            status = None if rest[0] == "gone" else Status(rest[0])
            yield boot + float(seconds), say(Source[word.upper()], status, id="".join(rest[1:]))


def shown(decision: Any) -> str:
    """What a decision comes to, in the words of the rows."""
    kind = "" if decision.kind is None else f"/{decision.kind}"
    source = decision.reason.source
    by = "" if source is None else f" by {source.word}"
    rule = decision.reason.rule
    return f"{decision.status}{kind}{by}" + (f": {rule}" if source is None or rule != source.word else "")


@attrs.frozen
class Row:
    """One time-line, what it shows at its end, and why."""

    why: str
    line: str
    shows: str
    facts: dict[str, Any]
    timing: Timing | None


def row(why: str, line: str, shows: str, *, timing: Timing | None = None, **facts: Any) -> Row:
    return Row(why, line, shows, facts, timing)


TAB = Timing(explicit_lasts="tab")
UNKNOWN = "active: nothing known of this pane"
PROMPT = "idle by shell: shell at its prompt"
QUIET = "idle by heuristic: no output lately"
STARTING = "idle by heuristic: it is starting"
CAME = "working by heuristic: it came to the foreground"
SILENT = "quiet by heuristic: 4 s of silence"
MID_TURN = "it vanished during a turn"
OWN = "the agent tells its turns itself"
EXPLICIT = "explicit wins: the agent reports its own status"

NOTHING = [
    row("nothing is known of a new pane", "", UNKNOWN, at=0, since=0, deadline=None),
    row("nor when nothing has happened for a while", "5 tick", UNKNOWN, at=5, since=5),
    row("a shell at its prompt", "1 prompt", PROMPT),
    row("what runs through a carrier is no agent's output", "0 ssh, 1 output", "active: ssh is in the foreground"),
    row("a prompt is old news after a carrier", "0 prompt, 1 ssh, 2 shell", UNKNOWN),
    row("who speaks is no shell at its prompt", "0 prompt, 1 protocol working, 2 protocol gone", UNKNOWN),
    row("a notification taken back leaves the prompt", "0 prompt, 1 notification gone", PROMPT),
    row("a command's end shows the prompt", "0 protocol working, 1 ends 0", PROMPT),
    row("a command's start forgets what was said", "0 protocol working, 1 starts", UNKNOWN),
    row("an agent's own marks forget nothing", "0 agent, 1 protocol waiting, 2 starts", "waiting by protocol"),
    row("an error survives the prompt", "0 protocol error, 1 prompt", "error by protocol: it ended while error"),
    row("a look is told in the reason", "0 agent, 1 protocol done, 2 look", "idle by protocol: protocol; seen"),
    row("what is marked as unseen is news", "0 agent, 1 protocol done, 2 look, 3 unseen", "done by protocol"),
]

PROCESSES = [
    row("a request begins a turn", "0 agent, 5 tick, 9 process working", "working by process", since=9),
    row(
        "it withdraws an amber that stands", "0 agent, 1 notification waiting, 3 process working", "working by process"
    ),
    row(
        "what a title asks it leaves: another subagent may have asked its model",
        "0 agent, 1 title waiting, 3 process working",
        "waiting by title",
    ),
    row("a dialog that is read later wins", "0 agent, 1 process working, 3 screen waiting", "waiting by screen"),
    row(
        "an older one does as soon as it is seen again",
        "0 agent, 1 screen waiting, 2 process working, 4 screen waiting",
        "waiting by screen",
    ),
    row(
        "its next request is an event of its own",
        "0 agent, 1 process working, 3 notification waiting, 5 process working",
        "working by process",
    ),
    row("the screen's rest does not end it", "0 agent, 1 process working, 3 screen idle", "working by process"),
    row("nor does silence", "0 agent, 1 process working, 9 tick", "working by process", deadline=None),
    row("nor any time: it is read all the time", "0 agent, 1 process working, 599 tick", "working by process"),
    row("a title that rests ends it", "0 agent, 1 process working, 3 title idle", "idle by title"),
    row(
        "its quiet is no end: what others said stands again",
        "0 agent, 1 screen idle, 3 process working, 5 process gone",
        "idle by screen",
    ),
    row(
        "and where nobody has said anything, nothing is known",
        "0 agent, 5 tick, 9 process working, 11 process gone",
        SILENT,
    ),
    row("a protocol silences it", "0 agent, 1 protocol idle, 9 process working", "idle by protocol"),
    row(
        "so does a status file",
        "0 agent, 1 registry idle, 9 process working",
        "idle by registry",
        losing=[f"process working: {OWN}", "heuristic working: outranked by registry"],
    ),
    row(
        "and a record that tells when turns begin",
        "0 agent, 1 record working, 3 record done, 9 process working",
        "done by record",
    ),
    row("no record that only tells ends", "0 agent, 1 record done, 9 process working", "working by process"),
    row(
        "one that is gone while it works was not broken off",
        "0 agent, 1 process working, 3 shell",
        "done by process: it ended after its last output",
    ),
    row("of one that is no agent nothing is told", "0 ssh, 1 process working", "active: ssh is in the foreground"),
]

WINS = [
    row("before anybody has spoken a guess has a vote", "0 agent, 5 tick", SILENT, timing=TAB),
    row(
        "a status file is not explicit: guesses are heard again after it",
        "0 agent, 1 registry idle, 2 shell, 9 agent 2, 14 tick",
        SILENT,
        timing=TAB,
    ),
    row(
        "but its removal is: no guess comes after a goodbye",
        "0 agent, 1 registry idle, 9 registry gone, 10 output, 20 tick",
        QUIET,
    ),
    row(
        "a screen has no vote, not even when the report has burned its fuse",
        "0 agent, 1 protocol working, 2 screen waiting, 302 tick",
        QUIET,
        losing=[
            "protocol working: not renewed for 301 s",
            f"screen waiting: {EXPLICIT}",
            f"heuristic quiet: {EXPLICIT}",
        ],
    ),
    row("a report two seconds before its agent is its own", "10 protocol waiting, 12 agent", "waiting by protocol"),
    row("an older one is not", "10 protocol waiting, 12.1 agent", CAME),
    row("what is its own is explicit: no guess follows it", "10 protocol working, 11 agent, 320 tick", QUIET),
    row(
        "a command's done that was seen leaves nothing at its prompt",
        "0 protocol done, 1 prompt, 2 look, 9 tick",
        "idle by shell: shell at its prompt",
    ),
    row(
        "nor does one that was seen before its prompt",
        "0 protocol done, 1 look, 2 prompt, 9 tick",
        "idle by shell: shell at its prompt",
    ),
    row("one that was not seen stays", "0 protocol done, 1 prompt, 9 tick", "done by protocol: it ended while done"),
    row("and an error that was seen does not", "0 protocol error, 1 prompt, 2 look, 9 tick", PROMPT),
    row("the same agent, seen again", "0 agent, 1 output, 2 protocol waiting, 9 agent", "waiting by protocol"),
]

GOODBYE = [
    *(
        row(f"a goodbye is newer than a {source}", f"0 agent, 1 {source} waiting, 2 registry gone", QUIET, losing=[])
        for source in ("title", "progress", "notification", "screen")
    ),
    row("a goodbye in a report, too", "0 agent, 1 title done, 2 protocol working, 3 protocol gone", QUIET),
    row(
        "and newer than what a poorer source says of a subagent",
        "0 agent, 1 notification waiting a, 2 protocol gone",
        QUIET,
        children={},
    ),
    row(
        "a subagent's is no goodbye of its agent",
        "0 agent, 1 title done, 2 protocol working a, 3 protocol gone a",
        "done by title",
    ),
    row(
        "a title that says nothing any more takes nothing along",
        "0 agent, 1 notification waiting, 2 title working, 3 title gone",
        "waiting by notification",
    ),
    row(
        "a goodbye that comes after the end puts the light out",
        "0 agent, 1 protocol working, 2 shell, 3 protocol gone",
        UNKNOWN,
    ),
]

RECORDS = [
    *(
        row(
            f"the end that a record tells stands above a {source} that is late",
            f"0 agent, 1 {source} working, 2 record {status}, 9 tick",
            f"{status} by record",
        )
        for source in ("title", "progress", "screen")
        for status in ("done", "error", "idle", "background")
    ),
    *(
        row(
            f"and above an idle {source} that comes after it",
            f"0 agent, 1 {source} working, 2 record {status}, 3 {source} idle, 4 {source} idle, 9 tick",
            f"{status} by record",
        )
        for source in ("title", "screen")
        for status in ("done", "error", "background")
    ),
    *(
        row(
            f"what a {source} shows to be {status} since is believed at once",
            f"0 agent, 1 record done, 2 {source} {status}, 2.1 {source} {status}",
            f"{status} by {source}",
        )
        for source in ("title", "screen", "progress")
        for status in ("working", "waiting")
    ),
    row(
        "a dialog that still stands there after the end is a subagent's",
        "0 agent, 1 screen waiting, 1.2 screen waiting, 2 record done, 3 screen waiting, 3.2 tick",
        "waiting by screen",
    ),
    row(
        "also where a protocol has told of it",
        "0 agent, 1 protocol waiting, 1.2 screen waiting, 2 record done, 3 screen waiting, 5.8 tick",
        "waiting by protocol",
        deadline=5.9,
    ),
    row(
        "but not for ever, if it is not seen again",
        "0 agent, 1 protocol waiting, 1.2 screen waiting, 2 record done, 9 tick",
        "done by record",
    ),
    row(
        "once that is gone the end is believed",
        "0 agent, 1 protocol waiting, 2 record done, 9 tick",
        "done by record",
    ),
    row(
        "but not one that is not seen again",
        "0 agent, 1 screen waiting, 1.2 screen waiting, 2 record done, 9 tick",
        "done by record",
    ),
    row(
        "nor before it is told again that it stands there",
        "0 agent, 1 screen waiting, 1.2 screen waiting, 2 record done, 3.69 tick",
        "waiting by screen",
        deadline=3.7,
    ),
    row("a record is believed at once", "0 agent, 0.5 record done", "done by record"),
    row(
        "whatever else a screen shows",
        "0 agent, 1 title waiting, 1.5 screen idle, 2 record done",
        "done by record",
    ),
    row(
        "as it stands there beside subagents that run on",
        "0 agent, 1 screen waiting, 2 record background, 3 tick",
        "waiting by screen",
    ),
    row(
        "but a turn that a person broke off asks nothing",
        "0 agent, 1 screen waiting, 1.2 screen waiting, 2 record idle",
        "idle by record",
    ),
    row(
        "a dialog that is gone does not",
        "0 agent, 1 screen waiting, 2 record done, 2.2 screen gone, 2.4 screen gone, 2.6 tick",
        "done by record",
    ),
    row(
        "work that was first read before it, and told twice after it, is not new",
        "0 agent, 1 screen waiting, 2 screen working, 2.1 record done, 2.2 screen working, 2.4 tick",
        "done by record",
    ),
    row(
        "work that was first read after it is",
        "0 agent, 1 screen waiting, 2 record done, 2.1 screen working, 2.2 screen working, 2.4 tick",
        "working by screen",
    ),
    row(
        "a new turn in the record takes it back",
        "0 agent, 1 record error, 2 record gone, 3 output",
        "working by heuristic: output",
    ),
    row("output alone does not", "0 agent, 1 record done, 9 output, 10 tick", "done by record"),
    row(
        "the next turn's end is another one",
        "0 agent, 1 record done, 2 title working, 3 record done, 4 tick",
        "done by record",
    ),
    row("a person who has looked knows", "0 agent, 1 record done, 2 look", "idle by record: record; seen"),
    row(
        "a record knows of subagents that go on after the end that a protocol tells",
        "0 agent, 1 record background, 1.1 protocol done",
        "background by record",
    ),
    row("but not of what is asked", "0 agent, 1 record background, 2 protocol waiting, 9 tick", "waiting by protocol"),
    row("nor of the next turn", "0 agent, 1 record background, 2 protocol working, 9 tick", "working by protocol"),
    row(
        "hooks that stay silent are contradicted after 0.4 s",
        "0 agent, 1 protocol working, 2 record idle, 2.4 tick",
        "idle by record",
    ),
    row("not before", "0 agent, 1 protocol working, 2 record idle, 2.3 tick", "working by protocol"),
    row("nor by an end of before", "0 agent, 1 record idle, 2 protocol working, 9 tick", "working by protocol"),
]

SPEAKERS = [
    row(f"a {source} counts {where}", f"0 {who}, 1 {source} waiting", shows)
    for source in ("progress", "title", "record", "registry", "screen")
    for who, where, shows in (
        ("prompt", "only while an agent is there", PROMPT),
        ("ssh", "not for what is on the other side of ssh", "active: ssh is in the foreground"),
    )
]

DECAY = [
    row("a title that works holds for thirty seconds", "0 agent, 0 title working, 29.9 tick", "working by title"),
    row("and no longer", "0 agent, 0 title working, 30 tick", SILENT),
    row(
        "the earlier of two ends is waited for",
        "0 agent, 0 title working, 1 protocol working, 4 tick",
        "working by protocol",
        deadline=30,
    ),
    row("silence is concluded once", "0 agent, 4 tick, 9 tick", SILENT, at=4),
    row("a pause burns no fuse", "0 agent, 1 protocol working, 2 pause 1000, 1300.9 tick", "working by protocol"),
    row("and lengthens none", "0 agent, 1 protocol working, 2 pause 1000, 1301 tick", QUIET),
    row(
        "nor does one make a contradiction older",
        "0 agent, 0 registry waiting, 1 protocol waiting, 5 registry working, 5 pause 1000, 1005.3 tick",
        "waiting by protocol",
    ),
    row(
        "nor does it take one back",
        "0 agent, 0 registry waiting, 1 protocol waiting, 5 registry working, 5 pause 1000, 1005.3 tick, 1005.5 tick",
        "working by registry",
    ),
    row("nor a start", "0 speaker, 1 pause 1000, 1029.9 tick", STARTING),
    row("which ends all the same", "0 speaker, 1 pause 1000, 1030 tick, 1031 tick", SILENT),
    row("nor the time in which it loads", "0 speaker, 1 output, 2 pause 1000, 1020.9 tick", STARTING),
]

START = [
    row("one that speaks for itself is starting, and looked at again", "0 speaker", STARTING, deadline=30),
    row("sooner, once it has drawn", "0 speaker, 0.5 output", STARTING, deadline=20.5),
    row("one that shows progress is up at once", "0 speaker, 0.5 stirs", "working by heuristic: output"),
    row("one that draws on and says nothing works", "0 speaker, 0.5 output, 19 output, 20.5 tick", CAME),
    row(
        "one that draws for two seconds in all works",
        "0 speaker, " + ", ".join(f"{look / 4 + 1} output" for look in range(9)),
        "working by heuristic: output",
    ),
    row("a start is over once", "0 speaker, 30 tick, 35 tick, 40 output", "working by heuristic: output"),
]

DIALOGS = [
    row(
        "a dialog read again is the same dialog",
        "0 agent, 1 screen waiting, 2 screen waiting",
        "waiting by screen",
        losing=["heuristic working: outranked by screen"],
    ),
    row(
        "one that is gone was answered just now",
        "0 agent, 1 screen waiting, 50 screen gone, 50.3 screen gone, 51 tick",
        "working by heuristic: its dialog is gone",
    ),
    row(
        "what was no dialog was not answered",
        "0 agent, 1 screen idle, 50 screen gone, 50.3 screen gone, 51 tick",
        SILENT,
    ),
]

CONTRADICTION = [
    row(
        "a file that changed is not believed before 0.4 s",
        "0 agent, 0 registry waiting, 1 protocol waiting, 5 registry working, 5.3 tick",
        "waiting by protocol",
        deadline=5.4,
    ),
    row(
        "and then is",
        "0 agent, 0 registry waiting, 1 protocol waiting, 5 registry working, 5.3 tick, 5.4 deadline",
        "working by registry",
        losing=[f"heuristic quiet: {EXPLICIT}", "protocol waiting: contradicted since by the agent's own registry"],
    ),
    row("a file that said so before", "0 agent, 0 registry idle, 5 protocol working, 6 tick", "working by protocol"),
    row(
        "or said so before it was told again",
        "0 agent, 1 protocol waiting, 3 registry working, 3.1 protocol waiting, 9 tick",
        "waiting by protocol",
    ),
    row(
        "the better of two who say the same",
        "0 agent, 1 protocol working, 2 title working, 3 tick",
        "working by protocol",
    ),
    row("or in the same moment", "0 agent, 1 protocol waiting, 1 registry working, 9 tick", "waiting by protocol"),
    row("an idle file ends waiting", "0 agent, 1 protocol waiting, 5 registry idle, 6 tick", "idle by registry"),
    row("a file that is done ends work", "0 agent, 1 protocol working, 5 registry done, 6 tick", "done by registry"),
    row("a file that works ends idle", "0 agent, 1 protocol idle, 5 registry working, 6 tick", "working by registry"),
    row("idle and done can both be true", "0 agent, 1 protocol done, 5 registry idle, 6 tick", "done by protocol"),
    row(
        "a title that works ends waiting",
        "0 agent, 0 title idle, 1 protocol waiting, 5 title working, 6 tick",
        "working by title",
    ),
    row("a title that waits ends idle", "0 agent, 1 protocol idle, 5 title waiting, 6 tick", "waiting by title"),
    row(
        "an idle title ends work", "0 agent, 1 protocol working, 5 title idle, 5.3 tick, 5.4 deadline", "idle by title"
    ),
    row("but not at once", "0 agent, 1 protocol working, 5 title idle, 5.3 tick", "working by protocol"),
    row("and nothing but work", "0 agent, 1 protocol waiting, 5 title done, 6 tick", "waiting by protocol"),
    row("a progress bar ends nothing", "0 agent, 1 protocol working, 5 progress idle, 6 tick", "working by protocol"),
    row(
        "a title does not contradict a status file",
        "0 agent, 1 registry working, 5 title idle, 6 tick",
        "working by registry",
        losing=["title idle: outranked by registry", "heuristic quiet: outranked by registry"],
    ),
    row("nor does a screen", "0 agent, 1 registry idle, 5 screen waiting, 6 tick", "idle by registry"),
    row(
        "but a title is sooner to tell that a turn begins",
        "0 agent, 1 registry idle, 5 title working",
        "working by title",
        losing=[
            "registry idle: contradicted since by the agent's own title",
            "heuristic working: outranked by title",
        ],
    ),
    row("of a turn that was over before", "0 agent, 1 registry done, 5 title working", "working by title"),
    *(
        row(
            f"and once it is over, the {status} that a {source} told before it is not believed",
            f"0 agent, 1 {source} {status}, 5 title working, 5.4 title idle, 6.3 tick",
            "working by title",
            deadline=6.4,
            losing=[
                f"{source} {status}: from the previous turn: the outcome of the last one is not known yet",
                "title idle: outranked by title",
                "heuristic quiet: outranked by title",
            ],
        )
        for source in ("registry", "record")
        for status in ("done", "idle")
    ),
    row(
        "until it has told more",
        "0 agent, 1 registry done, 5 title working, 5.4 title idle, 5.6 registry idle",
        "idle by registry",
    ),
    row(
        "or the same once more, which nobody has seen",
        "0 agent, 1 registry done, 2 look, 5 title working, 5.4 title idle, 5.6 registry done",
        "done by registry",
    ),
    row(
        "or nothing for a second",
        "0 agent, 1 registry done, 5 title working, 5.4 title idle, 5.5 tick, 6.4 deadline",
        "done by registry",
    ),
    row(
        "work of a second was a turn, of which the file told nothing",
        "0 agent, 1 registry done, 5 title working, 6 title idle, 7.5 tick",
        "idle by title",
    ),
    row(
        "shorter work it never noticed",
        "0 agent, 1 registry done, 5 title working, 5.9 title idle, 7.5 tick",
        "done by registry",
    ),
    row(
        "also where a pause came after it",
        "0 agent, 1 registry done, 5 title working, 5.9 title idle, 6 pause 1000, 1007.5 tick",
        "done by registry",
    ),
    row(
        "a question in the middle of a turn is no end of it",
        "0 agent, 1 record done, 5 title working, 8 title waiting, 9 title idle, 9.5 tick",
        "working by title",
        deadline=10,
    ),
    row(
        "after which the record has told nothing of it",
        "0 agent, 1 record done, 5 title working, 8 title waiting, 9 title idle, 10 tick",
        "idle by title",
    ),
    row(
        "an end of the moment in which the work began is of that work",
        "0 agent, 5 title working, 5 registry done, 5.2 tick",
        "done by registry",
    ),
    row(
        "who knows better than the file is not late",
        "0 agent, 1 registry working, 3 protocol background, 3.2 tick",
        "background by protocol",
    ),
    row(
        "work stands behind no question of a title that the file denies",
        "0 agent, 1 registry done, 1.25 title working, 1.5 title waiting, 9 tick",
        "done by registry",
    ),
    row(
        "which does not pass while nobody can say anything",
        "0 agent, 1 registry done, 5 title working, 5.4 title idle, 5.5 pause 1000, 1006.3 tick",
        "working by title",
        deadline=1006.4,
    ),
    row(
        "one that worked before says nothing of what came since",
        "0 agent, 0 title working, 1 registry idle, 9 tick",
        "idle by registry",
    ),
    row(
        "and of what runs in the background the file alone tells",
        "0 agent, 1 registry background, 5 title working, 9 tick",
        "background by registry",
    ),
    row(
        "a file knows background from work, but is not believed at once",
        "0 agent, 0 registry background, 5 protocol working, 5.3 tick",
        "working by protocol",
        deadline=5.4,
    ),
    row(
        "then it is, though it said so before",
        "0 agent, 0 registry background, 5 protocol working, 5.3 tick, 5.4 deadline",
        "background by registry",
    ),
    row("or after", "0 agent, 1 protocol working, 5 registry background, 5.3 tick", "working by protocol"),
    row("it ends no question", "0 agent, 0 registry background, 5 protocol waiting, 9 tick", "waiting by protocol"),
    row("a title does not know it", "0 agent, 0 title background, 5 protocol working, 6 tick", "working by protocol"),
]

BEHIND = [
    *(
        row(
            f"{word} may stand behind an idle {source}",
            f"0 agent, 0 {source} working, 1 {source} idle, 2 screen {word}",
            f"{word} by screen",
        )
        for word in ("waiting", "error", "background")
        for source in ("title", "progress")
    ),
    *(
        row(
            f"{word} that is seen again after a turn is of that turn",
            f"0 agent, 1 screen {word}, 2 title working, 4 title idle, 5 screen {word}, 6 tick",
            f"{word} by screen",
        )
        for word in ("error", "done", "background")
    ),
    row(
        "an idle screen that is seen again ends what has begun since, and is late to be believed beside a record",
        "0 agent, 1 screen idle, 2 record working, 3 screen idle, 3.9 tick",
        "working by record",
        deadline=4,
    ),
    row(
        "also where it is seen again every second",
        "0 agent, 1 record done, 2 screen working, 3 screen idle, 3.9 screen idle, 4.8 screen idle, 5 tick",
        "idle by screen",
    ),
    row(
        "and then is",
        "0 agent, 1 screen idle, 2 record working, 3 screen idle, 4 tick",
        "idle by screen",
    ),
    row(
        "what was seen in the moment of the glyph may be over",
        "0 agent, 0 title working, 1 screen waiting, 1 title done, 9 tick",
        "done by title",
    ),
    row(
        "a dialog of the moment of the spinner may be the last one",
        "0 agent, 1 title working, 1 screen waiting, 2 tick",
        "working by title",
    ),
    row("only a dialog stands beside a spinner", "0 agent, 0 title working, 1 screen idle, 2 tick", "working by title"),
    row("an idle screen tells nothing of how", "0 agent, 1 title done, 2 screen idle", "done by title"),
    row(
        "nor does one with a rest that has ended",
        "0 agent, 1 title working, 2 screen background, 3 title idle",
        "idle by title",
    ),
    row(
        "a title that tells of an error knows of it",
        "0 agent, 0 title error, 1 screen waiting, 2 tick",
        "error by title",
    ),
]

GONE = [
    *(
        row(f"{source}: an agent's own word", f"0 agent, 1 {source} working, 2 shell", f"down by {source}: {MID_TURN}")
        for source in ("progress", "title", "registry", "protocol")
    ),
    *(
        row(
            f"{source}: not its own",
            f"0 agent, 1 {source} working, 2 shell",
            f"done by {source}: it ended after its last output",
        )
        for source in ("notification", "screen")
    ),
    *(
        row(
            f"exit code {code}: killed",
            f"0 agent, 1 output, 2 shell, 2.1 ends {code}, 3 tick",
            f"down by heuristic: its command was killed (exit code {code})",
        )
        for code in (134, 135, 136, 137, 139)
    ),
    *(
        row(
            f"exit code {code or 'unknown'}: not killed",
            f"0 agent, 1 output, 2 shell, 2.1 ends {code}, 3 tick",
            "done by heuristic: it ended after its last output",
        )
        for code in ("", 0, 1, 130, 133, 138, 140)
    ),
    row(
        "its command may end two seconds after it",
        "0 agent, 1 title working, 2 shell, 4 ends 0, 5 tick",
        "done by title: its command ended well",
    ),
    row(
        "a later one is another", "0 agent, 1 title working, 2 shell, 4.5 ends 0, 5 tick", f"down by title: {MID_TURN}"
    ),
    row("one that failed", "0 agent, 1 title working, 2 shell, 2.1 ends 1, 3 tick", f"down by title: {MID_TURN}"),
    *(
        row(
            f"exit code {code} answers no question",
            f"0 agent, 1 protocol waiting, 2 shell, 2.1 ends {code}, 3 tick",
            "waiting by protocol: it ended while waiting",
        )
        for code in (0, 137)
    ),
    row("stopped while it waits", "0 agent, 1 protocol waiting, 2 stopped", "waiting by protocol: it was stopped"),
    row(
        "a subagent's end that is told after it answers nothing",
        "0 agent, 1 protocol waiting, 2 shell, 3 protocol done a",
        "waiting by protocol: it ended while waiting",
    ),
    row("stopped when it is done", "0 agent, 1 protocol done, 2 stopped", "done by protocol: it was stopped"),
    row("stopped after an error: nothing new", "0 agent, 1 protocol error, 2 stopped", UNKNOWN),
    row("asked through ssh", "0 ssh, 1 protocol waiting, 2 shell", "waiting by protocol: it left the foreground"),
    row(
        "who comes next is not down", "0 agent, 1 registry working, 2 shell, 3 ssh", "active: ssh is in the foreground"
    ),
    row(
        "what was held back is its last word",
        "0 agent, 1 registry idle, 1.05 registry working, 1.08 shell, 1.2 tick",
        f"down by registry: {MID_TURN}",
    ),
    row(
        "what was held back and taken back is not",
        "0 agent, 1 registry idle, 1.05 registry working, 1.07 registry idle, 5 shell",
        UNKNOWN,
    ),
]

BACKGROUND = "background by protocol: 1 of its subagents still run"
CHILDREN = [
    row("a subagent's background task still runs", "0 protocol background a, 1 protocol done", BACKGROUND),
    row("when its agent is idle, too", "0 protocol working a, 1 protocol idle", BACKGROUND),
    row("a turn that works is no background", "0 protocol working, 1 protocol working a", "working by protocol"),
    row("a subagent's error lights the pane", "0 protocol working, 1 protocol error a", "error by protocol"),
    row("not over its agent's question", "0 protocol waiting, 1 protocol error a", "waiting by protocol", since=0),
    row("nor over an equal one", "0 protocol waiting, 1 protocol waiting a", "waiting by protocol", at=0),
    row("the newer one, whatever its name", "0 protocol waiting b, 1 protocol waiting a", "waiting by protocol", at=1),
    row(
        "of a subagent too the better source speaks",
        "0 agent, 1 registry waiting a, 2 protocol working a, 3 protocol done",
        BACKGROUND,
    ),
    row(
        "one that burned its fuse is not known of",
        "0 agent, 1 protocol working a, 2 protocol idle, 301 tick",
        "idle by protocol",
        children={"a": UNKNOWN},
    ),
    row("of an agent that says nothing its subagents say all", "0 protocol working a", "working by protocol"),
    row("one that is done, too", "0 protocol done a, 1 protocol idle b", "done by protocol"),
    row("until a look", "0 protocol done a, 1 look", "idle by protocol: protocol; seen"),
    row("whatever was guessed", "0 agent, 1 output, 2 protocol working a", "working by protocol"),
    row(
        "one that is done is no news beside its agent's work",
        "0 protocol working, 1 protocol done a",
        "working by protocol",
    ),
    row(
        "its error outlives the shell's prompt",
        "0 protocol working, 1 protocol error a, 2 prompt",
        "error by protocol: it ended while error",
    ),
    row(
        "as what it has done does",
        "0 protocol done a/b, 2 prompt",
        "done by protocol: it ended while done",
        children={},
    ),
    row("but no work", "0 protocol working a, 2 prompt", PROMPT, children={}),
    row("one that said goodbye is gone", "0 protocol working a, 1 protocol gone a", UNKNOWN, children={}),
    row(
        "but for what another source says of it",
        "0 agent, 1 registry waiting a, 2 protocol working a, 3 protocol gone a",
        "waiting by registry",
        children={"a": "waiting by registry"},
    ),
]

#: Whether output and screen are looked for.
WANTED = [
    row("not at a shell", "0 prompt", PROMPT, wants=(False, False)),
    row("of an agent", "0 agent", CAME, wants=(True, True)),
    row(
        "not where its status file is read", "0 agent, 1 registry working", "working by registry", wants=(False, False)
    ),
    row("but what it asks is", "0 agent, 1 registry waiting", "waiting by registry", wants=(False, True)),
    row("no screen of one that speaks", "0 agent, 1 protocol working", "working by protocol", wants=(True, False)),
    row("not of a carrier", "0 ssh", "active: ssh is in the foreground", wants=(False, False)),
    row(
        "the output of who works behind it is",
        "0 ssh, 1 notification waiting, 2 protocol working",
        "working by protocol",
        wants=(True, False),
    ),
    row("nobody who waits there", "0 ssh, 1 protocol waiting", "waiting by protocol", wants=(False, False)),
]

ROWS = {
    "what is known of a pane": NOTHING,
    "what a process does": PROCESSES,
    "explicit wins": WINS,
    "a goodbye": GOODBYE,
    "the record of a session": RECORDS,
    "who may speak": SPEAKERS,
    "decay": DECAY,
    "the start of an agent": START,
    "dialogs on the screen": DIALOGS,
    "reports that are contradicted": CONTRADICTION,
    "what stands behind a title": BEHIND,
    "what is gone": GONE,
    "subagents": CHILDREN,
    "what a host looks for": WANTED,
}


def test_rules() -> None:
    """Each row holds, whatever the clock started from."""
    problems = [
        f"{rule}, {each.why}: {each.line}\n  is    {found}\n  not   {(each.shows, each.facts)}"
        for rule, rows in ROWS.items()
        for each in rows
        for boot in (0.0, 86400.0)
        if (found := outcome(each, boot)) != (each.shows, each.facts)
    ]

    assert not problems, "\n".join(problems)


def outcome(row: Row, boot: float) -> tuple[str, dict[str, Any]]:
    """What the *row* comes to on a clock that began at *boot*."""
    tracker = run(list(steps(row.line, boot)), row.timing)
    facts = {name: FACTS[name](tracker) for name in row.facts}
    # A tracker to which nothing happened was never told the time.
    began = boot if row.line else 0.0
    return shown(tracker.decision), {
        name: round(fact - began, 6) if name in TIMES and fact is not None else fact for name, fact in facts.items()
    }


HISTORIES = [
    "0 agent",
    "0 protocol working",
    "0 agent, 1 output, 5 tick",
    "0 agent, 1 protocol done, 2 protocol working a",
    "0 agent, 1 registry working, 3 shell",
    "0 speaker, 1 output",
    "0 agent, 1 screen waiting",
]


@pytest.mark.slow
def test_a_clock_that_steps_back() -> None:
    """Whatever comes with a time before the latest counts at the latest."""
    more = [step for _, step in steps("0 stirs, 0 unseen, 0 ends 137, 0 notification waiting")]
    problems = []
    for history in HISTORIES:
        for number, event in enumerate([*EVENTS, *more]):
            late, early = (run([*steps(history, 100), (110, tick)]) for _ in range(2))
            event(late, 110)
            event(early, 50)
            for now in (110, 110.5, 115, 150, 500):
                late.tick(now)
                early.tick(now)
                if (late.decision, late.deadline(), late.records()) != (
                    early.decision,
                    early.deadline(),
                    early.records(),
                ):
                    problems.append((history, number, now, late.decision, early.decision))
    assert not problems


def test_the_first_word_tells_the_time() -> None:
    """Whatever is heard first of a pane, its status began then and not when the clock did."""
    events = [*EVENTS, *(step for _, step in steps("0 stirs, 0 unseen"))]

    assert {run([(7, event)]).decision.since for event in events} == {7}


#: All the fields that one source fills in where a better one leaves them empty.
FIELDS: dict[str, Any] = {
    name: f"{name} of the file" for name in ("agent", "session", "title", "project", "cwd", "worktree", "mode")
} | {"resume": ("resume",), "fork": ("fork",)}


def test_gaps_are_filled() -> None:
    """What the agent's own words leave out is taken from the next best source that says it."""
    tracker = run([(0, agent()), (0, title("working"))])
    tracker.report(Report(source=Source.TITLE, status=Status.WORKING, **(FIELDS | {"session": "of the title"})), 1)
    tracker.report(Report(source=Source.REGISTRY, status=Status.WORKING, **(FIELDS | {"mode": ""})), 2)
    tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING, cwd="/own"), 3)

    report = tracker.decision.report
    assert {name: getattr(report, name) for name in FIELDS} == FIELDS | {"cwd": "/own"}


def test_gaps_of_what_is_believed() -> None:
    """Where a status file is believed against a report, its words come first and the report fills in the rest."""
    tracker = run([(0, agent()), (1, explicit("waiting", session="old", project="p", message="Which?"))])
    tracker.report(Report(source=Source.REGISTRY, status=Status.WORKING, session="new"), 5)
    tracker.tick(6)

    report = tracker.decision.report
    assert (report.session, report.project, report.message) == ("new", "p", "")


def test_whose_name_it_is() -> None:
    """An agent's own word for itself, another source's, the program's name; a carrier's is none."""
    told = explicit("working", agent="its own")
    by_file = say(Source.REGISTRY, Status.WORKING, agent="the file's")
    names = [
        run(history).decision.report.agent
        for history in (
            [(0, agent())],
            [(0, agent()), (1, explicit("working"))],
            [(0, agent()), (1, by_file), (2, explicit("working"))],
            [(0, agent()), (1, by_file), (2, told)],
            [(0, STEPS["ssh"]()), (1, explicit("working"))],
            [(0, explicit("working"))],
        )
    ]

    assert names == ["claude", "claude", "the file's", "its own", "", ""]


@each(
    ("asking", "told", "on_screen", "expected"),
    [
        (Source.TITLE, None, (Status.WAITING, Kind.QUESTION), (Kind.QUESTION, "Which?")),
        (Source.TITLE, Kind.PERMISSION, (Status.WAITING, Kind.QUESTION), (Kind.QUESTION, "Which?")),
        (Source.TITLE, Kind.PERMISSION, (Status.WAITING, None), (Kind.PERMISSION, "Which?")),
        (Source.REGISTRY, Kind.PERMISSION, (Status.WAITING, Kind.QUESTION), (Kind.PERMISSION, "Which?")),
        (Source.TITLE, None, (Status.IDLE, None), (None, "")),
    ],
)
def test_what_is_asked_stands_on_the_screen(
    asking: Source, told: Kind | None, on_screen: tuple[Status, Kind | None], expected: tuple[Kind | None, str]
) -> None:
    """The question is the screen's, and the kind where a title has one glyph for every dialog."""
    seen = say(Source.SCREEN, on_screen[0], on_screen[1], message="Which?")
    tracker = run([(0, agent()), (1, say(asking, Status.WAITING, told)), (2, seen)])

    assert tracker.decision.reason.source is asking
    assert (tracker.decision.kind, tracker.decision.report.message) == expected


@each(
    "line, subject",
    [
        ("0 screen waiting zz0, 1 registry waiting", "zz0"),
        ("0 screen waiting zz0, 1 registry waiting, 2 registry working, 3 registry waiting", ""),
        ("0 screen waiting zz0, 0 registry waiting, 0 registry working, 0 registry waiting, 1 tick", ""),
        ("0 screen waiting zz0, 1 registry working, 2 registry waiting, 2 screen waiting zz1", "zz1"),
        ("0 registry waiting zz0, 1 registry working, 2 registry waiting, 3 registry waiting zz1", "zz1"),
        ("0 registry waiting zz0, 1 screen waiting zz0, 2 registry waiting", ""),
        ("0 registry waiting, 1 screen waiting zz0, 2 registry waiting zz0", "zz0"),
        ("0 record waiting zz0, 1 screen waiting zz0, 2 record waiting", ""),
        ("0 protocol waiting zz0, 1 registry working, 2 tick, 3 registry waiting", ""),
        ("0 protocol waiting zz0, 1 registry working, 2 tick, 3 registry waiting zz1", "zz1"),
        ("0 protocol waiting zz0, 1 title working, 1.2 title idle", "zz0"),
        ("0 title waiting, 1 screen waiting zz0, 2 title working, 3 title waiting", ""),
        ("0 protocol waiting zz0, 1 protocol working, 2 registry waiting zz1, 2.4 tick", "zz1"),
        ("0 protocol working, 0 screen waiting zz0, 1 protocol waiting", "zz0"),
        ("0 screen waiting zz0, 1 registry working, 2 protocol waiting -child", "child"),
    ],
)
def test_the_words_belong_to_the_question(line: str, subject: str) -> None:
    """What is asked, and what about, was told since the last answer: else it is of the question before, and empty."""
    tracker = Tracker()
    agent()(tracker, 0)
    for part in line.split(", "):
        seconds, word, *rest = part.split(" ")
        at, what = float(seconds), "".join(rest[1:])
        if word == "tick":
            tracker.tick(at)
            continue
        id_ = what.removeprefix("-") if what.startswith("-") else ""
        words = {"id": id_} if id_ else {"what": what, "message": what and f"May I {what}?"}
        say(Source[word.upper()], Status(rest[0]), Kind.PERMISSION if rest[0] == "waiting" else None, **words)(
            tracker, at
        )
    report = tracker.decision.report
    assert tracker.decision.status is Status.WAITING
    if subject == "child":
        assert (report.message, report.what) == ("child", "")
    else:
        assert report.what == subject and report.message in ("", f"May I {subject}?")


def test_revision() -> None:
    """What is newly said counts one, and what is said again nothing; a host may count what stands beside it."""
    tracker = Tracker()
    seen = [tracker.claims.revision]
    for event in (
        explicit("working"),
        explicit("working"),
        explicit("working", detail="x"),
        explicit("working", id="a"),
        say(Source.PROTOCOL, None, id="a"),
        say(Source.PROTOCOL, None, id="a"),
        say(Source.NOTIFICATION, None),
        tick,
        lambda tracker, now: tracker.touch(),
    ):
        event(tracker, 1)
        seen.append(tracker.claims.revision)

    assert seen == [0, 1, 1, 2, 3, 4, 4, 4, 4, 5]


@pytest.mark.slow
def test_which_record_is_dropped() -> None:
    """The one least recently heard of, and none as long as there is room: also that of one that has said goodbye."""
    assert MAX_RECORDS == 256
    tracker = run([(0, explicit("working"))])
    for number in range(MAX_RECORDS - 1):
        explicit("done", id=f"r{number}")(tracker, 1)
    explicit("done", id="r0")(tracker, 2)
    say(Source.PROTOCOL, None, id="r100")(tracker, 3)
    explicit("done", id="new")(tracker, 4)
    assert len(tracker.records()) == MAX_RECORDS and "r1" in tracker.records()
    explicit("done", id="newer")(tracker, 5)
    assert len(tracker.records()) == MAX_RECORDS
    assert "r0" in tracker.records() and "r1" not in tracker.records()


def test_the_words_of_one_that_has_ended() -> None:
    """What it asked is told until somebody has looked."""
    tracker = run([(0, agent()), (1, explicit("waiting", message="Which?", what="x")), (2, STEPS["shell"]())])

    assert tracker.decision.status is Status.WAITING
    assert (tracker.decision.report.message, tracker.decision.report.what) == ("Which?", "x")
