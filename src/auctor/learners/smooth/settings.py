"""Settings of SmoothAUCBoost, and the amounts of penalty that "auto" stands for."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.data import RankingData

Amount = float | Literal["auto"]

# An automatic penalty is this number divided by the harmonic mean of the effective numbers of rows
# of the two classes: with more rows there is less noise to smooth away.
_AUTO = 0.1
# Categories have no neighbours to borrow from and need a stronger penalty. Cross-validation of
# factors from 0.3 to 30 on five tables found 3 or 10 best on four of them.
_CATEGORIES = 3.0
# The best lambda in Figure 2 of Komori (2010).
_STAGEWISE_PENALTY = 0.01
# The length of a scale of normal scores, for which the automatic amounts were chosen. Bins that are
# 1 apart make a longer scale, and the amounts are multiplied accordingly.
_USUAL_LENGTH = 5.0


@dataclass(frozen=True)
class SmoothSettings:
    """Settings of a fit; the names are those of the estimator's parameters.

    Attributes
    ----------
    signs : tuple of int
        The sign of the slope of each feature, -1, 0 or 1, where some are monotone; else empty.
    max_features : int or None
        Maximum number of features in the fit; if the table has more, they are screened first.
    loose : ndarray or None
        ``Adapted.loose`` where it is known; None to find it in the data.
    offset : ndarray or None
        The score that the fit starts from, by the index of the row in the table.
    """

    penalty: Amount = "auto"
    shrinkage: Amount = "auto"
    ridge: Amount = "auto"
    roughness: str = "curvature"
    scale: str = "normal"
    adaptive: bool = True
    solver: str = "newton"
    n_estimators: int = 500
    max_iter: int = 500
    tol: float = 1e-8
    n_iter_no_change: int = 10
    signs: tuple[int, ...] = ()
    interactions: int = 0
    max_features: int | None = None
    fpr_range: tuple[float, float] | None = None
    loose: Floats | None = None
    offset: Floats | None = None
    n_jobs: int | None = None
    verbose: bool | int = False


def loose_where(single_values: bool, data: RankingData) -> Floats | None:
    """The setting ``loose``: found by the fit, or infinite where no value may leave its curve."""
    return None if single_values else np.full(data.n_features, np.inf)


class Amounts(NamedTuple):
    """The weights of the penalties on curvature, on slope, and on distance from the mean."""

    penalty: float
    shrinkage: float
    ridge: float


def auto_amounts(data: RankingData, settings: SmoothSettings) -> Amounts:
    """The amounts that "auto" stands for.

    The stagewise solver has the penalty of Komori (2010), which has no shrinkage.
    """
    n_neg, n_pos = data.effective_rows
    amount = _AUTO * (1 / n_neg + 1 / n_pos) / 2
    if settings.solver == "stagewise":
        return Amounts(_STAGEWISE_PENALTY, 0.0, _CATEGORIES * amount)
    if settings.roughness == "curvature":
        return Amounts(amount, amount, _CATEGORIES * amount)
    stretch = max(1.0, (data.n_codes - 1) / _USUAL_LENGTH)
    # This roughness also penalises the slope at both ends: a tenth of the curvature's amount.
    return Amounts(amount * stretch**3 / 10, amount * stretch, _CATEGORIES * amount)


def resolve_amounts(data: RankingData, settings: SmoothSettings) -> Amounts:
    """The amounts of the settings, with numbers in place of "auto"."""
    auto = auto_amounts(data, settings)
    return Amounts(
        auto.penalty if settings.penalty == "auto" else settings.penalty,
        auto.shrinkage if settings.shrinkage == "auto" else settings.shrinkage,
        auto.ridge if settings.ridge == "auto" else settings.ridge,
    )
