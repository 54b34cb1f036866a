"""`auctor fit`: check everything, cross-validate, fit on all rows, write the model."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from auctor._text import count, interval
from auctor.cli.errors import UsageError
from auctor.cli.learner import (
    Loss,
    learner_name,
    make_learner,
    parse_loss,
    set_parameters,
    share_of_rows,
)
from auctor.cli.output import STDOUT, Output, check_outputs, emit, note, warn
from auctor.cli.problem import Problem, feature_names, read_problem
from auctor.cli.suspects import table_warnings
from auctor.cli.tables import STDIN, open_table, stem
from auctor.cli.validation import (
    BASELINE,
    Validated,
    at_distance,
    compare,
    comparison_facts,
    difference_words,
    interval_facts,
    make_baseline,
    validate,
    validation_facts,
)
from auctor.estimators.base import RankingEstimator
from auctor.estimators.cross_validation import with_group_folds
from auctor.estimators.explanation import shorten
from auctor.models.file import to_json

_N_IMPORTANT = 5


def run(args: argparse.Namespace) -> None:
    """Fit a model to a table, say how good it is, and write it."""
    loss = parse_loss(args.loss)
    estimator = make_learner(args.learner, loss, args)
    set_parameters(estimator, args.param)
    out = choose_out(args, ".model.json")
    page = _choose_page(args)
    check_outputs([out, page], [args.table, args.config], args.json)
    source = open_table(args.table, args.delimiter)
    names = feature_names(source, args)
    note(f"reading {source.name}", args.quiet)
    problem = read_problem(source, names, args)
    warnings = table_warnings(problem, args.positive, args.folds)
    warn(warnings)
    estimator.set_params(pos_label=problem.labels[1], **share_of_rows(loss, problem.X.num_rows))
    ours, baseline = _validate(estimator, problem, loss, args)
    note("fitting on all rows", args.quiet)
    if "verbose" in estimator.get_params():
        estimator.set_params(verbose=not args.quiet)
    with_group_folds(estimator, problem.positive, problem.groups, problem.weight)
    estimator.fit(problem.X, problem.y, sample_weight=problem.weight)
    facts = {
        "table": source.name,
        "target": args.target,
        **problem.facts(),
        "warnings": warnings,
        **_learner_facts(estimator, problem, loss),
        **_validation(problem, ours, baseline, loss, args),
        "model": str(out),
        "report": None if page is None else str(page),
    }
    out.write_text(to_json(estimator.model_))  # before the page, which must not cost anyone the fit
    if page is not None:
        note("writing the report", args.quiet)
        _write_page(estimator, problem, ours, baseline, facts, page, args)
    aside = out.is_stdout or (page is not None and page.is_stdout)
    emit(facts, _text(facts), args.json, aside)


def choose_out(args: argparse.Namespace, ending: str) -> Output:
    """The file of ``--out``, or a name after the table's, in the folder of the command."""
    if args.out is not None:
        return Output("--out", args.out)
    if args.table == STDIN:
        raise UsageError("a table from standard input has no name; give --out")
    return Output("--out", f"{stem(args.table)}{ending}")


def _choose_page(args: argparse.Namespace) -> Output | None:
    if args.report is None:
        return None
    if args.report:
        return Output("--report", args.report)
    if args.out not in (None, STDOUT):
        out = Path(args.out)
        return Output("--report", str(out.with_name(f"{out.name.partition('.')[0]}.report.html")))
    if args.table == STDIN:
        raise UsageError("a table from standard input has no name; give --report a file")
    return Output("--report", f"{stem(args.table)}.report.html")


def _validate(
    estimator: RankingEstimator, problem: Problem, loss: Loss, args: argparse.Namespace
) -> tuple[Validated | None, Validated | None]:
    """The learner, and the baseline on the same folds."""
    if args.folds == 0:
        return None, None
    name = learner_name(estimator)
    told: dict[str, Any] = {"n_folds": args.folds, "random_state": args.seed}
    ours = validate(name, estimator, problem, loss, told, args.quiet)
    if args.no_baseline:
        return ours, None
    told = {"folds": ours.found.folds, "random_state": args.seed}
    return ours, validate(BASELINE, make_baseline(args), problem, loss, told, args.quiet)


def _learner_facts(estimator: RankingEstimator, problem: Problem, loss: Loss) -> dict[str, Any]:
    return {
        "learner": learner_name(estimator),
        "loss": str(loss),
        # Folds that were made for the groups are lists of rows: nothing to print.
        "params": {k: v for k, v in estimator.get_params().items() if k != "cv" or is_plain(v)},
        "certificate": {
            "statement": estimator.certificate_.statement,
            "values": estimator.certificate_.values,
        },
        "importances": _importances(estimator, problem.X.column_names),
    }


def _validation(
    problem: Problem,
    ours: Validated | None,
    baseline: Validated | None,
    loss: Loss,
    args: argparse.Namespace,
) -> dict[str, Any]:
    if ours is None:
        return {"cross_validation": None, "baseline": None}
    facts: dict[str, Any] = {"cross_validation": validation_facts(ours, loss), "baseline": None}
    if baseline is not None:
        compared = compare(problem, ours, baseline, loss, args.seed)
        facts["baseline"] = {
            **comparison_facts(baseline.name, compared, loss),
            "instability": compared.instability,
            **interval_facts(
                "ks", at_distance(baseline, ours.ks.value - compared.loss.difference, loss)
            ),
        }
        if loss.kind == "ks":
            facts["baseline"]["value"] = facts["baseline"]["ks"]
        if baseline.loss_value is not None:
            facts["baseline"] |= interval_facts("loss_value", baseline.loss_value)
    return facts


def _write_page(
    estimator: RankingEstimator,
    problem: Problem,
    ours: Validated | None,
    baseline: Validated | None,
    facts: dict[str, Any],
    page: Output,
    args: argparse.Namespace,
) -> None:
    from auctor.cli.report import write_fit_page

    write_fit_page(estimator, problem, ours, baseline, facts, page, args)


def is_plain(cv: Any) -> bool:
    """Whether folds were told as a number."""
    return cv is None or isinstance(cv, int)


def _importances(estimator: RankingEstimator, names: list[str]) -> list[dict[str, Any]]:
    """The features that matter most, where the learner tells."""
    values = np.asarray(getattr(estimator, "feature_importances_", []))
    order = np.argsort(-values, kind="stable")[:_N_IMPORTANT]
    return [{"feature": names[j], "importance": float(values[j])} for j in order if values[j] > 0]


def table_line(facts: dict[str, Any]) -> str:
    """What was read, in a line."""
    return (
        f"{facts['table']}: {facts['rows']} rows, {facts['n_pos']} of them positive "
        f"({facts['target']} = {facts['positive']}), {count(facts['features'], 'feature')}, "
        f"{facts['categorical']} of them categorical"
    )


def _text(facts: dict[str, Any]) -> str:
    lines = [table_line(facts)]
    found = facts["cross_validation"]
    if found:
        lines.append(f"{facts['learner']}: {found['sentence']}")
        ends = interval(found["ks_low"], found["ks_high"], found["level"])
        lines.append(f"KS {found['ks']:.3f} ({ends}), bias-corrected{_loss_line(found)}")
    if facts["baseline"]:
        lines.append(_baseline_line(facts["baseline"], found))
    lines.append(facts["certificate"]["statement"])
    if facts["importances"]:
        shares = (
            f"{_name(one['feature'])} {one['importance']:.1%}" for one in facts["importances"]
        )
        lines.append(f"most important: {', '.join(shares)}")
    where = "standard output" if facts["model"] == STDOUT else facts["model"]
    lines.append(f"model written to {where}")
    if facts["report"] not in (None, STDOUT):
        lines.append(f"report: {Path(facts['report']).resolve().as_uri()}")
    return "\n".join(lines)


def _name(feature: str) -> str:
    """A column's name on one line, and not too long for it."""
    return shorten(" ".join(feature.split()))


def _loss_line(found: dict[str, Any]) -> str:
    if "loss_value" not in found:
        return ""
    ends = interval(found["loss_value_low"], found["loss_value_high"], found["level"])
    return f"; {found['loss_name']} {found['loss_value']:.3f} {found['loss_where']} ({ends})"


def _baseline_line(other: dict[str, Any], ours: dict[str, Any]) -> str:
    """The baseline, and the difference in the metric of the loss; that in AUC beside it."""
    more = f", {ours['loss_name']} {other['loss_value']:.3f}" if "loss_value" in other else ""
    metric = f"{other['metric']} {other['where']}".rstrip()
    words = (
        f"{other['name']}, same folds: AUC {other['auc']:.3f}, KS {other['ks']:.3f}{more}; "
        f"difference (ours - {other['name']}) in {metric} {difference_words(other)}, "
        f"p = {other['p_value']:.2g}"
    )
    if other["metric"] == "AUC":
        return words
    beside = other["auc_difference"]
    return f"{words}; in AUC {difference_words(beside)}, p = {beside['p_value']:.2g}"
