"""Validation of one-dimensional input: labels, scores and weights."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from auctor._text import count, first_few
from auctor._typing import Bools, Floats
from auctor.data.group import ALONE, Group
from auctor.data.missing import count_missing, is_missing, unmask
from auctor.data.row_arrays import distinct_values
from auctor.data.weights import usual_size


class Labels(NamedTuple):
    """The two classes of a label vector and which rows are positive."""

    positive: Bools
    classes: npt.NDArray[Any]  # (negative, positive)


def read_vector(values: Any, name: str) -> npt.NDArray[Any]:
    """A one-dimensional sequence of any type as a numpy array; a single column is flattened."""
    # Arrays and lists are the usual input, and narwhals tries many libraries before it says so.
    is_plain = isinstance(values, (np.ndarray, list, tuple))
    series = values if is_plain else nw.from_native(values, series_only=True, pass_through=True)
    try:
        array = _series(series) if isinstance(series, nw.Series) else _to_array(values)
    except ValueError:  # lists of different lengths in a list
        raise ValueError(f"{name} has lists as values; give a one-dimensional array") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        kind = f"of shape {array.shape}" if array.ndim else f"of type {type(values).__name__}"
        raise ValueError(f"{name} is {kind}; give a one-dimensional array")
    return array


def _series(series: nw.Series[Any]) -> npt.NDArray[Any]:
    if series.dtype in (nw.Int128, nw.UInt128):  # numpy has no such types
        return np.array(series.to_list(), dtype=object)
    return np.asarray(series.to_numpy())


def _to_array(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        return unmask(values)
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, (np.ndarray, np.generic)):
        # numpy turns a list of texts and numbers (or NaN) into texts.
        objects = np.asarray(values, dtype=object)
        if not all(issubclass(kind, (str, bytes)) for kind in set(map(type, objects.flat))):
            return objects
    return array


def read_labels(y: Any, *, pos_label: Any = None, name: str = "y", group: Group = ALONE) -> Labels:
    """The two classes of a vector of labels, and which rows are positive.

    The larger label is the positive one, unless ``pos_label`` names the other.

    Examples
    --------
    >>> labels = read_labels(["good", "bad", "good"], pos_label="bad")
    >>> labels.positive.tolist(), labels.classes.tolist()
    ([False, True, False], ['good', 'bad'])
    """
    array = read_vector(y, name)
    # Other members of the group may have the other class.
    seen = array if group.size == 1 else _all_labels(array, name, group)
    if len(seen) == 0:
        raise ValueError(f"{name} is empty; auctor needs rows of two classes")
    classes = _two_classes(seen, name)
    if pos_label is not None:
        chosen = [_is_same(label, pos_label) for label in classes]
        if not any(chosen):
            shown = ", ".join(map(str, classes.tolist()))
            raise ValueError(f"pos_label={pos_label!r} is not among the classes of {name}: {shown}")
        if chosen[0]:
            classes = classes[::-1].copy()
    return Labels(np.asarray(array == classes[1], dtype=np.bool_), classes)


# A member with more distinct labels raises the error on its own.
_MOST_LABELS = 1000


def _all_labels(array: npt.NDArray[Any], name: str, group: Group) -> npt.NDArray[Any]:
    """The distinct labels of all members of a group, in their common type."""
    own = array[:0] if len(array) == 0 else distinct_labels(array, name)
    if len(own) > _MOST_LABELS:
        shown = first_few(own[:6].tolist(), quote=False)
        raise ValueError(
            f"{name} has more than {_MOST_LABELS} classes ({shown}); auctor needs exactly two"
        )
    return join_labels([own[:0], *group.gather(own)], name)


def join_labels(parts: Sequence[npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    """The labels of several parts of a table; an error if their types differ.

    Examples
    --------
    >>> join_labels([np.array([0, 1]), np.array([1.0])], "y").tolist()
    [0.0, 1.0, 1.0]
    """
    known = [labels for labels in parts if len(labels)]
    kinds = {_LABEL_KINDS.get(labels.dtype.kind, "other values") for labels in known}
    if len(kinds) > 1:
        both = " and ".join(sorted(kinds))
        raise ValueError(f"{name} has {both} in different parts; give it one type")
    # Empty arrays would change the type of the others.
    return np.concatenate(known or [np.empty(0), *parts][-1:])


_LABEL_KINDS = {
    **dict.fromkeys("uif", "numbers"),
    **dict.fromkeys("OUT", "text"),
    "b": "booleans",
}


def distinct_labels(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The distinct labels; an error if some are missing."""
    missing = count_missing(array)
    if missing:
        raise _missing_error(missing, name)
    return _distinct(array, name)


def _missing_error(missing: int, name: str) -> ValueError:
    return ValueError(
        f"{name} has {count(missing, 'missing label')} (NaN or None); drop or label those rows"
    )


def _is_same(label: Any, other: Any) -> bool:
    """Whether two labels are equal; lists and missing values are not labels."""
    return not (_is_container(other) or is_missing(other)) and bool(label == other)


def _two_classes(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The two distinct values in increasing order, or an error that lists the values."""
    if array.dtype.kind in "bui":
        # The usual case needs no sort: only the minimum and the maximum occur.
        low, high = array.min(), array.max()
        if low != high and bool(((array == low) | (array == high)).all()):
            return np.array([low, high])
    missing = count_missing(array)
    if missing:
        raise _missing_error(missing, name)
    if array.dtype.kind in "cV":
        raise ValueError(f"{name} has labels of type {array.dtype}; give text or numbers")
    classes = _distinct(array, name)
    _refuse_odd_text(classes, name)
    if array.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError(f"{name} has infinite labels; give finite numbers or text")
    if len(classes) == 2:
        return classes
    noun = "class" if len(classes) == 1 else "classes"
    shown = first_few(classes[:6].tolist(), quote=False)
    raise ValueError(f"{name} has {len(classes)} {noun} ({shown}); auctor needs exactly two")


def _distinct(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The distinct values in increasing order; for Python objects, only these are compared."""
    if array.dtype.kind != "O":
        return distinct_values(array)
    try:
        values = sorted(set(array.tolist()))
        is_plain = not any(map(_is_container, values))
    except TypeError:
        is_plain = False
    if not is_plain:
        kinds = sorted({type(value).__name__ for value in array})
        raise ValueError(f"{name} has labels of types {', '.join(kinds)}; give text or numbers")
    return np.array(values, dtype=object)


def _is_container(value: Any) -> bool:
    """Whether a value is a tuple, set or the like, which numpy would compare element by element."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _refuse_odd_text(classes: npt.NDArray[Any], name: str) -> None:
    """Raise an error for text with half of a surrogate pair, which cannot be written as UTF-8."""
    for label in classes[:2].tolist():
        if isinstance(label, str) and not is_unicode(label):
            raise ValueError(
                f"{name} has the label {label!r}, which is not valid Unicode text; replace it"
            )


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8.

    Examples
    --------
    >>> is_unicode("Zürich"), is_unicode(chr(0xD800))
    (True, False)
    """
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def read_scores(scores: Any, n_rows: int, *, name: str = "y_score") -> Floats:
    """Scores as contiguous float64, one for each row, without NaN."""
    try:
        array = read_vector(scores, name)
    except ValueError as error:  # an estimator, or the two columns of predict_proba
        raise ValueError(f"{error}, such as decision_function(X)") from None
    if len(array) != n_rows:
        raise ValueError(
            f"{name} has {len(array)} values for {n_rows} labels; give one for each row"
        )
    floats = _as_floats(array, name)
    if np.isnan(floats).any():
        n_missing = int(np.isnan(floats).sum())
        raise ValueError(f"{name} has {count(n_missing, 'NaN value')}; give a number for each row")
    _refuse_merged(array, floats, name)
    return floats


def _refuse_merged(array: npt.NDArray[Any], floats: Floats, name: str) -> None:
    """Raise an error if different scores would become equal because a float has 53 bits."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b" or (kind == "f" and size <= 8) or (kind in "ui" and size <= 4):
        return
    large = np.abs(floats) >= 2.0**53 if kind in "ui" else np.isfinite(floats)
    if not large.any():
        return
    given = array[large]
    n_given = len(set(given.tolist())) if kind == "O" else len(np.unique(given))
    n_merged = n_given - len(np.unique(floats[large]))
    if n_merged > 0:
        raise ValueError(
            f"{name} has {count(n_merged, 'value')} that would be equal to another one as float64, "
            "which has 53 bits; give ranks (scipy.stats.rankdata) instead"
        )


def read_weights(
    sample_weight: Any, n_rows: int, *, name: str = "sample_weight", group: Group = ALONE
) -> Floats | None:
    """Weights as contiguous float64, finite and not negative; None is returned as it is.

    Very large or small weights are divided by a power of two (``usual_size``), so that no sum or
    square overflows.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, (int, float, np.number)):
        sample_weight = np.full(n_rows, sample_weight)
    array = read_vector(sample_weight, name)
    if len(array) != n_rows:
        raise ValueError(f"{name} has {len(array)} values for {n_rows} rows; give one for each row")
    array = _as_floats(array, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has NaN or infinite values; give finite weights")
    if (array < 0).any():
        raise ValueError(
            f"{name} has negative values (smallest {array.min():g}); give weights of 0 or more"
        )
    if not group.any(bool((array > 0).any())):
        raise ValueError(
            f"{name} is zero everywhere; give at least one row of each class a positive weight"
        )
    return usual_size(array, group)


def _as_floats(array: npt.NDArray[Any], name: str) -> Floats:
    """Numbers as contiguous float64; text, dates and complex numbers are refused."""
    if array.dtype.kind not in "buifO":
        raise ValueError(f"{name} has values of type {array.dtype}; give numbers")
    try:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} has values that are not numbers ({error}); give numbers"
        ) from None
