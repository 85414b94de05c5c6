"""nib keeps one file of lines in its directory: `.nib-journal`."""

from __future__ import annotations

import posixpath

from tallylight.evidence.records.locate import Facts
from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.reading import Reading, in_lines
from tallylight.model.status import Status


def locate(facts: Facts, places: Places) -> Place | None:
    """Return where the journal of this process is, if it was written since."""
    path = posixpath.join(facts.cwd, ".nib-journal")
    return Place(path) if places.changed(path) >= facts.started else None


def _take(found: Reading, entry: dict[str, object], at: float | None) -> bool:
    if entry.get("nib") == "begin":
        found.began(at)
        found.named(entry.get("model"))
    elif entry.get("nib") == "end":
        found.replied(entry.get("said"))
        found.ended(Status.DONE, at)
    return "nib" in entry


READER = Reader(locate, in_lines(_take, (b'"nib"',)), is_exact=True)
