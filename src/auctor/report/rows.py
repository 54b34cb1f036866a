"""The labelled rows of a report, read and checked once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import Table, read_labels, read_scores, read_weights, select
from auctor.metrics.sample import Sample, read_codes, read_sample
from auctor.models import ExplainedModel, Model
from auctor.models.importance import term_importances

# Rows in all resamples of a bootstrap together, which limits its time for large tables.
_MOST_DRAWN = 2e8


@dataclass(frozen=True, eq=False)
class ReportRows:
    """A model, and the rows that the report is about."""

    model: Model
    table: Table
    columns: Ints  # columns[j] is the column of the table with feature j of the model
    y: Any
    positive: Bools
    weight: Floats | None
    groups: Any
    scores: Floats
    folds: Any
    fold_scores: Floats  # scores that are comparable within a fold only
    instability: float | None = None
    is_out_of_fold: bool = False
    given_importances: Floats | None = None  # of the terms of the score, if not of these rows

    @cached_property
    def importances(self) -> Floats:
        """The importance of each term of the model, which must have such terms."""
        if self.given_importances is not None:
            return self.given_importances
        model = self.model
        assert isinstance(model, ExplainedModel)
        return term_importances(model, self.table, self.columns, self.positive, self.counted)

    @property
    def is_counted(self) -> bool:
        """Whether rows are independent and of equal weight, so that rates are those of counts."""
        return self.weight is None and self.groups is None

    @cached_property
    def counted(self) -> Floats:
        """The weight of each row, 1 if there are no weights."""
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
        """An integer code for the group of each row; None if there are no groups."""
        if self.groups is None:
            return None
        # Without weights, which would drop the rows of weight zero: every row needs a code.
        whole = read_sample(self.positive, {"scores": self.scores})
        return read_codes(self.groups, whole, "groups")[1]

    @property
    def weighting(self) -> dict[str, Any]:
        """Keyword arguments of every metric."""
        return {"sample_weight": self.weight, "pos_label": True}

    @property
    def dependence(self) -> dict[str, Any]:
        """Further arguments of intervals: which rows depend on each other, and which folds."""
        return {"groups": self.groups, "folds": self.folds, "instability": self.instability}

    def count_missing(self, j: int) -> int:
        """The number of rows, of positive weight, in which feature j is missing."""
        column = int(self.columns[j])
        if self.table.is_text(column):
            absent = self.table.categories(column).indices < 0
        else:
            absent = np.isnan(self.table.numbers(column))
        return int(np.count_nonzero(absent & self.present))

    def n_resamples(self, wanted: int) -> int:
        """The number of bootstrap resamples: fewer than wanted if there are very many rows."""
        return int(min(wanted, max(100, _MOST_DRAWN / len(self.positive))))


def read_report_rows(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any,
    groups: Any,
    scores: Any,
    folds: Any,
    instability: float | None = None,
    fold_scores: Any = None,
    importances: Any = None,
) -> ReportRows:
    """Read the arguments of ``summarize``; an error names the argument that is wrong."""
    model = getattr(estimator, "model_", estimator)
    if not isinstance(model, Model):
        steps = (
            "; of a pipeline give its last step, pipeline[-1], and the rows that it sees, "
            "pipeline[:-1].transform(X)"
            if hasattr(estimator, "named_steps")
            else ""
        )
        raise ValueError(
            f"model is of type {type(estimator).__name__}, which has no auctor model; give a "
            f"fitted estimator of auctor, or what auctor.load returned{steps}"
        )
    if folds is not None and scores is None:
        raise ValueError("folds was given without scores; give the out-of-fold scores too")
    if fold_scores is not None and folds is None:
        raise ValueError("fold_scores was given without folds; give the fold of each row too")
    table = model._read(X)
    columns = select(table, model.feature_names, type(model).__name__)
    positive = read_labels(y, pos_label=model.classes[1]).positive
    if len(positive) != table.n_rows:
        raise ValueError(
            f"X has {table.n_rows} rows and y has {len(positive)}; give a label for each row"
        )
    weight = read_weights(sample_weight, table.n_rows)
    own = model.decision_function(table) if scores is None else read_scores(scores, table.n_rows)
    within = own
    if fold_scores is not None:
        within = read_scores(fold_scores, table.n_rows, name="fold_scores")
    return ReportRows(
        model,
        table,
        columns,
        y,
        positive,
        weight,
        groups,
        own,
        folds,
        within,
        instability,
        is_out_of_fold=scores is not None,
        given_importances=_read_importances(importances, model),
    )


def _read_importances(importances: Any, model: Model) -> Floats | None:
    """The importances that were given, one for each term of the score."""
    if importances is None:
        return None
    values = np.asarray(importances, dtype=np.float64)
    n_terms = len(model.term_names) if isinstance(model, ExplainedModel) else 0
    if values.shape != (n_terms,):
        raise ValueError(
            f"importances has {values.size} numbers; give one for each of the {n_terms} terms of "
            "the score"
        )
    return values
