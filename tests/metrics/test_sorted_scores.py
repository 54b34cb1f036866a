"""Curves of scores that are sorted in files equal those of scores in memory, to the last bit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor import metrics
from auctor.data.stored.spill import SpillFolder
from auctor.metrics import curve_blocks, from_curve, sorted_scores
from auctor.metrics.area_interval import Region, _plain_variance, area_influences
from auctor.metrics.curve_blocks import Axis, interpolate
from auctor.metrics.delong import PlacementSums
from auctor.metrics.influence import variance
from auctor.metrics.sample import read_sample

CRITERIA = (
    {"fpr": 0.1},
    {"fpr": 0.0},
    {"tpr": 0.9},
    {"tpr": 1.0},
    {"budget": 0.2},
    {"budget": 3},
    {"cost": 4.0},
    {"precision": 0.6},
    {"precision": 1.0},
    {"fpr": 0.3, "confidence": 0.9},
    {"tpr": 0.6, "confidence": 0.9},
    {"budget": 0.4, "confidence": 0.9},
)
REGIONS = (
    {"fpr_range": (0.0, 0.1)},
    {"fpr_range": (0.25, 0.5), "scaled": True},
    {"tpr_range": (0.8, 1.0)},
    {"tpr_range": (0.25, 0.5)},
)


def sort_in_files(y, s, *, run_rows, batch):
    """The curve of scores that come in batches and are sorted in runs."""
    with SpillFolder() as spill:
        sorter = sorted_scores.ScoreSorter(spill, run_rows)
        for start in range(0, len(y), batch):
            part = slice(start, start + batch)
            sorter.add(y[part] == 1, s[part])
        return sorter.curve()


def rows(seed, n=300, digits=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    s = rng.normal(size=n) + 0.8 * y
    return y, s if digits is None else np.round(s, digits)


def outcome(function, *arguments, **options):
    """The result of a function, or the words of its error."""
    try:
        return function(*arguments, **options)
    except ValueError as error:
        return str(error)


@pytest.fixture(params=[None, 1], ids=["distinct", "tied"])
def data(request, monkeypatch):
    """Rows, and their curve from files, all of it in small blocks."""
    y, s = rows(0, digits=request.param)
    s[:4] = [np.inf, -np.inf, np.inf, -np.inf]
    monkeypatch.setattr(sorted_scores, "_MERGED_AT_A_TIME", 40)
    return y, s, sort_in_files(y, s, run_rows=64, batch=17)


def test_curve_is_that_of_scores_in_memory(data):
    y, s, curve = data
    known = metrics.roc_curve(y, s)
    for name in ("thresholds", "true_positives", "false_positives", "n_pos", "n_neg"):
        assert np.array_equal(getattr(curve, name), getattr(known, name)), name
    assert curve.auc() == metrics.auc(y, s)
    assert curve.ks() == metrics.ks(y, s)


def test_intervals_are_those_of_rows_in_memory(data):
    y, s, curve = data
    assert from_curve.auc_ci(curve) == metrics.auc_ci(y, s)
    assert from_curve.ks_ci(curve) == metrics.ks_ci(y, s)
    for k in (0.1, 20):
        known = metrics.precision_at_k_ci(y, s, k=k)
        assert from_curve.precision_at_k_ci(curve, k=k) == known
    for region in REGIONS:
        assert from_curve.partial_auc_ci(curve, **region) == metrics.partial_auc_ci(y, s, **region)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_thresholds_are_those_of_rows_in_memory(data, criterion):
    y, s, curve = data
    known = outcome(metrics.threshold_at, y, s, **criterion)
    assert repr(outcome(from_curve.threshold_at, curve, **criterion)) == repr(known)
    if not isinstance(known, str):
        assert vars(from_curve.threshold_at(curve, **criterion)) == vars(known)


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_variance_by_steps_is_that_of_the_rows(data, region):
    y, s, curve = data
    (name, ends), *_ = region.items()
    sample = read_sample(y, {"y_score": s})
    known = variance(area_influences(sample, name[:3], ends), sample)
    own = _plain_variance(curve, Region(name[:3], *ends, False))
    assert own == pytest.approx(known, rel=1e-12)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40),
    st.integers(1, 9),
    st.integers(1, 7),
)
def test_any_runs_give_the_same_curve(pairs, run_rows, batch):
    y = np.array([is_positive for is_positive, _ in pairs], dtype=int)
    y[:2] = [0, 1]
    s = np.array([score for _, score in pairs], dtype=float)
    curve, known = sort_in_files(y, s, run_rows=run_rows, batch=batch), metrics.roc_curve(y, s)
    assert curve.thresholds.tolist() == known.thresholds.tolist()
    assert curve.true_positives.tolist() == known.true_positives.tolist()
    assert curve.false_positives.tolist() == known.false_positives.tolist()


@pytest.mark.parametrize("size", [10, 10**5, 2 * 10**10])
def test_squares_of_placements_are_exact(size):
    rng = np.random.default_rng(size)
    counts, placed = rng.integers(1, 1000, 50), rng.integers(0, 2 * size, 50)
    n = int(counts.sum())
    values = np.repeat(placed, counts).tolist()
    mean = Fraction(sum(values), n)
    deviation = sum((value - mean) ** 2 for value in values) / (n - 1) / n / (2 * size) ** 2
    assert PlacementSums(n).add(counts, placed).variance(size) == float(deviation)


def test_large_curve_is_searched_and_summed_in_blocks(monkeypatch):
    y, s = rows(3, n=500)
    curve, known = metrics.roc_curve(y, s), metrics.threshold_at(y, s, precision=0.7)
    areas = {str(region): curve.partial_auc(**region) for region in REGIONS}
    whole = curve.auc(), curve.youden(), curve.at(fpr=0.2), curve.at(tpr=0.5), curve.at(budget=30)
    for function in (curve_blocks.blocks, curve_blocks.segments):
        monkeypatch.setattr(function, "__defaults__", (7,))
    monkeypatch.setattr("auctor.metrics.precision_threshold._NEAR", 5)
    assert whole == (
        curve.auc(), curve.youden(), curve.at(fpr=0.2), curve.at(tpr=0.5), curve.at(budget=30)
    )  # fmt: skip
    assert vars(metrics.threshold_at(y, s, precision=0.7)) == vars(known)
    for region in REGIONS:
        assert curve.partial_auc(**region) == pytest.approx(areas[str(region)], rel=1e-13)


def test_interpolation_is_that_of_numpy():
    x, y = np.array([0.0, 0.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 3.0, 4.0])
    for at in (0.0, 0.5, 1.0, 1.5, 2.0):
        assert interpolate(at, Axis((x,)), Axis((y,))) == np.interp(at, x, y)
    assert interpolate(1.0, Axis((x,)), Axis((y,)), first=True) == 1.0


def test_what_has_no_curve_is_refused():
    with pytest.raises(ValueError, match="there is no negative row"):
        metrics.roc_curve_of_batches([([1, 1], [0.1, 0.2])], pos_label=1)
    with pytest.raises(ValueError, match="y_score has 1 NaN value"):
        metrics.roc_curve_of_batches([([1, 0], [0.1, np.nan])], pos_label=1)
    weighted = metrics.roc_curve([0, 1, 0, 1], [1, 2, 3, 4], sample_weight=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="curve is of rows with weights"):
        from_curve.auc_ci(weighted)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([[0, 1], [1, None]], "1 missing label"),
        ([[0.0, 1.0], [np.nan]], "1 missing label"),
        ([[0, 1], [2, 1]], "more than one label beside pos_label=1: 0, 2"),
        ([["a", "b"]], "more than one label beside pos_label=1: a, b"),
    ],
)
def test_batches_with_labels_that_are_not_of_two_classes_are_refused(labels, words):
    batches = [(own, np.arange(float(len(own)))) for own in labels]
    with pytest.raises(ValueError, match=words):
        metrics.roc_curve_of_batches(batches, pos_label=1)
