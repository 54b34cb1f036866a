"""Partial dependence: the mean score over a sample of rows with one or two features set to a value.

Trees are scored for all rows and values in one call, by their codes. What the single features of an
additive model add is known from its steps.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.models import AdditiveModel, ForestModel, Model, SumModel, Surface
from auctor.models.features import code_columns
from auctor.models.sum import join_features

# Codes that are held in memory for one call of a scoring function.
_MOST_CELLS = 4_000_000

Codes = npt.NDArray[Any]
TreeScore = ForestModel | SumModel  # see has_trees


def has_trees(model: Model) -> TypeGuard[TreeScore]:
    """Whether a model is a forest that explains rows, or the sum of one and of additive models."""
    if not isinstance(model, (ForestModel, SumModel)) or model.average_row is None:
        return False
    parts = [part for part, _ in weighted_parts(model)]
    known = all(isinstance(part, (AdditiveModel, ForestModel)) for part in parts)
    return known and any(isinstance(part, ForestModel) for part in parts)


def weighted_parts(model: TreeScore) -> list[tuple[Model, float]]:
    """The parts of a sum whose weight is not 0; a forest is its own part."""
    if isinstance(model, ForestModel):
        return [(model, 1.0)]
    pairs = zip(model.parts, model.weights.tolist(), strict=True)
    return [(part, weight) for part, weight in pairs if weight]


class _Part(NamedTuple):
    """Trees, or a surface, and the codes of the sample in their own bins."""

    features: tuple[int, ...]  # of each axis, among those of the model
    own_code: list[Ints]  # for each axis: code of the joint feature -> code of the axis
    codes: Codes  # (axes, rows)
    weight: float
    score: Callable[[Codes], Floats]


class Dependence:
    """The score of a model with trees, as a function of one or two features.

    Attributes
    ----------
    features : tuple of Feature
        The features with the bins of all parts of the model together.
    codes : ndarray of shape (n_features, n_rows)
        The rows of the sample in these bins.
    row_fraction : ndarray of shape (n_rows,)
        The weight of each row as a fraction of that of all rows.
    """

    def __init__(self, model: TreeScore, table: Table, columns: Ints, weight: Floats) -> None:
        parts = weighted_parts(model)
        self._additive = [(part, w) for part, w in parts if isinstance(part, AdditiveModel)]
        self.features = _joint_features(model, [part for part, _ in self._additive])
        self.codes = code_columns(self.features, table, columns).astype(np.intp)
        self.row_fraction = weight / weight.sum()
        self._trees = [
            self._part(range(len(self.features)), part.features, w, part.score_codes)
            for part, w in parts
            if isinstance(part, ForestModel)
        ]
        self._surfaces = [
            self._part(surface.features, surface.axes, w, _lookup(surface))
            for part, w in self._additive
            for surface in part.surfaces
        ]

    def _part(
        self,
        features: Sequence[int],
        axes: Sequence[Feature],
        weight: float,
        score: Callable[[Codes], Floats],
    ) -> _Part:
        pairs = list(zip(features, axes, strict=True))
        own_code = [own_codes(self.features[j], axis) for j, axis in pairs]
        codes = np.array([own[self.codes[j]] for j, own in zip(features, own_code, strict=True)])
        smallest = np.uint16 if codes.max(initial=0) < 2**16 else np.uint32
        return _Part(tuple(features), own_code, codes.astype(smallest), weight, score)

    def additive(self, j: int) -> Floats:
        """What the additive models add for each code of feature j, less the average row's."""
        out = np.zeros(self.features[j].n_bins + 1)
        for part, weight in self._additive:
            zero = 0.0 if part.reference is None else part.reference.contributions[j]
            own = own_codes(self.features[j], part.features[j])
            out += weight * (part.steps[j][own] - zero)
        return out

    def trees(self, features: Sequence[int], codes: Codes) -> Floats:
        """The mean over the rows of the trees' score, for each column of ``codes``.

        ``codes`` has a row for each of ``features``, which are set to them in all rows.
        """
        return self._mean(self._trees, features, codes)

    def joint(self, features: Sequence[int], codes: Codes) -> Floats:
        """The same mean of all that is no sum over single features: trees and surfaces."""
        return self._mean([*self._trees, *self._surfaces], features, codes)

    def _mean(self, parts: list[_Part], features: Sequence[int], codes: Codes) -> Floats:
        out = np.zeros(codes.shape[1])
        for part in parts:
            out += part.weight * self._part_mean(part, features, codes)
        return out

    def _part_mean(self, part: _Part, features: Sequence[int], codes: Codes) -> Floats:
        axes = [axis for axis, j in enumerate(part.features) if j in features]
        if not axes:
            mean = (part.score(part.codes) * self.row_fraction).sum()
            return np.full(codes.shape[1], float(mean))
        rows_of = [features.index(part.features[axis]) for axis in axes]
        own = np.array(
            [part.own_code[axis][codes[k]] for axis, k in zip(axes, rows_of, strict=True)]
        )
        distinct, where = np.unique(own, axis=1, return_inverse=True)
        size = max(1, _MOST_CELLS // part.codes.size)
        blocks = [
            self._block_mean(part, axes, distinct[:, start : start + size])
            for start in range(0, distinct.shape[1], size)
        ]
        return np.concatenate(blocks)[where.ravel()]

    def _block_mean(self, part: _Part, axes: list[int], codes: Codes) -> Floats:
        n_rows, n_points = part.codes.shape[1], codes.shape[1]
        placed = np.tile(part.codes, (1, n_points))
        placed[axes] = np.repeat(codes, n_rows, axis=1)
        scores = part.score(placed).reshape(n_points, n_rows)
        return np.asarray((scores * self.row_fraction).sum(axis=1))


def _lookup(surface: Surface) -> Callable[[Codes], Floats]:
    def score(codes: Codes) -> Floats:
        return np.asarray(surface.values[codes[0], codes[1]])

    return score


def _joint_features(model: TreeScore, additive: list[AdditiveModel]) -> tuple[Feature, ...]:
    """The features of the model with the bins of all parts, including those of the surfaces."""
    bins: list[list[Feature]] = [[feature] for feature in model._columns]
    for part in additive:
        for surface in part.surfaces:
            for j, axis in zip(surface.features, surface.axes, strict=True):
                bins[j].append(axis)
    return tuple(map(join_features, bins))


def own_codes(joint: Feature, own: Feature) -> Ints:
    """For each code of the joint feature, the code of the same values in ``own``.

    Examples
    --------
    >>> from auctor.data import number_feature
    >>> cuts = np.array([1.0, 2.0, 3.0])
    >>> own_codes(number_feature("x", cuts), number_feature("x", cuts[1:2])).tolist()
    [0, 1, 1, 2, 2]
    """
    if joint.is_category:
        code = {category: k for k, category in enumerate(own.categories, start=1)}
        return np.array([0, *(code.get(category, 0) for category in joint.categories)])
    ends = np.append(joint.cuts, np.inf)  # the largest value in each bin
    return np.append(0, 1 + np.searchsorted(own.cuts, ends))
