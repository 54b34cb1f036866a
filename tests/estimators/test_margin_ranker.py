"""MarginRanker and MarginRankerCV as scikit-learn users meet them."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import auctor
from auctor import MarginRanker, MarginRankerCV
from auctor.exceptions import MarginWarning
from auctor.metrics import auc
from auctor.models import AdditiveModel, LinearModel, ScorerModel, to_json
from auctor.models.linear import SCORE_GRID
from auctor.testing.contracts import check_saved_model, messy_table

pytestmark = pytest.mark.filterwarnings("ignore::auctor.exceptions.MarginWarning")


@pytest.mark.parametrize("method", ["pairs", "reduced", "heuristic"])
@pytest.mark.parametrize("hypotheses", ["features", "stumps"])
def test_it_ranks_unseen_rows(cancer, method, hypotheses):
    X, y = cancer
    ranker = MarginRanker(method, hypotheses=hypotheses, gap_tol=1e-4, max_bins=20)
    ranker.fit(X[:400], y[:400])
    # A few stumps, even one, may have the largest margin over most pairs.
    assert ranker.score(X[400:], y[400:]) > (0.97 if hypotheses == "features" else 0.9)
    assert ranker.score(X[400:], y[400:]) == auc(y[400:], ranker.decision_function(X[400:]))
    values = ranker.certificate_.values
    # The model's scores are the hypotheses' up to a constant.
    assert auc(y[:400], ranker.decision_function(X[:400])) == pytest.approx(values["auc"], abs=1e-9)
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert isinstance(ranker.model_, LinearModel if hypotheses == "features" else AdditiveModel)
    assert (len(ranker.gamma_path_) > 0) == (method == "heuristic")


@pytest.mark.parametrize("hypotheses", ["features", "stumps"])
def test_every_table_gives_the_same_bits(people, hypotheses, tmp_path):
    X, y = people
    ranker = MarginRanker(hypotheses=hypotheses, max_bins=8).fit(X, y)
    assert ranker.score(X, y) > 0.8
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        other = MarginRanker(hypotheses=hypotheses, max_bins=8).fit(table, y.to_numpy())
        assert to_json(other.model_) == to_json(ranker.model_)
        assert np.array_equal(other.decision_function(table), ranker.decision_function(X))
    by_position = MarginRanker(hypotheses=hypotheses, max_bins=8)
    by_position.fit(X.to_numpy(dtype=object), y.tolist())
    assert np.array_equal(
        by_position.decision_function(X.to_numpy(dtype=object)), ranker.decision_function(X)
    )
    check_saved_model(ranker.model_, X, tmp_path)
    auctor.load(tmp_path / "model.json").decision_function(pl.from_pandas(X))


@pytest.mark.parametrize("hypotheses", ["features", "stumps"])
@pytest.mark.parametrize("method", ["pairs", "reduced"])
def test_weights_are_copies_and_order_is_irrelevant(hypotheses, method):
    for seed in range(4):
        X, y = messy_table(seed)
        rng = np.random.default_rng(seed)
        ranker = MarginRanker(method, hypotheses=hypotheses, max_bins=8, epsilon=0.4)
        ranker.set_params(categorical_features=[4], frequency_weights=True)
        weight = rng.integers(0, 4, size=len(y))
        weight[:2] = 1
        copies = np.repeat(np.arange(len(y)), weight)
        by_weight = to_json(clone(ranker).fit(X, y, sample_weight=weight).model_)
        assert to_json(clone(ranker).fit(X[copies], y[copies]).model_) == by_weight
        order = rng.permutation(len(y))
        turned = clone(ranker).fit(X[order], y[order], sample_weight=weight[order])
        assert to_json(turned.model_) == by_weight


@pytest.mark.parametrize("density", [0.1, 0.6])
@pytest.mark.parametrize("hypotheses", ["features", "stumps", "words", "columns"])
def test_sparse_equals_dense(density, hypotheses):
    rng = np.random.default_rng(3)
    X = (rng.random((150, 12)) < density).astype(float)
    if hypotheses in ("features", "stumps"):
        X *= np.round(rng.normal(size=X.shape), 1)
    y = X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * rng.normal(size=150) > 0.4
    dense = MarginRanker(hypotheses=hypotheses, epsilon=0.4, max_bins=8).fit(X, y)
    for make in (sparse.csr_array, sparse.coo_array):
        fitted = MarginRanker(hypotheses=hypotheses, epsilon=0.4, max_bins=8).fit(make(X), y)
        assert to_json(fitted.model_) == to_json(dense.model_)
        scores = fitted.decision_function(make(X))
        assert scores.tobytes() == dense.decision_function(X).tobytes()


def test_scorers(cancer):
    X, y = cancer
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    logistic = LogisticRegression().fit(X[:100, :5], y[:100])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:100], y[:100])

    def some(X):
        return logistic.predict_proba(X[:, :5])[:, 1]

    def first(X):
        return -np.tanh(X[:, 0])

    ranker = MarginRanker(hypotheses=[some, tree, first]).fit(X[100:400], y[100:400])
    assert isinstance(ranker.model_, ScorerModel)
    assert ranker.score(X[400:], y[400:]) > 0.9
    parts = np.column_stack([some(X), 2 * tree.predict_proba(X)[:, 1] - 1, first(X)])
    shift = ranker.decision_function(X) - parts @ ranker.coef_
    assert np.ptp(shift) < SCORE_GRID
    assert ranker.feature_importances_.shape == (3,)
    with pytest.raises(ValueError, match="which a model file cannot"):
        ranker.model_.save("model.json")
    copy = pickle.loads(pickle.dumps(MarginRanker(hypotheses=[tree]).fit(X, y)))
    assert copy.predict_proba(X).shape == (len(y), 2)


class Odd:
    """A scorer whose probabilities have one column."""

    def predict_proba(self, X):
        return np.zeros((len(X), 1))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"nu": 0.5}, "nu is 0.5; give a number from 1 to"),
        ({"nu": 1e9}, r"nu is 1e\+09; give a number from 1 to"),
        ({"method": "reduced", "nu_pos": 5000}, "nu_pos is 5000; .* the number of positive rows"),
        ({"method": "reduced", "nu_neg": 5000}, "nu_neg is 5000; .* the number of negative rows"),
        ({"method": "reduced", "nu": 5}, "nu is given with method='reduced'"),
        ({"nu_pos": 5}, "nu_pos or nu_neg is given with method='pairs'"),
        ({"method": "heuristic", "nu_pos": 5}, "given with method='heuristic', which chooses them"),
        ({"epsilon": 0.0}, "'epsilon' parameter"),
        ({"epsilon": 1.5}, "'epsilon' parameter"),
        ({"method": "magic"}, "'method' parameter"),
        ({"hypotheses": "columns"}, "'x0' has values from -2 to 3, .*give hypotheses='features'"),
        ({"hypotheses": "words"}, "X has the value .*, but hypotheses='words' takes columns of 0"),
        ({"hypotheses": []}, "hypotheses is empty; give at least one fitted scorer"),
        ({"hypotheses": [lambda X: X[:, 0]]}, r"hypotheses\[0\] .* has values from -2 to 3"),
        ({"hypotheses": [lambda X: X / 9]}, r"hypotheses\[0\] .* shape \(60, 3\); give a scorer"),
        ({"hypotheses": [lambda X: X[:5, 0] / 9]}, r"hypotheses\[0\] returns 5 scores for 60 rows"),
        ({"hypotheses": [lambda X: X[:, 0] * np.nan]}, r"hypotheses\[0\] .* NaN or infinite"),
        ({"hypotheses": [Odd()]}, r"hypotheses\[0\] \(Odd\) returns an array of shape \(60, 1\)"),
    ],
)
def test_each_mistake_has_its_sentence(settings, sentence):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 3, size=(60, 3))
    X[:2, 0] = -2.0, 3.0
    y = X[:, 0] > 0.3
    with pytest.raises(ValueError, match=sentence):
        MarginRanker(**settings).fit(X, y)


def test_what_is_no_scorer():
    with pytest.raises(TypeError, match=r"hypotheses\[0\] \(int\) is not callable and has no"):
        MarginRanker(hypotheses=[3]).fit([[0.0], [1.0]], [0, 1])


def test_columns_that_no_weight_can_use():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match=r"column 'x0' has values of 1e\+290 or more"):
        MarginRanker().fit(X * 1e300, y)
    with pytest.warns(MarginWarning, match="no weights have a positive soft margin"):
        flat = MarginRanker().fit(X * 1e-300, y)
    assert np.ptp(flat.decision_function(X)) == 0
    for hypotheses in ("features", "stumps"):
        with pytest.warns(MarginWarning, match="no weights have a positive soft margin"):
            flat = MarginRanker(hypotheses=hypotheses).fit(np.ones((40, 2)), y)
        assert flat.coef_.size == 0
        assert flat.predict_proba(np.ones((1, 2))) == pytest.approx(0.5, abs=1e-6)


def test_a_text_column_of_missing_values_only(tmp_path):
    x = np.arange(20.0)
    frame = pd.DataFrame({"a": x, "t": pd.Series([None] * 20, dtype=object)})
    ranker = MarginRanker().fit(frame, x > 8)
    assert ranker.score(frame, x > 8) == 1.0
    check_saved_model(ranker.model_, frame, tmp_path)


def test_a_missing_value_counts_as_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 0.2 * rng.normal(size=200) > 0.5
    X[y & (rng.random(200) < 0.5), 1] = np.nan  # missing says positive
    ranker = MarginRanker().fit(X, y)
    with_value, without = ranker.decision_function([[0.0, 0.0], [0.0, np.nan]])
    assert without > with_value


def test_positive_label_threshold_and_pickle(people):
    X, y = people
    usual, turned = MarginRanker().fit(X, y), MarginRanker(pos_label="no").fit(X, y)
    assert (usual.pos_label_, turned.pos_label_) == ("yes", "no")
    assert turned.score(X, y) == pytest.approx(usual.score(X, y), abs=0.03)
    assert (usual.predict(X) == turned.predict(X)).mean() > 0.9
    high = MarginRanker(threshold=0.1).fit(X, y)
    assert (high.predict(X) == "yes").tolist() == (high.decision_function(X) > 0.1).tolist()
    assert high.model_.threshold == 0.1
    copy = pickle.loads(pickle.dumps(usual))
    assert np.array_equal(copy.decision_function(X), usual.decision_function(X))
    assert cross_val_score(MarginRanker(gap_tol=1e-3), X, y, cv=3).mean() > 0.7


def test_early_ends_reach_the_user(cancer):
    X, y = cancer
    with pytest.warns(MarginWarning, match="time limit of 1e-09 s was reached"):
        ranker = MarginRanker(time_limit=1e-9).fit(X, y)
    assert ranker.certificate_.values["gap"] > 1e-6
    assert ranker.score(X, y) > 0.7


class TestPath:
    def test_models_equal_single_fits(self, cancer):
        X, y = cancer[0][:200], cancer[1][:200]
        ranker = MarginRanker(gap_tol=1e-7)
        path = dict(ranker.fit_path(X, y, [0.1, 0.3, 0.2]))
        assert list(path) == [0.3, 0.2, 0.1]
        for epsilon, model in path.items():
            single = MarginRanker(gap_tol=1e-7, epsilon=epsilon, relax=False).fit(X, y)
            ours, theirs = auc(y, model.decision_function(X)), single.score(X, y)
            assert ours == pytest.approx(theirs, abs=1e-3)

    def test_it_leaves_the_estimator_unfitted(self, cancer):
        ranker = MarginRanker()
        list(ranker.fit_path(cancer[0][:100], cancer[1][:100], [0.3]))
        with pytest.raises(NotFittedError):
            ranker.predict(cancer[0])


class TestCrossValidation:
    def test_it_picks_from_the_grid(self, cancer):
        X, y = cancer[0][:250], cancer[1][:250]
        ranker = MarginRankerCV("reduced", epsilons=[0.05, 0.2], extend=False, cv=3).fit(X, y)
        results = ranker.cv_results_
        assert results["epsilon"].tolist() == [0.05, 0.2]
        assert results["aucs"].shape == (2, 3)
        assert results["mean_auc"] == pytest.approx(results["aucs"].mean(axis=1))
        assert ranker.best_score_ == results["mean_auc"].max()
        assert ranker.epsilon_ == results["epsilon"][results["mean_auc"].argmax()]
        again = MarginRankerCV("reduced", epsilons=[0.2, 0.05], extend=False, cv=3).fit(X, y)
        assert to_json(again.model_) == to_json(ranker.model_)
        assert np.array_equal(again.cv_results_["aucs"], results["aucs"])

    def test_it_extends_the_grid(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(150, 4))
        y = X[:, 0] + 3 * rng.normal(size=150) > 0
        ranker = MarginRankerCV("reduced", epsilons=[0.05], cv=3, gap_tol=1e-4).fit(X, y)
        grid = ranker.cv_results_["epsilon"]
        assert len(grid) > 1
        means = ranker.cv_results_["mean_auc"]
        assert grid[-1] == 1.0 or means[-1] < means.max()

    def test_any_table_and_weights(self, people):
        X, y = people
        options = {
            "method": "reduced",
            "epsilons": [0.2, 0.4],
            "extend": False,
            "cv": 3,
            "gap_tol": 1e-4,
        }
        weight = np.arange(len(y)) % 3
        usual = MarginRankerCV(**options).fit(X, y, sample_weight=weight)
        for table in (pl.from_pandas(X), pl.from_pandas(X).lazy(), pa.Table.from_pandas(X)):
            other = MarginRankerCV(**options).fit(table, y.to_numpy(), sample_weight=weight)
            assert to_json(other.model_) == to_json(usual.model_)
        words = sparse.coo_array((np.random.default_rng(0).random((len(y), 5)) < 0.2).astype(float))
        MarginRankerCV(**options, hypotheses="words").fit(words, y)

    def test_folds_that_are_given(self, cancer):
        X, y = cancer[0][:120], cancer[1][:120]
        options = {"method": "reduced", "epsilons": [0.2], "extend": False}
        cutter = StratifiedKFold(3)
        by_cutter = MarginRankerCV(**options, cv=cutter).fit(X, y)
        by_list = MarginRankerCV(**options, cv=list(cutter.split(X, y))).fit(X, y)
        assert by_cutter.cv_results_["aucs"].shape == (1, 3)
        assert np.array_equal(by_cutter.cv_results_["aucs"], by_list.cv_results_["aucs"])

    def test_too_few_rows(self):
        X, y = np.arange(20.0)[:, None], np.arange(20) < 3
        with pytest.raises(ValueError, match=r"cv=5 folds need 5 rows of each class, .* has 3;"):
            MarginRankerCV().fit(X, y)

    @pytest.mark.parametrize("epsilons", [[], [0.0], [0.2, 1.5], [np.nan]])
    def test_epsilons_out_of_range(self, epsilons):
        with pytest.raises(ValueError, match="give one or more numbers in"):
            MarginRankerCV(epsilons=epsilons).fit(np.arange(20.0)[:, None], np.arange(20) % 2)


def test_no_warning_where_nothing_is_odd(cancer):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MarginRanker().fit(*cancer)
    assert [str(one.message) for one in caught] == []


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", ["pairs", "reduced"])
def test_rows_that_tie_in_theory_tie_in_the_model_and_in_the_certificate(method, seed):
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 4, size=(80, 3)).astype(float)
    y = (Z.sum(axis=1) + rng.normal(size=80) * 4 / 3 > 4.5).astype(int)
    ranker = MarginRanker(method, epsilon=0.3, gap_tol=1e-4).fit(Z, y)
    values, scores = ranker.certificate_.values, ranker.decision_function(Z)
    difference = scores[y == 1][:, None] - scores[y == 0]
    assert values["auc"] == pytest.approx(ranker.score(Z, y), abs=1e-12)
    assert values["fraction_rho"] == pytest.approx(
        (difference >= 2 * values["rho"]).mean(), abs=1e-12
    )
    assert values["fraction_rho"] >= values["fraction_guaranteed"]
    # The same in whole numbers: scores of equal weights are equal where the sums are.
    _, size = np.unique(np.abs(ranker.coef_[ranker.coef_ != 0]), return_counts=True)
    if len(size) == 1:
        whole = (Z * np.sign(ranker.coef_)).sum(axis=1)
        assert len(np.unique(scores)) == len(np.unique(whole))


def test_a_hard_margin_of_classes_that_overlap_is_negative_and_ranks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=200) > 0).astype(int)
    with pytest.warns(MarginWarning, match="no weights separate the classes"):
        ranker = MarginRanker(soft_margin=False).fit(X, y)
    assert ranker.certificate_.values["gamma"] < -1e-3
    assert ranker.score(X, y) > 0.7
    assert "No weights separate" in ranker.certificate_.statement


def test_weights_that_cancel_are_none_at_all_without_the_constant_too():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(100, 4)), rng.integers(0, 2, size=100)
    with pytest.warns(MarginWarning, match="no weights have a positive soft margin"):
        ranker = MarginRanker(constant=False, relax=False, epsilon=0.05).fit(X, y)
    assert not ranker.coef_.any()
    assert ranker.certificate_.values["gamma"] == 0.0
    assert ranker.certificate_.values["gap"] < 1e-5


def test_classifiers_are_turned_towards_the_positive_class():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scorer = LogisticRegression().fit(X[:300], y[:300])
    ranker = MarginRanker(hypotheses=[scorer], negations=False, pos_label=0).fit(X, y)
    assert ranker.score(X, y) > 0.99
    assert ranker.coef_[0] > 0


def test_a_path_goes_by_its_epsilons_whatever_nu_says():
    X, y = load_breast_cancer(return_X_y=True)
    models = dict(MarginRanker(nu=9000.0).fit_path(X, y, [0.1, 0.6]))
    assert not np.array_equal(models[0.1].decision_function(X), models[0.6].decision_function(X))
    with pytest.raises(ValueError, match="are given with soft_margin=False"):
        MarginRanker(soft_margin=False, nu=5.0).fit(X, y)


def test_sparse_tables_with_categories_equal_dense_ones():
    rng = np.random.default_rng(2)
    X = rng.integers(1, 4, size=(120, 12)) * (rng.random((120, 12)) < 0.15).astype(float)
    y = (X[:, 0] - X[:, 5] + rng.normal(size=120) > 0).astype(int)
    ranker = MarginRanker("reduced", categorical_features=[3, 7], gap_tol=1e-4, epsilon=0.5)
    dense = clone(ranker).fit(X, y)
    thin = clone(ranker).fit(sparse.coo_array(X), y)
    assert to_json(thin.model_) == to_json(dense.model_)
    assert len(thin.coef_) > 12  # the categories stand one by one


def test_wide_sparse_tables_are_not_binned():
    wide = sparse.csr_array(([1.0, 1.0], ([0, 1], [0, 1])), shape=(30_000, 20_000))
    y = np.arange(30_000) % 2
    with pytest.raises(ValueError, match="dense table of 30,000 x 20,000 codes"):
        MarginRanker(hypotheses="stumps").fit(wide, y)


def test_words_that_are_missing_are_no_error_and_others_are_named():
    rng = np.random.default_rng(3)
    X = (rng.random((100, 4)) < 0.5).astype(float)
    y = (X[:, 0] + rng.normal(size=100) / 2 > 0.5).astype(int)
    X[::9, 1] = np.nan
    assert MarginRanker(hypotheses="words", epsilon=0.5).fit(X, y).score(X, y) > 0.7
    X[5, 2] = 3.0
    with pytest.raises(ValueError, match="X has the value 3, but"):
        MarginRanker(hypotheses="words").fit(X, y)
