"""Guess and check of the noise rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from auctor.datasets import make_r_of_k
from auctor.learners.noise_guesses import rate_bound
from auctor.learners.oracle import OracleError
from auctor.learners.oracle_stream import OracleStream
from auctor.learners.sampling_martirank import fit_sampling_martirank
from auctor.learners.sampling_settings import Settings


def slow_bound(counts):
    """The least rate under which so few of a label come with chance 1e-6, by a search."""
    n_nodes = counts.shape[1]
    pieces = [[i] for i in range(n_nodes)] + [range(i) for i in range(1, n_nodes + 1)]
    pieces += [range(i, n_nodes) for i in range(n_nodes)]
    best, share = 0.5, 0.5
    for piece in pieces:
        labels = counts[:, list(piece)].sum(axis=1)
        low, high = 0.0, 1.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            is_refuted = binom.cdf(labels.min(), labels.sum(), middle) < 1e-6
            low, high = (low, middle) if is_refuted else (middle, high)
        if labels.sum() and low < best:
            best, share = low, labels.min() / labels.sum()
    return best, share


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 3000)), min_size=1, max_size=4))
def test_the_bound_is_the_largest_rate_that_no_nodes_refute(pairs):
    counts = np.array(pairs).T
    bound, share = rate_bound(counts)
    expected, _ = slow_bound(counts)
    assert bound == pytest.approx(expected, abs=1e-6)
    assert share <= bound or bound == 0.5


def test_nodes_are_pooled_from_either_end():
    counts = np.full((2, 5), 10_000)
    counts[1, :3] = 0
    counts[0, :3] = 30  # 14 in 30 would each of them allow for
    bound, share = rate_bound(counts)
    assert share == 0
    assert bound < 0.15


def law(noise, **changes):
    """The stream of a majority law with noise."""
    settings = {"n_features": 9, "k": 5, "r": 3, **changes}

    def draw(n, rng):
        return make_r_of_k(n, noise=noise, random_state=rng, **settings)

    return OracleStream(draw, np.random.default_rng(0))


SETTINGS = Settings(n_estimators=15, max_draws=20_000, sample_size=10_000)


@pytest.mark.parametrize("share", [0.5, 0.7])
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.3, 0.4])
def test_the_guess_comes_near_the_truth(noise, share):
    _, history, certificate = fit_sampling_martirank(law(noise, positive_share=share), SETTINGS)
    assert history.noise_rate == pytest.approx(noise, abs=0.03)
    assert history.guesses[history.noise_rate] is not None
    assert history.positive_rate == pytest.approx(share, abs=0.08)
    assert "a guess that the intervals do not account for" in certificate.statement


def test_what_the_nodes_contradict_is_refuted_and_no_more_than_four_are_left():
    _, history, _ = fit_sampling_martirank(law(0.1), SETTINGS)
    assert len(history.guesses) > 4
    left = [guess for guess, auc in history.guesses.items() if auc is not None]
    assert 0.0 in left
    assert len(left) <= 4
    assert all(history.guesses[guess] is None for guess in history.guesses if guess > 0.15)


def test_rates_below_a_rare_label_are_told_apart():
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
    _, history, _ = fit_sampling_martirank(stream, Settings(n_estimators=4, max_draws=5000))
    assert max(history.guesses) < 0.35  # not near 1/2, where labels would tell nothing


def test_a_noise_rate_that_cannot_be_is_refused_with_the_draws_made():
    def draw(n, rng):
        return rng.normal(size=(n, 2)), rng.random(n) < 0.05

    stream = OracleStream(draw, np.random.default_rng(0))
    with pytest.raises(
        OracleError,
        match=r"noise_rate=0.3 is more than the share .* 0.049.* after 20,000 draws in layer 1 of "
        r"40; no layer was finished; a smaller noise_rate, or None",
    ) as caught:
        fit_sampling_martirank(stream, Settings(noise_rate=0.3))
    assert caught.value.n_draws == 20_000


def test_a_noise_rate_that_is_refuted_late_leaves_the_program():
    made = 0

    def draw(n, rng):
        nonlocal made
        made += n
        X = rng.normal(size=(n, 2))
        return X, (X[:, 0] > 1.5) ^ (rng.random(n) < (0.3 if made <= 30_000 else 0.01))

    stream = OracleStream(draw, np.random.default_rng(0))
    with pytest.raises(OracleError, match=r"noise_rate=0.3 is more .* layer\(s\) so far") as caught:
        fit_sampling_martirank(stream, Settings(noise_rate=0.3, max_draws=10_000))
    assert caught.value.model.n_layers == len(caught.value.history.draws) >= 1
