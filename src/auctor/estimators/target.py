"""The labels that ``fit`` is given, checked as scikit-learn's estimators do."""

from typing import Any

import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from auctor._text import first_few
from auctor.data.row_arrays import distinct_values


def check_target(y: Any, name: str) -> npt.NDArray[Any]:
    """Labels as a one-dimensional array; errors are worded as scikit-learn's checks expect."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    array = column_or_1d(y, warn=True)
    if array.dtype.kind == "O":  # may hold None, which read_labels reports
        return array
    assert_all_finite(array, input_name="y")
    distinct = distinct_values(array)
    if len(distinct) > 2:
        check_classification_targets(array)
        names = first_few(distinct.tolist(), quote=False)
        raise ValueError(
            f"y has {len(distinct)} classes ({names}); auctor needs exactly two. Only binary "
            "classification is supported. The type of the target is multiclass."
        )
    return array
