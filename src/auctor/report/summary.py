"""The facts of a report: a dict of plain values that the page only draws."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from auctor import __version__
from auctor._checks import check_level
from auctor.report.comparison import at_headline, comparisons
from auctor.report.features import feature_facts
from auctor.report.learning import learning_facts
from auctor.report.plain import clean, plain
from auctor.report.quality import (
    calibration,
    distributions,
    headline,
    judged,
    make_curve,
    roc_facts,
    separation,
    threshold_rows,
)
from auctor.report.rows import ReportRows, read_report_rows
from auctor.report.shape import shape_facts

FORMAT = 1


def summarize(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    scores: Any = None,
    folds: Any = None,
    instability: float | None = None,
    fold_scores: Any = None,
    baseline: Mapping[str, Any] | None = None,
    baseline_instability: Mapping[str, float] | None = None,
    metric: Mapping[str, Any] | None = None,
    bands: Any = None,
    about: Mapping[str, Any] | None = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> dict[str, Any]:
    """All numbers of a report as plain values: save them as JSON, or give them to ``render``.

    Parameters
    ----------
    model : fitted estimator of auctor, or Model
        An estimator also tells its certificate, its parameters and its learning curve.
    X : table of any kind
    y : array-like of shape (n_rows,)
        The two labels that the model knows.
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows that vary together; intervals then come from drawing whole groups.
    scores, folds : array-like of shape (n_rows,), optional
        Out-of-fold scores and the fold of each row, in the place of the model's own scores: what
        to give when the rows are those that the model was fitted to.
    instability : float in [0, 1], optional
        With ``folds``, the share of the variance that comes from the training sets, as
        :func:`auctor.estimators.cross_validation.cross_validate` measures it; 1 unless given.
    fold_scores : array-like of shape (n_rows,), optional
        Out-of-fold scores as each fold's own model gave them, for what is measured within folds
        (AUC, KS, comparisons), where ``scores`` were brought to one scale. ``scores`` by default.
    baseline : dict of name to scores, optional
        Scores of other models on the same rows, compared by the paired test.
    baseline_instability : dict of name to float, optional
        With ``folds``, the same share of the difference to each of them, as
        :func:`auctor.metrics.fold_instability` measures it.
    metric : dict, optional
        What the model was trained for, as arguments of :func:`auctor.metrics.compare_metric`, such
        as ``{"metric": "partial_auc", "fpr_range": (0, 0.1), "scaled": True}``. The page shows it
        first, and compares in it; the AUC stands beside it.
    bands : ScoreBands, optional
        Bands of the score plots, as :func:`auctor.learners.smooth.bands.score_bands` makes them.
    about : dict, optional
        What only the caller knows. The page has places for "title", "table", "target", "command",
        "seed", "learner", "parameters", "certificate", "made", "notes" (a list of sentences),
        "pooling" (what was done to the scores of folds, under the curve) and "learning_curve"
        (x, y, and low, high, x_label, y_label if known); what else there is stands in the list of
        facts.
    level : float, default=0.95
        Confidence level of all intervals.
    random_state : int, Generator, RandomState or None, default=0
        Of the bootstraps.

    Returns
    -------
    dict
        Plain JSON values: finite numbers, text, lists, dicts, True, False and None.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    >>> facts = summarize(RankBoost(n_estimators=5).fit(X, y), X, y, about={"title": "Six rows"})
    >>> facts["data"]["n_pos"], facts["about"]["learner"], round(facts["headline"]["auc"], 3)
    (3, 'RankBoost', 0.944)
    """
    level = check_level(level)
    rows = read_report_rows(
        model,
        X,
        y,
        sample_weight=sample_weight,
        groups=groups,
        scores=scores,
        folds=folds,
        instability=instability,
        fold_scores=fold_scores,
    )
    told = dict(about or {})
    curve = make_curve(rows)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "about": _about(model, told),
        "data": _data(rows, is_out_of_fold=scores is not None),
        "headline": headline(rows, curve, level),
        "judged": judged(rows, metric, curve, level, random_state),
        "roc": roc_facts(rows, curve, level, random_state),
        "separation": separation(rows, curve, level, random_state),
        "calibration": calibration(rows, level),
        "distributions": distributions(rows),
        "thresholds": threshold_rows(rows, level),
        "comparison": comparisons(
            rows, baseline, baseline_instability, metric, level, random_state
        ),
        "features": feature_facts(rows, model, bands, level),
        "shape": shape_facts(rows.model),
        "learning": learning_facts(model, told),
        "level": level,
    }
    at_headline(facts["comparison"], facts["judged"])
    done: dict[str, Any] = plain(facts)
    return done


def _about(found: Any, about: dict[str, Any]) -> dict[str, Any]:
    """What the caller said, after what the estimator says of itself."""
    own: dict[str, Any] = {}
    if hasattr(found, "model_"):
        own = {
            "learner": type(found).__name__,
            "parameters": found.get_params(),
            "certificate": str(found.certificate_),
        }
    told = {**own, **{key: value for key, value in about.items() if key != "learning_curve"}}
    return told


def _data(rows: ReportRows, is_out_of_fold: bool) -> dict[str, Any]:
    """What the rows are: how many, of which classes, with how many missing values."""
    weight, present, positive = rows.counted, rows.present, rows.positive
    negative_label, positive_label = rows.model.classes
    return {
        "n_rows": int(present.sum()),
        "n_absent": int((~present).sum()),
        "n_pos": int((present & positive).sum()),
        "n_neg": int((present & ~positive).sum()),
        "weight_pos": float(weight[positive].sum()),
        "weight_neg": float(weight[~positive].sum()),
        "positive": clean(positive_label),
        "negative": clean(negative_label),
        "n_features": len(rows.columns),
        "is_weighted": rows.weight is not None,
        "n_groups": None if rows.group_codes is None else int(rows.group_codes.max()) + 1,
        "n_folds": None if rows.folds is None else len(np.unique(np.asarray(rows.folds))),
        "is_out_of_fold": is_out_of_fold,
        "model_threshold": float(rows.model.threshold),
    }
