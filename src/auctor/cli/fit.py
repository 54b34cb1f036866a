"""`auctor fit`: check everything, cross-validate, fit on all rows, write the model."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auctor._learner_names import command_name
from auctor.cli.breakdown import Breakdown, read_breakdown
from auctor.cli.checkpoint import open_checkpoint, part_of
from auctor.cli.document import Document, check_document, shown_command
from auctor.cli.fit_result import Baseline, FitResult, fit_facts, fit_text
from auctor.cli.holdout import check_labels, measure_holdout
from auctor.cli.make_learner import (
    check_monotone,
    default_learner,
    make_learner,
    set_columns,
    set_parameters,
)
from auctor.cli.metric import Metric, parse_metric
from auctor.cli.options import ColumnRoles, Execution
from auctor.cli.out_files import Output, check_outputs, choose_output, choose_page
from auctor.cli.output import emit, note, warn
from auctor.cli.problem import Problem, feature_names, read_problem
from auctor.cli.suspects import table_warnings
from auctor.cli.tables import TableFile, open_table
from auctor.cli.training import recorded_model
from auctor.cli.validation import BASELINE, Validated, compare, make_baseline, matched_ks, validate
from auctor.data import read_table
from auctor.estimators.base import RankingEstimator
from auctor.estimators.folds import with_group_folds
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.models.file import to_json


@dataclass(frozen=True)
class FitOptions:
    """The options of ``auctor fit``, from the command line and the config file."""

    table: str
    delimiter: str | None
    config: str | None
    roles: ColumnRoles
    metric: Metric
    learner: str
    parameters: tuple[tuple[str, str], ...]
    n_folds: int
    with_baseline: bool
    out: Output
    page: Output | None
    monotone: tuple[str, ...]
    holdout: str | None
    checkpoint: str | None
    as_json: bool
    execution: Execution
    command: str  # the command line, for the report
    document: Document


def run(args: argparse.Namespace) -> None:
    """Read the options and fit."""
    if args.max_memory is not None:
        from auctor.cli import fit_large  # imported here: other fits do not need it

        fit_large.run(args)
        return
    if args.spill_dir is not None:
        raise ValueError("--spill-dir is given without --max-memory; give both, or neither")
    metric = parse_metric(args.metric)
    check_document(args)
    fit_table(
        FitOptions(
            table=args.table,
            delimiter=args.delimiter,
            config=args.config,
            roles=ColumnRoles.for_training(args),
            metric=metric,
            learner=command_name(args.learner) if args.learner else default_learner(metric),
            parameters=tuple(args.param),
            n_folds=args.cv,
            with_baseline=not args.no_baseline,
            out=choose_output(args.out, args.table, ".model.json"),
            page=choose_page(args.report, args.out, args.table),
            monotone=tuple(args.monotone),
            holdout=args.holdout,
            checkpoint=args.checkpoint,
            as_json=args.json,
            execution=Execution.from_args(args),
            command=shown_command(args),
            document=Document.from_args(args),
        )
    )


def fit_table(options: FitOptions) -> None:
    """Fit a model to a table, print how good it is, and write it."""
    roles, execution, out, page = options.roles, options.execution, options.out, options.page
    estimator = make_learner(options.learner, options.metric, execution)
    set_parameters(estimator, options.learner, options.parameters)
    checkpoint = open_checkpoint(options.checkpoint, estimator, execution.quiet)
    read = [options.table, options.config, options.holdout]
    check_outputs([out, page], read, options.as_json)
    source = open_table(options.table, options.delimiter)
    roles = roles.with_lists(source.columns)
    names = feature_names(source, roles)
    set_columns(estimator, options.learner, roles.categorical, options.monotone, names)
    holdout = None if options.holdout is None else _open_holdout(options.holdout, names, options)
    note(f"reading {source.name}", execution.quiet)
    problem = read_problem(source, names, roles, options.n_folds)
    breakdown = _read_breakdown(source, problem, roles, options)
    monotone = estimator.get_params().get("monotonic_cst")
    check_monotone(monotone, roles.categorical, read_table(problem.X))
    sha256 = source.sha256()  # now: the file may change during the fit
    if holdout is not None:
        check_labels(holdout, problem, roles)
    warnings = table_warnings(problem, roles.positive, options.n_folds)
    warn(warnings)
    estimator.set_params(
        pos_label=problem.labels[1], **options.metric.learner_arguments(problem.X.num_rows)
    )
    validated = _validate(estimator, problem, options, checkpoint)
    baseline = None
    if validated is not None:
        baseline = _validate_baseline(validated, problem, roles.categorical, options)
    _fit_all_rows(estimator, problem, execution, checkpoint)
    held = None
    if holdout is not None:
        held = measure_holdout(estimator.model_, holdout, roles, options.metric, execution.seed)
    result = FitResult(
        estimator=estimator,
        metric=options.metric,
        problem=problem,
        warnings=warnings,
        validated=validated,
        baseline=baseline,
        holdout=held,
    )
    estimator.model_ = recorded_model(result, sha256)
    model_text = to_json(estimator.model_)
    # Before the report: an error or an interrupt there must not lose the model.
    out.write_text(model_text)
    if checkpoint is not None:
        checkpoint.remove()
    if page is not None:
        _write_page(result, model_text, page, breakdown, options)
    has_file = out.is_stdout or (page is not None and page.is_stdout)
    emit(fit_facts(result, out, page), fit_text(result, out, page), options.as_json, has_file)


def _open_holdout(path: str, names: Sequence[str], options: FitOptions) -> TableFile:
    """The table of ``--holdout``; columns that it lacks are an error before the fit."""
    source = open_table(path, options.delimiter)
    source.require([*names, *options.roles.evaluated.special.values()])
    return source


def _validate(
    estimator: RankingEstimator,
    problem: Problem,
    options: FitOptions,
    checkpoint: Checkpoint | None,
) -> Validated | None:
    """Cross-validate the learner, unless ``--cv 0`` was given."""
    if options.n_folds == 0:
        return None
    name = type(estimator).__name__
    how = options.metric, options.n_folds, options.execution
    return validate(name, estimator, problem, *how, checkpoint=checkpoint)


def _validate_baseline(
    validated: Validated, problem: Problem, categorical: Sequence[str], options: FitOptions
) -> Baseline | None:
    """Cross-validate the baseline on the learner's folds, and compare."""
    if not options.with_baseline:
        return None
    metric, execution = options.metric, options.execution
    model = make_baseline(categorical)
    other = validate(BASELINE, model, problem, metric, validated.result.folds, execution)
    compared = compare(problem, validated, other, metric, execution.seed)
    ks = matched_ks(other, validated.ks.value - compared.in_metric.difference, metric)
    return Baseline(other, compared, ks)


def _fit_all_rows(
    estimator: RankingEstimator,
    problem: Problem,
    execution: Execution,
    checkpoint: Checkpoint | None,
) -> None:
    note("fitting on all rows", execution.quiet)
    if "verbose" in estimator.get_params():
        estimator.set_params(verbose=not execution.quiet)
    with_group_folds(estimator, problem.positive, problem.groups, problem.weight)
    kept = part_of(checkpoint, "final")
    estimator.fit(problem.X, problem.y, sample_weight=problem.weight, checkpoint=kept)
    estimator.model_ = replace(estimator.model_, missing_codes=problem.missing_codes)


def _read_breakdown(
    source: TableFile, problem: Problem, roles: ColumnRoles, options: FitOptions
) -> Breakdown:
    """The subgroups and the time of each row, which only a report needs."""
    if options.page is None:
        return Breakdown()
    return read_breakdown(source, problem.X, options.document.by, roles.time, roles.target)


def _write_page(
    result: FitResult, model_text: str, page: Output, breakdown: Breakdown, options: FitOptions
) -> None:
    # Imported here: a fit without --report does not need it.
    from auctor.cli.fit_page import fit_page

    note("writing the report", options.execution.quiet)
    page.write_text(
        fit_page(
            result,
            str(options.out),
            model_text,
            options.command,
            options.execution,
            options.document,
            breakdown,
        )
    )
