"""`auctor score`: a score, a probability and a prediction for each row of a table."""

import argparse
import math
from dataclasses import dataclass, replace
from typing import Any

from auctor.cli.errors import UsageError
from auctor.cli.large import is_large
from auctor.cli.model_rows import compare_with_training, model_with_reference, read_features
from auctor.cli.out_files import Output, check_outputs
from auctor.cli.output import STDOUT, data_stdout, emit, to_json, warn, write_csv
from auctor.cli.score_batches import Batched, score_batches
from auctor.cli.score_card import is_scorecard, load_card
from auctor.cli.score_columns import CardScorer, Columns, ModelScorer, as_written, check_keep
from auctor.cli.tables import check_output_kind, open_table, table_kind, write_table
from auctor.models import ExplainedModel, Model, Scorecard, load


@dataclass(frozen=True)
class ScoreOptions:
    """The options of ``auctor score``."""

    model: str
    table: str
    keep: tuple[str, ...]
    threshold: float | None
    n_reasons: int
    direction: str | None
    reference: str | None
    strict: bool
    digits: int
    out: Output | None  # None for standard output
    spreadsheet_safe: bool
    delimiter: str | None
    as_json: bool
    max_memory: str | None

    @property
    def csv_digits(self) -> int | None:
        """Significant digits of the scores; None if they are not written as CSV."""
        is_csv = not self.as_json if self.out is None else table_kind(self.out.name) == "csv"
        return self.digits if is_csv else None


def run(args: argparse.Namespace) -> None:
    """Score a table and print the scores, or write them to a file."""
    score_table(
        ScoreOptions(
            model=args.model,
            table=args.table,
            keep=tuple(args.keep),
            threshold=args.threshold,
            n_reasons=args.reasons,
            direction=args.direction,
            reference=args.reference,
            strict=args.strict,
            digits=args.digits,
            out=None if args.out in (None, STDOUT) else Output("--out", args.out),
            spreadsheet_safe=args.spreadsheet_safe,
            delimiter=args.delimiter,
            as_json=args.json,
            max_memory=args.max_memory,
        )
    )


def score_table(options: ScoreOptions) -> None:
    """Check the options, score the rows, write the result."""
    if options.out is not None:
        check_output_kind(options.out.name)  # an error now, and not after the work
    check_outputs([options.out], [options.model, options.table])
    _check_spreadsheet(options)
    model = _load(options)
    scorer = _make_scorer(model, options)
    source = open_table(options.table, options.delimiter)
    keep = check_keep(options.keep, source, scorer)
    facts: dict[str, Any] = {
        "model": options.model,
        "table": source.name,
        "rows": 0,
        "positive": scorer.positive,
    }
    if isinstance(model, Model):
        facts |= {"threshold": model.threshold}
    if is_large(options.table, options.max_memory):
        facts |= score_batches(model, scorer, source, _batched(options, keep))
        _report(facts, options)
        return
    table = read_features(model, source)
    if isinstance(model, Model):
        facts["warnings"] = compare_with_training(model, table, options.strict, options.model)
        warn(facts["warnings"])
    kept = source.read_verbatim(keep).to_pydict() if keep else {}
    columns = scorer.columns(table)
    _write(
        facts | {"rows": table.num_rows},
        *as_written(kept, columns, scorer, options.csv_digits, options.spreadsheet_safe),
        options,
    )


def _load(options: ScoreOptions) -> Model | Scorecard:
    """The model, with the threshold of ``--threshold``, or the scorecard."""
    if is_scorecard(options.model):
        of_models = {
            "--threshold": options.threshold,
            "--direction": options.direction,
            "--reference": options.reference,
            "--strict": options.strict,
        }
        return load_card(options.model, of_models)
    model = load(options.model)
    if options.threshold is not None:
        model = replace(model, threshold=_check_threshold(options.threshold))
    return model


def _make_scorer(model: Model | Scorecard, options: ScoreOptions) -> ModelScorer | CardScorer:
    if isinstance(model, Scorecard):
        return CardScorer(model, options.n_reasons)
    explaining = _explaining_model(model, options)
    return ModelScorer(model, explaining, options.n_reasons, options.direction)


def _batched(options: ScoreOptions, keep: list[str]) -> Batched:
    """What scoring in batches needs to know of the options."""
    if options.out is None and options.as_json:
        raise UsageError(
            "--json prints all scores as one object, which needs them in memory; give --out a "
            "file, or leave out --json"
        )
    if options.out is None and options.strict:
        raise UsageError(
            "--strict with rows that are read in batches needs --out: rows would be printed before "
            "all of them are compared"
        )
    return Batched(
        name=options.model,
        keep=keep,
        out=None if options.out is None else options.out.path,
        strict=options.strict,
        digits=options.csv_digits,
        spreadsheet_safe=options.spreadsheet_safe,
        max_memory=options.max_memory,
    )


def _write(facts: dict[str, Any], kept: Columns, scored: Columns, options: ScoreOptions) -> None:
    """The columns to a file, or to standard output as JSON or CSV."""
    if options.out is not None:
        write_table({**kept, **scored}, options.out.path)
        _report(facts, options)
    elif options.as_json:
        print(to_json({**facts, "keep": kept, **scored}))
    else:
        write_csv({**kept, **scored}, data_stdout())


def _report(facts: dict[str, Any], options: ScoreOptions) -> None:
    """Print how many scores were written to a file."""
    if options.out is not None:
        text = f"{facts['rows']} scores written to {options.out}"
        emit({**facts, "out": str(options.out)}, text, options.as_json)


def _check_spreadsheet(options: ScoreOptions) -> None:
    """Only in CSV can a text become a formula: elsewhere an apostrophe would just be wrong."""
    if not options.spreadsheet_safe:
        return
    if options.out is not None and table_kind(options.out.name) != "csv":
        raise UsageError(f"--spreadsheet-safe works for CSV only, not for {options.out}")
    if options.out is None and options.as_json:
        raise UsageError("--spreadsheet-safe works for CSV only, not for --json")


def _check_threshold(threshold: float) -> float:
    if not math.isfinite(threshold):
        raise ValueError(f"--threshold is {threshold}; give a finite number")
    return threshold


def _explaining_model(model: Model, options: ScoreOptions) -> ExplainedModel | None:
    """The model that gives the reasons; None where ``--reasons`` is not given."""
    if options.n_reasons > 0:
        return model_with_reference(model, options.model, options.reference, options.delimiter)
    for name, given in (("--reference", options.reference), ("--direction", options.direction)):
        if given is not None:
            raise ValueError(f"{name} needs --reasons; add for example --reasons 4")
    return None
