"""The score AUC of each feature, computed from counts, since a contribution has few values."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Indices
from auctor.metrics.influence import Influences, known_from, variance
from auctor.metrics.limits import auc_limits
from auctor.models import AdditiveModel
from auctor.models.features import code_columns
from auctor.report.rows import ReportRows


class TermRows(NamedTuple):
    """One term of an additive model: the code of each row, the contribution of each code."""

    codes: Indices
    values: Floats


@dataclass(frozen=True, eq=False)
class TermScore:
    """The score AUC of a term with its interval, and the class weights at each level."""

    auc: float
    low: float | None
    high: float | None
    range: float
    pos: Floats  # from the lowest level to the highest
    neg: Floats


def term_rows(model: AdditiveModel, rows: ReportRows, term: int) -> TermRows:
    """The codes and contributions of a feature; the surfaces of pairs follow the features."""
    if term < len(model.features):
        feature = model.features[term]
        codes = code_columns((feature,), rows.table, rows.columns[[term]])[0]
        return TermRows(codes.astype(np.intp), model.steps[term])
    surface = model.surfaces[term - len(model.features)]
    first, second = code_columns(surface.axes, rows.table, rows.columns[list(surface.features)])
    width = surface.values.shape[1]
    return TermRows(first.astype(np.intp) * width + second, surface.values.ravel())


def score_term(rows: ReportRows, term: TermRows, level: float) -> TermScore:
    """The AUC of one term alone, with the interval that ``auc_ci`` would give."""
    present, positive, weight = rows.present, rows.positive, rows.counted
    levels, level_of_code = np.unique(term.values, return_inverse=True)
    at = level_of_code[term.codes]
    pos, neg = (
        np.bincount(at[c], weights=weight[c], minlength=len(levels)).astype(np.float64)
        for c in (present & positive, present & ~positive)
    )
    seen = np.flatnonzero(pos + neg)
    spread = float(levels[seen[-1]] - levels[seen[0]])
    below = (np.cumsum(neg) - neg / 2) / neg.sum()
    above = 1.0 - (np.cumsum(pos) - pos / 2) / pos.sum()
    area = float((pos * below).sum() / pos.sum())
    if spread == 0.0:
        return TermScore(0.5, 0.5, 0.5, 0.0, pos, neg)
    low, high = _limits(rows, at, area, (below, above), level)
    return TermScore(area, low, high, spread, pos, neg)


def _limits(
    rows: ReportRows, at: Indices, area: float, placed: tuple[Floats, Floats], level: float
) -> tuple[float, float] | tuple[None, None]:
    """Wilson's limits, from the placements of the levels; None if a class has one row."""
    sample, codes = rows.sample, rows.group_codes
    if min(sample.n_pos, sample.n_neg) < 2:
        return None, None
    at, codes = at[rows.present], None if codes is None else codes[rows.present]
    pulls = []
    for own, values in zip((sample.positive, ~sample.positive), placed, strict=True):
        weight = rows.counted[rows.present][own]
        pulls.append(weight / weight.sum() * (values[at[own]] - area))
    influences = Influences(area, *pulls)
    n_rows, freedom = known_from(influences, sample, codes)
    spread = variance(influences, sample, codes)
    return auc_limits(area, spread, n_rows, n_rows, level, freedom=freedom)


def score_roc(score: TermScore, most: int = 40) -> dict[str, Any]:
    """The ROC curve of a term alone, at ``most`` points at most."""
    fpr, tpr = (
        np.concatenate([[0.0], np.cumsum(side[::-1]) / side.sum()])
        for side in (score.neg, score.pos)
    )
    kept = np.unique(np.linspace(0, len(fpr) - 1, min(most, len(fpr))).round().astype(int))
    return {"fpr": np.round(fpr[kept], 4).tolist(), "tpr": np.round(tpr[kept], 4).tolist()}
