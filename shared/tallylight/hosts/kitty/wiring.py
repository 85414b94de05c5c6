"""The wiring: whether kitty's configuration, which may be read again, names our watcher."""

from __future__ import annotations

from kitty.fast_data_types import get_options

#: Our file that kitty's configuration names.
WATCHER = "tally_watcher.py"


class Wiring:
    """Follows whether the configuration names our watcher. *is_left* becomes true when it no longer does."""

    def __init__(self) -> None:
        self.is_left = self._was_wired = False
        #: kitty's options at the last look.
        self._options: object = None

    def is_named_again(self) -> bool:
        """Check the configuration if it was read again; return whether it names our watcher after it had not."""
        options = get_options()
        if options is self._options:
            return False
        is_wired = any(path.endswith(WATCHER) for path in options.watcher)
        was_left = self.is_left
        self._options, self._was_wired = options, self._was_wired or is_wired
        self.is_left = self._was_wired and not is_wired
        return is_wired and was_left
