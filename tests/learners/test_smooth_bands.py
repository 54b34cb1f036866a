"""Bootstrap bands of the score functions of SmoothAUCBoost."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from threadpoolctl import threadpool_info, threadpool_limits

from auctor.data import Workers, prepare
from auctor.learners.common.finish import codes_in
from auctor.learners.smooth.bands import score_bands
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.near_maximum import step_inside
from auctor.learners.smooth.one_step import OneStep
from auctor.learners.smooth.refits import draw_rows, drop_empty_bins, recode, steps_by_code
from auctor.learners.smooth.settings import SmoothSettings
from auctor.testing.contracts import messy_table

SETTINGS = SmoothSettings(tol=1e-5)


def rows(n=150, seed=0):
    """One feature that bends, one of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] ** 2 + rng.normal(size=n) > 1


def messy():
    X, y = messy_table(2, n_rows=120)
    return prepare(X, y, categorical_features=[4])


def test_draws_are_whole_multiples_of_the_weights_within_each_class():
    X, y = rows(60)
    weight = np.arange(1.0, 61.0)
    data = prepare(X, y, sample_weight=weight)
    drawn = draw_rows(data, np.random.default_rng(1))
    times = np.zeros(60)
    for part in drawn.partitions:
        times[part.rows] = part.weight / weight[part.rows]
    assert np.array_equal(times, np.rint(times))
    assert times[y].sum() == y.sum() and times[~y].sum() == (~y).sum()
    assert drawn.n_rows == (times > 0).sum() < 60


def test_blas_has_no_threads_of_its_own_beside_the_resamples(monkeypatch):
    threads, drawn = set(), OneStep.drawn

    def spy(self, seed):
        libraries = threadpool_info()
        threads.update(lib["num_threads"] for lib in libraries if lib["user_api"] == "blas")
        return drawn(self, seed)

    monkeypatch.setattr(OneStep, "drawn", spy)
    with threadpool_limits(2, user_api="blas"):
        score_bands(prepare(*rows(60), max_bins=8), SETTINGS, n_resamples=2, n_jobs=2)
    assert threads == {1}


def test_a_draw_does_not_depend_on_partitions():
    data = messy()
    whole = draw_rows(data, np.random.default_rng(4))
    cut = draw_rows(data.split(3), np.random.default_rng(4))
    weights = [np.zeros(data.n_rows, dtype=int) for _ in range(2)]
    for drawn, weight in zip((whole, cut), weights, strict=True):
        for part in drawn.partitions:
            weight[part.rows] = part.weight
    assert np.array_equal(*weights)


def test_weights_of_31_bits_leave_bits_for_draws():
    X, y = rows(40)
    weight = np.full(40, 2.0**31 - 1)
    data = prepare(X, y, sample_weight=weight, frequency_weights=True)
    drawn = draw_rows(data, np.random.default_rng(0))
    assert drawn.effective_rows == pytest.approx(data.effective_rows, rel=1e-6)


@pytest.mark.parametrize(
    "weight", [None, np.random.default_rng(0).lognormal(size=200)], ids=["no weights", "weights"]
)
def test_a_draw_stands_for_as_many_rows(weight):
    X, y = rows(200)
    data = prepare(X, y, sample_weight=weight)
    drawn = draw_rows(data, np.random.default_rng(0))
    assert drawn.row_units == data.row_units


def test_a_resample_has_no_empty_bins_and_codes_of_the_nearest():
    data = messy()
    drawn = drop_empty_bins(draw_rows(data, np.random.default_rng(0)))
    codes = np.concatenate([part.codes for part in drawn.data.partitions], axis=1)
    for j, feature in enumerate(drawn.data.features):
        if not feature.is_category:
            assert set(range(1, feature.n_bins + 1)) <= set(codes[j].tolist())
            # the centre of each old bin lies in its new bin
            code = 1 + np.searchsorted(feature.cuts, data.features[j].centres)
            assert np.array_equal(drawn.new_code[j, 1 : data.features[j].n_bins + 1], code)
    # rows keep their order: a row of the resample has the recoded code of its own
    whole = recode(data, drawn).partitions[0]
    part = drawn.data.partitions[0]
    at = np.argsort(whole.rows)[np.searchsorted(np.sort(whole.rows), part.rows)]
    assert np.array_equal(part.codes, whole.codes[:, at])


def test_tables_are_those_of_the_fit_and_centred():
    data = messy()
    bands = score_bands(data, SmoothSettings(), n_resamples=4)
    model, _, _ = fit_smooth(data, SmoothSettings())
    tables = steps_by_code(model, data)
    # 0 is the class-balanced mean of what each feature adds
    part = data.partitions[0]
    weight = np.where(part.positive, 0.5 / data.n_pos, 0.5 / data.n_neg)
    averages = [weight @ tables[j][part.codes[j]] for j in range(data.n_features)]
    for j, band in enumerate(bands):
        n_codes = band.feature.n_bins + 1
        assert np.allclose(band.table, tables[j, :n_codes] - averages[j], atol=1e-8)


def test_bands_are_around_the_table_and_missing_where_no_row_is():
    data = messy()
    bands = score_bands(data, SETTINGS, n_resamples=12)
    assert len(bands) == 5 and bands["x1"] is bands[1]
    for j, band in enumerate(bands):
        filled = np.isin(np.arange(len(band.table)), data.partitions[0].codes[j])
        assert np.array_equal(np.isnan(band.low), ~filled)
        inner = (band.simultaneous_low, band.low, band.table, band.high, band.simultaneous_high)
        for below, above in pairwise(inner):
            assert (below[filled] <= above[filled]).all()
    assert (bands["x3"].standard_error[1:] < 1e-6).all()  # a constant


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        replace(SETTINGS, signs=(1, 0)),
        replace(SETTINGS, roughness="bins", adaptive=False),
        replace(SETTINGS, fpr_range=(0.0, 0.5)),
    ],
    ids=["plain", "monotone", "bins", "partial"],
)
def test_any_number_of_threads_gives_the_same_bits(settings):
    X, y = rows(80)
    data = prepare(X, y)
    one, two = (
        score_bands(data, settings, n_resamples=6, n_jobs=n, random_state=3) for n in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a.simultaneous_high, b.simultaneous_high, equal_nan=True)
    other = score_bands(data, settings, n_resamples=6, random_state=4)
    assert not np.array_equal(one[0].high, other[0].high, equal_nan=True)


def test_early_stopping_is_part_of_a_refit():
    X, y = rows(200)
    data = prepare(X, y)
    chosen = np.arange(200) % 4 == 0
    train, held_out = data.take(~chosen), data.take(chosen)
    settings = replace(SETTINGS, n_iter_no_change=2)
    bands = score_bands(train, settings, validation=held_out, n_resamples=5)
    tables = steps_by_code(fit_smooth(train, settings, held_out)[0], train)
    wide = np.ptp(tables[0, 1:])
    assert np.ptp(bands[0].table[1:]) == pytest.approx(wide, abs=1e-6)
    assert np.nanmax(bands[0].standard_error) > 0


def test_the_simultaneous_band_of_a_noise_feature_covers_zero():
    covered = pointwise = 0
    for seed in range(10):
        X, y = rows(120, seed)
        band = score_bands(prepare(X, y, max_bins=12), SETTINGS, n_resamples=20)[1]
        low, high = band.simultaneous_low[1:], band.simultaneous_high[1:]
        covered += bool(((low <= 0) & (high >= 0)).all())
        pointwise += float(((band.low[1:] <= 0) & (band.high[1:] >= 0)).mean())
    assert covered >= 8
    assert 0.8 <= pointwise / 10 <= 1.0


def test_the_band_of_a_bent_feature_does_not_hold_a_flat_line():
    X, y = rows(300)
    band = score_bands(prepare(X, y, max_bins=20), SETTINGS, n_resamples=30)[0]
    assert np.nanmax(band.simultaneous_low) > np.nanmin(band.simultaneous_high)


def test_bands_narrow_as_rows_grow():
    errors = []
    for n in (100, 1600):
        X, y = rows(n)
        band = score_bands(prepare(X, y, max_bins=12), SETTINGS, n_resamples=20)[0]
        errors.append(float(np.nanmedian(band.standard_error)) / float(np.ptp(band.table)))
    assert errors[1] < 0.6 * errors[0]


def test_codes_of_coarser_bins():
    data = prepare(np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1])
    fine = data.features[0]
    coarse = replace(fine, cuts=fine.cuts[[1, 3]])
    assert codes_in(fine, coarse).tolist() == [0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_resamples": 1}, "n_resamples is 1; give a whole number of at least 2"),
        ({"level": 1.0}, "level is 1.0; give a number between 0 and 1"),
    ],
)
def test_requests_are_checked(options, words):
    X, y = rows(20)
    with pytest.raises(ValueError, match=words):
        score_bands(prepare(X, y), SETTINGS, **options)


def test_bands_by_name_and_position():
    X, y = rows(40)
    bands = score_bands(prepare(X, y), SETTINGS, n_resamples=2)
    assert bands["x1"] is bands[1]
    with pytest.raises(KeyError, match="no feature 'zz'; give one of 'x0', 'x1'"):
        bands["zz"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "high"}, "level is 'high'; give a number between 0 and 1"),
        ({"level": True}, "level is True"),
        ({"level": float("nan")}, "level is nan"),
        ({"n_resamples": 2.5}, "n_resamples is 2.5; give a whole number"),
        ({"random_state": 1.5}, "random_state is 1.5; give a whole number of at least 0"),
        ({"random_state": np.random.RandomState(0)}, "random_state is RandomState"),
    ],
)
def test_requests_of_wrong_type(options, words):
    X, y = rows(20)
    with pytest.raises(ValueError, match=words):
        score_bands(prepare(X, y), SETTINGS, **options)


@pytest.fixture(scope="module")
def data():
    X, y = rows(600, seed=1)
    return prepare(X, y, max_bins=20)


class TestOneStep:
    """One Newton step for each resample, compared with refits."""

    @pytest.mark.parametrize(
        "settings",
        [
            SETTINGS,
            replace(SETTINGS, adaptive=False),
            replace(SETTINGS, fpr_range=(0.0, 0.5)),
        ],
        ids=["adaptive", "plain", "partial"],
    )
    def test_errors_are_those_of_refits(self, data, settings):
        one, refit = (
            score_bands(data, settings, method=method, n_resamples=60)
            for method in ("one-step", "refit")
        )
        for a, b in zip(one, refit, strict=True):
            assert np.allclose(a.table, b.table, atol=1e-3)
            sizes = [np.sqrt(np.nanmean(band.standard_error**2)) for band in (a, b)]
            assert sizes[0] == pytest.approx(sizes[1], rel=0.3)

    def test_surfaces_are_part_of_the_fit(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 2))
        data = prepare(X, X[:, 0] * X[:, 1] + rng.normal(size=400) > 0, max_bins=12)
        settings = replace(SETTINGS, interactions=1)
        model, history, _ = fit_smooth(data, settings)
        assert history.pairs == [(0, 1)]
        bands = score_bands(data, settings, n_resamples=5)
        for j, steps in enumerate(steps_by_code(model, data)):
            own = bands[j].table
            assert np.ptp((steps[: len(own)] - own)[1:]) < 1e-3
            assert np.nanmin(bands[j].standard_error[1:]) > 0

    def test_some_rows_stand_for_all_rows(self, monkeypatch):
        X, y = rows(4000, seed=2)
        data = prepare(X, y, max_bins=12)
        every = score_bands(data, SETTINGS, n_resamples=60)
        monkeypatch.setattr("auctor.learners.smooth.one_step._MOST_ROWS", 700)
        some = score_bands(data, SETTINGS, n_resamples=60)
        for a, b in zip(some, every, strict=True):
            assert np.allclose(a.table, b.table, atol=0.02)  # that of all rows in both cases
            sizes = [np.sqrt(np.nanmean(band.standard_error**2)) for band in (a, b)]
            assert sizes[0] == pytest.approx(sizes[1], rel=0.3)

    def test_only_the_features_asked_for_are_computed(self, data):
        both = score_bands(data, SETTINGS, n_resamples=4)
        one = score_bands(data, SETTINGS, n_resamples=4, features=[1])
        assert [band.feature.name for band in one] == ["x1"]
        assert np.array_equal(one["x1"].high, both["x1"].high, equal_nan=True)

    def test_monotone_features_stay_monotone_and_have_the_errors_of_refits(self, data):
        settings = replace(SETTINGS, signs=(1, 1))  # x0 is bent and must be flat in places
        source = OneStep(data, settings, np.random.SeedSequence(0), Workers(1))
        drawn = [source.drawn(seed) for seed in np.random.SeedSequence(1).spawn(8)]
        for j, feature in enumerate(data.features):
            steps = np.diff(np.array(drawn)[:, j, 1 : feature.n_bins + 1], axis=1)
            assert steps.min() > -1e-6 and steps.max() > 0.01
        usual = replace(SETTINGS, signs=(0, 1))
        one, refit = (
            score_bands(data, usual, method=method, n_resamples=40)
            for method in ("one-step", "refit")
        )
        for a, b in zip(one, refit, strict=True):
            sizes = [np.sqrt(np.nanmean(band.standard_error**2)) for band in (a, b)]
            assert sizes[0] == pytest.approx(sizes[1], rel=0.3)

    def test_steps_inside_bounds_are_those_of_a_general_solver(self):
        rng = np.random.default_rng(0)
        for _ in range(5):
            root, moves, left = rng.normal(size=(4, 4)), rng.normal(size=(9, 4)), rng.random(9)
            curvature, free = root @ root.T + 0.1 * np.eye(4), rng.normal(size=4) * 3
            away = lambda d, c=curvature, f=free: (d - f) @ c @ (d - f)  # noqa: E731
            inside = {"type": "ineq", "fun": lambda d, m=moves, a=left: a + m @ d}
            best = minimize(away, np.zeros(4), constraints=inside, tol=1e-12, method="SLSQP")
            assert np.allclose(step_inside(free, curvature, moves, left), best.x, atol=1e-4)

    @pytest.mark.parametrize("settings", [SmoothSettings(solver="stagewise", n_estimators=5)])
    def test_fits_that_end_elsewhere_are_refitted(self, data, settings):
        one, refit = (
            score_bands(data, settings, method=method, n_resamples=3)
            for method in ("one-step", "refit")
        )
        assert np.array_equal(one[0].high, refit[0].high, equal_nan=True)

    def test_a_method_that_is_not_there(self, data):
        with pytest.raises(ValueError, match="method is 'normal'; give 'one-step' or 'refit'"):
            score_bands(data, SETTINGS, method="normal")
