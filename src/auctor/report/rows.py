"""The labelled rows of a report, read and checked once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import Table, read_labels, read_scores, read_table, read_weights, select
from auctor.metrics.sample import Sample, read_codes, read_sample
from auctor.models import Model

# A bootstrap of many rows is not worth an hour: as many draws as this many rows pay for.
_MOST_DRAWN = 2e8


@dataclass(frozen=True, eq=False)
class ReportRows:
    """A model, and the rows that the report is about."""

    model: Model
    table: Table
    columns: Ints  # feature j of the model stands in column columns[j]
    y: Any
    positive: Bools
    weight: Floats | None
    groups: Any
    scores: Floats
    folds: Any
    fold_scores: Floats  # what ranks the rows of one fold
    instability: float | None = None

    @cached_property
    def counted(self) -> Floats:
        """The weight of each row, 1 where none was given."""
        return np.ones(len(self.positive)) if self.weight is None else self.weight

    @cached_property
    def present(self) -> Bools:
        """Rows of weight above zero."""
        return self.counted > 0

    @cached_property
    def sample(self) -> Sample:
        """The rows of weight above zero, as the metrics read them."""
        return read_sample(self.positive, {"scores": self.scores}, sample_weight=self.weight)

    @cached_property
    def group_codes(self) -> Ints | None:
        """A number for the group of each row; None without groups."""
        if self.groups is None:
            return None
        # Labels with their zero weights would drop rows: here every row has a code.
        whole = read_sample(self.positive, {"scores": self.scores})
        return read_codes(self.groups, whole, "groups")[1]

    @property
    def told(self) -> dict[str, Any]:
        """What every metric is told of the rows."""
        return {"sample_weight": self.weight, "pos_label": True}

    @property
    def within(self) -> dict[str, Any]:
        """What an interval is told besides: what goes together, and how it was trained."""
        return {"groups": self.groups, "folds": self.folds, "instability": self.instability}

    def n_resamples(self, usual: int) -> int:
        """Draws of a bootstrap: fewer where there are very many rows."""
        return int(min(usual, max(100, _MOST_DRAWN / len(self.positive))))


def read_report_rows(
    found: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any,
    groups: Any,
    scores: Any,
    folds: Any,
    instability: float | None = None,
    fold_scores: Any = None,
) -> ReportRows:
    """Read what the caller gave; an error names the argument that is wrong."""
    model = getattr(found, "model_", found)
    if not isinstance(model, Model):
        raise ValueError(
            f"{type(found).__name__} holds no auctor model; give a fitted estimator of auctor, or "
            "a model that auctor.load has read"
        )
    if folds is not None and scores is None:
        raise ValueError("folds was given without scores; give the out-of-fold scores as well")
    if fold_scores is not None and folds is None:
        raise ValueError("fold_scores was given without folds; give the fold of each row as well")
    table = read_table(X, accept_sparse=True)
    columns = select(table, model.feature_names, type(model).__name__)
    positive = read_labels(y, pos_label=model.classes[1]).positive
    if len(positive) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows and y has {len(positive)}")
    weight = read_weights(sample_weight, table.n_rows)
    own = model.decision_function(table) if scores is None else read_scores(scores, table.n_rows)
    within = own
    if fold_scores is not None:
        within = read_scores(fold_scores, table.n_rows, name="fold_scores")
    return ReportRows(
        model, table, columns, y, positive, weight, groups, own, folds, within, instability
    )
