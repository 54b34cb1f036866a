"""Settings of the smooth learner from the parameters of an estimator, checked before the fit."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS
from auctor.estimators.fitting import FitInput
from auctor.estimators.init import Init, check_same_features, read_init
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.smooth.smoothed_auc import LARGEST_RANGE
from auctor.models import AdditiveModel

# Constraints of the parameters of both SmoothAUCBoost and SmoothAUCBoostCV.
SMOOTH_CONSTRAINTS: dict[str, list[Any]] = {
    **SHARED_CONSTRAINTS,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "solver": [StrOptions({"newton", "stagewise"})],
    "roughness": [StrOptions({"auto", "curvature", "bins"})],
    "scale": [StrOptions({"normal", "arcsinh", "linear"})],
    "adaptive": ["boolean"],
    "monotonic_cst": ["array-like", dict, None],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "fpr_range": ["array-like", None],
    "init": [AdditiveModel, HasMethods("decision_function"), None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}


def make_settings(
    data: RankingData,
    *,
    start: Init | None = None,
    solver: str = "newton",
    roughness: str = "auto",
    monotonic_cst: Any = None,
    interactions: Any = 0,
    fpr_range: Any = None,
    **others: Any,
) -> SmoothSettings:
    """Settings of a fit; what depends on the columns or the number of rows is checked here.

    ``others`` are handed on to ``SmoothSettings`` as they are.
    """
    signs = read_signs(monotonic_cst, data)
    if start is not None:
        check_same_features(start.source, data, signs)
    automatic = "curvature" if solver == "newton" else "bins"
    return SmoothSettings(
        solver=solver,
        roughness=automatic if roughness == "auto" else roughness,
        signs=signs,
        interactions=0 if interactions == "auto" else interactions,
        offset=None if start is None else start.scores,
        fpr_range=read_fpr_range(fpr_range, data.effective_rows[0]),
        **others,
    )


def check_interactions(interactions: Any, solver: str) -> None:
    """Refuse surfaces of feature pairs for the stagewise solver, which has none."""
    if interactions not in (0, "auto") and solver == "stagewise":
        raise ValueError(
            f"interactions is {interactions} with solver='stagewise', which has stumps only; set "
            "interactions=0 or solver='newton'"
        )


def read_signs(monotonic_cst: Any, data: RankingData) -> tuple[int, ...]:
    """The sign that ``monotonic_cst`` gives each feature; empty without the parameter."""
    if monotonic_cst is None:
        return ()
    names = [feature.name for feature in data.features]
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise ValueError(
                f"monotonic_cst names {unknown[0]!r}, which is not a column of X; give names of "
                "columns"
            )
        given = [monotonic_cst.get(name, 0) for name in names]
    else:
        given = list(np.asarray(monotonic_cst, dtype=object).ravel())
    if len(given) != len(names):
        raise ValueError(
            f"monotonic_cst has {len(given)} entries for {len(names)} features; give -1, 0 or 1 "
            "for each, or a dict by name"
        )
    for feature, sign in zip(data.features, given, strict=True):
        if isinstance(sign, (bool, np.bool_)) or sign not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst is {sign!r} for {feature.name!r}; give -1, 0 or 1")
        if sign != 0 and feature.is_category:
            raise ValueError(
                f"monotonic_cst is {sign} for {feature.name!r}, which holds categories: they have "
                "no order; give 0"
            )
    return tuple(int(sign) for sign in given)


def read_smooth_init(init: Any, given: FitInput, pos_label: Any) -> Init | None:
    """The additive model to start from; its range of scores must leave space for the fit."""
    start = read_init(init, given, pos_label, additive_only=True)
    if start is not None and not np.ptp(start.scores) <= LARGEST_RANGE / 2:
        raise ValueError(
            f"init has scores from {start.scores.min():g} to {start.scores.max():g}, too far "
            f"apart; give a model whose scores lie within {LARGEST_RANGE / 2:g} of each other"
        )
    return start


def read_fpr_range(fpr_range: Any, n_neg: float) -> tuple[float, float] | None:
    """A range of false positive rates that holds at least two negatives."""
    if fpr_range is None:
        return None
    ends = list(fpr_range)
    wanted = "give two numbers with 0 <= low < high <= 1"
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        raise ValueError(f"fpr_range is {fpr_range!r}; {wanted}")
    low, high = map(float, ends)
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"fpr_range is ({low:g}, {high:g}); {wanted}")
    if (high - low) * n_neg < 2:
        raise ValueError(
            f"fpr_range is ({low:g}, {high:g}), which holds {(high - low) * n_neg:.2g} of the "
            f"{n_neg:g} negatives; give a range that holds two or more"
        )
    return None if (low, high) == (0.0, 1.0) else (low, high)
