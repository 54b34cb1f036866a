"""The HTML report of `auctor fit --report`, from the out-of-fold scores of the fit."""

from typing import Any

from auctor._text import file_name, rows_words
from auctor.cli.breakdown import Breakdown
from auctor.cli.document import Document
from auctor.cli.fit_result import FitResult
from auctor.cli.options import Execution
from auctor.cli.suspects import label_warning
from auctor.cli.validation import BASELINE_TITLE, Validated, describe_folds
from auctor.estimators.bands import estimator_bands, has_quick_bands
from auctor.report import render, summarize


def fit_page(
    result: FitResult,
    model: str,
    model_text: str,
    command: str,
    execution: Execution,
    document: Document,
    breakdown: Breakdown,
) -> str:
    """The report as HTML; ``model`` is the name of the model file, and ``model_text`` its text."""
    validated = result.validated
    problem = result.problem if validated is None else result.problem.take(validated.result.rows)
    breakdown = breakdown if validated is None else breakdown.take(validated.result.rows)
    # Which label is the positive one is said at the top of the page.
    known = label_warning(result.problem, None)
    notes = [warning for warning in result.warnings if warning not in known]
    if validated is not None and validated.result.rows is not None:
        notes.append(
            f"The numbers are those of {describe_folds(validated.result, problem)}: each fold is "
            "predicted by a model of the rows before it. The earliest rows are only trained on."
        )
    if result.holdout is not None:
        lines = result.holdout.lines(result.learner)
        notes += [f"Measured on other rows: {line}" for line in lines]
    if validated is None:
        notes.append(
            "These numbers were measured on the rows that the model was fitted to, so that they "
            "are too optimistic. Use cross-validation or other rows to judge the model."
        )
    about = {
        **document.about(model_text.encode()),
        **_rows_words(result),
        "table": file_name(problem.table),
        "model": file_name(model),
        "notes": notes,
        "pooling": None if validated is None else _POOLING,
        "target": problem.target,
        "command": command,
        "seed": execution.seed,
        "trained_for": str(result.metric),
        "parameters": result.parameters,
    }
    facts = summarize(
        result.estimator,
        problem.X,
        problem.y,
        sample_weight=problem.weight,
        groups=problem.groups if validated is None else validated.result.groups,
        metric=result.metric.arguments(len(problem.y)),
        about=about,
        random_state=execution.seed,
        bands=_bands(result, execution),
        importances=result.term_importances,
        example_rows=document.example_rows,
        by=breakdown.by,
        compare=document.compare,
        time=breakdown.time,
        card=document.card,
        **_out_of_fold(result, validated),
        **_baseline(result),
    )
    return render(facts)


def _rows_words(result: FitResult) -> dict[str, str]:
    """Which rows the model was trained on, and which ones the results are of."""
    problem, validated = result.problem, result.validated
    rows = rows_words(file_name(problem.table), problem.n_pos + problem.n_neg, problem.n_pos)
    if validated is None:
        return {"trained_on": rows, "evaluated_on": "the training rows"}
    folds = describe_folds(validated.result, problem)
    if validated.result.rows is None:
        words = f"the same rows, each by a model fitted without it ({folds})"
    else:
        tested = f"{len(validated.result.rows):,} of the same rows"
        words = f"{tested}, each by a model of the rows before it ({folds})"
    return {"trained_on": rows, "evaluated_on": words}


_POOLING = (
    "Scores of different folds were put on the scale of the final model by their rank among the "
    "training scores, so that the thresholds here can be used with the final model."
)


def _out_of_fold(result: FitResult, validated: Validated | None) -> dict[str, Any]:
    """The out-of-fold scores, as arguments of ``summarize``."""
    if validated is None:
        return {}
    folds, problem = validated.result, result.problem
    return {
        "scores": folds.scores_of(result.estimator.model_, problem.X, problem.weight),
        "fold_scores": folds.scores,
        "folds": folds.folds,
        "instability": folds.instability,
    }


def _baseline(result: FitResult) -> dict[str, Any]:
    """The scores of the baseline, as arguments of ``summarize``."""
    if result.baseline is None:
        return {}
    name = BASELINE_TITLE
    return {
        "baseline": {name: result.baseline.validated.result.scores},
        "baseline_instability": {name: result.baseline.compared.instability},
    }


def _bands(result: FitResult, execution: Execution) -> Any:
    """Confidence bands of the feature plots; None where there are none or they take too long."""
    estimator, problem = result.estimator, result.problem
    if not has_quick_bands(estimator, problem.X.num_rows * problem.X.num_columns):
        return None
    rows = problem.X, problem.y, problem.weight
    shown = {"verbose": not execution.quiet, "n_jobs": execution.jobs}
    return estimator_bands(estimator, *rows, random_state=execution.seed, **shown)
