"""Measures on the scores of a fold, and the choice of a method's setting."""

from collections.abc import Sequence
from statistics import mean

import numpy as np

from auctor._typing import Floats, Indices, Ints
from papers.experiment import Result
from papers.suehiro_2011.methods import Scored

# What is measured: ties half on the labels as they are; ties as right; on clean labels; on the
# training rows.
MEASURES = ("test", "ties_right", "clean", "train")


def measure(
    scores: Floats, y: Ints, y_clean: Ints, train: Indices, test: Indices
) -> dict[str, float]:
    """The AUCs of one fold, by the names in MEASURES."""
    from auctor.metrics import auc

    half = auc(y[test], scores[test])
    return {
        "test": half,
        "ties_right": half + tied_fraction(scores[test], y[test]) / 2,
        "clean": auc(y_clean[test], scores[test]),
        "train": auc(y[train], scores[train]),
    }


def tied_fraction(scores: Floats, y: Ints) -> float:
    """Fraction of pairs of a positive and a negative with equal scores."""
    _, code = np.unique(scores, return_inverse=True)
    pos = np.bincount(code[y == 1], minlength=code.max() + 1)
    neg = np.bincount(code[y == 0], minlength=code.max() + 1)
    return float(pos @ neg) / float(pos.sum() * neg.sum())


def add_fold(result: Result, method: str, scored: Scored, measures: dict[str, float]) -> None:
    """Store a fold's AUCs: method|setting|measure -> one number per fold."""
    setting, _ = scored
    for name, value in measures.items():
        result.setdefault(f"{method}|{setting}|{name}", []).append(round(value, 6))


def settings_of(result: Result, method: str) -> list[str]:
    """The settings of a method that a case has results for."""
    return [key.split("|")[1] for key in result if key.startswith(f"{method}|") and "|test" in key]


def read(result: Result, method: str, setting: str, name: str) -> list[float]:
    """A number for each fold."""
    return list(result[f"{method}|{setting}|{name}"])


def best_setting(result: Result, method: str, by: str = "test") -> str:
    """The setting with the best mean over all folds, as the paper seems to choose it."""
    return _best({s: read(result, method, s, by) for s in settings_of(result, method)})


def best_folds(result: Result, method: str, name: str, by: str = "test") -> list[float]:
    """A number for each fold, of the setting that is best over all folds."""
    return read(result, method, best_setting(result, method, by), name)


def honest_folds(result: Result, method: str, name: str) -> list[float]:
    """A number for each fold, of the setting that is best over the other folds.

    The test rows of a fold have no say in what is chosen for it; of a single fold none is chosen.
    """
    by_setting = {s: read(result, method, s, "test") for s in settings_of(result, method)}
    if len(next(iter(by_setting.values()))) < 2:
        return []
    out = []
    for fold in range(len(next(iter(by_setting.values())))):
        others = {s: _without(values, fold) for s, values in by_setting.items()}
        out.append(read(result, method, _best(others), name)[fold])
    return out


def _without(values: Sequence[float], index: int) -> list[float]:
    return [value for other, value in enumerate(values) if other != index]


def _best(by_setting: dict[str, list[float]]) -> str:
    """Of equal means the larger epsilon, as MarginRankerCV has it."""
    return max(by_setting, key=lambda s: (mean(by_setting[s]), float(s)))
