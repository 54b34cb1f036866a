"""How often every interval that auctor prints contains the true value, as a page.

    python benchmarks/coverage.py                              # hours; writes docs/coverage.md
    python benchmarks/coverage.py --repetitions 200 --only samples --out coverage.md

Three programs make its parts and can be run alone: coverage_samples.py (one sample),
coverage_folds.py (out-of-fold and out-of-bag scores, differences) and coverage_thresholds.py.
Finished rows are stored in --keep and not computed again, so that a stopped run can be resumed.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

if __name__ != "__main__":
    # Numba tries to import a package of this name, and must not get this program instead.
    raise ImportError("benchmarks/coverage.py is a program; run it")

import coverage_folds as folds
import coverage_samples as samples
import coverage_thresholds as thresholds

WANTED = 0.93


class Row(NamedTuple):
    """One row of the page."""

    section: str
    interval: str
    cell: str
    covered: float
    error: float
    width: float
    repetitions: int
    rejected: float | None = None  # how often p < 0.05


def of_samples(part: str, n: int) -> Iterator[Row]:
    for one in samples.PARTS[part](n):
        yield Row(
            "One sample", one.part, one.cell, one.covered, one.error, one.width, one.repetitions
        )


def of_folds(part: str, n: int) -> Iterator[Row]:
    options = SimpleNamespace(repetitions=n, distribution=None, learner=["logistic", "rankboost"])
    for one in folds.PARTS[part](options):
        if isinstance(one, folds.Row):
            cell = f"{one.distribution}, {one.sizes}"
            measured = (one.covered, one.error, one.width, one.n, one.rejected)
            yield Row("Folds, bags and differences", one.interval, cell, *measured)


def of_thresholds(question: str, n: int) -> Iterator[Row]:
    for cell in thresholds.cells():
        if cell.question != question:
            continue
        results = thresholds.measure(cell, max(n // 4, 1) if cell.criterion == "cost" else n)
        names = ("tpr", "fpr", "precision") if question == "rates" else (question,)
        for name, one in zip(names, results, strict=False):
            yield Row(
                "Thresholds",
                name,
                f"{cell.distribution}, {cell.n_pos} + {cell.n_neg}, "
                f"{cell.criterion} {cell.value:g}",
                *(one.covered, one.error, one.width, one.n),
            )


def parts() -> dict[str, Callable[[int], Iterator[Row]]]:
    """Return the parts by name; parts that fit models have a fifth of the repetitions."""
    results: dict[str, Callable[[int], Iterator[Row]]] = {}
    for name in samples.PARTS:
        results[f"samples {name}"] = lambda n, part=name: of_samples(part, n)
    for name in folds.PARTS:
        results[f"folds {name}"] = lambda n, part=name: of_folds(part, max(n // 5, 20))
    for name in ("threshold", "rates", "promise"):
        results[f"thresholds {name}"] = lambda n, question=name: of_thresholds(question, n)
    return results


def read(path: Path) -> dict[str, list[Row]]:
    """Read the rows of finished parts."""
    if not path.is_file():
        return {}
    return {
        part: [Row(*row) for row in rows] for part, rows in json.loads(path.read_text()).items()
    }


def page(done: dict[str, list[Row]]) -> str:
    """Return the table as Markdown; the summary names the lowest coverage of each interval."""
    all_rows = [row for rows in done.values() for row in rows]
    out = [
        _HEAD,
        "## Summary",
        "",
        "| interval | cells | lowest | where | below 0.93 | mean width |",
    ]
    out.append("|---|---|---|---|---|---|")
    for name in dict.fromkeys(row.interval for row in all_rows):
        own = [row for row in all_rows if row.interval == name]
        worst = min(own, key=lambda row: row.covered)
        below = sum(row.covered < WANTED for row in own)
        finite = [row.width for row in own if row.width < float("inf")]
        width = f"{sum(finite) / len(finite):.3f}" if finite else "∞"
        lowest = f"{worst.covered:.3f} ± {worst.error:.3f}"
        out.append(f"| {name} | {len(own)} | {lowest} | {worst.cell} | {below} | {width} |")
    for section in dict.fromkeys(row.section for row in all_rows):
        out += [
            "",
            f"## {section}",
            "",
            "| interval | cell | covered | width | p < 0.05 | samples |",
        ]
        out.append("|---|---|---|---|---|---|")
        out += [_row(row) for row in all_rows if row.section == section]
    return "\n".join(out) + "\n"


def _row(row: Row) -> str:
    rejected = "" if row.rejected is None else f"{row.rejected:.3f}"
    covered = f"{row.covered:.3f} ± {row.error:.3f}"
    cells = (row.interval, row.cell, covered, f"{row.width:.3f}", rejected, row.repetitions)
    return "| " + " | ".join(map(str, cells)) + " |"


# The text above the tables.
_HEAD = Path(__file__).with_name("coverage_head.md").read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of all intervals, as a page.")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--only", default="", help="run only parts whose names start like this")
    parser.add_argument("--out", type=Path, default=Path("docs/coverage.md"))
    parser.add_argument("--keep", type=Path, default=Path("coverage-output.json"))
    args = parser.parse_args()
    done = read(args.keep)
    for name, run in parts().items():
        if name.startswith(args.only) and name not in done:
            print(name, flush=True)
            done[name] = list(run(args.repetitions))
            args.keep.write_text(json.dumps(done))
    args.out.write_text(page(done))


if __name__ == "__main__":
    main()
