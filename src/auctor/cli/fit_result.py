"""The result of `auctor fit`: as plain values for JSON, and as text for people."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from auctor._text import interval, one_line, p_equation
from auctor._typing import Floats
from auctor.cli.facts import difference_words, interval_facts, with_interval
from auctor.cli.holdout import HoldoutResult
from auctor.cli.metric import Metric
from auctor.cli.out_files import Output
from auctor.cli.problem import Problem
from auctor.cli.validation import (
    BASELINE_TITLE,
    Compared,
    Validated,
    comparison_facts,
    describe_folds,
    validation_facts,
)
from auctor.data import read_table, select
from auctor.estimators.base import RankingEstimator
from auctor.estimators.recording import recorded_parameters
from auctor.metrics import MetricComparison, MetricInterval
from auctor.models import ExplainedModel
from auctor.models.explanation import shorten
from auctor.models.importance import (
    by_importance,
    can_rank_terms,
    feature_importances,
    term_importances,
)

_N_IMPORTANT = 5
_LONGEST_NAME = 60


@dataclass(frozen=True, eq=False)
class Baseline:
    """The cross-validation of the baseline, and the difference of the learner from it."""

    validated: Validated
    compared: Compared
    ks: MetricInterval  # moved as validation.matched_ks does

    def value_of(self, metric: Metric) -> float:
        """The metric of the baseline, without an interval."""
        return self.ks.value if metric.kind == "ks" else self.compared.in_metric.value_b


@dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted learner, its training data, and its cross-validation if there was one."""

    estimator: RankingEstimator
    metric: Metric
    problem: Problem
    warnings: list[str]
    validated: Validated | None
    baseline: Baseline | None
    holdout: HoldoutResult | None = None

    @property
    def learner(self) -> str:
        """The learner by the name of its class, as on the page and in Python."""
        return type(self.estimator).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The learner's parameters, without folds that were made for groups: lists of rows."""
        return recorded_parameters(self.estimator)

    @property
    def _explained(self) -> ExplainedModel | None:
        """The model, if its score is a sum of terms that have importances."""
        model = self.estimator.model_
        return model if isinstance(model, ExplainedModel) and can_rank_terms(model) else None

    @cached_property
    def term_importances(self) -> Floats | None:
        """The importance of each term of such a model on the training rows; None for others."""
        model, problem = self._explained, self.problem
        if model is None:
            return None
        table = read_table(problem.X)
        columns = select(table, model.feature_names, type(model).__name__)
        weight = np.ones(table.n_rows) if problem.weight is None else problem.weight
        return term_importances(model, table, columns, problem.positive, weight)

    @property
    def all_importances(self) -> Floats | None:
        """The importance of each feature, in which a pair counts one half for each of the two.

        Where the score is no sum over features, the importances of the learner, if it has any.
        """
        if self._explained is not None and self.term_importances is not None:
            return feature_importances(self._explained, self.term_importances)
        values = getattr(self.estimator, "feature_importances_", None)
        return None if values is None else np.asarray(values, dtype=np.float64)

    @property
    def importances(self) -> list[tuple[str, float]]:
        """The features and pairs that matter most, as on the page of the report."""
        names: Sequence[str] = self.problem.X.column_names
        values = self.all_importances
        if self._explained is not None:
            names, values = self._explained.term_names, self.term_importances
        if values is None:
            return []
        first = by_importance(values)[:_N_IMPORTANT]
        return [(names[j], float(values[j])) for j in first if values[j] > 0]


def fit_facts(result: FitResult, out: Output, page: Output | None) -> dict[str, Any]:
    """The result in plain values."""
    certificate = result.estimator.certificate_
    return {
        **result.problem.facts(),
        "warnings": result.warnings,
        "learner": result.learner,
        "metric": str(result.metric),
        "params": result.parameters,
        "certificate": {"statement": certificate.statement, "values": certificate.values},
        "importances": [
            {"feature": name, "importance": value} for name, value in result.importances
        ],
        "cross_validation": _validation_facts(result),
        "baseline": _baseline_facts(result),
        "holdout": None if result.holdout is None else result.holdout.facts(),
        "model": str(out),
        "report": None if page is None else str(page),
    }


def _validation_facts(result: FitResult) -> dict[str, Any] | None:
    validated = result.validated
    if validated is None:
        return None
    return validation_facts(validated, result.metric, validated.ks)


def _baseline_facts(result: FitResult) -> dict[str, Any] | None:
    baseline = result.baseline
    if baseline is None:
        return None
    name, value = baseline.validated.name, baseline.value_of(result.metric)
    facts = {
        **comparison_facts(name, baseline.compared, result.metric, value),
        "instability": baseline.compared.instability,
        **interval_facts("ks", baseline.ks),
    }
    if baseline.validated.metric_value is not None:
        facts |= interval_facts("metric_value", baseline.validated.metric_value)
    return facts


def fit_text(result: FitResult, out: Output, page: Output | None) -> str:
    """The result in lines of text."""
    lines = [str(result.problem)]
    if result.validated is not None:
        lines += _validation_lines(result.validated, result)
    if result.baseline is not None:
        lines += _baseline_lines(result.baseline, result.metric)
    if result.holdout is not None:
        lines += result.holdout.lines(result.learner)
    lines.append(f"training certificate: {result.estimator.certificate_.statement}")
    if result.importances:
        parts = (f"{shorten(one_line(name))} {value:.1%}" for name, value in result.importances)
        lines.append(f"most important features: {', '.join(parts)}")
    lines.append(f"model written to {'standard output' if out.is_stdout else out}")
    if page is not None and not page.is_stdout:
        lines.append(f"report written to {Path(page.name).resolve().as_uri()}")
    return "\n".join(lines)


def _validation_lines(validated: Validated, result: FitResult) -> list[str]:
    """The metrics of the learner, one on each line."""
    lines = []
    if validated.result.rows is not None:
        n_before = len(result.problem.y) - len(validated.result.rows)
        lines.append(
            f"{describe_folds(validated.result, result.problem)}: each is predicted by a model of "
            f"the rows before it; the first {n_before} rows are only trained on"
        )
    lines += [
        f"{result.learner}: {validated.result.auc}",
        f"{result.learner}: KS {with_interval(validated.ks)}, corrected for bias",
    ]
    if validated.metric_value is not None:
        name, where = result.metric.words
        own = validated.metric_value
        ends = interval(own.low, own.high, own.level)
        lines.append(f"{result.learner}: {name} {own.value:.3f} {where} ({ends})")
    return lines


def _baseline_lines(baseline: Baseline, metric: Metric) -> list[str]:
    """The metrics of the baseline, and the difference in the metric of the fit and in AUC."""
    compared, own = baseline.compared, baseline.validated.metric_value
    values = [f"AUC {compared.in_auc.value_b:.3f}", f"KS {baseline.ks.value:.3f}"]
    if own is not None:
        name, where = metric.words
        values.append(f"{name} {own.value:.3f} {where}")
    differences = [_difference(" ".join(metric.words).strip(), compared.in_metric)]
    if metric.kind != "auc":
        differences.append(_difference("AUC", compared.in_auc))
    return [
        f"{BASELINE_TITLE} on the same folds: {', '.join(values)}",
        f"difference (ours - {BASELINE_TITLE}): {'; '.join(differences)}",
    ]


def _difference(metric: str, compared: MetricComparison) -> str:
    difference, ends = difference_words(compared)
    level = f"{100 * compared.level:g}% CI"
    return f"{difference} in {metric} ({level} {ends}, {p_equation(compared.p_value)})"
