"""Warnings about columns that look like an id, a date or a leak."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
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
    printed = [line.removeprefix("auctor: warning: ") for line in done.err.splitlines()]
    assert printed == done.json["warnings"]
    return printed


def test_a_plain_table_gives_no_warning(run: Run, frame: dict[str, object]) -> None:
    assert warnings_of(run, frame) == []


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("customer_id", np.random.default_rng(1).permutation(N) + 10_000, "looks like an id"),
        ("row", np.arange(N), "looks like an id"),
        ("account", [f"DE{i:06d}" for i in range(N)], "looks like an id"),
        ("opened", [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}x" for i in range(N)], "like a date"),
        ("birthday", [f"{1 + i % 28}.{1 + i % 12}.{1950 + i % 50}" for i in range(N)], "a date"),
    ],
)
def test_ids_and_dates(
    run: Run, frame: dict[str, object], name: str, values: object, words: str
) -> None:
    (warning,) = warnings_of(run, {name: values, **frame})
    assert f"column {name!r}" in warning and words in warning and "--drop" in warning
    assert ("--time" in warning) == ("date" in words)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_gives_the_answer_away(run: Run, frame: dict[str, object], sign: int) -> None:
    days_late = sign * np.asarray(frame["y"]) * 90.0
    (warning,) = warnings_of(run, {"days_late": days_late, **frame})
    assert "column 'days_late' alone has an AUC of 1.000" in warning


def test_a_category_that_gives_the_answer_away(run: Run, frame: dict[str, object]) -> None:
    status = np.where(np.asarray(frame["y"]) == 1, "written off", "paid")
    (warning,) = warnings_of(run, {"status": status, **frame})
    assert "column 'status' alone has an AUC of 1.000" in warning


def test_a_text_of_many_values_that_repeat(run: Run, frame: dict[str, object]) -> None:
    customer = [f"c{i // 2}" for i in range(N)]
    (warning,) = warnings_of(run, {"customer": customer, **frame})
    assert "column 'customer' has 100 different texts" in warning and "--group" in warning


def test_labels_that_are_words_do_not_say_which_is_positive(
    run: Run, frame: dict[str, object]
) -> None:
    words = {**frame, "y": np.where(np.asarray(frame["y"]) == 1, "bad", "good")}
    (warning,) = warnings_of(run, words)
    assert (
        warning.startswith("'good' is taken as the positive label") and "--positive bad" in warning
    )


@pytest.mark.parametrize("differ", [True, False], ids=["distinct", "ages"])
def test_one_cell_that_makes_text_of_numbers_is_named(
    run: Run, frame: dict[str, object], differ: bool
) -> None:
    age = [str(1000 + 17 * i if differ else 20 + i % 43) for i in range(N)]
    age[16] = "?"
    (warning,) = warnings_of(run, {"age": age, **frame})
    assert warning.startswith(
        "column 'age' is read as text because of 1 of 200 cells: '?' in row 17 "
        "(line 18 of the file); "
    )
    assert warning.endswith("add --missing 'age=?'; otherwise correct them")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("{}.000,50", "decimal commas or thousands separators (such as '0.000,50')"),
        ("{} 000,50", "decimal commas or thousands separators (such as '0 000,50')"),
        ("{}.5 %", "numbers with '%' beside them (such as '0.5 %')"),
        ("\u20ac {}", "numbers with '\u20ac' beside them (such as '\u20ac 0')"),
        ("{} months", "numbers with 'months' beside them (such as '0 months')"),
    ],
)
def test_numbers_as_people_write_them(
    run: Run, frame: dict[str, object], number: str, words: str
) -> None:
    (warning,) = warnings_of(run, {"amount": [number.format(i) for i in range(N)], **frame})
    assert warning.startswith("column 'amount' has ") and words in warning


def test_options_in_warnings_can_be_pasted(run: Run, frame: dict[str, object]) -> None:
    months = np.where(np.arange(N) % 3 == 0, -9, np.arange(N) % 60)
    (warning,) = warnings_of(run, {"months since": months, **frame})
    assert warning.endswith("add --missing 'months since=-9'")


def test_several_cells_and_lines_that_are_no_rows(run: Run, frame: dict[str, object]) -> None:
    rows = zip(*frame.values(), strict=True)
    lines = [f"{20 + i % 43},{x:.5f},{y}" for i, (x, y) in enumerate(rows)]
    lines[4] = '"not\nknown"' + lines[4][2:]  # two lines, one row
    lines[9] = "\nnone yet" + lines[9][2:]  # an empty line before it
    lines[10] = "none yet" + lines[10][2:]
    lines[11] = "-" + lines[11][2:]
    lines[12] = "." + lines[12][2:]
    Path("t.csv").write_text("\n".join(["age,x,y", *lines]) + "\n")
    (warning,) = run("fit", "t.csv", "--target", "y", *FAST, "--json").json["warnings"]
    assert "because of 5 of 200 cells: 'not\\nknown' in row 5 (line 6 of the file)" in warning
    assert (
        "'none yet' in row 10 (line 13 of the file), '-' in row 12 (line 15 of the file), ..."
        in warning
    )


def test_a_table_without_lines(run: Run, frame: dict[str, object]) -> None:
    age = [str(20 + i % 43) for i in range(N)]
    age[16] = "?"
    parquet.write_table(pa.table({"age": age, **frame}), "t.parquet")
    (warning,) = run("fit", "t.parquet", "--target", "y", *FAST, "--json").json["warnings"]
    assert "1 of 200 cells: '?' in row 17;" in warning


def test_codes_of_which_a_third_are_letters_are_meant_so(
    run: Run, frame: dict[str, object]
) -> None:
    assert warnings_of(run, {"code": [("1", "2", "A")[i % 3] for i in range(N)], **frame}) == []


def test_one_cell_in_the_weights(run: Run, frame: dict[str, object]) -> None:
    weight = ["1", "2"] * (N // 2)
    weight[3] = "one"
    csv.write_csv(pa.table({"w": weight, **frame}), "t.csv")
    done = run("fit", "t.csv", "--target", "y", "--weight", "w", *FAST, "--quiet")
    assert done.code == 1
    assert "column 'w' is read as text because of 1 of 200 cells: 'one' in row 4" in done.error


def test_one_cell_of_a_table_to_score(run: Run, frame: dict[str, object]) -> None:
    csv.write_csv(pa.table(frame), "t.csv")
    assert run("fit", "t.csv", "--target", "y", *FAST, "--quiet").code == 0
    Path("new.csv").write_text("x\n1.5\n2.5\n?\n")
    done = run("score", "t.model.json", "new.csv")
    assert done.code == 1 and "'x'" in done.error and "'?' in row 3" in done.error


def test_numbers_that_all_differ_are_no_id(run: Run, frame: dict[str, object]) -> None:
    income = np.random.default_rng(2).permutation(N) * 17
    assert warnings_of(run, {"income": income, "empty": pa.nulls(N, pa.float64()), **frame}) == []
