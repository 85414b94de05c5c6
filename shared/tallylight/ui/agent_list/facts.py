"""Words of parts about the selected pane."""

from __future__ import annotations

from tallylight.parts import index
from tallylight.snapshot.schema import Pane
from tallylight.wire.text import sanitise

#: Cells of a part's words about a pane.
MAX_FACT_CELLS = 60


class Facts:
    """The words of parts about a pane in the list. A part that raises is not asked again."""

    def __init__(self) -> None:
        self._calls = {found.part.name: found.part.fact for found in index.used() if found.part.fact}

    def of(self, pane: Pane) -> tuple[str, ...]:
        """Return the words of each part that has any for *pane*, each cut to `MAX_FACT_CELLS` cells."""
        said = []
        for name, fact in list(self._calls.items()):
            try:
                said.append(sanitise(index.load(fact)(pane), cells=MAX_FACT_CELLS))
            except Exception:  # a part must not cost the list
                del self._calls[name]
        return tuple(filter(None, said))
