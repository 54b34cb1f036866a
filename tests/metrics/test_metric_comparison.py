"""compare_metric: values, an interval and a test that agree, and how often they hold."""

import numpy as np
import pytest
from scipy.stats import rankdata

from auctor import metrics

SETTINGS = {
    "auc": {},
    "ks": {},
    "partial_auc": {"fpr_range": (0, 0.3), "scaled": True},
    "precision_at_k": {"k": 0.2},
}
FUNCTIONS = {
    "auc": metrics.auc,
    "ks": metrics.ks,
    "partial_auc": metrics.partial_auc,
    "precision_at_k": metrics.precision_at_k,
}
each_metric = pytest.mark.parametrize("name", SETTINGS)
resampled = pytest.mark.parametrize("name", [name for name in SETTINGS if name != "auc"])


def draw(seed, n_pos=60, n_neg=90, shifts=(1.0, 1.0), rho=0.5):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    noise = rng.normal(size=(2, len(y)))
    other = rho * noise[0] + np.sqrt(1 - rho**2) * noise[1]
    return y, noise[0] + shifts[0] * y, other + shifts[1] * y


@each_metric
def test_values_are_those_of_the_metric_and_sides_change_the_sign(name):
    y, a, b = draw(0, shifts=(1.5, 0.5))
    arguments = {**SETTINGS[name], "n_resamples": 60, "random_state": 0}
    comparison = metrics.compare_metric(y, a, b, metric=name, **arguments)
    expected = [FUNCTIONS[name](y, s, **SETTINGS[name]) for s in (a, b)]
    assert [comparison.value_a, comparison.value_b] == pytest.approx(expected, rel=1e-12)
    assert comparison.difference == comparison.value_a - comparison.value_b
    assert comparison.low < comparison.difference < comparison.high
    other = metrics.compare_metric(y, b, a, metric=name, **arguments)
    assert (other.low, other.high) == pytest.approx((-comparison.high, -comparison.low), rel=1e-9)
    assert other.p_value == pytest.approx(comparison.p_value, rel=1e-9)
    assert comparison == metrics.compare_metric(y, a, b, metric=name, **arguments)


def test_auc_is_that_of_compare_auc():
    y, a, b = draw(1)
    folds, more = np.arange(150) % 3, {"instability": 0.4}
    comparison = metrics.compare_metric(y, a, b, metric="auc", folds=folds, **more)
    own = metrics.compare_auc(y, a, b, folds=folds, **more)
    assert (comparison.low, comparison.high, comparison.p_value) == (own.low, own.high, own.p_value)
    assert comparison.standard_error == pytest.approx(own.difference / own.statistic)
    assert comparison.n_folds == 3


@each_metric
def test_interval_and_p_value_agree(name):
    for seed in range(12):
        y, a, b = draw(seed, shifts=(1.4, 0.8))
        arguments = {**SETTINGS[name], "n_resamples": 60, "random_state": 0}
        comparison = metrics.compare_metric(y, a, b, metric=name, **arguments)
        assert (comparison.p_value < 0.05) == (not comparison.low <= 0 <= comparison.high)
        if 0 < comparison.p_value < 1:
            exact = metrics.compare_metric(
                y, a, b, metric=name, **arguments, level=1 - comparison.p_value
            )
            assert min(abs(exact.low), abs(exact.high)) < 1e-9


@each_metric
def test_scores_that_order_alike_do_not_differ(name):
    y, a, _ = draw(2)
    comparison = metrics.compare_metric(y, a, a**3, metric=name, **SETTINGS[name], random_state=0)
    assert (comparison.difference, comparison.low, comparison.high, comparison.p_value) == (
        0,
        0,
        0,
        1,
    )


@resampled
@pytest.mark.parametrize("n_pos", [15, 60])
def test_where_there_is_no_difference_one_in_twenty_is_found(name, n_pos):
    arguments = {**SETTINGS[name], "n_resamples": 60}
    comparisons = [
        metrics.compare_metric(*draw(seed, n_pos), metric=name, **arguments, random_state=seed)
        for seed in range(100)
    ]
    # Three standard deviations of 100 draws above 0.05.
    assert np.mean([one.p_value < 0.05 for one in comparisons]) <= 0.11


@resampled
def test_the_interval_holds_where_there_is_a_difference(name):
    big = draw(0, 40_000, 60_000, shifts=(1.8, 0.9))
    truth = np.subtract(*(FUNCTIONS[name](big[0], s, **SETTINGS[name]) for s in big[1:]))
    arguments = {**SETTINGS[name], "n_resamples": 60}
    comparisons = [
        metrics.compare_metric(
            *draw(seed, shifts=(1.8, 0.9)), metric=name, **arguments, random_state=seed
        )
        for seed in range(100)
    ]
    assert np.mean([one.low <= truth <= one.high for one in comparisons]) >= 0.89


@resampled
def test_folds_are_ranked_apart_and_training_counts(name):
    y, a, b = draw(3, shifts=(1.5, 0.5))
    folds, arguments = np.arange(150) % 3, {**SETTINGS[name], "n_resamples": 60, "random_state": 0}
    worst = metrics.compare_metric(y, a + 9 * folds, b, metric=name, folds=folds, **arguments)
    fixed = metrics.compare_metric(y, a, b, metric=name, folds=folds, instability=0, **arguments)
    assert worst.difference == pytest.approx(fixed.difference)
    assert worst.standard_error == pytest.approx(2**0.5 * fixed.standard_error)
    assert "within 3 folds, variance multiplied by 2.00 for overlapping training sets" in str(worst)
    ranks = [np.empty(150), np.empty(150)]
    for k in range(3):
        for own, s in zip(ranks, (a, b), strict=True):
            own[folds == k] = rankdata(s[folds == k])
    own = [FUNCTIONS[name](y, s, **SETTINGS[name]) for s in ranks]
    if name == "ks":  # both less what KS is too large by on average
        assert fixed.value_a - fixed.value_b == pytest.approx(own[0] - own[1])
        own = [metrics.ks_ci(y, s, folds=folds, random_state=0).value for s in (a, b)]
        assert [fixed.value_a, fixed.value_b] == pytest.approx(own, abs=0.02)
        return
    assert [fixed.value_a, fixed.value_b] == pytest.approx(own, rel=1e-9)


@resampled
def test_groups_and_weights(name):
    y, a, b = draw(4, 30, 30)
    rows = np.repeat(np.arange(60), 6)
    arguments = {**SETTINGS[name], "n_resamples": 200, "random_state": 0}
    copied = [values[rows] for values in (y, a, b)]
    alone = metrics.compare_metric(*copied, metric=name, **arguments)
    together = metrics.compare_metric(*copied, metric=name, **arguments, groups=rows)
    assert together.method == "paired cluster bootstrap"
    assert together.standard_error > 1.8 * alone.standard_error
    weighted = metrics.compare_metric(
        y, a, b, metric=name, **arguments, sample_weight=np.full(60, 6.0)
    )
    assert weighted.difference == pytest.approx(together.difference)
    assert weighted.standard_error == pytest.approx(together.standard_error, rel=0.25)
    some = np.arange(60) % 4 > 0  # rows of weight 0 are absent, also from groups
    absent = metrics.compare_metric(
        y, a, b, metric=name, **arguments, sample_weight=some.astype(float), groups=np.arange(60)
    )
    kept = [values[some] for values in (y, a, b)]
    same = metrics.compare_metric(*kept, metric=name, **arguments, groups=np.arange(60)[some])
    assert absent.difference == pytest.approx(same.difference)
    assert (absent.n_pos, absent.n_neg) == (same.n_pos, same.n_neg)


def test_no_difference_in_few_rows_is_not_certain():
    y = np.repeat([1, 0], 10)
    a, b = y + np.linspace(0, 0.5, 20), y + np.linspace(0.5, 0, 20)
    for name, arguments in SETTINGS.items():
        comparison = metrics.compare_metric(y, a, b, metric=name, **arguments, random_state=0)
        assert (comparison.difference, comparison.p_value) == (0, 1)
        assert comparison.low < -0.02 and comparison.high > 0.02


def test_sentence():
    y, a, b = draw(5)
    said = str(metrics.compare_metric(y, a, b, metric="precision_at_k", k=20, random_state=0))
    assert said.startswith("precision in the top 20: 0.") and " (A) and 0." in said
    assert said.endswith("(paired stratified bootstrap, 60 positives, 90 negatives)")
    assert "difference " in said and "(95% CI " in said and ", p = " in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"metric": "gini"},
            "metric is 'gini'; give 'auc', 'ks', 'partial_auc' or 'precision_at_k'",
        ),
        ({"metric": "ks", "k": 10}, "k is 10 and metric is 'ks'; give k only"),
        (
            {"metric": "ks", "fpr_range": (0, 0.1)},
            "give fpr_range or tpr_range only for 'partial_auc'",
        ),
        ({"metric": "partial_auc"}, "none of fpr_range, tpr_range is given"),
        ({"metric": "precision_at_k"}, "k is None and metric is 'precision_at_k'; give k"),
        ({"metric": "precision_at_k", "k": 151}, "k is 151, but there are 150 rows"),
        ({"metric": "ks", "level": 95}, "give a number between 0 and 1, such as 0.95"),
        ({"metric": "ks", "folds": np.arange(150) // 2}, "fold 0 has"),
        ({"metric": "ks", "groups": np.zeros(150)}, "groups has only one group"),
    ],
)
def test_what_is_wrong_is_named(options, message):
    y, a, b = draw(0)
    with pytest.raises(ValueError, match=message):
        metrics.compare_metric(y, a, b, **options)


def test_ks_within_folds_of_scores_that_order_alike():
    rng = np.random.default_rng(0)
    y, s, folds = np.repeat([0, 1], 40), rng.normal(size=80), np.arange(80) % 4
    comparison = metrics.compare_metric(y, s, 2 * s, metric="ks", folds=folds)
    assert (comparison.difference, comparison.low, comparison.high, comparison.p_value) == (
        0,
        0,
        0,
        1,
    )


def test_ks_within_folds_rejects_one_in_twenty():
    """Each KS less its own excess would reject one in five: the two excesses are nearly one."""
    rng, n_samples, rejected = np.random.default_rng(1), 100, 0
    y, folds = np.repeat([0, 1], 100), np.arange(200) % 5
    for seed in range(n_samples):
        base = rng.normal(size=200) + y
        scores = [base + 0.1 * rng.normal(size=200) for _ in range(2)]
        arguments = {"folds": folds, "instability": 0.0, "n_resamples": 60, "random_state": seed}
        rejected += metrics.compare_metric(y, *scores, metric="ks", **arguments).p_value < 0.05
    assert rejected / n_samples < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_samples)
