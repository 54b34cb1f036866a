"""The facts of a report: all its numbers, as a dict of plain values."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from auctor import __version__
from auctor._checks import check_level
from auctor.models import TrainingRecord
from auctor.report.card import card_facts
from auctor.report.comparison import at_headline, comparisons
from auctor.report.features import feature_facts
from auctor.report.guarantee import guarantee
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
from auctor.report.row_panel import row_facts
from auctor.report.rows import ReportRows, read_report_rows
from auctor.report.score_bands import band_facts
from auctor.report.shape import shape_facts
from auctor.report.subgroups import period_facts, subgroup_facts
from auctor.report.trained import record_facts, recorded_metric

FORMAT = 3


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
    importances: Any = None,
    about: Mapping[str, Any] | None = None,
    by: Mapping[str, Any] | None = None,
    compare: Literal["rest", "pairs"] = "rest",
    time: Any = None,
    card: Mapping[str, Any] | None = None,
    example_rows: bool = True,
    level: float = 0.95,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Compute all numbers of a report as plain values, for ``render`` or for a JSON file.

    Parameters
    ----------
    model : fitted estimator of auctor, or Model
        The report of an estimator also shows its certificate, parameters and learning curve.
    X : array-like or data frame of shape (n_rows, n_features)
        The rows that the report is about.
    y : array-like of shape (n_rows,)
        Their labels: the two that the model was fitted to.
    sample_weight : array-like of shape (n_rows,), optional
        Row weights.
    groups : array-like of shape (n_rows,), optional
        The group of each row, such as a customer; confidence intervals allow for rows of the
        same group being dependent.
    scores, folds : array-like of shape (n_rows,), optional
        Out-of-fold scores and the fold of each row, which replace the scores of the model. Give
        them if the model was fitted to these rows.
    instability : float in [0, 1], optional
        With ``folds``, the fraction of the variance that comes from the training sets, as
        :func:`auctor.cross_val_auc` measures it. By default 1.
    fold_scores : array-like of shape (n_rows,), optional
        Out-of-fold scores as the model of each fold returned them, for the metrics that are
        computed within folds (AUC, KS, comparisons). Give them if ``scores`` were put on one
        scale for all folds. By default ``scores``.
    baseline : dict of name to scores, optional
        Scores of other models for the same rows, to compare with by a paired test.
    baseline_instability : dict of name to float, optional
        With ``folds``, the same fraction for the difference from each baseline, as
        :func:`auctor.metrics.fold_instability` measures it.
    metric : dict, optional
        The metric that the model was trained for, as arguments of
        :func:`auctor.metrics.compare_metric`, such as
        ``{"metric": "partial_auc", "fpr_range": (0, 0.1), "scaled": True}``. The page shows it
        first and compares by it, besides the AUC. By default the metric in the model's training
        record (``model.training``), if it has one; give ``{"metric": "auc"}`` for the AUC alone.
    bands : ScoreBands, optional
        Confidence bands of the feature plots, as ``auctor fit --report`` computes them from the
        training rows; without them the page has curves alone.
    importances : array-like, optional
        The importance of each term of the score, in the order of ``model.term_names``. By default
        it is computed on these rows; give it if the model was fitted to others as well.
    about : dict, optional
        Further information for the page: "title", "author", "made" (a date), "table", "trained_on"
        and "evaluated_on" (what the rows are, in words), "model" and "model_hash", "target",
        "positive_name" (what the positive label means, such as "churned"), "command", "seed",
        "learner", "parameters", "certificate", "notes" (a list of sentences), "pooling" (how the
        scores of folds were put on one scale) and "learning_curve" (a dict with x, y, and
        optionally low, high, x_label, y_label). Other entries are listed under "Data and settings".
        A model with a training record says itself what it was trained on.
    by : dict of name to array-like of shape (n_rows,), optional
        Columns, features or not, whose values divide the rows into subgroups, as ``groups`` of
        :func:`auctor.metrics.by_group`. The page shows the quality in each of them.
    compare : {"rest", "pairs"}, default="rest"
        Whether each group of ``by`` is tested against the other groups together, or every two
        groups.
    time : array-like of shape (n_rows,), optional
        When each row was observed: numbers, dates, or texts that sort in the order of time. The
        page shows the quality by period.
    card : dict of name to text, or to a list of texts, optional
        What the model card states: "intended_use", "users", "out_of_scope", "limits", "owner" and
        "contact". Entries without a text are marked as not stated.
    example_rows : bool, default=True
        Whether the page may contain the values of nine rows, which stand at the percentiles 1, 5,
        10, 25, 50, 75, 90, 95 and 99 of the score. Its panel "One row" explains their scores.
    level : float, default=0.95
        Confidence level of all intervals.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap resamples.

    Returns
    -------
    dict
        Plain JSON values: finite numbers, text, lists, dicts, True, False and None.

    Examples
    --------
    >>> from auctor.report import summarize
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
        importances=importances,
    )
    about = dict(about or {})
    features = feature_facts(rows, model, bands, level)
    curve = make_curve(rows)
    if metric is None:
        metric = recorded_metric(rows.model.training, len(rows.positive))
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "about": _about(model, rows.model.training, about),
        "data": _data(rows, about),
        "guarantee": guarantee(model),
        "headline": headline(rows, curve, level),
        "judged": judged(rows, metric, curve, level, random_state),
        "roc": roc_facts(rows, curve, level, random_state),
        "separation": separation(rows, curve, level, random_state),
        "calibration": calibration(rows, level),
        "distributions": distributions(rows),
        "thresholds": threshold_rows(rows, level),
        "bands": band_facts(rows, curve, level),
        "comparison": comparisons(
            rows, baseline, baseline_instability, metric, level, random_state
        ),
        "features": features,
        "row": row_facts(rows) if example_rows else None,
        "shape": shape_facts(rows.model),
        "learning": learning_facts(model, about),
        "level": level,
        "subgroups": subgroup_facts(rows, by, compare, level),
        "periods": period_facts(rows, time, level),
    }
    facts["card"] = card_facts(card, rows.model.training, facts)
    at_headline(facts["comparison"], facts["judged"])
    plain_facts: dict[str, Any] = plain(facts)
    return plain_facts


def _about(
    estimator: Any, record: TrainingRecord | None, about: Mapping[str, Any]
) -> dict[str, Any]:
    """What the model and its estimator say of the training, updated by what the caller gave."""
    own: dict[str, Any] = {} if record is None else record_facts(record)
    if hasattr(estimator, "model_"):
        own |= {
            "learner": type(estimator).__name__,
            "parameters": estimator.get_params(),
            "certificate": str(estimator.certificate_),
        }
    return {**own, **{key: value for key, value in about.items() if key != "learning_curve"}}


def _data(rows: ReportRows, about: Mapping[str, Any]) -> dict[str, Any]:
    """The number of rows, of each class, of features, groups and folds."""
    weight, present, positive = rows.counted, rows.present, rows.positive
    negative_label, positive_label = rows.model.classes
    name = about.get("positive_name")
    return {
        "n_rows": int(present.sum()),
        "n_absent": int((~present).sum()),
        "n_pos": int((present & positive).sum()),
        "n_neg": int((present & ~positive).sum()),
        "weight_pos": float(weight[positive].sum()),
        "weight_neg": float(weight[~positive].sum()),
        "positive": clean(name or positive_label),
        "negative": clean(f"not {name}" if name else negative_label),
        "has_name": bool(name),
        "positive_label": clean(positive_label),
        "negative_label": clean(negative_label),
        "n_features": len(rows.columns),
        "is_weighted": rows.weight is not None,
        "n_groups": None if rows.group_codes is None else int(rows.group_codes.max()) + 1,
        "n_folds": None if rows.folds is None else len(np.unique(np.asarray(rows.folds))),
        "is_out_of_fold": rows.is_out_of_fold,
        "model_threshold": float(rows.model.threshold),
    }
