"""Every metric against its slow version, and what must never change a value."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from auctor import metrics
from tests.reference import metrics as slow

# Ties, near-ties one bit apart, and extremes.
SCORE = st.one_of(
    st.integers(-2, 2).map(float),
    st.sampled_from([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), -0.0, 1e308, 5e-324]),
    st.floats(-10, 10),
)
FEW = st.integers(-2, 2).map(float)
RATE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
EXACT = {"abs": 1e-14, "rel": 0}


@st.composite
def samples(draw, least=1, most=12, score=SCORE):
    """Labels with both classes and scores of any kind, in random row order."""
    n_pos, n_neg = draw(st.integers(least, most)), draw(st.integers(least, most))
    y = np.array(draw(st.permutations([1] * n_pos + [0] * n_neg)))
    return y, np.array(draw(st.lists(score, min_size=len(y), max_size=len(y))))


@st.composite
def weighted_samples(draw, score=SCORE):
    """The same with whole weights, some of them zero."""
    y, s = draw(samples(most=8, score=score))
    w = np.array(draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))), dtype=float)
    w[int(np.argmax(y == 1))] = 1
    w[int(np.argmax(y == 0))] = 2
    return y, s, w


@st.composite
def regions(draw):
    """A region (a, b) of rates."""
    low, high = sorted((draw(RATE), draw(RATE)))
    assume(high - low > 1e-3)
    return low, high


# ---- against the slow versions


@given(samples())
def test_auc_equals_the_fraction_of_pairs(sample):
    y, s = sample
    assert metrics.auc(y, s) == slow.auc(y, s)
    assert metrics.roc_curve(y, s).auc() == slow.auc(y, s)


@given(weighted_samples())
def test_weighted_auc_equals_the_weighted_fraction_of_pairs(sample):
    y, s, w = sample
    assert metrics.auc(y, s, sample_weight=w) == slow.auc(y, s, w)
    assert metrics.auc(y, s, sample_weight=w / 7) == pytest.approx(slow.auc(y, s, w), **EXACT)


@given(weighted_samples(), st.sampled_from([-1.0, 0.0, 1e-300, 0.5, 1.0, 2.0]))
def test_margin_auc_equals_the_fraction_of_pairs(sample, rho):
    y, s, w = sample
    assert metrics.margin_auc(y, s, rho=rho) == slow.margin_auc(y, s, rho)
    assert metrics.margin_auc(y, s, rho=rho, sample_weight=w) == slow.margin_auc(y, s, rho, w)


@given(weighted_samples())
def test_curve_and_ks_equal_the_walk_over_thresholds(sample):
    y, s, w = sample
    for weight in (None, w):
        curve = metrics.roc_curve(y, s, sample_weight=weight)
        rows = slice(None) if weight is None else weight > 0
        points = slow.roc_points(y[rows], s[rows], weight if weight is None else weight[rows])
        assert list(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True)) == points
        assert metrics.ks(y, s, sample_weight=weight) == pytest.approx(
            max(tpr - fpr for fpr, tpr in points), **EXACT
        )


@given(samples(), regions())
def test_partial_auc_equals_the_area_piece_by_piece(sample, region):
    y, s = sample
    points = slow.roc_points(y, s)
    turned = [(tpr, 1 - fpr) for fpr, tpr in points]
    for name, line in (("fpr", points), ("tpr", turned)):
        raw = metrics.partial_auc(y, s, **{f"{name}_range": region})
        assert raw == pytest.approx(slow.area(line, *region), **EXACT)
        chance = slow.area([(0, 0), (1, 1)] if name == "fpr" else [(0, 1), (1, 0)], *region)
        scaled = metrics.partial_auc(y, s, **{f"{name}_range": region}, scaled=True)
        best = region[1] - region[0]
        assert scaled == pytest.approx(0.5 + 0.5 * (raw - chance) / (best - chance), abs=1e-10)


@given(samples(most=4, score=FEW), st.data())
def test_top_equals_the_mean_over_the_orders_of_ties(sample, data):
    y, s = sample
    k = data.draw(st.integers(1, len(y)))
    count = slow.top_positives(y, s, k)
    assert metrics.precision_at_k(y, s, k=k) == pytest.approx(count / k, **EXACT)
    assert metrics.recall_at_k(y, s, k=k) == pytest.approx(count / y.sum(), **EXACT)
    assert metrics.lift(y, s, k=k) == pytest.approx(count / k / y.mean(), abs=1e-13)


@given(samples(least=2), st.randoms(use_true_random=False))
def test_delong_equals_the_matrix_of_pairs(sample, random):
    y, a = sample
    b = np.array([random.randint(0, 5) for _ in y], dtype=float)
    expected = slow.delong_covariance(y, a, b)
    assert metrics.auc_ci(y, a).standard_error ** 2 == pytest.approx(expected[0, 0], **EXACT)
    difference = expected[0, 0] + expected[1, 1] - 2 * expected[0, 1]
    if difference > 1e-9:
        compared = metrics.compare_auc(y, a, b, method="delong")
        assert compared.statistic * difference**0.5 == pytest.approx(compared.difference, abs=1e-9)


@given(samples(), samples())
def test_distance_equals_the_sum_over_pieces(one, other):
    curves = [metrics.roc_curve(y, s) for y, s in (one, other)]
    points = [slow.roc_points(y, s) for y, s in (one, other)]
    l1, sup = slow.roc_distance(*points)
    distance = metrics.roc_distance(*curves)
    assert distance.l1 == pytest.approx(l1, **EXACT)
    assert distance.sup == pytest.approx(sup, **EXACT)


@given(samples())
def test_hull_is_the_best_chord_everywhere(sample):
    y, s = sample
    curve = metrics.roc_curve(y, s)
    hull = curve.hull()
    points = list(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True))
    corners = list(zip(hull.fpr.tolist(), hull.tpr.tolist(), strict=True))
    heights = [slow.hull_height(corners, x) for x in curve.fpr]
    assert heights == pytest.approx([slow.hull_height(points, x) for x in curve.fpr], **EXACT)
    assert set(corners) <= set(points)
    assert hull.hull().thresholds.tolist() == hull.thresholds.tolist()


@given(samples(), RATE, st.floats(-3, 3), st.integers(0, 30))
def test_operating_points_equal_a_search_over_all_thresholds(sample, rate, threshold, budget):
    y, s = sample
    curve = metrics.roc_curve(y, s)
    points = slow.roc_points(y, s)
    by_fpr, by_tpr = curve.at(fpr=rate), curve.at(tpr=rate)
    assert (by_fpr.fpr, by_fpr.tpr) == max(point for point in points if point[0] <= rate)
    assert (by_tpr.fpr, by_tpr.tpr) == min(point for point in points if point[1] >= rate)
    counts = [0, *((s >= t).sum() for t in np.unique(s))]
    assert curve.at(budget=budget).flagged == max(c for c in counts if c <= budget)
    assert curve.at(threshold=threshold).flagged == (s >= threshold).sum()
    for point in (by_fpr, by_tpr, curve.youden(), curve.at(budget=budget)):
        # A threshold attains every one of these points. Nothing is at or above infinity.
        flagged = s >= point.threshold
        assert point.flagged == flagged.sum()
        assert point.tpr == flagged[y == 1].mean() and point.fpr == flagged[y == 0].mean()


@given(samples(), RATE)
def test_interpolated_points_lie_on_the_line(sample, rate):
    y, s = sample
    curve = metrics.roc_curve(y, s)
    points = slow.roc_points(y, s)
    by_fpr, by_tpr = curve.at(fpr=rate, interpolate=True), curve.at(tpr=rate, interpolate=True)
    assert by_fpr.fpr == pytest.approx(rate, **EXACT)
    assert by_tpr.tpr == pytest.approx(rate, **EXACT)
    if rate not in curve.fpr:
        assert by_fpr.tpr == pytest.approx(slow.line_height(points, rate), **EXACT)
    if rate not in curve.tpr:
        turned = [(tpr, fpr) for fpr, tpr in points]
        assert by_tpr.fpr == pytest.approx(slow.line_height(turned, rate), **EXACT)


# ---- what must not change a value

RANK_METRICS = {
    "auc": metrics.auc,
    "ks": metrics.ks,
    "partial_auc": lambda y, s, **kw: metrics.partial_auc(y, s, fpr_range=(0.1, 0.6), **kw),
    "partial_auc_tpr": lambda y, s, **kw: metrics.partial_auc(y, s, tpr_range=(0.3, 0.9), **kw),
    "precision_at_k": lambda y, s, **kw: metrics.precision_at_k(y, s, k=0.4, **kw),
    "recall_at_k": lambda y, s, **kw: metrics.recall_at_k(y, s, k=0.4, **kw),
    "lift": lambda y, s, **kw: metrics.lift(y, s, k=0.4, **kw),
}
rank_metrics = pytest.mark.parametrize("metric", RANK_METRICS.values(), ids=RANK_METRICS.keys())


@rank_metrics
@given(sample=samples())
def test_monotone_transform_changes_nothing(metric, sample):
    y, s = sample
    ranks = np.unique(s, return_inverse=True)[1]
    assert metric(y, s) == metric(y, np.exp(ranks / 3.0)) == metric(y, ranks - 7)


@rank_metrics
@given(sample=samples(), random=st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(metric, sample, random):
    y, s = sample
    order = list(range(len(y)))
    random.shuffle(order)
    assert metric(y, s) == metric(y[order], s[order])


@rank_metrics
@given(sample=weighted_samples())
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(metric, sample):
    y, s, w = sample
    times = w.astype(int)
    repeated = metric(np.repeat(y, times), np.repeat(s, times))
    assert metric(y, s, sample_weight=w) == repeated


@rank_metrics
@given(sample=samples(), value=st.sampled_from([0.0, 1e308, -np.inf, np.inf]))
def test_a_constant_score_is_chance(metric, sample, value):
    y, _ = sample
    constant, random = metric(y, np.full(len(y), value)), metric(y, np.zeros(len(y)))
    assert constant == random
    assert metrics.auc(y, np.full(len(y), value)) == 0.5
    assert metrics.ks(y, np.full(len(y), value)) == 0


@given(samples())
def test_auc_of_the_negated_score_is_the_rest(sample):
    y, s = sample
    assert metrics.auc(y, s) + metrics.auc(y, -s) == pytest.approx(1, **EXACT)
    assert metrics.auc(1 - y, s) == metrics.auc(y, -s)


@given(samples(), regions())
def test_partial_areas_add_up(sample, region):
    y, s = sample
    low, high = region
    curve = metrics.roc_curve(y, s)
    cuts = sorted({0.0, low, high, 1.0})
    for name in ("fpr", "tpr"):
        parts = [curve.partial_auc(**{f"{name}_range": ends}) for ends in pairwise(cuts)]
        assert sum(parts) == pytest.approx(curve.auc(), **EXACT)


@given(samples(), samples())
def test_distance_is_symmetric_and_zero_to_itself(one, other):
    a, b = (metrics.roc_curve(y, s) for y, s in (one, other))
    there, back = metrics.roc_distance(a, b), metrics.roc_distance(b, a)
    assert there == pytest.approx(back, **EXACT)
    assert metrics.roc_distance(a, a) == (0, 0)
    assert there.l1 <= there.sup + 1e-14
    assert there.l1 >= abs(a.auc() - b.auc()) - 1e-14


@given(samples(least=2))
def test_comparing_a_score_with_itself_is_no_difference(sample):
    y, s = sample
    ranks = np.unique(s, return_inverse=True)[1]
    result = metrics.compare_auc(y, s, ranks)
    assert (result.difference, result.statistic, result.p_value) == (0, 0, 1)
    assert (result.low, result.high) == (0, 0)


@given(samples(least=2), st.randoms(use_true_random=False))
def test_comparison_changes_sign_with_its_sides(sample, random):
    y, a = sample
    b = np.array([random.random() for _ in y])
    one, other = metrics.compare_auc(y, a, b), metrics.compare_auc(y, b, a)
    assert one.difference == -other.difference and one.statistic == -other.statistic
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), **EXACT)
    assert one.p_value == other.p_value


METRICS = {
    "auc": metrics.auc,
    "ks": metrics.ks,
    "partial_auc": lambda *rows, **weight: metrics.partial_auc(
        *rows, fpr_range=(0.1, 0.4), **weight
    ),
    "precision_at_k": lambda *rows, **weight: metrics.precision_at_k(*rows, k=0.2, **weight),
    "lift": lambda *rows, **weight: metrics.lift(*rows, k=0.2, **weight),
    "tpr": lambda *rows, **weight: metrics.roc_curve(*rows, **weight).tpr.tolist(),
}


@pytest.mark.parametrize("exponent", [-1060, -600, -40, 40, 600, 1000])
@pytest.mark.parametrize("name", METRICS)
def test_weights_times_a_power_of_two_change_no_bit(name, exponent):
    rng = np.random.default_rng(0)
    y, scores = rng.random(60) < 0.4, np.round(rng.normal(size=60), 1)
    weight = rng.integers(1, 9, size=60) / 4.0
    result = METRICS[name](y, scores, sample_weight=np.ldexp(weight, exponent))
    assert result == METRICS[name](y, scores, sample_weight=weight)


def test_weights_that_add_up_to_infinity_count():
    assert metrics.auc([0, 1, 1], [0.3, 0.2, 0.7], sample_weight=[1e308, 1e308, 1e308]) == 0.5
