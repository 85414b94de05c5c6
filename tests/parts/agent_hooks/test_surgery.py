"""Surgery on JSON files: what goes in comes out, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tallylight.model.errors import TallyError
from tallylight.parts.agent_hooks import json_edit
from tallylight.parts.agent_hooks.jsonc import parse
from tests.strategies import at_most
from tests.tables import each

COMMAND = "'/home/me/.local/share/tallylight/bin/tally' hook claude {event} 2>/dev/null || true"
EVENTS = ("SessionStart", "PreToolUse", "Stop")
TEMPLATE = '{"type": "command", "command": "{command}", "timeout": 5}'


def hooks(events: tuple[str, ...] = EVENTS) -> dict[str, dict[str, Any]]:
    return {event: json_edit.entry(TEMPLATE, COMMAND.replace("{event}", event)) for event in events}


def install(text: str, *, grouped: bool = True) -> tuple[str, tuple[str, ...]]:
    return json_edit.insert(text, hooks(), grouped=grouped)


def remove(done: str, pieces: tuple[str, ...], *, grouped: bool = True) -> str:
    return json_edit.remove(done, "claude", pieces, grouped=grouped)


def data(text: str) -> Any:
    node = parse(text)
    return {} if node is None else node.data()


def others(found: dict[str, Any]) -> dict[str, Any]:
    """What is not ours."""
    left = {key: value for key, value in found.items() if key != "hooks"}
    kept = {}
    for event, groups in found.get("hooks", {}).items():
        mine = (
            [group for group in groups if "tallylight" not in json.dumps(group)] if isinstance(groups, list) else groups
        )
        if mine:
            kept[event] = mine
    return left | ({"hooks": kept} if kept else {})


OTHER = '{"hooks": [{"type": "command", "command": "notify-send done"}]}'

SHAPES = {
    "nothing": "",
    "a line end": "\n",
    "only a comment": "// mine\n",
    "a comment without a line end": "/* mine */",
    "empty": "{}",
    "empty, with a line end": "{}\n",
    "empty, with a space": "{ }",
    "empty, on two lines": "{\n}\n",
    "empty, with a comment": "{\n  // nothing yet\n}\n",
    "one line": '{"model": "opus"}',
    "two spaces": '{\n  "model": "opus",\n  "env": {"A": "1"}\n}\n',
    "four spaces": '{\n    "model": "opus"\n}\n',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "odd indentation": '{\n   "model": "opus",\n "b": [1,\n2]}',
    "CRLF": '{\r\n  "model": "opus"\r\n}\r\n',
    "a byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "a trailing comma": '{\n  "model": "opus",\n}\n',
    "a trailing comma, one line": '{"model": "opus",}',
    "comments": '{\n  // which\n  "model": "opus" // the big one\n  /* end */\n}\n',
    "no hooks in hooks": '{"hooks": {}}',
    "hooks of another event": '{\n  "hooks": {\n    "Setup": [\n      ' + OTHER + "\n    ]\n  }\n}\n",
    "hooks of the same event": '{\n  "hooks": {\n    "Stop": [\n      ' + OTHER + "\n    ]\n  },\n  \"z\": null\n}\n",
    "an empty event": '{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [ ]\n  }\n}\n',
    "one line of hooks": '{"hooks": {"Stop": [' + OTHER + "]}}",
    "comments among hooks": '{\n  "hooks": {\n    "Stop": [\n      ' + OTHER + ", // mine\n    ], /* x */\n  },\n}\n",
    "two of the same name": '{"hooks": {}, "hooks": {"Stop": []}}',
    "other settings among hooks": '{"hooks": {"enabled": true}}',
}  # fmt: skip


@each("grouped", [True, False], ids=["groups", "list"])
@each("text", SHAPES.values(), ids=SHAPES)
def test_what_went_in_comes_out(text: str, grouped: bool) -> None:
    """Our hooks are all there after the insertion, beside all that was there; after the removal all is as it was."""
    done, pieces = install(text, grouped=grouped)

    found = json_edit.ours(done, "claude", grouped=grouped)
    assert sorted(found) == sorted(EVENTS)
    assert others(data(done)) == others(data(text))
    assert remove(done, pieces, grouped=grouped) == text


@each("text", SHAPES.values(), ids=SHAPES)
def test_removed_without_a_memory_of_it(text: str) -> None:
    """Where the pieces are not known any more, our hooks go, and the values of all others stay."""
    left = json_edit.remove(install(text)[0], "claude", grouped=True)

    assert json_edit.ours(left, "claude", grouped=True) == {}
    assert others(data(left)) == others(data(text))


PLAIN = [name for name, text in SHAPES.items() if text.startswith("{") and "//" not in text and ",\n}" not in text]


@each("name", [name for name in PLAIN if name not in ("a trailing comma, one line",)])
def test_plain_json_stays_plain(name: str) -> None:
    """A text that the strictest reader takes is one that it takes afterwards, too."""
    text = SHAPES[name]
    before = json.loads(text)
    done, _ = install(text)

    assert others(json.loads(done)) == others(before)
    json.loads(json_edit.remove(done, "claude", grouped=True))


def test_written_anew_by_the_agent() -> None:
    """An agent that writes its settings out in its own style does not keep us from taking our hooks out."""
    done, pieces = install(SHAPES["hooks of the same event"])
    anew = json.dumps(json.loads(done) | {"model": "sonnet"}, indent=4)

    left = json_edit.remove(anew, "claude", pieces, grouped=True)

    assert json.loads(left) == json.loads(SHAPES["hooks of the same event"]) | {"model": "sonnet"}


@pytest.mark.parametrize(
    ("before", "after"),
    [('"model": "opus"', '"model": "sonnet", "x": [1, 2]'), ('{"A": "1"}', '{"A": "1" /* why */, "B": 2}')],
)
def test_edited_elsewhere_meanwhile(before: str, after: str) -> None:
    """What a person changed elsewhere in the file stays, and the rest is as before to the byte."""
    text = SHAPES["two spaces"]
    done, pieces = install(text)
    edited = done.replace(before, after)
    assert edited != done

    assert remove(edited, pieces) == text.replace(before, after)


def test_a_comment_before_ours_ends_where_it_did() -> None:
    """Taking out a hook that stands behind a comment does not make the rest of its line a part of that comment."""
    command = COMMAND.replace("{event}", "Stop")
    text = f'{{"hooks": {{"Setup": [], // mine\n"Stop": [{{"command": "{command}"}}]}}}}'

    assert data(json_edit.remove(text, "claude", grouped=False)) == {"hooks": {"Setup": []}}


def test_a_hook_added_to_our_group_stays() -> None:
    """A person's hook beside ours in one group outlives it."""
    found = json.loads(install("{}")[0])
    found["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "beep"})

    left = json.loads(json_edit.remove(json.dumps(found), "claude", grouped=True))

    assert left == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}


def test_hooks_of_another_agent_are_not_ours() -> None:
    """`tally hook qwen` in Claude's file belongs to whoever put it there."""
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "/x/tally hook qwen Stop"}]}]}})

    assert json_edit.remove(text, "claude", grouped=True) == text


@each(
    ("command", "agent"),
    [
        ("/home/me/bin/tally hook claude Stop", "claude"),
        ("'/home/my self/tallylight/bin/tally' hook codex 2>/dev/null || true", "codex"),
        ("tally hook gemini", "gemini"),
        ("/usr/bin/rtally hook claude", ""),
        ("tally hooks claude", ""),
        ("echo tally", ""),
        ("ally hook claude", ""),
    ],
)
def test_which_commands_are_ours(command: str, agent: str) -> None:
    """A command is ours if it runs a program named tally with the verb hook."""
    assert json_edit.agent_of(command) == agent


@each(
    ("text", "says"),
    [
        ('{"a": 1', "line 1, column 8: it ends before a }"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3: a comma or } is expected"),
        ("{'a': 1}", 'line 1, column 2: a name in "…" is expected'),
        ('{"a" 1}', "line 1, column 6: a colon is expected"),
        ('{"a": }', "line 1, column 7: a value is expected"),
        ('{"a": tru}', "a value is expected"),
        ('{"a": nullx}', "a value is expected"),
        ('{"a": 01}', "a value is expected"),
        ('{"a": "x\n"}', "this text does not end on its line"),
        ('{"a": "\\q"}', "wrong escape"),
        ('{"a": 1}}', "line 1, column 9: something follows"),
        ("{} /* open", "something follows"),
        ("[1]", "it does not hold an object"),
        ('{"hooks": []}', '"hooks" is not an object'),
        ('{"hooks": {"Stop": {}}}', "an event in \"hooks\" is not a list"),
        ("[" * 200, "levels deep"),
        ("{,}", 'a name in "…" is expected'),
        ('{"a":,}', "a value is expected"),
        ("<<<<<<< HEAD\n{}", "a value is expected"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused(text: str, says: str) -> None:
    """A file that cannot be read is not touched, and the place is named."""
    with pytest.raises(TallyError) as error:
        install(text)

    assert says in str(error.value)


# Any JSON, as anybody may have written it ---------------------------------------------------------------------

GAPS = ("", "", "", " ", "\n", "\n  ", "\t", "\r\n", " // note\n", " /* note */ ", "\n    /* a\n b */\n")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
)
HOOK = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["beep", "a 'b' \"c\"", "{}"])})
GROUPS = st.lists(
    st.fixed_dictionaries({"matcher": st.text(max_size=3), "hooks": st.lists(HOOK, max_size=3)}), max_size=3
)
SETTINGS = st.dictionaries(st.text(max_size=8).filter(lambda key: key != "hooks"), VALUES, max_size=5)
HOLDER = st.dictionaries(st.sampled_from([*EVENTS, "Setup", "Other"]), GROUPS, max_size=5)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document in any style, with comments and trailing commas, or without."""
    found = draw(SETTINGS)
    if draw(st.booleans()):
        found["hooks"] = draw(HOLDER)
    gaps = GAPS if draw(st.booleans()) else GAPS[:8]
    trailing = draw(st.booleans())
    plain = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    if draw(st.booleans()):
        return json.dumps(found, indent=plain, ensure_ascii=draw(st.booleans()))

    def gap() -> str:
        return draw(st.sampled_from(gaps))

    def written(value: Any) -> str:
        if isinstance(value, dict):
            items = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{written(item)}{gap()}" for key, item in value.items()]
        elif isinstance(value, list):
            items = [f"{gap()}{written(item)}{gap()}" for item in value]
        else:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        inside = ",".join(items) + ("," + gap() if items and trailing else "") or gap()
        return "{" + inside + "}" if isinstance(value, dict) else "[" + inside + "]"

    return draw(st.sampled_from(["", "\ufeff", "\n", "// head\n"])) + written(found) + gap()


@pytest.mark.slow
@settings(max_examples=at_most(150), deadline=None)
@given(documents(), st.booleans())
def test_any_document_is_as_it_was(text: str, grouped: bool) -> None:
    """In whatever style a document is written: all of its data is in it with our hooks, and all bytes without."""
    before = data(text)
    done, pieces = install(text, grouped=grouped)

    assert others(data(done)) == others(before)
    assert sorted(json_edit.ours(done, "claude", grouped=grouped)) == sorted(EVENTS)
    assert remove(done, pieces, grouped=grouped) == text
    forgotten = json_edit.remove(done, "claude", grouped=grouped)
    assert others(data(forgotten)) == others(before)


@settings(max_examples=at_most(200), deadline=None)
@given(st.text(alphabet='{}[]",:\\ \n/*a1\ufeff', max_size=30))
def test_any_text_is_taken_or_refused(text: str) -> None:
    """No text makes it do anything but insert what comes out again, or refuse."""
    try:
        done, pieces = install(text)
    except TallyError:
        return
    assert remove(done, pieces) == text


@pytest.mark.slow
@settings(max_examples=at_most(200), deadline=None)
@given(VALUES)
def test_what_json_writes_is_read(value: Any) -> None:
    """The parser reads what `json` writes, as `json` reads it."""
    text = json.dumps(value)
    assume(value is not None)
    node = parse(text)

    assert node is not None
    assert node.data() == json.loads(text)
