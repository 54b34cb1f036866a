"""SQL beyond what random models have: literals, large forests, deep trees, names and errors."""

import sqlite3
import sys
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden.machines import stored
from hypothesis import given
from hypothesis import strategies as st
from models.conftest import build_model
from models.test_linear_cost import deep_tree, text_of

from auctor.data import category_feature, number_feature
from auctor.kernels.trees import TreeNodes
from auctor.models import (
    AdditiveModel,
    Calibration,
    ForestModel,
    LinearModel,
    LinearTerm,
    from_json,
)
from auctor.models.export.sql_dialects import NATIVE, TRANSLATED
from auctor.models.linear import SCORE_GRID

SHARED = (0, 1), 0.0, Calibration(1.0, 0.0)


@pytest.fixture(scope="module")
def connections():
    opened = {
        "duckdb": duckdb.connect(config={"threads": 1}),
        "sqlite": sqlite3.connect(":memory:"),
    }
    yield opened
    for connection in opened.values():
        connection.close()


def scores_of(connection, query):
    return [row[1] for row in sorted(connection.execute(query).fetchall())]


def fill(connection, columns):
    """A table ``data`` with a key and columns given as pairs of a declaration and values."""
    connection.execute("DROP TABLE IF EXISTS data")
    names = ", ".join(["id INTEGER", *(declaration for declaration, _ in columns)])
    connection.execute(f"CREATE TABLE data ({names})")
    rows = list(zip(range(len(columns[0][1])), *(values for _, values in columns), strict=True))
    marks = ", ".join("?" * (1 + len(columns)))
    connection.executemany(f"INSERT INTO data VALUES ({marks})", rows)


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_a_literal_is_the_same_double(connections, values):
    for name, connection in connections.items():
        literals = ", ".join(map(NATIVE[name].number_of, values))
        assert list(connection.execute(f"SELECT {literals}").fetchone()) == values


def forest_of_stumps(n_trees):
    """Trees with two tests of one column each."""
    rng = np.random.default_rng(0)
    feature = number_feature("x", np.sort(rng.normal(size=200)))
    one = np.array([[0, 0, -1, -1, -1]] * n_trees)
    cut = rng.integers(0, 200, size=one.shape)
    zero = np.zeros(one.size, dtype=np.int64)
    first = 5 * np.arange(n_trees)[:, None]
    left, right = (first + np.array(c) for c in ([1, 3, 0, 0, 0], [2, 4, 0, 0, 0]))
    leaf = one.ravel() < 0
    nodes = TreeNodes(
        one.ravel(), cut.ravel(), rng.integers(0, 2, one.size), rng.integers(0, 2, one.size),
        zero - 1, np.empty(0, dtype=np.int64),
        np.where(leaf, -1, left.ravel()), np.where(leaf, -1, right.ravel()),
    )  # fmt: skip
    rank = rng.integers(0, 2**20, size=one.size) / 2**20
    roots = 5 * np.arange(n_trees)
    return ForestModel(*SHARED, (feature,), "sum", roots, nodes, rank, np.ones(1), 0.1)


def test_a_thousand_trees(connections):
    model, values = forest_of_stumps(1000), [*np.linspace(-3, 3, 20).tolist(), None]
    expected = model.decision_function(pa.table({"x": pa.array(values, pa.float64())})).tolist()
    for dialect, connection in connections.items():
        fill(connection, [("x DOUBLE", values)])
        assert scores_of(connection, model.to_sql(dialect, keep=["id"])) == expected


@pytest.mark.parametrize("aggregate", ["sum", "median"])
def test_a_deep_tree(connections, aggregate):
    """A path of 60 tests, on which each test is inside the one before."""
    depth = 60
    feature = number_feature("x", np.arange(depth, dtype=np.float64))
    inner = np.arange(2 * depth + 1) % 2 == 0
    inner[-1] = False
    number = np.arange(2 * depth + 1)
    nodes = TreeNodes(
        np.where(inner, 0, -1), np.where(inner, number // 2 + 1, 0), np.ones_like(number),
        np.zeros_like(number), np.full_like(number, -1), np.empty(0, dtype=np.int64),
        np.where(inner, number + 2, -1), np.where(inner, number + 1, -1),
    )  # fmt: skip
    rank = number / 128
    head = *SHARED, (feature,), aggregate
    model = ForestModel(*head, np.array([0]), nodes, rank, np.ones(1), 0.0)
    values = [*np.arange(-0.5, depth + 1).tolist(), None]
    expected = model.decision_function(pa.table({"x": pa.array(values, pa.float64())})).tolist()
    assert len(set(expected)) == depth + 1
    for dialect, connection in connections.items():
        fill(connection, [("x DOUBLE", values)])
        assert scores_of(connection, model.to_sql(dialect, keep=["id"])) == expected


def test_a_long_linear_model(connections):
    """Its sum is in blocks, which can move a score to the next number of the grid."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(150)]
    columns = tuple(LinearTerm(name, float(rng.normal()), 0.1) for name in names)
    model = LinearModel(*SHARED, columns, 0.1)
    table = pa.table({name: rng.normal(size=40) for name in names})
    expected = model.decision_function(table)
    for dialect, connection in connections.items():
        fill(connection, [(f"{name} DOUBLE", table[name].to_pylist()) for name in names])
        scores = np.array(scores_of(connection, model.to_sql(dialect, keep=["id"])))
        assert np.abs(scores - expected).max() <= SCORE_GRID


def test_too_many_columns():
    features = tuple(number_feature(f"x{j}", np.array([0.5])) for j in range(1_601))
    model = AdditiveModel(*SHARED, features, (np.array([0.0, 1.0, 2.0]),) * 1_601, 0.0)
    with pytest.raises(ValueError, match="needs 1,601 columns at the same time"):
        model.to_sql()


def test_whole_numbers_beyond_double_as_categories(connections):
    feature = category_feature("n", (2**60, 2**60 + 1, 3))
    model = AdditiveModel(*SHARED, (feature,), (np.array([0.5, 1.0, 2.0, 4.0]),), 0.0)
    values = [2**60, 2**60 + 1, 2**60 + 2, 3, None]
    expected = model.decision_function(pa.table({"n": pa.array(values, pa.int64())})).tolist()
    assert expected == [1.0, 2.0, 0.5, 4.0, 0.5]
    for dialect, connection in connections.items():
        fill(connection, [("n BIGINT", values)])
        assert scores_of(connection, model.to_sql(dialect, keep=["id"])) == expected
    with pytest.raises(ValueError, match=r"1152921504606846976, a whole number beyond 2\^53"):
        model.to_js()


@pytest.mark.parametrize("rest", [[0.0, 1.0, -3.0], [0.0, 1.0, None], [1.0, 1.0, 1.0]])
def test_nan_in_a_parquet_file_is_missing(tmp_path, rest):
    """The ranges of its columns do not count NaN, and DuckDB takes conclusions from them."""
    table = pa.table({"x": pa.array([*rest, float("nan")] * 10, pa.float64())})
    pq.write_table(table, tmp_path / "rows.parquet")
    model = AdditiveModel(
        *SHARED, (number_feature("x", np.array([0.5])),), (np.array([7.0, 1.0, 2.0]),), 0.0
    )
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW data AS FROM read_parquet('{tmp_path}/rows.parquet')")
    scores = sorted(row[0] for row in connection.execute(model.to_sql()).fetchall())
    assert scores == sorted(model.decision_function(table).tolist())
    connection.close()


def test_enumerations_are_text():
    connection = duckdb.connect()
    connection.execute("CREATE TYPE towns AS ENUM ('b', 'other')")
    connection.execute("CREATE TABLE data (town towns)")
    connection.execute("INSERT INTO data VALUES ('b'), ('other'), (NULL)")
    feature = category_feature("town", ("a", "b"))
    model = AdditiveModel(*SHARED, (feature,), (np.array([0.5, 1.0, 2.0]),), 0.0)
    scores = [row[0] for row in connection.execute(model.to_sql()).fetchall()]
    assert sorted(scores) == [0.5, 0.5, 2.0]
    connection.close()


@pytest.mark.parametrize("size", [40, 64, 65, 300])
def test_many_categories_of_one_value(connections, size):
    """DuckDB makes a join of an IN, which is slow where trees have thousands of them."""
    names = [f"town {k}" for k in range(size)]
    feature = category_feature("c", tuple(names))
    model = AdditiveModel(*SHARED, (feature,), (np.array([0.5, *[1.0] * size]),), 0.0)
    for dialect, connection in connections.items():
        fill(connection, [("c VARCHAR", [names[0], names[-1], "other", None])])
        query = model.to_sql(dialect, keep=["id"])
        assert scores_of(connection, query) == [1.0, 1.0, 0.5, 0.5]
    plan = connections["duckdb"].execute("EXPLAIN " + model.to_sql("duckdb")).fetchall()[0][1]
    assert ("join" in plan.lower()) == (size > 64)


@pytest.mark.parametrize("kind", ["REAL", "TEXT", "INTEGER", ""])
def test_numbers_as_text_in_sqlite(connections, kind):
    """SQLite keeps text in any column, and an imported CSV file has nothing else."""
    connection = connections["sqlite"]
    texts = ["0.5", "0.6", " 7 ", "9007199254740993", "-1e300", "False", "TRUE"]
    missing = ["", "abc", "5x", b"1", "nan", None]
    fill(connection, [(f"x {kind}", [0.25, 1, *texts, *missing])])
    model = AdditiveModel(
        *SHARED, (number_feature("x", np.array([0.5])),), (np.array([7.0, 1.0, 2.0]),), 0.0
    )
    expected = [1.0, 2.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 2.0] + 6 * [7.0]
    for booleans in ([], ["x"]):
        query = model.to_sql("sqlite", keep=["id"], booleans=booleans)
        assert scores_of(connection, query) == expected


@pytest.mark.parametrize("kind", ["DECIMAL(10, 2)", "VARCHAR", "FLOAT", "SMALLINT", "BOOLEAN"])
def test_columns_of_other_types_than_in_training(connections, kind):
    """Each holds 0 and 1, which the model had as doubles."""
    model = AdditiveModel(
        *SHARED, (number_feature("x", np.array([0.5])),), (np.array([7.0, 1.0, 2.0]),), 0.0
    )
    for dialect, connection in connections.items():
        fill(connection, [(f"x {kind}", [0, 1, None])])
        assert scores_of(connection, model.to_sql(dialect, keep=["id"])) == [1.0, 2.0, 7.0]


@pytest.mark.parametrize(
    ("kind", "values", "scores"),
    [
        ("VARCHAR COLLATE NOCASE", ["a", "A", "1", None], [2.0, 0.5, 1.0, 0.5]),
        ("INTEGER", [1, 2, None], [1.0, 0.5, 0.5]),
    ],
)
def test_text_is_compared_letter_by_letter(connections, kind, values, scores):
    feature = category_feature("c", ("1", "a"))
    model = AdditiveModel(*SHARED, (feature,), (np.array([0.5, 1.0, 2.0]),), 0.0)
    for dialect, connection in connections.items():
        fill(connection, [(f"c {kind}", values)])
        assert scores_of(connection, model.to_sql(dialect, keep=["id"])) == scores


def test_a_column_that_is_not_there_is_an_error(connections):
    model = AdditiveModel(
        *SHARED, (number_feature("gone", np.array([0.5])),), (np.array([7.0, 1.0, 2.0]),), 0.0
    )
    for dialect, connection in connections.items():
        fill(connection, [("x REAL", [1.0])])
        with pytest.raises((duckdb.Error, sqlite3.Error), match="gone"):
            connection.execute(model.to_sql(dialect))


@pytest.mark.parametrize("dialect", TRANSLATED)
@pytest.mark.parametrize("name", ["treerank", "dmks"])
def test_translated_dialects_can_be_parsed(dialect, name):
    sqlglot = pytest.importorskip("sqlglot")
    query = from_json(stored(name)).to_sql(dialect, keep=["id"])
    (parsed,) = sqlglot.parse(query, read=dialect)
    assert [column.alias_or_name for column in parsed.selects] == [
        "id", "score", "probability", "label",
    ]  # fmt: skip


def test_missing_package_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ImportError, match=r"dialect trino; .* pip install 'auctor\[export\]'"):
        build_model().to_sql("trino")


def test_errors_name_the_argument():
    model = build_model()
    with pytest.raises(ValueError, match="dialect is 'db2'; give one of duckdb, sqlite"):
        model.to_sql("db2")
    with pytest.raises(ValueError, match="table is ''; give a name"):
        model.to_sql(table="")
    with pytest.raises(ValueError, match="booleans has 'nobody', which is not a feature"):
        model.to_sql(booleans=["nobody"])
    with pytest.raises(ValueError, match="keep has 'score', which is the name of an output"):
        model.to_sql(keep=["score"])
    with pytest.raises(ValueError, match="keep has 'Score', which is the name of an output"):
        model.to_sql(keep=["Score"])
    assert '"Score"' in model.to_sql("postgres", keep=["Score"])
    with pytest.raises(ValueError, match="keep has a name twice: 'id', 'ID'; give it once"):
        model.to_sql("sqlite", keep=["id", "ID"])
    with pytest.raises(ValueError, match="keep is 'id'; give a list of names"):
        model.to_sql(keep="id")
    with pytest.raises(ValueError, match=r"booleans is \[3\]; give a list of names"):
        model.to_sql(booleans=[3])
    two = tuple(number_feature(name, np.array([0.5])) for name in ("a", "A"))
    steps = (np.array([0.0, 1.0, 2.0]),) * 2
    same = AdditiveModel(*SHARED, two, steps, 0.0)
    with pytest.raises(ValueError, match="'a' and 'A' differ only by upper and lower case"):
        same.to_sql("duckdb")
    assert '"A"' in same.to_sql("postgres")
    with pytest.raises(ValueError, match="holds a NUL character"):
        replace(same, features=(number_feature("a\0", np.array([0.5])), two[1])).to_sql()
    with pytest.raises(ValueError, match="too deep for SQL"):
        from_json(text_of(*deep_tree(300))).to_sql()
