"""`auctor monitor`: what has moved since a model was trained, and how good it still is."""

import argparse
import shlex
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._text import aligned, one_line, p_words
from auctor.cli.errors import UsageError
from auctor.cli.fail_on import Limit, broken_limits, parse_limits, unchecked_limits
from auctor.cli.labels import label_text, match_labels, read_target, read_time, read_weight
from auctor.cli.model_rows import read_features
from auctor.cli.out_files import Output, check_outputs
from auctor.cli.output import emit, note, warn
from auctor.cli.seen_rows import is_training_table
from auctor.cli.tables import STDIN, TableFile, open_table, stem
from auctor.models import Model, load
from auctor.models.explanation import shorten
from auctor.report import Monitoring, monitor, render_monitoring
from auctor.report.monitor_features import VERDICTS, Movement
from auctor.report.monitoring import check_record

LIMIT_BROKEN = 3
_MOST_FEATURES = 30
_LONGEST_NAME = 40


@dataclass(frozen=True)
class MonitorOptions:
    """The options of ``auctor monitor``."""

    model: str
    table: str
    delimiter: str | None
    target: str | None
    weight: str | None
    time: str | None
    period: str | None
    report: Output | None
    title: str | None
    limits: tuple[Limit, ...]
    seed: int
    quiet: bool
    as_json: bool
    command: str


def run(args: argparse.Namespace) -> int:
    """Read the options, compare, and return the exit code."""
    if args.period is not None and args.time is None:
        raise UsageError("--period needs --time, the column with the time of each row")
    return monitor_table(
        MonitorOptions(
            model=args.model,
            table=args.table,
            delimiter=args.delimiter,
            target=args.target,
            weight=args.weight,
            time=args.time,
            period=args.period,
            report=_choose_page(args.report, args.table),
            title=args.title,
            limits=parse_limits(args.fail_on, args.target is not None),
            seed=args.seed,
            quiet=args.quiet,
            as_json=args.json,
            command=shlex.join(["auctor", *args.typed]),
        )
    )


def _choose_page(page: str | None, table: str) -> Output | None:
    if page is None:
        return None
    if not page and table == STDIN:
        raise UsageError("a table from standard input has no name; give --report a file name")
    return Output("--report", page or f"{stem(table)}.monitor.html")


def monitor_table(options: MonitorOptions) -> int:
    """Compare a table with the training of a model, print the result, write the page."""
    check_outputs([options.report], [options.model, options.table], options.as_json)
    model = load(options.model)
    check_record(model, options.model)
    source = open_table(options.table, options.delimiter)
    note(f"reading {source.name}", options.quiet)
    rows = _read_rows(model, source, options)
    note("computing the tests", options.quiet)
    result = monitor(
        model,
        rows.X,
        rows.y,
        time=rows.time,
        period=options.period,
        sample_weight=rows.weight,
        random_state=options.seed,
    )
    reasons = broken_limits(result, options.limits)
    warnings = [*_seen_warning(model, source), *unchecked_limits(result, options.limits)]
    warn(warnings)
    facts = {
        "model": options.model,
        "table": source.name,
        "target": options.target,
        "time": options.time,
        "title": options.title,
        "command": options.command,
        **result.facts(),
        "warnings": warnings,
        "fail_on": [str(limit) for limit in options.limits],
        "failed": reasons,
    }
    text = _text(result, source.name)
    if options.report is not None:
        options.report.write_text(render_monitoring(facts))
        if not options.report.is_stdout:
            text += f"\npage written to {options.report.path.resolve().as_uri()}"
    is_taken = options.report is not None and options.report.is_stdout
    emit(facts, text, options.as_json, is_taken)
    for reason in reasons:
        print(f"auctor: failed: {one_line(reason)}", file=sys.stderr)
    return LIMIT_BROKEN if reasons else 0


@dataclass(frozen=True, eq=False)
class _Rows:
    X: pa.Table
    y: npt.NDArray[Any] | None
    weight: npt.NDArray[Any] | None
    time: npt.NDArray[Any] | None


def _read_rows(model: Model, source: TableFile, options: MonitorOptions) -> _Rows:
    """The features, and the columns of label, weight and time where they are named."""
    others = [name for name in (options.target, options.weight, options.time) if name is not None]
    if len(set(others)) < len(others):
        raise UsageError("--target, --weight and --time name the same column; give two")
    source.require(others)
    is_text = options.target is not None and isinstance(model.classes[1], str)
    table = read_features(model, source, others, [options.target or ""] if is_text else [])
    if table.num_rows == 0:
        raise ValueError(f"{source.name} has no rows; give at least one")
    y = weight = time = None
    if options.target is not None:
        y = _labels(table[options.target], model, options.target)
    if options.weight is not None:
        weight = read_weight(table[options.weight], options.weight, source.line_of)
    if options.time is not None:
        read_time(table[options.time], options.time)  # an error names the cell that is wrong
        time = table[options.time].to_numpy()
    return _Rows(table.select(list(model.feature_names)), y, weight, time)


def _labels(column: pa.ChunkedArray, model: Model, name: str) -> npt.NDArray[Any]:
    """The model's labels, None where a row has none yet."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type) or column.null_count == len(column):
        raise ValueError(f"column {name!r} has no label; leave out --target")
    present = np.array(column.is_valid().to_pylist(), dtype=bool)
    known = read_target(column.drop_null(), name)
    labels = np.unique(known).tolist()
    if len(labels) == 1 and label_text(labels[0]) in map(label_text, model.classes):
        positive = np.full(len(known), label_text(labels[0]) == label_text(model.classes[1]))
    else:
        positive = match_labels(known, model.classes, name)
    y = np.full(len(present), None, dtype=object)
    y[present] = [model.classes[int(one)] for one in positive]
    return y


def _seen_warning(model: Model, source: TableFile) -> list[str]:
    if not is_training_table(model, source.sha256()):
        return []
    return [
        "this is the table that the model was fitted to: nothing can have moved, and AUC, KS and "
        "calibration are too optimistic"
    ]


def _text(result: Monitoring, table: str) -> str:
    """The result in lines of text: a sentence, tables, sentences."""
    lines = [f"{table}: {result.headline}"]
    lines += ["", *_feature_lines([result.score, *result.features])]
    lines += ["", *result._quality_sentences()]
    if result.periods:
        lines += ["", *_period_lines(result)]
    lines += [f"note: {words}" for words in result.notes]
    return "\n".join(lines)


def _feature_lines(movements: list[Movement]) -> list[str]:
    rows = [["", "importance", "PSI", "noise", "p", "corrected", "verdict"]]
    rows += [_cells(one) for one in movements[: _MOST_FEATURES + 1]]
    lines = aligned(rows)
    left = len(movements) - len(rows) + 1
    if left > 0:
        lines.append(f"... and {left} more features; --json has them all")
    return [
        *lines,
        "noise: the PSI that unchanged features of this size exceed in 5% of samples; corrected: "
        "p-value for all features together",
    ]


def _cells(one: Movement) -> list[str]:
    verdict = VERDICTS[one.verdict] + (f": {one.how}" if one.how else "")
    is_tested = one.psi is not None and one.psi.n_bins > 1
    return [
        shorten(one_line(one.title), _LONGEST_NAME),
        "" if one.importance is None else f"{one.importance:.1%}",
        f"{one.psi.value:.3f}" if one.psi is not None and is_tested else "",
        f"{one.psi.limit:.3f}" if one.psi is not None and is_tested else "",
        "" if one.p_value is None else p_words(one.p_value),
        "" if one.p_corrected is None else p_words(one.p_corrected),
        one_line(verdict),
    ]


def _period_lines(result: Monitoring) -> list[str]:
    rows = [[str(result.period_unit), "rows", "PSI of score", "noise", "features moved"]]
    has_labels = any(one.quality is not None or one.why_not for one in result.periods)
    rows[0] += ["AUC", "KS", "positives", "predicted"] if has_labels else []
    for one in result.periods:
        psi = one.score.psi
        moved = sum(movement.verdict == "moved" for movement in one.features)
        cells = [one.name, f"{one.n_rows:,}"]
        if psi is None or psi.n_bins < 2:
            cells += ["too few rows", "", str(moved)]
        else:
            star = "*" if one.score.verdict == "moved" else ""
            cells += [f"{psi.value:.3f}{star}", f"{psi.limit:.3f}", str(moved)]
        if one.quality is not None:
            quality = one.quality
            cells += [_ends(quality.auc.now), _ends(quality.ks.now)]
            cells += [f"{quality.rate.value:.3f}", f"{quality.calibration.predicted:.3f}"]
        elif has_labels:
            cells += ["too few rows" if one.why_not else "no labels", "", "", ""]
        rows.append(cells)
    lines = aligned(rows)
    if any(one.score.verdict == "moved" for one in result.periods):
        lines.append("*: the score has moved, corrected for features and periods")
    if result.auc_p_value is not None:
        lines.append(result._auc_sentence())
    return lines


def _ends(value: Any) -> str:
    return f"{value.value:.3f} ({value.low:.3f} to {value.high:.3f})"
