"""Plain values: what JSON can hold, and text that any browser can show."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from auctor._text import without_controls

LONGEST_TEXT = 300  # of a name
LONGEST_SENTENCE = 2000
# Stands for infinity, which JSON does not have; the page shows it as such.
LARGEST = float(np.finfo(np.float64).max)


def clean(text: Any, longest: int = LONGEST_TEXT) -> str:
    """Text without control characters, and without its middle if it is too long.

    Examples
    --------
    >>> clean("a\\x00b"), len(clean("x" * 10_000))
    ('a�b', 300)
    """
    whole = str(text)
    if len(whole) > longest:
        n_end = (longest - 3) // 3
        whole = f"{whole[: longest - 3 - n_end]}...{whole[len(whole) - n_end :]}"
    # Half of a surrogate pair cannot be encoded as UTF-8.
    return without_controls(whole.encode("utf-8", "replace").decode("utf-8"))


def sentence(words: str) -> str:
    """The text with a capital letter and a full stop.

    Examples
    --------
    >>> sentence("two rows are missing")
    'Two rows are missing.'
    """
    end = "" if words.endswith((".", "!", "?")) else "."
    return f"{words[:1].upper()}{words[1:]}{end}"


def plain(value: Any) -> Any:
    """The value as a JSON type: NaN and infinity become None, unknown objects their text.

    Examples
    --------
    >>> plain({"a": (np.int64(1), float("nan")), 2: np.array([0.5])})
    {'a': [1, None], '2': [0.5]}
    """
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return clean(value, LONGEST_SENTENCE)


def finite(values: Any) -> list[float]:
    """Numbers in which the largest float replaces infinity."""
    return [float(v) for v in np.clip(np.asarray(values, dtype=np.float64), -LARGEST, LARGEST)]


def shortened(values: Any, digits: int = 5) -> list[float | None]:
    """Numbers for a chart, with a few significant digits."""
    return [float(f"{v:.{digits}g}") if math.isfinite(v) else None for v in np.ravel(values)]


def counts(values: Any) -> list[int | float]:
    """Counts as integers; sums of weights that are not whole stay floats."""
    return [int(v) if v == int(v) else float(v) for v in np.ravel(values).tolist()]
