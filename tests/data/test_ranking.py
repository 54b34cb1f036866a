"""RankingData: frozen, and the same rows however they are cut."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from auctor.data import prepare


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 2))
    weight = random.integers(0, 3, 50)
    return prepare(X, random.integers(0, 2, 50), sample_weight=weight, max_bins=8)


def rows_of(data):
    """Every row once: its place, class, weight and codes."""
    return sorted(
        (row, bool(part.positive[i]), int(part.weight[i]), *part.codes[:, i].tolist())
        for part in data.partitions
        for i, row in enumerate(part.rows.tolist())
    )


def test_frozen(data):
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.rows_per_unit = 2.0, 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.partitions[0].n_pos = 0
    part = data.partitions[0]
    cuts, centres = data.features[0].cuts, data.features[0].centres
    for array in (part.codes, part.weight, part.rows, data.classes, cuts, centres):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array


@pytest.mark.parametrize("n_partitions", [1, 2, 7, 80])
def test_parts_sum_to_the_whole(data, n_partitions):
    cut = data.split(n_partitions)
    assert len(cut.partitions) == n_partitions
    assert rows_of(cut) == rows_of(data)
    assert (cut.n_pos, cut.n_neg, cut.n_rows) == (data.n_pos, data.n_neg, data.n_rows)
    assert cut.class_weights == data.class_weights
    assert cut.n_codes == data.n_codes
    for part in cut.partitions:
        assert part.codes.flags.c_contiguous
        assert part.codes.shape == (2, part.n_rows)


def test_parts_follow_the_table(data):
    ranges = [(p.rows.min(), p.rows.max()) for p in data.split(4).partitions]
    assert all(a[1] < b[0] for a, b in pairwise(ranges))


@pytest.mark.parametrize("n_partitions", [0, -1])
def test_no_partitions(data, n_partitions):
    with pytest.raises(ValueError, match="n_partitions is"):
        data.split(n_partitions)


def test_take(data):
    chosen = np.zeros(50, dtype=bool)
    chosen[::3] = True
    result = rows_of(data.split(3).take(chosen)) + rows_of(data.split(2).take(~chosen))
    assert sorted(result) == rows_of(data)
    assert all(row % 3 == 0 for row, *_ in rows_of(data.take(chosen)))


def test_take_nothing(data):
    assert data.take(np.zeros(50, dtype=bool)).n_rows == 0


def test_effective_rows_do_not_see_partitions_or_the_scale(data):
    random = np.random.default_rng(0)
    X, y, weight = random.normal(size=(60, 2)), np.arange(60) % 3 == 0, random.lognormal(size=60)
    prepared = prepare(X, y, sample_weight=weight)
    expected = [weight[y == k].sum() ** 2 / (weight[y == k] ** 2).sum() for k in (0, 1)]
    assert prepared.effective_rows == pytest.approx(expected, rel=1e-6)
    assert prepared.split(5).effective_rows == prepared.effective_rows
    assert prepare(X, y, sample_weight=64 * weight).effective_rows == prepared.effective_rows
    assert prepare(X, y, sample_weight=np.full(60, 0.3)).effective_rows == (40.0, 20.0)
    assert prepare(X, y).row_units == (1.0, 1.0)


def test_groups_of_copies_count_once_where_most_rows_are_copies():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(40, 2)), np.arange(40) % 4 == 0
    thrice = prepare(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert thrice.effective_rows == (30.0, 10.0)
    assert thrice.split(4).effective_rows == (30.0, 10.0)
    oversampled = np.concatenate([np.arange(40), np.repeat(np.flatnonzero(y), 3)])
    assert prepare(X[oversampled], y[oversampled]).effective_rows == (30.0, 10.0)
    twice = np.append(np.arange(40), 5)  # a single row that occurs twice
    assert prepare(X[twice], y[twice]).effective_rows == (31.0, 10.0)
    as_frequency = prepare(np.repeat(X, 3, axis=0), np.repeat(y, 3), frequency_weights=True)
    assert as_frequency.effective_rows == (90.0, 30.0)


def test_frequent_rows_do_not_outweigh_all_others():
    """One row in two of a class is the same row: it is frequent, and the others count too."""
    X = np.concatenate([np.zeros(300), np.repeat(np.arange(1.0, 101.0), 3)])
    y = np.append(np.ones(600), np.zeros(50))
    data = prepare(np.append(X, np.arange(-50.0, 0.0))[:, None], y)
    # By Kish's formula the 101 groups would be 600**2 / (300**2 + 100 * 3**2) = 4 rows.
    assert data.effective_rows == (50.0, 101 / 2)
    assert data.split(3).effective_rows == data.effective_rows
    weighted = prepare(np.append(X, np.arange(-50.0, 0.0))[:, None], y, sample_weight=3.0 * (y + 1))
    assert weighted.effective_rows == data.effective_rows
