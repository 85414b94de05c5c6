"""Every vector of every codec, through the one helper that makes each of them many tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tallylight.wire import envelope, osc9_4, osc26, osc133, osc1338, title, user_var
from tests.helpers import Vector, check_vector, only_sequence, vector_params
from tests.tables import each


def _strict(decode: Callable[[Any], Any]) -> Callable[[bytes], Any]:
    return lambda data: decode(only_sequence(data))


@pytest.mark.slow
@each("vector", vector_params("osc1338"))
def test_osc1338(vector: Vector) -> None:
    """OSC 1338 is read as vibeflow reads it, our extended keys included, and written in its canonical form."""
    encode = lambda report: envelope.osc(1338, osc1338.encode_payload(report))  # noqa: E731
    check_vector(vector, _strict(osc1338.decode), encode)


@pytest.mark.slow
@each("vector", vector_params("osc26"))
def test_osc26(vector: Vector) -> None:
    """OSC 26 is read pair by pair and merged pane by pane."""
    check_vector(vector, _strict(osc26.decode))


@each("vector", vector_params("user_var"))
def test_user_var(vector: Vector) -> None:
    """SetUserVar is read where kitty and WezTerm agree."""
    check_vector(vector, _strict(user_var.decode))


@each("vector", vector_params("osc133"))
def test_osc133(vector: Vector) -> None:
    """A shell's mark is one of four letters; only the end of a command has an exit code."""
    check_vector(vector, _strict(osc133.decode))


@each("vector", vector_params("osc9_4"))
def test_osc9_4(vector: Vector) -> None:
    """Progress is OSC 9;4 with a state 0 to 4, and nothing else that begins with OSC 9."""
    check_vector(vector, _strict(osc9_4.decode))


@each("vector", vector_params("title"))
def test_title(vector: Vector) -> None:
    """A title is all that follows OSC 0 or 2, made harmless."""
    check_vector(vector, _strict(title.decode))


@each("vector", vector_params("passthrough"))
def test_passthrough(vector: Vector) -> None:
    """An envelope opens as tmux and GNU Screen open it."""
    check_vector(vector)
