"""SamplingMartiRank as scikit-learn users meet it, and what it does with oracles of all kinds."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from estimators.faulty_checks import FAULTY
from sklearn.exceptions import NotFittedError
from sklearn_checks import assert_checks_pass, case_name

from auctor import MartiRank
from auctor.datasets import make_r_of_k
from auctor.estimators.sampling_martirank import SamplingMartiRank
from auctor.exceptions import OracleError
from auctor.metrics import auc
from auctor.testing.contracts import check_saved_model, messy_table, same_model

SMALL: dict[str, Any] = {"n_layers": 6, "max_draws": 1500, "sample_size": 1500}


@pytest.mark.parametrize(
    "estimator",
    [
        SamplingMartiRank(**SMALL),
        SamplingMartiRank(output="majority", noise_rate=0.0, **SMALL),
    ],
    ids=case_name,
)
def test_scikit_learn_checks(estimator: Any) -> None:
    assert_checks_pass(estimator, FAULTY)


def draw_from(noise: float = 0.0, n_features: int = 8):
    """Majority of five among some boolean features."""

    def draw(n, rng):
        return make_r_of_k(n, n_features=n_features, k=5, r=3, noise=noise, random_state=rng)

    return draw


def rows(n: int, noise: float = 0.0, seed: int = 0):
    """A fixed table of the distribution, with names."""
    X, y = draw_from(noise)(n, np.random.default_rng(seed))
    return pd.DataFrame(X, columns=list("abcdefgh")), y


class Ticker:
    """An oracle that hands out a fixed table from the top, and counts what it hands out."""

    def __init__(self, X, y):
        self.X, self.y, self.made = X, y, 0

    def __call__(self, n, rng):
        start, self.made = self.made, min(self.made + n, len(self.y))
        return self.X[start : self.made], self.y[start : self.made]


def test_on_the_distribution_of_the_paper_it_ranks_as_well_as_martirank_given_as_many_rows():
    def draw(n, rng):
        return make_r_of_k(n, n_features=20, k=9, r=5, noise=0.3, random_state=rng)

    sampling = SamplingMartiRank(n_layers=25, max_draws=25_000).fit_oracle(draw)
    X, y = draw(sampling.n_draws_, np.random.default_rng(7))
    table = MartiRank(n_layers=25).fit(X, y)
    unseen = make_r_of_k(10_000, n_features=20, k=9, r=5, random_state=1)
    ours, theirs = (model.score(unseen.X, unseen.y) for model in (sampling, table))
    assert ours > 0.98
    assert ours > theirs - 0.01


def test_memory_does_not_grow_with_the_number_of_draws():
    def peak(max_draws):
        # Pure nodes never have enough rows: every layer that meets one uses up its draws.
        ranker = SamplingMartiRank(
            n_layers=12,
            target_error=1e-3,
            max_draws=max_draws,
            sample_size=4000,
            batch_size=4000,
        )
        tracemalloc.start()
        try:
            ranker.fit_oracle(draw_from())
            return ranker.n_draws_, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(4000)  # imports and compilation
    few, little = peak(8000)
    many, much = peak(64_000)
    assert few < 100_000
    assert many > 300_000
    assert much < 1.2 * little


def test_draws_reported_are_draws_made():
    oracle = Ticker(*rows(100_000))
    ranker = SamplingMartiRank(**SMALL).fit_oracle(oracle)
    assert ranker.n_draws_ == ranker.history_.n_draws == oracle.made
    assert ranker.certificate_.values["n_draws"] == oracle.made
    assert oracle.made == sum(ranker.history_.draws) + 2 * SMALL["sample_size"]
    assert len(ranker.history_.draws) == ranker.n_iter_ == 6
    assert max(ranker.history_.draws) <= SMALL["max_draws"]


def batches(X, y, sizes=(700, 1, 0, 2500, 90, 4000)):
    """The table as batches of odd sizes, an empty one among them."""
    start = 0
    while start < len(y):
        for size in sizes:
            yield X[start : start + size], y[start : start + size]
            start += size


def pandas_oracle(X, y, tmp_path):
    return {"oracle": batches(X, y)}


def polars_oracle(X, y, tmp_path):
    return {"oracle": [(pl.from_pandas(part), pl.Series(label)) for part, label in batches(X, y)]}


def shuffled_oracle(X, y, tmp_path):
    return {"oracle": ((X[X.columns[:: (-1) ** k]], y) for k, (X, y) in enumerate(batches(X, y)))}


def parquet_oracle(X, y, tmp_path):
    path = tmp_path / "rows.parquet"
    table = pa.Table.from_pandas(X.assign(bad=y), preserve_index=False)
    pq.write_table(table, path, row_group_size=3333)
    return {"oracle": path, "target": "bad"}


@pytest.mark.parametrize("make", [pandas_oracle, polars_oracle, shuffled_oracle, parquet_oracle])
def test_iterators_and_files_equal_a_callable_on_the_same_rows(make, tmp_path):
    X, y = rows(30_000, noise=0.1)
    X.loc[::13, "a"] = np.nan
    X["c"] = np.where(X["c"] > 0, "yes", "no")  # not a pandas category: batches may lack one
    ranker = SamplingMartiRank(**SMALL)
    expected = ranker.fit_oracle(Ticker(X, y)).model_
    assert same_model(ranker.fit_oracle(**make(X, y, tmp_path)).model_, expected)
    assert list(ranker.feature_names_in_) == list("abcdefgh")


def test_an_oracle_that_runs_dry_leaves_the_program_so_far(tmp_path):
    X, y = rows(6000)
    ranker = SamplingMartiRank(n_layers=40, max_draws=1500, sample_size=1500)
    with pytest.raises(
        OracleError, match=r"out of rows \(after 6,000 draws, in layer \d+ of 40\); model_"
    ):
        ranker.fit_oracle(Ticker(X, y))
    n_layers = ranker.n_iter_
    assert 2 < n_layers < 40
    assert ranker.model_.n_layers == n_layers == len(ranker.history_.draws)
    assert ranker.n_draws_ == 6000
    unseen = rows(3000, seed=1)
    assert ranker.score(*unseen) > 0.8
    assert set(ranker.predict(unseen[0])) == {0, 1}
    assert ranker.certificate_.values["n_layers"] == n_layers
    assert (
        "measured on the first draws, which layer 1 was trained on."
        in ranker.certificate_.statement
    )
    check_saved_model(ranker.model_, unseen[0], tmp_path)


def test_the_error_carries_what_the_estimator_keeps():
    with pytest.raises(OracleError) as caught:
        SamplingMartiRank(n_layers=40, max_draws=1500, sample_size=1500).fit_oracle(
            Ticker(*rows(6000))
        )
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.model.n_layers == len(error.history.layers)
    assert f"model_ keeps the program of {error.model.n_layers} finished layer" in str(error)
    assert f"{error.n_draws:,} draws" in str(error)


def test_dry_in_the_last_samples():
    X, y = rows(30_000)
    used = SamplingMartiRank(**SMALL).fit_oracle(Ticker(X, y)).n_draws_
    ranker = SamplingMartiRank(**SMALL)
    with pytest.raises(
        OracleError, match=r"out of rows \(after .*, in the last samples, after 6 layers"
    ):
        ranker.fit_oracle(Ticker(X[: used - 1], y[: used - 1]))
    assert ranker.n_iter_ == 6


def spoil(change, after=9000):
    """An oracle whose first ``after`` draws are right and whose later ones are changed."""
    X, y = rows(40_000)
    ticker = Ticker(X, y)

    def draw(n, rng):
        batch = ticker(n, rng)
        return change(*batch) if ticker.made > after else batch

    return draw


def fail(X, y):
    raise ConnectionError("gone away")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda X, y: (X.drop(columns="b"), y),
            "other columns than in the first batch .without 'b'.",
        ),
        (lambda X, y: (X.assign(z=1), y), "other columns than in the first batch .with 'z'."),
        (lambda X, y: (X.to_numpy()[:, 1:], y), "other columns than in the first batch"),
        (lambda X, y: (X.assign(a="text"), y), "column 'a' holds text"),
        (lambda X, y: (X.assign(a=np.inf), y), "'a' holds .* infinity"),
        (
            lambda X, y: (X, y + 5),
            "label is .*, which is neither of the two classes of earlier draws .0, 1.",
        ),
        (lambda X, y: (X, y[1:]), "X has .* rows and y has"),
        (lambda X, y: (X, np.where(y, np.nan, 0)), "missing label"),
        (lambda X, y: X, "the batch is a DataFrame; give a pair"),
        (lambda X, y: (X[:0], y[:0]), "ran out of rows"),
        (fail, "failed .ConnectionError: gone away."),
    ],
)
def test_an_oracle_that_changes_its_mind(change, message):
    ranker = SamplingMartiRank(n_layers=30, max_draws=1500, sample_size=1500)
    with pytest.raises(
        OracleError, match=rf"{message}.* \(after \d,\d{{3}} draws, in layer \d+ of 30"
    ):
        ranker.fit_oracle(spoil(change))
    assert ranker.n_iter_ >= 4
    assert ranker.score(*rows(2000, seed=1)) > 0.8


def test_only_one_class():
    ranker = SamplingMartiRank(**SMALL)
    X, _ = rows(50_000)
    ranker.fit(X[:500], rows(500)[1])
    with pytest.raises(
        OracleError,
        match=r"only one class \(0\) \(after 1,500 draws, before layer 1\); no layer was finished; "
        r"give a larger max_draws .*, and shuffle rows that are sorted",
    ):
        ranker.fit_oracle(Ticker(X, np.zeros(len(X), dtype=int)))
    assert not hasattr(ranker, "model_")  # nothing of the fit before
    assert ranker.n_draws_ == 1500
    with pytest.raises(
        OracleError, match=r"out of rows \(after 0 draws, before layer 1\); no layer"
    ):
        ranker.fit_oracle(iter([]))
    with pytest.raises(
        OracleError, match=r"out of rows \(after 40 draws, before layer 1\); no layer"
    ):
        ranker.fit_oracle(iter([(X[:40], np.arange(40) % 2)]))


@pytest.mark.parametrize("label", [0, 1])
def test_an_oracle_that_turns_to_one_class(label):
    ranker = SamplingMartiRank(n_layers=30, max_draws=1500, sample_size=1500)
    with pytest.raises(
        OracleError,
        match=rf"only one class .{label}. in its last \d+,?\d* draws, although \d,\d{{3}} of the "
        rf"\d,\d{{3}} draws before were {1 - label} \(after \d+,\d{{3}} draws, in layer \d+ of 30"
        r"\); model_ keeps the program of \d+ finished layers?; give rows in random order",
    ):
        ranker.fit_oracle(spoil(lambda X, y: (X, np.full_like(y, label))))
    assert ranker.n_iter_ >= 4
    assert ranker.score(*rows(2000, seed=1)) > 0.8


def test_one_class_in_the_last_samples():
    used = SamplingMartiRank(**SMALL).fit_oracle(Ticker(*rows(40_000))).n_draws_
    ranker = SamplingMartiRank(**SMALL)
    after = used - SMALL["sample_size"]
    with pytest.raises(OracleError, match=r"only one class .1. in its last .* in the last samples"):
        ranker.fit_oracle(spoil(lambda X, y: (X, np.ones_like(y)), after=after))
    assert ranker.n_iter_ == 6


def test_a_rare_class_is_waited_for():
    X, y = rows(60_000)
    late = np.concatenate([np.zeros(7000, dtype=int), np.ones(1, dtype=int), y[7001:]])
    ranker = SamplingMartiRank(
        n_layers=4, noise_rate=0.0, max_draws=20_000, sample_size=1000, batch_size=1000
    )
    ranker.fit_oracle(Ticker(X, late))
    assert ranker.history_.draws[0] >= 8000
    assert ranker.n_draws_ == sum(ranker.history_.draws) + 2000
    # What was dropped while waiting counts in the rate of the classes.
    assert ranker.history_.positive_rate == pytest.approx(late[: ranker.n_draws_].mean())


def last_changed(X, y, sizes, change):
    """Batches of such sizes, the last of them changed."""
    stops = np.cumsum(sizes)
    for start, stop in zip(stops - sizes, stops, strict=True):
        batch = X[start:stop], y[start:stop]
        yield change(*batch) if stop == stops[-1] else batch


@pytest.mark.parametrize(
    ("sizes", "all_one", "change", "n_draws"),
    [
        # While the first sample is filled, the rows that came are counted.
        ((500, 700, 300), False, lambda X, y: (X.drop(columns="b"), y), 1200),
        ((500, 700, 300), False, fail, 1200),
        # While a class is waited for, so are those that are held and those that were dropped.
        ((2000, 500, 500), True, fail, 2500),
        ((2000, 500, 500), True, lambda X, y: (X, y + np.nan), 2500),
        # An error of all draws together is raised after the last one.
        ((500, 700, 400), False, lambda X, y: (X, np.full(len(y), 7)), 1600),
        ((500, 700, 400), False, lambda X, y: (X.assign(a=np.inf), y), 1600),
    ],
)
def test_draws_are_counted_when_the_first_batches_fail(sizes, all_one, change, n_draws):
    X, y = rows(4000)
    y = np.ones_like(y) if all_one else y
    ranker = SamplingMartiRank(n_layers=3, sample_size=1500, max_draws=5000, batch_size=500)
    with pytest.raises(
        OracleError, match=rf"\(after {n_draws:,} draws, before layer 1\); no layer"
    ):
        ranker.fit_oracle(last_changed(X, y, sizes, change))
    assert ranker.n_draws_ == n_draws
    with pytest.raises(NotFittedError):
        ranker.predict(X)


def test_a_bad_parameter_is_not_the_fault_of_the_oracle():
    ranker = SamplingMartiRank(pos_label="yes", **SMALL)
    with pytest.raises(
        ValueError, match=r"pos_label='yes' is not among .* oracle's labels: 0, 1"
    ) as e:
        ranker.fit_oracle(Ticker(*rows(5000)))
    assert not isinstance(e.value, OracleError)
    ranker = SamplingMartiRank(categorical_features=["z"], **SMALL)
    with pytest.raises(ValueError, match="categorical_features names 'z'") as e:
        ranker.fit_oracle(Ticker(*rows(5000)))
    assert not isinstance(e.value, OracleError)


def test_a_noise_rate_that_the_rows_of_a_table_refute():
    X, y = rows(2000)
    ranker = SamplingMartiRank(noise_rate=0.4, **SMALL)
    with pytest.raises(
        OracleError, match=r"noise_rate is 0.4, which is more .* \(after 1,500 draws, in layer 1"
    ):
        ranker.fit(X, (y == 1) & (np.arange(2000) % 4 == 0))
    with pytest.raises(NotFittedError):
        ranker.predict(X)


def test_an_oracle_without_rows_learns_how_many_are_needed(tmp_path):
    X, y = rows(6000)
    oracle = parquet_oracle(X, y, tmp_path)
    most = 40 * 1500 + 2 * 1000
    ranker = SamplingMartiRank(n_layers=40, max_draws=1500, sample_size=1000)
    with pytest.raises(
        OracleError,
        match=rf"\(after 6,000 draws.* may need up to {most:,} draws \(40 layers of at most 1,500, "
        r"two samples of 1,000\); give a smaller n_layers, a smaller max_draws or a ",
    ):
        ranker.fit_oracle(**oracle)
    # Without max_draws it is the paper's bound, 2 m_A / (epsilon / (4 T (T + 1)) p) a layer.
    ranker = SamplingMartiRank(max_draws=None, sample_size=1000, noise_rate=0.0, positive_rate=0.5)
    most = 40 * 2 * 10 * 4 * 40 * 41 * 2 * 10 + 2 * 1000
    with pytest.raises(
        OracleError, match=rf"out of rows .* up to {most:,} draws .*, a max_draws or"
    ):
        ranker.fit_oracle(**oracle)
    ranker = SamplingMartiRank(max_draws=None)
    with pytest.raises(
        OracleError, match=r"after 6,000 .* finished; give a smaller n_layers or a max"
    ):
        ranker.fit_oracle(**oracle)
    # With as many rows as it says, it does not run dry.
    SamplingMartiRank(n_layers=4, max_draws=1000, sample_size=1000).fit_oracle(**oracle)


def test_unbalanced_classes_and_labels_of_any_kind():
    def draw(n, rng):
        X = rng.normal(size=(n, 3))
        return X, np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 3, "bad", "good")

    ranker = SamplingMartiRank(n_layers=10, max_draws=20_000, pos_label="bad").fit_oracle(draw)
    assert ranker.history_.positive_rate == pytest.approx(0.0416, rel=0.1)
    assert ranker.model_.classes == ("good", "bad")
    X, y = draw(5000, np.random.default_rng(3))
    assert auc(y, ranker.decision_function(X), pos_label="bad") > 0.85
    assert set(ranker.predict(X)) == {"good", "bad"}


def test_what_is_no_oracle_is_refused(tmp_path):
    ranker = SamplingMartiRank(**SMALL)
    with pytest.raises(TypeError, match="oracle is of type int; give a callable draw"):
        ranker.fit_oracle(5)
    with pytest.raises(ValueError, match="target is 'y', but the oracle is not a file"):
        ranker.fit_oracle(draw_from(), target="y")
    X, y = rows(60)
    with pytest.raises(
        TypeError, match=r"oracle is a table \(DataFrame of 60 x 8\); use fit\(X, y\)"
    ):
        ranker.fit_oracle(X)
    with pytest.raises(
        TypeError, match=r"oracle is a table \(ndarray of 60 x 8\); use fit\(X, y\)"
    ):
        ranker.fit_oracle(X.to_numpy(), target="a")
    for both in ((X, y), [X, y], make_r_of_k(60)):
        with pytest.raises(
            TypeError, match=r"begins with a table .* use fit\(X, y\) .* or give \[\(X"
        ):
            ranker.fit_oracle(both)
    path = tmp_path / "rows.parquet"
    path.write_text("a,b")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        ranker.fit_oracle(path, target="b")
    pq.write_table(pa.table({"a": [1], "b": [2]}), path)
    with pytest.raises(ValueError, match=r"target is None; give .*, one of 'a', 'b'"):
        ranker.fit_oracle(path)
    with pytest.raises(
        ValueError, match=r"target is 'c', which is not a column of .*; give one of 'a', 'b'"
    ):
        ranker.fit_oracle(str(path), target="c")


def test_a_table_as_the_oracle():
    X, y = messy_table(0, n_rows=400)
    settings: dict[str, Any] = {"n_layers": 8, "max_draws": 4000, "sample_size": 4000}
    ranker = SamplingMartiRank(categorical_features=[4], **settings).fit(X, y)
    assert ranker.score(X, y) > 0.75
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.feature_importances_[3] == 0  # the constant
    assert "measured on draws from the training rows" in ranker.certificate_.statement
    # Rows are drawn by what they hold: neither their order nor copies for weights show.
    order = np.random.default_rng(1).permutation(len(y))
    turned = SamplingMartiRank(categorical_features=[4], **settings).fit(X[order], y[order])
    assert same_model(ranker.model_, turned.model_)
    weight = np.random.default_rng(2).integers(0, 3, size=len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = SamplingMartiRank(**settings).fit(X, y, sample_weight=weight)
    repeated = SamplingMartiRank(**settings).fit(X[copies], y[copies])
    assert same_model(weighted.model_, repeated.model_)


def test_saved_models_score_the_same_and_seeds_decide(tmp_path):
    X, _ = rows(3000, seed=3)
    models = [
        SamplingMartiRank(random_state=seed, n_jobs=jobs, **SMALL).fit_oracle(draw_from(0.1)).model_
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    ]
    check_saved_model(models[0], X.to_numpy(), tmp_path)
    assert same_model(models[0], models[1])
    assert not same_model(models[0], models[2])


def test_without_max_draws_a_class_is_not_waited_for_without_end():
    made = 0

    def draw(n, rng):
        nonlocal made
        made += n
        return np.zeros((n, 1), dtype=np.float32), np.zeros(n, dtype=int)

    ranker = SamplingMartiRank(max_draws=None, sample_size=30_000, batch_size=100_000)
    with pytest.raises(OracleError, match=r"only one class \(0\) \(after 1,500,000 draws"):
        ranker.fit_oracle(draw)
    assert made == 1_500_000


@pytest.mark.parametrize("max_draws", [1, 2])
def test_however_few_draws_a_layer_has_both_classes_are_seen(max_draws):
    def draw(n, rng):
        return rng.normal(size=(n, 2)), rng.integers(0, 2, size=n)

    ranker = SamplingMartiRank(n_layers=2, max_draws=max_draws, sample_size=50)
    for seed in range(5):
        ranker.set_params(random_state=seed).fit_oracle(draw)
        assert set(ranker.classes_) == {0, 1}
    ranker.fit(*rows(100))


def test_a_callable_may_end_as_an_iterator_does():
    given = batches(*rows(6000), sizes=(500,))
    ranker = SamplingMartiRank(n_layers=40, max_draws=1500, sample_size=1500)
    with pytest.raises(
        OracleError, match=r"the oracle ran out of rows \(after 6,000 draws.* to need fewer"
    ):
        ranker.fit_oracle(lambda n, rng: next(given))
    assert ranker.n_iter_ > 2
