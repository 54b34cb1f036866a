"""A fixed number of attacks with fixed seeds; `make fuzz` runs new ones for a given time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fuzz import csv_files
from fuzz.attacks import MODULES, run_attack
from fuzz.outcome import RefusedError, call
from fuzz.tables import OPTIONS, SMALL

from auctor.data import read_table
from auctor.estimators.registry import LEARNERS

# Number of attacks of each module; each part is a test of its own, so that workers share them.
COUNTS = {"tables": 160, "csv_files": 60, "metric_calls": 150, "model_files": 80}
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", MODULES)
def test_attacks(name: str, part: int) -> None:
    for seed in range(part, COUNTS[name], PARTS):
        run_attack(name, seed)


def test_every_option_is_a_parameter_of_some_learner() -> None:
    known = {name for learner in LEARNERS.values() for name in learner().get_params()}
    assert sorted(set(OPTIONS) - known) == [], "OPTIONS in fuzz/tables.py: no learner has these"


def test_every_learner_is_attacked() -> None:
    message = (
        "add these learners, with settings for a fit of milliseconds, to SMALL in fuzz/tables.py"
    )
    assert sorted(set(LEARNERS) - set(SMALL)) == [], message
    assert sorted(set(SMALL) - set(LEARNERS)) == [], "SMALL in fuzz/tables.py: no such learners"


def test_a_failure_says_how_to_repeat_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def attack(rng: np.random.Generator) -> None:
        raise AssertionError(f"drew {rng.integers(1000)}")

    monkeypatch.setattr(csv_files, "attack", attack)
    drawn = np.random.default_rng(17).integers(1000)
    with pytest.raises(AssertionError, match=rf"fuzz\.run csv_files --seed 17\ndrew {drawn}"):
        run_attack("csv_files", 17)


def test_a_clear_error_is_a_refusal() -> None:
    with pytest.raises(RefusedError, match="rows may differ in length"):
        call("ragged rows", lambda: read_table([[1], [2, 3]]))
    assert call("a table", lambda: read_table([[1], [2]]).n_rows) == 2


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: {}["key"], "KeyError"),
        (lambda: int("x"), "comes from another library"),
        (lambda: np.zeros(2) / 0, "RuntimeWarning"),
        (lambda: _raise(ValueError("column 'x' is wrong")), "comes from another library"),
        (lambda: read_table(np.ones((2, 2))).numbers("x"), "IndexError"),
    ],
)
def test_an_accident_is_none(function: Callable[[], Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        call("an accident", function)
