"""
Every key of every protocol: what is sent, where it is kept and shown, and what clears it. docs/protocol.md has it as a
table, which `python -m tests.wire.protocol_keys` writes; `tests/real_kitty/test_protocol_keys.py` drives a kitty by it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import attrs

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
#: What stands before the key of a row is said, by its protocol; and what takes all of it back.
BEFORE = {
    "OSC 26": "26;CodeAgent=claude;Status=running",
    "OSC 88": "26;CodeAgent=claude;Status=running",
    "OSC 1338": "1338;state=working;tool=claude",
    "OSC 7501": "7501;state=working:app=claude",
    "OSC 21337": "21337;status=Working…",
}
CLEARS = ("26;CodeAgent=", "1338;state=clear", "7501;state=clear", "21337;status=;detail=;awaiting=", "88;clear")


@attrs.frozen
class Row:
    """
    One *key* of a *protocol*: *sent* is a sequence with it, *kept* the key of `tally status --json` that then is
    *value*, and *cleared* the sequence that ends that. Each of *shown* has its text somewhere.
    """

    protocol: str
    key: str
    sent: str
    kept: str
    value: object
    cleared: str
    #: By the surface (tab, list, page, why) the text.
    shown: dict[str, str] = attrs.field(factory=dict)


def _b64(text: str) -> str:
    return b64encode(text.encode()).decode()


def _in(text: str, surfaces: str = "list page why") -> dict[str, str]:
    return dict.fromkeys(surfaces.split(), text)


_WAITS = {"tab": "!", "list": "!", "page": "waiting", "why": "waiting"}
_TASKS = ["Read", "Write", "Test"]
_METHOD = ["claude", "--resume", "{SessionId}"]
ROWS = (
    Row("OSC 26", "CodeAgent", "26;CodeAgent=mine", "agent", "mine", "26;CodeAgent=", _in("mine")),
    Row("OSC 26", "Status", "26;Status=awaiting-approval", "status", "waiting", "26;Status=", _WAITS),
    Row("OSC 26", "Detail", "26;Detail=api-fail", "detail", "the API fails", "26;Detail=", _in("the API fails")),
    Row("OSC 26", "TaskProgress", "26;TaskProgress=1/3", "progress", "1/3", "26;TaskProgress=", _in("1/3")),
    Row("OSC 26", "TaskList", f"26;TaskProgress=1/3;TaskList={_b64(chr(10).join(_TASKS))}",
        "tasks", _TASKS, "26;TaskList=", _in("Write")),
    Row("OSC 26", "SessionId", f"26;SessionId={_b64('a1b2c3d4')}",
        "session", "a1b2c3d4", "26;SessionId=", _in("a1b2c3d4", "page why")),
    Row("OSC 26", "SessionTitle", f"26;SessionTitle={_b64('Fix login')}",
        "topic", "Fix login", "26;SessionTitle=", _in("Fix login", "tab list page why")),
    Row("OSC 26", "ProjectFolder", f"26;ProjectFolder={_b64('/srv/shop')}",
        "cwd", "/srv/shop", "26;ProjectFolder=", _in("shop", "tab list page why")),
    Row("OSC 26", "WorkTree", f"26;WorkTree={_b64('/srv/fix')}",
        "worktree", "/srv/fix", "26;WorkTree=", _in("/srv/fix")),
    Row("OSC 26", "Mode", f"26;Mode={_b64('plan')}", "mode", "plan", "26;Mode=", _in("plan")),
    Row("OSC 26", "MethodResume", f"26;MethodResume={_b64('--resume {SessionId}')}",
        "resume", _METHOD, "26;MethodResume="),
    Row("OSC 26", "MethodFork", f"26;MethodFork={_b64('--resume {SessionId}')}", "fork", _METHOD, "26;MethodFork="),
    Row("OSC 26", "UserVar:NAME", f"26;UserVar:ticket={_b64('X-1')}",
        "vars", [["ticket", "X-1"]], "26;UserVar:ticket=", _in("X-1", "tab list why")),
    Row("OSC 88", "cmd", f"88;arm;cmd={_b64('claude')}", "resume", ["claude"], "88;clear"),
    Row("OSC 88", "args", f"88;arm;cmd={_b64('claude')};args={_b64('--resume a1')}",
        "resume", ["claude", "--resume", "a1"], "88;clear"),
    Row("OSC 88", "cwd", f"88;arm;cmd={_b64('claude')};cwd={_b64('/srv')}",
        "cwd", "/srv", "88;clear", _in("/srv", "list page")),
    Row("OSC 1338", "state", "1338;state=waiting;tool=claude", "status", "waiting", "1338;state=clear", _WAITS),
    Row("OSC 1338", "tool", "1338;state=working;tool=mine", "agent", "mine", "1338;state=clear", _in("mine")),
    Row("OSC 1338", "project", "1338;state=working;tool=claude;project=shop",
        "project", "shop", BEFORE["OSC 1338"], _in("shop", "tab list page why")),
    Row("OSC 7501", "state", "7501;state=blocked:app=claude", "status", "waiting", "7501;state=clear", _WAITS),
    Row("OSC 7501", "kind", "7501;state=blocked:app=claude:kind=auth",
        "kind", "auth", BEFORE["OSC 7501"], {"list": "sign in", "page": "auth", "why": "auth"}),
    Row("OSC 7501", "app", "7501;state=working:app=mine", "agent", "mine", "7501;state=clear", _in("mine")),
    Row("OSC 7501", "progress", "7501;state=working:app=claude:progress=40",
        "progress", "40/100", BEFORE["OSC 7501"], {"list": "40 %", "page": "40/100", "why": "40 %"}),
    Row("OSC 7501", "title", f"7501;state=working:app=claude:title={_b64('Fix login')}",
        "topic", "Fix login", BEFORE["OSC 7501"], _in("Fix login", "tab list page why")),
    Row("OSC 7501", "msg", f"7501;state=working:app=claude:msg={_b64('Compiling')}",
        "message", "Compiling", BEFORE["OSC 7501"], _in("Compiling")),
    Row("OSC 7501", "id", "7501;state=blocked:app=claude:id=sub",
        "status", "waiting", "7501;state=clear:id=sub", _WAITS),
    Row("OSC 21337", "status", "21337;status=Waiting", "status", "waiting", "21337;status=", _WAITS),
    Row("OSC 21337", "awaiting", "21337;awaiting=1", "status", "waiting", "21337;awaiting=", _WAITS),
    Row("OSC 21337", "detail", "21337;detail=Compiling", "detail", "Compiling", "21337;detail=", _in("Compiling")),
)  # fmt: skip
#: What is not read, by its protocol.
UNREAD = {"OSC 26": "`Version`", "OSC 88": "`title`, `self_repaint`", "OSC 21337": "`indicator`, `status-color`"}


def drawn() -> str:
    """The table as Markdown."""
    lines = [["protocol", "key", "kept as", "shown in", "cleared by"], ["---"] * 5]
    for row in ROWS:
        shown = ", ".join(row.shown) or "the page of a fork or resume"
        lines.append([row.protocol, f"`{row.key}`", f"`{row.kept}`", shown, f"`{row.cleared}`"])
    lines += [[protocol, keys, "not read", "", ""] for protocol, keys in UNREAD.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page_with_table() -> str:
    """The page, with the table in it."""
    marked = re.compile(r"(<!-- keys -->\n).*?(<!-- /keys -->)", re.DOTALL)
    return marked.sub(lambda match: f"{match[1]}{drawn()}{match[2]}", PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), "utf-8")
