"""`auctor report`: an HTML report of a model on rows whose labels are known."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from auctor._text import file_name, rows_words
from auctor.cli.breakdown import read_breakdown
from auctor.cli.document import Document, shown_command
from auctor.cli.model_rows import compare_with_training, read_labelled
from auctor.cli.options import ColumnRoles
from auctor.cli.out_files import Output, check_outputs, choose_output
from auctor.cli.output import emit, note, to_json, warn
from auctor.cli.seen_rows import seen_warning
from auctor.cli.tables import open_table
from auctor.models import load
from auctor.report import render, summarize


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
        )
    )


def write_report(options: ReportOptions) -> None:
    """Score the table, measure, and write the report."""
    out, facts_file = options.out, options.facts
    check_outputs([out, facts_file], [options.model, options.table], options.as_json)
    model = load(options.model)
    source = open_table(options.table, options.delimiter)
    note(f"reading {source.name}", options.quiet)
    rows = read_labelled(model, source, options.roles)
    table = file_name(source.name)
    document, target = options.document, options.roles.target
    breakdown = read_breakdown(source, rows.X, document.by, options.time, target)
    warnings = [
        *compare_with_training(model, rows.X, options.strict, options.model),
        *seen_warning(model, rows.positive, rows.scores, rows.weight, source.sha256()),
    ]
    warn(warnings)
    note("computing the metrics", options.quiet)
    facts = summarize(
        model,
        rows.X,
        [model.classes[is_positive] for is_positive in rows.positive.tolist()],
        sample_weight=rows.weight,
        groups=rows.groups,
        about={
            **document.about(Path(options.model).read_bytes()),
            "evaluated_on": rows_words(table, len(rows.positive), int(rows.positive.sum())),
            "table": table,
            "model": file_name(options.model),
            "notes": warnings,
            "target": target,
            "command": options.command,
            "seed": options.seed,
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
    has_file = out.is_stdout or (facts_file is not None and facts_file.is_stdout)
    results = {"judged": judged, "headline": facts["headline"]}
    emit({**written, **results}, text, options.as_json, has_file)
