"""`auctor report`: an HTML report of a model on rows whose labels are known."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from auctor._text import file_name, rows_words
from auctor.cli.breakdown import Breakdown, read_breakdown
from auctor.cli.document import Document, shown_command
from auctor.cli.errors import UsageError
from auctor.cli.evaluate_batches import read_in_batches
from auctor.cli.evaluated_rows import measure_lines
from auctor.cli.large import is_large
from auctor.cli.model_rows import (
    Labelled,
    check_strict,
    compare_with_training,
    read_labelled,
    training_warnings,
)
from auctor.cli.options import ColumnRoles, split_names
from auctor.cli.out_files import Output, check_outputs, choose_output
from auctor.cli.output import emit, note, to_json, warn
from auctor.cli.row_sample import RowSample, SampledTable
from auctor.cli.seen_rows import seen_warning
from auctor.cli.table_file import TableFile
from auctor.cli.tables import open_table
from auctor.data.stored.spill import SpillFolder
from auctor.models import Model, load
from auctor.report import render, summarize

# Rows on the page of a table that is read in batches.
SAMPLE_ROWS = 100_000


@dataclass(frozen=True)
class ReportOptions:
    """The options of ``auctor report``."""

    model: str
    table: str
    delimiter: str | None
    roles: ColumnRoles
    out: Output
    facts: Output | None
    time: str | None
    strict: bool
    seed: int
    quiet: bool
    as_json: bool
    command: str  # the command line, for the report
    document: Document
    max_memory: str | None
    spill_dir: str | None


class ReadRows(NamedTuple):
    """The rows of a report, with what was noticed about them."""

    labelled: Labelled
    breakdown: Breakdown
    warnings: list[str]
    about: dict[str, Any]  # facts of the page
    all_rows: Sequence[str] = ()  # measures of all rows, where these are a sample


def run(args: argparse.Namespace) -> None:
    """Read the options and write the report."""
    write_report(
        ReportOptions(
            model=args.model,
            table=args.table,
            delimiter=args.delimiter,
            roles=ColumnRoles.for_evaluation(args),
            out=choose_output(args.out, args.table, ".report.html"),
            facts=None if args.facts is None else Output("--facts", args.facts),
            time=args.time,
            strict=args.strict,
            seed=args.seed,
            quiet=args.quiet,
            as_json=args.json,
            command=shown_command(args),
            document=Document.from_args(args),
            max_memory=args.max_memory,
            spill_dir=args.spill_dir,
        )
    )


def write_report(options: ReportOptions) -> None:
    """Score the table, measure, and write the report."""
    out, facts_file = options.out, options.facts
    check_outputs([out, facts_file], [options.model, options.table], options.as_json)
    model = load(options.model)
    source = open_table(options.table, options.delimiter)
    note(f"reading {source.name}", options.quiet)
    read = _read_sample if is_large(options.table, options.max_memory) else _read_all
    read_rows = read(model, source, options)
    rows, breakdown = read_rows.labelled, read_rows.breakdown
    warn(read_rows.warnings)
    note("computing the metrics", options.quiet)
    document = options.document
    facts = summarize(
        model,
        rows.X,
        [model.classes[is_positive] for is_positive in rows.positive.tolist()],
        sample_weight=rows.weight,
        groups=rows.groups,
        about={
            **document.about(Path(options.model).read_bytes()),
            "table": file_name(source.name),
            "model": file_name(options.model),
            "target": options.roles.target,
            "command": options.command,
            "seed": options.seed,
            **read_rows.about,
        },
        example_rows=document.example_rows,
        by=breakdown.by,
        compare=document.compare,
        time=breakdown.time,
        card=document.card,
        random_state=options.seed,
    )
    out.write_text(render(facts))
    if facts_file is not None:
        facts_file.write_text(to_json(facts))
    written = {"report": str(out), "facts": None if facts_file is None else str(facts_file)}
    judged = facts["judged"]
    text = facts["headline"]["sentence"]
    if judged is not None:  # the metric of training first, as on the page
        text = f"{judged['sentence']}\n{text}"
    if not out.is_stdout:
        text += f"\nreport written to {out.path.resolve().as_uri()}"
    if read_rows.all_rows:
        text = "\n".join([*read_rows.all_rows, "of the sample of rows on the page:", text])
    has_file = out.is_stdout or (facts_file is not None and facts_file.is_stdout)
    results = {"judged": judged, "headline": facts["headline"]}
    results |= {"all_rows": read_rows.all_rows} if read_rows.all_rows else {}
    emit({**written, **results}, text, options.as_json, has_file)


def _read_all(model: Model, source: TableFile, options: ReportOptions) -> ReadRows:
    """All rows, in memory."""
    rows = read_labelled(model, source, options.roles)
    breakdown = read_breakdown(
        source, rows.X, options.document.by, options.time, options.roles.target
    )
    warnings = [
        *compare_with_training(model, rows.X, options.strict, options.model),
        *seen_warning(model, rows.positive, rows.scores, rows.weight, source.sha256()),
    ]
    words = rows_words(file_name(source.name), len(rows.positive), int(rows.positive.sum()))
    return ReadRows(rows, breakdown, warnings, {"evaluated_on": words, "notes": warnings})


def _read_sample(model: Model, source: TableFile, options: ReportOptions) -> ReadRows:
    """A random sample of the rows, and measures of all of them."""
    for name in ("weight", "group"):
        if getattr(options.roles, name) is not None:
            raise UsageError(
                f"--{name} needs all rows in memory, and these are read in batches; give a file "
                "without --max-memory"
            )
    check_strict(model, options.strict, options.model)
    roles, document = options.roles, options.document
    by = split_names(document.by, source.columns)
    wanted = [*by, *([] if options.time is None else [options.time])]
    sample = RowSample(SAMPLE_ROWS, options.seed, wanted)
    with SpillFolder(options.spill_dir) as spill:
        stored, findings = read_in_batches(model, source, roles, options.max_memory, spill, sample)
    warnings = [
        *training_warnings(findings, options.strict),
        *stored.seen(model, source.sha256()),
    ]
    sampled = SampledTable(source.name, sample.table())
    rows = read_labelled(model, sampled, roles)
    breakdown = read_breakdown(sampled, rows.X, document.by, options.time, roles.target)
    n_rows, n_pos = len(rows.positive), int(rows.positive.sum())
    sentences = measure_lines(stored.measure(model.threshold, options.seed))
    table = file_name(source.name)
    notes = [
        f"The numbers and figures below are those of {n_rows:,} rows, drawn at random from the "
        f"{sample.n_seen:,} rows of {table}, so that their intervals are wider than those of all "
        "rows.",
        *(f"Of all {sample.n_seen:,} rows: {sentence}." for sentence in sentences),
    ]
    about = {
        "evaluated_on": f"{rows_words(table, n_rows, n_pos)}, a sample of {sample.n_seen:,} rows",
        "notes": [*notes, *warnings],
    }
    words = f"{table}: {sample.n_seen} rows, {stored.n_pos} of them positive"
    return ReadRows(rows, breakdown, warnings, about, [words, *sentences])
