"""A first model from the command line: fit, score new rows, evaluate, write a report.

Run it with ``make demo`` or ``python examples/01_first_model.py``; it writes to demo-output/.
The table is simulated: loans, some of which were not paid back. The risk does not rise or fall
evenly with the features, as it seldom does: it is high for the young and the old, falls with income
and then stays, and jumps where a credit line is almost used up. Straight lines miss that.
"""

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from auctor.cli.main import main

FOLDER = Path("demo-output")
N_LOANS, N_NEW = 3000, 1000


def make_loans(n: int, seed: int) -> pa.Table:
    """Loans with their outcome; about one in nine was not paid back."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(6, 7, n) + 12, 18, 85).round()
    income = np.exp(rng.normal(7.9, 0.55, n)).round(-1)
    used = np.clip(rng.beta(1.1, 1.4, n), 0, 1).round(3)
    years = np.minimum(rng.exponential(6, n), age - 17).round(1)
    late = rng.poisson(0.5, n)
    purpose = rng.choice(["car", "furniture", "education", "business"], n, p=[0.4, 0.3, 0.1, 0.2])
    housing = rng.choice(["own", "rent", "free"], n, p=[0.55, 0.35, 0.1])
    log_odds = (
        -2.5
        + 0.55 * ((age - 46) / 18) ** 2
        - 1.3 * np.clip(np.log(income / 1500), -1, 1)
        + 1.9 / (1 + np.exp(-(used - 0.8) / 0.03))
        - 0.9 * np.tanh(years / 2)
        + 0.8 * np.sqrt(late)
        + np.select([purpose == "business", purpose == "education"], [0.9, -0.5], 0.0)
        + np.where(housing == "own", -0.4, 0.3)
    )
    is_unknown = rng.random(n) < 0.12  # people who do not state their income pay back less often
    defaulted = rng.random(n) < 1 / (1 + np.exp(-(log_odds + 0.8 * is_unknown)))
    return pa.table(
        {
            "loan_id": np.arange(100_000, 100_000 + n),
            "age": age.astype(int),
            "monthly_income": pa.array(income, mask=is_unknown),
            "credit_line_used": used,
            "years_in_job": years,
            "late_payments": late,
            "purpose": purpose,
            "housing": housing,
            "defaulted": np.where(defaulted, "yes", "no"),
        }
    )


def write_tables() -> tuple[Path, Path]:
    """Write two CSV files: the training rows, and new loans to evaluate the model."""
    train, new = FOLDER / "loans.csv", FOLDER / "new.csv"
    FOLDER.mkdir(exist_ok=True)
    csv.write_csv(make_loans(N_LOANS, seed=0), train)
    csv.write_csv(make_loans(N_NEW, seed=1), new)
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
