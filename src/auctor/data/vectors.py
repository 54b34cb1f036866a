"""One-dimensional input at the border: labels, scores, weights."""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from auctor.data.missing import count_missing, unmask
from auctor.data.weights import usual_size


class Labels(NamedTuple):
    """The two classes of a label vector and which rows are positive."""

    positive: npt.NDArray[np.bool_]
    classes: npt.NDArray[Any]  # (negative, positive)


def read_vector(values: Any, name: str) -> npt.NDArray[Any]:
    """Any one-dimensional sequence as a numpy array; a single column is flattened."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    array = series.to_numpy() if isinstance(series, nw.Series) else _to_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        found = f"an array of shape {array.shape}" if array.ndim else type(values).__name__
        raise ValueError(f"{name} must be one-dimensional, got {found}")
    return array


def _to_array(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        return unmask(values)
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, (np.ndarray, np.generic)):
        # numpy turns a list of texts and numbers, NaN among them, into texts.
        objects = np.asarray(values, dtype=object)
        if not all(issubclass(kind, (str, bytes)) for kind in set(map(type, objects.flat))):
            return objects
    return array


def read_labels(y: Any, *, pos_label: Any = None, name: str = "y") -> Labels:
    """Split labels of any two values; the larger one is positive unless ``pos_label`` says.

    Examples
    --------
    >>> labels = read_labels(["good", "bad", "good"], pos_label="bad")
    >>> labels.positive.tolist(), labels.classes.tolist()
    ([False, True, False], ['good', 'bad'])
    """
    array = read_vector(y, name)
    if len(array) == 0:
        raise ValueError(f"{name} is empty; auctor needs rows of two classes")
    classes = _two_classes(array, name)
    if pos_label is not None:
        if not (classes == pos_label).any():
            found = ", ".join(map(str, classes.tolist()))
            raise ValueError(f"pos_label={pos_label!r} is not among the classes of {name}: {found}")
        if classes[0] == pos_label:
            classes = classes[::-1].copy()
    return Labels(np.asarray(array == classes[1], dtype=np.bool_), classes)


def _two_classes(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The two distinct values in order, or an error that names what was found."""
    if array.dtype.kind in "bui":
        # The usual case without a sort: only the two extremes may occur.
        low, high = array.min(), array.max()
        if low != high and bool(((array == low) | (array == high)).all()):
            return np.array([low, high])
    missing = count_missing(array)
    if missing:
        raise ValueError(
            f"{name} has {missing} missing label(s) (NaN or None); drop or label those rows"
        )
    classes = _distinct(array, name)
    if array.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError(f"{name} has infinite labels; auctor ranks two classes")
    if len(classes) == 2:
        return classes
    shown = ", ".join(str(value) for value in classes[:5].tolist())
    if len(classes) > 5:
        shown += ", ..."
    noun = "class" if len(classes) == 1 else "classes"
    raise ValueError(f"{name} has {len(classes)} {noun} ({shown}); auctor ranks two")


def _distinct(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The distinct values in order; among objects only these few are compared."""
    if array.dtype.kind != "O":
        return np.unique(array)
    try:
        values = sorted(set(array.tolist()))
    except TypeError:
        kinds = sorted({type(value).__name__ for value in array})
        raise ValueError(
            f"{name} has labels of types {', '.join(kinds)}; give texts, or numbers"
        ) from None
    return np.array([*values, None], dtype=object)[:-1]  # None keeps tuples from unfolding


def read_scores(scores: Any, n_rows: int, *, name: str = "y_score") -> npt.NDArray[np.float64]:
    """Scores as contiguous float64, one per row, none of them NaN."""
    array = read_vector(scores, name)
    if len(array) != n_rows:
        raise ValueError(f"{name} has {len(array)} values for {n_rows} labels")
    array = _as_floats(array, name)
    if np.isnan(array).any():
        raise ValueError(f"{name} has {int(np.isnan(array).sum())} NaN value(s); scores must order")
    return array


def read_weights(
    sample_weight: Any, n_rows: int, *, name: str = "sample_weight"
) -> npt.NDArray[np.float64] | None:
    """Weights as contiguous float64, finite and not negative; None stays None.

    Extreme sizes are divided by a power of two (``usual_size``): no sum or square overflows.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, (int, float, np.number)):
        sample_weight = np.full(n_rows, sample_weight)
    array = read_vector(sample_weight, name)
    if len(array) != n_rows:
        raise ValueError(f"{name} has {len(array)} values for {n_rows} rows")
    array = _as_floats(array, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has NaN or infinite values; weights must be finite")
    if (array < 0).any():
        raise ValueError(f"{name} has negative values (smallest {array.min():g})")
    if not (array > 0).any():
        raise ValueError(f"{name} is zero everywhere; at least one row of each class must count")
    return usual_size(array)


def _as_floats(array: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    """Numbers as contiguous float64; text, dates and complex numbers are none."""
    if array.dtype.kind not in "buifO":
        raise ValueError(f"{name} must be numbers, got values of type {array.dtype}")
    try:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
