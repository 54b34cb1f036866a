"""Odd CSV files through the command line: done, or one line that says what is wrong."""

import csv
import gzip
import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from fuzz.outcome import strict

from auctor.cli.main import main

Rng = np.random.Generator

FIT = ("--learner", "rankboost", "--param", "n_estimators=2", "--no-baseline", "--quiet")
ENDINGS = (*[".csv"] * 12, ".tsv", ".txt", ".csv.gz", ".csv.gz", ".parquet", ".feather")
TEXTS = [
    "a",
    "b",
    "Zürich",
    "",
    " ",
    "?",
    "N/A",
    "two\nlines",
    'a "quote"',
    "semi;colon",
    "x,y",
    "🦆",
    "=1+1",
]
NAMES = [
    "x",
    "z",
    "",
    "y",
    "target",
    "two\nlines",
    'q"q',
    "a,b",
    "x" * 2000,
    "ü",
    " x ",
    "0",
    "id",
    "\ufeffx",
]


def attack(rng: Rng) -> None:
    """Write a table with something wrong in it, and run commands over it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t{rng.choice(ENDINGS)}"
        content, about = _file(rng)
        if path.suffix == ".gz":
            content = gzip.compress(content, mtime=0)
            content = content[: len(content) // 2] if rng.random() < 0.2 else content
        path.write_bytes(content)
        what = f"{path.name}: {about}; begins {content[:60]!r}"
        model = Path(folder) / "m.json"
        folds = str(rng.choice([0, 0, 2]))
        fit = ["fit", str(path), "--target", "y", *FIT, "--cv", folds, "--out", str(model)]
        if _run(what, fit) == 0:
            assert model.exists(), f"{what}: no model was written"
            _use(rng, what, str(model), str(path))
        else:
            assert not model.exists(), f"{what}: an error left a model"
        left = set(Path(folder).iterdir()) - {path, model}
        assert not left, f"{what}: {left} was left behind"


def _use(rng: Rng, what: str, model: str, path: str) -> None:
    """The model that was fitted, on the table that it was fitted to."""
    score = ["score", model, path]
    score += ["--keep", "y"] if rng.random() < 0.5 else []
    score += ["--spreadsheet-safe"] if rng.random() < 0.5 else []
    assert _run(what, score) == 0, f"{what}: scoring its own table fails"
    _run(what, ["evaluate", model, path, "--target", "y"])
    _run(what, ["explain", model, path])
    if rng.random() < 0.02:
        page = str(Path(path).with_name("page.html"))
        _run(what, ["report", model, path, "--target", "y", "--quiet", "--out", page])
        Path(page).unlink(missing_ok=True)


def _run(what: str, command: list[str]) -> int:
    """The exit code; an error is one line, and there is no traceback."""
    out, err = io.StringIO(), io.StringIO()
    what = f"{what}; auctor {command[0]}"
    try:
        with strict(), redirect_stdout(out), redirect_stderr(err):
            code = main(command)
    except BaseException as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    lines = [line for line in err.getvalue().splitlines() if "warning:" not in line]
    if code == 0:
        assert not lines, f"{what}: {lines}"
        return code
    assert code in (1, 2), f"{what}: exit code {code}"
    assert len(lines) == 1 and lines[0].startswith("auctor: error: "), f"{what}: {lines}"
    assert len(lines[0]) < 1000, f"{what}: an error of {len(lines[0])} characters"
    assert not out.getvalue(), f"{what}: an error, and yet {out.getvalue()[:80]!r}"
    assert any(word in lines[0] for word in ("column", Path(command[1]).name, "label", "--")), (
        f"{what}: {lines[0]} names nothing"
    )
    return code


def _file(rng: Rng) -> tuple[bytes, str]:
    """The bytes of a table, and what was done to it."""
    rows = _rows(rng)
    about = []
    while rng.random() < 0.4:
        change = _CHANGES[rng.integers(len(_CHANGES))]
        change(rng, rows)
        about.append(change.__name__)
    delimiter = str(rng.choice([*[","] * 8, ";", ";", "\t", "|", ":"]))
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
    end = str(rng.choice(["\n", "\n", "\r\n", "\r"]))
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)
    encoding = str(rng.choice(["utf-8"] * 20 + ["utf-8-sig", "latin-1", "utf-16", "cp1252"]))
    content = text.getvalue().encode(encoding, errors="replace")
    about += [f"delimiter {delimiter!r}", f"ends {end!r}", encoding]
    while rng.random() < 0.2:
        damage = _DAMAGES[rng.integers(len(_DAMAGES))]
        content = damage(rng, content)
        about.append(damage.__name__)
    return content, ", ".join(about)


def _rows(rng: Rng) -> list[list[object]]:
    """A header and rows of numbers and texts, the target last."""
    n, p = int(rng.choice([1, 4, 30, 30, 30, 30])), int(rng.integers(1, 5))
    columns: list[list[object]] = []
    for _ in range(p):
        kind = int(rng.integers(4))
        if kind == 0:
            columns.append([TEXTS[k] for k in rng.integers(len(TEXTS), size=n)])
        elif kind == 1:
            columns.append(rng.integers(-3, 4, size=n).tolist())
        else:
            columns.append(rng.normal(size=n).round(3).tolist())
    low, high = [("0", "1"), ("no", "yes"), ("false", "true"), ("1.0", "2.0")][rng.integers(4)]
    columns.append([high if k % 2 else low for k in range(n)])
    names: list[object] = [*(f"c{j}" for j in range(p)), "y"]
    return [names, *(list(row) for row in zip(*columns, strict=True))]


def _cell(rng: Rng, rows: list[list[object]]) -> tuple[int, int]:
    row = int(rng.integers(len(rows)))
    return row, int(rng.integers(max(1, len(rows[row]))))


def odd_name(rng: Rng, rows: list[list[object]]) -> None:
    if rows[0]:
        rows[0][int(rng.integers(len(rows[0])))] = NAMES[rng.integers(len(NAMES))]


def odd_cell(rng: Rng, rows: list[list[object]]) -> None:
    odd = [
        "",
        "?",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1,5",
        "1.234,5",
        "\0",
        "9" * 400,
        "x" * 200_000,
        "2020-01-01",
        "12:30",
        "0x1F",
        "1_000",
        "TRUE",
        "null",
        " 7",
        "\u202e",
        "٣",
    ]
    row, column = _cell(rng, rows)
    if column < len(rows[row]):
        rows[row][column] = odd[rng.integers(len(odd))]


def ragged(rng: Rng, rows: list[list[object]]) -> None:
    row, column = _cell(rng, rows)
    rows[row] = rows[row][:column] if rng.random() < 0.5 else [*rows[row], "more"]


def decimal_commas(rng: Rng, rows: list[list[object]]) -> None:
    rows[1:] = [[str(cell).replace(".", ",") for cell in row] for row in rows[1:]]


def blank_lines(rng: Rng, rows: list[list[object]]) -> None:
    for _ in range(int(rng.integers(1, 4))):
        rows.insert(int(rng.integers(len(rows) + 1)), [])


def no_rows(rng: Rng, rows: list[list[object]]) -> None:
    del rows[1:]


def no_header(rng: Rng, rows: list[list[object]]) -> None:
    del rows[0]
    rows or rows.append([])


def many_columns(rng: Rng, rows: list[list[object]]) -> None:
    for k, row in enumerate(rows):
        row[:0] = [f"m{j}" if k == 0 else 1 for j in range(300)]


def twice(rng: Rng, rows: list[list[object]]) -> None:
    for row in rows:
        row.extend(row[:1])


def one_label(rng: Rng, rows: list[list[object]]) -> None:
    for row in rows[1:]:
        row[-1:] = ["1"]


_CHANGES: list[Callable[[Rng, list[list[object]]], None]] = [
    odd_name,
    odd_cell,
    odd_cell,
    odd_cell,
    ragged,
    decimal_commas,
    blank_lines,
    no_rows,
    no_header,
    many_columns,
    twice,
    one_label,
]


def cut_off(rng: Rng, content: bytes) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def noise(rng: Rng, content: bytes) -> bytes:
    array = np.frombuffer(content, dtype=np.uint8).copy()
    if len(array):
        array[rng.integers(len(array), size=3)] = rng.integers(256, size=3)
    return array.tobytes()


def insert(rng: Rng, content: bytes) -> bytes:
    parts = [
        b"\0",
        b'"',
        b"\r",
        b"\n",
        b"\xff",
        b"\xef\xbb\xbf",
        b",",
        b";",
        b"\x1a",
        b'""',
        b"'",
        b"\\",
    ]
    position = int(rng.integers(len(content) + 1))
    return content[:position] + parts[rng.integers(len(parts))] + content[position:]


def no_last_line_end(rng: Rng, content: bytes) -> bytes:
    return content.rstrip(b"\r\n")


def mixed_line_ends(rng: Rng, content: bytes) -> bytes:
    parts = content.split(b"\n")
    ends = [b"\n", b"\r\n", b"\r", b"\n\n"]
    return b"".join(part + ends[rng.integers(4)] for part in parts)


def nothing(rng: Rng, content: bytes) -> bytes:
    return b""


def random_bytes(rng: Rng, content: bytes) -> bytes:
    return rng.bytes(200)


_DAMAGES: list[Callable[[Rng, bytes], bytes]] = [
    cut_off,
    noise,
    noise,
    insert,
    insert,
    insert,
    no_last_line_end,
    mixed_line_ends,
    nothing,
    random_bytes,
]
