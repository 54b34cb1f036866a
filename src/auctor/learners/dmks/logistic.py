"""Logistic regression in a fixed order of operations, from which DMKS starts.

The sums of scikit-learn use BLAS, whose last bits depend on the processor, and a start with other
last bits can lead to another model.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats
from auctor.kernels.linear import dot
from auctor.kernels.scores import logistic_rows
from auctor.learners.margin.hypotheses import times_vector, vector_times
from auctor.learners.smooth.newton import Patience, maximise
from auctor.learners.smooth.objective import Point

# The loss, a mean over rows, is at most this far from its minimum.
_TOLERANCE = 1e-9
_MOST_STEPS = 1000


def logistic_coefficients(matrix: Any, positive: Bools, weight: Floats) -> Floats:
    """The coefficients that minimise the loss plus half of their squares, without the intercept.

    ``matrix`` is a float64 array or CSR array of columns with a standard deviation of about 1.

    Examples
    --------
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> logistic_coefficients(x, np.array([False, True, False, True]), np.ones(4)).round(3)
    array([0.291])
    """
    objective = _Likelihood(matrix, positive, weight)
    patience = Patience(tol=_TOLERANCE, max_iter=_MOST_STEPS)
    point, _ = maximise(objective, np.zeros(matrix.shape[1] + 1), patience)
    return point.x[1:]


class _Likelihood:
    """Minus the penalised loss over the sum of weights; the first unknown is the intercept."""

    def __init__(self, matrix: Any, positive: Bools, weight: Floats) -> None:
        self._matrix, self._positive, self._weight = matrix, positive, weight
        self._total = float(weight.sum())

    def at(self, x: Floats) -> Point:
        """The objective and its gradient."""
        z = times_vector(self._matrix, x[1:]) + x[0]
        pull = np.empty(len(z))
        loss = logistic_rows(z, self._positive, self._weight, pull)
        gradient = np.append(pull.sum(), vector_times(pull, self._matrix) - x[1:]) / self._total
        objective = -(loss + dot(x[1:], x[1:]) / 2) / self._total
        return Point(x, objective, objective, gradient, gradient, (), (0.0, 0.0))

    def metric(self, point: Point) -> Callable[[Floats], Floats]:
        """g -> an ascent step, by the largest curvature that columns of deviation 1 can have."""
        curvature = np.full(len(point.x), 0.25 + 1.0 / self._total)
        return lambda g: g / curvature
