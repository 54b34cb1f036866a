"""The metrics that ExactBoost maximises, and their losses on all rows."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints, RowIndices
from auctor.kernels.arrays import read_only
from auctor.kernels.exact.custom import CustomSearch, custom_search, is_compiled
from auctor.kernels.exact.rows import auc_loss, ks_loss, top_loss
from auctor.kernels.exact.sample import AUC, KS, TOP
from auctor.learners.exact.table import ExactTable

NUMBERS = {"auc": AUC, "ks": KS, "precision_at_k": TOP}
TITLES = {"auc": "AUC", "ks": "KS", "precision_at_k": "precision at k"}


@dataclass(frozen=True)
class RankMetric:
    """A rank metric of your own, as two functions that Numba has compiled.

    Parameters
    ----------
    value : function of (pos, neg)
        The metric, from 0 (worst) to 1 (best), of the scores of both classes, which are whole
        numbers in ascending order. It must depend only on the order of the scores: adding a
        constant to all of them, or multiplying all of them by a positive number, must not change
        it.
    bound : function of (pos_low, pos_high, neg_low, neg_high)
        An upper bound on ``value`` for all scores between the lows and the highs, each sorted. For
        a metric that increases with the scores of positives and decreases with those of negatives
        it is ``value(pos_high, neg_low)``.
    name : str, default="metric"
        The name of the metric in messages.

    Examples
    --------
    The fraction of the positives that are above every negative, for ``ExactBoost(metric)``:

    >>> import numba
    >>> import numpy as np
    >>> from auctor import RankMetric
    >>> @numba.njit
    ... def value(pos, neg):
    ...     return np.mean(pos > neg[-1])
    >>> @numba.njit
    ... def bound(pos_low, pos_high, neg_low, neg_high):
    ...     return value(pos_high, neg_low)
    >>> metric = RankMetric(value, bound, name="positives above all negatives")
    >>> round(metric.value(np.array([1, 3, 5]), np.array([0, 2, 4])), 3)
    0.333
    """

    value: Callable[..., float]
    bound: Callable[..., float]
    name: str = "metric"


@dataclass(frozen=True, eq=False)
class Judge:
    """The chosen metric; ``top`` is k in units of weight (0 for metrics without k)."""

    number: int
    title: str
    top: float
    custom: CustomSearch | None

    def loss(
        self,
        pos: Ints,
        order_pos: RowIndices,
        neg: Ints,
        order_neg: RowIndices,
        weight: npt.NDArray[np.uint32],
        margin: int,
    ) -> float:
        """The margin-adjusted loss, equation (6), of all rows, each class sorted by score."""
        if self.custom is not None:
            return 1.0 - float(self.custom.value(pos - margin, neg))
        rows = (pos, order_pos, neg, order_neg, read_only(weight), margin)
        if self.number == AUC:
            return float(auc_loss(*rows))
        return float(ks_loss(*rows) if self.number == KS else top_loss(*rows, self.top))

    def largest(self, n_pos: int, n_neg: int, weight_pos: float) -> float:
        """The value for a perfectly ordered sample, in the units of the search."""
        if self.custom is not None:
            return 1.0
        return float(self.top / weight_pos if self.number == TOP else n_pos * n_neg)


def make_judge(metric: Any, k: Any, table: ExactTable, unit: float) -> Judge:
    """The metric of a name, or one of the user's own; raises an error if it does not fit."""
    if isinstance(metric, RankMetric):
        if table.is_weighted:
            raise ValueError(
                f"metric {metric.name!r} is a RankMetric, which does not support weights; leave "
                "out sample_weight, or use 'auc', 'ks' or 'precision_at_k'"
            )
        check_metric(metric)
        return Judge(-1, metric.name, 0.0, custom_search(metric.value, metric.bound))
    top = _read_top(k, table, unit) if metric == "precision_at_k" else 0.0
    return Judge(NUMBERS[metric], TITLES[metric], top, None)


def _read_top(k: Any, table: ExactTable, unit: float) -> float:
    """k in units of weight, from a whole number of rows or a fraction of them."""
    total = float(table.weight.sum(dtype=np.int64))
    wanted = "give a whole number of rows, or a fraction above 0 and below 1"
    if isinstance(k, bool) or not isinstance(k, Real) or not float(k) > 0:
        raise ValueError(f"k is {k!r}; {wanted}")
    if isinstance(k, Integral):
        if float(k) > total * unit:
            raise ValueError(
                f"k is {k}, more than the {total * unit:g} rows of X (by weight); {wanted}"
            )
        return float(k) / unit
    if float(k) >= 1:
        raise ValueError(f"k is {k!r}; {wanted}")
    return float(k) * total


def check_metric(metric: RankMetric) -> None:
    """Test a metric on a few samples: its range, its invariance and its bound."""
    if not (is_compiled(metric.value) and is_compiled(metric.bound)):
        raise ValueError(
            f"metric {metric.name!r} has functions that Numba has not compiled; put @numba.njit "
            "above value and bound"
        )
    rng = np.random.default_rng(0)
    for most in [9] * 15 + [200] * 5:  # a metric of the top may need many rows to vary
        pos, neg = (np.sort(rng.integers(0, 1000, size=rng.integers(1, most))) for _ in range(2))
        here = float(metric.value(pos, neg))
        if not 0.0 <= here <= 1.0:
            raise ValueError(f"metric {metric.name!r} is {here:g}; give a metric between 0 and 1")
        for change, moved in (("adding 77 to", 77), ("adding -5000 to", -5000)):
            there = float(metric.value(pos + moved, neg + moved))
            if there != here:
                raise ValueError(
                    f"metric {metric.name!r} is {here!r}, but {there!r} after {change} all scores; "
                    "give a metric that depends only on the order of the scores"
                )
        there = float(metric.value(pos**3, neg**3))
        if there != here:
            raise ValueError(
                f"metric {metric.name!r} is {here!r}, but {there!r} after cubing all scores; "
                "give a metric that depends only on the order of the scores"
            )
        _check_bound(metric, pos, neg, rng)


def _check_bound(metric: RankMetric, pos: Ints, neg: Ints, rng: np.random.Generator) -> None:
    """Raise an error if scores within their intervals exceed the bound."""
    wide_pos, wide_neg = (rng.integers(0, 300, size=len(x)) for x in (pos, neg))
    bound = float(metric.bound(pos, np.sort(pos + wide_pos), neg, np.sort(neg + wide_neg)))
    for _ in range(5):
        inner_pos = np.sort(pos + (rng.random(len(pos)) * wide_pos).astype(np.int64))
        inner_neg = np.sort(neg + (rng.random(len(neg)) * wide_neg).astype(np.int64))
        inner = float(metric.value(inner_pos, inner_neg))
        if inner > bound:
            raise ValueError(
                f"the bound of metric {metric.name!r} is {bound:g}, but scores within its "
                f"intervals have the value {inner:g}; give a bound that no such scores exceed"
            )
