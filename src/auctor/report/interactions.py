"""Interactions of features in a score with trees, measured by partial dependence.

The interaction of two features is what their joint partial dependence has beyond those of the
single features: f_jk - f_j - f_k, each with mean 0. It is 0 if the score is a sum of functions of
which none has both features. Its variance divided by that of f_jk is the H^2 of Friedman and
Popescu (2008). Here the divisor is the variance of f_j + f_k plus that of the interaction, which is
the same if the two are uncorrelated, so that the fraction is never above 1.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature
from auctor.report.dependence import Dependence
from auctor.report.feature_plots import axis_number, bin_label, heat_map
from auctor.report.plain import clean

MOST_FEATURES = 8  # 28 pairs
MOST_LISTED = 5
_MOST_POINTS = 80  # rows at whose values the functions are evaluated
_MOST_CELLS = 12  # on a side of the heat map
_NOTHING = 1e-12  # a fraction of the variance that rounding alone may give


class Interaction(NamedTuple):
    """Two features, and the variance of their interaction over the rows."""

    features: tuple[int, int]
    variance: float
    single_variance: float  # of the sum of the two features' own effects


def find_interactions(dependence: Dependence, features: list[int]) -> list[Interaction]:
    """The interaction of each pair of the features, the strongest first."""
    points = dependence.codes[:, :_MOST_POINTS]
    weight = dependence.row_fraction[: points.shape[1]]
    alone = {j: dependence.joint([j], points[[j]]) for j in features}
    interactions = []
    for pair in combinations(features, 2):
        trees = alone[pair[0]] + alone[pair[1]]
        beyond = dependence.joint(pair, points[list(pair)]) - trees
        single = trees + sum(dependence.additive(j)[points[j]] for j in pair)
        interactions.append(Interaction(pair, variance(beyond, weight), variance(single, weight)))
    return sorted(interactions, key=lambda one: -one.variance)


def variance(values: Floats, weight: Floats) -> float:
    """The weighted variance."""
    mean = np.average(values, weights=weight)
    return float(np.average((values - mean) ** 2, weights=weight))


def interaction_facts(
    dependence: Dependence, features: list[int], score_variance: float
) -> dict[str, Any]:
    """The strongest interactions, and a heat map of the first."""
    interactions = find_interactions(dependence, features)
    strong = [one for one in interactions if one.variance > _NOTHING * score_variance]
    rows = [
        {
            "features": [clean(dependence.features[j].name) for j in one.features],
            "share": one.variance / score_variance,
            "of_pair": one.variance / (one.variance + one.single_variance),
        }
        for one in strong[:MOST_LISTED]
    ]
    return {
        "n_features": len(features),
        "n_pairs": len(interactions),
        "n_found": len(strong),
        "n_rows": dependence.codes.shape[1],
        "rows": rows,
        "plot": _heat_map(dependence, strong[0].features) if strong else None,
    }


def _heat_map(dependence: Dependence, pair: tuple[int, int]) -> dict[str, Any]:
    """What the two features add together, beyond what each of them adds alone."""
    axes = [dependence.features[j] for j in pair]
    picks = [_picks(axis, dependence.codes[j]) for axis, j in zip(axes, pair, strict=True)]
    across, along = (codes.ravel() for codes in np.meshgrid(*picks, indexing="ij"))
    both = dependence.joint(pair, np.array([across, along])).reshape(len(picks[0]), len(picks[1]))
    alone = [dependence.joint([j], pick[None]) for j, pick in zip(pair, picks, strict=True)]
    # The mean of an interaction over the rows is near 0 if the mean score is added.
    mean = float(dependence.joint([], np.empty((0, 1), dtype=np.intp))[0])
    grid = both - alone[0][:, None] - alone[1][None, :] + mean
    labels = [_labels(axis, pick) for axis, pick in zip(axes, picks, strict=True)]
    return heat_map(axes, labels, grid)


def _labels(axis: Feature, picks: Ints) -> list[str]:
    """Categories and few bins by name; of many bins the cells show some, by a value in each."""
    if axis.is_category or axis.n_bins <= _MOST_CELLS:
        return [bin_label(axis, int(code)) for code in picks]
    return [axis_number(axis.cuts[min(int(code), len(axis.cuts)) - 1], 3) for code in picks]


def _picks(axis: Feature, codes: Ints) -> Ints:
    """The most frequent categories, or bins at equal steps of rank; missing values are left out."""
    known = np.sort(codes[codes > 0])
    if len(known) == 0:
        return np.array([1])
    if axis.is_category:
        counts = np.bincount(known)
        frequent = np.argsort(-counts, kind="stable")[:_MOST_CELLS]
        return np.sort(frequent[counts[frequent] > 0])
    places = (np.arange(_MOST_CELLS) + 0.5) / _MOST_CELLS * len(known)
    return np.unique(known[places.astype(np.int64)])
