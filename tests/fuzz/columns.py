"""Hostile columns: lists of Python values of one kind, or of several."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

Rng = np.random.Generator
Make = Callable[[Rng, int], list[Any]]

TEXTS = [
    "a",
    "b",
    "",
    " ",
    "nan",
    "None",
    "1",
    "1.0",
    "-0",
    "ä",
    "🦆",
    "two\nlines",
    "nul\0",
    "x" * 5000,
    "=1+1",
    '"',
    "'",
    ",",
    "\\",
    "<b>",
    "\u202e",
    "\ufeff",
    "é",
    "e\u0301",
]
HUGE = [1e308, -1e308, 1.7976931348623157e308, 1e300, 1e-300, 5e-324, -5e-324, 0.0, -0.0, 1.0]


def _normal(rng: Rng, n: int) -> list[Any]:
    return rng.normal(size=n).tolist()


def _whole(rng: Rng, n: int) -> list[Any]:
    return rng.integers(-3, 4, size=n).tolist()


def _any_scale(rng: Rng, n: int) -> list[Any]:
    with np.errstate(over="ignore", under="ignore"):
        return (rng.normal(size=n) * 10.0 ** rng.integers(-320, 308, size=n)).tolist()


def _near_ties(rng: Rng, n: int) -> list[Any]:
    start = float(rng.choice([1.0, 1e300, 1e-300, 2.0**53]))
    return [float(np.nextafter(start, np.inf)) if bit else start for bit in rng.random(n) < 0.5]


def _pick(values: list[Any]) -> Make:
    return lambda rng, n: [values[k] for k in rng.integers(len(values), size=n)]


def _dates(rng: Rng, n: int) -> list[Any]:
    return [datetime.datetime(2020, 1, 1 + int(k)) for k in rng.integers(20, size=n)]


# Kind -> columns of n values.
KINDS: dict[str, Make] = {
    "normal": _normal,
    "whole": _whole,
    "constant": lambda rng, n: [float(rng.choice([0.0, -0.0, 1e308, 5e-324, 3.0]))] * n,
    "huge": _pick(HUGE),
    "any scale": _any_scale,
    "near ties": _near_ties,
    "nan": lambda rng, n: [float("nan")] * n,
    "none": lambda rng, n: [None] * n,
    "infinite": _pick([float("inf"), -float("inf"), 1.0]),
    "truth": _pick([True, False]),
    "text": _pick(TEXTS),
    "two texts": _pick(["yes", "no"]),
    "distinct texts": lambda rng, n: [f"t{k}" for k in range(n)],
    "numbers as text": _pick(["1", "2.5", "-3", "1e5", "?"]),
    "large whole": _pick([2**53, 2**53 + 1, -(2**63), 2**63 - 1]),
    "beyond 64 bits": _pick([2**64, 2**70, 1]),
    "decimal": _pick([Decimal("0.1"), Decimal("1e-30"), Decimal("1e400"), Decimal(2)]),
    "dates": _dates,
    "bytes": _pick([b"a", b"\xff"]),
    "surrogates": _pick(["\ud800", "a", "b"]),
    "mixed": _pick([1, "a", 2.5, None, True]),
    "objects": _pick([(1, 2), [3], {"a": 1}, object()]),
    "complex": _pick([1j, 2.0]),
}
# Most columns are such as tables have: of nothing but oddities every fit is refused.
_FREQUENCIES = {
    "normal": 6.0,
    "whole": 4.0,
    "two texts": 2.0,
    "any scale": 2.0,
    "huge": 2.0,
    "truth": 2.0,
}
_NUMBERS = ("normal", "whole", "constant", "huge", "any scale", "near ties", "nan", "truth")


def draw_kind(rng: Rng, numbers_only: bool = False) -> str:
    """The kind of a column, the usual ones more often."""
    kinds = [kind for kind in KINDS if not numbers_only or kind in _NUMBERS]
    frequencies = np.array([_FREQUENCIES.get(kind, 0.35) for kind in kinds])
    return str(rng.choice(kinds, p=frequencies / frequencies.sum()))


def draw_column(rng: Rng, kind: str, n: int) -> list[Any]:
    """A column of a kind, some of its values missing as a rule."""
    values = KINDS[kind](rng, n)
    missing = [None, float("nan")][int(rng.integers(2))]
    fraction = float(rng.choice([0.0, 0.0, 0.2, 0.9]))
    return [missing if rng.random() < fraction else value for value in values]
