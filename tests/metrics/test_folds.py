"""Out-of-fold scores: intervals that hold, and the fraction of the variance due to training."""

import math

import numpy as np
import pytest

from auctor import metrics
from auctor.metrics.folds import pool_folds
from auctor.metrics.sample import read_sample


def linear_folds(rng, n, n_features, shift, n_folds=5):
    """Labels, folds, and the scores of all rows by each fold's difference of class means."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_features)) + shift / math.sqrt(n_features) * y[:, None]
    folds = rng.permutation(np.arange(n // 2) % n_folds).repeat(2)
    scores = np.empty((n, n_folds))
    for k in range(n_folds):
        train = folds != k
        direction = X[train & (y == 1)].mean(axis=0) - X[train & (y == 0)].mean(axis=0)
        scores[:, k] = (X * direction).sum(axis=1)
    return y, folds, scores


def out_of_fold(scores, folds):
    return scores[np.arange(len(folds)), folds]


def test_at_chance_the_interval_holds_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held, printed, measured, rejected = 0, 0, [], 0
    for _ in range(200):
        y, folds, scores = linear_folds(rng, 200, 10, 0.0)
        own = out_of_fold(scores, folds)
        instability = metrics.fold_instability(y, scores, folds)
        interval = metrics.auc_ci(y, own, folds=folds, instability=instability)
        plain = metrics.auc_ci(y, own, folds=folds, method="delong")
        held += interval.low <= 0.5 <= interval.high
        printed += plain.low <= 0.5 <= plain.high
        rejected += abs(interval.value - 0.5) > 1.96 * interval.standard_error
        measured.append(instability)
    assert printed < 180  # 0.85 or so, of 0.95
    assert held >= 184  # 0.92, two standard errors of 200 draws below 0.95
    assert rejected <= 18
    assert 0.85 < np.mean(measured) <= 1.0


def test_instability_falls_with_the_signal_and_is_0_for_one_model():
    rng = np.random.default_rng(1)
    means = []
    for shift in (0.0, 1.0, 3.0):
        instabilities = [
            metrics.fold_instability(y, scores, folds)
            for y, folds, scores in (linear_folds(rng, 300, 10, shift) for _ in range(10))
        ]
        means.append(float(np.mean(instabilities)))
    assert means[0] > 0.85 > 0.5 > means[1] > means[2]
    y, folds, scores = linear_folds(rng, 300, 10, 1.0)
    fixed = np.tile(scores[:, :1], 5)
    assert metrics.fold_instability(y, fixed, folds) == 0.0
    assert metrics.fold_instability(y, scores, folds, scores_b=scores) == 0.0


def test_instability_of_a_difference_is_larger_than_that_of_its_terms():
    rng = np.random.default_rng(2)
    y, folds, a = linear_folds(rng, 400, 5, 1.5)
    b = a + rng.normal(size=a.shape) * a.std()  # what each model adds is its own
    instability = metrics.fold_instability(y, a, folds, scores_b=b)
    assert instability == 1.0 > metrics.fold_instability(y, a, folds)


def test_instability_takes_weights_groups_and_rows_that_were_not_scored():
    rng = np.random.default_rng(3)
    y, folds, scores = linear_folds(rng, 200, 10, 1.0)
    instability = metrics.fold_instability(y, scores, folds)
    weight = rng.integers(0, 3, 200).astype(float)
    weight[:40] = 1.0
    repeated = np.repeat(np.arange(200), weight.astype(int))
    weighted = metrics.fold_instability(y, scores, folds, sample_weight=weight)
    assert weighted == pytest.approx(
        metrics.fold_instability(y, scores, folds, sample_weight=7 * weight), abs=1e-12
    )
    copied = [values[repeated] for values in (y, scores, folds)]
    by_group = metrics.fold_instability(*copied, groups=repeated)
    assert by_group == pytest.approx(weighted, abs=0.02)
    some = scores.copy()
    some[::3] = np.nan
    assert metrics.fold_instability(y, some, folds) == pytest.approx(instability, abs=0.3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.zeros(8)}, r"scores has shape \(8,\); give an array of shape"),
        ({"scores": np.zeros((8, 3))}, "scores has 3 columns for 2 folds"),
        ({"scores_b": np.zeros((8, 1))}, r"scores_b has shape \(8, 1\)"),
        ({"folds": [0, 1, 1, 1, 1, 1, 1, 1]}, "fold 0 has 0 positives and 1 negative"),
    ],
)
def test_instability_names_what_is_wrong(change, message):
    options = {"y_true": [0, 1] * 4, "scores": np.zeros((8, 2)), "folds": [0, 0, 0, 0, 1, 1, 1, 1]}
    with pytest.raises(ValueError, match=message):
        metrics.fold_instability(**(options | change))


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "shift", "cut"),
    [(15, 100, 2.66, None), (10, 200, 1.81, 0.9), (10, 10, 1.81, None)],
)
def test_few_rows_near_1_in_folds(n_pos, n_neg, shift, cut):
    """A fixed model: Wilson's limits hold where the normal ones do not, also of two values."""
    rng = np.random.default_rng(4)
    truth = 0.5 * math.erfc(-shift / 2)
    if cut is not None:
        truth = (0.5 * math.erfc((cut - shift) / math.sqrt(2)) + 0.5 * math.erfc(-cut / 2**0.5)) / 2
    y = np.repeat([1, 0], [n_pos, n_neg])
    folds = np.concatenate([np.arange(n_pos), np.arange(n_neg)]) % 5
    held = printed = 0
    for _ in range(200):
        s = rng.normal(size=len(y)) + shift * y
        s = s if cut is None else (s > cut).astype(float)
        interval = metrics.auc_ci(y, s, folds=folds, instability=0)
        plain = metrics.auc_ci(y, s, folds=folds, method="delong")
        held += interval.low <= truth <= interval.high
        printed += plain.low <= truth <= plain.high
    assert printed < 178 and held >= 186


def test_a_perfect_order_in_folds_is_not_certain():
    y, s = np.tile([0, 1], 20), np.tile([0.0, 1.0], 20)
    interval = metrics.auc_ci(y, s, folds=np.arange(40) // 8)
    assert interval.value == interval.high == 1.0 and 0.75 < interval.low < 0.95
    assert "variance multiplied by 2.00 for overlapping training sets" in str(interval)


def test_weights_and_groups_in_folds_need_no_resampling(normal_scores):
    y, s = normal_scores(60, 60, 1.0, seed=4)
    folds, rows = np.arange(120) % 3, np.repeat(np.arange(120), 5)
    once = metrics.auc_ci(y, s, folds=folds)
    grouped = metrics.auc_ci(y[rows], s[rows], folds=folds[rows], groups=rows)
    assert grouped.value == pytest.approx(once.value, abs=1e-12)
    assert grouped.standard_error == pytest.approx(once.standard_error, rel=0.02)
    assert (grouped.low, grouped.high) == pytest.approx((once.low, once.high), abs=0.01)
    weight = np.ones(120)
    same = metrics.auc_ci(y, s, folds=folds, sample_weight=3 * weight)
    assert (same.low, same.high) == pytest.approx((once.low, once.high), abs=1e-12)
    weight[::2] = 0.01  # half the rows hardly count
    lighter = metrics.auc_ci(y, s, folds=folds, sample_weight=weight)
    assert lighter.standard_error == pytest.approx(once.standard_error * 2**0.5, rel=0.25)


@pytest.mark.parametrize("value", [-0.1, 1.5, "all"])
@pytest.mark.parametrize(
    "call",
    [metrics.auc_ci, lambda *a, **k: metrics.compare_auc(*a, -a[1], **k)],
    ids=["auc_ci", "compare_auc"],
)
def test_instability_is_a_fraction(normal_scores, value, call):
    y, s = normal_scores(20, 20)
    with pytest.raises(ValueError, match="instability is"):
        call(y, s, folds=np.arange(40) % 2, instability=value)


def test_pooled_folds_rank_within_each():
    y, s = np.array([0, 1] * 4), np.array([1.0, 2, 3, 3, 400, 100, 300, 200])
    pooled = pool_folds(read_sample(y, {"y_score": s}), [0] * 4 + [1] * 4)
    assert pooled.scores[0].tolist() == [0.125, 0.375, 0.75, 0.75, 0.875, 0.125, 0.625, 0.375]


def test_a_difference_within_folds_holds_and_rejects_as_often_as_it_says():
    """Two halves of the features: no difference but that of training."""
    rng = np.random.default_rng(5)
    held = printed = 0
    for _ in range(120):
        y, folds, a = linear_folds(rng, 200, 5, 1.0)
        X = rng.normal(size=(200, 5)) + 1.0 / math.sqrt(5) * y[:, None]
        b = np.empty_like(a)
        for k in range(5):
            train = folds != k
            b[:, k] = (X * (X[train & (y == 1)].mean(0) - X[train & (y == 0)].mean(0))).sum(1)
        scores = out_of_fold(a, folds), out_of_fold(b, folds)
        instability = metrics.fold_instability(y, a, folds, scores_b=b)
        comparison = metrics.compare_auc(y, *scores, folds=folds, instability=instability)
        plain = metrics.compare_auc(y, *scores, folds=folds, method="delong")
        held += comparison.low <= 0 <= comparison.high
        printed += plain.p_value >= 0.05
        assert (comparison.p_value < 0.05) == (not comparison.low <= 0 <= comparison.high)
    assert printed < held and held >= 110


@pytest.mark.parametrize("method", [None, "bootstrap"])
def test_interval_and_p_value_of_a_difference_agree(method):
    rng = np.random.default_rng(6)
    y = np.repeat([1, 0], [10, 200])
    excluded = 0
    for seed in range(60):
        a, b = rng.normal(size=(2, 210)) + 2.33 * y
        options = {"method": method, "n_resamples": 100, "random_state": seed}
        comparison = metrics.compare_auc(y, a, b, **options)
        excluded += not comparison.low <= 0 <= comparison.high
        assert (comparison.p_value < 0.05) == (not comparison.low <= 0 <= comparison.high)
        if 0 < comparison.p_value < 1:
            exact = metrics.compare_auc(y, a, b, level=1 - comparison.p_value, **options)
            assert min(abs(exact.low), abs(exact.high)) < 1e-9
    assert excluded <= 6


def test_instability_goes_with_folds(normal_scores):
    y, s = normal_scores(20, 20)
    calls = [
        lambda **options: metrics.auc_ci(y, s, **options),
        lambda **options: metrics.ks_ci(y, s, **options),
        lambda **options: metrics.compare_auc(y, s, -s, **options),
        lambda **options: metrics.compare_metric(y, s, -s, metric="ks", **options),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"instability is 0\.5, but folds was not given"):
            call(instability=0.5)
