"""The table of docs/measurements.md has the rows that the benchmarks declare; no speed is asserted."""

from __future__ import annotations

import importlib
import re

import pytest
from benchmarks import __main__ as runner
from benchmarks import table
from benchmarks.aims import KEPT, Aim

from tests.tables import each

MODULES = list(table.modules())
AIMS = [aim for module in MODULES for aim in table.aims(module)]
FEW = Aim("few", "many", most=2.0)
MANY = Aim("many", "few", least=0.5, unit="MB/s")


def test_the_table_has_the_declared_rows() -> None:
    """Each aim is a row, in order, with what it is measured against and what is wanted; each verdict follows."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.rows(table.PAGE.read_text()).values()]
    assert [(what, against, aim) for what, _, against, aim, _ in rows] == [
        (aim.what, aim.against, aim.text) for aim in AIMS
    ], "run `python -m benchmarks`, or with the names of the modules whose aims have changed"
    for aim, (_, measured, _, _, verdict) in zip(AIMS, rows, strict=True):
        if measured == table.MISSING:
            assert verdict == ""
        else:
            number, _, unit = measured.partition(" ")
            assert (unit, verdict) == (aim.unit, aim.verdict(float(number)))


def test_each_is_named_once_and_wants_one_number() -> None:
    """No two rows are about the same; an aim is at most or at least, but for the machine's own speed."""
    assert len({aim.what for aim in AIMS}) == len(AIMS)
    assert all("|" not in aim.what + aim.against for aim in AIMS)
    wanted = [aim for aim in AIMS if aim not in table.aims("machine")]
    assert all((aim.most is None) != (aim.least is None) for aim in wanted)
    assert not any(aim.text for aim in table.aims("machine"))


@each("module", MODULES)
def test_modules_say_what_they_declare(module: str) -> None:
    """The words for the runner are given, and no module declares what it never says."""
    loaded = importlib.import_module(f"benchmarks.{module}")
    assert isinstance(loaded.QUICK, tuple)
    assert ".say(" in (table.PAGE.parents[1] / f"benchmarks/{module}.py").read_text()


def test_the_page_names_the_machine() -> None:
    """Cores, kernel and Python stand above the table, and nothing that only this machine is called."""
    page = table.PAGE.read_text()
    said = page.partition(table.BEGIN)[2].partition(table.HEAD)[0].strip()
    assert re.fullmatch(r"\d+ cores of .+, \w+ \d+\.\d+, Python 3\.[\d.]+:", said), said
    assert re.fullmatch(r"\d+ cores of .+, \w+ [\d.]+, Python [\d.]+", table.machine())


@each(
    ("aim", "values", "worst", "shown", "verdict"),
    [
        (FEW, [1.0, 2.004], 2.004, "2.00 ×", "met"),
        (FEW, [2.01, 1.0], 2.01, "2.01 ×", "missed"),
        (MANY, [123.4, 0.5], 0.5, "0.50 MB/s", "met"),
        (MANY, [0.49, 12.34], 0.49, "0.49 MB/s", "missed"),
    ],
)
def test_an_aim(aim: Aim, values: list[float], worst: float, shown: str, verdict: str) -> None:
    """The worst counts, as it is printed."""
    assert aim.worst(values) == worst
    assert (aim.shown(worst), aim.verdict(worst)) == (shown, verdict)


def test_what_is_said_is_kept(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the aim is printed; the runner's file gets the number."""
    kept = tmp_path_factory.mktemp("kept") / "said"
    monkeypatch.setenv(KEPT, str(kept))
    FEW.say(3.0)
    assert capsys.readouterr().out == "few: 3.00 ×, against many; aim ≤ 2 ×: missed\n"
    assert kept.read_text() == '["few", 3.0]\n'


def test_rows_of_other_modules_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two modules one is measured anew: the row of the other stays, one that was not said says so."""
    monkeypatch.setattr(table, "modules", lambda: iter(("one", "two")))
    monkeypatch.setattr(table, "aims", {"one": (FEW,), "two": (MANY,)}.__getitem__)
    page = f"before\n{table.BEGIN}{table.END}after\n"
    first = table.renewed(page, {"few": [1.0, 1.5], "many": [3.0]}, {"one", "two"})
    second = table.renewed(first, {}, {"two"})
    assert table.rows(first) == {
        "few": "| few | 1.50 × | many | ≤ 2 × | met |\n",
        "many": "| many | 3.00 MB/s | few | ≥ 0.5 MB/s | met |\n",
    }
    assert table.rows(second)["few"] == table.rows(first)["few"]
    assert table.rows(second)["many"] == f"| many | {table.MISSING} | few | ≥ 0.5 MB/s |  |\n"
    assert second.startswith("before\n") and second.endswith("after\n")


def test_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no benchmark's is told, with those that there are."""
    assert runner.main(["nothing"]) == 2
    assert "nothing; there are machine, agents_list" in capsys.readouterr().err
