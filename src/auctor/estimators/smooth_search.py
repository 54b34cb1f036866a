"""The penalties of the smooth learner chosen by cross-validation, and the fit with them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools
from auctor.data import RankingData
from auctor.estimators.fitting import FitResult
from auctor.estimators.folds import summarise
from auctor.estimators.init import Init
from auctor.estimators.smooth_base import run_smooth
from auctor.learners.smooth.fit import Settings
from auctor.learners.smooth.search import Candidate, find_amounts

# Number of pairs that interactions="auto" tries: more seldom help, and nobody looks at more.
MOST_PAIRS = 10


class SearchResult(NamedTuple):
    """The settings that were chosen, and the fit of all rows with them."""

    settings: Settings
    result: FitResult


@dataclass(frozen=True, eq=False)
class PenaltySearch:
    """Which amounts of penalty to try, and how to choose among them."""

    folds: list[tuple[Bools, Bools]]  # masks of the rows to train on and to hold out
    penalties: list[float] | None = None
    shrinkages: list[float] | None = None
    rule: str = "paired"
    n_pairs: int = 0  # of features, whose surfaces are tried beside none

    def fit(self, data: RankingData, settings: Settings, start: Init | None = None) -> SearchResult:
        """Choose the amounts by the held-out AUC and fit all rows with them."""
        chosen, candidates = find_amounts(
            data,
            settings,
            self.folds,
            penalties=self.penalties,
            shrinkages=self.shrinkages,
            rule=self.rule,
            surfaces=self.n_pairs,
        )
        final = replace(
            settings,
            **chosen.amounts._asdict(),
            interactions=chosen.interactions if self.n_pairs else settings.interactions,
            n_estimators=chosen.n_rounds or settings.n_estimators,
        )
        result = run_smooth(data, final, start=start)
        attributes = {
            **result.attributes,
            "best_score_": chosen.mean,
            "cv_results_": cv_results(candidates),
            "interactions_": final.interactions,
            "n_estimators_": final.n_estimators,
        }
        return SearchResult(final, replace(result, attributes=attributes))


def cv_results(candidates: list[Candidate]) -> dict[str, npt.NDArray[Any]]:
    """The candidates as ``cv_results_``."""
    results: dict[str, npt.NDArray[Any]] = {
        "penalty": np.array([c.amounts.penalty for c in candidates]),
        "shrinkage": np.array([c.amounts.shrinkage for c in candidates]),
        "interactions": np.array([c.interactions for c in candidates]),
        **summarise([c.aucs for c in candidates]),
    }
    staged = [c.staged for c in candidates if c.staged is not None]
    if staged:
        results["staged_auc"] = np.array(staged)
        results["rounds"] = np.arange(1, staged[0].shape[1] + 1)
    return results


def read_amounts(values: Any, name: str) -> list[float] | None:
    """Finite numbers that are not negative, sorted; None stays None."""
    if values is None:
        return None
    try:
        array = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        array = np.empty(0)
    if len(array) == 0 or not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"{name} is {values!r}; give one or more numbers of 0 or more")
    return sorted(set(array.tolist()))
