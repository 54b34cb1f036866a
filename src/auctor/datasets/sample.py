"""The class of all data sets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from auctor._typing import Floats, Ints

ScoreFunction = Callable[[npt.ArrayLike], Floats]


# eq=False: == of two samples would compare arrays, whose truth value is ambiguous.
@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Features and labels, with the optimal score of their distribution if it is known.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        The features.
    y : ndarray of shape (n_rows,), int64
        The labels, with label noise; the larger value is positive.
    y_clean : ndarray of shape (n_rows,), int64
        The labels without label noise; equal to ``y`` if there is none.
    feature_names : tuple of str
        One name per column of ``X``.
    optimal_score : callable or None
        A function that takes rows like ``X`` and returns one score per row. No score has a larger
        AUC in the population, for ``y`` as well as for ``y_clean``. None if the distribution is
        unknown.

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
