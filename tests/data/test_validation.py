"""From any table and its labels to RankingData: bins, codes, weights, categories, errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from auctor.data import find_categorical, prepare, read_table, select
from auctor.testing import strategies as own
from tests.reference import binning as reference

# pandas before 3 has no text type that is called "str".
TEXT = "str" if int(pd.__version__.split(".")[0]) >= 3 else "string"

NAN = float("nan")


def by_row(data, sample_weight=None):
    """Codes (rows, features) and weights by the row's place in the table that was given."""
    codes, weight = {}, {}
    for part in data.partitions:
        for i, row in enumerate(part.rows.tolist()):
            if sample_weight is not None:  # absent rows leave no gap in ``rows``
                row = int(np.flatnonzero(sample_weight > 0)[row])
            codes[row] = part.codes[:, i].tolist()
            weight[row] = part.weight[i]
    return codes, weight


def same_features(a, b):
    """Equal to the last bit of each cut and centre."""
    of_a, of_b = (
        [(f.name, f.kind, f.cuts.tobytes(), f.centres.tobytes(), f.categories) for f in x.features]
        for x in (a, b)
    )
    return of_a == of_b


def alternate(n_rows):
    """Labels 0, 1, 0, 1, ..."""
    return np.arange(n_rows) % 2


class TestBins:
    def test_layout(self):
        X = [[10.0, NAN], [20.0, 5.0], [30.0, 5.0], [NAN, 7.0]]
        data = prepare(X, [1, 0, 1, 0])
        (part,) = data.partitions
        assert part.rows.tolist() == [0, 2, 1, 3]  # positives first, order kept
        assert part.codes.tolist() == [[1, 3, 2, 0], [0, 1, 1, 2]]
        assert part.codes.dtype == np.uint8
        assert part.weight.dtype == np.uint32
        assert part.weight.tolist() == [1, 1, 1, 1]
        assert (part.n_pos, data.n_pos, data.n_neg, data.n_rows, data.n_features) == (2, 2, 2, 4, 2)
        assert part.positive.tolist() == [True, True, False, False]
        assert data.classes.tolist() == [0, 1]
        assert [f.cuts.tolist() for f in data.features] == [[15.0, 25.0], [6.0]]
        assert data.class_weights == (2, 2)
        assert data.n_codes == 4

    @given(st.data(), st.integers(2, 25), st.integers(2, 9))
    def test_reference(self, data, n_rows, max_bins):
        column = data.draw(own.columns(n_rows, n_rows, missing=True))
        y = data.draw(own.labels(n_rows))
        prepared = prepare(column[:, None], y, max_bins=max_bins)
        known = column[~np.isnan(column)].tolist()
        cuts = reference.cuts(known, [1] * len(known), max_bins)
        codes, _ = by_row(prepared)
        assert [codes[i] for i in range(n_rows)] == [[c] for c in reference.codes(column, cuts)]

    @pytest.mark.parametrize(
        ("max_bins", "dtype"), [(2, "u1"), (255, "u1"), (256, "u2"), (65_535, "u2")]
    )
    def test_number_of_bins_and_width_of_codes(self, max_bins, dtype):
        X = np.arange(70_000.0)[:, None]
        data = prepare(X, alternate(len(X)), max_bins=max_bins)
        (part,) = data.partitions
        assert part.codes.dtype == np.dtype(dtype)
        assert data.features[0].n_bins == max_bins
        assert (part.codes.min(), part.codes.max()) == (1, max_bins)
        assert data.n_codes == max_bins + 1

    def test_codes_do_not_wrap_around(self):
        X = np.arange(600.0)[:, None]
        codes, _ = by_row(prepare(X, alternate(600), max_bins=600))
        assert [codes[i][0] for i in range(600)] == list(range(1, 601))

    def test_constant_and_missing_columns(self):
        X = np.array([[5.0, NAN, NAN], [5.0, NAN, 1.0]])
        data = prepare(X, [0, 1])
        assert [f.n_bins for f in data.features] == [1, 1, 1]
        codes, _ = by_row(data)
        assert codes == {0: [1, 0, 0], 1: [1, 0, 1]}

    def test_order_of_rows_is_irrelevant(self):
        random = np.random.default_rng(0)
        X = np.column_stack([random.normal(size=500), random.integers(0, 3, 500)])
        y, weight = random.integers(0, 2, 500), random.integers(0, 4, 500) / 8
        order = random.permutation(500)
        a = prepare(X, y, sample_weight=weight, max_bins=16, categorical_features=[1])
        b = prepare(
            X[order], y[order], sample_weight=weight[order], max_bins=16, categorical_features=[1]
        )
        assert same_features(a, b)
        codes_a, weight_a = by_row(a, weight)
        codes_b, weight_b = by_row(b, weight[order])
        assert codes_a == {int(order[i]): code for i, code in codes_b.items()}
        assert weight_a == {int(order[i]): w for i, w in weight_b.items()}

    @pytest.mark.parametrize("n_jobs", [2, -1])
    def test_threads_change_nothing(self, n_jobs):
        X = np.random.default_rng(1).normal(size=(200, 7))
        a, b = prepare(X, alternate(200)), prepare(X, alternate(200), n_jobs=n_jobs)
        assert same_features(a, b)
        np.testing.assert_array_equal(a.partitions[0].codes, b.partitions[0].codes)

    def test_input_is_left_alone(self):
        X = np.random.default_rng(2).normal(size=(20, 2))
        y, weight = alternate(20), np.ones(20)
        copies = [array.copy() for array in (X, y, weight)]
        prepare(X, y, sample_weight=weight)
        for array, copy in zip((X, y, weight), copies, strict=True):
            np.testing.assert_array_equal(array, copy)
            assert array.flags.writeable

    def test_all_tables_give_the_same_bits(self, tmp_path):
        random = np.random.default_rng(3)
        X = random.normal(size=(60, 2))
        X[random.random((60, 2)) < 0.2] = NAN
        y = alternate(60)
        columns = {"a": X[:, 0], "b": X[:, 1]}
        np.save(tmp_path / "X.npy", X)
        tables = [
            np.asfortranarray(X),
            np.load(tmp_path / "X.npy", mmap_mode="r"),
            X.tolist(),
            X.astype(object),
            pd.DataFrame(columns),
            pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
            pl.DataFrame(columns),
            pl.LazyFrame(columns),
            pl.DataFrame(columns).fill_nan(None),
            pa.table(columns),
            pa.table({k: pa.array(v, from_pandas=True) for k, v in columns.items()}),
        ]
        expected = prepare(X, y, max_bins=8)
        for table in tables:
            data = prepare(table, y, max_bins=8)
            for ours, theirs in zip(data.features, expected.features, strict=True):
                assert ours.cuts.tobytes() == theirs.cuts.tobytes()
                assert ours.centres.tobytes() == theirs.centres.tobytes()
            np.testing.assert_array_equal(data.partitions[0].codes, expected.partitions[0].codes)

    def test_sparse(self):
        values = np.random.default_rng(4).random((40, 3))
        X = sparse.coo_array(np.where(values < 0.3, values, 0.0))
        data = prepare(X, alternate(40), accept_sparse=True)
        expected = prepare(X.toarray(), alternate(40))
        assert same_features(data, expected)
        np.testing.assert_array_equal(data.partitions[0].codes, expected.partitions[0].codes)


class TestCentres:
    @given(st.data(), st.integers(2, 25), st.integers(2, 9))
    def test_reference(self, data, n_rows, max_bins):
        column = data.draw(own.columns(n_rows, n_rows, missing=True))
        y = data.draw(own.labels(n_rows))
        (feature,) = prepare(column[:, None], y, max_bins=max_bins).features
        known = column[~np.isnan(column)].tolist()
        expected = reference.centres(known, [1] * len(known), feature.cuts.tolist())
        assert feature.centres.tolist() == expected
        assert feature.centres.dtype == np.float64
        assert len(feature.centres) == feature.n_bins

    @given(st.data(), st.integers(2, 25), st.integers(2, 9))
    def test_weight_is_the_row_so_often(self, data, n_rows, max_bins):
        column = data.draw(own.columns(n_rows, n_rows, missing=True))
        y = alternate(n_rows)
        weight = np.array([1, 1, *data.draw(own.whole_weights(n_rows - 2))])
        prepared = prepare(column[:, None], y, sample_weight=weight, max_bins=max_bins)
        repeated = np.repeat(column, weight)[:, None]
        assert same_features(prepared, prepare(repeated, np.repeat(y, weight), max_bins=max_bins))

    def test_values_where_each_has_a_bin(self):
        X = [[10.0, NAN], [20.0, 5.0], [30.0, 5.0], [NAN, 7.0]]
        data = prepare(X, [1, 0, 1, 0])
        assert [f.centres.tolist() for f in data.features] == [[10.0, 20.0, 30.0], [5.0, 7.0]]

    def test_rows_of_weight_0_do_not_count(self):
        X, weight = [[1.0], [2.0], [3.0], [9.0], [8.0]], [1, 0, 1, 1, 0]
        (feature,) = prepare(X, [0, 1, 1, 0, 0], sample_weight=weight).features
        assert feature.centres.tolist() == [1.0, 3.0, 9.0]

    def test_no_known_value(self):
        (feature,) = prepare([[NAN], [NAN]], [0, 1]).features
        assert feature.centres.tolist() == [0.0]

    def test_none_for_categories(self):
        X = pd.DataFrame({"text": ["a", "b", "a"], "code": [1, 2, 2]})
        data = prepare(X, [0, 1, 1], categorical_features=["code"])
        assert [f.is_category for f in data.features] == [True, True]
        assert [f.centres.shape for f in data.features] == [(0,), (0,)]

    @pytest.mark.parametrize("keep_sparse", [False, True], ids=["dense", "sparse"])
    def test_zeros_count_in_sparse_tables(self, keep_sparse):
        X = sparse.csr_array([[0.0, 4.0], [0.0, 0.0], [0.0, 3.0], [7.0, -1.0], [NAN, -2.0]])
        y, settings = [0, 1, 0, 1, 1], {"accept_sparse": True, "max_bins": 2}
        data = prepare(X, y, keep_sparse=keep_sparse, **settings)
        assert [f.centres.tolist() for f in data.features] == [[0.0, 7.0], [-1.0, 3.0]]


class TestWeights:
    @given(st.data(), st.integers(2, 15), st.integers(2, 5))
    def test_weight_is_the_row_so_often(self, data, n_rows, max_bins):
        values = data.draw(own.columns(n_rows, n_rows, missing=True))
        text = data.draw(
            st.lists(st.sampled_from([*"abcdefg", None]), min_size=n_rows, max_size=n_rows)
        )
        y, _, weight = data.draw(own.labelled_scores(n_rows, n_rows))
        frame = pd.DataFrame({"v": values, "t": pd.Series(text, dtype="str")})
        weighted = prepare(
            frame, y, sample_weight=weight, max_bins=max_bins, frequency_weights=True
        )
        often = np.repeat(np.arange(n_rows), weight.astype(int))
        repeated = prepare(frame.iloc[often], y[often], max_bins=max_bins)
        assert same_features(weighted, repeated)
        codes, found_weight = by_row(weighted, weight)
        codes_repeated, _ = by_row(repeated)
        assert {i: codes[int(row)] for i, row in enumerate(often)} == codes_repeated
        assert found_weight == {i: w for i, w in enumerate(weight.tolist()) if w > 0}
        assert weighted.class_weights == repeated.class_weights
        assert weighted.effective_rows == repeated.class_weights

    def test_absent_rows_decide_nothing(self):
        X = pd.DataFrame({"v": [1.0, 2.0, 99.0], "t": ["a", "b", "rare"]})
        data = prepare(X, [0, 1, 1], sample_weight=[1, 1, 0])
        assert same_features(data, prepare(X[:2], [0, 1]))
        assert data.n_rows == 2
        assert data.partitions[0].rows.tolist() == [1, 0]

    def test_labels_of_absent_rows_are_not_read(self):
        data = prepare([[1], [2], [3]], ["a", "b", None], sample_weight=[1, 1, 0])
        assert data.classes.tolist() == ["a", "b"]

    def test_unit(self):
        data = prepare([[1], [2]], [0, 1], sample_weight=[0.5, 1.25], frequency_weights=True)
        assert data.rows_per_unit == (0.25, 0.25)
        assert data.class_weights == (2, 5)
        assert data.effective_rows == (0.5, 1.25)

    def test_a_class_without_weight(self):
        with pytest.raises(ValueError, match=r"y, without its rows of weight 0, has 1 class \(0\)"):
            prepare([[1], [2]], [0, 1], sample_weight=[1, 0])


class TestCategories:
    def test_by_type(self):
        X = pd.DataFrame({"t": ["b", "a", None, "b"], "n": [1, 2, 1, 2]})
        data = prepare(X, [0, 1, 0, 1])
        assert [f.kind for f in data.features] == ["category", "number"]
        assert data.features[0].categories == ("a", "b")  # in order, whatever came first
        codes, _ = by_row(data)
        assert [codes[i][0] for i in range(4)] == [2, 1, 0, 2]

    def test_by_word(self):
        data = prepare([[3.0], [1.5], [NAN], [3.0]], [0, 1, 0, 1], categorical_features=[0])
        assert data.features[0].categories == (1.5, 3)
        assert data.features[0].n_bins == 2
        codes, _ = by_row(data)
        assert [codes[i][0] for i in range(4)] == [2, 1, 0, 2]

    @pytest.mark.parametrize(
        "choice", [None, "from_dtype", []], ids=["None", "from_dtype", "empty"]
    )
    def test_from_dtype_is_none_and_numbers_stay_numbers(self, choice):
        assert prepare([[1], [2]], [0, 1], categorical_features=choice).features[0].kind == "number"

    def test_rare_categories_share_the_bin_of_the_unseen(self):
        text = ["c"] * 3 + ["b"] * 2 + ["d"] * 2 + ["a"] + [None]
        data = prepare([[t] for t in text], alternate(9), max_bins=2)
        assert data.features[0].categories == ("b", "c")  # b before d: equal weight, first in order
        codes, _ = by_row(data)
        assert [codes[i][0] for i in range(9)] == [2, 2, 2, 1, 1, 0, 0, 0, 0]

    def test_heaviest_by_weight(self):
        data = prepare(
            [["a"], ["a"], ["b"], ["c"]], [0, 1, 0, 1], sample_weight=[1, 1, 5, 4], max_bins=2
        )
        assert data.features[0].categories == ("b", "c")

    def test_more_categories_than_a_byte(self):
        text = [[f"k{i:03d}"] for i in range(300)]
        narrow, wide = prepare(text, alternate(300)), prepare(text, alternate(300), max_bins=300)
        assert narrow.features[0].n_bins == 255
        assert wide.features[0].n_bins == 300
        codes, _ = by_row(wide)
        assert [codes[i][0] for i in range(300)] == list(range(1, 301))

    def test_unused_and_empty(self):
        unused = pd.DataFrame({"t": pd.Categorical(["b", "b"], categories=["a", "b"])})
        assert prepare(unused, [0, 1]).features[0].categories == ("b",)
        empty = pd.DataFrame({"t": pd.array([None, None], dtype=TEXT)})
        data = prepare(empty, [0, 1])
        assert (data.features[0].kind, data.features[0].n_bins) == ("category", 0)
        assert data.partitions[0].codes.tolist() == [[0, 0]]

    FRAME = pd.DataFrame({"a": [1], "b": [2], "c": [3]})

    @pytest.mark.parametrize(
        ("chosen", "expected"),
        [
            (["a", "c"], {0, 2}),
            (("b",), {1}),
            (pd.Index(["c"]), {2}),
            (np.array(["a"]), {0}),
            ({"b"}, {1}),
            ([0, -1], {0, 2}),
            (np.array([1]), {1}),
            ([True, False, True], {0, 2}),
            (np.array([False, True, False]), {1}),
            (pd.Series([False, False, True]), {2}),
            ([False] * 3, set()),
            (["a", 1], {0, 1}),
        ],
        ids=str,
    )
    def test_ways_to_choose(self, chosen, expected):
        assert find_categorical(chosen, read_table(self.FRAME)) == expected

    def test_columns_without_names_have_default_ones(self):
        assert find_categorical(["x1"], read_table(np.zeros((1, 2)))) == {1}

    @pytest.mark.parametrize(
        ("chosen", "words"),
        [
            ("a", "categorical_features is 'a'; give"),
            (5, "categorical_features is 5; give"),
            (["z"], "names 'z', which is not a column of X"),
            ([3], "holds 3, but X has 3 columns"),
            ([-4], "holds -4, but X has 3 columns"),
            ([True], "a mask of 1 values; give one for each of the 3 columns"),
            ([1.0], r"holds 1\.0; give column names or indices"),
            ([None], "holds None"),
            ([True, 1, 2], "holds True"),
            (np.array([[0]]), "holds array"),
        ],
        ids=str,
    )
    def test_bad_choices(self, chosen, words):
        with pytest.raises(ValueError, match=words):
            find_categorical(chosen, read_table(self.FRAME))


class TestErrors:
    @pytest.mark.parametrize("max_bins", [1, 0, -1, 65_536, 2.5, "255", None, True])
    def test_max_bins(self, max_bins):
        with pytest.raises(ValueError, match=r"max_bins is .* whole number from 2 to 65535"):
            prepare([[1], [2]], [0, 1], max_bins=max_bins)

    def test_lengths(self):
        with pytest.raises(ValueError, match="inconsistent numbers of samples: 2 and 3"):
            prepare([[1], [2]], [0, 1, 1])

    def test_one_row(self):
        with pytest.raises(ValueError, match=r"y has 1 class"):
            prepare([[1]], [0])

    def test_infinity_names_the_column(self):
        with pytest.raises(ValueError, match="column 'b' holds 1 infinity"):
            prepare(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}), [0, 1])

    @pytest.mark.parametrize(
        ("X", "options"),
        [
            ([[1.0], [2.0]], {"y": [0, 0]}),
            ([[1.0], [2.0]], {"y": [0, None]}),
            ([[1.0], [2.0]], {"sample_weight": [1, -1]}),
            ([[1.0], [2.0]], {"max_bins": 1}),
            ([[1.0], [2.0]], {"n_jobs": 0}),
            ([[1.0], [2.0]], {"pos_label": 5}),
            ([[1.0], [2.0]], {"categorical_features": ["z"]}),
            ([[1.0, "a"], [2.0, 3]], {}),
        ],
        ids=str,
    )
    def test_raised_before_any_column_is_binned(self, X, options, monkeypatch):
        def refuse(*arguments):
            raise AssertionError("work has started")

        monkeypatch.setattr("auctor.data.validation.bin_table", refuse)
        with pytest.raises(ValueError):
            prepare(X, **{"y": [0, 1], **options})


def test_columns_that_the_model_does_not_know_may_hold_anything():
    frame = pd.DataFrame({"x": [1.0, 2.0], "day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    table = read_table(frame)
    assert select(table, ["x"], "Model").tolist() == [0]
    assert table.numbers(0).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="'day'"):
        prepare(frame, [0, 1])


def test_a_model_without_names_takes_a_named_table_in_order():
    table = read_table(pd.DataFrame({"b": [1.0], "a": [2.0]}))
    assert select(table, ["x0", "x1"], "Model").tolist() == [0, 1]
    with pytest.raises(ValueError, match="lacks 3 column"):
        select(table, ["x0", "x1", "x2"], "Model")
