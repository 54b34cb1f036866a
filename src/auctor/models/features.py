"""Features in models: written to and read from files, and columns checked against them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import Categories, Feature, Table, category_feature, number_feature
from auctor.data.binning import code_categories
from auctor.kernels.binning import code_numbers
from auctor.models.fields import Fields


def feature_body(feature: Feature) -> dict[str, Any]:
    """Name, kind and bins as plain JSON values."""
    bins: dict[str, Any] = (
        {"categories": list(feature.categories)}
        if feature.is_category
        else {"cuts": feature.cuts.tolist()}
    )
    return {"name": feature.name, "kind": feature.kind, **bins}


def read_feature(fields: Fields) -> Feature:
    """The feature of a file's object, whose other fields are left for the caller."""
    name = fields.text("name")
    if fields.choice("kind", ("number", "category")) == "category":
        return category_feature(name, fields.scalars("categories"))
    return number_feature(name, fields.increasing("cuts"))


def check_names(fields: Fields, features: tuple[Feature, ...]) -> None:
    """There must be features, of different names."""
    names = [feature.name for feature in features]
    if not names or len(set(names)) < len(names):
        raise fields.fail("features", "one or more features of different names")


def refuse_other_kind(feature: Feature, column: Categories) -> None:
    """Numbers where the model knows text match no category; better an error than silence."""
    if not feature.categories or not column.values:
        return
    known_text = isinstance(feature.categories[0], str)
    if known_text != isinstance(column.values[0], str):
        found, known = ("numbers", "text") if known_text else ("text", "numbers")
        raise ValueError(
            f"column {feature.name!r} holds {found}, but held {known} when the model was fitted"
        )


def code_columns(features: tuple[Feature, ...], table: Table, columns: Ints) -> npt.NDArray[Any]:
    """Codes (features, rows) of a table; feature j stands in column ``columns[j]``.

    A fit makes 65,535 bins of a feature at most, which uint16 holds with the code of missing
    values. Files and merged models may have more.
    """
    most = max((feature.n_bins for feature in features), default=0)
    wide = np.uint16 if most <= np.iinfo(np.uint16).max else np.uint32
    codes = np.empty((len(features), table.n_rows), dtype=wide)
    nobody = np.zeros(table.n_rows, dtype=np.bool_)  # no classes: nothing to put first
    for feature, column, out in zip(features, columns, codes, strict=True):
        if feature.is_category:
            values = table.categories(int(column))
            refuse_other_kind(feature, values)
            out[:] = code_categories(feature, values)
        else:
            code_numbers(table.numbers(int(column)), feature.cuts, nobody, 0, out)
    return codes
