"""Columns that look like an id, a date or a leak: told of, with what to do."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from .conftest import FAST, Run

N = 200


@pytest.fixture
def frame() -> dict[str, object]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    return {"x": x, "y": (x + rng.normal(size=N) > 0).astype(int)}


def warnings_of(run: Run, columns: dict[str, object]) -> list[str]:
    csv.write_csv(pa.table(columns), "t.csv")
    done = run("fit", "t.csv", "--target", "y", *FAST, "--json")
    assert done.code == 0, done.err
    told = [line.removeprefix("auctor: warning: ") for line in done.err.splitlines()]
    assert told == done.json["warnings"]
    return told


def test_a_plain_table_gives_no_warning(run: Run, frame: dict[str, object]) -> None:
    assert warnings_of(run, frame) == []


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("customer_id", np.random.default_rng(1).permutation(N) + 10_000, "looks like an id"),
        ("row", np.arange(N), "looks like an id"),
        ("account", [f"DE{i:06d}" for i in range(N)], "looks like an id"),
        ("opened", [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}x" for i in range(N)], "like a date"),
        ("birthday", [f"{1 + i % 28}.{1 + i % 12}.{1950 + i % 50}" for i in range(N)], "a date"),
    ],
)
def test_ids_and_dates(
    run: Run, frame: dict[str, object], name: str, values: object, says: str
) -> None:
    (told,) = warnings_of(run, {name: values, **frame})
    assert f"column {name!r}" in told and says in told and "--drop" in told


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_gives_the_answer_away(run: Run, frame: dict[str, object], sign: int) -> None:
    days_late = sign * np.asarray(frame["y"]) * 90.0
    (told,) = warnings_of(run, {"days_late": days_late, **frame})
    assert "column 'days_late' alone has an AUC of 1.000" in told


def test_a_category_that_gives_the_answer_away(run: Run, frame: dict[str, object]) -> None:
    status = np.where(np.asarray(frame["y"]) == 1, "written off", "paid")
    (told,) = warnings_of(run, {"status": status, **frame})
    assert "column 'status' alone has an AUC of 1.000" in told


def test_a_text_of_many_values_that_repeat(run: Run, frame: dict[str, object]) -> None:
    customer = [f"c{i // 2}" for i in range(N)]
    (told,) = warnings_of(run, {"customer": customer, **frame})
    assert "column 'customer' has 100 different texts" in told and "--group" in told


def test_labels_that_are_words_do_not_say_which_is_positive(
    run: Run, frame: dict[str, object]
) -> None:
    words = {**frame, "y": np.where(np.asarray(frame["y"]) == 1, "bad", "good")}
    (told,) = warnings_of(run, words)
    assert told.startswith("'good' counts as positive") and "--positive bad" in told


def test_numbers_that_all_differ_are_no_id(run: Run, frame: dict[str, object]) -> None:
    income = np.random.default_rng(2).permutation(N) * 17
    assert warnings_of(run, {"income": income, "empty": pa.nulls(N, pa.float64()), **frame}) == []
