"""The weights of `tallylight.evidence.structure`, fitted to recordings: `python -m benchmarks.structure`.

Every screen of every recording in which it is known what was true is looked at as a host does, four times a second. A
sign that is seen where an agent asks gains, one that is seen elsewhere loses. Each weight is held near what a person
would expect (`PRIORS`), the more so the fewer screens have it. Each agent counts the same, and so do all ordinary
programs together. Where one of these asks, its recording marks it, and the screen counts as an agent's. An unmarked one
that plainly asks, or names what to type, is left out. Who may be an agent is decided elsewhere.

The screens that tests have drawn, and those of programs that ask nothing, are few. Each decides: one that is read
wrongly counts for more, until it is right. Left out are those that the whole reader reads alike with any weights.

The table is printed, and whether the code has the same. Below it, for each agent, is how right a reader with weights
made without that agent is, screen by screen. `benchmarks.unknown` measures the light.
"""

from __future__ import annotations

import concurrent.futures
import functools
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from benchmarks import accuracy
from tests.evidence import test_drawn, test_prompts, test_streamed, test_structure
from tests.ordinary import test_ordinary

from tallylight.evidence import structure
from tallylight.evidence.dialogs import read_dialog
from tallylight.evidence.offers import lowest_candidate
from tallylight.evidence.overlay import read_overlay
from tallylight.evidence.prompts import read_screen
from tallylight.evidence.tail import read_tail
from tallylight.evidence.unknown import candidate
from tallylight.model.status import Status
from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Output, Resize
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner

ORDINARY = accuracy.ROOT / "tests" / "ordinary" / "recordings"
#: Whose screens those of ordinary programs are.
NOBODY = "nobody"
#: Whose screens those are that tests have drawn by hand.
DRAWN = "drawn"
#: The weight that a person would expect of a sign; zero for all others.
PRIORS = {
    "always": -3.0,
    "the cursor is in the row of answers": 3.0,
    "an answer among the choices": 1.5,
    "a yes and a no among the choices": 2.0,
    "a way out at the end of the choices": 1.5,
    "each answer between lines of its own": 5.0,
    "a question above": 1.0,
    "a hint at keys below": 1.0,
    "a key at an answer": 1.0,
    "one row of a list is marked": 0.5,
    "wants something above": 0.5,
    "in a box": 0.5,
    "a question in the row": 0.5,
    "wants something in the row": 1.0,
    "an answer typed behind": -3.0,
    "the cursor is in an empty input below": 3.5,
    "a colon above": 0.5,
    "nothing below": 0.3,
    "numbered rows": -0.5,
    "long choices": -0.5,
    "a bullet is the mark": -1.0,
    "blank rows between choices": -1.0,
    "a sign of work": -1.0,
    "an input below": -5.0,
    "the cursor is in the marked row": -2.0,
    "lines across around it": -1.5,
    "a command typed right above": -3.0,
    "the last row of a pager": -3.0,
    "the cursor in an input below": -2.0,
    "rows below that are no hints": -2.0,
    "a field with the cursor": 1.5,
    "names what to give": 1.5,
    "says to fill it in": 1.0,
    "answers or a default in brackets": 1.5,
    "wants any prompt": -2.0,
    "ends as a prompt does": -2.0,
    "hardly any words": -2.0,
    "the same prompt above": -1.5,
    "a numbered list right above": 1.0,
    "a question behind its mark": 2.0,
    "asks right above": 0.7,
    "rows below a question": -0.5,
    "an arrow is the mark": 0.5,
    "shows rows below": 1.0,
    "a library's mark above": 2.0,
    "the cursor is above it": -3.0,
    "answers in brackets": 1.5,
    "says to choose": 1.0,
    "says to choose below": 1.5,
    "says that it waits": 1.5,
    "the cursor is in the row above": 1.0,
    "a hint at keys above": 1.0,
    "nothing but this": 0.5,
    "a question and nothing but this": 1.5,
    "the keys that choose": 1.0,
    "a list of keys": 1.0,
    "an input right above": -4.0,
    "fields above": 1.5,
    "a box below": -2.0,
    "its keys in its box, an input below that": 6.0,
    "the cursor is hidden": 0.5,
    "the cursor is below all": -3.0,
    "a key to go on": 1.0,
    "a page to open": 0.0,
    "waits for somebody": 1.0,
    "buttons beside one another": 0.5,
    "keys that submit it": 2.5,
    "a key that leaves it": 1.5,
    "its hint names an answer": 1.5,
    "an input that is submitted": 0.5,
    "the cursor is in what is submitted": 1.0,
    "text between it and its keys": -0.5,
    "a sentence below its box": -3.0,
    "asks, and the cursor is right below": 3.0,
    "a yes and a no right above an input": 5.0,
    "drawn over the rest": 0.5,
    "a yes and a no right above": 2.5,
    "a yes and a no below the cursor": 2.0,
    "each answer behind its key": 2.5,
    "the cursor is right below a yes and a no": 0.5,
    "a message and its work below": -3.0,
    "the cursor is outside of the box": -3.0,
    "its keys or its box right above an input": 6.0,
    "a pointer without a cursor or an input": 3.0,
    "short rows end the screen": 3.0,
    "a number is wanted below": 3.0,
    "a yes or no at the end of the row": 2.0,
    "one answer in the row is marked": 2.0,
    "a code for the page": 2.0,
    "buttons below": 1.5,
    "the cursor is in front of an answer": 1.5,
    "wants something right above answers": 1.0,
    "an answer of one's own among the choices": 2.0,
    "its keys right below its box": 3.0,
    "a box to tick in front of each answer": 1.0,
}
#: How hard a weight is held, in screens; how much a wrong light counts beside a missed one; what an agent counts.
_HELD, _FALSE, _EACH = 10.0, 4.0, 100.0
#: A screen that does not change counts for so many seconds at most.
_STANDS_S = 8.0
_STEPS = 200
_LOOK_S = 0.25
#: The weight of a drawn screen; its factor after a round in which it is not sure; the rounds; and what counts as sure.
_DRAWN, _MORE, _ROUNDS, _SURE = 3.0, 1.6, 20, 0.15
#: A weight for all screens that is more than all others together.
_SURELY = 100.0
#: The signs of a row that names what to type right behind it.
_FIELD = {"a field with the cursor", "the cursor is in the row of answers"}


class Screen(NamedTuple):
    """One screen: its agent, the signs on it (none where nothing is offered), whether it asks, and for how long."""

    agent: str
    signs: tuple[tuple[str, float], ...]
    asks: bool
    seconds: float


def screens(path: Path) -> list[Screen]:
    """The screens of one recording."""
    recording = accuracy.read(path)
    agent = NOBODY if path.parent == ORDINARY else recording.agent
    is_unmarked = agent == NOBODY and not recording.truth
    truth = recording.truth or [(0.0, "idle")]
    scanner, grid = Scanner(), Grid(recording.header.columns, recording.header.rows)
    seconds: dict[tuple[tuple[tuple[str, float], ...], bool], float] = {}
    due, number, seen = _LOOK_S, -1, None
    for event in recording.events:
        while due <= event.time:
            while number + 1 < len(truth) and truth[number + 1][0] <= due:
                number += 1
            at, word = truth[number] if number >= 0 else (math.inf, "")
            if due - at > scoring.GRACE_S and word not in ("gone", "starting"):
                seen = _signs(grid, is_unmarked=is_unmarked) if seen is None else seen
                key = seen, scoring.class_of(word) == "waiting"
                seconds[key] = seconds.get(key, 0.0) + _LOOK_S
            due += _LOOK_S
        if isinstance(event.what, Resize):
            grid.resize(event.what.columns, event.what.rows)
            seen = None
        elif isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
            seen = None
    return [Screen(agent, signs, asks, stood) for (signs, asks), stood in seconds.items()]


def _signs(grid: Grid, *, is_unmarked: bool) -> tuple[tuple[str, float], ...]:
    found = _signs_in(grid.lines, grid.cursor_row if grid.cursor_visible else None)
    told = dict(found)
    is_field = told.keys() >= _FIELD and "hardly any words" not in told
    return () if is_unmarked and (is_field or read_dialog(read_tail(grid.lines), grid.cursor_row)) else found


def _signs_in(lines: Sequence[str], cursor: int | None) -> tuple[tuple[str, float], ...]:
    for rows, is_in_front in ((read_overlay(lines), True), (read_tail(lines), False)):
        offer = lowest_candidate(rows, cursor, is_in_front=is_in_front) if rows else None
        if offer is not None:
            return tuple(structure.signs(rows, cursor, offer, is_in_front=is_in_front).items())
    return ()


@functools.cache
def all_screens() -> list[Screen]:
    """Return the screens of all recordings in which nothing was set up."""
    paths = [path for path in sorted(accuracy.CORPUS.rglob("*.cast.gz")) if not _is_set_up(path)]
    paths += sorted(ORDINARY.glob("*.cast.gz"))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        return [screen for found in pool.map(screens, paths, chunksize=4) for screen in found]


def _is_set_up(path: Path) -> bool:
    return path.name.partition(".")[0].endswith(("-relay", "-hooks", "-tmux"))


class Drawn(NamedTuple):
    """A screen of a test: its agent, its rows, the row of its visible cursor, whether it asks, and its width."""

    agent: str
    lines: Sequence[str]
    cursor: int | None
    asks: bool
    columns: int = 0


@functools.cache
def drawn() -> list[Screen]:
    """Return the screens of tests and of ordinary programs that weights decide; without those read wrongly today."""
    quiet = [path for name, path in test_ordinary.PATHS.items() if name not in test_ordinary.ASKS]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        seen = [found for found in pool.map(screens, quiet, chunksize=4) if not any(one.asks for one in found)]
    signs = {one.signs: 0 for found in seen for one in found if one.signs}
    of_others = [Screen(NOBODY, one, False, 1.0) for one in signs if not is_dialog(one, structure.WEIGHTS)]
    return [screen for one in _all_drawn() for screen in _decided(one)] + of_others


def _all_drawn() -> Iterator[Drawn]:
    for told, asks in ((test_drawn.ASKS, True), (test_drawn.RESTS, False)):
        for look in map(test_drawn.look_at, told.values()):
            yield Drawn(DRAWN, look.lines, look.cursor_row if look.cursor_visible else None, asks, look.columns)
    for text in test_streamed.AT_ONCE.values():
        yield Drawn(DRAWN, test_streamed.screen(text).lines, None, True, test_streamed.COLUMNS)
    for text in test_structure.ASKING.values():
        yield Drawn(DRAWN, text.strip("\n").splitlines(), None, True)
    for text, at in (*test_structure.GIVEN.values(), *test_structure.IN_A_ROW):
        yield Drawn(DRAWN, text.splitlines(), at, True)
    for text, at, _ in test_structure.SUBMITTED.values():
        yield Drawn(DRAWN, text.splitlines(), at, True)
    for text, _ in test_structure.LISTS.values():
        yield Drawn(DRAWN, text.splitlines(), None, True)
    for text, at in test_structure.QUIET.values():
        yield Drawn(DRAWN, text.splitlines(), at, False)
    for quiet in filter(None, test_prompts.NEGATIVES.values()):
        yield Drawn(DRAWN, quiet, len(quiet) - 1, False)
    for path in test_prompts.SCREENS:
        screen = test_prompts.load(path)
        if not screen.facts["shows"].startswith("waiting"):
            yield from (Drawn(path.parent.name, screen.lines, at, False) for at in (screen.cursor, None))
        elif screen.facts.get("rule", "").startswith("structure:"):
            yield Drawn(path.parent.name, screen.lines, screen.cursor, True)


def _decided(one: Drawn) -> list[Screen]:
    """
    Return the signs of a screen that are weighed; nothing if weights do not decide it, or it is read wrongly today.

    One that asks has one set of signs, those with the highest sum: of a box over the rest, or the end of the screen.
    """
    never, found = _read(one, -_SURELY)
    if never is _read(one, _SURELY)[0] or _read(one, structure.WEIGHTS["always"])[0] is not one.asks:
        return []
    best = max(found, key=lambda signs: score(signs, structure.WEIGHTS))
    return [Screen(one.agent, signs, one.asks, 1.0) for signs in found if signs == best or not one.asks]


def _read(one: Drawn, always: float) -> tuple[bool, list[tuple[tuple[str, float], ...]]]:
    """Return whether the whole reader finds a dialog if all have the weight *always*, and the signs that it weighed."""
    found: list[tuple[tuple[str, float], ...]] = []
    weighed = structure.signs

    def noted(*args: Any, **named: Any) -> dict[str, float]:
        signs = weighed(*args, **named)
        found.append(tuple(signs.items()))
        return signs

    with mock.patch.dict(structure.WEIGHTS, {"always": always}), mock.patch.object(structure, "signs", noted):
        read = read_screen(
            candidate("mystery"), one.lines, one.cursor or 0, columns=one.columns, cursor_visible=one.cursor is not None
        )
    return read is not None and read.status is Status.WAITING, found


def fit(seen: Iterable[Screen], decisive: Sequence[Screen] = ()) -> dict[str, float]:
    """Return the weights that follow from *seen* screens, with which all *decisive* ones are read right."""
    rows = _weighed([screen for screen in seen if screen.signs])
    counts = [_DRAWN] * len(decisive)
    weights: dict[str, float] = {}
    for _ in range(_ROUNDS):
        told = [
            (screen.signs, screen.asks, count * (1.0 if screen.asks else _FALSE))
            for screen, count in zip(decisive, counts, strict=True)
        ]
        weights = _descended([*rows, *told], weights)
        sides = [(1 if one.asks else -1) * (score(one.signs, weights) - structure.DIALOG_CHANCE) for one in decisive]
        if all(side > _SURE for side in sides):
            break
        counts = [count * (1.0 if side > _SURE else _MORE) for count, side in zip(counts, sides, strict=True)]
    return {name: round(weight, 2) for name, weight in sorted(weights.items(), key=lambda item: -item[1])}


def _descended(
    rows: Sequence[tuple[tuple[tuple[str, float], ...], bool, float]], begun: Mapping[str, float]
) -> dict[str, float]:
    """The weights that *rows* give, by gradient descent from *begun* on with a step of its own for each sign."""
    names = sorted({sign for signs, _, _ in rows for sign, _ in signs} | PRIORS.keys())
    weights = {name: begun.get(name, PRIORS.get(name, 0.0)) for name in names}
    squares = dict.fromkeys(names, 1.0)
    for _ in range(_STEPS):
        slope = {name: _HELD * (weights[name] - PRIORS.get(name, 0.0)) for name in names}
        for signs, asks, weight in rows:
            missing = weight * (_share(score(signs, weights) - structure.DIALOG_CHANCE) - asks)
            for sign, value in signs:
                slope[sign] += missing * value
        for name in names:
            squares[name] += slope[name] ** 2
            weights[name] -= slope[name] / math.sqrt(squares[name])
    return weights


def _weighed(seen: Sequence[Screen]) -> list[tuple[tuple[tuple[str, float], ...], bool, float]]:
    """Screens that show the same, together, with what they count: each agent the same, when it asks and when not."""
    whole: dict[tuple[str, bool], float] = {}
    for screen in seen:
        key = screen.agent, screen.asks
        whole[key] = whole.get(key, 0.0) + min(screen.seconds, _STANDS_S)
    together: dict[tuple[tuple[tuple[str, float], ...], bool], float] = {}
    for screen in seen:
        share = min(screen.seconds, _STANDS_S) / whole[screen.agent, screen.asks]
        counts = _EACH * share * (1.0 if screen.asks else _FALSE)
        together[screen.signs, screen.asks] = together.get((screen.signs, screen.asks), 0.0) + counts
    return [(signs, asks, weight) for (signs, asks), weight in together.items()]


def score(signs: Iterable[tuple[str, float]], weights: Mapping[str, float]) -> float:
    """Return the sum of the weights of *signs*."""
    return sum(weights.get(sign, 0.0) * value for sign, value in signs)


def is_dialog(signs: Iterable[tuple[str, float]], weights: Mapping[str, float]) -> bool:
    """Return whether *signs* are those of a dialog."""
    return score(signs, weights) > structure.DIALOG_CHANCE


def _share(total: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


@functools.cache
def without(agent: str) -> dict[str, float]:
    """The weights that are made when *agent* is left out."""
    seen, decisive = ([one for one in all_ if one.agent != agent] for all_ in (all_screens(), drawn()))
    return fit(seen, decisive)


def judged(agent: str, weights: Mapping[str, float]) -> tuple[float, float]:
    """Of the time in which *agent* asks, the share that is missed; of all other time, the share that is false."""
    missed, false, total = 0.0, 0.0, {True: 0.0, False: 0.0}
    for screen in all_screens():
        if screen.agent == agent:
            is_read = is_dialog(screen.signs, weights)
            total[screen.asks] += screen.seconds
            missed += screen.seconds * (screen.asks and not is_read)
            false += screen.seconds * (is_read and not screen.asks)
    return missed / (total[True] or 1.0), false / (total[False] or 1.0)


def main() -> int:
    """Print the table, whether it is that of the code, and how right it is; return 1 if it is another."""
    weights = fit(all_screens(), drawn())
    print("WEIGHTS: dict[str, float] = {")
    for sign, weight in weights.items():
        print(f'    "{sign}": {weight},')
    is_same = weights == structure.WEIGHTS
    print(f"}}\n\n{'As in the code.' if is_same else 'The code has others.'}", flush=True)
    print("\n| left out | missed | false |\n| --- | ---: | ---: |")
    for agent in sorted({screen.agent for screen in all_screens()} - {NOBODY}):
        missed, false = judged(agent, without(agent))
        print(f"| {agent} | {100 * missed:.1f} % | {100 * false:.1f} % |", flush=True)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
