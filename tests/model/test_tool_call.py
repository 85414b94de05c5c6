"""A tool call in one line, from whatever an agent tells of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.model.tool_call import MAX_CALL_CHARS, MAX_TURN_EDITS, alike, replaced, tool_call

OLD = "def f():\n    return 1\n\nlast\n"
NEW = "def f(x):\n    y = x\n    return y\n\nlast\n"
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n+z\n*** Add File: b.py\n+new\n*** End Patch"

CALLS: list[tuple[str, Any, str, str]] = [
    ("Bash", {"command": "npm test"}, "", "Bash: npm test"),
    ("Bash", {"command": " a\nb \n"}, "", "Bash: a\nb"),
    ("shell", {"command": ["ls", "-l"]}, "", "shell: ls -l"),
    ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "", "shell: ls | wc"),
    ("shell", {"command": ["bash", "x", "y"]}, "", "shell: bash x y"),
    ("Edit", {"file_path": "/w/src/api.py", "old_string": OLD, "new_string": NEW}, "/w", "Edit src/api.py (+3 −2)"),
    ("Edit", {"file_path": "/w/src/api.py"}, "/w/", "Edit src/api.py"),
    ("Edit", {"file_path": "/other/api.py"}, "/w", "Edit /other/api.py"),
    ("Edit", {"file_path": "/web/api.py"}, "/w", "Edit /web/api.py"),
    ("Write", {"file_path": "a.txt", "content": "1\n2\n"}, "", "Write a.txt (+2 −0)"),
    ("edit", {"filePath": "a", "oldString": "x", "newString": "x"}, "", "edit a"),
    (
        "MultiEdit",
        {
            "file_path": "a",
            "edits": [{"old_string": "x", "new_string": ""}, {"old_string": "", "new_string": "a\nb"}, 3],
        },
        "",
        "MultiEdit a (+2 −1)",
    ),
    ("WebFetch", {"url": "https://example.org/x", "prompt": "p"}, "", "WebFetch example.org/x"),
    ("WebFetch", {"url": "http://example.org"}, "", "WebFetch http://example.org"),
    ("Grep", {"pattern": "x.*"}, "", "Grep: x.*"),
    ("Task", {"prompt": "Look\nand see"}, "", "Task: Look\nand see"),
    ("apply_patch", PATCH, "", "apply_patch a.py, b.py (+3 −1)"),
    ("apply_patch", {"input": PATCH}, "", "apply_patch a.py, b.py (+3 −1)"),
    ("shell", {"command": ["apply_patch", PATCH]}, "", "shell a.py, b.py (+3 −1)"),
    ("shell", {"command": PATCH}, "", "shell a.py, b.py (+3 −1)"),
    ("bash", '{"command": "ls"}', "", ""),
    ("bash", {}, "", ""),
    ("bash", {"command": 5}, "", ""),
    ("bash", {"command": "  "}, "", ""),
    ("bash", None, "", ""),
    ("", {"command": "ls"}, "", ""),
    (None, {"command": "ls"}, "", ""),  # type: ignore[list-item]
    ("two\nlines", {"command": "ls"}, "", "two: ls"),
]


def test_calls() -> None:
    """Commands, files with what is added and removed, addresses, patches; nothing of what tells nothing."""
    assert [tool_call(name, given, cwd) for name, given, cwd, _ in CALLS] == [expected for *_, expected in CALLS]


def test_bounds() -> None:
    """Both ends are kept of what is long; so many edits are counted."""
    for length, is_cut in ((MAX_CALL_CHARS - 3, False), (MAX_CALL_CHARS - 2, True)):
        found = tool_call("a", {"command": "x" * (length - 1) + "y"})
        assert (len(found) <= MAX_CALL_CHARS, "…" in found, found[-1]) == (True, is_cut, "y")
    edits = [{"old_string": "", "new_string": "x"}] * (MAX_TURN_EDITS + 1)
    assert tool_call("E", {"path": "a", "edits": edits}) == f"E a (+{MAX_TURN_EDITS} −0)"


REPLACED: list[tuple[Any, list[tuple[str, str | None, str]]]] = [
    ({"file_path": "/w/a.py", "old_string": "x", "new_string": ""}, [("/w/a.py", "x", "")]),
    ({"path": "a", "content": "all"}, [("a", None, "all")]),
    ({"path": "a", "edits": [{"oldText": "x", "newText": "y"}, 3, {"oldText": "z"}]}, [("a", "x", "y")]),
    (PATCH, [("a.py", "x", "y\nz"), ("b.py", None, "new")]),
    ({"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}, [("a.py", "x", "y\nz"), ("b.py", None, "new")]),
    ({"input": PATCH.replace("@@\n-x", "@@ def f():\n a\n-x\n@@\n b\n-c")}, [
        ("a.py", "a\nx", "a"), ("a.py", "b\nc", "b\ny\nz"), ("b.py", None, "new"),
    ]),
    ({"file_path": "a.py"}, []), ({"pattern": "x", "path": "a"}, []), ({"command": "ls"}, []), ("ls", []), (None, []),
    ({"path": "a", "new_string": 5}, []), ({"content": "x"}, []), ("*** Begin Patch\n+x\n*** End Patch", []),
]  # fmt: skip


def test_what_is_replaced() -> None:
    """The texts of edits, of several edits in one call and of patches, wherever these stand; nothing of other calls."""
    assert [replaced(given) for given, _ in REPLACED] == [expected for _, expected in REPLACED]


@given(st.lists(st.sampled_from("ab")), st.lists(st.sampled_from("ab")))
def test_lines_that_are_alike(old: list[str], new: list[str]) -> None:
    """They begin and end both texts, and no line counts twice."""
    before, after = alike(old, new)
    assert before + after <= min(len(old), len(new))
    assert old[:before] == new[:before]
    assert old[len(old) - after :] == new[len(new) - after :]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)
KEYS = ("command", "file_path", "url", "prompt", "edits", "old_string", "new_string", "content", "input", "patch")


@pytest.mark.slow
@given(JSON, st.dictionaries(st.sampled_from(KEYS), JSON) | JSON, JSON)
def test_any_shape(name: Any, given: Any, cwd: Any) -> None:
    """Whatever is in a payload: a text, and never too much of it."""
    assert len(tool_call(name, given, cwd)) <= MAX_CALL_CHARS
    assert all(isinstance(path, str) and isinstance(new, str) for path, _, new in replaced(given))
