"""Any table in: what each kind of column becomes, and what is refused in which words."""

import datetime
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from auctor.data import read_table, select
from auctor.testing import strategies as own

# pandas before 3 has no text type that is called "str".
TEXT = "str" if int(pd.__version__.split(".")[0]) >= 3 else "string"

NAN = float("nan")


def numbers(X, j=0, **options):
    """Column j as numbers, None where missing, so that lists compare."""
    values = read_table(X, **options).numbers(j)
    assert values.dtype == np.float64
    assert values.flags.c_contiguous
    return [None if np.isnan(v) else v for v in values.tolist()]


def texts(X, j=0):
    """Column j as categories, None where missing."""
    table = read_table(X)
    assert table.is_text(j)
    return categories(X, j)


def categories(X, j=0):
    values, codes = read_table(X).categories(j)
    assert len(set(values)) == len(values)
    return [None if code < 0 else values[code] for code in codes]


class TestArrays:
    @pytest.mark.parametrize(
        "dtype", ["?", "i1", "u1", "<i2", ">i4", "u8", "f2", "<f4", ">f8", "g"]
    )
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_dtype_and_order(self, dtype, order):
        X = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype, order=order)
        X.flags.writeable = False
        assert numbers(X, 0) == [0.0, 1.0, 1.0]
        assert numbers(X, 1) == [1.0, 0.0, 1.0]
        assert read_table(X).names == ("x0", "x1")
        assert not read_table(X).has_names

    def test_strides(self):
        X = np.arange(24.0).reshape(6, 4)[::-2, ::2]
        assert numbers(X, 1) == [22.0, 14.0, 6.0]

    def test_memory_map(self, tmp_path):
        np.save(tmp_path / "X.npy", np.arange(6.0).reshape(3, 2))
        X = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert numbers(X, 1) == [1.0, 3.0, 5.0]

    def test_unaligned(self):
        raw = np.zeros(1 + 8 * 3, dtype=np.uint8)
        X = raw[1:].view(np.float64).reshape(3, 1)
        X[:, 0] = [1, 2, 3]
        assert not X.flags.aligned
        assert numbers(X) == [1.0, 2.0, 3.0]

    def test_float32_is_widened_without_rounding(self):
        X = np.array([[0.1]], dtype=np.float32)
        assert numbers(X) == [float(np.float32(0.1))]

    def test_lists(self):
        assert numbers([[1, None], [2, 3]], 1) == [None, 3.0]
        assert numbers([[True], [False]]) == [1.0, 0.0]
        assert texts([[1, "a"], [2, NAN], [3, None]], 1) == ["a", None, None]
        assert numbers([[1, "a"], [2, NAN]], 0) == [1.0, 2.0]
        assert numbers([[pd.NA], [2]]) == [None, 2.0]

    def test_text(self):
        assert texts(np.array([["b"], ["a"], ["b"]])) == ["b", "a", "b"]
        assert texts(np.array([["é".encode()], [b""]])) == ["é", ""]
        assert texts(np.array([["b"], ["a"]], dtype=np.dtypes.StringDType())) == ["b", "a"]
        # "nan" that was written as text stays text.
        assert texts(np.array([["nan"], ["a"]])) == ["nan", "a"]

    def test_objects(self):
        X = np.array([[1, "u", True], [2.5, NAN, None], [None, "v", False]], dtype=object)
        assert numbers(X, 0) == [1.0, 2.5, None]
        assert texts(X, 1) == ["u", None, "v"]
        assert numbers(X, 2) == [1.0, None, 0.0]

    def test_masked_values_are_missing(self):
        assert numbers(np.ma.array([[1.0], [2.0]], mask=[[True], [False]])) == [None, 2.0]
        assert numbers(np.ma.array([[1], [2]], mask=[[True], [False]])) == [None, 2.0]
        assert texts(np.ma.array([["a"], ["b"]], mask=[[True], [False]])) == [None, "b"]

    def test_numbers_near_the_ends_of_the_range(self):
        assert numbers([[1e308], [1e308], [5e-324]]) == [1e308, 1e308, 5e-324]

    def test_whole_numbers_beyond_2_to_53(self):
        big = 2**53 + 1
        assert numbers(np.array([[big], [2**63 - 1]])) == [2.0**53, 2.0**63]
        # As categories they stay apart, in arrays and in columns with nulls.
        assert categories(np.array([[big], [big - 1]])) == [big, big - 1]
        assert categories(pl.DataFrame({"a": [big, None, big - 1]})) == [big, None, big - 1]
        assert categories(pa.table({"a": [big, None, big - 1]})) == [big, None, big - 1]
        frame = pd.DataFrame({"a": pd.array([big, None, big - 1], dtype="Int64")})
        assert categories(frame) == [big, None, big - 1]

    def test_categories_of_numbers(self):
        names = categories([[1.0], [2.5], [NAN], [-0.0], [1e300]])
        assert names == [1, 2.5, None, 0, 1e300]
        assert [type(v) for v in names] == [int, float, type(None), int, float]
        assert categories(np.array([[True], [False]])) == [1, 0]


class TestPandas:
    @pytest.mark.parametrize(
        "column",
        [
            pd.array([1, None, 3], dtype="Int64"),
            pd.array([1, None, 3], dtype="UInt8"),
            pd.array([1, None, 3], dtype="Float32"),
            pd.array([1, None, 3], dtype="int64[pyarrow]"),
            pd.array([1, None, 3], dtype="double[pyarrow]"),
            np.array([1, NAN, 3]),
            np.array([1, NAN, 3], dtype=np.float16),
            np.array([1, NAN, 3], dtype=np.longdouble),
            np.array([1, NAN, 3], dtype=">f4"),
            np.array([1, None, 3], dtype=object),
            np.array([1, pd.NA, 3.0], dtype=object),
            np.array([1, NAN, np.int8(3)], dtype=object),
            [Decimal(1), None, Decimal(3)],
            pd.arrays.SparseArray([1, NAN, 3]),
        ],
        ids=str,
    )
    def test_numbers(self, column):
        assert numbers(pd.DataFrame({"a": column})) == [1.0, None, 3.0]

    @pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]", object])
    def test_truth_values_with_nulls(self, dtype):
        frame = pd.DataFrame({"a": pd.Series([True, None, False], dtype=dtype)})
        assert numbers(frame) == [1.0, None, 0.0]

    @pytest.mark.parametrize(
        "dtype", ["str", "string[python]", "string[pyarrow]", object, "category"]
    )
    def test_text(self, dtype):
        assert texts(pd.DataFrame({"a": pd.Series(["b", None, "a"], dtype=dtype)})) == [
            "b",
            None,
            "a",
        ]

    def test_categories(self):
        unused = pd.Categorical(["b", None], categories=["a", "b", "c"])
        table = read_table(pd.DataFrame({"a": unused}))
        assert table.categories(0).values == ["b"]
        ordered = pd.Categorical(["low", "high", None], categories=["low", "high"], ordered=True)
        assert texts(pd.DataFrame({"a": ordered})) == ["low", "high", None]
        assert texts(pd.DataFrame({"a": pd.Categorical([3, None, 1])})) == [3, None, 1]
        assert texts(pd.DataFrame({"a": pd.Categorical([0.5, None])})) == [0.5, None]
        assert texts(pd.DataFrame({"a": pd.Categorical([True, None, False])})) == [
            True,
            None,
            False,
        ]

    def test_nothing_but_missing_values(self):
        assert numbers(pd.DataFrame({"a": [None, None]})) == [None, None]
        text = pd.DataFrame({"a": pd.array([None, None], dtype=TEXT)})
        assert texts(text) == [None, None]
        # Text without text is also a column of missing numbers.
        assert numbers(text) == [None, None]
        assert texts(pd.DataFrame({"a": pd.Categorical([None, None])})) == [None, None]

    def test_names(self):
        table = read_table(pd.DataFrame([[1, 2]], columns=["b", "a"]))
        assert (table.names, table.has_names) == (("b", "a"), True)
        table = read_table(pd.DataFrame([[1, 2]]))
        assert (table.names, table.has_names) == (("0", "1"), False)
        # Other whole numbers are names: the columns can be found by them.
        table = read_table(pd.DataFrame([[1, 2]], columns=[1, 0]))
        assert (table.names, table.has_names) == (("1", "0"), True)

    def test_index_is_ignored(self):
        assert numbers(pd.DataFrame({"a": [1, 2]}, index=[7, 7])) == [1.0, 2.0]


class TestPolarsAndArrow:
    def test_polars(self):
        frame = pl.DataFrame(
            {
                "i": [1, None, 3],
                "f": [0.5, NAN, None],
                "b": [True, None, False],
                "t": ["x", None, "y"],
                "e": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "unused", "x"])),
                "c": pl.Series(["x", None, "y"], dtype=pl.Categorical),
                "d": pl.Series([Decimal("0.1"), None, Decimal("2.5")]),
                "n": [None, None, None],
                "u": pl.Series([1, None, 2**64 - 1], dtype=pl.UInt64),
                "h": pl.Series([1, None, 2**100], dtype=pl.Int128),
            }
        )
        for X in (frame, frame.lazy(), nw.from_native(frame)):
            assert numbers(X, 0) == [1.0, None, 3.0]
            assert numbers(X, 1) == [0.5, None, None]
            assert numbers(X, 2) == [1.0, None, 0.0]
            for j in (3, 4, 5):
                assert texts(X, j) == ["x", None, "y"]
            assert numbers(X, 6) == [0.1, None, 2.5]
            assert numbers(X, 7) == [None, None, None]
            assert numbers(X, 8) == [1.0, None, 2.0**64]
            assert numbers(X, 9) == [1.0, None, 2.0**100]

    def test_arrow(self):
        table = pa.table(
            {
                "i": pa.chunked_array([[1, None], [2**53 + 1]]),
                "h": pa.array([np.float16(0.5), None, np.float16(1)]),
                "d": pa.array([Decimal("0.1"), None, Decimal("2.5")]),
                "t": pa.chunked_array([["x"], [None, "y"]]),
                "v": pa.array(["x", None, "y"], type=pa.string_view()),
                "c": pa.chunked_array(
                    [
                        pa.array(["x", None]).dictionary_encode(),
                        pa.array(["y"]).dictionary_encode(),
                    ]
                ),
                "n": pa.nulls(3),
            }
        )
        for X in (table, table.combine_chunks().to_batches()[0]):
            assert read_table(X).has_names
            assert numbers(X, 0) == [1.0, None, 2.0**53]
            assert numbers(X, 1) == [0.5, None, 1.0]
            assert numbers(X, 2) == [0.1, None, 2.5]
            for j in (3, 4, 5):
                assert texts(X, j) == ["x", None, "y"]
            assert numbers(X, 6) == [None, None, None]

    def test_odd_dictionaries(self):
        repeated = pa.DictionaryArray.from_arrays([0, 1, 2, None], ["x", None, "x"])
        assert texts(pa.table({"a": repeated})) == ["x", None, "x", None]
        floats = pa.DictionaryArray.from_arrays([0, 1, 2], [1.5, NAN, None])
        assert texts(pa.table({"a": floats})) == [1.5, None, None]
        decimals = pa.DictionaryArray.from_arrays([0, 0], pa.array([Decimal("0.1")]))
        assert texts(pa.table({"a": decimals})) == [0.1, 0.1]

    @given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=20))
    def test_decimals_become_the_nearest_float(self, values):
        expected = [float(value) for value in values]
        decimals = pa.array(values, type=pa.decimal128(14, 2))
        with_null = pa.concat_arrays([decimals, pa.nulls(1, decimals.type)])
        assert numbers(pa.table({"a": decimals})) == expected
        assert numbers(pa.table({"a": with_null})) == [*expected, None]
        assert numbers(pl.DataFrame({"a": pl.from_arrow(with_null)})) == [*expected, None]

    @given(st.integers(1, 8).flatmap(own.tables))
    def test_all_libraries_read_alike(self, columns):
        frames = [
            pa.table(columns),
            pl.DataFrame(columns, strict=False),
            pd.DataFrame({name: np.array(v, dtype=object) for name, v in columns.items()}),
        ]
        for name, values in columns.items():
            j = list(columns).index(name)
            read = texts if any(isinstance(value, str) for value in values) else numbers
            for frame in frames:
                assert read(frame, j) == values

    def test_polars_column_whose_name_arrow_cannot_have(self):
        frame = pl.DataFrame({"a\0": [1, None], "b\0": ["x", None]})
        assert numbers(frame)[0] == 1.0
        assert read_table(frame).categories(1).values == ["x"]


class TestSparse:
    def test_values(self):
        X = sparse.csr_array(np.array([[0.0, 1.0], [NAN, 0.0], [2.0, 0.0]]))
        for matrix in (X, X.tocoo(), sparse.csr_matrix(X), X.tolil()):
            assert numbers(matrix, 0, accept_sparse=True) == [0.0, None, 2.0]
            assert numbers(matrix, 1, accept_sparse=True) == [1.0, 0.0, 0.0]

    def test_entries_of_one_cell_add_up(self):
        X = sparse.csc_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(2, 1))
        assert numbers(X, accept_sparse=True) == [3.0, 0.0]

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.float32], ids=["bool", "int8", "float32"])
    def test_whole_and_truth_values(self, dtype):
        X = sparse.csr_array(np.array([[0], [1]], dtype=dtype))
        assert numbers(X, accept_sparse=True) == [0.0, 1.0]
        assert read_table(X, accept_sparse=True).categories(0).values == [0, 1]

    def test_refused_unless_declared(self):
        with pytest.raises(TypeError, match=r"needs a dense table; give X\.toarray"):
            read_table(sparse.eye_array(2))

    def test_refused_shapes_and_types(self):
        with pytest.raises(ValueError, match="2 dimensions"):
            read_table(sparse.coo_array([1, 0]), accept_sparse=True)
        with pytest.raises(ValueError, match="Complex"):
            read_table(sparse.eye_array(2, dtype=complex), accept_sparse=True)


class Lazy:
    """Stands for a table of a library that nobody has heard of."""


REFUSED = {
    "none": (None, "object of type NoneType"),
    "path": ("table.csv", "object of type str"),
    "dict": ({"a": [1]}, "object of type dict"),
    "unknown library": (Lazy(), "object of type Lazy"),
    "scalar": (np.float64(1), r"shape \(\)"),
    "vector": ([1, 2], "Reshape"),
    "series": (pd.Series([1, 2]), "Reshape"),
    "cube": (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
    "ragged": ([[1], [1, 2]], "rows may differ in length"),
    "structured": (np.zeros(2, dtype=[("a", float)]), "structured array"),
    "no rows": (np.zeros((0, 3)), r"0 sample\(s\)"),
    "no columns": (np.zeros((3, 0)), r"0 feature\(s\)"),
    "frame without rows": (pd.DataFrame({"a": []}), r"0 sample\(s\)"),
    "frame without columns": (pd.DataFrame(index=range(3)), r"0 feature\(s\)"),
    "empty list": ([], "Reshape"),
    "complex": (np.ones((1, 1), dtype=complex), "Complex"),
    "dates": (np.zeros((1, 1), dtype="M8[D]"), "datetime64.*number of days"),
    "repeated names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name.*'a'"),
    "repeated arrow names": (pa.table([[1], [2]], names=["a", "a"]), "same name.*'a'"),
    "names alike as text": (pd.DataFrame([[1, 2]], columns=[1, "1"]), "same name"),
    "mixed list column": ([[1], ["a"]], "column 'x0' has values of.*int, str"),
    "mixed column": (pd.DataFrame({"a": [1, "x", NAN]}), r"column 'a' has values of.*\(int, str;"),
    "truth and numbers": (
        np.array([[True], [2]], dtype=object),
        "column 'x0' has values of.*bool, int",
    ),
    "mixed categories": (pd.DataFrame({"a": pd.Categorical([1, "b"])}), "column 'a' has values of"),
    "huge whole numbers": ([[2**70]], "column 'x0' holds whole numbers beyond 64 bits"),
    "bytes that are no text": (np.array([[b"\xff"]]), "column 'x0'"),
    "complex column": (pd.DataFrame({"a": [1j]}), "column 'a'"),
    "infinity": (np.array([[0.0], [np.inf]]), "column 'x0' holds 1 infinity"),
    "both infinities": (np.array([[np.inf], [-np.inf]]), "column 'x0' holds 2 infinity"),
    "infinity beside NaN": (
        pl.DataFrame({"q": [NAN, np.inf, None]}),
        "'q' holds 1 infinity",
    ),
    "infinite objects": (
        np.array([[None], [np.inf]], dtype=object),
        "column 'x0' holds 1 infinity",
    ),
    "float32 infinity": (np.array([[np.inf]], dtype=np.float32), "infinity"),
}

DATE = datetime.date(2020, 1, 1)
REFUSED_TYPES = {
    "dates": pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}),
    "date objects": pd.DataFrame({"a": [DATE, None]}),
    "durations": pl.DataFrame({"a": [datetime.timedelta(1)]}),
    "polars dates": pl.DataFrame({"a": [DATE]}),
    "periods": pd.DataFrame({"a": pd.period_range("2020", periods=2, freq="M")}),
    "categories of dates": pd.DataFrame({"a": pd.Categorical(pd.to_datetime(["2020-01-01"]))}),
    "intervals": pd.DataFrame({"a": pd.cut([1, 2, 3], 2)}),
    "lists": pl.DataFrame({"a": [[1]]}),
    "bytes": pa.table({"a": [b"x"]}),
    "dictionary of bytes": pa.table({"a": pa.DictionaryArray.from_arrays([0], [b"x"])}),
}


class TestRefused:
    @pytest.mark.parametrize("case", REFUSED)
    def test_value(self, case):
        X, words = REFUSED[case]
        with pytest.raises(ValueError, match=words):
            table = read_table(X)
            table.numbers(0)

    @pytest.mark.parametrize("case", REFUSED_TYPES)
    def test_type(self, case):
        with pytest.raises(TypeError, match=r"column 'a' is of type .*: argument must be a string"):
            read_table(REFUSED_TYPES[case]).check_columns()

    @pytest.mark.parametrize(
        "make",
        [
            lambda x: pd.DataFrame({"x0": x}, dtype=object),
            lambda x: np.array(x, dtype=object).reshape(-1, 1),
            lambda x: np.array(x).reshape(-1, 1),
            lambda x: [[one] for one in x],
        ],
    )
    def test_half_a_surrogate_pair(self, make):
        odd = make(["fine", "bad \ud800"])
        with pytest.raises(
            ValueError, match=r"column 'x0' holds 'bad \\ud800', which is not valid"
        ):
            read_table(odd).check_columns()

    def test_half_a_surrogate_pair_in_a_name(self):
        with pytest.raises(
            ValueError, match=r"a column 'a\\udc80', whose name is not valid Unicode"
        ):
            read_table(pd.DataFrame([[1], [2]], columns=pd.Index(["a\udc80"], dtype=object)))

    @pytest.mark.parametrize(
        "make", [lambda x: pd.DataFrame({"x0": x}), lambda x: [[v] for v in x]]
    )
    def test_the_one_value_of_another_type_is_named(self, make):
        with pytest.raises(ValueError, match=r"\(int, str; the first str is '\?' in row 17\)"):
            read_table(make([*range(16), "?", *range(900)])).check_columns()

    def test_infinity_as_a_category(self):
        odd = pd.DataFrame({"a": pd.Series([1.0, np.inf, 2.0]).astype("category")})
        with pytest.raises(ValueError, match="column 'a' holds 1 infinity value"):
            read_table(odd).check_columns()

    def test_text_where_numbers_are_wanted(self):
        with pytest.raises(ValueError, match="column 'x0' holds text"):
            read_table([["a"], [None]]).numbers(0)


class TestSelect:
    def test_by_name(self):
        table = read_table(pd.DataFrame([[1, 2, 3]], columns=["c", "extra", "a"]))
        assert select(table, ["a", "c"], "Model").tolist() == [2, 0]

    def test_by_order_without_names(self):
        table = read_table(np.zeros((1, 2)))
        assert select(table, ["a", "c"], "Model").tolist() == [0, 1]
        with pytest.raises(ValueError, match="X has 2 features, but Model is expecting 3"):
            select(table, ["a", "b", "c"], "Model")

    def test_missing_columns_are_named(self):
        table = read_table(pd.DataFrame([[1]], columns=["a"]))
        with pytest.raises(ValueError, match=r"lacks 2 columns.*: 'b', 'c'$"):
            select(table, ["a", "b", "c"], "Model")
        with pytest.raises(ValueError, match=r"'m0', .*'m4', \.\.\.$"):
            select(table, [f"m{j}" for j in range(9)], "Model")

    def test_table_is_read_once(self):
        table = read_table([[1]])
        assert read_table(table) is table


class TestArrowFloats:
    def test_chunks_and_nulls_are_read_as_one_column(self):
        chunks = pa.chunked_array([[1.0, None], [float("nan"), 4.0]], pa.float64())
        whole = pa.chunked_array([[1.5, 2.5, 3.5, 4.5]], pa.float64())
        table = read_table(
            pa.table({"chunks": chunks, "whole": whole, "text": ["a", "b", "a", "b"]})
        )
        np.testing.assert_array_equal(table.numbers(0), [1.0, np.nan, np.nan, 4.0])
        assert table.numbers(1).tolist() == [1.5, 2.5, 3.5, 4.5]
        assert [table.is_text(j) for j in range(3)] == [False, False, True]
        assert table.categories(1).values == [1.5, 2.5, 3.5, 4.5]

    def test_infinities_are_refused(self):
        table = read_table(pa.table({"x": [1.0, float("inf")]}))
        with pytest.raises(ValueError, match="column 'x' holds 1 infinity"):
            table.numbers(0)

    def test_an_empty_slice_of_chunks(self):
        column = pa.chunked_array([], pa.float64())
        with pytest.raises(ValueError, match="give a table with rows"):
            read_table(pa.table({"x": column}))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_some_rows_of_a_table(kind):
    columns = {"a": [1.0, None, 3.0, 4.0], "town": ["x", "y", None, "x"]}
    taken = read_table(kind(columns)).take(np.array([3, 1, 2]))
    assert (taken.n_rows, taken.names, taken.is_text(1)) == (3, ("a", "town"), True)
    np.testing.assert_array_equal(taken.numbers(0), [4.0, NAN, 3.0])
    values, indices = taken.categories(1)
    assert [None if k < 0 else values[k] for k in indices.tolist()] == ["x", "y", None]


def test_some_rows_of_a_sparse_table():
    matrix = sparse.csr_array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]])
    taken = read_table(matrix, accept_sparse=True).take(np.array([2, 0]))
    assert taken.numbers(0).tolist() == [0.0, 0.0] and taken.numbers(1).tolist() == [3.0, 1.0]
