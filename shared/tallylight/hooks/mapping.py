"""
The mapping: the meaning of one event of an agent, in the keys of OSC 1338.

In: the agent's compact table, the event, the members of the payload. Out: the keys and values, or None if the event
means nothing. A payload of any shape is taken; a field of another shape counts as absent. Texts are cut to a line and
are not sanitised: the decoder of OSC 1338 does that.

Two keys are for `hooks.order` alone: `of` names the tool of a wait or an end, `weak` marks an event that another one
reports better.
"""

from __future__ import annotations

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Characters of a message and of any other text that are kept.
MESSAGE_CHARS = 200
TEXT_CHARS = 1024
#: Characters of texts that are kept even where the whole report is too long. One more than a session id may have: a
#: long id must not become another.
SESSION_CELLS = 257
MODE_CHARS = 64
MAX_HOOK_ID_CHARS = 64
_ID = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@+-")


def report(table: Mapping[str, Any], event: str, payload: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the keys of the report for one event; *event* may be empty where the payload names it."""
    names = table["fields"]
    rule = _rule(table["events"].get(event or _text(_find(payload, names["event"])), ()), payload)
    if rule is None or rule[1] == "nothing":
        return None
    status, of_child = rule[1], rule[6]
    child = _id(_find(payload, names["child"]))
    if child is None or (of_child and not child):
        return None  # it is of an unknown subagent
    made = {"state": status, "kind": rule[2]}
    if status == "clear" and not child:
        return made | {"title": ""}
    if child:
        made["id"] = child
    made["title"] = _line(_text(_find(payload, names["child_title" if child else "title"])), TEXT_CHARS)
    tasks = _find(payload, names["tasks"])
    if status == "done" and not child and isinstance(tasks, list) and tasks:
        made["state"] = "background"
        made["background"] = str(min(len(tasks), 9999))
    made["session"] = _line(_text(_find(payload, names["session"])), SESSION_CELLS)
    made["cwd"] = _line(_text(_find(payload, names["cwd"])), TEXT_CHARS)
    made["mode"] = _line(_text(_find(payload, names["mode"])), MODE_CHARS)
    return made | _words(rule, names, payload, made)


def _words(rule: Any, names: Mapping[str, str], payload: Mapping[str, Any], made: Mapping[str, str]) -> dict[str, str]:
    """Return the message and the question of the event of *made*, and its tool."""
    _, status, kind, messages, weak, ends_tool, _ = rule
    words = {}
    name, given = _find(payload, names["tool"]), _find(payload, names["input"])
    tool = _tool(name, given)
    asked = told = ""
    if made["state"] == "done" and "id" not in made:
        from tallylight.model.prose import last_question, last_sentence  # few events need it, and an agent waits

        # The question that the agent's last words end with, else their last sentence.
        said = next(filter(None, (_find(payload, source) for source in messages if source != "tool")), None)
        asked = last_question(said)
        told = _line(last_sentence(said), MESSAGE_CHARS)
    if asked:
        words["kind"] = "question"
    if message := asked or told or _message(messages, payload, tool):
        words["message"] = message
    if status == "waiting" and kind == "permission":
        from tallylight.model.tool_call import tool_call

        words["what"] = tool_call(name, given, made["cwd"])
    if tool and (ends_tool or status == "waiting"):
        words["of"] = f"{crc32(tool.encode('utf-8', 'replace')):08x}"
    if weak:
        words["weak"] = "1"
    return words


def _message(messages: Any, payload: Mapping[str, Any], tool: str) -> str:
    """Return the first of *messages* that is not empty."""
    for source in messages:
        if text := tool if source == "tool" else _line(_text(_find(payload, source)), MESSAGE_CHARS):
            return text
    return ""


def _rule(rules: Any, payload: Mapping[str, Any]) -> Any:
    """Return the first rule where each field has one of the values it names."""
    for rule in rules:
        if all(_plain(_find(payload, field)) in allowed for field, allowed in rule[0]):
            return rule
    return None


def _find(payload: Any, name: str) -> Any:
    """
    Return the value at the dotted *name*, or None. A text that holds an object (Copilot's arguments) is not parsed.
    """
    if not name:
        return None
    for part in name.split("."):
        if isinstance(payload, dict):
            payload = payload.get(part)
        elif isinstance(payload, list) and part.isdigit() and int(part) < len(payload):
            payload = payload[int(part)]
        else:
            return None
    return payload


def _plain(value: Any) -> str:
    """Return a value in the notation of rules."""
    if value is True or value is False:
        return "true" if value else "false"
    return _text(value)


def _text(value: Any) -> str:
    """Return a text, or a number as one; "" for any other value."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int and abs(value) < 1 << 63 else ""


def _line(text: str, most: int) -> str:
    """Return the first line of *text* that is not empty, cut to *most* characters."""
    text = text[: 16 * most].strip()
    for end in "\n\r":
        text = text.partition(end)[0].rstrip()
    return text if len(text) <= most else text[: most - 1] + "…"


def _tool(name: Any, given: Any) -> str:
    """Return a tool with its argument: `Bash: npm test`."""
    tool = _line(_text(name), 64)
    if not tool:
        return ""
    what = ""
    if isinstance(given, str):
        what = given if not given.startswith(("{", "[")) else ""
    elif isinstance(given, dict):
        from tallylight.model.tool_call import target

        what = target(given)
    what = _line(what, MESSAGE_CHARS - len(tool) - 2)
    return f"{tool}: {what}" if what else tool


def _id(value: Any) -> str | None:
    """Return a subagent's id as a name of an id path; "" for none, None for one that is no name."""
    text = _text(value)
    if not text:
        return ""
    made = "".join(character if character in _ID else "-" for character in text[:MAX_HOOK_ID_CHARS])
    return made if made.strip("-") else None
