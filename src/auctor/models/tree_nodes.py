"""Reading the nodes of trees from model files."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import Feature
from auctor.kernels.trees import TreeNodes
from auctor.models.fields import Fields

_FLAGS = ("above", "missing", "table")


def read_nodes(
    fields: Fields, features: tuple[Feature, ...], flags: tuple[str, ...] = ()
) -> tuple[TreeNodes, list[Ints]]:
    """Read the nodes of a file, and the additional columns ``flags`` of zeros and ones.

    Every index is checked here, because kernels do not check any.
    """
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in (*TreeNodes._fields, *flags):
        column = read_whole(fields, name)
        if name in (*_FLAGS, *flags) and not ((column == 0) | (column == 1)).all():
            raise fields.fail(name, "a list of zeros and ones")
        columns[name] = column
        if name != "table" and len(column) != len(columns["feature"]):
            raise fields.fail(
                name, f"a list of {len(columns['feature'])} numbers, one for each node"
            )
    if len(columns["feature"]) == 0:
        raise fields.fail("feature", "a list of one or more nodes")
    more = [columns.pop(name) for name in flags]
    _check_tests(fields, columns, features)
    _check_children(fields, columns)
    return TreeNodes(**columns), more


def read_whole(fields: Fields, name: str) -> Ints:
    """Read a list of whole numbers."""
    column = fields.terms(name)
    if not ((np.rint(column) == column) & (np.abs(column) < 2.0**53)).all():
        raise fields.fail(name, "a list of whole numbers")
    return column.astype(np.int64)


def _check_tests(
    fields: Fields, columns: dict[str, npt.NDArray[Any]], features: tuple[Feature, ...]
) -> None:
    feature = columns["feature"]
    if not ((feature >= -1) & (feature < len(features))).all():
        raise fields.fail("feature", f"a list of numbers from -1 to {len(features) - 1}")
    tested = feature[feature >= 0]
    n_codes = np.array([f.n_bins + 1 for f in features])[tested]
    is_category = np.array([f.is_category for f in features], dtype=np.bool_)[tested]
    cut, start = (columns[name][feature >= 0] for name in ("cut", "start"))
    if not ((cut >= 0) & (cut < np.maximum(n_codes, 1))).all():
        raise fields.fail("cut", "a list of bins of the nodes' features")
    fits = np.where(
        is_category, (start >= 0) & (start + n_codes <= len(columns["table"])), start == -1
    )
    if not fits.all():
        raise fields.fail("start", "a list of positions in 'table', -1 for numeric features")


def _check_children(fields: Fields, columns: dict[str, npt.NDArray[Any]]) -> None:
    """Check that children come after their parents, so that no path returns to a node."""
    is_leaf, number = columns["feature"] < 0, np.arange(len(columns["feature"]))
    for name in ("left", "right"):
        child = columns[name]
        if not np.where(is_leaf, child == -1, (child > number) & (child < len(child))).all():
            raise fields.fail(name, "a list of nodes that come later, -1 for leaves")
