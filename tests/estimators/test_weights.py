"""Weights and copies of rows, through the estimators; what holds for all is in test_invariance."""

import numpy as np
import pytest

from auctor import DMKS, MarginRanker, RankBoost, SmoothAUCBoost, SmoothAUCBoostCV, TreeRank
from auctor.data import prepare, read_table
from auctor.estimators.fit_input import FitInput
from auctor.estimators.folds import draw_folds
from auctor.learners.boosting.rankboost import fit_rankboost
from auctor.learners.trees.pruning import stratified_folds
from auctor.metrics import auc


def make_rows(seed, n_rows=400, n_columns=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + X[:, 1] ** 2 / 2 + 1.5 * rng.normal(size=n_rows) > 0.8


@pytest.mark.parametrize("kind", ["weights of 10", "log-normal weights", "each row three times"])
def test_a_fit_stays_sane(kind):
    """The sum of weights, and copies, were taken for independent rows: AUC fell by 0.05 to 0.1."""
    X, y = make_rows(0, n_rows=900)
    new, truth = make_rows(1, n_rows=4000)
    rows, weight = np.arange(900), None
    if kind == "each row three times":
        rows = np.repeat(rows, 3)
    else:
        weight = np.full(900, 10.0)
        if kind == "log-normal weights":
            weight *= np.random.default_rng(2).lognormal(size=900)
    plain = SmoothAUCBoostCV().fit(X, y)
    fitted = SmoothAUCBoostCV().fit(X[rows], y[rows], sample_weight=weight)
    least = auc(truth, plain.decision_function(new)) - (0.03 if kind.startswith("log") else 1e-6)
    assert auc(truth, fitted.decision_function(new)) >= least


def folds_of(X, y, cv=5, weight=None):
    options = {"pos_label": None, "random_state": 0, "categorical_features": None, "instead": "-"}
    folds = draw_folds(cv, FitInput(read_table(X), X, y, weight), **options)
    out = np.full(len(y), -1)
    for k, (train, test) in enumerate(folds):
        out[test] = k
        assert not np.intersect1d(train, test).size
    return out


def test_copies_are_in_one_fold():
    X, y = make_rows(3, n_rows=200)
    rows = np.random.default_rng(0).integers(0, 200, size=600)
    fold = folds_of(X[rows], y[rows])
    assert (fold >= 0).all()
    for row in np.unique(rows):
        assert len(np.unique(fold[rows == row])) == 1
    assert np.ptp(np.bincount(fold)) < 60  # about even
    data = prepare(X[rows], y[rows]).split(3)
    pruning_fold = stratified_folds(data, 5, 0)
    for row in np.unique(rows):
        assert len(np.unique(pruning_fold[rows == row])) == 1


def test_folds_of_rows_that_differ_are_what_they_were():
    X, y = make_rows(3, n_rows=200)
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import check_random_state

    seed = check_random_state(0).randint(2**31 - 1)
    cutter = StratifiedKFold(5, shuffle=True, random_state=seed)
    expected = np.empty(200, dtype=int)
    for k, (_, test) in enumerate(cutter.split(X, y)):
        expected[test] = k
    assert np.array_equal(folds_of(X, y), expected)


def test_a_table_of_few_distinct_rows_has_even_folds():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(500, 2)).astype(float)
    sizes = np.bincount(folds_of(X, rng.random(500) < 0.3))
    assert sizes.max() - sizes.min() <= 2


def test_early_stopping_holds_out_copies_together(monkeypatch):
    parts = []

    def learn(train, settings, held_out, checkpoint):
        parts.extend([train, held_out])
        return fit_rankboost(train, settings, held_out, checkpoint)

    monkeypatch.setattr("auctor.estimators.rankboost.fit_rankboost", learn)
    X, y = make_rows(5, n_rows=120)
    rows = np.repeat(np.arange(120), 3)
    ranker = RankBoost(2, early_stopping=True, validation_fraction=0.2, random_state=0)
    ranker.fit(X[rows], y[rows])
    seen, unseen = (np.concatenate([p.rows for p in d.partitions]) // 3 for d in parts)
    assert not np.intersect1d(seen, unseen).size
    assert len(unseen) == pytest.approx(72, abs=6)


@pytest.mark.filterwarnings("ignore::auctor.exceptions.MarginWarning")
@pytest.mark.parametrize("size", [1e155, 1e300, 1e-165, 1e-310])
@pytest.mark.parametrize("kind", [MarginRanker, DMKS, SmoothAUCBoost, TreeRank])
def test_extreme_weights_are_weights_like_others(kind, size):
    X, y = make_rows(6, n_rows=80)
    weight = 1.0 + np.arange(80) % 3
    probabilities = kind().fit(X, y, sample_weight=size * weight).predict_proba(X)
    assert np.array_equal(probabilities, kind().fit(X, y, sample_weight=weight).predict_proba(X))


@pytest.mark.parametrize("size", [1e308, 1e300, 5e-324])
def test_the_size_of_init_does_not_matter_to_dmks(size):
    X, y = make_rows(7, n_rows=100)
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    usual = DMKS(coef_init=signs).fit(X, y)
    fitted = DMKS(coef_init=size * signs).fit(X, y)
    assert fitted.ks_ == usual.ks_


def test_scores_that_are_not_finite_are_refused():
    X = np.array([[1e290], [-1e290], [0.5], [-0.5]]) * 1e-5
    y = [1, 0, 1, 0]
    scorer = [lambda rows: np.clip(np.asarray(rows)[:, 0], -1, 1)]
    assert np.isfinite(MarginRanker(hypotheses=scorer).fit(X, y).decision_function(X)).all()
    from auctor.learners.common.finish import training_order

    data = prepare(X, y)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="scores of the training rows range from"):
            training_order(data, [np.array([0.0, bad, 1.0, 2.0])])
    with pytest.raises(ValueError, match="not a finite range"):
        training_order(data, [np.array([1e308, -1e308, 1.0, 2.0])])
