"""What every data set is returned as."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from auctor._typing import Floats, Ints

ScoreFunction = Callable[[npt.ArrayLike], Floats]


# Comparing two samples with == would compare arrays, which has no one truth value.
@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows, their labels, and what is known of the law they were drawn from.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        The features.
    y : ndarray of shape (n_rows,), int64
        The labels, after noise; the larger value is positive.
    y_clean : ndarray of shape (n_rows,), int64
        The labels before noise; equal to ``y`` where there is none.
    feature_names : tuple of str
        One name per column of ``X``.
    optimal_score : callable or None
        Takes rows like ``X`` and returns one score a row. No score has a larger AUC in the
        population, for ``y`` as for ``y_clean``. None where the law is unknown.

    Examples
    --------
    >>> from auctor.datasets import make_gaussian_pair
    >>> sample = make_gaussian_pair(n_neg=30, n_pos=20, random_state=0)
    >>> sample
    Sample(50 rows, 4 features, 20 positive, 30 negative, 0 labels flipped)
    >>> X, y = sample
    >>> X.shape, int(y.sum())
    ((50, 4), 20)
    >>> sample.optimal_score(X).shape
    (50,)
    """

    X: Floats
    y: Ints
    y_clean: Ints
    feature_names: tuple[str, ...]
    optimal_score: ScoreFunction | None

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        yield self.X
        yield self.y

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        # Labels are 0/1 or -1/+1; in both, only positives are above zero.
        n_pos = int((self.y > 0).sum())
        n_flipped = int((self.y != self.y_clean).sum())
        return (
            f"Sample({n_rows} rows, {n_features} features, {n_pos} positive, "
            f"{n_rows - n_pos} negative, {n_flipped} labels flipped)"
        )
