"""A first model from the command line: fit a table, score unseen rows, see how good it is, a page.

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
    """Two CSV files: rows to learn from, and rows that the model will not have seen."""
    cancer = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in cancer.feature_names]
    columns = dict(zip(names, cancer.data.T, strict=True))
    # In scikit-learn's copy 0 stands for malignant, which is what one looks for.
    table = pa.table({**columns, "malignant": (cancer.target == 0).astype(int)})
    order = np.random.default_rng(0).permutation(table.num_rows)
    train, unseen = FOLDER / "tumours.csv", FOLDER / "unseen.csv"
    FOLDER.mkdir(exist_ok=True)
    csv.write_csv(table.take(order[:-N_UNSEEN]), train)
    csv.write_csv(table.take(order[-N_UNSEEN:]), unseen)
    return train, unseen


def auctor(*arguments: object) -> None:
    """Run the command as if typed, and stop where it fails."""
    words = [str(argument) for argument in arguments]
    print(f"\n$ auctor {shlex.join(words)}", flush=True)
    code = main(words)
    if code:
        raise SystemExit(code)


def run() -> None:
    """The commands, one after the other; the last line is the address of the page."""
    train, unseen = write_tables()
    model, scores = FOLDER / "tumours.model.json", FOLDER / "scores.csv"
    page = FOLDER / "tumours.report.html"
    print(f"{train} has the rows to learn from, {unseen} has {N_UNSEEN} others.")
    auctor("fit", train, "--target", "malignant", "--out", model, "--report", page)
    auctor("score", model, unseen, "--keep", "malignant", "--out", scores)
    auctor("evaluate", model, unseen, "--target", "malignant", "--at", "tpr=0.95")
    print("\nWritten:")
    for path, what in {
        train: "the rows that the model learned from",
        unseen: "the rows that it was tried on",
        model: "the model: JSON that a person can read",
        scores: "score, probability and prediction of each unseen row",
        page: "a page about the model: open it in a browser",
    }.items():
        print(f"  {path!s:<36} {what}")
    print(f"\n{page.resolve().as_uri()}")


if __name__ == "__main__":
    run()
