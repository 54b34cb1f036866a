"""The HTML report of `auctor fit --max-memory --report`: a sample of the held-out fold."""

from typing import Any, NamedTuple

import numpy as np

from auctor._text import rows_words
from auctor._typing import Floats, Ints
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


class FoldRows(NamedTuple):
    """The held-out fold of an open data set."""

    rows: StoredRows  # all rows
    fold: HeldOutFold
    scores: Floats | None  # of the fold, on the scale of the final model
    n_folds: int

    def sample(self, seed: int) -> Ints:
        """Positions within the fold of the rows on the page: all of them, or some at random."""
        n_rows = self.fold.n_rows
        if n_rows <= SAMPLE_ROWS:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng(seed).choice(n_rows, SAMPLE_ROWS, replace=False))


def large_page(
    estimator: RankingEstimator,
    shown: FoldRows,
    facts: dict[str, Any],
    document: Document,
    about: dict[str, Any],
    seed: int,
) -> str:
    """The report as HTML; ``facts`` are those of the table, ``about`` further ones of the page."""
    rows, fold, chosen = shown.rows, shown.fold, shown.sample(seed)
    positions = fold.rows[chosen]
    words = _words(shown, len(chosen))
    summary = summarize(
        estimator,
        rows.table.gather(positions),
        rows.y[positions],
        sample_weight=None if fold.weight is None else fold.weight[chosen],
        scores=None if shown.scores is None else shown.scores[chosen],
        about={
            **about,
            "trained_on": rows_words(facts["table"], facts["rows"], facts["n_pos"]),
            "evaluated_on": f"{words}, by a model fitted without them",
            "table": facts["table"],
            "target": facts["target"],
            "notes": _notes(fold, words),
            "pooling": _POOLING,
            "seed": seed,
        },
        example_rows=document.example_rows,
        card=document.card,
        random_state=seed,
    )
    return render(summary)


def _words(shown: FoldRows, n_chosen: int) -> str:
    """Which rows the page shows."""
    n_rows = shown.fold.n_rows
    which = f"the {n_rows:,} rows"
    if n_chosen < n_rows:
        which = f"{n_chosen:,} rows, drawn at random from {which}"
    return f"{which} of one of {shown.n_folds} folds"


def _notes(fold: HeldOutFold, words: str) -> list[str]:
    return [
        f"The numbers are those of {words}, by a model that was fitted without this fold. The "
        "final model was fitted to all rows.",
        f"Of the whole fold: {fold.auc}.",
        "The table is larger than memory: there is no logistic regression for comparison, and "
        "there are no confidence bands of the feature plots.",
    ]
