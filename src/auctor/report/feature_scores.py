"""Score AUCs of all features from counts: the score of a feature has few values."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.metrics.intervals import normal_quantile
from auctor.models import AdditiveModel
from auctor.models.features import code_columns
from auctor.report.rows import ReportRows

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


class TermRows(NamedTuple):
    """One term of an additive score: the code of each row, and the score of each code."""

    codes: Codes
    values: Floats


@dataclass(frozen=True, eq=False)
class TermScore:
    """The score AUC of a term, its interval, and the weight of each class at each level."""

    auc: float
    low: float | None
    high: float | None
    range: float
    pos: Floats  # from the lowest level up
    neg: Floats


def term_rows(model: AdditiveModel, rows: ReportRows, term: int) -> TermRows:
    """The codes and scores of a feature, or of a surface after the features."""
    if term < len(model.features):
        feature = model.features[term]
        codes = code_columns((feature,), rows.table, rows.columns[[term]])[0]
        return TermRows(codes.astype(np.intp), model.steps[term])
    surface = model.surfaces[term - len(model.features)]
    first, second = code_columns(surface.axes, rows.table, rows.columns[list(surface.features)])
    width = surface.values.shape[1]
    return TermRows(first.astype(np.intp) * width + second, surface.values.ravel())


def score_term(rows: ReportRows, term: TermRows, level: float) -> TermScore:
    """The AUC of one term alone; DeLong's interval, or its like for weights and groups."""
    present, positive, weight = rows.present, rows.positive, rows.counted
    levels, place = np.unique(term.values, return_inverse=True)
    at = place[term.codes]
    pos, neg = (
        np.bincount(at[c], weights=weight[c], minlength=len(levels)).astype(np.float64)
        for c in (present & positive, present & ~positive)
    )
    seen = np.flatnonzero(pos + neg)
    spread = float(levels[seen[-1]] - levels[seen[0]])
    below = np.cumsum(neg) - neg / 2
    above = pos.sum() - np.cumsum(pos) + pos / 2
    area = float(pos @ below / (pos.sum() * neg.sum()))
    if spread == 0.0:
        return TermScore(0.5, 0.5, 0.5, 0.0, pos, neg)
    error = _error(rows, at, area, (below / neg.sum(), above / pos.sum()))
    if error is None:
        return TermScore(area, None, None, spread, pos, neg)
    reach = normal_quantile(level) * error
    return TermScore(area, max(area - reach, 0.0), min(area + reach, 1.0), spread, pos, neg)


def _error(rows: ReportRows, at: Codes, area: float, placed: tuple[Floats, Floats]) -> float | None:
    """Standard error of an AUC: how far rows, or groups of them, pull it from its mean.

    Without weights and groups it is DeLong's.
    """
    pull = np.zeros(len(at))
    spread = 0.0
    for c, values in zip((rows.positive, ~rows.positive), placed, strict=True):
        own = c & rows.present
        n, weight = int(own.sum()), rows.counted[own]
        if n < 2:
            return None
        pull[own] = weight * (values[at[own]] - area) / weight.sum()
        spread += n / (n - 1) * float(pull[own] @ pull[own])
    if rows.group_codes is not None:
        together = np.bincount(rows.group_codes, weights=pull)
        n = len(np.unique(rows.group_codes[rows.present]))
        spread = n / max(n - 1, 1) * float(together @ together)
    return float(np.sqrt(spread))


def score_roc(score: TermScore, most: int = 40) -> dict[str, Any]:
    """The ROC of a term alone, at no more than ``most`` points."""
    fpr, tpr = (
        np.concatenate([[0.0], np.cumsum(side[::-1]) / side.sum()])
        for side in (score.neg, score.pos)
    )
    kept = np.unique(np.linspace(0, len(fpr) - 1, min(most, len(fpr))).round().astype(int))
    return {"fpr": np.round(fpr[kept], 4).tolist(), "tpr": np.round(tpr[kept], 4).tolist()}
