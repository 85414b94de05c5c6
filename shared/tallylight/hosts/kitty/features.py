"""
Features: what a fault switches off. kitty sees none of our faults; each costs the feature it is in, with one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

Result = TypeVar("Result")


@attrs.define
class Features:
    """*report* gets one line for each feature that is switched off."""

    report: Callable[[str], None]
    switched_off: set[str] = attrs.field(factory=set)

    def failed(self, feature: str, error: Exception) -> None:
        """Say once that *feature* is switched off, and why."""
        if feature not in self.switched_off:
            self.switched_off.add(feature)
            self.report(f"{feature} switched off: {type(error).__name__}: {error}")

    def guarded(self, feature: str, call: Callable[..., Result]) -> Callable[..., Result | None]:
        """*call*, wrapped so that kitty never sees a fault: it returns None instead, and from then on."""

        def guarded(*args: Any) -> Result | None:
            if feature not in self.switched_off:
                try:
                    return call(*args)
                except Exception as error:  # kitty must not see our faults
                    self.failed(feature, error)
            return None

        return guarded
