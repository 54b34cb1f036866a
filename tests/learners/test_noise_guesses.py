"""Estimates of the noise rate by several programs on the same draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from auctor.data import prepare
from auctor.datasets import make_r_of_k
from auctor.exceptions import OracleError
from auctor.learners.martirank.noise_guesses import NoiseGuesses, rate_bound
from auctor.learners.martirank.oracle_stream import OracleStream
from auctor.learners.martirank.sampling import fit_sampling_martirank
from auctor.learners.martirank.sampling_settings import SamplingMartiRankSettings
from auctor.learners.martirank.table_stream import TableStream


def slow_bound(counts):
    """The least rate under which so few of a label come with chance 1e-6, by a search."""
    n_nodes = counts.shape[1]
    pieces = [[i] for i in range(n_nodes)] + [range(i) for i in range(1, n_nodes + 1)]
    pieces += [range(i, n_nodes) for i in range(n_nodes)]
    best, fraction = 0.5, 0.5
    for piece in pieces:
        labels = counts[:, list(piece)].sum(axis=1)
        low, high = 0.0, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            is_refuted = binom.cdf(labels.min(), labels.sum(), middle) < 1e-6
            low, high = (low, middle) if is_refuted else (middle, high)
        if labels.sum() and low < best:
            best, fraction = low, labels.min() / labels.sum()
    return best, fraction


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), min_size=1, max_size=4))
def test_the_bound_is_the_largest_rate_that_no_nodes_refute(pairs):
    counts = np.array(pairs).T
    bound, fraction = rate_bound(counts)
    expected, _ = slow_bound(counts)
    assert bound == pytest.approx(expected, abs=1e-6)
    assert fraction <= bound or bound == 0.5


def test_nodes_are_pooled_from_either_end():
    counts = np.full((2, 5), 10_000)
    counts[1, :3] = 0
    counts[0, :3] = 30  # 14 in 30 would each of them allow for
    bound, fraction = rate_bound(counts)
    assert fraction == 0
    assert bound < 0.15


def make_stream(noise, **changes):
    """The stream of a majority distribution with noise."""
    settings = {"n_features": 9, "k": 5, "r": 3, **changes}

    def draw(n, rng):
        return make_r_of_k(n, noise=noise, random_state=rng, **settings)

    return OracleStream(draw, np.random.default_rng(0))


SETTINGS = SamplingMartiRankSettings(n_layers=15, max_draws=20_000, sample_size=10_000)


@pytest.mark.parametrize("fraction", [0.5, 0.7])
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.3, 0.4])
def test_the_guess_comes_near_the_truth(noise, fraction):
    _, history, certificate = fit_sampling_martirank(
        make_stream(noise, positive_fraction=fraction), SETTINGS
    )
    assert history.noise_rate == pytest.approx(noise, abs=0.03)
    assert history.guesses[history.noise_rate] is not None
    assert history.positive_rate == pytest.approx(fraction, abs=0.08)
    assert "a guess whose error is not part of the intervals" in certificate.statement


def test_what_the_nodes_contradict_is_refuted_and_no_more_than_four_are_left():
    _, history, _ = fit_sampling_martirank(make_stream(0.1), SETTINGS)
    assert len(history.guesses) > 4
    left = [guess for guess, auc in history.guesses.items() if auc is not None]
    assert 0.0 in left
    assert len(left) <= 4
    assert all(history.guesses[guess] is None for guess in history.guesses if guess > 0.15)


def test_rates_below_a_rare_label_are_distinguished():
    def draw(n, rng):
        X = rng.normal(size=(n, 2))
        return X, (X[:, 0] > 2.9) ^ (rng.random(n) < 0.002)  # as many wrong as right

    stream = OracleStream(draw, np.random.default_rng(0))
    _, history, _ = fit_sampling_martirank(stream, SETTINGS)
    assert history.noise_rate == pytest.approx(0.002, abs=0.001)


def test_without_an_edge_there_is_nothing_to_refine():
    def draw(n, rng):
        return rng.normal(size=(n, 2)), rng.random(n) < 0.4

    stream = OracleStream(draw, np.random.default_rng(0))
    _, history, _ = fit_sampling_martirank(
        stream, SamplingMartiRankSettings(n_layers=4, max_draws=5000)
    )
    assert max(history.guesses) < 0.35  # not near 1/2, where labels would tell nothing


def test_a_noise_rate_that_cannot_be_is_refused_with_the_draws_made():
    def draw(n, rng):
        return rng.normal(size=(n, 2)), rng.random(n) < 0.05

    stream = OracleStream(draw, np.random.default_rng(0))
    with pytest.raises(
        OracleError,
        match=r"noise_rate is 0.3, which is more than the .* label, 0.049.* \(after 20,000 draws, "
        r"in layer 1 of 40\); no layer was finished; give a smaller noise_rate, or None",
    ) as caught:
        fit_sampling_martirank(stream, SamplingMartiRankSettings(noise_rate=0.3))
    assert caught.value.n_draws == 20_000


def test_a_noise_rate_that_is_refuted_late_leaves_the_program():
    made = 0

    def draw(n, rng):
        nonlocal made
        made += n
        X = rng.normal(size=(n, 2))
        return X, (X[:, 0] > 1.5) ^ (rng.random(n) < (0.3 if made <= 30_000 else 0.01))

    stream = OracleStream(draw, np.random.default_rng(0))
    with pytest.raises(
        OracleError, match=r"noise_rate is 0.3, which is .* finished layer"
    ) as caught:
        fit_sampling_martirank(stream, SamplingMartiRankSettings(noise_rate=0.3, max_draws=10_000))
    assert caught.value.model.n_layers == len(caught.value.history.draws) >= 1


def nine(noise, seed=0):
    """The stream of a majority of nine booleans."""

    def draw(n, rng):
        X = rng.integers(0, 2, size=(n, 9)).astype(float)
        return X, (X.sum(axis=1) >= 5) ^ (rng.random(n) < noise)

    return OracleStream(draw, np.random.default_rng(seed))


def test_a_rate_that_is_too_large_is_refuted_by_pure_nodes():
    settings = SamplingMartiRankSettings(n_layers=20, noise_rate=0.3, max_draws=10_000)
    with pytest.raises(
        OracleError,
        match=r"noise_rate is 0.3, but at some nodes the fraction of one label is only "
        r"0\.\d+ \(after .* draws, in layer \d+ of 20\); .* a smaller noise_rate, or None",
    ):
        fit_sampling_martirank(nine(0.0), settings)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3, 0.4])
def test_the_true_rate_is_never_refuted(noise, seed):
    settings = SamplingMartiRankSettings(n_layers=15, noise_rate=noise, max_draws=10_000, seed=seed)
    _, history, certificate = fit_sampling_martirank(nine(noise, seed), settings)
    assert history.noise_rate == noise
    # The nodes do come as far as the rate: a bound by less than chance would refute it.
    pure = [n for layer in history.layers for n in layer if n.weight_neg + n.weight_pos > 300]
    fractions = [min(n.weight_neg, n.weight_pos) / (n.weight_neg + n.weight_pos) for n in pure]
    assert min(fractions) < noise + 0.02
    is_within = max(certificate.values[f"error_{name}_high"] for name in ("pos", "neg")) <= 0.1
    said = "at most target_error = 0.1, provided that exactly this fraction is wrong"
    if not certificate.values["noise_rate_contradicted"]:
        assert (said in certificate.statement) == is_within


def test_rows_of_a_table_that_were_learned_by_heart_do_not_refute_the_rate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 10))
    y = (X[:, 0] > 0) ^ (rng.random(150) < 0.3)
    settings = SamplingMartiRankSettings(
        n_layers=25, noise_rate=0.3, max_draws=10_000, target_error=0.01
    )
    stream = TableStream(prepare(X, y), np.random.default_rng(0))
    _, history, certificate = fit_sampling_martirank(stream, settings)
    nodes = [n for layer in history.layers for n in layer]
    totals = np.array([[n.weight_neg for n in nodes], [n.weight_pos for n in nodes]])
    assert rate_bound(totals)[0] < 0.3  # some nodes are purer than any distribution allows
    assert "measured on draws from the training rows" in certificate.statement


def stuck(noise, given):
    """A certificate where the nodes tell nothing: one layer, and a vote nearly without error."""

    def draw(n, rng):
        X = rng.integers(0, 2, size=(n, 1)).astype(float)
        return X, (X[:, 0] > 0) ^ (rng.random(n) < noise)

    settings = SamplingMartiRankSettings(
        n_layers=1, noise_rate=given, max_draws=20_000, output="majority"
    )
    return fit_sampling_martirank(OracleStream(draw, np.random.default_rng(0)), settings)[2]


def test_an_error_below_nothing_contradicts_the_rate():
    certificate = stuck(0.1, 0.2)
    values = certificate.values
    assert values["noise_rate_contradicted"]
    assert values["error_pos_high"] < 0
    assert np.isnan(values["auc"])
    assert "the draws contradict noise_rate = 0.2" in certificate.statement
    assert "at most target_error" not in certificate.statement
    assert "cannot be compared with target_error = 0.1" in certificate.statement


def test_the_claim_on_target_error_depends_on_the_rate():
    certificate = stuck(0.1, 0.1)
    assert not certificate.values["noise_rate_contradicted"]
    assert "at most target_error = 0.1, provided that exactly this fraction is wrong" in (
        certificate.statement
    )
    certificate = stuck(0.0, 0.0)
    assert "at most target_error = 0.1." in certificate.statement
    assert 0.0 <= certificate.values["error_pos"] <= certificate.values["error_pos_high"]


def test_of_guesses_that_rank_alike_the_smallest_is_taken(monkeypatch):
    # A single cut separates the classes: every guess ranks without a mistake.
    def draw(n, rng):
        X = rng.normal(size=(n, 2))
        return X, X[:, 0] > 2.0

    stream = OracleStream(draw, np.random.default_rng(0))
    settings = SamplingMartiRankSettings(n_layers=1, max_draws=1000, sample_size=1000)
    monkeypatch.setattr(NoiseGuesses, "check", lambda self, seen: None)  # none is refuted
    _, history, _ = fit_sampling_martirank(stream, settings)
    assert len(set(history.guesses.values())) == 1
    assert len(history.guesses) == 4
    assert history.noise_rate == 0.0
