"""Labels, scores and weights of any kind; what is refused, and in which words."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from auctor.data import read_labels, read_scores, read_vector, read_weights

NAN = float("nan")


def objects(*values):
    """Values of any kind, none of them taken apart."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


TWO = {
    "list": ["no", "yes", "no"],
    "tuple": ("no", "yes", "no"),
    "numpy text": np.array(["no", "yes", "no"]),
    "numpy objects": np.array(["no", "yes", "no"], dtype=object),
    "column": np.array([["no"], ["yes"], ["no"]]),
    "series": pd.Series(["no", "yes", "no"], index=[5, 5, 5]),
    "pandas category": pd.Series(["no", "yes", "no"], dtype="category"),
    "categorical": pd.Categorical(["no", "yes", "no"]),
    "index": pd.Index(["no", "yes", "no"]),
    "frame": pd.DataFrame({"y": ["no", "yes", "no"]}),
    "polars": pl.Series(["no", "yes", "no"]),
    "polars category": pl.Series(["no", "yes", "no"], dtype=pl.Categorical),
    "polars frame": pl.DataFrame({"y": ["no", "yes", "no"]}),
    "arrow": pa.array(["no", "yes", "no"]),
    "arrow chunks": pa.chunked_array([["no"], ["yes", "no"]]),
    "arrow table": pa.table({"y": ["no", "yes", "no"]}),
}

NUMBERS = {
    "int": [0, 1, 0],
    "bool": [False, True, False],
    "float": [-0.5, 0.5, -0.5],
    "uint8": np.array([3, 250, 3], dtype=np.uint8),
    "big endian": np.array([1, 2, 1], dtype=">i4"),
    "nullable": pd.Series([0, 1, 0], dtype="Int64"),
    "nullable bool": pd.Series([False, True, False], dtype="boolean"),
    "beyond 64 bits": [2**70, 2**71, 2**70],
    "128 bits": pl.Series([2**70, 2**71, 2**70], dtype=pl.Int128),
    "decimal": [Decimal(0), Decimal(1), Decimal(0)],
    "date": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)],
    "unmasked": np.ma.array([0, 1, 0]),
}

REFUSED = {
    "none": (None, "y is of type NoneType; give a one-dimensional array"),
    "text": ("yes", "y is of type str; give a one-dimensional array"),
    "two columns": ([[0, 1], [1, 0]], r"y is of shape \(2, 2\); give a one-dimensional array"),
    "empty": ([], "y is empty"),
    "one class": ([1, 1], r"y has 1 class \(1\); auctor needs exactly two"),
    "three classes": ([0, 1, 2], r"y has 3 classes \(0, 1, 2\); auctor needs exactly two"),
    "many classes": (np.arange(9), r"y has 9 classes \(0, 1, 2, 3, 4, \.\.\.\)"),
    "three texts": (["a", "b", "c"], r"y has 3 classes \(a, b, c\)"),
    "nan": ([0.0, 1.0, NAN], r"y has 1 missing label"),
    "none label": ([0, None, None], r"y has 2 missing label"),
    "text and nan": (["a", NAN, "b"], r"y has 1 missing label"),
    "text and none": (["a", None, "b"], r"y has 1 missing label"),
    "pandas NA": ([0, 1, pd.NA], r"y has 1 missing label"),
    "nullable": (pd.Series([0, 1, None], dtype="Int64"), r"y has 1 missing label"),
    "nullable bool": (pd.Series([True, False, None], dtype="boolean"), r"y has 1 missing label"),
    "pandas text": (pd.Series(["a", "b", None]), r"y has 1 missing label"),
    "polars": (pl.Series([True, False, None]), r"y has 1 missing label"),
    "arrow": (pa.array([0, 1, None]), r"y has 1 missing label"),
    "NaT": (np.array(["2020", "2021", "NaT"], dtype="M8[Y]"), r"y has 1 missing label"),
    "masked": (np.ma.array([0, 1, 1], mask=[0, 0, 1]), r"y has 1 missing label"),
    "masked text": (np.ma.array(["a", "b", "b"], mask=[0, 0, 1]), r"y has 1 missing label"),
    "infinite": ([0.0, np.inf], "y has infinite labels"),
    "mixed": (["a", 1], "y has labels of types int, str"),
    "tuples": (objects((0, 1), (1, 0)), "y has labels of types tuple; give text or numbers"),
    "tuples of one": (objects((0,), (1,)), "y has labels of types tuple"),
    "empty tuple": (objects((), (1,)), "y has labels of types tuple"),
    "sets": (objects(frozenset([0]), frozenset([1])), "y has labels of types frozenset"),
    "records": (np.array([(1, 2), (3, 4)], dtype=[("a", int), ("b", int)]), "y has labels of type"),
    "ragged": ([[1], [2, 3], 4], "y has lists as values; give a one-dimensional array"),
    "complex": ([1j, 2.0], "y has labels of type complex128"),
    "surrogate": (["a\ud800", "b"], r"y has the label 'a\\ud800', which is not valid Unicode"),
    "surrogate objects": (objects("a", "b\udfff"), "not valid Unicode"),
    "lists": (np.array([[1], [2, 3]], dtype=object), "y has labels of types list"),
}


class TestLabels:
    @pytest.mark.parametrize("case", TWO)
    def test_text_of_any_container(self, case):
        labels = read_labels(TWO[case])
        assert labels.positive.tolist() == [False, True, False]
        assert labels.positive.dtype == np.bool_
        assert labels.classes.tolist() == ["no", "yes"]

    @pytest.mark.parametrize("case", NUMBERS)
    def test_other_types(self, case):
        labels = read_labels(NUMBERS[case])
        assert labels.positive.tolist() == [False, True, False]
        assert labels.classes.tolist() == list(NUMBERS[case])[:2]

    def test_texts_stay_numpy_text(self):
        assert read_labels(["no", "yes"]).classes.dtype.kind == "U"

    @pytest.mark.parametrize("case", REFUSED)
    def test_refused(self, case):
        y, words = REFUSED[case]
        with pytest.raises(ValueError, match=words):
            read_labels(y)

    def test_pos_label(self):
        labels = read_labels(["bad", "good"], pos_label="bad")
        assert labels.positive.tolist() == [True, False]
        assert labels.classes.tolist() == ["good", "bad"]
        labels = read_labels([0, 1], pos_label=0)
        assert labels.positive.tolist() == [True, False]
        labels = read_labels([False, True], pos_label=np.True_)
        assert labels.positive.tolist() == [False, True]

    @pytest.mark.parametrize("pos_label", [2, "1", NAN, b"a", (0, 1), [0], {1}, np.ones(2), pd.NA])
    def test_unknown_pos_label(self, pos_label):
        with pytest.raises(ValueError, match="is not among the classes of y: 0, 1"):
            read_labels([0, 1], pos_label=pos_label)

    def test_name_of_the_argument(self):
        with pytest.raises(ValueError, match=r"^y_true has 1 class"):
            read_labels([1], name="y_true")

    def test_input_is_left_alone(self):
        y = np.array(["b", "a"])
        y.flags.writeable = False
        read_labels(y, pos_label="a")
        assert y.tolist() == ["b", "a"]


class TestScores:
    def test_read(self):
        scores = read_scores(pd.Series([1, 2, 3], dtype="Int64"), 3)
        assert scores.dtype == np.float64
        assert scores.tolist() == [1.0, 2.0, 3.0]
        assert read_scores(np.arange(6.0)[::2], 3).flags.c_contiguous
        assert read_scores([np.inf, -np.inf], 2).tolist() == [np.inf, -np.inf]

    @pytest.mark.parametrize(
        ("scores", "words"),
        [
            ([1.0, 2.0], "y_score has 2 values for 3 labels"),
            ([1.0, NAN, NAN], r"y_score has 2 NaN values; give a number"),
            ([1.0, None, 2.0], r"y_score has 1 NaN value; give a number"),
            (["1", "2", "3"], "y_score has values .*give numbers"),
            ([1, 2, "x"], "y_score has values .*give numbers"),
            ([1j, 2, 3], "y_score has values .*give numbers"),
            (np.array(["2020"] * 3, dtype="M8[Y]"), "y_score has values .*give numbers"),
            ([1, 2, pd.NA], "y_score has values .*give numbers"),
            ([1, 2, 10**400], "y_score has values .*give numbers"),
            ([1, 2**53, 2**53 + 1], r"y_score has 1 value that would be equal .* 53 bits"),
            (np.array([1, 2**63, 2**63 + 1], dtype=np.uint64), "y_score has 1 value"),
            ([-(2**60), 1 - 2**60, 2 - 2**60], "y_score has 2 value"),
            ([2**80, 2**80 + 1, 0], "y_score has 1 value"),
            ([Decimal("0.1"), Decimal("0.10000000000000000000001"), 1], "y_score has 1 value"),
        ],
    )
    def test_refused(self, scores, words):
        with pytest.raises(ValueError, match=words):
            read_scores(scores, 3)

    def test_large_whole_numbers_that_stay_apart(self):
        scores = [2**53, 2**53 + 2, 2**53, -(2**62)]
        assert read_scores(scores, 4).tolist() == scores
        assert read_scores([Decimal(1), Decimal("0.1"), 2**80, 1], 4).tolist() == [1, 0.1, 2**80, 1]


class TestWeights:
    def test_read(self):
        assert read_weights(None, 3) is None
        assert read_weights([1, 0, 2], 3).tolist() == [1.0, 0.0, 2.0]
        assert read_weights(pl.Series([1, 0, 2]), 3).tolist() == [1.0, 0.0, 2.0]
        assert read_weights([True, False, True], 3).tolist() == [1.0, 0.0, 1.0]

    @pytest.mark.parametrize("scalar", [2, 2.0, np.int8(2), np.float32(2)])
    def test_one_for_all(self, scalar):
        assert read_weights(scalar, 3).tolist() == [2.0, 2.0, 2.0]

    @pytest.mark.parametrize(
        ("weights", "words"),
        [
            ([1, 2], "sample_weight has 2 values for 3 rows"),
            ([1, -2, 3], r"sample_weight has negative values \(smallest -2\)"),
            ([1, NAN, 3], "NaN or infinite"),
            ([1, None, 3], "NaN or infinite"),
            ([1, np.inf, 3], "NaN or infinite"),
            ([0, 0, 0], "zero everywhere"),
            (["1", "2", "3"], "sample_weight has values .*give numbers"),
            ([1j, 1, 1], "sample_weight has values .*give numbers"),
            ("balanced", "sample_weight is of .*give a one-dimensional array"),
            ([[1, 2, 3]], "sample_weight is of .*give a one-dimensional array"),
            (0, "zero everywhere"),
            (-1.0, "negative"),
            (NAN, "NaN or infinite"),
            (np.inf, "NaN or infinite"),
            (np.ma.array([1, 1, 1], mask=[0, 0, 1]), "NaN or infinite"),
        ],
    )
    def test_refused(self, weights, words):
        with pytest.raises(ValueError, match=words):
            read_weights(weights, 3)


def test_vector_names_its_argument():
    with pytest.raises(ValueError, match=r"^groups is of type dict; give a one-dimensional array"):
        read_vector({"a": 1}, "groups")
