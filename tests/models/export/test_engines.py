"""All exports of all forms in the engines they are for: the scores of the model, bit for bit."""

import math
import os
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from models.export.cases import FORMS, cases
from models.export.engines import ENGINES, MariaDB, NotInstalledError

from auctor.data import category_feature, number_feature
from auctor.models import AdditiveModel, Calibration


@pytest.fixture(scope="module")
def started():
    """Name -> each engine, started once, or the error that says what is not installed."""
    opened = {}
    for engine in ENGINES:
        try:
            opened[engine.name] = engine()
        except NotInstalledError as error:
            opened[engine.name] = error
    yield opened
    for engine in opened.values():
        if hasattr(engine, "close"):
            engine.close()


@pytest.fixture(scope="module")
def engines(started):
    """The engines that are installed."""
    return [engine for engine in started.values() if not isinstance(engine, NotInstalledError)]


@pytest.mark.parametrize("name", [engine.name for engine in ENGINES])
def test_the_engine_is_installed(started, name):
    """Skipped where a program is missing, but not in continuous integration."""
    if isinstance(started[name], NotInstalledError):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(started[name]))


def check(engine, model, table):
    """Scores, probabilities, labels, ranking and contributions are those of the model."""
    outputs = engine.run(model, table)
    scores, expected = np.array([o.score for o in outputs]), model.decision_function(table)
    assert scores.tolist() == expected.tolist(), engine.name
    same_ranks = (
        np.unique(scores, return_inverse=True)[1],
        np.unique(expected, return_inverse=True)[1],
    )
    assert np.array_equal(*same_ranks), engine.name
    assert [o.label for o in outputs] == model.predict(table).tolist(), engine.name
    probabilities = model.predict_proba(table)[:, 1]
    # Below exp(-708), a double loses digits, and databases stop there.
    assert [o.probability for o in outputs] == pytest.approx(probabilities, rel=1e-9, abs=1e-300)
    if outputs[0].contributions is not None:
        explained = model.explain_rows(table)
        rows = [[o.contributions[name] for name in explained.names] for o in outputs]
        values = np.array(rows, dtype=np.float64)
        size = 1e-9 * max(1.0, np.abs(explained.contributions).max())
        assert values == pytest.approx(explained.contributions, rel=1e-9, abs=size)


@pytest.mark.parametrize("form", FORMS)
@given(case=cases())
@settings(max_examples=6)
def test_every_engine_scores_as_the_model_does(engines, form, case):
    model, table = case.model(form), case.table()
    for engine in engines:
        check(engine, model, table)


@pytest.mark.parametrize("form", ["additive", "linear", "sum"])
@given(case=cases())
@settings(max_examples=2)
def test_infinite_numbers_are_refused_or_the_largest_double(engines, form, case):
    """Python and JavaScript refuse them as the model does; SQL and ONNX read a double."""
    model, table = case.model(form), case.table(2)
    # The first column holds doubles.
    infinite, finite = (
        table.set_column(0, table.column_names[0], pa.array([size, -size], pa.float64()))
        for size in (math.inf, sys.float_info.max)
    )
    with pytest.raises(ValueError, match="infini"):
        model.decision_function(infinite)
    for engine in engines:
        if engine.refuses_infinity:
            with pytest.raises(ValueError, match="is infinite; give a finite number"):
                engine.run(model, infinite)
        else:
            scores = [output.score for output in engine.run(model, infinite)]
            assert scores == model.decision_function(finite).tolist(), engine.name


@pytest.fixture(scope="module")
def mariadb():
    try:
        engine = MariaDB()
    except NotInstalledError as error:
        pytest.skip(str(error))
    yield engine
    engine.close()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "median"])
@given(case=cases())
@settings(max_examples=6)
def test_mariadb_scores_as_the_model_does(mariadb, form, case):
    assume("😀" not in [feature.name for feature in case.features])  # no name of a column there
    check(mariadb, case.model(form), case.table())


def test_mariadb_compares_text_letter_by_letter(mariadb):
    """Its collations ignore spaces at the end, and a cast makes numbers of other text."""
    number, town = number_feature("x", np.array([0.5])), category_feature("c", ("a", "ä"))
    model = AdditiveModel(
        (0, 1), 0.0, Calibration(1.0, 0.0), (number, town),
        (np.array([7.0, 1.0, 2.0]), np.array([0.0, 10.0, 20.0])), 0.0,
    )  # fmt: skip
    table = pa.table(
        {
            "x": pa.array([" 0.5 ", "1e0", "abc", "5x", "", ".6", None, "True", "false"]),
            "c": pa.array(["a", "a ", "A", "ä", "Ä", None, "a\u0308", None, None]),
        }
    )
    scores = [output.score for output in mariadb.run(model, table)]
    assert scores == [11.0, 2.0, 7.0, 27.0, 7.0, 2.0, 7.0, 2.0, 1.0]


@pytest.mark.parametrize("dialect", ["mysql", "spark"])
@given(case=cases())
@settings(max_examples=1)
def test_a_median_is_refused_where_it_is_not_written(dialect, case):
    with pytest.raises(ValueError, match="give a dialect of duckdb, sqlite, postgres"):
        case.model("median").to_sql(dialect)
