"""Features of models: writing and reading them, and coding the columns of a table by them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import (
    Categories,
    Feature,
    Table,
    Workers,
    category_feature,
    number_feature,
)
from auctor.data.binning import code_categories
from auctor.kernels.arrays import read_only
from auctor.kernels.binning import code_numbers
from auctor.models.fields import Fields


def feature_body(feature: Feature) -> dict[str, Any]:
    """Name, kind and bins of a feature as plain JSON values."""
    bins: dict[str, Any] = (
        {"categories": list(feature.categories)}
        if feature.is_category
        else {"cuts": feature.cuts.tolist()}
    )
    return {"name": feature.name, "kind": feature.kind, **bins}


def read_feature(fields: Fields) -> Feature:
    """Read name, kind and bins of a feature; other fields are left for the caller."""
    name = fields.text("name")
    if fields.choice("kind", ("number", "category")) == "category":
        return category_feature(name, fields.scalars("categories"))
    return number_feature(name, fields.increasing("cuts"))


def check_names(fields: Fields, features: tuple[Feature, ...]) -> None:
    """Check that there are features, and that their names differ."""
    names = [feature.name for feature in features]
    if not names or len(set(names)) < len(names):
        raise fields.fail("features", "a list of one or more features with different names")


def refuse_other_kind(feature: Feature, column: Categories) -> None:
    """Raise an error for numbers where the model has text, or text where it has numbers.

    Without it all such values would silently count as unseen categories.
    """
    if not feature.categories or not column.values:
        return
    known_text = isinstance(feature.categories[0], str)
    if known_text != isinstance(column.values[0], str):
        given, known = ("numbers", "text") if known_text else ("text", "numbers")
        raise ValueError(
            f"column {feature.name!r} holds {given}, but held {known} when the model was fitted; "
            f"give {known}"
        )


def code_columns(
    features: tuple[Feature, ...], table: Table, columns: Ints, workers: Workers | None = None
) -> npt.NDArray[Any]:
    """Codes (features, rows) of a table; feature j is column ``columns[j]``.

    A fit makes at most 65,535 bins of a feature, whose codes fit into uint16. Model files and
    sums of models may have more.
    """
    most_bins = max((feature.n_bins for feature in features), default=0)
    dtype = np.uint16 if most_bins <= np.iinfo(np.uint16).max else np.uint32
    codes = np.empty((len(features), table.n_rows), dtype=dtype)
    no_positives = np.zeros(table.n_rows, dtype=np.bool_)  # so that the order of rows stays

    def code(j: int) -> None:
        feature, column = features[j], int(columns[j])
        if feature.is_category:
            values = table.categories(column)
            refuse_other_kind(feature, values)
            codes[j] = code_categories(feature, values)
        else:
            numbers, cuts = read_only(table.numbers(column)), read_only(feature.cuts)
            code_numbers(numbers, cuts, no_positives, 0, codes[j])

    (workers or Workers(1)).map(code, range(len(features)))
    return codes
