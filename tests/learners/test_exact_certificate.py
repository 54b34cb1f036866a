"""What ExactBoost certifies: numbers recomputed by hand, and when no bound can be given."""

from itertools import product
from math import inf, log, sqrt

import numpy as np
import pytest
from scipy.optimize import linprog

from auctor.data import prepare
from auctor.learners.exact.fit import ExactBoostSettings, fit_exactboost, step_tables
from auctor.learners.exact.table import gather
from auctor.metrics import auc, ks, precision_at_k
from auctor.testing import contracts
from tests.reference import exactboost as slow

METRICS = ("auc", "ks", "precision_at_k")
over_metrics = pytest.mark.parametrize("metric", METRICS)


def fitted(metric="auc", seed=0, **changes):
    """(data, X, y, model, history, certificate) of a small fit to a table with everything."""
    X, y = contracts.messy_table(seed)
    data = prepare(X, y, categorical_features=[4])
    settings = ExactBoostSettings(metric, **{"k": 12, "n_runs": 3, "n_estimators": 6, **changes})
    return data, X, y, *fit_exactboost(data, settings)


def stumps_of(feature, seen):
    """Every stump over the codes that occur, as a row of zeros and ones."""
    codes = np.flatnonzero(seen)
    if feature.is_category:
        return [np.array(sides) for sides in product([0, 1], repeat=len(codes))]
    number = codes > 0
    cuts = [codes > cut for cut in codes]
    return [above | (~number & side) for above in cuts for side in (False, True)]


def least_weight(feature, steps, seen):
    """The least sum of |d| / 2 over stumps that add up to the steps and a constant, by an LP."""
    sides = np.array(stumps_of(feature, seen), dtype=float).T
    columns = np.column_stack([sides, -sides, np.ones(len(sides)), -np.ones(len(sides))])
    cost = np.append(np.full(2 * sides.shape[1], 0.5), [0.0, 0.0])
    return linprog(cost, A_eq=columns, b_eq=steps[seen], method="highs").fun


@pytest.mark.parametrize("seed", range(4))
def test_total_weight_is_the_least_that_makes_the_steps(seed):
    data, _, _, _, history, certificate = fitted(seed=seed)
    table = gather(data)
    total = 0.0
    for j, steps in enumerate(step_tables(data, table, history.runs)):
        seen = table.code_weights(j, data.n_codes).sum(axis=0) > 0
        total += least_weight(data.features[j], steps, seen)
    assert certificate.values["total_weight"] == pytest.approx(total, abs=1e-8)
    sizes = [abs(step.size) / run.scale / 2 for run in history.runs for step in run.steps]
    assert total <= sum(sizes) / len(history.runs) + 1e-8


def test_total_weight_of_one_step_is_half_its_size():
    data = prepare(np.arange(8.0).reshape(-1, 1), np.arange(8) > 3)
    settings = ExactBoostSettings(n_runs=1, n_estimators=1, subsample=1.0)
    _, history, certificate = fit_exactboost(data, settings)
    ((step,),) = (run.steps for run in history.runs)
    assert certificate.values["total_weight"] == abs(step.size) / history.runs[0].scale / 2 == 0.5


def losses_at(metric, X, y, model, weight, theta):
    """The loss by definition of the model's scores, brought to a total weight of 1."""
    scores = model.decision_function(X) / weight
    pos, neg = scores[y], scores[~y]
    if metric == "auc":
        return slow.auc_loss(pos, neg, theta)
    return slow.ks_loss(pos, neg, theta) if metric == "ks" else slow.top_loss(pos, neg, 12, theta)


@over_metrics
@pytest.mark.parametrize("theta", [0.03, 0.2])
def test_losses_are_those_of_the_model(metric, theta):
    _, X, y, model, _, certificate = fitted(metric, seed=1, margin=theta)
    values = certificate.values
    for name, margin in (("loss", 0.0), ("margin_loss", theta)):
        expected = losses_at(metric, X, y, model, values["total_weight"], margin)
        assert values[name] == pytest.approx(expected, abs=1e-12)
    assert values["loss"] <= values["margin_loss"]


def complexity(n_rows):
    """Massart's lemma: four numbers, two sides for what is missing, and 4 categories or none."""
    ways = 4 * 4 * (n_rows + 1) + 2**5
    return sqrt(2 * log(ways) / n_rows)


def bound_by_hand(metric, loss, theta, delta, n_pos, n_neg):
    if metric == "auc":
        fewest = min(n_pos, n_neg)
        return loss + 4 / theta * 2 * complexity(fewest) + sqrt(2 * log(1 / delta) / fewest)
    if metric == "ks":
        roots = 1 / sqrt(n_pos) + 1 / sqrt(n_neg)
        zeta = complexity(n_pos) + complexity(n_neg) + roots
        return loss + 8 / theta * zeta + sqrt(log(2 / delta) / 2) * roots
    n_rows = n_pos + n_neg
    error = 4 / theta * (complexity(n_rows) + 1 / sqrt(n_rows))
    error += sqrt(log(2 / delta) / (2 * n_rows))
    return loss + error * n_rows / 12


@over_metrics
def test_bounds_are_the_right_hand_sides_of_the_theorems(metric):
    data, X, y, model, _, certificate = fitted(metric, seed=2, margin=0.3, delta=0.1)
    values = certificate.values
    sizes = data.n_pos, data.n_neg
    expected = bound_by_hand(metric, values["margin_loss"], 0.3, 0.1, *sizes)
    assert values["bound"] == pytest.approx(expected)
    weight = values["total_weight"]
    tried = [
        (bound_by_hand(metric, losses_at(metric, X, y, model, weight, m), m, 0.1 / 11, *sizes), m)
        for m in (0.3, *(0.5**k for k in range(10)))
    ]
    assert (values["best_bound"], values["best_margin"]) == pytest.approx(min(tried))
    assert "above 1" in certificate.statement


@pytest.mark.parametrize(
    "changes", [{}, {"margin": 0.0}, {"metric": "ks"}], ids=["defaults", "no margin", "KS"]
)
def test_values_are_plain_numbers(changes):
    values = fitted(**changes)[5].values
    assert list(values) == [
        "loss",
        "margin",
        "margin_loss",
        "total_weight",
        "delta",
        "bound",
        "best_bound",
        "best_margin",
    ]
    assert {type(value) for value in values.values()} == {float}


def test_without_a_margin_only_the_tried_margins_bound():
    values = fitted(margin=0.0)[5].values
    assert values["bound"] == inf
    assert values["best_bound"] < inf


@over_metrics
def test_the_bound_holds_on_new_rows(metric):
    # One column that parts the classes well: a large margin, and so a bound that says something.
    rng = np.random.default_rng(0)
    n_rows = 60_000
    y = np.arange(n_rows) % 2
    X = (rng.random(n_rows) < np.where(y, 0.99, 0.01)).astype(float).reshape(-1, 1)
    half = n_rows // 2
    settings = ExactBoostSettings(
        metric, k=0.25, margin=0.9, n_runs=1, n_estimators=2, subsample=0.01
    )
    model, _, certificate = fit_exactboost(prepare(X[:half], y[:half]), settings)
    scores, truth = model.decision_function(X[half:]), y[half:]
    value = {
        "auc": lambda: auc(truth, scores) - 0.5 * 2 * 0.99 * 0.01,  # ties are no lead
        "ks": lambda: ks(truth, scores),
        "precision_at_k": lambda: precision_at_k(truth, scores, k=0.25),
    }[metric]()
    values = certificate.values
    assert 1 - value <= values["best_bound"]
    assert values["best_bound"] < 0.99
    assert f"at most {values['best_bound']:.4g} with probability 0.95" in certificate.statement


def test_where_there_is_no_bound_the_reason_is_given():
    X, y = contracts.messy_table(3)
    settings = ExactBoostSettings(n_runs=2, n_estimators=3)
    flat = ExactBoostSettings(n_runs=1, n_estimators=1)
    weight = np.arange(len(y)) % 3 + 1.0
    cases = [
        (prepare(X, y, sample_weight=weight), settings, None, "the rows have different weights"),
        (prepare(X, y), settings, np.arange(60.0), "the initial scores are not a sum of stumps"),
        (prepare(np.ones((60, 1)), y), flat, None, "the score is constant"),
    ]
    for data, given, start, reason in cases:
        certificate = fit_exactboost(data, given, start)[2]
        assert f"no bound for new rows, because {reason}." in certificate.statement
        values = certificate.values
        assert [values[name] for name in ("bound", "best_bound", "best_margin")] == [None] * 3
        assert 0.0 <= values["loss"] <= values["margin_loss"] <= 1.0


def test_the_loss_with_a_start_is_that_of_the_sum():
    X, y = contracts.messy_table(4)
    start = np.random.default_rng(4).normal(size=len(y)) + y
    model, history, certificate = fit_exactboost(
        prepare(X, y), ExactBoostSettings(n_runs=2, n_estimators=4), start
    )
    total = model.decision_function(X) + history.start_weight * start / np.ptp(start)
    assert certificate.values["loss"] == pytest.approx(1 - auc(y, total), abs=0.01)
