"""A first model from the command line: fit, score new rows, evaluate, write a report.

Run it with ``make demo`` or ``python examples/01_first_model.py``; it writes to demo-output/.
The table is simulated (``auctor.datasets.make_loans``): loans, some of which were not paid back.
The risk does not rise or fall evenly with the features, as it seldom does. Straight lines miss it.
"""

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from auctor.cli.main import main
from auctor.datasets import make_loans

FOLDER = Path("demo-output")
N_LOANS, N_NEW = 3000, 1000


def loan_table(n: int, seed: int) -> pa.Table:
    """Loans with an id and their outcome; about one in nine was not paid back."""
    X, y = make_loans(n, random_state=seed)
    table = X.add_column(0, "loan_id", pa.array(np.arange(100_000, 100_000 + n)))
    return table.append_column("defaulted", pa.array(np.where(y == 1, "yes", "no")))


def write_tables() -> tuple[Path, Path]:
    """Write two CSV files: the training rows, and new loans to evaluate the model."""
    train, new = FOLDER / "loans.csv", FOLDER / "new.csv"
    FOLDER.mkdir(exist_ok=True)
    csv.write_csv(loan_table(N_LOANS, seed=0), train)
    csv.write_csv(loan_table(N_NEW, seed=1), new)
    return train, new


def auctor(*arguments: object) -> None:
    """Run the command as if it were typed, and stop if it fails."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ auctor {shlex.join(words)}", flush=True)
    code = main(words)
    if code:
        raise SystemExit(code)


def run() -> None:
    """Run the commands one after the other; the last line printed is the URL of the report."""
    train, new = write_tables()
    model, scores = FOLDER / "loans.model.json", FOLDER / "scores.csv"
    page = FOLDER / "loans.report.html"
    print(f"{train} has {N_LOANS} loans to learn from, {new} has {N_NEW} others.")
    fit = ("fit", train, "--target", "defaulted", "--positive", "yes", "--drop", "loan_id")
    auctor(*fit, "--out", model, "--report", page)
    auctor("score", model, new, "--keep", "loan_id", "--reasons", 3, "--out", scores)
    auctor("evaluate", model, new, "--target", "defaulted", "--at", "precision=0.5")
    print("\nWritten:")
    for path, content in {
        train: "the training rows",
        new: "the rows for the evaluation",
        model: "the model, as readable JSON (auctor show prints what it was trained on)",
        scores: "score, probability, prediction and three reasons for each new loan",
        page: "the report: open it in a browser",
    }.items():
        print(f"  {path!s:<36} {content}")
    print(f"\n{page.resolve().as_uri()}")


if __name__ == "__main__":
    run()
