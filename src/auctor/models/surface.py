"""Surfaces: what two features add to a score together, a table over the bins of both."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.models.features import code_columns, feature_body, read_feature
from auctor.models.fields import Fields

# Codes are uint16, and 0 is for missing values.
_MOST_BINS = 65_535


@dataclass(frozen=True, eq=False)
class Surface:
    """A value for each pair of bins of two features.

    ``values[a, b]`` is for bin a of the first axis and bin b of the second; row and column 0
    are for missing values and for categories that the axis does not know.
    """

    features: tuple[int, int]  # positions in the model
    axes: tuple[Feature, Feature]  # of the same names, with bins of their own
    values: Floats

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def name(self) -> str:
        return f"{self.axes[0].name} x {self.axes[1].name}"

    @property
    def used(self) -> list[int]:
        """Those of the two features that change the value."""
        varies = [bool(np.ptp(self.values, axis=axis).any()) for axis in (0, 1)]
        return [j for j, v in zip(self.features, varies, strict=True) if v]

    @property
    def key(self) -> Hashable:
        """Equal for two surfaces over the same bins of the same pair, in either order."""
        sides = zip(self.features, map(_bins_key, self.axes), strict=True)
        return tuple(sorted(sides, key=lambda side: side[0]))

    def turned_to(self, other: "Surface") -> Floats:
        """The values along the axes of ``other``, which must have the same key."""
        return self.values if self.features == other.features else self.values.T

    def add(self, table: Table, columns: Ints, out: Floats) -> None:
        """Add each row's value; the model's feature j stands in column ``columns[j]``."""
        first, second = code_columns(self.axes, table, columns[list(self.features)])
        out += self.values[first, second]

    def body(self) -> dict[str, Any]:
        """As plain JSON values; those of the table row by row."""
        return {
            "features": list(self.features),
            "axes": [feature_body(axis) for axis in self.axes],
            "values": self.values.ravel().tolist(),
        }

    def __str__(self) -> str:
        """One line: the names, the range, and where its ends are."""
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
        words = [_bin_name(axis, code) for axis, code in zip(self.axes, cell, strict=True)]
        return f"({words[0]}, {words[1]})"


def _bins_key(axis: Feature) -> Hashable:
    return axis.kind, axis.categories, (axis.cuts + 0.0).tobytes()  # no negative zero


def read_surface(fields: Fields, features: tuple[Feature, ...]) -> Surface:
    """The surface of a file's object, over features that were read before."""
    first, second = _read_positions(fields, len(features))
    children = fields.children("axes")
    if len(children) != 2:
        raise fields.fail("axes", "two objects, one per feature")
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
    found = fields.items("features")
    is_position = [type(j) is int and 0 <= j < n_features for j in found]
    if len(found) != 2 or not all(is_position) or found[0] == found[1]:
        raise fields.fail("features", f"two different positions from 0 to {n_features - 1}")
    return found[0], found[1]


def _read_axis(fields: Fields, feature: Feature) -> Feature:
    axis = read_feature(fields)
    fields.end()
    if axis.name != feature.name:
        raise fields.fail("name", f"that of its feature, {feature.name[:40]!r}")
    if axis.kind != feature.kind:
        raise fields.fail("kind", f"that of its feature, {feature.kind!r}")
    if axis.n_bins > _MOST_BINS:
        raise fields.fail("categories" if axis.is_category else "cuts", "at most 65,535 bins")
    return axis


def _bin_name(axis: Feature, code: int) -> str:
    """A bin of an axis in words."""
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
