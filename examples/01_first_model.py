"""A first model from the command line: fit, score unseen rows, evaluate, write a report.

Run it with ``make demo`` or ``python examples/01_first_model.py``; it writes to demo-output/.
The table is scikit-learn's breast cancer data: 30 measurements of 569 tumours.
"""

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
from sklearn.datasets import load_breast_cancer

from auctor.cli.main import main

FOLDER = Path("demo-output")
N_UNSEEN = 100


def write_tables() -> tuple[Path, Path]:
    """Write two CSV files: the training rows, and other rows to evaluate the model."""
    cancer = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in cancer.feature_names]
    columns = dict(zip(names, cancer.data.T, strict=True))
    # In scikit-learn's copy 0 means malignant, which is the class to detect.
    table = pa.table({**columns, "malignant": (cancer.target == 0).astype(int)})
    order = np.random.default_rng(0).permutation(table.num_rows)
    train, unseen = FOLDER / "tumours.csv", FOLDER / "unseen.csv"
    FOLDER.mkdir(exist_ok=True)
    csv.write_csv(table.take(order[:-N_UNSEEN]), train)
    csv.write_csv(table.take(order[-N_UNSEEN:]), unseen)
    return train, unseen


def auctor(*arguments: object) -> None:
    """Run the command as if it were typed, and stop if it fails."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ auctor {shlex.join(words)}", flush=True)
    code = main(words)
    if code:
        raise SystemExit(code)


def run() -> None:
    """Run the commands one after the other; the last line printed is the URL of the report."""
    train, unseen = write_tables()
    model, scores = FOLDER / "tumours.model.json", FOLDER / "scores.csv"
    page = FOLDER / "tumours.report.html"
    print(f"{train} has the training rows, {unseen} has {N_UNSEEN} other rows.")
    auctor("fit", train, "--target", "malignant", "--out", model, "--report", page)
    auctor("score", model, unseen, "--keep", "malignant", "--out", scores)
    auctor("evaluate", model, unseen, "--target", "malignant", "--at", "tpr=0.95")
    print("\nWritten:")
    for path, content in {
        train: "the training rows",
        unseen: "the rows for the evaluation",
        model: "the model, as readable JSON",
        scores: "score, probability and prediction of each unseen row",
        page: "the report: open it in a browser",
    }.items():
        print(f"  {path!s:<36} {content}")
    print(f"\n{page.resolve().as_uri()}")


if __name__ == "__main__":
    run()
