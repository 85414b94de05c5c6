"""What is known of a request for permission: what it is about, and its choices with the keys that give them.

`python -m benchmarks.accuracy` counts it in the whole corpus; here is a recording of each agent.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.accuracy import CORPUS, asked_in, read
from benchmarks.asked import CHOICES, judge

from tallylight.model.dialog import Choice, Dialog
from tallylight.model.report import Source
from tallylight.model.status import Kind
from tests.tables import sampled

PERMISSIONS = sorted([*CORPUS.glob("*-permission.cast.gz"), *(CORPUS / "untimed").glob("*-permission.cast.gz")])
#: Agents whose requests are never known to be whole: one draws no top, the other cuts what it shows without a sign.
NEVER_WHOLE = ("aider", "cline")


def test_every_agent_has_one() -> None:
    """Each agent whose choices are known is asked in one of them."""
    assert {path.name.partition("-")[0] for path in PERMISSIONS} == {name.partition(" ")[0] for name in CHOICES}


@pytest.mark.slow
@pytest.mark.parametrize("path", sampled(PERMISSIONS), ids=lambda path: path.name.partition(".")[0])
def test_all_is_known(path: Path) -> None:
    """With nothing set up: the command, and all choices with their keys, in the middle of each wait."""
    found = asked_in(read(path), relay=False, without={Source.PROTOCOL})

    assert found.waits >= 1
    assert found.with_subject == found.with_choices == found.waits
    assert found.with_keys == (0 if path.name.partition("-")[0] in NEVER_WHOLE else found.waits)
    assert found.wrong_keys == 0


def test_what_counts_as_known() -> None:
    """Another command, a choice that is left out, a key that is not known, and one that is another choice's."""
    choices = (
        Choice("y", "Yes, proceed"),
        Choice("p", "Yes, and don't ask again for `x`"),
        Choice("\x1b", "No, and tell"),
    )
    whole = Dialog(Kind.PERMISSION, "", choices=choices)
    keyless = Dialog(Kind.PERMISSION, "", choices=(Choice("", "Yes, proceed"), *choices[1:]))
    wrong = Dialog(Kind.PERMISSION, "", choices=(Choice("n", "Yes, proceed"), *choices[1:]))

    about = "exec_command: touch made"
    assert judge("codex", "denial", 0, about, whole)[:4] == (1, 1, 0, 0), "the last label is not whole"
    assert judge("aider", "denial", 0, "rm", None) == (1, 0, 0, 0, 0)
    assert judge("aider", "denial", 1, about, None).waits == 0
    assert judge("codex", "denial", 0, about, keyless).with_keys == 0
    assert judge("codex", "denial", 0, about, wrong).wrong_keys == 1
