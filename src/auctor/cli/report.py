"""`auctor report`: a page about a model on rows whose labels are known; also for `fit --report`."""

import argparse
import shlex
from typing import Any

from auctor.cli.evaluate import read_labelled
from auctor.cli.fit import choose_out
from auctor.cli.learner import parse_loss
from auctor.cli.output import Output, check_outputs, emit, note, to_json, warn
from auctor.cli.problem import Problem
from auctor.cli.seen_rows import seen_warning
from auctor.cli.tables import open_table
from auctor.cli.validation import Validated, metric_options
from auctor.estimators.bands import refit_bands
from auctor.estimators.base import RankingEstimator
from auctor.models import load
from auctor.report import render, summarize

_N_REFITS = 100
_MOST_CELLS = 10**6  # of a table whose model is refitted for the bands: seconds, not minutes


def run(args: argparse.Namespace) -> None:
    """Score the table, measure, and write the page."""
    out = choose_out(args, ".report.html")
    facts_file = None if args.facts is None else Output("--facts", args.facts)
    check_outputs([out, facts_file], [args.model, args.table], args.json)
    model = load(args.model)
    source = open_table(args.table, args.delimiter)
    note(f"reading {source.name}", args.quiet)
    rows = read_labelled(model, source, args)
    warnings = seen_warning(model, rows.positive, rows.scores, rows.weight)
    warn(warnings)
    note("measuring", args.quiet)
    negative, positive = model.classes
    facts = summarize(
        model,
        rows.X,
        [positive if is_positive else negative for is_positive in rows.positive.tolist()],
        sample_weight=rows.weight,
        groups=rows.groups,
        about={"table": source.name, "model": args.model, "notes": warnings, **_about(args)},
        random_state=args.seed,
    )
    _write(facts, out, facts_file)
    written = {"report": str(out), "facts": None if facts_file is None else str(facts_file)}
    text = facts["headline"]["sentence"]
    if not out.is_stdout:
        text += f"\nreport: {out.path.resolve().as_uri()}"
    aside = out.is_stdout or (facts_file is not None and facts_file.is_stdout)
    emit({**written, "headline": facts["headline"]}, text, args.json, aside)


def write_fit_page(
    estimator: RankingEstimator,
    problem: Problem,
    ours: Validated | None,
    baseline: Validated | None,
    facts: dict[str, Any],
    page: Output,
    args: argparse.Namespace,
) -> None:
    """The page of a fit: of out-of-fold scores where there are any, the baseline's beside them."""
    told: dict[str, Any] = {}
    pooling = None
    if ours is not None:
        # On the final model's scale, so that a threshold on the page is one of the model.
        told = {
            "scores": ours.found.scores_of(estimator.model_, problem.X, problem.weight),
            "fold_scores": ours.found.scores,
            "folds": ours.found.folds,
            "instability": ours.found.instability,
        }
        pooling = (
            "The scores of all folds were brought to the scale of the final model by their ranks "
            "among the training scores, so that the thresholds are those of the final model."
        )
    if baseline is not None:
        told["baseline"] = {baseline.name: baseline.found.scores}
        told["baseline_instability"] = {baseline.name: facts["baseline"]["instability"]}
    notes = list(facts["warnings"])
    if ours is None:
        notes.append("Measured on the rows that the model was fitted to: too good to be true.")
    about = {"table": facts["table"], "model": facts["model"], "notes": notes, "pooling": pooling}
    found = summarize(
        estimator,
        problem.X,
        problem.y,
        sample_weight=problem.weight,
        groups=problem.groups if ours is None else ours.found.groups,
        metric=metric_options(parse_loss(facts["loss"]), len(problem.y)),
        about={**about, **_about(args), "trained_on": facts["loss"], "parameters": facts["params"]},
        random_state=args.seed,
        bands=_bands(estimator, problem, args),
        **told,
    )
    page.write_text(render(found))


def _bands(estimator: RankingEstimator, problem: Problem, args: argparse.Namespace) -> Any:
    """Bands of the score plots, where the learner has them and the table is not too large."""
    has_bands = hasattr(estimator, "penalty_") and getattr(estimator, "init", None) is None
    if not has_bands or problem.X.num_rows * problem.X.num_columns > _MOST_CELLS:
        return None
    told = {"n_resamples": _N_REFITS, "level": 0.95, "random_state": args.seed}
    return refit_bands(estimator, problem.X, problem.y, problem.weight, args.jobs, told)


def _about(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "target": args.target,
        "command": shlex.join(["auctor", *args.typed]),
        "seed": args.seed,
    }


def _write(facts: dict[str, Any], out: Output, facts_file: Output | None) -> None:
    out.write_text(render(facts))
    if facts_file is not None:
        facts_file.write_text(to_json(facts))
