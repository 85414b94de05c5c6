"""
Drafts an agent file: as few and plain rules as possible that distinguish the sightings of an agent.

`draft` makes a `Draft` of sightings, and `write` its text. A rule is a pattern of one row or two that occurs in one
kind of sighting and in no other. It is the first glyph of a spinner, the glyph of an input, or two to four words that
stay while others change. Sightings without such a pattern get no rule: only dialogs, output and silence remain for
them, and the draft has a note. `proved` replays the recordings with the draft, and removes each rule that is wrong on a
screen that a person has labelled.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from tallylight.agents.agent import Agent, parse_agent
from tallylight.agents.screens import MAX_LAST_ROWS
from tallylight.evidence.commands import interpreter_name, unwrap
from tallylight.evidence.dialogs import kind_of
from tallylight.evidence.ordinary import is_ordinary, own_name, own_place
from tallylight.evidence.process import GENERIC_SCRIPTS, base_name, script_name
from tallylight.model import attributes
from tallylight.model.decision import Decision
from tallylight.model.status import Kind
from tallylight.parts.lab.asciicast import Event, Header
from tallylight.parts.lab.check import Result, check, rule_of
from tallylight.parts.lab.events import Program
from tallylight.parts.lab.scoring import class_of
from tallylight.parts.lab.sightings import ASKING, BUSY, FAILED, IDLE, Seen, Sighting, is_hint

#: Spinners, as a pattern's class.
_SPINNERS = ("⠁-⣿", "◐-◗", "🌑-🌘", "·✢✳✶✻✽")
_SPINNER = [re.compile(f"[{family}](?: |$)") for family in _SPINNERS]
_PROMPT = re.compile(r"([>❯›])(?: |$)")
_BARE = re.compile(r"\S{0,12}[>❯›$%#:]")
#: After a prompt: nothing, or typed text.
_OR_TYPED = "(?: |$)"
_WORD = re.compile(r"\S+")
_PLAIN = re.compile(r"[^\W\d_][^\W\d]{2,}")
#: Signs of the names of files and tools, and of the text around them.
_NAMES = re.compile(r"[_\"/{}=<`]|\w\\\(")
#: Words of a phrase, and its longest text in characters.
_PHRASE_WORDS, _MAX_PHRASE_CHARS = (2, 3, 4), 60
#: Rules of one kind.
_MAX_RULES_A_KIND = 4
#: A rule must match this share of its sightings; a plain one, of a spinner, the smaller share.
_LEASTS = 0.3, 0.1
#: A phrase in a smaller share of all of them is only a word of a text.
_LEAST_REACHED = 0.2
#: This share of the others may match, too: their labels are guesses.
_STRAY = 0.05
#: The rows within which a pattern keeps its distance from the end in nine of ten looks: text that scrolls away is no
#: sign.
_NEAR = 5
#: The least share of rest with the input, or with words beside it. A bare input is missing while something is typed, or
#: while a command runs.
_LEAST_INPUT, _LEAST_WORDS, _LEAST_BARE = 0.4, 0.8, 0.25
#: The least share of work without the input, for its absence to be a sign of work.
_LEAST_GONE = 0.9
#: The most patterns of an input to compare.
_MAX_INPUT_PATTERNS = 1000
#: Priorities: an agent's questions, then any program's dialogs, then work, then the input.
_MENU, _ROW, _GONE = "menu", "row", "gone"
_PRIORITY = {_MENU: 12, ASKING: 10, FAILED: 5, _ROW: -2, BUSY: -3, IDLE: -5, _GONE: -10}
_OF = {_MENU: IDLE, _ROW: ASKING, _GONE: BUSY}
_STATUSES = {ASKING: "waiting", FAILED: "error", BUSY: "working", IDLE: "idle"}
_STATUS = {label: _STATUSES[_OF.get(label, label)] for label in _PRIORITY}
_NAME = {_MENU: "menu", ASKING: "asks", FAILED: "failed", BUSY: "works", IDLE: "prompt"}
_NAME |= {_ROW: "asks in a row", _GONE: "no prompt"}


@attrs.frozen
class Rule:
    """One rule: patterns that all match in the *last* rows, and the share of its sightings that it *reached*."""

    label: str
    name: str
    patterns: tuple[str, ...]
    last: int
    reached: float
    kind: Kind | None = None
    question: str = ""
    without: tuple[str, ...] = ()
    #: The rows to search: one of `agents.screens.PLACES`.
    where: str = "end"
    #: The least priority.
    least: float = -math.inf

    @property
    def priority(self) -> float:
        """The priority; a rule for a missing prompt counts only where nothing else does."""
        return _PRIORITY[self.label] if self.label == _GONE else max(_PRIORITY[self.label], self.least)


@attrs.frozen
class Draft:
    """The parts of an agent file: rules, and the glyphs of the title while it works."""

    rules: tuple[Rule, ...]
    glyphs: tuple[str, ...]
    has_bar: bool
    #: The looks of each label, and those that ask with a dialog that needs no rule.
    counts: dict[str, int]
    plain: int


def draft(seen: Sequence[Seen]) -> Draft:
    looks = [
        attrs.evolve(look, segment=look.segment + 10_000 * number)
        for number, one in enumerate(seen)
        for look in one.sightings
    ]
    by_label = {label: [look for look in looks if look.label == label] for label in (BUSY, IDLE, ASKING, FAILED)}
    unread = [look for look in by_label[ASKING] if not look.is_read]
    rules = [*_of_menus(by_label), *_of_labels(by_label, unread)]
    counts = {label: len(found) for label, found in by_label.items()}
    plain = len(by_label[ASKING]) - len(unread)
    return Draft(tuple(rules), _glyphs(by_label), any(one.has_bar for one in seen), counts, plain)


def _of_menus(by_label: Mapping[str, Sequence[Sighting]]) -> Iterator[Rule]:
    """Return the rules of menus that look like a dialog, and that the person opened."""
    menus = [look for look in by_label[IDLE] if look.is_read and look.is_sure]
    return _rules(_MENU, menus, _without(by_label, IDLE))


def _of_labels(by_label: Mapping[str, Sequence[Sighting]], unread: Sequence[Sighting]) -> Iterator[Rule]:
    """Yield the rules for all labels. A question has a higher priority than work: a spinner may turn beside it."""
    others = _without(by_label, ASKING)
    idle = list(_idle(by_label[IDLE], by_label[ASKING], by_label[BUSY]))
    # Two ways to recognise a question: its hint at keys, which may be cut off, and its words, which may change.
    asks = [*_rules(ASKING, unread, others, is_hint), *_rules(ASKING, unread, others, lambda row: not is_hint(row))]
    asks = [attrs.evolve(rule, name=_name(ASKING, number)) for number, rule in enumerate(asks)]
    if idle and not any(re.match(idle[0].patterns[0], row) for look in by_label[ASKING] for row in look.rows):
        # A dialog that is quoted above the input is none.
        asks = [attrs.evolve(rule, without=idle[0].patterns) for rule in asks]
    yield from asks
    yield from _in_a_row(by_label[ASKING], others, idle)
    yield from _rules(FAILED, by_label[FAILED], _without(by_label, FAILED))
    unknown = [] if asks else [look for look in unread if look.is_sure]
    yield from _rules(BUSY, by_label[BUSY], [*by_label[IDLE], *by_label[FAILED], *unknown])
    for rule in idle:
        yield from _gone(rule, by_label[BUSY], by_label[IDLE])
        yield rule


def _in_a_row(asking: Sequence[Sighting], others: Sequence[Sighting], idle: Sequence[Rule]) -> Iterator[Rule]:
    """Yield a rule for the last word of questions in the cursor's row: it also counts after the cursor has moved."""
    asked = [look for look in asking if look.is_read and look.cursor == look.rows[-1]]
    words = Counter(look.cursor.rpartition(" ")[2] for look in asked)
    for word, count in words.most_common(1):
        ending = re.compile(rf".* {re.escape(word)}$")
        found = [look for look in asked if ending.match(look.cursor)]
        if found and not any(ending.match(look.rows[-1]) for look in others):
            rule = _rule(_ROW, 0, ending.pattern, found, count / len(asking))
            typed = [pattern for one in idle for pattern in one.patterns]
            yield attrs.evolve(rule, last=1, kind=kind_of(found[0].cursor), without=tuple(typed))


def _without(by_label: Mapping[str, Sequence[Sighting]], label: str) -> list[Sighting]:
    return [look for other, looks in by_label.items() if other != label for look in looks]


def _rules(
    label: str, wanted: Sequence[Sighting], others: Sequence[Sighting], counts: Callable[[str], bool] = bool
) -> Iterator[Rule]:
    """
    Yield the fewest patterns, of rows that *counts* accepts, that are in most of *wanted* and in none of *others*.
    """
    left = _spread(wanted)
    total = _weight(left)
    foreign = _spread(others)
    most = _STRAY * _weight(foreign)

    @functools.cache
    def is_free(pattern: str) -> bool:
        return _is_free(pattern, left, foreign, most)

    for number in range(_MAX_RULES_A_KIND):
        ranked = _ranked(left, lambda look: {found for row in look.rows if counts(row) for found in _patterns(row)})
        if label == BUSY:  # these are there whatever it works on; other words may belong to this turn only
            ranked.sort(key=lambda pair: pair[0][0] != "[" and "interrupt" not in pair[0])
        whole = _weight(left)
        enough = (pattern for pattern, weight in ranked if weight >= whole * _LEASTS[pattern[0] == "["])
        best = next(filter(is_free, enough), None)
        if best is None:
            return
        compiled = re.compile(best)
        hit = [look for look, _ in left if _is_in(compiled, look)]
        reached = _weight(left, compiled) / total
        if reached < _LEAST_REACHED and best[0] != "[":
            return
        left = [pair for pair in left if not _is_in(compiled, pair[0])]
        yield _rule(label, number, best, hit, reached)
        if _weight(left) < 0.02 * total:
            return


def _is_free(
    pattern: str, wanted: Sequence[tuple[Sighting, float]], others: Sequence[tuple[Sighting, float]], most: float
) -> bool:
    """Return whether *pattern* keeps its place, and is in few of the *others*, none of them sure."""
    compiled = re.compile(pattern)
    found = [(look.is_sure, weight) for look, weight in others if _is_in(compiled, look)]
    if any(is_sure for is_sure, _ in found) or sum(weight for _, weight in found) > most:
        return False
    if pattern[0] == "[":  # text pushes a spinner up; a glyph that never changes is none
        glyphs = {row[0] for look, _ in wanted for row in look.rows if compiled.match(row)}
        return len(glyphs) > 1 or len(wanted) == 1
    return _stays(_distances_from_end(compiled, wanted))


def _is_in(pattern: re.Pattern[str], look: Sighting) -> bool:
    return any(map(pattern.match, look.rows))


def _weight(looks: Sequence[tuple[Sighting, float]], pattern: re.Pattern[str] | None = None) -> float:
    """Return the sum of the weights of *looks*, or of those with *pattern*."""
    return sum(weight for look, weight in looks if pattern is None or _is_in(pattern, look))


def _distances_from_end(pattern: re.Pattern[str], looks: Iterable[tuple[Sighting, float]]) -> list[int]:
    """Return the distances of *pattern* from the end of the screen in *looks*, in order."""
    backs = (next((n for n, row in enumerate(reversed(look.rows)) if pattern.match(row)), -1) for look, _ in looks)
    return sorted(back for back in backs if back >= 0)


def _stays(backs: Sequence[int]) -> bool:
    """Return whether these distances from the end are nearly constant."""
    return bool(backs) and backs[len(backs) * 19 // 20] - backs[len(backs) // 20] <= _NEAR


def _name(label: str, number: int) -> str:
    return f"{_NAME[label]} {number + 1}" if number else _NAME[label]


def _rule(label: str, number: int, pattern: str, looks: Sequence[Sighting], reached: float) -> Rule:
    """Return the rule number *number* for *label* with *pattern*, which *reached* that share of its sightings."""
    compiled = re.compile(pattern)
    depth = max(next(back for back, row in enumerate(reversed(look.rows), 1) if compiled.match(row)) for look in looks)
    name = _name(label, number)
    if label != ASKING:
        last = min(48, depth + 2)
        if label == BUSY and pattern[0] == "[":
            backs = _distances_from_end(compiled, [(look, 1.0) for look in looks])
            last = min(last, backs[len(backs) * 3 // 4] + _NEAR)  # further up it is a spinner that has stopped
        return Rule(label, name, (pattern,), last, reached)
    texts = "\n".join(row for look in looks[:50] for row in look.rows[-10:])
    is_asked = sum(any(row.endswith("?") for row in look.rows) for look in looks) * 2 > len(looks)
    return Rule(label, name, (pattern,), min(48, depth + 2), reached, kind_of(texts), ".*\\?$" if is_asked else "")


def _idle(idle: Sequence[Sighting], asking: Sequence[Sighting], busy: Sequence[Sighting]) -> Iterator[Rule]:
    """
    Yield the rule of the input: it is always there at rest; at best never during work or a question.

    The rules of both of these come first anyway.
    """
    left = _spread(idle)
    total = _weight(left)
    asked = {row for look in asking for row in look.rows}
    worked = _spread(busy)
    best: tuple[float, str, float] | None = None
    ranked = _ranked(left, lambda look: {found for row in look.rows[-10:] for found in _patterns(row, is_prompt=True)})
    for pattern, weight in ranked[:_MAX_INPUT_PATTERNS]:
        compiled = re.compile(pattern)
        least = _least(pattern)
        if weight < least * total:
            continue
        backs = _distances_from_end(compiled, left)
        if not _stays(backs):
            continue
        busy_share = _weight(worked, compiled) / (_weight(worked) or 1)
        score = weight / total + _worth(pattern, backs[len(backs) // 2], busy_share)
        score -= 0.15 * (least != _LEAST_WORDS and any(map(compiled.match, asked)))
        if best is None or score > best[0] + 1e-9:
            best = (score, pattern, weight / total)
    if best is not None:
        compiled = re.compile(best[1])
        found = [look for look, _ in left if _is_in(compiled, look)]
        yield _at_cursor(_rule(IDLE, 0, best[1], found, best[2]), found)


def _least(pattern: str) -> float:
    """Return the least share of rest in which *pattern* must be, to be the sign of an input."""
    if pattern.endswith("$"):
        return _LEAST_BARE
    return _LEAST_INPUT if pattern[0] == "[" else _LEAST_WORDS


def _at_cursor(rule: Rule, looks: Sequence[Sighting]) -> Rule:
    """Return *rule* of a bare prompt, extended to typed text if the cursor is always in it."""
    bare = rule.patterns[0]
    if not bare.endswith("$") or any(not re.match(bare, look.cursor) for look in looks):
        return rule
    return attrs.evolve(rule, patterns=(bare[:-1] + _OR_TYPED,), where="at cursor", last=MAX_LAST_ROWS)


def _gone(idle: Rule, busy: Sequence[Sighting], rest: Sequence[Sighting]) -> Iterator[Rule]:
    """Yield a rule that it works while its prompt is not the last row, if that is so in all looks."""
    if idle.where != "at cursor":
        return
    prompt = idle.patterns[0].removesuffix(_OR_TYPED)
    compiled = re.compile(f"{prompt}$")
    is_last = all(compiled.match(look.rows[-1]) for look in rest if _is_in(compiled, look))
    reached = sum(not any(map(compiled.match, look.rows[-1:])) for look in busy) / (len(busy) or 1)
    if is_last and reached >= _LEAST_GONE and len({look.rows for look in busy}) > 1:
        # A sent prompt has begun work, but a command to itself has not.
        yield Rule(_GONE, _name(_GONE, 0), (".*",), 1, reached, without=(compiled.pattern, f"{prompt} /"))


def _worth(pattern: str, back: int, busy_share: float) -> float:
    """
    Return the quality of *pattern* as a sign of an input, at this distance from the end and share of work.

    The bare sign of an input is best; a word alone, or one far up, may be anything. Text that no work shows is mostly
    part of an answer: an input stays.
    """
    is_bare, is_glyph = pattern.endswith("$"), pattern[0] == "["
    found = 0.35 * is_bare + 0.3 * is_glyph - 0.1 * busy_share - (0.1 if is_bare else 0.06) * back
    if is_bare or is_glyph:
        return found
    return found - 0.2 * (" " not in pattern) - 0.3 * (busy_share < 0.5)


def _spread(looks: Sequence[Sighting]) -> list[tuple[Sighting, float]]:
    """Return the looks with weights: each stretch of them counts the same; of equal rows one is kept."""
    counts = Counter(look.segment for look in looks)
    found: dict[tuple[int, tuple[str, ...]], tuple[Sighting, float]] = {}
    for look in looks:
        key = look.segment, look.rows
        weight = 1 / counts[look.segment]
        found[key] = (look, found[key][1] + weight) if key in found else (look, weight)
    return list(found.values())


def _ranked(
    looks: Iterable[tuple[Sighting, float]], patterns: Callable[[Sighting], Iterable[str]]
) -> list[tuple[str, float]]:
    """Return the *patterns* of looks, the most frequent first; then those of a spinner, then the longer ones."""
    counted: defaultdict[str, float] = defaultdict(float)
    for look, weight in looks:
        for pattern in patterns(look):
            counted[pattern] += weight
    return sorted(counted.items(), key=lambda pair: (-round(pair[1], 6), *_preference(pair[0])))


def _preference(pattern: str) -> tuple[bool, bool, int, str]:
    """Return a sort key of equally frequent patterns, the best one first: a name may be another one the next time."""
    return pattern[0] != "[", bool(_NAMES.search(pattern)), -len(pattern), pattern


def _patterns(row: str, *, is_prompt: bool = False) -> Iterator[str]:
    """Yield the patterns that *row* may match."""
    prompt = _PROMPT.match(row)
    if not is_prompt:
        yield from (
            f"[{family}](?: |$)" for family, spinner in zip(_SPINNERS, _SPINNER, strict=True) if spinner.match(row)
        )
    elif _BARE.fullmatch(row):
        yield f"{re.escape(row)}$"
    if prompt is None:
        yield from _phrases(row, (1, *_PHRASE_WORDS) if is_prompt else _PHRASE_WORDS)
    elif is_prompt:
        yield f"[{prompt[1]}](?: |$)"
    # Else a person typed it, or a pointer is at a choice.


def _phrases(row: str, sizes: Iterable[int]) -> Iterator[str]:
    """Yield sequences of words in *row*, of these *sizes*, that can characterise it."""
    found = list(_WORD.finditer(row))[:24]
    for size in sizes:
        for start in range(len(found) - size + 1):
            matches = found[start : start + size]
            phrase = [match[0] for match in matches]
            text = " ".join(map(re.escape, phrase))
            if any(after.start() - before.end() != 1 for before, after in itertools.pairwise(matches)):
                continue
            if any(word.startswith(("~", "/", "./")) for word in phrase):
                continue  # a path is where it was, not what it is
            is_said = sum(bool(_PLAIN.search(word)) for word in phrase) * 2 >= size
            if is_said and len(text) <= _MAX_PHRASE_CHARS and not any(c.isdigit() for word in phrase for c in word):
                yield text if not start else f".*{text}"


def _glyphs(by_label: dict[str, list[Sighting]]) -> tuple[str, ...]:
    """Return the spinners that its title begins with during work, and at no other time."""
    found = []
    for family, spinner in zip(_SPINNERS, _SPINNER, strict=True):
        busy = sum(bool(spinner.match(look.title)) for look in by_label[BUSY])
        idle = sum(bool(spinner.match(look.title)) for look in by_label[IDLE])
        if busy * 2 > len(by_label[BUSY]) and idle * 10 <= len(by_label[IDLE]):
            found.append(family)
    return tuple(found)


_GLYPHS = {"⠁-⣿": ["U+2801-28FF"], "◐-◗": ["U+25D0-25D7"], "🌑-🌘": ["U+1F311-1F318"], "·✢✳✶✻✽": list("·✢✳✶✻✽")}


@attrs.frozen
class Naming:
    """The names of a program: keys of an agent file."""

    processes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()

    def plus(self, other: Naming) -> Naming:
        """Return both together."""
        pairs = zip(attrs.astuple(self), attrs.astuple(other), strict=True)
        return Naming(*(tuple(dict.fromkeys((*mine, *its))) for mine, its in pairs))


def naming(program: Program) -> Naming:
    """Return the names in an agent file that let a host recognise *program*, and trust its reports."""
    chain = unwrap(program.words, program.exe)
    place = own_place(chain)
    own, name = chain.invocations[place] if place is not None else None, own_name(chain)
    exe = base_name(program.exe)
    kind = interpreter_name(exe)
    processes = [exe] if exe and not kind and not is_ordinary(unwrap((exe,))) else []
    packages = []
    below = own.word.rpartition("/node_modules/")[2].split("/") if own is not None else []
    if own is not None and own.interpreter and script_name(own.name) in GENERIC_SCRIPTS and len(below) > 1:
        packages = ["/".join(below[: 1 + below[0].startswith("@")])]
    elif name:
        processes.insert(0, name)
    return Naming(tuple(dict.fromkeys(processes)), tuple(packages), (kind,) if kind else ())


def proved(
    found: Draft,
    agent_of: Callable[[Draft], Agent],
    recordings: Sequence[tuple[Header, Sequence[Event]]],
    seen: Sequence[Seen],
) -> tuple[Draft, list[tuple[int, Sighting, str]]]:
    """
    Return *found* without rules that are wrong on a screen that a person labelled, by a replay of all *recordings*.

    *agent_of* returns the agent with these rules. Also return the screens that no rule gets right, each with the number
    of its recording and its light.
    """
    while True:
        agent = agent_of(found)
        wrong = [
            (number, look, shown)
            for number, ((header, events), one) in enumerate(zip(recordings, seen, strict=True))
            for look, shown in wrongs(check(header, events, agent), one)
        ]
        rules = tuple(
            rule for rule in found.rules if not any(_is_to_blame(rule, look, shown) for _, look, shown in wrong)
        )
        if rules == found.rules:
            return found, [(number, look, shown.status.value) for number, look, shown in wrong]
        found = attrs.evolve(found, rules=rules)


def wrongs(result: Result, seen: Seen) -> Iterator[tuple[Sighting, Decision]]:
    """Yield the screens that a person has labelled, and that get another light."""
    for look in seen.sightings if not seen.is_marked else ():
        shown = parting(result, look) if look.is_sure and look.stands and look.label else None
        if shown is not None:
            yield look, shown


def parting(result: Result, look: Sighting) -> Decision | None:
    """Return the decision shown at *look* if it is wrong; else None."""
    shown = result.at(look.time)
    is_right = shown is not None and _class(shown.status.value) == _class(_STATUS[look.label])
    return None if is_right else shown


def is_for(rule: Rule, labels: Collection[str]) -> bool:
    """Return whether *rule* is for one of *labels*."""
    return _OF.get(rule.label, rule.label) in labels


def _is_to_blame(rule: Rule, look: Sighting, shown: Decision) -> bool:
    """Return whether *rule* caused the light, and matches the screen itself."""
    return rule_of(shown) == rule.name and all(
        any(re.match(pattern, row) for row in look.rows) for pattern in rule.patterns
    )


def _class(word: str) -> str:
    return word if word == "error" else class_of(word)


def agent_of(found: Draft, name: str, named: Naming) -> Agent:
    """Return the agent that the file of *found* describes."""
    return attributes.evolve(parse_agent(write(found, name, named), f"{name}.toml"), is_own=True)


def write(found: Draft, name: str, named: Naming, source: str = "") -> str:
    """Return the text of the file, after parsing it as a check."""
    lines = [f"# {name}. Made by `tally agent new`{f' from {source}' if source else ''}: check it."]
    lines += [f"name = {_toml(name)}"]
    lines += [f"{key} = {_toml(list(words))}" for key, words in attrs.asdict(named).items() if words]
    if found.has_bar:
        lines.append('progress = "busy"                   # its progress bar counts as work')
    if found.glyphs:
        glyphs = [glyph for family in found.glyphs for glyph in _GLYPHS[family]]
        lines += ["", "[title]", "plain_is_idle = true", "", "[[title.rules]]", 'status = "working"']
        lines.append(f"glyphs = {_toml(glyphs)}")
    lines += rules_of(found)
    text = "\n".join(lines) + "\n"
    parse_agent(text, f"{name}.toml")
    return text


def rules_of(found: Draft) -> list[str]:
    """Return the lines of the rules alone."""
    lines: list[str] = []
    for rule in found.rules:
        lines += ["", "[[screen.rules]]", f"name = {_toml(rule.name)}"]
        lines.append(f"status = {_toml(_STATUS[rule.label])}")
        if rule.kind is not None:
            lines.append(f"kind = {_toml(rule.kind.value)}")
        lines += ["menu = true"] * (rule.label == _MENU)
        lines += [f"priority = {rule.priority:g}", f"last = {rule.last}"]
        lines += [f"where = {_toml(rule.where)}"] * (rule.where != "end")
        lines.append(f"lines = {_toml(list(rule.patterns))}          # in {100 * rule.reached:.0f} % of what it is for")
        if rule.without:
            lines.append(f"without = {_toml(list(rule.without))}")
        if rule.question:
            lines.append(f"question = {_toml(rule.question)}")
    return lines


def _toml(value: object) -> str:
    """Return a string or a list of them as TOML: the same as JSON, with all characters as they are."""
    return json.dumps(value, ensure_ascii=False)
