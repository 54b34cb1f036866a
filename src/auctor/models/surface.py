"""Surface: an interaction of two features, as a table of values over the bins of both."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.models.features import code_columns, feature_body, read_feature
from auctor.models.fields import Fields

# Codes are uint16, and code 0 is for missing values.
_MAX_BINS = 65_535


@dataclass(frozen=True, eq=False)
class Surface:
    """What two features add to a score together: a value for each pair of their bins.

    Attributes
    ----------
    features : tuple of int
        Indices of the two features in the model.
    axes : tuple of Feature
        The two features, with the bins of the surface, which may differ from those of the model.
    values : ndarray
        ``values[a, b]`` is for bin a of the first axis and bin b of the second. Row 0 and column
        0 are for missing values and for categories that did not occur in training.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor import SmoothAUCBoost
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] * X[:, 1] + rng.normal(size=300) > 0).astype(int)
    >>> surface = SmoothAUCBoost(interactions=1).fit(X, y).model_.surfaces[0]
    >>> surface.name, surface.values.ndim
    ('x0 x x1', 2)
    """

    features: tuple[int, int]
    axes: tuple[Feature, Feature]
    values: Floats

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def name(self) -> str:
        return f"{self.axes[0].name} x {self.axes[1].name}"

    @property
    def used(self) -> list[int]:
        """Indices of those of the two features on which the value depends."""
        varies = [bool(np.ptp(self.values, axis=axis).any()) for axis in (0, 1)]
        return [j for j, v in zip(self.features, varies, strict=True) if v]

    @property
    def key(self) -> Hashable:
        """A key that is equal for surfaces over the same bins of the same pair, in either order."""
        sides = zip(self.features, map(_bins_key, self.axes), strict=True)
        return tuple(sorted(sides, key=lambda side: side[0]))

    def turned_to(self, other: "Surface") -> Floats:
        """The values with the axes in the order of ``other``, which must have the same key."""
        return self.values if self.features == other.features else self.values.T

    def add(self, table: Table, columns: Ints, out: Floats) -> None:
        """Add the value of each row to ``out``; feature j is column ``columns[j]``."""
        first, second = code_columns(self.axes, table, columns[list(self.features)])
        out += self.values[first, second]

    def body(self) -> dict[str, Any]:
        """The surface as plain JSON values; the table of values row by row."""
        return {
            "features": list(self.features),
            "axes": [feature_body(axis) for axis in self.axes],
            "values": self.values.ravel().tolist(),
        }

    def __str__(self) -> str:
        """One line: the names, the range of values, and the bins of the smallest and largest."""
        low, high = (divmod(int(end), self.values.shape[1]) for end in self._ends)
        return (
            f"  {self.name} ({self.values[low]:+.3g} to {self.values[high]:+.3g}): "
            f"{self._describe(low)}: {self.values[low]:+.3g}, ..., "
            f"{self._describe(high)}: {self.values[high]:+.3g}"
        )

    @property
    def _ends(self) -> tuple[int, int]:
        return int(self.values.argmin()), int(self.values.argmax())

    def _describe(self, cell: tuple[int, int]) -> str:
        names = [_bin_name(axis, code) for axis, code in zip(self.axes, cell, strict=True)]
        return f"({names[0]}, {names[1]})"


def _bins_key(axis: Feature) -> Hashable:
    return axis.kind, axis.categories, (axis.cuts + 0.0).tobytes()  # no negative zero


def read_surface(fields: Fields, features: tuple[Feature, ...]) -> Surface:
    """Read a surface from a model file; ``features`` are those of the model."""
    first, second = _read_positions(fields, len(features))
    children = fields.children("axes")
    if len(children) != 2:
        raise fields.fail("axes", "two objects, one for each feature")
    axes = [
        _read_axis(child, features[j]) for child, j in zip(children, (first, second), strict=True)
    ]
    shape = axes[0].n_bins + 1, axes[1].n_bins + 1
    values = fields.terms("values")
    if len(values) != shape[0] * shape[1]:
        raise fields.fail("values", f"a list of {shape[0]} x {shape[1]} numbers")
    fields.end()
    return Surface((first, second), (axes[0], axes[1]), values.reshape(shape))


def _read_positions(fields: Fields, n_features: int) -> tuple[int, int]:
    positions = fields.items("features")
    is_valid = [type(j) is int and 0 <= j < n_features for j in positions]
    if len(positions) != 2 or not all(is_valid) or positions[0] == positions[1]:
        raise fields.fail("features", f"two different positions from 0 to {n_features - 1}")
    return positions[0], positions[1]


def _read_axis(fields: Fields, feature: Feature) -> Feature:
    axis = read_feature(fields)
    fields.end()
    if axis.name != feature.name:
        raise fields.fail("name", f"{feature.name[:40]!r}, the name of its feature")
    if axis.kind != feature.kind:
        raise fields.fail("kind", f"{feature.kind!r}, the kind of its feature")
    if axis.n_bins > _MAX_BINS:
        raise fields.fail("categories" if axis.is_category else "cuts", "at most 65,535 bins")
    return axis


def _bin_name(axis: Feature, code: int) -> str:
    """A bin of an axis as text, such as "age <= 30"."""
    if code == 0:
        return f"{axis.name} missing"
    if axis.is_category:
        return f"{axis.name} = {axis.categories[code - 1]}"
    if not len(axis.cuts):
        return f"{axis.name} any"
    if code == 1:
        return f"{axis.name} <= {axis.cuts[0]:.4g}"
    if code == axis.n_bins:
        return f"{axis.name} > {axis.cuts[-1]:.4g}"
    return f"{axis.name} {axis.cuts[code - 2]:.4g} to {axis.cuts[code - 1]:.4g}"
