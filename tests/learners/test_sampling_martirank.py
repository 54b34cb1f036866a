"""SMartiRank against the slow version, and the estimates that its rules stand on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor import SamplingMartiRank
from auctor.data import prepare
from auctor.exceptions import OracleError
from auctor.learners.martirank.noise import corrected, draws_for_rate, has_enough, variance
from auctor.learners.martirank.oracle_stream import OracleStream
from auctor.learners.martirank.sampling import fit_sampling_martirank
from auctor.learners.martirank.sampling_settings import SamplingMartiRankSettings
from auctor.learners.martirank.table_stream import TableStream
from auctor.testing.contracts import messy_table, same_model
from tests.reference.sampling import SlowRule, clean_rate, sampling_layers


class Recorder:
    """A stream that remembers what it handed out, in the order of the draws."""

    def __init__(self, stream):
        self._stream = stream
        self.parts = []

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def start(self, n_rows, limit):
        data = self._stream.start(n_rows, limit)
        self.parts += data.partitions
        self.features = data.features
        return data

    def draw(self, n_rows):
        self.parts.append(self._stream.draw(n_rows))
        return self.parts[-1]

    def rows(self):
        """Codes (rows, features) and classes of all draws."""
        order = np.argsort(np.concatenate([part.rows for part in self.parts]))
        codes = np.concatenate([part.codes.T for part in self.parts])[order]
        return codes.astype(int), np.concatenate([part.positive for part in self.parts])[order]


@pytest.mark.parametrize("noise_rate", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_every_node_equals_the_slow_version(seed, noise_rate):
    X, y = messy_table(seed, n_rows=300)
    # Few codes: the slow version knows only those that were drawn.
    data = prepare(X, y, max_bins=4, categorical_features=[4])
    stream = Recorder(TableStream(data, np.random.default_rng(seed)))
    settings = SamplingMartiRankSettings(
        n_layers=5,
        noise_rate=noise_rate,
        min_samples_leaf=20,
        max_draws=600,
        batch_size=200,
        sample_size=400,
        target_error=0.9,
        seed=11,
    )
    _, history, _ = fit_sampling_martirank(stream, settings)
    codes, positive = stream.rows()
    is_category = np.array([feature.is_category for feature in data.features])
    rule = SlowRule(20, settings.least_fraction, noise_rate)
    slow = sampling_layers(codes, positive, history.draws, is_category, rule, 11)
    n_live = 0
    for layer, slow_layer in zip(history.layers, slow, strict=True):
        for node, other in zip(layer, slow_layer, strict=True):
            assert node.weight_pos == positive[other.draws].sum()
            assert node.weight_neg == (~positive[other.draws]).sum()
            assert (node.feature, node.label) == (other.feature, other.label)
            n_live += node.feature >= 0
            for code, chance in other.right.items():
                assert node.right[code] == pytest.approx(chance, abs=1e-12)
    assert n_live > 5
    assert stream.n_draws == history.n_draws == len(codes) == sum(history.draws) + 2 * 400


@pytest.mark.parametrize("noise_rate", [0.0, 0.15, 0.4])
def test_corrected_counts_are_right_on_average_and_so_is_their_spread(noise_rate):
    rng = np.random.default_rng(0)
    n, reach, fraction, times = 2000, 0.3, 0.2, 4000
    here = rng.binomial(n, reach, size=times)
    truly = rng.binomial(here, fraction)
    kept, turned = rng.binomial(truly, 1 - noise_rate), rng.binomial(here - truly, noise_rate)
    counts = np.array([here - kept - turned, kept + turned])
    estimate = corrected(counts, noise_rate)
    expected = n * reach * np.array([1 - fraction, fraction])
    spread = estimate.std(axis=1)
    assert estimate.mean(axis=1) == pytest.approx(expected, abs=5 * spread.max() / np.sqrt(times))
    # Counts of draws vary a little less than the formula, which takes them for Poisson.
    ratio = np.sqrt(variance(counts, noise_rate).mean(axis=1)) / spread
    assert ((ratio > 0.97) & (ratio < 1.25)).all()


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 0.49), st.floats(1, 1000))
def test_corrected_counts_are_the_formula_of_the_paper(n_neg, n_pos, noise_rate, min_class):
    counts = np.array([[n_neg], [n_pos]])
    estimate = corrected(counts, noise_rate)[:, 0]
    assert estimate.sum() == pytest.approx(n_neg + n_pos)
    if n_neg + n_pos:
        by_paper = (n_neg + n_pos) * clean_rate(n_pos, n_neg, noise_rate)
        assert estimate[1] == pytest.approx(by_paper, abs=1e-6 * (n_neg + n_pos))
    # Noise never makes fewer rows do, and without it rows are what counts.
    enough = bool(has_enough(counts, noise_rate, min_class)[0])
    assert not enough or min(estimate) >= min_class * (1 - 1e-9)
    if noise_rate == 0:
        assert enough == (min(n_neg, n_pos) >= min_class)


def test_guess_and_halve_asks_for_more_draws_the_scarcer_the_class():
    assert draws_for_rate(np.array([500, 500]), 0.0) == pytest.approx(100)
    needed = [draws_for_rate(np.array([10_000 - k, k]), 0.0) for k in (5000, 1000, 100, 10)]
    assert needed == sorted(needed)
    # The guess is at most the rate and more than half of it, known to a tenth or better.
    for k in (10, 77, 300, 2600):
        fraction = k / 10_000
        error = np.sqrt(fraction * (1 - fraction) / draws_for_rate(np.array([10_000 - k, k]), 0.0))
        assert error < fraction / 7
    assert draws_for_rate(np.array([600, 400]), 0.3) > draws_for_rate(np.array([600, 400]), 0.0)


def test_noise_asks_for_more_rows():
    # 50 of 1000 rows seem to be negative, but with a standard error of 37.
    counts = np.array([[320], [680]])
    assert corrected(counts, 0.3)[0] == pytest.approx(50)
    assert not has_enough(counts, 0.3, 10)[0]
    assert has_enough(counts * 10, 0.3, 10)[0]


def test_the_fraction_of_a_frozen_node_is_that_of_the_paper():
    assert SamplingMartiRankSettings(n_layers=40, target_error=0.1).least_fraction == pytest.approx(
        0.1 / (4 * 40 * 41)
    )


@pytest.mark.parametrize("given", [None, 0.002])
def test_the_rate_of_a_rare_class_is_found_by_guess_and_halve(given):
    def draw(n, rng):
        y = rng.random(n) < 0.002
        return (rng.normal(size=n) + y)[:, None], y

    settings = SamplingMartiRankSettings(
        n_layers=1,
        noise_rate=0.0,
        positive_rate=given,
        min_samples_leaf=1,
        max_draws=200_000,
        sample_size=2000,
        batch_size=2000,
    )
    stream = OracleStream(draw, np.random.default_rng(0))
    _, history, _ = fit_sampling_martirank(stream, settings)
    if given is None:
        assert 30_000 < history.draws[0] < 120_000  # 100 / guess, for a guess of 1 in 512 or so
        assert history.positive_rate == pytest.approx(0.002, rel=0.3)
    else:
        assert history.draws[0] < 10_000
        assert history.positive_rate == 0.002


def majority(noise=0.0, seed=0):
    """Majority of five boolean features."""

    def draw(n, rng):
        X = rng.integers(0, 2, size=(n, 5)).astype(float)
        return X, (X.sum(axis=1) >= 3) ^ (rng.random(n) < noise)

    return OracleStream(draw, np.random.default_rng(seed))


def test_without_a_cap_nodes_are_frozen_by_the_rule_and_nothing_else():
    settings = SamplingMartiRankSettings(
        n_layers=7, target_error=0.5, noise_rate=0.0, max_draws=None, min_samples_leaf=5
    )
    _, history, certificate = fit_sampling_martirank(majority(), settings)
    assert history.frozen
    for node in history.frozen:
        assert node.why == "rare"
        assert min(node.fraction_neg, node.fraction_pos) <= settings.least_fraction
        assert node.label == (1 if node.fraction_neg < node.fraction_pos else -1)
        assert history.layers[node.layer - 1][node.node].label == node.label
    live = [node for layer in history.layers for node in layer if node.feature >= 0]
    assert all(min(node.weight_neg, node.weight_pos) >= 5 for node in live)
    # By the proof of Theorem 9 the scarce class of each frozen node adds up to epsilon / 2.
    lost = sum(min(node.fraction_neg, node.fraction_pos) for node in history.frozen)
    assert lost <= settings.target_error / 2
    assert certificate.values["n_short"] == 0


def test_without_a_cap_a_layer_ends_at_the_bound_of_the_paper():
    settings = SamplingMartiRankSettings(
        n_layers=5,
        target_error=0.9,
        noise_rate=0.2,
        positive_rate=0.5,
        max_draws=None,
        min_samples_leaf=3,
    )
    _, history, _ = fit_sampling_martirank(majority(0.2), settings)
    bound = int(np.ceil(2 * 3 / (settings.least_fraction * 0.5 * 0.6**2)))
    assert max(history.draws[1:]) == bound  # the first layer has the first sample, 20,000


def test_max_draws_is_kept_and_what_is_short_then_is_frozen_and_said():
    settings = SamplingMartiRankSettings(
        n_layers=6,
        noise_rate=0.0,
        max_draws=700,
        batch_size=300,
        sample_size=500,
        min_samples_leaf=20,
    )
    _, history, certificate = fit_sampling_martirank(majority(), settings)
    assert max(history.draws) == 700
    assert certificate.values["n_short"] == sum(node.why == "short" for node in history.frozen) > 0
    assert certificate.values["n_frozen"] == history.n_frozen
    assert f"{history.n_draws:,} draws" in certificate.statement


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_errors_in_the_certificate_are_those_of_the_vote_on_clean_labels(noise):
    def draw(n, rng, noise=noise):
        X = rng.integers(0, 2, size=(n, 5)).astype(float)
        y = X.sum(axis=1) >= 3
        return X, y ^ (rng.random(n) < noise)

    settings = SamplingMartiRankSettings(
        n_layers=12, noise_rate=noise, max_draws=8000, output="majority"
    )
    stream = OracleStream(draw, np.random.default_rng(0))
    model, _, certificate = fit_sampling_martirank(stream, settings)
    X, y = draw(40_000, np.random.default_rng(9), noise=0.0)
    chance = model.decision_function(X) - model.intercept  # of a vote for the positive class
    values = certificate.values
    width = values["error_pos_high"] - values["error_pos_low"]
    assert values["error_pos"] == pytest.approx((1 - chance[y]).mean(), abs=width)
    assert values["error_neg"] == pytest.approx(chance[~y].mean(), abs=width)
    assert values["error_pos_low"] <= values["error_pos"] <= values["error_pos_high"]
    assert values["auc"] == 1 - (values["error_pos"] + values["error_neg"]) / 2


def test_a_vote_without_a_label_is_that_of_the_fair_coins_still_to_come():
    # Nothing is left to learn at node 0 of layer 2: the first feature was all there is there.
    def draw(n, rng):
        X = rng.integers(0, 2, size=(n, 2)).astype(float)
        X[X[:, 0] == 0, 1] = 0.0
        chance = np.where(X[:, 0] == 0, 0.3, 0.5 + 0.4 * X[:, 1])
        return X, rng.random(n) < chance

    settings = SamplingMartiRankSettings(
        n_layers=5, noise_rate=0.0, max_draws=20_000, output="majority"
    )
    stream = OracleStream(draw, np.random.default_rng(0))
    model, history, certificate = fit_sampling_martirank(stream, settings)
    without = [node for node in history.frozen if node.label == 0]
    assert any(node.node != (node.layer - 1) / 2 for node in without)  # not half by symmetry
    X, y = draw(50_000, np.random.default_rng(9))
    chance = model.decision_function(X) - model.intercept
    values = certificate.values
    assert values["error_pos"] == pytest.approx((1 - chance[y]).mean(), abs=0.015)
    assert values["error_neg"] == pytest.approx(chance[~y].mean(), abs=0.015)


@pytest.mark.parametrize("noise_rate", [0.0, 0.004])
def test_a_class_that_is_not_in_the_last_sample_has_no_error(noise_rate):
    def draw(n, rng):
        y = (rng.random(n) < 0.004) ^ (rng.random(n) < noise_rate)
        return (rng.normal(size=n) + 2 * y)[:, None], y

    settings = SamplingMartiRankSettings(
        n_layers=2,
        noise_rate=noise_rate,
        min_samples_leaf=2,
        sample_size=2000,
        max_draws=5000,
        positive_rate=0.004,
    )

    class Last(Recorder):
        """The positives of the last draw are made negative."""

        def draw(self, n_rows):
            part = super().draw(n_rows)
            is_last = len(self.parts) == self.last
            return replace(part, n_pos=0) if is_last else part

    def fit(last):
        stream = Last(OracleStream(draw, np.random.default_rng(0)))
        stream.last = last
        return fit_sampling_martirank(stream, settings)[2], len(stream.parts)

    certificate, n_parts = fit(-1)
    assert np.isfinite(certificate.values["error_pos"])
    certificate, _ = fit(n_parts)
    values = certificate.values
    names = ("error_pos", "error_pos_low", "error_pos_high", "frozen_pos", "auc")
    assert all(np.isnan(values[name]) for name in names)
    assert np.isfinite(values["error_neg"])
    assert "of the positives and" not in certificate.statement
    assert "The error rate of the positives is unknown, because the sample of 2,000 has none." in (
        certificate.statement
    )
    assert "not shown that both error rates are at most target_error" in certificate.statement


@pytest.mark.parametrize("weak", ["feature", "stump"])
def test_threads_and_seeds(weak):
    X, y = messy_table(1, n_rows=300)
    data = prepare(X, y, categorical_features=[4])

    def fit(seed, n_jobs):
        settings = SamplingMartiRankSettings(
            estimator=weak, n_layers=5, max_draws=2000, sample_size=1000, seed=seed, n_jobs=n_jobs
        )
        return fit_sampling_martirank(TableStream(data, np.random.default_rng(seed)), settings)[0]

    assert same_model(fit(0, 1), fit(0, 2))
    assert not same_model(fit(0, 1), fit(1, 1))


def test_rows_of_a_table_are_drawn_in_proportion_to_their_weights():
    data = prepare([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=[1, 2, 5])
    stream = TableStream(data, np.random.default_rng(0))
    part = stream.draw(8000)
    fractions = np.bincount(part.codes[0], minlength=4)[1:] / 8000
    assert fractions == pytest.approx([1 / 8, 2 / 8, 5 / 8], abs=0.02)
    assert (part.codes[0][: part.n_pos] > 1).all()
    assert sorted(part.rows) == list(range(8000))
    assert stream.draw(5).rows.min() == 8000


def test_a_table_with_a_rare_class_is_drawn_until_it_shows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = np.arange(20_000) < 6
    for seed in range(3):
        ranker = SamplingMartiRank(n_layers=2, sample_size=1000, max_draws=5000, random_state=seed)
        assert np.isfinite(ranker.fit(X, y).decision_function(X[:5])).all()


def test_a_class_without_weight_in_a_table_is_not_waited_for_without_end():
    X = np.arange(40.0)[:, None]
    y = np.arange(40) == 7
    ranker = SamplingMartiRank(n_layers=2, sample_size=30_000, max_draws=5500)
    with pytest.raises(
        OracleError,
        match=r"draws from the table gave only one class \(False\), because the other one has "
        r"2.6e-08 of the weight \(after 1,500,000 draws, before layer 1\); no layer .* more weight",
    ):
        ranker.fit(X, y, sample_weight=np.where(y, 1e-6, 1.0))
    assert ranker.n_draws_ == 1_500_000


def test_draws_of_a_table_that_were_dropped_are_counted():
    data = prepare(np.arange(2000.0)[:, None], np.arange(2000) == 5)
    stream = TableStream(data, np.random.default_rng(3))
    first = stream.start(100, 10**6).partitions[0]
    assert stream.skipped[0] > 0 == stream.skipped[1]
    assert stream.skipped.sum() + first.n_rows == stream.n_draws == first.rows.max() + 1


def test_a_program_without_a_trained_node_says_why():
    def fit(X, y, **changes):
        stream = TableStream(prepare(X, y), np.random.default_rng(0))
        settings = SamplingMartiRankSettings(
            n_layers=2, noise_rate=0.0, max_draws=500, sample_size=500, **changes
        )
        return fit_sampling_martirank(stream, settings)

    y = np.arange(60) % 2
    model, _, certificate = fit(np.ones((60, 2)), y)
    assert certificate.statement == (
        "No node was trained, and all rows have the same score: no ranker is better than chance."
    )
    assert np.ptp(model.decision_function(np.eye(2))) == 0
    _, _, certificate = fit(np.arange(60.0)[:, None], y, min_samples_leaf=400)
    assert "the same score: a class has fewer than min_samples_leaf rows" in certificate.statement
