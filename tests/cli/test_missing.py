"""Codes of missing values: noticed, and treated as missing by ``--missing``."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor.cli.errors import UsageError
from auctor.cli.missing import find_codes, parse_missing, sentinel_warning, zero_warning
from auctor.display.score_panels import LabelledTerms
from auctor.models import AdditiveModel, from_json, to_json
from auctor.report import summarize

from .conftest import FAST, Run
from .test_report import facts_of

N = 400
FIT = ("--target", "y", *FAST)


def draw(seed: int = 0, coded: bool = True) -> pa.Table:
    """Income and a town; where the income is -9 or the town is ?, most rows are positive."""
    rng = np.random.default_rng(seed)
    income, town = rng.integers(10, 90, N), rng.choice(["Rome", "Oslo"], N).astype(object)
    gone = rng.random(N) < 0.15
    y = np.where(gone, rng.random(N) < 0.9, rng.random(N) < income / 150)
    town[gone] = "?" if coded else None
    filled = np.where(gone, -9, income)
    number = pa.array(filled if coded else income, mask=None if coded else gone)
    return pa.table({"income": number, "town": pa.array(town, pa.string()), "y": y.astype(int)})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    csv.write_csv(draw(), tmp_path / "coded.csv")
    csv.write_csv(draw(coded=False), tmp_path / "empty.csv")
    return tmp_path / "coded.csv"


def test_a_code_is_noticed_with_the_option_to_add(run: Run, table: Path) -> None:
    done = run("fit", table, *FIT)
    (line,) = [line for line in done.err.splitlines() if "'income'" in line]
    assert "the value -9 (" in line and "stands apart from the others and has another" in line
    assert line.endswith("add --missing income=-9")
    assert "stands apart" not in run("fit", table, *FIT, "--missing", "income=-9").err


@pytest.mark.parametrize("option", [("--missing", "-9,?"), ("--missing", "income=-9,town=?")])
def test_codes_are_missing_in_fit_and_score(run: Run, table: Path, option: tuple[str, ...]) -> None:
    assert run("fit", table, *FIT, *option, "--out", "coded.json").code == 0
    assert run("fit", "empty.csv", *FIT, "--out", "empty.json").code == 0
    first = run("score", "coded.json", "coded.csv", "--digits", 17)
    assert (first.code, first.err) == (0, "")
    assert first.out == run("score", "empty.json", "empty.csv", "--digits", 17).out
    model = auctor.load("coded.json")
    assert model.missing_codes["income"] == (-9.0,) and "?" in model.missing_codes["town"]
    # From Python too, by any way of scoring.
    rows, empty = draw(), draw(coded=False)
    scores = model.decision_function(rows)
    assert scores.tolist() == model.decision_function(empty).tolist()
    assert model.explain(rows).contributions.tolist() == model.explain(empty).contributions.tolist()
    assert to_json(from_json(to_json(model))) == to_json(model)
    assert model.score(rows, rows["y"].to_pylist()) == model.score(empty, empty["y"].to_pylist())


def test_codes_are_missing_in_every_kind_of_table(run: Run, table: Path) -> None:
    run("fit", table, *FIT, "--missing", "-9,?", "--out", "m.json")
    model, rows = auctor.load("m.json"), draw().drop_columns(["y"]).to_pandas()
    wanted = model.decision_function(draw(coded=False)).tolist()
    assert model.decision_function(rows).tolist() == wanted
    assert model.decision_function(rows.to_numpy(dtype=object)).tolist() == wanted  # no names
    assert model.decision_function(rows[["town", "income"]]).tolist() == wanted
    assert model.decision_function(rows.assign(more=1)).tolist() == wanted


def test_codes_are_missing_on_pages_and_in_displays(run: Run, table: Path) -> None:
    run("fit", table, *FIT, "--missing", "-9,?", "--out", "m.json", "--report", "fit.html")
    model, rows, empty = auctor.load("m.json"), draw(), draw(coded=False)
    X, y = rows.drop_columns(["y"]), rows["y"].to_pylist()
    assert isinstance(model, AdditiveModel)
    facts, other = (summarize(model, each, y) for each in (X, empty.drop_columns(["y"])))
    assert facts["features"] == other["features"] and facts["row"] == other["row"]
    page = facts_of(Path("fit.html"))
    for one in (facts, page):  # what the panel of one row takes as missing
        read = one["row"]["model"]["inputs"]
        missing = {each["name"]: read[each["input"]]["missing"] for each in one["row"]["inputs"]}
        assert missing == {"income": [-9.0], "town": []}
    shown = [LabelledTerms(model, each, y, None).table.numbers(0) for each in (X, empty)]
    np.testing.assert_array_equal(*shown)


def test_a_text_among_numbers(run: Run, tmp_path: Path) -> None:
    income = ["unknown" if value == -9 else str(value) for value in draw()["income"].to_pylist()]
    csv.write_csv(draw().set_column(0, "income", [income]), tmp_path / "t.csv")
    done = run("fit", "t.csv", *FIT, "--missing", "unknown", "--json")
    assert done.json["categorical"] == 1
    assert run("score", "t.model.json", "t.csv").code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [("inco=-9", "'inco' is not a feature column"), ("income=", "give a value such as -9")],
)
def test_options_that_are_wrong(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_missing([text], ["income", "town"])


def test_a_hostile_file_names_the_field(run: Run, table: Path) -> None:
    run("fit", table, *FIT, "--missing", "-9")
    text = Path("coded.model.json").read_text()
    with pytest.raises(ValueError, match="sha256"):
        from_json(text.replace('"income": [', '"other": ['))


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([-9] * 5 + [*range(40)], [-9]),
        ([-9] * 5 + [-8] * 6 + [*range(40)], [-9, -8]),
        ([999] * 5 + [*range(40)], [999]),
        ([-9] * 4 + [*range(40)], []),  # too few
        ([99] * 5 + [*range(98)], []),  # not apart
        ([-9] * 5 + [*range(-40, 40)], []),  # negative numbers are usual here
        ([-5.5] * 5 + [*range(40)], []),  # not a usual code
        ([0, 1] * 20, []),
        ([-1] * 9 + [0, 1] * 20, []),  # a scale from -1 to 1
    ],
)
def test_which_values_look_like_codes(values: list[float], codes: list[float]) -> None:
    assert find_codes(np.array(values, dtype=float)) == codes


@pytest.mark.parametrize(
    ("low", "high", "step", "n_zero", "is_noticed"),
    [
        (18, 60, 0.1, 11, True),  # a body mass index
        (44, 200, 1, 5, True),
        (44, 200, 1, 4, False),  # too few zeros
        (44, 200, 1, 500, False),  # most rows: 0 is the usual value
        (1, 60, 1, 40, False),  # counts
        (-60, 60, 1, 40, False),
        (50, 90_000, 50, 40, False),  # amounts of money, where 0 means none
        (20, 30, 1, 40, False),  # few distinct values
    ],
)
def test_zeros_among_measured_numbers(
    low: float, high: float, step: float, n_zero: int, is_noticed: bool
) -> None:
    others = np.resize(np.arange(low, high, step), max(400, round((high - low) / step)))
    values = np.concatenate([np.zeros(n_zero), others, [np.nan]])
    warning = zero_warning("bmi", values)
    assert (warning is not None) == is_noticed
    if warning is not None:
        assert f"({n_zero} of {len(values)} rows) is far from the others, which begin at" in warning
        assert warning.endswith("add --missing bmi=0")


@pytest.mark.parametrize(
    ("code", "others", "words"),
    [
        (999, 0, None),
        (-8, 0, None),
        (-9, -3, None),  # other numbers are negative as well
        (-9, 0, "the value -9 (90 of 500 rows) is the only negative one"),
        (-99, 0, "the value -99 (90 of 500 rows) is the only negative one"),
    ],
)
def test_a_code_with_the_rate_of_its_neighbours(code: int, others: int, words: str | None) -> None:
    """It is reported only if it cannot be a number that was measured."""
    rng = np.random.default_rng(0)
    values = np.where(np.arange(500) < 90, code, rng.integers(others, 60, 500)).astype(float)
    warning = sentinel_warning("x", values, np.arange(500) % 2 == 0, 1)
    assert warning is None if words is None else words in (warning or "")
    usual = sentinel_warning("x", values, (values == code) | (rng.random(500) < 0.3), 1)
    assert others < 0 or "another rate of positives (100.0%; " in (usual or "")
