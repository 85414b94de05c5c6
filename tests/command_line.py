"""Whether a command line is one that `tally` understands, which is found without doing it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import pytest

from tallylight.cli import emit, hook, main, prompt, shell_init
from tallylight.relay import shell


class _Parsed(BaseException):
    """A command line is understood, and would now be done."""


def is_understood(argv: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the real command line understands this, which is not done."""

    def and_leave(parse: Callable[..., object]) -> Callable[..., NoReturn]:
        def leave(*given: Any) -> NoReturn:
            parse(*given)
            raise _Parsed

        return leave

    with monkeypatch.context() as patch:
        for name in ("parse_args", "parse_intermixed_args"):
            patch.setattr(argparse.ArgumentParser, name, and_leave(getattr(argparse.ArgumentParser, name)))
        patch.setattr(emit, "parse", and_leave(emit.parse))
        # The one ends this process, whatever it was given; the other parses only what should not be there.
        patch.setattr(hook, "main", lambda given: hook.make_parser().parse_args(given))
        patch.setattr(prompt, "main", lambda given: prompt.make_parser().parse_args(given))
        patch.setattr(shell, "steps_aside", and_leave(bool))
        patch.setattr(shell_init, "render", and_leave(shell_init.render))
        try:
            main.main(list(argv))
        except _Parsed:
            return True
    return False
