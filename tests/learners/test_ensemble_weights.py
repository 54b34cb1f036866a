"""The weights of an ensemble beside those of a fine grid, and the scale of held-out scores."""

from itertools import product

import numpy as np
import pytest

from auctor.learners.ensemble.held_out import HeldOut, Target, find_scale, weighted_sum
from auctor.learners.ensemble.weights import find_weights
from auctor.metrics import auc, ks

TARGETS = [
    Target("auc"),
    Target("partial_auc", fpr_range=(0.0, 0.3)),
    Target("ks"),
    Target("precision_at_k", k=0.2),
]
over_targets = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.metric)


def make_rows(n_members: int, seed: int = 0, n_rows: int = 120) -> HeldOut:
    """Members that see the same signal through noise of different size."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n_rows) < 0.4
    noise = rng.normal(size=(n_rows, n_members)) * (1.0 + np.arange(n_members))
    fold = np.arange(n_rows) % 3
    sizes = float((~positive).sum()), float(positive.sum())
    scores = positive[:, None] + noise
    return HeldOut(scores, positive, np.ones(n_rows), fold, np.arange(n_rows), sizes)


def slow_quality(rows: HeldOut, target: Target, weights: np.ndarray) -> float:
    """The metric less the cost of leaving equal weights, written down anew."""
    n_members, equal = len(weights), np.full(len(weights), 1.0 / len(weights))
    middle = target.value(rows, rows.scores.mean(axis=1))
    fraction = (1 + middle) / 2 if target.metric == "ks" else middle
    n_neg, n_pos = rows.sizes
    if target.metric == "precision_at_k":
        n_small = min(n_neg, n_pos, target.k * (n_neg + n_pos))
    elif target.fpr_range is not None:
        n_small = min(n_neg * (target.fpr_range[1] - target.fpr_range[0]), n_pos)
    else:
        n_small = min(n_neg, n_pos)
    cost = fraction * (1 - fraction) / n_small * n_members * ((weights - equal) ** 2).sum()
    return float(target.value(rows, rows.scores @ weights) - cost)


@over_targets
@pytest.mark.parametrize("n_members", [2, 3])
def test_no_weights_of_a_fine_grid_are_better(target, n_members):
    rows = make_rows(n_members, seed=n_members)
    found = find_weights(rows, target)
    steps = [np.array(p) / 16 for p in product(range(17), repeat=n_members) if sum(p) == 16]
    best = max(slow_quality(rows, target, weights) for weights in steps)
    n_small = target.n_decisive(rows.sizes)
    # Leaving out a small weight may cost as much as the noise of the metric.
    assert slow_quality(rows, target, found.weights) >= best - (n_members + 1) * 0.25 / n_small
    assert found.value == pytest.approx(target.value(rows, rows.scores @ found.weights))
    assert found.weights.sum() == pytest.approx(1.0) and (found.weights >= 0).all()


def test_a_member_that_is_noise_is_left_out():
    rows = make_rows(2, n_rows=600)
    noise = np.random.default_rng(5).normal(size=(600, 1))
    joined = HeldOut(np.hstack([rows.scores[:, :1], noise]), *list(vars(rows).values())[1:])
    assert find_weights(joined, Target("auc")).weights.tolist() == [1.0, 0.0]


def test_members_of_the_same_scores_keep_equal_weights():
    rows = make_rows(2)
    twice = HeldOut(np.repeat(rows.scores[:, :1], 5, axis=1), *list(vars(rows).values())[1:])
    assert find_weights(twice, Target("auc")).weights == pytest.approx([0.2] * 5)


@over_targets
def test_weight_2_is_the_row_twice(target):
    rows, weight = make_rows(3), np.where(np.arange(120) % 4 == 0, 2, 1)
    parts = list(vars(rows).values())[:-1]
    copies = HeldOut(*(np.repeat(part, weight, axis=0) for part in parts), rows.sizes)
    weighted = HeldOut(*parts[:2], weight.astype(float), *parts[3:], rows.sizes)
    first, second = find_weights(copies, target), find_weights(weighted, target)
    assert first.weights.tolist() == second.weights.tolist()
    assert first.value == pytest.approx(second.value, abs=1e-12)


def test_the_metric_within_folds():
    rows = make_rows(1)
    score, folds = rows.scores[:, 0], [rows.fold == k for k in range(3)]
    aucs = [auc(rows.positive[f], score[f]) for f in folds]
    assert Target("auc").value(rows, score) == pytest.approx(np.mean(aucs))
    # A shift of a fold's scores changes nothing, although KS is that of all rows together.
    shifted = score + 100.0 * rows.fold
    assert Target("ks").value(rows, shifted) == Target("ks").value(rows, score)
    assert Target("ks").value(rows, score) < np.mean(
        [ks(rows.positive[f], score[f]) for f in folds]
    )


def test_scales_of_copies_constants_and_order():
    scores = np.random.default_rng(0).normal(size=50)
    weight = np.random.default_rng(1).integers(1, 4, 50)
    assert find_scale(scores, weight.astype(float)) == find_scale(
        np.repeat(scores, weight), np.ones(int(weight.sum()))
    )
    assert find_scale(scores[::-1], np.ones(50)) == find_scale(scores, np.ones(50))
    assert find_scale(np.full(4, 7.0), np.ones(4)) == (7.0, 1.0)
    assert find_scale(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]), np.ones(8)).spread == 3.0
    assert weighted_sum(np.ones((2, 2)), np.array([0.25, 0.5])).tolist() == [0.75, 0.75]
