"""What uneven surfaces cost."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from auctor.learners.smooth_pairs import Axis, Pair
from auctor.learners.smooth_penalty import CURVATURE, factor, solve
from auctor.learners.smooth_scale import gaps

Floats = npt.NDArray[np.float64]

_TINY = 1e-9


class SurfacePenalty:
    """What uneven surfaces cost: a quadratic form of tables (surfaces, side * side).

    Along both axes, (f_i+1 - f_i)^2 / h_i of neighbouring groups, h_i apart on the scale of
    normal scores; categories and missing values cost their squared distance from the mean of
    their line. Both are means over the lines. A ridge, the mean square of the cells, holds what
    has no neighbour and no row.
    """

    def __init__(self, pairs: Sequence[Pair], share: Floats, weight: float) -> None:
        self._side, self._share = share.shape[1], share  # of cells: (surfaces, side, side)
        self._along = tuple(_Along([p.axes[d] for p in pairs], self._side) for d in (0, 1))
        held = [along.held for along in self._along]
        lines = [h / h.sum(axis=1, keepdims=True) for h in held]  # each line's part of the mean
        own = np.array([weight * pair.multiple for pair in pairs])[:, None, None]
        self._edges = (
            own * self._along[0].edges[:, :, None] * lines[1][:, None, :],
            own * self._along[1].edges[:, None, :] * lines[0][:, :, None],
        )
        self._apart = (
            own * self._along[0].apart[:, :, None] * lines[1][:, None, :],
            own * self._along[1].apart[:, None, :] * lines[0][:, :, None],
        )
        self._ridge = own * lines[0][:, :, None] * lines[1][:, None, :]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tables: (surfaces, cells)."""
        return len(self._share), self._side**2

    def gradient(self, f: Floats) -> Floats:
        """2 P f; half the sum of f times it is the penalty."""
        f = f.reshape(self._share.shape)
        out = self._ridge * f
        for axis, along, edges, apart in zip(
            (1, 2), self._along, self._edges, self._apart, strict=True
        ):
            pulls = edges * np.diff(f, axis=axis)
            _halves(out, axis)[1][...] += pulls
            _halves(out, axis)[0][...] -= pulls
            share = along.share[:, :, None] if axis == 1 else along.share[:, None, :]
            away = apart * (f - (share * f).sum(axis=axis, keepdims=True))
            out += away - share * away.sum(axis=axis, keepdims=True)
        return np.asarray(2 * out).reshape(self.shape)

    def solver(self, mass: Floats, extra: Floats | None = None) -> Callable[[Floats], Floats]:
        """g -> an approximate inverse of the objective's curvature times g.

        A banded system for all surfaces; the coupling of categories through their mean is left
        out. Nothing is ever ``extra``: barriers are for features alone.
        """
        diagonal = self._ridge + self._apart[0] + self._apart[1]
        bands = np.zeros((1 + self._side, *self._share.shape))
        for axis, offset, edges in ((1, self._side, self._edges[0]), (2, 1, self._edges[1])):
            for half in _halves(diagonal, axis):
                half += edges
            _halves(bands[offset], axis)[0][...] -= 2 * edges
        bands[0] = 2 * diagonal * (1 + _TINY) + CURVATURE * mass.reshape(self._share.shape) + _TINY
        bands[0][bands[0] <= _TINY] = 1.0  # cells that no row can fall into
        banded = factor(bands)
        return lambda g: solve(banded, g).reshape(self.shape)


class _Along:
    """One axis of every surface, padded to one length: (surfaces, side)."""

    def __init__(self, axes: Sequence[Axis], side: int) -> None:
        self.share = np.zeros((len(axes), side))
        self.edges = np.zeros((len(axes), side - 1))  # one over the distance to the next group
        self.apart = np.zeros((len(axes), side))  # 1 for groups without neighbours
        for i, axis in enumerate(axes):
            n = axis.feature.n_bins
            self.share[i, : n + 1] = axis.share
            self.apart[i, 0] = 1.0
            if axis.feature.is_category:
                self.apart[i, 1 : n + 1] = 1.0
            else:
                self.edges[i, 1:n] = 1 / gaps(axis.feature, axis.share[1:], "normal")
        self.held = self.share > 0
        self.apart *= self.held


def _halves(f: Floats, axis: int) -> tuple[Floats, Floats]:
    """All but the last and all but the first along an axis: views."""
    if axis == 1:
        return f[:, :-1], f[:, 1:]
    return f[:, :, :-1], f[:, :, 1:]
