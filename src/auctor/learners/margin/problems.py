"""The problems: from a table to hypotheses, and from the weights of hypotheses to a model."""

from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from auctor._typing import Floats
from auctor.data import RankingData, Table
from auctor.data.copies import distinct_rows
from auctor.data.labelled import LabelledRows
from auctor.learners.common.blocks import class_histogram
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import fill_missing, finish_additive, training_order
from auctor.learners.margin.feature_hypotheses import FeatureHypotheses, Scaling
from auctor.learners.margin.hypotheses import Hypotheses, MatrixHypotheses, StumpHypotheses
from auctor.learners.margin.snap import WEIGHT_GRID
from auctor.models import GRID, Calibration, LinearModel, Model, ScorerModel
from auctor.models.linear import round_scores
from auctor.models.reference import TRAINING
from auctor.models.unsaved import scorer_name, scorer_values


class RowScores(NamedTuple):
    """Scores and weights of the training rows, or of the distinct ones."""

    neg: Floats
    pos: Floats
    weight_neg: Floats
    weight_pos: Floats


def split_scores(scores: Floats, rows: LabelledRows) -> RowScores:
    """Scores of the rows with positive weight, by class."""
    mine = rows.positive
    unit_neg, unit_pos = rows.row_units
    neg: Floats = np.asarray(rows.weight[~mine] * unit_neg, dtype=np.float64)
    pos: Floats = np.asarray(rows.weight[mine] * unit_pos, dtype=np.float64)
    return RowScores(scores[~mine], scores[mine], neg, pos)


class MarginProblem(Protocol):
    """Hypotheses on the training rows, and how their weights become a model."""

    @property
    def hypotheses(self) -> Hypotheses: ...

    @property
    def grid(self) -> float:
        """Weights are multiples of this."""

    def model(self, beta: Floats) -> Model:
        """The model of the weights, with threshold and calibration."""

    def scores(self, beta: Floats) -> RowScores:
        """The scores of the training rows by the model, up to a constant."""

    def feature_weights(self, beta: Floats) -> Floats:
        """Sum of the absolute weights of the hypotheses of each column."""


class LinearProblem:
    """Columns of a table as hypotheses: a LinearModel."""

    grid = WEIGHT_GRID

    def __init__(
        self, table: Table, rows: LabelledRows, categorical: frozenset[int], scaling: Scaling
    ) -> None:
        self._table, self._rows = table, rows
        self.hypotheses = FeatureHypotheses(table, rows, categorical, scaling)

    def model(self, beta: Floats) -> Model:
        plain = self._plain(beta)
        scores = self._rows.pick(plain.decision_function(self._table))
        # Rows that were left out have weight 0 here.
        weight = np.zeros(self._table.n_rows)
        weight[slice(None) if self._rows.kept is None else self._rows.kept] = self._rows.weight
        averaged = plain.with_reference(self._table, weight, TRAINING)
        return finished(averaged, scores, self._rows)

    def scores(self, beta: Floats) -> RowScores:
        scores = self._plain(beta).decision_function(self._table)
        return split_scores(self._rows.pick(scores), self._rows)

    def _plain(self, beta: Floats) -> LinearModel:
        """The model before the shift to Youden's point."""
        negative, positive = self._rows.classes.tolist()
        shared = (negative, positive), 0.0, Calibration(1.0, 0.0)
        return LinearModel(*shared, self.hypotheses.terms(beta), 0.0)

    def feature_weights(self, beta: Floats) -> Floats:
        features = [column.feature for column in self.hypotheses.columns]
        out = np.zeros(self._table.n_columns)
        np.add.at(out, features, np.abs(beta))
        return out


class StumpProblem:
    """Stumps on the bins of a table: an AdditiveModel."""

    grid = GRID

    def __init__(self, data: RankingData) -> None:
        self._data = data
        self.hypotheses = StumpHypotheses(data)

    def model(self, beta: Floats) -> Model:
        tables = self.hypotheses.tables(beta)
        padded = [np.append(table, np.zeros(self._data.n_codes - len(table))) for table in tables]
        fill_missing(class_histogram(self._data), padded)
        model, _ = finish_additive(self._data, padded)
        return model

    def scores(self, beta: Floats) -> RowScores:
        # Steps are multiples of GRID, so that the sums are those of the model, bit for bit.
        own = self.hypotheses
        return RowScores(*own.scores(beta), own.weight_neg, own.weight_pos)

    def feature_weights(self, beta: Floats) -> Floats:
        out = np.zeros(self._data.n_features)
        np.add.at(out, [j for j, _ in self.hypotheses.stumps], np.abs(beta))
        return out


class ScorerProblem:
    """Given scorers as hypotheses: a ScorerModel."""

    grid = WEIGHT_GRID

    def __init__(
        self, scorers: list[Any], X: Any, names: tuple[str, ...], rows: LabelledRows
    ) -> None:
        positive = rows.classes.tolist()[1]
        values = [_checked(scorer, X, k, positive) for k, scorer in enumerate(scorers)]
        n_rows = len(rows.positive) if rows.kept is None else len(rows.kept)
        for k, scores in enumerate(values):
            if len(scores) != n_rows:
                raise ValueError(
                    f"hypotheses[{k}] returns {len(scores)} scores for {n_rows} rows; give scorers "
                    "that return one score for each row"
                )
        self._names, self._scorers, self._rows = names, tuple(scorers), rows
        self._values = rows.pick(np.column_stack(values))
        matrices, weights = [], list[Floats]()
        for mine, unit in zip((~rows.positive, rows.positive), rows.row_units, strict=True):
            own = np.flatnonzero(mine)
            chosen, weight = distinct_rows(self._values[own], rows.weight[own])
            matrices.append(self._values[own[chosen]])
            weights.append(np.asarray(weight * unit, dtype=np.float64))
        self.hypotheses = MatrixHypotheses(*matrices, *weights)

    def model(self, beta: Floats) -> Model:
        negative, positive = self._rows.classes.tolist()
        shared = (negative, positive), 0.0, Calibration(1.0, 0.0)
        plain = ScorerModel(*shared, self._names, self._scorers, beta, 0.0)
        return finished(plain, self._sum(beta), self._rows)

    def scores(self, beta: Floats) -> RowScores:
        return split_scores(self._sum(beta), self._rows)

    def _sum(self, beta: Floats) -> Floats:
        """The scores of ScorerModel, from the values of the scorers."""
        parts = [beta[k] * self._values[:, k] for k in np.flatnonzero(beta)]
        return round_scores(np.sum([np.zeros(len(self._values)), *parts], axis=0))

    def feature_weights(self, beta: Floats) -> Floats:
        return np.abs(beta)


def _checked(scorer: Any, X: Any, k: int, positive: Any) -> Floats:
    """The values of a scorer, checked: a number in [-1, 1] for each row."""
    name = f"hypotheses[{k}] ({scorer_name(scorer)})"
    can = callable(scorer) or any(
        hasattr(scorer, method) for method in ("predict_proba", "decision_function")
    )
    if not can:
        raise TypeError(
            f"{name} is not callable and has no predict_proba or decision_function; give "
            "fitted scorers, or one of 'features', 'stumps', 'words', 'columns'"
        )
    values = scorer_values(scorer, X, positive)
    if values.ndim != 1:
        raise ValueError(
            f"{name} returns an array of shape {values.shape}; give a scorer that returns one "
            "score for each row"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} returns NaN or infinite scores; give one that returns numbers")
    if np.abs(values).max() > 1.0:
        raise ValueError(
            f"{name} has values from {values.min():g} to {values.max():g}; give a scorer with "
            "values in [-1, 1], for instance a function that divides the score"
        )
    return values


def finished(
    model: LinearModel | ScorerModel, scores: Floats, rows: LabelledRows
) -> LinearModel | ScorerModel:
    """The model shifted so that Youden's point is at score 0, with its calibration."""
    data = rows.without_codes()
    ordered = [scores[data.partitions[0].rows]]
    cut = training_order(data, ordered).cut
    return replace(model, calibration=calibrate(data, ordered, cut), intercept=0.0 - cut)
