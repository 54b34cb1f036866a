"""The table of thresholds: every row against a look at all thresholds, its text and its CSV."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.metrics import threshold_at, threshold_table
from auctor.metrics.rates import clopper_pearson
from auctor.metrics.threshold_table import RATES

FRACTIONS = (0.05, 0.2, 0.5, 0.8)


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = True, False
    return y, np.round(rng.normal(size=n) + y, 1), rng.integers(0, 4, size=n) + (np.arange(n) < 2)


def best(y, s, w, fraction):
    """The threshold that flags the most weight without going over, by looking at each."""
    best_so_far = np.inf, np.zeros(len(s), dtype=bool)
    for threshold in np.unique(s[w > 0]):
        flagged = s >= threshold
        if w[flagged].sum() <= fraction * w.sum():
            return threshold, flagged
    return best_so_far


@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_equals_a_look_at_every_threshold(seed, weighted):
    y, s, w = draw(40, seed)
    w = w if weighted else np.ones(40)
    options = {"sample_weight": w} if weighted else {}
    table = threshold_table(y, s, fractions=FRACTIONS, **options)
    for fraction, row in zip(FRACTIONS, table.rows, strict=True):
        threshold, flagged = best(y, s, w, fraction)
        true_positives = w[flagged & y].sum()
        assert row.fraction == fraction and row.point.threshold == threshold
        assert row.flagged_fraction == pytest.approx(w[flagged].sum() / w.sum())
        assert row.point.tpr == pytest.approx(true_positives / w[y].sum())
        assert row.point.fpr == pytest.approx(w[flagged & ~y].sum() / w[~y].sum())
        if flagged.any():
            precision = true_positives / w[flagged].sum()
            assert row.point.precision == pytest.approx(precision)
            assert row.lift == pytest.approx(precision / (w[y].sum() / w.sum()))
        else:
            assert np.isnan(row.lift) and np.isnan(row.precision.low)


def test_intervals_are_those_of_threshold_at():
    y, s, w = draw(300, 0)
    plain, weighted = threshold_table(y, s), threshold_table(y, s, sample_weight=w)
    for row in plain.rows:
        alone = threshold_at(y, s, budget=row.fraction)
        assert [getattr(row, name) for name in RATES] == [getattr(alone, name) for name in RATES]
    last = plain.rows[-1]
    true_positives = int((y & (s >= last.point.threshold)).sum())
    expected = clopper_pearson(true_positives, int(last.point.flagged), 0.95)
    assert last.precision == pytest.approx(expected, abs=1e-12)
    effective = "Clopper-Pearson at the effective number of rows"
    assert (plain.method, weighted.method) == ("Clopper-Pearson", effective)
    alone = threshold_at(y, s, budget=0.3, sample_weight=w)
    assert weighted.rows[5].tpr == alone.tpr
    grouped = threshold_table(y, s, groups=np.arange(300) // 3)
    assert grouped.method == effective
    assert all(row.tpr.low <= row.point.tpr <= row.tpr.high for row in grouped.rows)


def test_csv_reads_back_in_full():
    y, s, _ = draw(200, 1)
    table = threshold_table(y, s)
    read = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert len(read) == len(table.rows) == 7
    for written, row in zip(read, table.rows, strict=True):
        assert float(written["threshold"]) == row.point.threshold
        assert float(written["tpr_low"]) == row.tpr.low
        assert float(written["precision"]) == pytest.approx(row.point.precision, nan_ok=True)


def test_it_prints_as_a_table():
    y, s, _ = draw(200, 1)
    lines = repr(threshold_table(y, s, fractions=[0.1, 0.25])).splitlines()
    assert len(lines) == 4 and lines[-1] == "(95% intervals, Clopper-Pearson)"
    assert len({len(line) for line in lines[:3]}) == 1
    assert lines[2].lstrip().startswith("25.0%")


@pytest.mark.parametrize("fractions", [[], [1.5], [0.0], 0.1, "many", [2], [np.nan]])
def test_bad_fractions_are_named(fractions):
    with pytest.raises(ValueError, match="fractions"):
        threshold_table([0, 1, 0, 1], [1, 2, 3, 4], fractions=fractions)


def test_one_class_and_nan_are_refused():
    with pytest.raises(ValueError, match="y_true"):
        threshold_table([1, 1], [1, 2])
    with pytest.raises(ValueError, match="y_score"):
        threshold_table([0, 1], [1, np.nan])
