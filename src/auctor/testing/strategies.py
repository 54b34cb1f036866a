"""Hypothesis strategies for the input of learners and metrics: columns, labels, weights, tables.

Use them with ``@given`` in the tests of a kernel, metric or learner. Floats have the difficulties
of real columns: neighbours one bit apart, 0 and -0, very large and very small numbers, constants.

Examples
--------
>>> from hypothesis import given
>>> @given(sample=labelled_scores())
... def test_scores_have_weights(sample):
...     assert len(sample.scores) == len(sample.weight)
>>> test_scores_have_weights()
"""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from auctor._typing import Floats, Ints

EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e308, -1e308, 1.5)


class LabelledScores(NamedTuple):
    """Labels of both classes, a score and a weight for each row."""

    y: Ints
    scores: Floats
    weight: Floats


def finite() -> st.SearchStrategy[float]:
    """Any finite float; often one of ``EXTREMES`` or a small whole number."""
    return st.one_of(
        st.sampled_from(EXTREMES),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-3, 3).map(float),
    )


@st.composite
def near_ties(draw: st.DrawFn, min_size: int = 1, max_size: int = 30) -> Floats:
    """Values from a small set of numbers and their neighbours one bit away."""
    anchors = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3))
    pool = [float(np.nextafter(a, side)) for a in anchors for side in (-np.inf, np.inf)] + anchors
    values = st.lists(st.sampled_from(pool), min_size=min_size, max_size=max_size)
    return np.array(draw(values), dtype=np.float64)


def columns(
    min_size: int = 1, max_size: int = 30, missing: bool = False
) -> st.SearchStrategy[Floats]:
    """A column of numbers, with NaN among them if ``missing`` is True."""
    value = st.one_of(finite(), st.just(float("nan"))) if missing else finite()
    mixed = st.lists(value, min_size=min_size, max_size=max_size).map(
        lambda values: np.array(values, dtype=np.float64)
    )
    return st.one_of(mixed, near_ties(min_size, max_size))


def whole_weights(n_rows: int, largest: int = 5) -> st.SearchStrategy[Ints]:
    """A whole weight from 0 to ``largest`` for each row."""
    return st.lists(st.integers(0, largest), min_size=n_rows, max_size=n_rows).map(
        lambda weights: np.array(weights, dtype=np.int64)
    )


@st.composite
def labels(draw: st.DrawFn, n_rows: int) -> Ints:
    """Zeros and ones, at least one of each; ``n_rows`` is 2 or more."""
    drawn = draw(st.lists(st.integers(0, 1), min_size=n_rows - 2, max_size=n_rows - 2))
    return np.array(draw(st.permutations([*drawn, 0, 1])), dtype=np.int64)


@st.composite
def labelled_scores(draw: st.DrawFn, min_rows: int = 2, max_rows: int = 30) -> LabelledScores:
    """Labels, scores with ties and near-ties, and weights that are not all 0 in either class."""
    n_rows = draw(st.integers(min_rows, max_rows))
    y = draw(labels(n_rows))
    scores = draw(columns(n_rows, n_rows))
    weight = draw(whole_weights(n_rows)).astype(np.float64)
    for label in (0, 1):
        if not weight[y == label].any():
            weight[y == label] = 1.0
    return LabelledScores(y, scores, weight)


@st.composite
def tables(
    draw: st.DrawFn, n_rows: int, min_columns: int = 1, max_columns: int = 3
) -> dict[str, list[Any]]:
    """A table as a dict of columns: of floats, whole numbers, booleans or text, with None."""
    kinds = (
        st.floats(-1e9, 1e9),
        st.integers(-(2**40), 2**40),
        st.booleans(),
        st.sampled_from(["", "a", "b", "nan", "Ärger"]),
    )
    count = draw(st.integers(min_columns, max_columns))
    table: dict[str, list[Any]] = {}
    for j in range(count):
        value = st.one_of(st.none(), kinds[draw(st.integers(0, len(kinds) - 1))])
        table[f"c{j}"] = draw(st.lists(value, min_size=n_rows, max_size=n_rows))
    return table
