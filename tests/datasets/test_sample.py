"""What all data sets have in common: form, reproducibility, noise, errors."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from auctor import datasets
from auctor.datasets import (
    Sample,
    load_kyphosis,
    make_gaussian_pair,
    make_long_servedio,
    make_r_of_k,
    make_t_pair,
)

Maker = Callable[..., Sample]

N_ROWS = 2000
MAKERS = {
    "r_of_k": partial(make_r_of_k, N_ROWS),
    "gaussian": partial(make_gaussian_pair, N_ROWS // 2, N_ROWS // 2),
    "t": partial(make_t_pair, N_ROWS // 2, N_ROWS // 2),
    "long_servedio": partial(make_long_servedio, N_ROWS),
}


@pytest.fixture(params=MAKERS)
def maker(request: pytest.FixtureRequest) -> Maker:
    return MAKERS[request.param]


@pytest.mark.parametrize("name", [*MAKERS, "kyphosis"])
def test_form(name: str) -> None:
    sample = load_kyphosis() if name == "kyphosis" else MAKERS[name](random_state=0)
    X, y = sample
    assert X is sample.X and y is sample.y
    assert X.dtype == np.float64 and X.flags.c_contiguous and np.isfinite(X).all()
    assert X.shape == (len(y), len(sample.feature_names))
    assert len(set(sample.feature_names)) == X.shape[1]
    assert y.dtype == sample.y_clean.dtype == np.int64
    assert set(y.tolist()) == ({-1, 1} if name == "long_servedio" else {0, 1})
    np.testing.assert_array_equal(y, sample.y_clean)
    assert not np.shares_memory(y, sample.y_clean)


def test_public_names_are_exported() -> None:
    assert all(hasattr(datasets, name) for name in datasets.__all__)


def test_fields_cannot_be_replaced() -> None:
    with pytest.raises(AttributeError):
        load_kyphosis().y = np.zeros(81, dtype=np.int64)  # type: ignore[misc]


def test_repr_counts_flipped_labels() -> None:
    sample = make_gaussian_pair(60, 40, noise=0.2, random_state=1)
    n_pos, n_flipped = int(sample.y.sum()), int((sample.y != sample.y_clean).sum())
    assert n_flipped > 0
    assert f"{n_pos} positive, {100 - n_pos} negative, {n_flipped} labels flipped" in repr(sample)


def test_seed_fixes_the_sample(maker: Maker) -> None:
    first, again, other = maker(random_state=3), maker(random_state=3), maker(random_state=4)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert (first.X != other.X).any()


def test_generator_is_used_and_moves_on(maker: Maker) -> None:
    rng = np.random.default_rng(3)
    first, second = maker(random_state=rng), maker(random_state=rng)
    np.testing.assert_array_equal(first.X, maker(random_state=3).X)
    assert (first.X != second.X).any()


def test_none_differs_from_call_to_call(maker: Maker) -> None:
    assert (maker(random_state=None).X != maker(random_state=None).X).any()


def test_the_default_is_reproducible(maker: Maker) -> None:
    np.testing.assert_array_equal(maker().X, maker(random_state=0).X)


def test_noise_leaves_rows_alone_and_nests(maker: Maker) -> None:
    clean = maker(random_state=5)
    little, much = maker(noise=0.1, random_state=5), maker(noise=0.3, random_state=5)
    for noisy in (little, much):
        np.testing.assert_array_equal(noisy.X, clean.X)
        np.testing.assert_array_equal(noisy.y_clean, clean.y)
    flipped_little, flipped_much = little.y != clean.y, much.y != clean.y
    assert (flipped_little <= flipped_much).all()
    # Four standard deviations of a binomial fraction.
    assert flipped_little.mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.1 * 0.9 / N_ROWS))
    assert flipped_much.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / N_ROWS))


def test_noise_hits_both_classes_alike(maker: Maker) -> None:
    sample = maker(noise=0.2, random_state=6)
    flipped = sample.y != sample.y_clean
    for label in np.unique(sample.y_clean):
        rows = sample.y_clean == label
        assert flipped[rows].mean() == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / rows.sum()))


def test_rows_come_in_random_order(maker: Maker) -> None:
    y = maker(random_state=7).y_clean > 0
    half = N_ROWS // 2
    # The standard deviation of either fraction is at most that of 1000 free draws.
    assert y[:half].mean() == pytest.approx(y[half:].mean(), abs=4 * np.sqrt(2 * 0.25 / half))


def test_sample_survives_pickle(maker: Maker) -> None:
    sample = maker(random_state=8)
    copy = pickle.loads(pickle.dumps(sample))
    assert copy.optimal_score is not None and sample.optimal_score is not None
    np.testing.assert_array_equal(copy.optimal_score(sample.X), sample.optimal_score(sample.X))


def test_optimal_score_names_a_wrong_shape(maker: Maker) -> None:
    sample = maker(random_state=9)
    assert sample.optimal_score is not None
    for X in (sample.X[:, :-1], sample.X[0]):
        with pytest.raises(ValueError, match=rf"X has shape .*n_rows, {sample.X.shape[1]}\)"):
            sample.optimal_score(X)


@pytest.mark.parametrize("noise", [-0.01, 0.5, 1, float("nan"), float("inf"), "some", None, True])
def test_noise_error(maker: Maker, noise: Any) -> None:
    with pytest.raises(ValueError, match="noise"):
        maker(noise=noise)


@pytest.mark.parametrize("random_state", ["seed", -1, 1.5])
def test_random_state_error(maker: Maker, random_state: Any) -> None:
    with pytest.raises(ValueError, match="give an int of at least 0"):
        maker(random_state=random_state)


@pytest.mark.parametrize("value", [0, -3, 10.0, "10", None, True])
@pytest.mark.parametrize("name", ["n_samples", "n_neg", "n_pos"])
def test_row_count_errors(name: str, value: Any) -> None:
    makers: list[Callable[..., Sample]] = (
        [make_r_of_k, make_long_servedio]
        if name == "n_samples"
        else [make_gaussian_pair, make_t_pair]
    )
    for make in makers:
        with pytest.raises(ValueError, match=name):
            make(**{name: value})


def test_numpy_numbers_are_numbers() -> None:
    numbers: dict[str, Any] = {
        "n_samples": np.int64(20),
        "k": np.int32(5),
        "r": np.uint8(2),
        "noise": np.float32(0.1),
    }
    sample = make_r_of_k(**numbers)
    assert sample.X.shape == (20, 100)


def test_import_needs_neither_scikit_learn_nor_numba() -> None:
    code = (
        "import sys, auctor.datasets; "
        "sys.exit(any(name in sys.modules for name in ('sklearn', 'numba', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
