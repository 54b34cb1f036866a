"""The groups of rows that a column makes: categories, few numbers or dates, or bins of many."""

from collections import Counter
from collections.abc import Callable
from datetime import date
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Ints
from auctor.data.labels import read_vector
from auctor.data.missing import count_missing, is_missing
from auctor.metrics.calibration import quantile_bins

# More distinct numbers or dates than this are cut into bins.
MOST_NUMBERS = 20
# More groups than this are refused: such a column is an identifier.
MOST_GROUPS = 1000
MISSING = "(missing)"

Ends = tuple[Any, Any]  # the smallest and the largest value of a group


class GroupValues(NamedTuple):
    """The group of each row, as an index, and the names of the groups in the order of a table."""

    names: tuple[str, ...]
    codes: Ints
    binned: int | None = None  # the number of distinct values, if they were cut into bins

    def keep(self, rows: Bools | None) -> "GroupValues":
        """The groups of some of the rows, without groups that have none."""
        if rows is None:
            return self
        left, codes = np.unique(self.codes[rows], return_inverse=True)
        names = tuple(self.names[code] for code in left.tolist())
        return GroupValues(names, codes.astype(np.int64), self.binned)


def read_group_values(values: Any, n_bins: int, name: str = "groups") -> GroupValues:
    """Read a column of groups; missing values are the last group.

    Texts are sorted by their number of rows, numbers by their size, dates by time.

    Examples
    --------
    >>> read_group_values(["b", "a", None, "b"], 5)
    GroupValues(names=('b', 'a', '(missing)'), codes=array([0, 1, 2, 0]), binned=None)
    """
    array = read_vector(values, name)
    absent = _absent(array)
    known = array[~absent]
    numbers, moments = _as_numbers(known), _as_moments(known)
    if numbers is not None:
        names, own, binned = _in_order(numbers, n_bins, _number_names)
    elif moments is not None:
        names, own, binned = _in_order(moments, n_bins, _moment_names)
    else:
        names, own = _texts(known, name)
        binned = None
    codes = np.full(len(array), len(names), dtype=np.int64)
    codes[~absent] = own
    return GroupValues((*names, MISSING) if absent.any() else names, codes, binned)


def _absent(array: npt.NDArray[Any]) -> Bools:
    """Which values are missing."""
    if array.dtype.kind in "fM":
        return np.asarray(array != array)  # NaN and NaT differ from themselves
    if not count_missing(array):
        return np.zeros(len(array), dtype=bool)
    return np.array([is_missing(value) for value in array.tolist()], dtype=bool)


def _as_numbers(known: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """The values as an array of numbers; None if they are texts, truth values or dates."""
    if known.dtype.kind in "iuf":
        return known
    if known.dtype.kind != "O" or not len(known):
        return None
    kinds = set(map(type, known.tolist()))
    if not all(issubclass(kind, Real) and not issubclass(kind, bool) for kind in kinds):
        return None
    return known.astype(np.float64)


def _as_moments(known: npt.NDArray[Any]) -> npt.NDArray[np.datetime64] | None:
    """Dates and times to the second; None if the values are no dates."""
    if known.dtype.kind == "M":
        return known.astype("datetime64[s]")
    if known.dtype.kind == "O" and len(known) and all(map(_is_date, known.tolist())):
        return known.astype("datetime64[s]")
    return None


def _is_date(value: Any) -> bool:
    """Whether a value is a date, or a time without a time zone, which NumPy does not have."""
    return isinstance(value, date) and getattr(value, "tzinfo", None) is None


def _texts(known: npt.NDArray[Any], name: str) -> tuple[tuple[str, ...], Ints]:
    """Groups of texts, the largest first."""
    texts = list(map(str, known))
    # Sorting 200,000 Python texts takes seconds, counting them does not.
    counts = Counter(texts)
    if len(counts) > MOST_GROUPS:
        raise ValueError(
            f"{name} has {len(counts):,} distinct values for {len(known):,} rows, more than "
            f"{MOST_GROUPS:,}; give a column with fewer groups, not an identifier"
        )
    names = tuple(sorted(counts, key=lambda text: (-counts[text], text)))
    place = {text: k for k, text in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))


def _in_order(
    known: npt.NDArray[Any], n_bins: int, names_of: Callable[[list[Ends]], tuple[str, ...]]
) -> tuple[tuple[str, ...], Ints, int | None]:
    """Groups of numbers or dates in their order: each value, or bins with equally many rows."""
    distinct, codes = np.unique(known, return_inverse=True)
    if len(distinct) <= MOST_NUMBERS:
        return names_of([(value, value) for value in distinct]), codes.astype(np.int64), None
    bins = quantile_bins(known.astype(np.float64), np.ones(len(known)), n_bins)
    filled, own = np.unique(bins, return_inverse=True)
    ends = [(known[bins == k].min(), known[bins == k].max()) for k in filled.tolist()]
    return names_of(ends), own.astype(np.int64), len(distinct)


def _number_names(ends: list[Ends]) -> tuple[str, ...]:
    """The names of bins of numbers, from their smallest and largest values."""
    digits = _digits([end for pair in ends for end in pair])
    return tuple(
        _number(low) if low == high else f"{_number(low, digits)} to {_number(high, digits)}"
        for low, high in ends
    )


def _moment_names(ends: list[Ends]) -> tuple[str, ...]:
    """The names of periods: without the time of day where it is midnight."""
    texts = [[str(end).removesuffix("T00:00:00").replace("T", " ") for end in of] for of in ends]
    return tuple(first if first == last else f"{first} to {last}" for first, last in texts)


def _digits(ends: list[Any]) -> int:
    """As few significant digits, from 3, as tell the ends of the bins apart."""
    wanted = len(set(ends))
    for digits in range(3, 17):
        if len({_number(end, digits) for end in ends}) == wanted:
            return digits
    return 17


def _number(value: Any, digits: int = 12) -> str:
    """A number; whole ones in full.

    Examples
    --------
    >>> _number(2000123), _number(2000123.0), _number(0.12345, 3)
    ('2000123', '2000123', '0.123')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{digits}g}"
