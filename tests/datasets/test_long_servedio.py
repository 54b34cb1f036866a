"""The Long-Servedio distribution: kinds of rows, positions, labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auctor import MartiRank
from auctor.datasets import make_long_servedio
from auctor.metrics import auc

N_ROWS = 40_000
SMALLEST_P = 1e-3


@pytest.fixture(scope="module")
def agreement() -> np.ndarray:
    """Which features of each row equal its clean label."""
    sample = make_long_servedio(N_ROWS, noise=0.1, random_state=0)
    return sample.X * sample.y_clean[:, np.newaxis] > 0


@given(n_samples=st.integers(2, 100), noise=st.floats(0, 0.49), seed=st.integers(min_value=0))
def test_the_majority_is_the_clean_label(n_samples: int, noise: float, seed: int) -> None:
    sample = make_long_servedio(n_samples, noise=noise, random_state=seed)
    assert sample.X.shape == (n_samples, 21)
    assert np.isin(sample.X, (-1, 1)).all()
    assert sample.optimal_score is not None
    np.testing.assert_array_equal(sample.optimal_score(sample.X), sample.X.sum(axis=1))
    np.testing.assert_array_equal(np.sign(sample.X.sum(axis=1)), sample.y_clean)


def test_labels_are_fair() -> None:
    sample = make_long_servedio(N_ROWS, random_state=1)
    assert abs(sample.y.mean()) < 4 / np.sqrt(N_ROWS)


def test_kinds_and_their_fractions(agreement: np.ndarray) -> None:
    kinds, observed = np.unique(
        np.stack([agreement[:, :11].sum(axis=1), agreement[:, 11:].sum(axis=1)], axis=1),
        axis=0,
        return_counts=True,
    )
    assert kinds.tolist() == [[5, 6], [11, 0], [11, 10]]
    expected = N_ROWS * np.array([0.5, 0.25, 0.25])
    assert stats.chisquare(observed, expected).pvalue > SMALLEST_P


def test_kind_and_label_are_independent() -> None:
    sample = make_long_servedio(N_ROWS, random_state=2)
    margin = (sample.X.sum(axis=1) * sample.y).astype(int)
    table = [np.bincount(margin[sample.y == label], minlength=22)[[1, 21]] for label in (-1, 1)]
    assert stats.chi2_contingency(np.array(table)).pvalue > SMALLEST_P


def test_positions_in_penalizers(agreement: np.ndarray) -> None:
    penalizers = agreement[agreement[:, :11].sum(axis=1) == 5]
    for block, size in ((penalizers[:, :11], 5), (penalizers[:, 11:], 6)):
        n_items = block.shape[1]
        spread = np.sqrt(size / n_items * (1 - size / n_items) / len(block))
        assert np.abs(block.mean(axis=0) - size / n_items).max() < 4 * spread
        inside = np.bincount(block[:, :4].sum(axis=1), minlength=5)
        expected = len(block) * stats.hypergeom(n_items, size, 4).pmf(np.arange(5))
        assert stats.chisquare(inside, expected).pvalue > SMALLEST_P


def test_the_two_blocks_of_a_penalizer_are_independent(agreement: np.ndarray) -> None:
    penalizers = agreement[agreement[:, :11].sum(axis=1) == 5].astype(float)
    correlation = np.corrcoef(penalizers.T)[:11, 11:]
    # 110 correlations of standard deviation 1 / sqrt(n).
    assert np.abs(correlation).max() < 4.5 / np.sqrt(len(penalizers))


def test_martirank_learns_from_clean_rows_though_half_of_them_are_copies() -> None:
    train, new = make_long_servedio(2000, random_state=0), make_long_servedio(2000, random_state=1)
    scores = MartiRank(n_layers=12).fit(train.X, train.y).decision_function(new.X)
    assert auc(new.y, scores) > 0.8


def test_a_single_row_is_too_few() -> None:
    with pytest.raises(ValueError, match="n_samples is 1; give a whole number of at least 2"):
        make_long_servedio(1)
