"""
Answers that must not be typed, and answers that must: as data, for the tests of every surface.

A `Case` is what a person was shown (*before*), what the pane is when their answer arrives (*after*), and which choice
they made of it. `HOSTILE` are refused by one of the rules named, and nothing is typed; `HARMLESS` are typed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import attrs

from tallylight.actions.answer import Answer, Seen
from tallylight.actions.gate import Refusal
from tallylight.evidence.foreground import Identity
from tallylight.evidence.process import Process
from tallylight.evidence.screen import Look
from tallylight.model.status import Kind, Status
from tests.actions.desk import PID, START, holder, seen

CHANGED = ("changed", "no-question")


@attrs.frozen
class Case:
    """*change* is what is wrong with the answer itself, where that is it."""

    name: str
    before: Seen
    after: Seen | Refusal
    rules: tuple[str, ...] = CHANGED
    number: int = 1
    change: Callable[[Answer], Answer] = lambda given: given


@attrs.frozen
class Subject:
    """A recorded dialog: what it asks to run, one of its labels, a row below the choices, one above the dialog."""

    screen: str
    command: str
    label: str
    below: str = ""
    above: str = ""
    pointer: str = "❯"


SUBJECTS = (
    Subject("claude/permission-bash-120", " touch made1", "4. No", "Esc to cancel", "✻ Baked for 2s"),
    Subject("claude/permission-write-80", "2 world", "3. No", "Esc to cancel", "✻ Baked for 8s"),
    Subject("claude/permission-fetch-80", "http", "3. No", "", "●"),
    Subject("codex/permission-exec-80", "  $ touch made1", "1. Yes, proceed (y)", "Press enter", "Worked for 2s", "›"),
    Subject("copilot/permission-80", "│ │ touch made; sleep 3", "1. Yes", "↑/↓ to navigate", "TOOL touch made"),
    Subject("gemini/permission-80", "│ │ touch made; sleep 3", "1. Allow once", "", "> TOOL touch", "●"),
    Subject("qwen/permission-80", "     touch made; sleep 3", "4. No", "Waiting for user", "HOLD one", "›"),
    Subject("claude/trust-80", "/home/user/project", "No, exit", "Enter to confirm"),
    Subject("aider/permission-80", "touch made; sleep 3\n", "(N)o", "", "diff> HOLD one"),
)


def with_lines(pane: Seen, lines: list[str]) -> Seen:
    """*pane* with these rows."""
    return attrs.evolve(pane, look=attrs.evolve(pane.look, lines=lines))


def edited(pane: Seen, old: str, new: str) -> Seen:
    """*pane* with the last *old* on its screen replaced; there must be one."""
    text = "\n".join(pane.look.lines) + "\n"
    head, found, tail = text.rpartition(old)
    assert found, (old, text)
    return with_lines(pane, f"{head}{new}{tail}".removesuffix("\n").split("\n"))


def _row_of(pane: Seen, text: str) -> int:
    """The last row of the screen that has *text*."""
    return max(n for n, line in enumerate(pane.look.lines) if text.strip("\n") in line)


def row_edited(pane: Seen, text: str, change: Callable[[str], str]) -> Seen:
    """*pane* with *change* made to the last row that has *text*."""
    row = _row_of(pane, text)
    lines = list(pane.look.lines)
    lines[row] = change(lines[row])
    assert lines[row] != pane.look.lines[row], (text, lines[row])
    return with_lines(pane, lines)


def _padded(row: str, columns: int, text: str) -> str:
    """*row* with *text* at the right edge."""
    return row.rstrip(" ").ljust(columns - len(text) - 1) + text


#: What may be done to a row of the dialog so that it says something else, or is drawn otherwise.
ROW_CHANGES: dict[str, Callable[[str], str]] = {
    "another command": lambda row: row.replace("touch", "rm -rf ~; touch").replace("project", "secrets") + "x",
    "a letter more": lambda row: f"{row.rstrip(' │┃█')}s{row[len(row.rstrip(' │┃█')) + 1 :]}",
    "a no-break space": lambda row: _nth_blank(row, "\u00a0"),
    "a wide blank": lambda row: _nth_blank(row, "\u3000"),
    "a bar behind it": lambda row: f"{row} |",
    "a drawn bar behind it": lambda row: f"{row} │",
    "a scroll bar behind it": lambda row: f"{row} ┃",
    "a combining mark": lambda row: f"{row}\u0301",
    "a wide character": lambda row: f"{row}日",
    "an invisible character": lambda row: f"{row}\u200b",
    "a turned direction": lambda row: f"\u202e{row}",
    "an indent": lambda row: f"  {row}",
    "a bullet": lambda row: f"● {row[2:]}" if row[:2] == "  " else f"● {row}",
}


def _nth_blank(row: str, character: str) -> str:
    """*row* with its last blank between two words replaced."""
    text = row.rstrip(" │┃█")
    head, blank, tail = text.rpartition(" ")
    return f"{head}{character}{tail}{row[len(text) :]}" if blank else f"{character}{row}"


def screen_changes() -> Iterator[Case]:
    """Every change to a row of every dialog, and to its labels, its hints, its surroundings and its size."""
    for subject in SUBJECTS:
        shown = seen(subject.screen)
        name = subject.screen
        for what, change in ROW_CHANGES.items():
            yield Case(f"{name}: {what}", shown, row_edited(shown, subject.command, change))
        yield Case(f"{name}: another label", shown, edited(shown, subject.label, f"{subject.label}!"))
        if subject.below:
            yield Case(f"{name}: another hint", shown, edited(shown, subject.below, f"{subject.below} x"))
        if subject.above:
            yield Case(f"{name}: another past", shown, edited(shown, subject.above, f"{subject.above} rm"))
        lines, columns = shown.look.lines, shown.look.columns
        yield Case(f"{name}: a row more above", shown, with_lines(shown, ["rm -rf ~", *lines]))
        yield Case(f"{name}: a row less above", shown, with_lines(shown, list(lines[1:])))
        yield Case(f"{name}: a row more below", shown, with_lines(shown, [*lines, "rm -rf ~"]))
        for wide in (columns - 1, columns + 1):
            yield Case(
                f"{name}: {wide} columns", shown, attrs.evolve(shown, look=attrs.evolve(shown.look, columns=wide))
            )
        clock = row_edited(shown, subject.command, lambda row, c=columns: _padded(row[: c - 12], c, "5s"))  # type: ignore[misc]
        yield Case(f"{name}: a clock within", shown, clock)


def wide(tail: str, rows: int = 12, first: str = "earlier") -> Seen:
    """A dialog of Claude Code on a screen of 320 columns, whose command of 300 ends in *tail*; *first* at its top."""
    command = f" echo {'a' * (294 - len(tail))} {tail}"
    above = [first, *(f"row {n}" for n in range(rows))]
    dialog = [
        "─" * 320,
        " Bash command",
        "╌" * 320,
        command,
        "╌" * 320,
        " Do you want to proceed?",
        " ❯ 1. Yes",
        "   2. No",
    ]
    lines = [*above, "", *dialog, "", " Esc to cancel · Tab to amend"]
    return attrs.evolve(seen("claude/permission-bash-120"), look=Look(lines, len(above) + 7, 0, 320))


def tall(command: list[str]) -> Seen:
    """The same of a command of many rows."""
    dialog = ["─" * 100, " Bash command", "╌" * 100, *command, "╌" * 100]
    lines = ["before", *dialog, " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"]
    return attrs.evolve(seen("claude/permission-bash-120"), look=Look(lines, len(lines) - 4, 0, 100))


def far_changes() -> Iterator[Case]:
    """What a fingerprint of 240 columns and 48 rows does not see."""
    yield Case("a tail changes at column 300", wide("true"), wide("rm -rf ~"))
    yield Case("a tail gets a bar", wide("true"), wide("true |"))
    yield Case("a row changes 80 above", wide("true", 80), wide("true", 80, "rm -rf ~"))
    many = [f" echo {n}" for n in range(70)]
    for row in (0, 1, 20, 69):
        changed = [*many[:row], " rm -rf ~", *many[row + 1 :]]
        yield Case(f"row {row} of a command of 70 changes", tall(many), tall(changed))
    hidden = [" rm -rf ~", "", "", "", " echo fine"]
    yield Case("a command above a gap changes", tall([" echo it", *hidden[1:]]), tall(hidden))
    yield Case("a bullet within a command", tall(["  echo it"]), tall(["● echo it"]))
    yield Case("a line within a command", tall(many), tall([*many[:30], "─" * 100, *many[31:]]))


def pointer_changes() -> Iterator[Case]:
    """The pointer moved: by arrows another choice would be taken."""
    for subject in SUBJECTS:
        shown = seen(subject.screen)
        rows = [n for n, line in enumerate(shown.look.lines) if subject.pointer in line]
        if subject.screen.startswith("aider") or not rows:
            continue
        row, lines = rows[-1], list(shown.look.lines)
        if row + 1 < len(lines) and lines[row + 1].strip():
            at = lines[row].index(subject.pointer)
            below = lines[row + 1].ljust(at + 1)
            lines[row] = lines[row][:at] + " " + lines[row][at + 1 :]
            lines[row + 1] = below[:at] + subject.pointer + below[at + 1 :]
            yield Case(f"{subject.screen}: the pointer moved", shown, with_lines(shown, lines))


def other_dialogs() -> Iterator[Case]:
    """Another screen by the time the answer arrives: the next dialog, none, a menu."""
    claude = ("permission-write-120", "permission-fetch-120", "question-120", "plan-approval-120", "idle-typed-120",
              "working-120", "menu-model-120", "error-120")  # fmt: skip
    shown = seen("claude/permission-bash-120")
    for name in claude:
        yield Case(f"then claude/{name}", shown, seen(f"claude/{name}"))
    yield Case(
        "the next of the same words", shown, edited(edited(shown, " touch made1", " rm -rf build"), "$ touch", "$ rm")
    )
    swapped = edited(edited(shown, "4. No", "4. Yes"), "❯ 1. Yes", "❯ 1. No")
    yield Case("the choices in another order", shown, swapped)
    yield Case("a choice less", shown, edited(shown, "   4. No\n", "\n"))
    yield Case("a choice more", shown, edited(shown, "   4. No\n", "   4. No\n   5. Never\n"))
    for name in ("idle-80", "permission-120", "working-1-80"):
        yield Case(f"then copilot/{name}", seen("copilot/permission-80"), seen(f"copilot/{name}"))
    yield Case("keys not known", *[seen("claude/question-multi-80")] * 2, rules=("keys",))
    yield Case("selected by colour alone", *[seen("opencode/permission-80")] * 2, rules=("keys",))
    yield Case("no choices", *[seen("kilo/denied-80")] * 2, rules=("choice",))


def other_processes() -> Iterator[Case]:
    """Something else holds the pane."""
    shown = seen("claude/permission-bash-120")
    cat, shell = (Process(PID, comm=name, argv=(name,), start=START) for name in ("cat", "bash"))
    afters = {
        "another pid": holder("claude", PID + 1),
        "the pid again, begun later": holder("claude", PID, START + 1),
        "a start that cannot be read": holder("claude", PID, 0),
        "cat with the same screen": Identity(leader=cat, process=cat),
        "a shell with the same screen": Identity(leader=shell, process=shell),
        "a shell of the same pid and start": holder("", PID, START),
        "nobody": Identity(),
        "another agent": holder("codex", PID + 2),
        "ssh": attrs.evolve(holder("claude"), is_remote=True),
        "ssh and no agent": attrs.evolve(holder(""), is_remote=True),
    }
    for what, foreground in afters.items():
        after = attrs.evolve(shown, foreground=foreground)
        yield Case(what, shown, after, ("remote",) if foreground.is_remote else ("process",))
    yield Case("the pane's id is another's", shown, attrs.evolve(shown, pane="4"), ("gone",))
    for rule in ("gone", "mode", "synchronized"):
        yield Case(f"the host says {rule}", shown, Refusal(rule, "no"), (rule,))


def wrong_answers() -> Iterator[Case]:
    """The answer itself names something else."""
    shown = seen("claude/permission-bash-120")
    for number in (0, -1, 5, 10**9):
        yield Case(f"choice {number}", shown, shown, ("choice",), number)
    yield Case("choice True", shown, shown, ("choice",), True)
    changes: dict[str, tuple[dict[str, object], tuple[str, ...]]] = {
        "no fingerprint": ({"fingerprint": ""}, ("changed",)),
        "another fingerprint": ({"fingerprint": "0" * 32}, ("changed",)),
        "another pane": ({"pane": "4"}, ("gone",)),
        "another pid": ({"pid": PID + 1}, ("process",)),
        "another start": ({"start": START - 1}, ("process",)),
        "no start": ({"start": 0}, ("process",)),
        "no pid": ({"pid": 0}, ("process",)),
    }
    for name, (words, rules) in changes.items():
        yield Case(f"answer with {name}", shown, shown, rules, 1, lambda given, w=words: attrs.evolve(given, **w))  # type: ignore[misc]


HOSTILE = tuple(
    itertools.chain(
        screen_changes(), far_changes(), pointer_changes(), other_dialogs(), other_processes(), wrong_answers()
    )
)


def harmless() -> Iterator[Case]:
    """What an agent moves while it waits, and what is no part of the screen."""
    shown = seen("claude/permission-bash-120")
    for glyph in " ○⏺•◦·⠋⠙✻✳":
        blinking = row_edited(shown, "● A command", lambda row, g=glyph: row.replace("●", g))  # type: ignore[misc]
        yield Case(f"a bullet {glyph!r}", shown, blinking)
        yield Case(f"a bullet {glyph!r} before", blinking, shown)
    copilot = seen("copilot/permission-80")

    def at(clock: str) -> Seen:
        shell = "$ Shell A command"
        return row_edited(copilot, shell, lambda row: row[: -2 - len(clock)] + clock + row[-2:]) if clock else copilot

    clocks = ("", "5s", "9s", "10s", "59s", "1m 0s", "1m 10s", "12m 3s", "1h 0m 5s")
    for was, now in itertools.pairwise(clocks):
        yield Case(f"a clock {was!r} to {now!r}", at(was), at(now))
    # Without a scroll bar at the edge.
    plain = [seen("claude/permission-bash-120")] * 2
    plain = [
        row_edited(p, "✻ Baked", lambda row, c=c: row.ljust(117) + c)
        for p, c in zip(plain, (" 5s", " 6s"), strict=True)
    ]  # type: ignore[misc]
    yield Case("a clock without a scroll bar", plain[0], plain[1])
    codex = seen("codex/permission-exec-80")
    for was, now in (("0s", "9s"), ("59s", "1m 00s"), ("1m 9s", "1h 2m 3s")):
        working = [
            row_edited(codex, "• Running", lambda row, t=t: f"• Working ({t} • esc to interrupt)") for t in (was, now)
        ]  # type: ignore[misc]
        yield Case(f"a status row {was} to {now}", working[0], working[1])
    qwen = seen("qwen/permission-120")
    for frame in "⠋⠙⠹⠸⠼⠴⠦⠧⠇":
        yield Case(f"a spinner {frame}", qwen, edited(qwen, "⠏ Waiting", f"{frame} Waiting"))
    blanks = [f"{line}  " if len(line) < 100 else line for line in shown.look.lines]
    yield Case("blanks at the ends of rows", shown, with_lines(shown, blanks))
    for status in (Status.WORKING, Status.IDLE):
        yield Case(f"the light says {status}", shown, attrs.evolve(shown, status=status))
    yield Case("another kind", shown, attrs.evolve(shown, kind=Kind.QUESTION))
    yield Case("a cursor that blinks", shown, attrs.evolve(shown, look=attrs.evolve(shown.look, cursor_visible=False)))
    yield Case("a cursor beside", shown, attrs.evolve(shown, look=attrs.evolve(shown.look, cursor_column=9)))
    yield Case("another program takes pastes", shown, attrs.evolve(shown, takes_paste=True))
    for number in (2, 3, 4):
        yield Case(f"choice {number}", shown, shown, (), number)
    for name in ("claude/permission-bash-40", "codex/permission-exec-40", "copilot/permission-120", "claude/trust-80",
                 "gemini/permission-120", "qwen/question-80", "kimi/permission-100"):  # fmt: skip
        yield Case(f"{name} as it was", seen(name), seen(name), ())


HARMLESS = tuple(harmless())
