"""The night shift, which an installation may lack: then a text waits for the end of one limit, and for no longer."""

from __future__ import annotations

try:
    from tallylight.shift.kept import Kept as Kept
    from tallylight.shift.steps import step as step
except ModuleNotFoundError:
    from collections.abc import Callable, Iterable, Mapping

    from tallylight.actions.queue import step as step
    from tallylight.model.queued import Queued

    class Kept:  # type: ignore[no-redef]
        """Nothing is kept."""

        def __init__(self, environ: Mapping[str, str]) -> None:
            """There is no place for it."""

        def left(self, _start_of: Callable[[int], int | None]) -> list[Queued]:
            return []

        def keep(self, _waiting: Iterable[Queued]) -> None:
            """Nothing."""
