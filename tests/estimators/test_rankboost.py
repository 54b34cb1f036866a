"""RankBoost as scikit-learn users meet it."""

import pickle
import signal
import threading
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import RankBoost
from auctor.learners.boosting.rankboost import fit_rankboost
from auctor.metrics import auc, ks_scorer, partial_auc_scorer, precision_at_k_scorer, roc_curve


def test_it_ranks_unseen_rows(cancer):
    X, y = cancer
    ranker = RankBoost(n_estimators=100).fit(X[:400], y[:400])
    assert ranker.score(X[400:], y[400:]) > 0.98
    assert ranker.score(X[400:], y[400:]) == auc(y[400:], ranker.decision_function(X[400:]))


def test_numpy_pandas_polars_and_arrow_give_the_same_bits(people):
    X, y = people
    fits = [
        RankBoost(30).fit(X, y),
        RankBoost(30).fit(pl.from_pandas(X), pl.Series(y.tolist())),
        RankBoost(30).fit(pa.Table.from_pandas(X), y.to_numpy()),
        RankBoost(30).fit(X.to_numpy(dtype=object), y.tolist()),
    ]
    scores = [fits[0].decision_function(X), fits[1].decision_function(pl.from_pandas(X))]
    scores += [fits[2].decision_function(pa.Table.from_pandas(X))]
    scores += [fits[3].decision_function(X.to_numpy(dtype=object))]
    for other in scores[1:]:
        assert np.array_equal(scores[0], other)


def test_columns_are_matched_by_name(people):
    X, y = people
    ranker = RankBoost(20).fit(X, y)
    expected = ranker.decision_function(X)
    turned = X[X.columns[::-1]].assign(extra=5.0)
    assert np.array_equal(ranker.decision_function(turned), expected)
    with pytest.raises(ValueError, match=r"lacks 1 column.* 'town'"):
        ranker.decision_function(X.drop(columns="town"))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        ranker.decision_function(X.to_numpy(dtype=object))


def test_labels_of_any_two_values_and_pos_label(people):
    X, y = people
    usual = RankBoost(20).fit(X, y)
    assert usual.classes_.tolist() == ["no", "yes"]
    assert set(usual.predict(X)) == {"no", "yes"}
    turned = RankBoost(20, pos_label="no").fit(X, y)
    assert turned.classes_.tolist() == ["no", "yes"]
    assert (usual.pos_label_, turned.pos_label_) == ("yes", "no")
    assert (usual.predict(X) == turned.predict(X)).mean() > 0.9
    assert np.allclose(usual.predict_proba(X), turned.predict_proba(X), atol=0.2)
    assert turned.score(X, y) == pytest.approx(usual.score(X, y), abs=0.02)
    assert turned.score(X, y) > 0.8
    with pytest.raises(ValueError, match="pos_label='maybe' is not among the classes"):
        RankBoost(pos_label="maybe").fit(X, y)


def test_tools_with_the_smaller_label_positive(cancer):
    X, y = cancer
    turned = RankBoost(20, pos_label=0)
    for scorer in (ks_scorer, partial_auc_scorer(fpr_range=(0, 0.1)), precision_at_k_scorer(0.2)):
        pipeline = make_pipeline(StandardScaler(), turned)
        assert (cross_val_score(pipeline, X, y, cv=3, scoring=scorer) > 0.07).all()
        assert cross_val_score(turned, X, y, cv=3, scoring=scorer).mean() > 0.07
    assert cross_val_score(turned, X, y, cv=3, scoring="neg_log_loss").mean() > -0.3
    assert cross_val_score(turned, X, y, cv=3, scoring="accuracy").mean() > 0.9
    calibrated = CalibratedClassifierCV(turned, cv=3).fit(X, y)
    assert auc(y, calibrated.predict_proba(X)[:, 1]) > 0.98


def test_weights_of_any_size_give_the_same_probabilities(cancer):
    X, y = cancer
    usual = RankBoost(20).fit(X, y).predict_proba(X)[:, 1]
    for scale in (1e-9, 1 / len(y), 1e-3):
        small = RankBoost(20).fit(X, y, sample_weight=np.full(len(y), scale))
        assert small.predict_proba(X)[:, 1] == pytest.approx(usual, abs=1e-3)


@pytest.mark.parametrize("n_pos", [2, 3, 5])
def test_early_stopping_holds_out_rows_of_a_rare_class(n_pos):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.arange(200) < n_pos
    for seed in range(3):
        ranker = RankBoost(20, early_stopping=True, random_state=seed).fit(X + y[:, None], y)
        assert len(ranker.history_.validation_auc) > 0


def test_predict_cuts_at_youdens_point(cancer):
    X, y = cancer
    ranker = RankBoost(n_estimators=3).fit(X, y)
    scores = ranker.decision_function(X)
    predicted = ranker.predict(X)
    youden = (predicted[y == 1] == 1).mean() - (predicted[y == 0] == 1).mean()
    assert youden == pytest.approx(roc_curve(y, scores).ks(), abs=1e-12)
    assert ranker.threshold_ == 0.0
    strict = RankBoost(n_estimators=3, threshold=1.5).fit(X, y)
    assert np.array_equal(strict.predict(X) == 1, scores > 1.5)


def test_probabilities_rank_as_the_scores(cancer):
    X, y = cancer
    ranker = RankBoost(n_estimators=50).fit(X[:400], y[:400])
    probability = ranker.predict_proba(X)
    assert probability.shape == (len(X), 2)
    assert np.allclose(probability.sum(axis=1), 1)
    assert np.array_equal(rankdata(probability[:, 1]), rankdata(ranker.decision_function(X)))
    assert probability[:400, 1].mean() == pytest.approx(y[:400].mean(), abs=0.01)


def test_pipeline_grid_search_and_cross_validation(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), RankBoost())
    search = GridSearchCV(pipeline, {"rankboost__n_estimators": [1, 40]}, cv=3).fit(X, y)
    assert search.best_params_ == {"rankboost__n_estimators": 40}
    assert (cross_val_score(RankBoost(40), X, y, cv=3, scoring="roc_auc") > 0.97).all()


def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 12)) * (rng.random((200, 12)) < 0.3) * 1.0
    y = X[:, 0] + X[:, 1] + rng.random(200) > 1
    dense = RankBoost(30).fit(X, y)
    for matrix in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)):
        ranker = RankBoost(30).fit(matrix, y)
        assert ranker.model_.body() == dense.model_.body()
        assert np.array_equal(ranker.decision_function(matrix), dense.decision_function(X))


def test_sparse_equals_dense_with_rows_held_out():
    rng = np.random.default_rng(1)
    X = (rng.random((300, 40)) < 0.1).astype(np.uint8)
    y = X[:, :8].sum(axis=1) + rng.random(300) > 1
    weight = rng.integers(0, 3, 300)
    stops = {"early_stopping": True, "n_iter_no_change": 4, "random_state": 0}
    dense = RankBoost(80, **stops).fit(X, y, weight)
    ranker = RankBoost(80, n_jobs=2, **stops).fit(sparse.csr_array(X), y, weight)
    assert ranker.history_ == dense.history_
    assert ranker.model_.body() == dense.model_.body()
    assert np.array_equal(ranker.feature_importances_, dense.feature_importances_)
    assert np.array_equal(ranker.predict_proba(sparse.coo_array(X)), dense.predict_proba(X))


def test_sparse_codes_reach_the_learner(monkeypatch):
    seen = []

    def learn(data, settings, validation, checkpoint):
        seen.append(data.is_sparse)
        return fit_rankboost(data, settings, validation, checkpoint)

    monkeypatch.setattr("auctor.estimators.rankboost.fit_rankboost", learn)
    X, y = np.eye(6), [0, 1] * 3
    RankBoost(2).fit(sparse.csr_array(X), y)
    RankBoost(2).fit(X, y)
    assert seen == [True, False]


def test_pickle_and_clone_keep_everything(cancer):
    X, y = cancer
    ranker = RankBoost(n_estimators=10, learning_rate=0.5).fit(X, y)
    copy = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(copy.decision_function(X), ranker.decision_function(X))
    assert clone(ranker).get_params() == ranker.get_params()
    with pytest.raises(NotFittedError):
        clone(ranker).predict(X)


def test_threads_change_nothing(cancer):
    X, y = cancer
    X = np.tile(X, (30, 1))
    y = np.tile(y, 30)
    one, two = (RankBoost(15, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.model_.body() == two.model_.body()
    assert one.model_.calibration == two.model_.calibration


def test_early_stopping_draws_by_random_state(cancer):
    X, y = cancer
    settings = {"early_stopping": True, "n_estimators": 400}
    a, b = (RankBoost(random_state=0, **settings).fit(X, y) for _ in range(2))
    c = RankBoost(random_state=1, **settings).fit(X, y)
    assert a.history_.stopped_by == "early stopping"
    assert a.n_iter_ == len(a.history_.rounds) < 400
    assert a.model_.body() == b.model_.body() != c.model_.body()


def test_importances_add_up_and_name_the_useful_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = X[:, 2] + 0.2 * rng.normal(size=500) > 0
    ranker = RankBoost(30).fit(X, y)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.feature_importances_.argmax() == 2


def test_an_unseen_category_scores_as_a_missing_one(people):
    X, y = people
    ranker = RankBoost(40).fit(X, y)
    missing, unseen = X.assign(town=None), X.assign(town="elsewhere")
    assert np.array_equal(ranker.decision_function(missing), ranker.decision_function(unseen))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": 1.5}, "learning_rate"),
        ({"max_bins": 1}, "max_bins"),
        ({"max_bins": 70_000}, "max_bins"),
        ({"early_stopping": True, "validation_fraction": 1.0}, "validation_fraction"),
        ({"threshold": "best"}, "threshold"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"categorical_features": ["nope"]}, "'nope', which is not a column"),
    ],
)
def test_bad_parameters_are_named(cancer, parameters, message):
    X, y = cancer
    with pytest.raises(ValueError, match=message):
        RankBoost(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0, 0, 0], "y has 1 class"),
        ([0, 1, 2, 1], r"y has 3 classes \(0, 1, 2\); auctor needs exactly two"),
        (["a", None, "b", "a"], "1 missing label"),
        ([0, 1, 1], "inconsistent numbers of samples: 4 and 3"),
    ],
)
def test_bad_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        RankBoost().fit(np.eye(4), y)


@pytest.mark.parametrize("labels", [(0.5, 1.5), (-1, 1), (False, True), ("a", "b"), (3, 7)])
def test_any_two_labels_will_do(labels):
    low, high = labels
    ranker = RankBoost(5).fit([[1.0], [2.0], [3.0], [4.0]], [low, low, high, high])
    assert ranker.classes_.tolist() == [low, high]
    assert ranker.predict([[0.0], [9.0]]).tolist() == [low, high]


def test_early_stopping_on_too_few_rows_says_so():
    with pytest.raises(ValueError, match="early_stopping is True with 2 positive and 1 neg"):
        RankBoost(early_stopping=True).fit([[1.0], [2.0], [3.0]], [0, 1, 1])


def test_two_rows_are_enough():
    ranker = RankBoost().fit([[1.0], [2.0]], [0, 1])
    assert ranker.predict([[0.0], [3.0]]).tolist() == [0, 1]


def test_many_bins_take_uint16(cancer):
    X, y = cancer
    fine = RankBoost(20, max_bins=1000).fit(X, y)
    exact = RankBoost(20, max_bins=65_535).fit(X, y)
    assert fine.model_.body() == exact.model_.body()  # 569 rows: both bins are exact
    assert fine.score(X, y) >= RankBoost(20, max_bins=8).fit(X, y).score(X, y)


def test_ctrl_c_ends_a_long_fit_soon():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 10))
    y = rng.random(60_000) < 0.5
    # A shell that starts the tests in the background has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident
    threading.Timer(1.0, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            RankBoost(n_estimators=10**5, n_jobs=2).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 30  # the fit itself would take minutes
