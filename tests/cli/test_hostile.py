"""Difficult and damaged tables through fit, score and report: a result, or a one-line error."""

import csv
from pathlib import Path

import numpy as np
import pytest

from .conftest import FAST, Result, Run

N = 60


def rows(columns: int = 2, seed: int = 0) -> list[list[object]]:
    """Numbers, and a label that the first column tells."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, columns)).round(3)
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    return [[*x, label] for x, label in zip(X.tolist(), y.tolist(), strict=True)]


def write(names: list[str], body: list[list[object]], **options: object) -> None:
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, **options)  # type: ignore[arg-type]
        writer.writerows([names, *body])


def all_three(run: Run, *more: object) -> list[Result]:
    fit = run("fit", "t.csv", "--target", "y", *FAST, "--report", "fit.html", "--quiet", *more)
    if fit.code:
        return [fit]
    return [
        fit,
        run("score", "t.model.json", "t.csv", "--out", "scores.csv"),
        run("report", "t.model.json", "t.csv", "--target", "y", "--out", "p.html", "--quiet"),
    ]


def assert_done(results: list[Result]) -> None:
    for done in results:
        assert done.code == 0, done.err
        assert "Traceback" not in done.err
    with Path("scores.csv").open() as file:
        assert len(list(csv.reader(file))) == N + 1
    for page in ("fit.html", "p.html"):
        assert Path(page).read_text(encoding="utf-8").startswith("<!doctype html>")


def assert_refused(results: list[Result], words: str) -> None:
    (done,) = results
    assert done.code == 1
    assert words in done.error  # which is one line
    assert {path.name for path in Path().iterdir()} == {"t.csv"}


NAMES = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    'say "hello", it\'s',
    "two\nlines",
    "emoji 🦆 and ‮backwards",
    "x" * 10_000,
    "&amp; ${facts} {{name}} %s",
    " blank ends ",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_of_columns(run: Run, name: str) -> None:
    write([name, "x", "y"], rows())
    assert_done(all_three(run))
    page = Path("fit.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page and "<img src=x" not in page


def test_values_of_categories(run: Run) -> None:
    words = ["<b>bold</b>", 'a "quote"', "line\nbreak", "🦆", ""]
    write(["kind", "x", "y"], [[words[i % 5], *row[1:]] for i, row in enumerate(rows())])
    assert_done(all_three(run))
    assert "<b>bold" not in Path("fit.html").read_text(encoding="utf-8")


def test_two_thousand_columns(run: Run) -> None:
    write([*(f"column {j}" for j in range(2000)), "y"], rows(2000))
    assert_done(all_three(run, "--no-baseline"))
    assert Path("fit.html").stat().st_size < 1_200_000


def test_one_row(run: Run) -> None:
    write(["a", "b", "y"], rows()[:1])
    assert_refused(all_three(run), "column 'y' has 1 value")


def test_nothing_but_missing_values(run: Run) -> None:
    write(["a", "b", "y"], [["", "", row[-1]] for row in rows()])
    assert_done(all_three(run))


def test_one_column_is_missing_altogether(run: Run) -> None:
    write(["a", "b", "y"], [["", *row[1:]] for row in rows()])
    assert_done(all_three(run))


def test_names_that_come_twice(run: Run) -> None:
    write(["a", "a", "y"], rows())
    assert_refused(all_three(run), "more than one column named 'a'")


def test_byte_order_mark_and_windows_line_ends(run: Run) -> None:
    write(["a", "b", "y"], rows(), lineterminator="\r\n")
    Path("t.csv").write_bytes(b"\xef\xbb\xbf" + Path("t.csv").read_bytes())
    assert_done(all_three(run))


def test_ragged_lines(run: Run) -> None:
    write(["a", "b", "y"], [*rows()[:-1], [1.0]])
    assert_refused(all_three(run), "Expected 3 columns, got 1")


def test_decimal_commas(run: Run) -> None:
    body = [[str(v).replace(".", ",") for v in row] for row in rows()]
    write(["a", "b", "y"], body, delimiter=";")
    results = all_three(run)
    assert_done(results)
    assert "column 'a' has numbers with decimal commas" in results[0].err


def test_commas_between_thousands(run: Run) -> None:
    write(["a", "b", "y"], [[f"{1000 + 50 * i:,}", *r[1:]] for i, r in enumerate(rows())])
    results = all_three(run)
    assert_done(results)
    assert "column 'a' has numbers with decimal commas" in results[0].err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"a,b,y\n", "has a header but no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe", "t.csv"),
        ("a,b,y\nä,1,0\nö,2,1\n".encode("latin-1"), "not UTF-8"),
        (b"\xff\xfea\x00,\x00y\x00\n\x00", "not UTF-8"),
        (b'a,b,y\n1,"2,0\n', "t.csv"),
    ],
)
def test_files_that_are_no_tables(run: Run, content: bytes, words: str) -> None:
    Path("t.csv").write_bytes(content)
    assert_refused(all_three(run), words)
