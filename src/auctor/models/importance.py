"""The importance of the terms of a model: how much each makes the scores of rows differ.

This is the only definition behind the order of features on the command line, on the page of a
report and in score plots. ``feature_importances_`` of the smooth learners and of ExactBoostCV is
the same number on the training rows, with half of a pair's importance for each of its features.
"""

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import Table
from auctor.models.base import Model
from auctor.models.explained import ExplainedModel
from auctor.models.forest import ForestModel
from auctor.models.sum import SumModel
from auctor.models.terms import TermModel

WORDS = (
    "the standard deviation of what a feature adds to the score, with both classes counting one "
    "half, as a fraction of the sum over all features"
)
# Rows of each class, where the terms are Shapley values, which take time; and rows times trees.
_MOST_ROWS, _FEWEST_ROWS = 250, 50
_MOST_WALKS = 250_000


def can_rank_terms(model: Model) -> bool:
    """Whether the score is a sum with a term for each feature, so that terms have importances."""
    return isinstance(model, ExplainedModel) and model.why_unexplained is None


def term_importances(
    model: ExplainedModel,
    table: Table,
    columns: Ints,
    positive: Bools,
    weight: Floats,
) -> Floats:
    """The importance of each term of the model on labelled rows; the sum is 1, or 0 if none differ.

    Parameters
    ----------
    model : ExplainedModel
        The model; ``model.term_names`` are the names of the terms.
    table, columns
        The rows; feature j is column ``columns[j]``.
    positive, weight : ndarray of shape (n_rows,)
        The class and the weight of each row. For models with trees some hundred rows are drawn
        with a fixed seed; other models use all rows.
    """
    if isinstance(model, TermModel):
        n_terms = range(len(model.term_names))
        classes = _class_fractions(positive, weight)
        spreads = np.array([_term_spread(model, k, table, columns, classes) for k in n_terms])
    else:
        drawn = _draw(positive, weight, _most_rows(model))
        contributions = model._contributions(table.take(drawn), columns)
        classes = _class_fractions(positive[drawn], weight[drawn])
        spreads = np.array([_spread(values, classes) for values in contributions.T])
    total = float(spreads.sum())
    return spreads / total if total > 0 else spreads


def feature_importances(model: ExplainedModel, importances: Floats) -> Floats:
    """The importance of each feature, from that of the terms: each of a pair has half of it."""
    out = np.zeros(len(model.feature_names))
    for features, importance in zip(model._term_features(), importances.tolist(), strict=True):
        out[list(features)] += importance / len(features)
    return out


def by_importance(importances: Floats) -> list[int]:
    """The terms in order of importance; equal ones stay in the order of the table.

    Examples
    --------
    >>> by_importance(np.array([0.2, 0.0, 0.6, 0.2]))
    [2, 0, 3, 1]
    """
    return [int(k) for k in np.argsort(-importances, kind="stable")]


def _term_spread(model: TermModel, k: int, table: Table, columns: Ints, fraction: Floats) -> float:
    if model._constant(k) is not None:  # as most terms of a wide table are
        return 0.0
    return _spread(model._term(k, table, columns), fraction)


def _spread(values: Floats, fraction: Floats) -> float:
    """The standard deviation of values whose fractions of the weight are given."""
    mean = float((fraction * values).sum())
    # Rounding must not make a constant look like a spread.
    deviation = float(np.sqrt((fraction * (values - mean) ** 2).sum()))
    return deviation if deviation > 1e-12 * max(1.0, abs(mean)) else 0.0


def _class_fractions(positive: Bools, weight: Floats) -> Floats:
    """The weight of each row as a fraction, such that each class has one half."""
    fraction = np.zeros(len(positive))
    classes = [own for own in (positive, ~positive) if weight[own].sum() > 0]
    for own in classes:
        fraction[own] = weight[own] / (weight[own].sum() * len(classes))
    return fraction


def _most_rows(model: Model) -> int:
    """Rows of each class, fewer for very large forests."""
    parts = model.parts if isinstance(model, SumModel) else (model,)
    n_trees = sum(part.n_trees for part in parts if isinstance(part, ForestModel))
    return min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_WALKS // max(n_trees, 1)))


def _draw(positive: Bools, weight: Floats, most: int) -> Ints:
    """Rows of both classes at random, but always the same ones."""
    order = np.random.default_rng(0).permutation(np.flatnonzero(weight > 0))
    classes = positive[order], ~positive[order]
    return np.sort(np.concatenate([order[own][:most] for own in classes]))
