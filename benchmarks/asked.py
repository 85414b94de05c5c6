"""The truth about each wait for a permission in the corpus: what it is about, and its choices with their keys.

It was written by hand: what each scene has its agent ask for, and what the agents' dialogs offer. The keys are those
with which `tests/real_agents` answers. docs/measurements.md says what is counted.
"""

from __future__ import annotations

from typing import NamedTuple

from tallylight.model.dialog import Dialog

#: The subjects of the permissions of each scene, in order. A plan is about neither a command nor a file.
SUBJECTS: dict[str, tuple[str, ...]] = {
    "again": ("rm -r build", "mkdir -p build; sleep 4"),
    "background": ("touch made; sleep 8",),
    "cancel": ("touch made",),
    "busy": ("touch made; sleep 16",),
    "denial": ("touch made",),
    "edit": ("area.py",),
    "gone": ("touch made",),
    "interrupt": ("touch made; sleep 20",),
    "later": ("touch ledger.txt",),
    "neighbours": ("touch made",),
    "npx": ("touch made",),
    "page": ("example.org/ledger",),
    "permission": ("touch made; sleep 8",),
    "proxy": ("touch made",),
    "quiet": ("touch made; sleep",),
    "resize": ("touch made",),
    "resume": ("touch made",),
    "series": ("touch one", "mkdir two; sleep 3", "touch three"),
    "shell": ("touch made; sleep 22",),
    "silent": ("touch made",),
    "subagent": ("A task",),
    "typing": ("touch made",),
    "wrapped": ("touch made",),
    "tmux": ("touch made; sleep 3",),
}
#: The choices of an agent, each by the beginning of its label and its keys: for all of its dialogs, or those of a
#: scene.
CHOICES: dict[str, tuple[tuple[str, str], ...]] = {
    "aider": (("Yes", "y\r"), ("No", "n\r"), ("Don't ask again", "d\r")),
    "aider edit": (("Yes", "y\r"), ("No", "n\r")),
    "claude": (("Yes", "1"), ("Yes, and always allow", "2"), ("Yes, and switch to auto", "3"), ("No", "4")),
    "claude again": (("Yes", "1"), ("Yes, and", "2"), ("Yes, and switch to auto", "3"), ("No", "4")),
    "claude edit": (("Yes", "1"), ("Yes, and switch to accept edits", "2"), ("No", "3")),
    "claude page": (("Yes", "1"), ("Yes, and don't ask again", "2"), ("No, and tell Claude", "3")),
    "claude shell": (
        ("Yes", "1"),
        ("Yes, and don't ask again", "2"),
        ("Yes, and switch to auto", "3"),
        ("No", "4"),
    ),
    "cline": (("Approve", "y"), ("Deny", "n")),
    "codex": (("Yes, proceed", "y"), ("Yes, and don't ask again", "p"), ("No, and tell Codex", "\x1b")),
    "codex edit": (("Yes, proceed", "y"), ("Yes, and don't ask again", "a"), ("No, and tell Codex", "\x1b")),
    "copilot": (("Yes", "1"), ("Yes, and don't ask again", "2"), ("No, and tell Copilot", "3")),
    "gemini": (("Allow once", "1"), ("Allow for this session", "2"), ("No, suggest changes", "3")),
    "gemini edit": (
        ("Allow once", "1"),
        ("Allow for this session", "2"),
        ("Modify with external editor", "3"),
        ("No, suggest changes", "4"),
    ),
    # Which of them is selected is only coloured; when it asks, the first.
    "kilo": (("Allow once", "\r"), ("Allow always", "\x1b[C\r"), ("Reject", "\x1b[C\x1b[C\r")),
    "kimi": (
        ("Approve once", "1"),
        ("Approve for this session", "2"),
        ("Reject", "3"),
        ("Reject with feedback", "4"),
    ),
    "opencode": (("Allow once", "\r"), ("Allow always", "\x1b[C\r"), ("Reject", "\x1b[C\x1b[C\r")),
    "pi": (("Yes", "\r"), ("No", "\x1b[B\r")),
    "qwen": (("Yes, allow once", "1"), ("Always allow", "2"), ("Always allow", "3"), ("No, suggest changes", "4")),
    "qwen edit": (("Yes, allow once", "1"), ("Yes, allow always", "2"), ("No, suggest changes", "3")),
}


class Asked(NamedTuple):
    """Waits for a permission, and of how many of them what they are about, and the choices, are known."""

    waits: int = 0
    with_subject: int = 0
    with_choices: int = 0
    with_keys: int = 0
    #: Choices with the key of another one: there may never be any.
    wrong_keys: int = 0

    def plus(self, other: Asked) -> Asked:
        """Both together."""
        return Asked(*(mine + its for mine, its in zip(self, other, strict=True)))


def judge(agent: str, scene: str, number: int, what: str, dialog: Dialog | None) -> Asked:
    """Return what is known of wait *number* (from 0) for a permission in *scene* of *agent*."""
    subjects = SUBJECTS.get(scene, ())
    if number >= len(subjects):
        return Asked()
    truth = CHOICES.get(f"{agent} {scene}", CHOICES[agent])
    found = [(choice.label, choice.keys) for choice in dialog.choices] if dialog is not None else []
    are_whole = len(found) == len(truth) and all(
        label.startswith(true[:24]) for (label, _), (true, _) in zip(found, truth, strict=True)
    )
    return Asked(
        waits=1,
        with_subject=subjects[number] in what,
        with_choices=are_whole,
        with_keys=are_whole and all(keys == true for (_, keys), (_, true) in zip(found, truth, strict=True)),
        wrong_keys=sum(bool(keys) and keys not in {true for _, true in truth} for _, keys in found),
    )


def table(rows: list[tuple[str, Asked]]) -> str:
    """The counts as Markdown."""
    lines = [
        "|  | waits for a permission | what it is about | choices | their keys | wrong keys |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, found in rows:
        shares = (_share(part, found.waits) for part in found[1:4])
        lines.append(f"| {name} | {found.waits} | {' | '.join(shares)} | {found.wrong_keys} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
