"""Stumps up the penalised smoothed AUC, against the paper's pseudocode over all pairs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.data import RankingData, Workers, prepare
from auctor.kernels.smooth import deposit, deposit_sides
from auctor.learners.smooth.newton import Patience
from auctor.learners.smooth.objective import Objective
from auctor.learners.smooth.penalty import gaps
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.smooth.stagewise import Round, Rounds, Stump, boost, differences_of_scores
from auctor.testing.contracts import messy_table
from tests.reference import smooth as slow

BINS = SmoothSettings(roughness="bins")


def make_table(seed: int, n: int) -> tuple[np.ndarray, ...]:
    """Numbers, two of the three columns with ties, and weights in every other table."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1], X[:, 2] = np.round(X[:, 1]), np.round(2 * X[:, 2])
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0
    y[:2] = False, True
    weight = rng.integers(1, 4, size=n) * 1.0 if seed % 2 else np.ones(n)
    return X, y, weight


def make_problem(data: RankingData, options: SmoothSettings = BINS) -> Problem:
    return Problem(data, options, Workers(1))


def messy_problem(seed: int, options: SmoothSettings = BINS) -> Problem:
    """With missing values, a constant, and categories."""
    X, y = messy_table(seed)
    return make_problem(prepare(X, y, categorical_features=[4]), options)


def rows_of(data: RankingData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes (features, rows), classes and weights of the only partition."""
    part = data.partitions[0]
    return part.codes.astype(np.int64), part.positive.astype(bool), part.weight.astype(float)


def steps_of(problem: Problem, step: Round) -> np.ndarray:
    stump = Stump(step.feature, step.code, step.a, step.is_single, step.slope)
    return stump.steps(problem.data.features[step.feature].n_bins, problem.data.n_codes)


# Without a penalty the slopes soon come near to what counts as equal.
@pytest.mark.parametrize(("lam", "n_rounds"), [(0.0, 12), (0.001, 20), (0.01, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_every_round_equals_the_papers(seed, lam, n_rounds):
    X, y, weight = make_table(seed, 30 + 6 * seed)
    problem = make_problem(prepare(X, y, sample_weight=weight))
    point, outcome = boost(problem, problem.roughness.weigh(lam, 0.0, 0.0), n_rounds=n_rounds)
    paper = slow.AUCBoost(X, y, weight, lam)
    paper.run(n_rounds)
    assert len(outcome.rounds) == len(paper.rounds) == n_rounds
    for ours, theirs in zip(outcome.rounds, paper.rounds, strict=True):
        cut = paper.points(theirs.k).index(theirs.b) + 1
        assert (ours.feature, ours.code, ours.a) == (theirs.k, cut, theirs.a)
        assert not ours.is_single
        assert ours.slope == pytest.approx(theirs.slope, abs=1e-9)
        # Without a penalty some lengths lie where phi is near 0.
        assert ours.alpha == pytest.approx(theirs.alpha, abs=1e-6 if lam == 0 else 1e-9)
    assert point.objective == pytest.approx(paper.objective(), abs=1e-8 if lam == 0 else 1e-10)
    assert outcome.objective[-1] == point.objective


@pytest.mark.parametrize("n_bins", [2, 3, 4, 9])
def test_the_papers_slope_of_the_penalty_term_by_term(n_bins):
    """F(b^(-2)) - 3 F(b^(-1)) + 3 F(b) - F(b^(+1)), ends repeated; and 4 lambda."""
    lam, rng = 0.3, np.random.default_rng(n_bins)
    X = np.repeat(np.arange(n_bins * 1.0), 2)[:, None]
    problem = make_problem(prepare(X, np.tile([0, 1], n_bins)))
    penalty = problem.roughness.weigh(lam, 0.0, 0.0)
    f = np.append(0.0, rng.normal(size=n_bins))[None]
    assert (f * penalty.gradient(f)).sum() / 2 == pytest.approx(
        lam * slow.bins_roughness(f[0, 1:]), rel=1e-12
    )
    padded = np.concatenate([f[0, 1:2], f[0, 1:], f[0, -1:]])  # padded[c] is f_c
    for c in range(2, n_bins + 1):
        bracket = padded[c - 2] - 3 * padded[c - 1] + 3 * padded[c] - padded[c + 1]
        for a in (1, -1):
            steps = Stump(0, c, a, False, 0.0).steps(n_bins, n_bins + 1)
            slope = (steps * penalty.gradient(f)[0]).sum()
            assert slope == pytest.approx(2 * lam * a * bracket, rel=1e-12)
            curvature = (steps * penalty.gradient(steps[None])[0]).sum()
            assert curvature == pytest.approx(4 * lam, rel=1e-12)


@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_the_slow_versions_derivatives_are_those_of_its_objective(lam):
    X, y, weight = make_table(3, 30)
    paper = slow.AUCBoost(X, y, weight, lam)
    paper.run(5)
    for stump in list(paper.stumps())[::7]:

        def at(alpha, stump=stump):
            rounds = [*paper.rounds, replace(stump, alpha=alpha)]
            return slow.AUCBoost(X, y, weight, lam, rounds).objective()

        first, second = paper.derivatives(stump, 0.4)
        assert first == pytest.approx((at(0.4001) - at(0.3999)) / 2e-4, abs=1e-7)
        assert second == pytest.approx((at(0.401) - 2 * at(0.4) + at(0.399)) / 1e-6, abs=1e-5)
        assert paper.derivatives(stump, 0.0)[0] == pytest.approx(stump.slope, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_slow_gradient_and_roughness_are_the_fast_ones(seed):
    problem = messy_problem(seed, SmoothSettings(scale="linear"))
    codes, positive, weight = rows_of(problem.data)
    tables = np.random.default_rng(seed).normal(size=problem.signs.shape)
    outcome = problem.sums.evaluate((tables,))
    expected = slow.table_gradient(codes, tables, positive, weight)
    assert outcome.gradient[0] == pytest.approx(expected, abs=1e-9)
    feature = problem.data.features[0]
    fraction = problem.roughness.fraction[0, 1 : feature.n_bins + 1]
    positions = np.append(0.0, np.cumsum(gaps(feature, fraction, "linear")))
    f = np.zeros_like(tables)
    f[0, 1 : feature.n_bins + 1] = tables[0, 1 : feature.n_bins + 1]
    for amounts, form in [
        ((1.0, 0.0, 0.0), slow.curvature_roughness),
        ((0.0, 1.0, 0.0), slow.slope_roughness),
    ]:
        cost = (f * problem.roughness.weigh(*amounts).gradient(f)).sum() / 2
        assert cost == pytest.approx(form(f[0, 1 : feature.n_bins + 1], positions), rel=1e-9)


def every_stump(problem: Problem) -> list[tuple[Stump, np.ndarray]]:
    """All stumps, one by one, with what they add to the tables."""
    out = []
    for j, feature in enumerate(problem.data.features):
        singles = range(feature.n_bins + 1) if feature.is_category else [0]
        for code in range(problem.data.n_codes):
            for a in (1, -1):
                steps = np.zeros(problem.signs.shape)
                if code in singles:
                    steps[j, code] = a
                elif not feature.is_category and 2 <= code <= feature.n_bins:
                    if a * problem.signs[j, code - 1] < 0:
                        continue
                    steps[j, slice(code, feature.n_bins + 1) if a > 0 else slice(1, code)] = 1.0
                else:
                    continue
                out.append((Stump(j, code, a, code in singles, 0.0), steps))
    return out


@pytest.mark.parametrize("signs", [(), (-1, 1)])
@pytest.mark.parametrize("roughness", ["bins", "curvature"])
@pytest.mark.parametrize("seed", range(3))
def test_missing_values_categories_and_signs(seed, roughness, signs):
    """Each round's stump is the steepest of all, and its alpha the top, by the double sum."""
    problem = messy_problem(seed, SmoothSettings(roughness=roughness, signs=signs))
    penalty = problem.roughness.weigh(0.002, 0.001, 0.003)
    point, outcome = boost(problem, penalty, n_rounds=7)
    codes, positive, weight = rows_of(problem.data)
    stumps = every_stump(problem)
    tables = np.zeros(penalty.shape)

    def gradient():
        return slow.table_gradient(codes, tables, positive, weight) - penalty.gradient(tables)

    for step in outcome.rounds:
        slopes = [(gradient() * steps).sum() for _, steps in stumps]
        best = int(np.argmax(np.array(slopes) >= max(slopes) - slow.EQUAL))
        stump, steps = stumps[best]
        assert (step.feature, step.code, step.a, step.is_single) == stump[:4]
        assert step.slope == pytest.approx(slopes[best], abs=1e-9)
        assert 0 < step.alpha < 16
        tables += step.alpha * steps
        rounded = 2.0**-32 * (steps * penalty.gradient(steps)).sum()  # alpha is on the grid
        assert (gradient() * steps).sum() == pytest.approx(0.0, abs=1e-9 + rounded)
    assert np.array_equal(tables.ravel(), point.x)
    for j, sign in enumerate(signs):
        inner = tables[j, 1 : problem.data.features[j].n_bins + 1]
        assert (sign * np.diff(inner) >= 0).all()


def test_a_category_and_missing_values_are_distinguished():
    X = np.array([[1.0, 1.0], [2.0, 1.0], [2.0, np.nan], [3.0, np.nan], [1.0, 1.0], [3.0, 1.0]])
    y = np.array([0, 1, 1, 1, 0, 0])
    problem = make_problem(prepare(X, y, categorical_features=[0]))
    _, outcome = boost(problem, problem.roughness.weigh(0.0, 0.0, 0.01), n_rounds=3)
    first = [(step.feature, step.code, step.a, step.is_single) for step in outcome.rounds]
    assert first[:2] == [(0, 1, -1, True), (1, 0, 1, True)]


def test_signs_that_suit_the_data_change_little():
    X, y, _ = make_table(0, 60)
    free = make_problem(prepare(X, y))
    held = make_problem(prepare(X, y), replace(BINS, signs=(1, 1, 0)))
    best, least = (
        boost(p, p.roughness.weigh(0.001, 0.0, 0.0), n_rounds=200)[0].objective
        for p in (free, held)
    )
    assert best - 0.05 < least <= best + 1e-9


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    roughness=st.sampled_from(["bins", "curvature"]),
    amount=st.sampled_from([0.0, 1e-4, 1e-2]),
)
def test_the_objective_never_falls(seed, roughness, amount):
    problem = messy_problem(seed, SmoothSettings(roughness=roughness))
    penalty = problem.roughness.weigh(amount, amount, amount)
    point, outcome = boost(problem, penalty, n_rounds=60)
    assert np.diff([0.5, *outcome.objective]).min() > -1e-11
    assert np.isfinite(point.x).all()
    assert len(outcome.objective) == len(outcome.smoothed_auc) == len(outcome.rounds)
    assert outcome.stopped_by in ("n_estimators", "no stump has a slope")


def test_partitions_and_threads_do_not_show():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120_000, 4))  # enough rows for two threads
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=len(X)) > 0.5
    data = prepare(X, y, sample_weight=rng.integers(1, 4, size=len(X)), max_bins=32)
    expected = None
    for parts, n_jobs in [(1, 1), (1, 2), (3, 1), (3, 2)]:
        with Workers(n_jobs) as workers:
            problem = Problem(data.split(parts), SmoothSettings(), workers)
            point, outcome = boost(problem, problem.roughness.weigh(1e-5, 1e-5, 1e-5), n_rounds=8)
        result = point.x.tobytes(), point.objective, outcome.rounds
        expected = expected or result
        assert result == expected


@pytest.mark.parametrize("seed", range(4))
def test_weight_two_is_the_row_twice(seed):
    X, y = messy_table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    weight[:2] = 1
    copies = np.repeat(np.arange(len(y)), weight)
    results = []
    for data in (
        prepare(X, y, sample_weight=weight, categorical_features=[4]),
        prepare(X[copies], y[copies], categorical_features=[4]),
    ):
        problem = make_problem(data)
        point, outcome = boost(problem, problem.roughness.weigh(0.003, 0.0, 0.001), n_rounds=30)
        results.append((point.x.tobytes(), point.objective, outcome.rounds))
    assert results[0] == results[1]


@pytest.mark.parametrize("roughness", ["bins", "curvature"])
@pytest.mark.parametrize("seed", [0, 1])
def test_newton_climbs_as_high_as_many_rounds(seed, roughness):
    X, y, weight = make_table(seed, 50)
    data = prepare(X, y, sample_weight=weight, max_bins=12)
    problem = make_problem(data, SmoothSettings(roughness=roughness))
    penalty = problem.roughness.weigh(0.003, 0.001, 0.001)
    stagewise, _ = boost(problem, penalty, n_rounds=3000)
    newton, _ = problem.climb(penalty, patience=Patience(1e-10, 500))
    assert newton.objective >= stagewise.objective - 1e-9
    assert newton.objective == pytest.approx(stagewise.objective, abs=1e-3)


def test_separated_classes_without_a_penalty_stay_finite():
    X = np.arange(20.0)[:, None]
    problem = make_problem(prepare(X, X[:, 0] > 9))
    point, outcome = boost(problem, problem.roughness.weigh(0.0, 0.0, 0.0), n_rounds=50)
    assert [step.code for step in outcome.rounds] == [11]
    assert 6 < outcome.rounds[0].alpha <= 16
    assert outcome.stopped_by == "no stump has a slope"
    assert outcome.gain_left == 0.0
    assert point.smoothed_auc == pytest.approx(1.0)


def test_constants_have_no_slope():
    problem = make_problem(prepare(np.ones((6, 2)), [0, 1, 0, 1, 0, 1]))
    point, outcome = boost(problem, problem.roughness.weigh(0.01, 0.0, 0.0), n_rounds=5)
    assert (outcome.rounds, outcome.stopped_by) == ([], "no stump has a slope")
    assert not point.x.any()


def test_twins_the_first_of_equal_stumps_wins():
    X, y, weight = make_table(1, 40)
    problem = make_problem(prepare(X[:, [0, 0, 1, 1]], y, sample_weight=weight))
    _, outcome = boost(problem, problem.roughness.weigh(0.0, 0.0, 0.0), n_rounds=20)
    assert {step.feature for step in outcome.rounds} <= {0, 2}


def test_a_word_from_outside_stops_and_a_start_goes_on():
    problem = messy_problem(0)
    penalty = problem.roughness.weigh(0.003, 0.0, 0.001)
    points = []

    def after(point):
        points.append(point)
        return len(points) == 7

    half, first = boost(problem, penalty, n_rounds=20, after=after)
    assert first.stopped_by == "early stopping"
    assert [point.objective for point in points] == first.objective
    assert half is points[-1]
    whole, both = boost(problem, penalty, n_rounds=20)
    rest, second = boost(problem, penalty, n_rounds=13, start=half.x)
    assert first.rounds + second.rounds == both.rounds
    assert np.array_equal(rest.x, whole.x)
    nothing, none = boost(problem, penalty, n_rounds=0, start=half.x)
    assert nothing.objective == half.objective
    assert none == Rounds()


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.0, 0.3), (0.1, 0.5)])
@pytest.mark.parametrize("seed", range(2))
def test_a_region_of_false_positive_rates_is_climbed(seed, fpr_range):
    options = SmoothSettings(roughness="bins", fpr_range=fpr_range)
    problem, whole = messy_problem(seed, options), messy_problem(seed)
    penalty = problem.roughness.weigh(0.01, 0.0, 0.001)
    point, outcome = boost(problem, penalty, n_rounds=12)
    flat = sum(fpr_range) / 2
    assert (np.diff([flat, *outcome.objective]) > 0).all()
    assert len(outcome.rounds) == 12
    newton, _ = problem.climb(penalty)
    assert flat < point.objective <= newton.objective + 1e-6
    # What was climbed for the whole curve is not the top for the range.
    other, _ = boost(whole, penalty, n_rounds=20)
    before = Objective(problem.sums, (penalty,)).at(other.x)
    better, _ = boost(problem, penalty, n_rounds=5, start=other.x)
    assert better.objective > before.objective


@pytest.mark.parametrize("fpr_range", [(0.0, 0.2), (0.1, 0.5)])
def test_slopes_in_a_region_are_those_of_the_objective(fpr_range):
    X, y = messy_table(5, n_rows=24)  # every stump is tried
    data = prepare(X, y, categorical_features=[4])
    problem = make_problem(data, SmoothSettings(roughness="bins", fpr_range=fpr_range))
    penalty = problem.roughness.weigh(0.01, 0.0, 0.001)
    objective = Objective(problem.sums, (penalty,))
    for n_rounds in (0, 1, 2):
        start, _ = boost(problem, penalty, n_rounds=n_rounds)
        _, following = boost(problem, penalty, n_rounds=1, start=start.x)
        step, tiny = following.rounds[0], 1e-4
        gains = [
            objective.at(start.x + tiny * steps.ravel()).objective
            - objective.at(start.x - tiny * steps.ravel()).objective
            for _, steps in every_stump(problem)
        ]
        assert step.slope == pytest.approx(max(gains) / (2 * tiny), abs=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_the_length_of_a_step_in_a_region_is_near_the_top(seed):
    """The search evaluates the objective, so alpha is only near the maximum."""
    problem = messy_problem(seed, SmoothSettings(roughness="bins", fpr_range=(0.0, 0.3)))
    penalty = problem.roughness.weigh(0.01, 0.0, 0.001)
    objective, x = Objective(problem.sums, (penalty,)), np.zeros(np.prod(penalty.shape))
    for _ in range(5):
        before = objective.at(x).objective
        point, outcome = boost(problem, penalty, n_rounds=1, start=x)
        (step,) = outcome.rounds
        steps = np.zeros(penalty.shape)
        steps[step.feature] = steps_of(problem, step)
        gains = [
            objective.at(x + fraction * step.alpha * steps.ravel()).objective - before
            for fraction in (0.25, 0.5, 0.75, 1.25, 1.5, 2.0, 3.0)
        ]
        assert point.objective - before > 0.9 * max(gains)
        x = point.x


def test_the_whole_range_of_a_region_climbs_as_high_as_none():
    """By evaluations or by derivatives: step lengths differ a little, maxima do not."""
    settings = [SmoothSettings(roughness="bins", fpr_range=r) for r in (None, (0.0, 1.0))]
    outcome = []
    for options in settings:
        problem = messy_problem(1, options)
        penalty = problem.roughness.weigh(0.01, 0.0, 0.001)
        outcome.append(boost(problem, penalty, n_rounds=25)[0].objective)
    assert outcome[0] == pytest.approx(outcome[1], abs=5e-3)


@pytest.mark.parametrize("n_nodes", [8, 700, 1500])
def test_densities_of_differences(n_nodes):
    """Far grids are cut off where phi is 0, whichever convolution made them."""
    rng = np.random.default_rng(n_nodes)
    positive, negative = rng.random((2, n_nodes))
    density = differences_of_scores(positive, negative)
    middle = min(n_nodes - 1, 400)
    assert len(density) == 2 * middle + 1
    for i in range(0, len(density), 97):
        shift = i - middle
        a, b = positive[max(shift, 0) :], negative[max(-shift, 0) :]
        size = min(len(a), len(b))
        assert density[i] == pytest.approx((a[:size] * b[:size]).sum(), rel=1e-9)


def test_rows_are_spread_by_their_side():
    rng = np.random.default_rng(0)
    scores, weight = 3 * rng.random(50), rng.integers(1, 5, size=50).astype(np.uint32)
    codes, is_inside = rng.integers(0, 4, size=50).astype(np.uint8), np.array([0, 1, 0, 1]) == 1
    outcome = np.zeros((2, 60), dtype=np.int64)
    deposit_sides(codes, is_inside, scores, weight, 5, 45, 0.0, 16.0, 2.0**40, outcome)
    for side in (0, 1):
        expected, alone = np.zeros(60, dtype=np.int64), weight * (is_inside[codes] == side)
        deposit(scores, alone.astype(np.uint32), 5, 45, 0.0, 16.0, 2.0**40, expected)
        assert np.array_equal(outcome[side], expected)
