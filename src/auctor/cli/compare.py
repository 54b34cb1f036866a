"""`auctor compare`: several learners on the same folds, with paired differences."""

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

from auctor.cli.errors import UsageError, nearest
from auctor.cli.fit import table_line
from auctor.cli.learner import (
    DEFAULT_LEARNER,
    TRAINS_ON,
    Loss,
    make_learner,
    parse_loss,
    share_of_rows,
)
from auctor.cli.output import emit, note, warn
from auctor.cli.problem import Problem, feature_names, read_problem
from auctor.cli.suspects import table_warnings
from auctor.cli.tables import open_table
from auctor.cli.validation import (
    Validated,
    at_distance,
    compare,
    comparison_facts,
    difference_words,
    interval_facts,
    loss_words,
    validate,
    validation_facts,
)
from auctor.estimators.peers import PEERS, installed_peers
from auctor.estimators.registry import LEARNERS

# In a comparison that names nothing: ours for the loss, and what most people would try.
_USUAL_PEERS = ("logistic", "hist-gradient-boosting", "lightgbm", "xgboost", "ebm")


class Entrant(NamedTuple):
    """A learner, ours or another library's, ready to be cross-validated."""

    name: str
    estimator: Any
    trains_on_loss: bool = False


def run(args: argparse.Namespace) -> None:
    """Cross-validate every learner on one set of folds and print the table."""
    loss = parse_loss(args.loss)
    entrants = [_make(name, loss, args) for name in _names(loss, args)]
    source = open_table(args.table, args.delimiter)
    names = feature_names(source, args)
    note(f"reading {source.name}", args.quiet)
    problem = read_problem(source, names, args)
    warnings = table_warnings(problem, args.positive, args.folds)
    warn(warnings)
    facts: dict[str, Any] = {
        "table": source.name,
        "target": args.target,
        **problem.facts(),
        "warnings": warnings,
        "folds": args.folds,
        "loss": str(loss),
        "learners": [],
        "n_entrants": len(entrants),
    }
    try:
        for one in _validate_all(entrants, problem, loss, args):
            facts["learners"].append(one)
    except KeyboardInterrupt:
        if facts["learners"]:  # hours of work may be in those that were through
            emit(facts, _text(facts, loss), args.json)
        raise
    emit(facts, _text(facts, loss), args.json)


def _names(loss: Loss, args: argparse.Namespace) -> list[str]:
    """The learners that are asked for, or the usual ones; the first is compared with."""
    if not args.learner:
        there = set(installed_peers())
        # The usual learner for the loss, and the one that people get without any.
        ours = dict.fromkeys([TRAINS_ON[loss.kind][0], DEFAULT_LEARNER])
        return [*ours, *(name for name in _USUAL_PEERS if name in there)]
    names = list(dict.fromkeys(args.learner))
    for name in names:
        if name in PEERS and name not in installed_peers():
            raise UsageError(f"{name} needs the package {PEERS[name].package!r}; install it first")
        if name not in PEERS and name not in LEARNERS:
            raise UsageError(f"unknown learner {name!r}{nearest(name, [*LEARNERS, *PEERS])}")
    return names


def _make(name: str, loss: Loss, args: argparse.Namespace) -> Entrant:
    if name not in PEERS:
        # A learner that cannot train on the loss is still compared by it.
        try:
            return Entrant(name, make_learner(name, loss, args), trains_on_loss=True)
        except UsageError:
            own = "ks" if name in ("dmks", "exactboost-cv") else "auc"
            return Entrant(name, make_learner(name, Loss(own), args))
    told = {"categorical_features": args.categorical or "from_dtype", "random_state": args.seed}
    return Entrant(name, PEERS[name].make(**told, n_jobs=args.jobs))


def _validate_all(
    entrants: list[Entrant], problem: Problem, loss: Loss, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Facts of each as they come, the first one's folds for all."""
    told: dict[str, Any] = {"cv": args.folds, "random_state": args.seed}
    first: Validated | None = None
    for entrant in entrants:
        if "pos_label" in entrant.estimator.get_params():
            share = share_of_rows(loss, problem.X.num_rows) if entrant.trains_on_loss else {}
            entrant.estimator.set_params(pos_label=problem.labels[1], **share)
        validated = validate(entrant.name, entrant.estimator, problem, loss, told, args.quiet)
        facts = {"name": entrant.name, **validation_facts(validated, loss)}
        facts["seconds"] = validated.seconds
        if first is None:
            first, told = validated, {"folds": validated.found.folds, "random_state": args.seed}
        else:
            compared = compare(problem, validated, first, loss, args.seed)
            facts["against_first"] = comparison_facts(first.name, compared, loss)
            value = first.ks.value + compared.loss.difference
            facts |= interval_facts("ks", at_distance(validated, value, loss))
            if loss.kind == "ks":
                facts["against_first"]["value"] = first.ks.value
        note(f"{entrant.name}: {validated.in_loss(loss)}", args.quiet)
        yield facts


def _text(facts: dict[str, Any], loss: Loss) -> str:
    """The metric of the loss first, with its difference; AUC and KS beside it."""
    names = [name for name in ("AUC", "KS") if name.lower() != loss.kind]
    short, first = _short(loss), facts["learners"][0]["name"]
    head = ["learner", f"{short} (95% CI)", *names, f"{short} - that of {first} (95% CI)", "p"]
    rows = [[*head, *([] if loss.kind == "auc" else ["AUC difference (95% CI)"]), "seconds"]]
    rows += [_row(one, loss) for one in facts["learners"]]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    has_loss = loss.kind not in ("auc", "ks")
    more = f"; {short} is the {' '.join(loss_words(loss))}" if has_loss else ""
    note_line = (
        f"the same {facts['folds']} folds for all; intervals and tests count the training sets, "
        f"KS is bias-corrected{more}"
    )
    if facts["n_entrants"] > len(facts["learners"]):
        lines.append(f"interrupted: {len(facts['learners'])} of {facts['n_entrants']} learners")
    return "\n".join([table_line(facts), note_line, "", *lines])


def _short(loss: Loss) -> str:
    """The metric of the loss in the head of a column."""
    return loss.kind.upper() if loss.kind in ("auc", "ks") else str(loss)


def _row(one: dict[str, Any], loss: Loss) -> list[str]:
    keys = {"auc": ("auc", "low", "high"), "ks": ("ks", "ks_low", "ks_high")}
    in_loss = keys.get(loss.kind, ("loss_value", "loss_value_low", "loss_value_high"))
    value, low, high = (one[key] for key in in_loss)
    cells = [one["name"], f"{value:.4f} ({low:.4f} to {high:.4f})"]
    cells += [f"{one[name]:.4f}" for name in ("auc", "ks") if name != loss.kind]
    seconds, other = f"{one['seconds']:.1f}", one.get("against_first")
    if other is None:
        return [*cells, "", "", *([] if loss.kind == "auc" else [""]), seconds]
    cells += [difference_words(other, 4), f"{other['p_value']:.2g}"]
    if loss.kind != "auc":
        cells.append(difference_words(other["auc_difference"], 4))
    return [*(cell.replace("95% CI ", "") for cell in cells), seconds]
