"""`auctor fit --max-memory`: fit to files larger than memory, with one fold held out."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from auctor._learner_names import command_name
from auctor._text import count, file_name
from auctor.cli.checkpoint import open_checkpoint, part_of
from auctor.cli.document import Document, check_document, shown_command
from auctor.cli.fit_large_page import FoldRows, large_page
from auctor.cli.labels import choose_positive, two_labels
from auctor.cli.make_learner import default_learner, make_learner, set_columns, set_parameters
from auctor.cli.metric import parse_metric
from auctor.cli.options import ColumnRoles, Execution
from auctor.cli.out_files import Output, check_outputs, choose_output, choose_page
from auctor.cli.output import emit, note
from auctor.cli.problem import feature_names
from auctor.cli.table_file import TableColumns
from auctor.cli.tables import open_table
from auctor.data.stored.dataset import Dataset, StoredRows, read_dataset
from auctor.data.stored.sources import file_columns
from auctor.estimators.base import RankingEstimator
from auctor.estimators.dataset_fit import RECORD_BYTES, open_rows
from auctor.estimators.dataset_validation import (
    FOLD_BYTES,
    HeldOutFold,
    fit_rows,
    hold_out_fold,
    recorded_rows,
)
from auctor.estimators.recording import make_origin, recorded_parameters
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.models.file import to_json

# Options that need the whole table in memory.
_EXACT = "exactboost"  # the only learner that trains for other metrics on a data set
_REFUSED = ("by", "holdout", "group", "time", "missing", "delimiter")


def run(args: argparse.Namespace) -> None:
    """Read the options, fit, print how good the model is on a held-out fold, and write it."""
    _check_options(args)
    execution = Execution.from_args(args)
    metric = parse_metric(args.metric)
    learner = command_name(args.learner) if args.learner else default_learner(metric)
    estimator = make_learner(learner, metric, execution)
    set_parameters(estimator, learner, tuple(args.param))
    checkpoint = open_checkpoint(args.checkpoint, estimator, execution.quiet)
    out = choose_output(args.out, args.table, ".model.json")
    page = choose_page(args.report, args.out, args.table)
    check_outputs([out, page], [args.table, args.config, None], args.json)
    source = TableColumns(file_name(args.table), file_columns(args.table))
    roles = ColumnRoles.for_training(args).with_lists(source.columns)
    names = feature_names(source, roles)
    set_columns(estimator, learner, roles.categorical, tuple(args.monotone), names)
    dataset = _read_dataset(args, roles, names)
    sha256 = open_table(args.table).sha256()  # now: the file may change during the fit
    with open_rows(dataset, estimator, FOLD_BYTES if args.cv else RECORD_BYTES) as rows:
        labels = two_labels(rows.y, roles.target)
        positive = choose_positive(labels, roles.positive, roles.target)
        estimator.set_params(pos_label=positive, **metric.learner_arguments(len(rows.y)))
        facts = _table_facts(args.table, roles, rows, positive)
        fold = _validate(estimator, rows, args.cv, execution, part_of(checkpoint, "fold-1"))
        note("fitting on all rows", execution.quiet)
        fit_rows(estimator, rows, part_of(checkpoint, "final"))
        note("computing the record of the training rows", execution.quiet)
        origin = replace(
            make_origin(estimator, roles.target),
            metric=str(metric),
            table=file_name(args.table),
            sha256=sha256,
        )
        recorded = recorded_rows(estimator, rows, origin, fold, args.cv)
        text = to_json(recorded.model)
        html = None
        if page is not None and fold is not None:
            shown = FoldRows(rows, fold, recorded.held_out_scores, args.cv)
            html = _page(args, estimator, shown, facts, text, out)
    out.write_text(text)
    if page is not None and html is not None:
        page.write_text(html)
    if checkpoint is not None:
        checkpoint.remove()
    facts |= _result_facts(estimator, fold, args.cv, out)
    facts["report"] = None if page is None else str(page)
    has_file = out.is_stdout or (page is not None and page.is_stdout)
    emit(facts, _text(facts, estimator, fold), args.json, has_file)


def _page(
    args: argparse.Namespace,
    estimator: RankingEstimator,
    shown: FoldRows,
    facts: dict[str, Any],
    model_text: str,
    out: Output,
) -> str:
    """The report as HTML."""
    document = Document.from_args(args)
    about = {
        **document.about(model_text.encode()),
        "model": file_name(str(out)),
        "command": shown_command(args),
        "trained_for": str(parse_metric(args.metric)),
        "parameters": recorded_parameters(estimator),
    }
    return large_page(estimator, shown, facts, document, about, args.seed)


def _not_done(is_tested: bool) -> str:
    tested = "only one fold is tested" if is_tested else "--cv 0 tests no fold"
    return f"with --max-memory there is no baseline, and {tested}"


def _check_options(args: argparse.Namespace) -> None:
    for name in _REFUSED:
        if getattr(args, name) not in (None, []):
            raise ValueError(
                f"--{name} needs the whole table in memory; leave out --max-memory or --{name}"
            )
    check_document(args)
    if args.report is not None and args.cv == 0:
        raise ValueError(
            "--report with --max-memory shows the held-out fold, and --cv is 0; give --cv 2 or "
            "more, or leave out --report"
        )
    if args.metric != "auc" and (args.learner is None or command_name(args.learner) != _EXACT):
        raise ValueError(
            f"--metric {args.metric} needs the whole table in memory; leave out --max-memory, or "
            f"give --learner {_EXACT}"
        )


def _read_dataset(args: argparse.Namespace, roles: ColumnRoles, names: list[str]) -> Dataset:
    return read_dataset(
        Path(args.table),
        target=roles.target,
        weight=roles.weight,
        features=names,
        max_memory=args.max_memory,
        spill_dir=args.spill_dir,
    )


def _validate(
    estimator: RankingEstimator,
    rows: StoredRows,
    n_folds: int,
    execution: Execution,
    checkpoint: Checkpoint | None,
) -> HeldOutFold | None:
    if n_folds == 0:
        return None
    note(f"fitting without one of {n_folds} folds, which is then tested", execution.quiet)
    return hold_out_fold(estimator, rows, n_folds, execution.seed, checkpoint)


def _table_facts(path: str, roles: ColumnRoles, rows: StoredRows, positive: Any) -> dict[str, Any]:
    n_pos = int((rows.y == positive).sum())
    return {
        "table": file_name(path),
        "target": roles.target,
        "rows": len(rows.y),
        "positive": positive,
        "n_pos": n_pos,
        "n_neg": len(rows.y) - n_pos,
        "features": rows.table.n_columns,
    }


def _result_facts(
    estimator: RankingEstimator, fold: HeldOutFold | None, n_folds: int, out: Output
) -> dict[str, Any]:
    certificate = estimator.certificate_
    held_out = None
    if fold is not None:
        auc = {"auc": fold.auc.value, "auc_low": fold.auc.low, "auc_high": fold.auc.high}
        held_out = {"folds": n_folds, "rows": fold.n_rows, "n_pos": fold.n_pos, **auc}
    return {
        "learner": type(estimator).__name__,
        "held_out_fold": held_out,
        "certificate": {"statement": certificate.statement, "values": certificate.values},
        "model": str(out),
    }


def _text(facts: dict[str, Any], estimator: RankingEstimator, fold: HeldOutFold | None) -> str:
    lines = [
        f"{facts['table']}: {facts['rows']} rows, {facts['n_pos']} of them positive "
        f"({facts['target']} = {facts['positive']}), {count(facts['features'], 'feature')}"
    ]
    if fold is not None:
        lines.append(
            f"{facts['learner']} on one of {facts['held_out_fold']['folds']} folds, fitted to the "
            f"others: {fold.auc}"
        )
    lines += [
        f"training certificate: {estimator.certificate_.statement}",
        _not_done(fold is not None),
        f"model written to {facts['model']}",
    ]
    if facts["report"] is not None:
        lines.append(f"report written to {facts['report']}")
    return "\n".join(lines)
