"""Switches off features that fail: kitty sees no exception of ours, and the log gets one line for each feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

Result = TypeVar("Result")


@attrs.define
class Features:
    """The features that failed; *report* gets one line for each."""

    report: Callable[[str], None]
    switched_off: set[str] = attrs.field(factory=set)

    def failed(self, feature: str, error: Exception) -> None:
        """Switch *feature* off, and report it once."""
        if feature not in self.switched_off:
            self.switched_off.add(feature)
            self.report(f"{feature} switched off: {type(error).__name__}: {error}")

    def guarded(self, feature: str, call: Callable[..., Result]) -> Callable[..., Result | None]:
        """Return *call*, wrapped so that an exception switches *feature* off; from then on it returns None."""

        def guarded(*args: Any) -> Result | None:
            if feature not in self.switched_off:
                try:
                    return call(*args)
                except Exception as error:  # kitty must not see our faults
                    self.failed(feature, error)
            return None

        return guarded
