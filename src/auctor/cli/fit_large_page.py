"""The HTML report of `auctor fit --max-memory --report`: a sample of the held-out fold."""

from typing import Any

import numpy as np

from auctor._text import file_name, rows_words
from auctor._typing import Floats
from auctor.cli.document import Document
from auctor.data.stored.dataset import StoredRows
from auctor.estimators.base import RankingEstimator
from auctor.estimators.dataset_validation import HeldOutFold
from auctor.report import render, summarize

# Rows on the page.
SAMPLE_ROWS = 100_000
_POOLING = (
    "Scores were put on the scale of the final model by their rank among the training scores, so "
    "that the thresholds here can be used with the final model."
)


def large_page(
    estimator: RankingEstimator,
    rows: StoredRows,
    fold: HeldOutFold,
    scores: Floats,
    facts: dict[str, Any],
    document: Document,
    about: dict[str, Any],
    seed: int,
) -> str:
    """The report as HTML.

    ``scores`` are those of the held-out rows on the scale of the final model, ``facts`` those of
    the table, and ``about`` further entries of the page.
    """
    chosen = np.arange(fold.n_rows)
    if fold.n_rows > SAMPLE_ROWS:
        chosen = np.random.default_rng(seed).choice(fold.n_rows, SAMPLE_ROWS, replace=False)
        chosen.sort()
    X = rows.table.gather(fold.rows[chosen])
    table = file_name(facts["table"])
    drawn = f"{len(chosen):,} rows, drawn at random from the {fold.n_rows:,} rows of"
    which = drawn if len(chosen) < fold.n_rows else f"the {fold.n_rows:,} rows of"
    held_out = f"{which} one of {about.pop('folds')} folds"
    notes = [
        f"The numbers are those of {held_out}, by a model that was fitted without this fold. "
        "The final model was fitted to all rows.",
        f"Of the whole fold: {fold.auc}.",
        "The table is larger than memory: there is no logistic regression for comparison, and "
        "there are no confidence bands of the feature plots.",
    ]
    summary = summarize(
        estimator,
        X,
        rows.y[fold.rows[chosen]],
        sample_weight=None if fold.weight is None else fold.weight[chosen],
        scores=scores[chosen],
        about={
            **about,
            "trained_on": rows_words(table, facts["rows"], facts["n_pos"]),
            "evaluated_on": f"{held_out}, by a model fitted without them",
            "table": table,
            "target": facts["target"],
            "notes": notes,
            "pooling": _POOLING,
            "seed": seed,
        },
        example_rows=document.example_rows,
        card=document.card,
        random_state=seed,
    )
    return render(summary)
