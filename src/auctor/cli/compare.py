"""`auctor compare`: several learners on the same folds, with paired differences."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from auctor._learner_names import command_name
from auctor._text import p_words
from auctor.cli.errors import UsageError, nearest
from auctor.cli.facts import difference_words
from auctor.cli.make_learner import DEFAULT_LEARNER, default_learner, make_learner, set_columns
from auctor.cli.metric import Metric, parse_metric
from auctor.cli.options import ColumnRoles, Execution
from auctor.cli.output import emit, note, warn
from auctor.cli.problem import Problem, feature_names, read_problem
from auctor.cli.suspects import table_warnings
from auctor.cli.tables import open_table
from auctor.cli.validation import (
    Compared,
    Folds,
    Validated,
    compare,
    comparison_facts,
    describe_folds,
    matched_ks,
    validate,
    validation_facts,
)
from auctor.estimators.base import RankingEstimator
from auctor.estimators.peers import PEERS, installed_peers
from auctor.estimators.registry import LEARNERS
from auctor.metrics import MetricComparison, MetricInterval

# Learners of other libraries that are compared with where --learner is not given.
_USUAL_PEERS = ("logistic", "hist-gradient-boosting", "lightgbm", "xgboost", "ebm")


@dataclass(frozen=True)
class CompareOptions:
    """The options of ``auctor compare``, from the command line and the config file."""

    table: str
    delimiter: str | None
    roles: ColumnRoles
    metric: Metric
    learners: tuple[str, ...]  # empty for the usual ones
    n_folds: int
    as_json: bool
    execution: Execution


@dataclass(frozen=True)
class Entrant:
    """A learner, of auctor or another library, ready to be cross-validated."""

    name: str
    estimator: Any
    is_trained_for_metric: bool = False


@dataclass(frozen=True, eq=False)
class Entry:
    """A row of the table: a learner's metrics, and its difference from the first learner."""

    validated: Validated
    ks: MetricInterval  # moved as validation.matched_ks does
    against_first: Compared | None


def run(args: argparse.Namespace) -> None:
    """Read the options and compare."""
    compare_learners(
        CompareOptions(
            table=args.table,
            delimiter=args.delimiter,
            roles=ColumnRoles.for_training(args),
            metric=parse_metric(args.metric),
            learners=tuple(map(command_name, args.learner)),
            n_folds=args.cv,
            as_json=args.json,
            execution=Execution.from_args(args),
        )
    )


def compare_learners(options: CompareOptions) -> None:
    """Cross-validate every learner on the same folds and print the table."""
    roles, metric, execution = options.roles, options.metric, options.execution
    names = learner_names(options.learners, metric)
    absent = [] if options.learners else missing_peers()
    source = open_table(options.table, options.delimiter)
    roles = roles.with_lists(source.columns)
    entrants = [_make_entrant(name, metric, roles.categorical, execution) for name in names]
    features = feature_names(source, roles)
    for entrant in entrants:
        if isinstance(entrant.estimator, RankingEstimator):
            set_columns(entrant.estimator, entrant.name, roles.categorical, (), features)
    note(f"reading {source.name}", execution.quiet)
    problem = read_problem(source, features, roles, options.n_folds)
    warnings = table_warnings(problem, roles.positive, options.n_folds)
    warn(warnings)
    entries: list[Entry] = []

    def print_table() -> None:
        head = {**problem.facts(), "warnings": warnings, "folds": options.n_folds}
        head["missing_peers"] = [peer._asdict() for peer in absent]
        facts = {**head, **_facts(entries, metric, len(entrants))}
        text = _text(entries, metric, problem, len(entrants))
        text += _absent_text(absent)
        emit(facts, text, options.as_json)

    try:
        for entry in _validate_all(entrants, problem, metric, options.n_folds, execution):
            entries.append(entry)
    except KeyboardInterrupt:
        if entries:  # the learners that are done may have taken hours
            print_table()
        raise
    print_table()


def learner_names(chosen: Sequence[str], metric: Metric) -> list[str]:
    """The learners of ``--learner``, or the usual ones; the others are compared with the first."""
    installed = installed_peers()
    if not chosen:
        # The default learner for the metric, and the default for the AUC.
        ours = dict.fromkeys([default_learner(metric), DEFAULT_LEARNER])
        return [*ours, *(name for name in _USUAL_PEERS if name in installed)]
    names = list(dict.fromkeys(chosen))
    for name in names:
        if name in PEERS and name not in installed:
            raise UsageError(
                f"{name} needs the package {PEERS[name].package!r}; install it with "
                f"pip install {PEERS[name].distribution}"
            )
        if name not in PEERS and name not in LEARNERS:
            raise UsageError(f"unknown learner {name!r}{nearest(name, [*LEARNERS, *PEERS])}")
    return names


class MissingPeer(NamedTuple):
    """A learner of another library that is not installed, and how to get it."""

    name: str
    install: str


def missing_peers() -> list[MissingPeer]:
    """The usual learners of other libraries whose package is not installed."""
    installed = installed_peers()
    return [
        MissingPeer(name, f"pip install {PEERS[name].distribution}")
        for name in _USUAL_PEERS
        if name not in installed
    ]


def _absent_text(absent: Sequence[MissingPeer]) -> str:
    if not absent:
        return ""
    names = ", ".join(peer.name for peer in absent)
    packages = " ".join(PEERS[peer.name].distribution for peer in absent)
    return f"\nnot compared, because not installed: {names} (pip install {packages})"


def _make_entrant(
    name: str, metric: Metric, categorical: Sequence[str], execution: Execution
) -> Entrant:
    if name in PEERS:
        estimator = PEERS[name].make(
            categorical_features=list(categorical) or "from_dtype",
            random_state=execution.seed,
            n_jobs=execution.jobs,
        )
        return Entrant(name, estimator)
    # A learner that cannot be trained for the metric is still compared by it.
    try:
        return Entrant(name, make_learner(name, metric, execution), True)
    except UsageError:
        own = Metric("ks" if name in ("dmks", "exactboost-cv") else "auc")
        return Entrant(name, make_learner(name, own, execution))


def _validate_all(
    entrants: Sequence[Entrant],
    problem: Problem,
    metric: Metric,
    n_folds: int,
    execution: Execution,
) -> Iterator[Entry]:
    """Cross-validate the learners one after another, all on the folds of the first."""
    folds: Folds = n_folds
    first: Validated | None = None
    for entrant in entrants:
        estimator = entrant.estimator
        if "pos_label" in estimator.get_params():
            estimator.set_params(pos_label=problem.labels[1])
        if entrant.is_trained_for_metric:
            estimator.set_params(**metric.learner_arguments(problem.X.num_rows))
        validated = validate(entrant.name, estimator, problem, metric, folds, execution)
        note(f"{entrant.name}: {validated.value_of(metric)}", execution.quiet)
        if first is None:
            first, folds = validated, validated.result.folds
            yield Entry(validated, validated.ks, None)
        else:
            compared = compare(problem, validated, first, metric, execution.seed)
            ks = matched_ks(validated, first.ks.value + compared.in_metric.difference, metric)
            yield Entry(validated, ks, compared)


def _facts(entries: Sequence[Entry], metric: Metric, n_entrants: int) -> dict[str, Any]:
    """The table in plain values."""
    first = entries[0].validated
    learners = []
    for entry in entries:
        facts = {
            "name": entry.validated.name,
            **validation_facts(entry.validated, metric, entry.ks),
            "seconds": entry.validated.seconds,
        }
        compared = entry.against_first
        if compared is not None:
            value = first.ks.value if metric.kind == "ks" else compared.in_metric.value_b
            facts["against_first"] = comparison_facts(first.name, compared, metric, value)
        learners.append(facts)
    return {"metric": str(metric), "learners": learners, "n_entrants": n_entrants}


def _text(entries: Sequence[Entry], metric: Metric, problem: Problem, n_entrants: int) -> str:
    """The table in text: the metric first, with its difference from the first learner."""
    folds = describe_folds(entries[0].validated.result, problem)
    explanation = (
        f"All learners use the same {folds}. Confidence intervals and p-values include "
        "the variation of the training sets. KS is corrected for bias. "
        f"Differences are the learner's value minus that of {entries[0].validated.name}."
    )
    if metric.has_own_interval:
        explanation += f" {metric} is the {' '.join(metric.words)}."
    rows = [_head(metric), *(_row(entry, metric) for entry in entries)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if n_entrants > len(entries):
        lines.append(f"interrupted: {len(entries)} of {n_entrants} learners were compared")
    return "\n".join([str(problem), explanation, "", *lines])


def _head(metric: Metric) -> list[str]:
    short = str(metric) if metric.has_own_interval else metric.kind.upper()
    others = [name for name in ("AUC", "KS") if name.lower() != metric.kind]
    head = ["learner", f"{short} (95% CI)", *others, f"{short} difference (95% CI)", "p"]
    if metric.kind != "auc":
        head.append("AUC difference (95% CI)")
    return [*head, "seconds"]


def _row(entry: Entry, metric: Metric) -> list[str]:
    value = entry.ks if metric.kind == "ks" else entry.validated.value_of(metric)
    cells = [
        entry.validated.name,
        f"{value.value:.4f} ({value.low:.4f} to {value.high:.4f})",
    ]
    if metric.kind != "auc":
        cells.append(f"{entry.validated.result.auc.value:.4f}")
    if metric.kind != "ks":
        cells.append(f"{entry.ks.value:.4f}")
    compared = entry.against_first
    if compared is None:
        cells += ["", ""] if metric.kind == "auc" else ["", "", ""]
    else:
        cells += [_difference(compared.in_metric), p_words(compared.in_metric.p_value)]
        if metric.kind != "auc":
            cells.append(_difference(compared.in_auc))
    return [*cells, f"{entry.validated.seconds:.1f}"]


def _difference(compared: MetricComparison) -> str:
    difference, ends = difference_words(compared, digits=4)
    return f"{difference} ({ends})"
