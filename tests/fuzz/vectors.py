"""Hostile labels, weights and scores, each with a word for what it is."""

import datetime
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzz.columns import KINDS, draw_column, draw_kind

Rng = np.random.Generator

# Weights lie between ten to the power of this, and of minus this.
WEIGHT_DIGITS = 300


def draw_labels(rng: Rng, n: int) -> tuple[Any, str]:
    """Two classes as a rule, in any container; now and then what is none."""
    bits = rng.random(n) < rng.choice([0.1, 0.5])
    bits[: min(n, 2)] = [True, False][: min(n, 2)]
    pairs: list[tuple[Any, Any]] = [
        (0, 1),
        (0, 1),
        (-1, 1),
        (False, True),
        ("no", "yes"),
        (0.0, 1.0),
        (2**60, 2**60 + 1),
        (b"a", b"b"),
        ("", " "),
        (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)),
    ]
    low, high = pairs[rng.integers(len(pairs))]
    values = [high if bit else low for bit in bits]
    kind = f"{low!r}/{high!r}"
    twist = int(rng.integers(45))
    if twist == 0:
        return [low] * n, f"{kind}, one class"
    if twist == 1:
        return [*values[:-1], "third"], f"{kind}, three classes"
    if twist == 2:
        return [None, *values[1:]], f"{kind}, one missing"
    if twist == 3:
        return values[:-1], f"{kind}, one too few"
    if twist == 4:
        return np.column_stack([bits, bits]), "two columns"
    if twist == 5:
        odd: list[Any] = [(0, 1), (1, 0), [1], {1}, None, "a", 1j, "\ud800"]
        array = np.empty(n, dtype=object)
        for i in range(n):
            array[i] = odd[int(rng.integers(len(odd)))]
        return array, "objects"
    if twist == 6:
        return None, "none"
    makers: list[Any] = [list, np.asarray, pd.Series, pl.Series, pa.array, tuple, _column]
    maker = makers[rng.integers(len(makers))]
    try:
        with warnings.catch_warnings(action="ignore"):
            return maker(values), f"{kind} ({maker.__name__})"
    except (Exception, pl.exceptions.PanicException):
        return values, kind


def _column(values: list[Any]) -> Any:
    return np.asarray(values).reshape(-1, 1)


def draw_weights(rng: Rng, n: int) -> tuple[Any, str]:
    """No weights as a rule, else of any size and kind."""
    kinds = {
        "none": None,
        "ones": np.ones(n),
        "whole": rng.integers(0, 4, size=n),
        "any scale": 10.0 ** rng.uniform(-WEIGHT_DIGITS, WEIGHT_DIGITS, size=n),
        "tiny": rng.random(n) * 10.0**-WEIGHT_DIGITS,
        "huge": rng.random(n) * 10.0**WEIGHT_DIGITS,
        "one heavy": np.where(np.arange(n) == 0, 1e9, 1.0),
        "zeros": np.zeros(n),
        "negative": -np.ones(n),
        "nan": np.full(n, np.nan),
        "too few": np.ones(n - 1),
        "text": ["1"] * n,
        "series": pd.Series(rng.random(n)),
    }
    frequencies = np.array([10.0, 1, 2, 1, 1, 1, 1, 0.3, 0.3, 0.3, 0.3, 0.3, 1])
    kind = str(rng.choice(list(kinds), p=frequencies / frequencies.sum()))
    return kinds[kind], kind


def draw_scores(rng: Rng, n: int) -> tuple[Any, str]:
    """Numbers as a rule, with ties, of any size, in any container."""
    kind = draw_kind(rng, numbers_only=rng.random() < 0.9)
    values = draw_column(rng, kind, n) if rng.random() < 0.1 else KINDS[kind](rng, n)
    makers: list[Any] = [list, np.asarray, pd.Series, pl.Series, pa.array, _column]
    maker = makers[rng.integers(len(makers))]
    try:
        with warnings.catch_warnings(action="ignore"):
            return maker(values), f"{kind} ({maker.__name__})"
    except (Exception, pl.exceptions.PanicException):
        return values, kind
