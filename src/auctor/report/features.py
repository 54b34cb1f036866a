"""Facts on the features: missing values, importances, and plots of additive models and of trees."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor.models import AdditiveModel
from auctor.models.features import code_columns
from auctor.models.importance import by_importance, can_rank_terms
from auctor.report.dependence import has_trees
from auctor.report.feature_plots import Steps, centred, plot_feature, plot_surface, shifted
from auctor.report.feature_scores import TermRows, TermScore, score_roc, score_term, term_rows
from auctor.report.plain import LONGEST_TEXT, clean
from auctor.report.rows import ReportRows
from auctor.report.tree_features import tree_feature_facts

MOST_PLOTS = 200
# Characters of all names together: names are shortened if there are very many columns.
_MOST_TEXT = 400_000


def feature_facts(rows: ReportRows, estimator: Any, bands: Any, level: float) -> dict[str, Any]:
    """Every feature, the most important first, and plots of the first ones."""
    model = rows.model
    longest = max(60, min(LONGEST_TEXT, _MOST_TEXT // max(len(rows.columns), 1)))
    if isinstance(model, AdditiveModel):
        names = model.term_names
        importance = rows.importances
        terms = [_additive(model, rows, term, level) for term in by_importance(importance)]
        listed = [_additive_row(model, term, clean(names[term.index], longest)) for term in terms]
        for row, term in zip(listed, terms, strict=True):
            row["importance"] = float(importance[term.index])
        for row, term in zip(listed[:MOST_PLOTS], terms, strict=False):
            if term.score.range > 0:
                row["plot"] = _plot(model, rows, term, bands)
        zero = None if model.reference is None else clean(model.reference.name)
        return {"kind": "additive", "order": "importance", "rows": listed, "reference": zero}
    if has_trees(model):
        return tree_feature_facts(model, rows, longest)
    if can_rank_terms(rows.model):
        importances = rows.importances[: len(rows.columns)]
    else:
        own = getattr(estimator, "feature_importances_", [])
        importances = np.asarray(own, dtype=np.float64)
    listed = [_column_row(rows, j, importances, longest) for j in range(len(rows.columns))]
    listed.sort(key=lambda row: -(row["importance"] or 0.0))
    order = "importance" if len(importances) else "position in the table"
    return {"kind": "other", "order": order, "rows": listed}


@dataclass(frozen=True, eq=False)
class _Term:
    """A term of an additive model; to save memory, without the codes of its rows."""

    index: int
    score: TermScore
    missing: int | None  # rows without a value; None for surfaces


def _additive(model: AdditiveModel, rows: ReportRows, index: int, level: float) -> _Term:
    coded = term_rows(model, rows, index)
    missing = None
    if index < len(model.features):
        missing = _missing(rows, index, coded if not model.features[index].is_category else None)
    return _Term(index, score_term(rows, coded, level), missing)


def _additive_row(model: AdditiveModel, term: _Term, name: str) -> dict[str, Any]:
    score, is_feature = term.score, term.index < len(model.features)
    return {
        "name": name,
        "kind": model.features[term.index].kind if is_feature else "surface",
        "missing": term.missing,
        "auc": score.auc,
        "low": score.low,
        "high": score.high,
        "range": float(f"{score.range:.6g}"),
    }


def _column_row(rows: ReportRows, j: int, importances: Any, longest: int) -> dict[str, Any]:
    column = int(rows.columns[j])
    return {
        "name": clean(rows.table.names[column], longest),
        "kind": "category" if rows.table.is_text(column) else "number",
        "missing": _missing(rows, j),
        "importance": float(importances[j]) if j < len(importances) else None,
    }


def _missing(rows: ReportRows, j: int, coded: TermRows | None = None) -> int:
    """The number of rows, of positive weight, in which feature j is missing."""
    # Code 0 of a number means missing; of a category it may also be one unknown to the model.
    if coded is None:
        return rows.count_missing(j)
    return int(np.count_nonzero((coded.codes == 0) & rows.present))


def _plot(model: AdditiveModel, rows: ReportRows, term: _Term, bands: Any) -> dict[str, Any]:
    """The plot or heat map of a term, and the ROC curve of its contribution."""
    coded = term_rows(model, rows, term.index)
    values = _relative(model, term.index, coded, rows)
    if term.index >= len(model.features):
        drawing = plot_surface(model, term.index - len(model.features), values)
    else:
        feature = model.features[term.index]
        steps = Steps(feature, values)
        if bands is not None:
            steps = _with_band(bands[feature.name])
            codes = _codes(rows, steps, term.index)
            # The band is centred at its own mean; move it to where the model has that mean.
            shift = np.average((values[coded.codes] - steps.values[codes]), weights=rows.counted)
            steps = shifted(steps, float(shift))
            coded = TermRows(codes, steps.values)
        drawing = plot_feature(rows, steps, coded, int(rows.columns[term.index]))
    return drawing | {"roc": score_roc(term.score)}


def _relative(model: AdditiveModel, index: int, coded: TermRows, rows: ReportRows) -> Any:
    """Contributions of a term minus that of the average training row, as in explanations.

    Models of earlier releases do not store that row: theirs are compared with the class-balanced
    average of the report's rows.
    """
    if model.reference is None:
        return centred(coded.values, rows, coded.codes)
    return coded.values - model.reference.contributions[index]


def _with_band(band: Any) -> Steps:
    """The contributions on the bins of the band, which are finer than the model's."""
    return Steps(band.feature, band.table, band.simultaneous_low, band.simultaneous_high)


def _codes(rows: ReportRows, steps: Steps, j: int) -> Any:
    return code_columns((steps.feature,), rows.table, rows.columns[[j]])[0].astype(np.intp)
