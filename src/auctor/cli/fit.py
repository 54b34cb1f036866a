"""`auctor fit`: check everything, cross-validate, fit on all rows, write the model."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor.cli.errors import UsageError
from auctor.cli.labels import Label, choose_positive, read_target, read_weight, two_labels
from auctor.cli.output import check_out, emit, note
from auctor.cli.tables import STDIN, TableFile, open_table, stem
from auctor.data import find_categorical, read_table
from auctor.estimators.base import RankingEstimator
from auctor.estimators.crossval import CrossValidation, cross_validate
from auctor.estimators.registry import LEARNERS
from auctor.metrics.wording import count

# Parameters that have an option of their own.
_OPTIONS = {
    "categorical_features": "--categorical",
    "pos_label": "--positive",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "verbose": "--quiet",
}
_N_IMPORTANT = 5


class Problem(NamedTuple):
    """A table taken apart: features, labels, weights, and what is to be said of them."""

    X: pa.Table
    y: npt.NDArray[Any]
    weight: npt.NDArray[np.float64] | None
    labels: tuple[Label, Label]  # (negative, positive)
    n_pos: int
    n_neg: int
    n_categorical: int


def run(args: argparse.Namespace) -> None:
    """Fit a model to a table, say how good it is, and write it."""
    estimator = _make_estimator(args)
    out = _choose_out(args)
    check_out(out, [args.table])
    source = open_table(args.table, args.delimiter)
    names = _feature_names(source, args)
    note(f"reading {source.name}", args.quiet)
    problem = _read_problem(source, names, args)
    estimator.set_params(pos_label=problem.labels[1])
    validation = _validate(estimator, problem, args)
    note("fitting on all rows", args.quiet)
    estimator.fit(problem.X, problem.y, sample_weight=problem.weight)
    estimator.model_.save(out)
    facts = {"table": source.name, **_facts(args, problem, estimator, validation, out)}
    emit(facts, _text(facts), args.json)


def _make_estimator(args: argparse.Namespace) -> RankingEstimator:
    """The learner with its settings, checked before any table is read."""
    if args.learner not in LEARNERS:
        raise UsageError(f"unknown learner {args.learner!r}; known: {', '.join(sorted(LEARNERS))}")
    estimator = LEARNERS[args.learner]()
    known = sorted(set(estimator.get_params()) - set(_OPTIONS))
    for name, text in args.param:
        if name in _OPTIONS:
            raise UsageError(f"--param {name}: use {_OPTIONS[name]} instead")
        if name not in known:
            raise UsageError(f"{args.learner} has no parameter {name!r}; known: {', '.join(known)}")
        estimator.set_params(**{name: _parse_value(text)})
    usual = {
        "categorical_features": args.categorical or "from_dtype",
        "random_state": args.seed,
        "n_jobs": args.jobs,
        "verbose": not args.quiet and sys.stderr.isatty(),
    }
    # A learner without randomness, say, has no random_state.
    parameters = estimator.get_params()
    estimator.set_params(**{name: value for name, value in usual.items() if name in parameters})
    estimator._validate_params()
    return estimator


def _parse_value(text: str) -> Any:
    """A value as JSON (0.1, true, null, [1, 2]), else as the text it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _choose_out(args: argparse.Namespace) -> Path:
    if args.out is not None:
        return Path(args.out)
    if args.table == STDIN:
        raise UsageError("a table from standard input has no name; give --out")
    return Path(f"{stem(args.table)}.model.json")


def _feature_names(source: TableFile, args: argparse.Namespace) -> list[str]:
    """The columns to learn from: all but target, weight and those dropped."""
    others = [args.target, *([args.weight] if args.weight is not None else []), *args.drop]
    source.require([*others, *args.categorical])
    if args.target == args.weight:
        raise ValueError(f"column {args.target!r} cannot be both target and weight")
    if {args.target, args.weight} & set(args.drop):
        raise ValueError("--drop names the target or the weight; leave it out of --drop")
    names = [name for name in source.columns if name not in others]
    if not names:
        raise ValueError(f"{source.name} has no column left to learn from")
    if "" in names:
        place = source.columns.index("") + 1
        raise ValueError(
            f"{source.name}: column {place} has no name (a row number?); "
            "name it in the header, or leave it out with --drop ''"
        )
    for name in args.categorical:
        if name not in names:
            raise ValueError(f"--categorical {name!r} is not one of the columns to learn from")
    return names


def _read_problem(source: TableFile, names: list[str], args: argparse.Namespace) -> Problem:
    """Read the table and check all that could be wrong with it."""
    weighted = [args.weight] if args.weight is not None else []
    table = source.read([*names, args.target, *weighted])
    y = read_target(table[args.target], args.target)
    labels = two_labels(y, args.target)
    positive = choose_positive(labels, args.positive, args.target)
    negative = labels[0] if positive == labels[1] else labels[1]
    weight = read_weight(table[args.weight], args.weight) if weighted else None
    present = slice(None) if weight is None else weight > 0
    n_pos = int(np.count_nonzero(y[present] == positive))
    n_neg = len(y[present]) - n_pos
    _check_counts({positive: n_pos, negative: n_neg}, args)
    X = table.select(names)
    return Problem(
        X, y, weight, (negative, positive), n_pos, n_neg, _count_categorical(X, args.categorical)
    )


def _check_counts(counts: dict[Label, int], args: argparse.Namespace) -> None:
    """Both classes must be there, and twice in every fold for an interval of the AUC."""
    least = max(1, 2 * args.folds)
    for label, number in counts.items():
        if number >= least:
            continue
        if number == 0:
            raise ValueError(f"every row with label {label!r} has weight zero")
        most = min(counts.values()) // 2
        remedy = f"--folds {most}" if most >= 2 else "--folds 0 (no cross-validation)"
        raise ValueError(
            f"label {label!r} has {number} row(s), but {args.folds} folds need {least}, two in "
            f"each; use {remedy}"
        )


def _count_categorical(X: pa.Table, chosen: list[str]) -> int:
    """How many features are of categories; a column of no use to a learner is an error."""
    table = read_table(X)
    try:
        table.check_columns()
    except TypeError as error:
        raise TypeError(f"{error}; leave the column out with --drop") from None
    by_hand = find_categorical(chosen, table)
    return sum(table.is_text(j) or j in by_hand for j in range(table.n_columns))


def _validate(
    estimator: RankingEstimator, problem: Problem, args: argparse.Namespace
) -> CrossValidation | None:
    if args.folds == 0:
        return None
    note(f"cross-validating, {args.folds} folds", args.quiet)
    return cross_validate(
        estimator,
        problem.X,
        problem.y,
        sample_weight=problem.weight,
        n_folds=args.folds,
        random_state=args.seed,
    )


def _facts(
    args: argparse.Namespace,
    problem: Problem,
    estimator: RankingEstimator,
    validation: CrossValidation | None,
    out: Path,
) -> dict[str, Any]:
    """All that the command has to say, as plain values."""
    negative, positive = problem.labels
    return {
        "target": args.target,
        "rows": problem.X.num_rows,
        "positive": positive,
        "negative": negative,
        "n_pos": problem.n_pos,
        "n_neg": problem.n_neg,
        "features": problem.X.num_columns,
        "categorical": problem.n_categorical,
        "learner": args.learner,
        "params": estimator.get_params(),
        "cross_validation": None if validation is None else auc_facts(validation.auc),
        "certificate": {
            "statement": estimator.certificate_.statement,
            "values": estimator.certificate_.values,
        },
        "importances": _importances(estimator, problem.X.column_names),
        "model": str(out),
    }


def auc_facts(interval: Any) -> dict[str, Any]:
    """An AucInterval as plain values, with its sentence."""
    return {
        "auc": interval.value,
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "method": interval.method,
        "standard_error": interval.standard_error,
        "folds": interval.n_folds,
        "sentence": str(interval),
    }


def _importances(estimator: RankingEstimator, names: list[str]) -> list[dict[str, Any]]:
    """The features that matter most, where the learner tells."""
    values = np.asarray(getattr(estimator, "feature_importances_", []))
    order = np.argsort(-values, kind="stable")[:_N_IMPORTANT]
    return [{"feature": names[j], "importance": float(values[j])} for j in order if values[j] > 0]


def _text(facts: dict[str, Any]) -> str:
    lines = [
        f"{facts['table']}: {facts['rows']} rows, {facts['n_pos']} of them positive "
        f"({facts['target']} = {facts['positive']}), {count(facts['features'], 'feature')}, "
        f"{facts['categorical']} of them categorical",
    ]
    if facts["cross_validation"]:
        lines.append(f"{facts['learner']}: {facts['cross_validation']['sentence']}")
    lines.append(facts["certificate"]["statement"])
    if facts["importances"]:
        shares = (f"{one['feature']} {one['importance']:.1%}" for one in facts["importances"])
        lines.append(f"most important: {', '.join(shares)}")
    lines.append(f"model written to {facts['model']}")
    return "\n".join(lines)
