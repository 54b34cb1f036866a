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
from auctor.cli.suspects import label_warning, suspicious_columns
from auctor.cli.tables import open_table
from auctor.cli.validation import (
    Validated,
    compare,
    comparison_facts,
    loss_words,
    validate,
    validation_facts,
)
from auctor.estimators.peers import PEERS, installed_peers
from auctor.estimators.registry import LEARNERS
from auctor.metrics.wording import signless

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
    warnings = [*label_warning(problem, args.positive), *suspicious_columns(problem)]
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
    told: dict[str, Any] = {"n_folds": args.folds, "random_state": args.seed}
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
            compared = compare(problem, validated, first, args.seed)
            facts["against_first"] = comparison_facts(first.name, compared)
        note(f"{entrant.name}: {validated.found.auc}", args.quiet)
        yield facts


def _text(facts: dict[str, Any], loss: Loss) -> str:
    has_loss = any("loss_value" in one for one in facts["learners"])
    head = ["learner", "AUC (95% CI)", "KS", *([str(loss)] if has_loss else [])]
    first = facts["learners"][0]["name"]
    rows = [[*head, f"less {first} (95% CI)", "p", "seconds"]]
    rows += [_row(one, has_loss) for one in facts["learners"]]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    more = f"; {loss} is the {' '.join(loss_words(loss))}" if has_loss else ""
    note_line = f"the same {facts['folds']} folds for all; means and intervals within folds{more}"
    if facts["n_entrants"] > len(facts["learners"]):
        lines.append(f"interrupted: {len(facts['learners'])} of {facts['n_entrants']} learners")
    return "\n".join([table_line(facts), note_line, "", *lines])


def _row(one: dict[str, Any], has_loss: bool) -> list[str]:
    cells = [
        one["name"],
        f"{one['auc']:.4f} ({one['low']:.4f} to {one['high']:.4f})",
        f"{one['ks']:.4f}",
        *([f"{one['loss_value']:.4f}"] if has_loss else []),
    ]
    other = one.get("against_first")
    if other is None:
        return [*cells, "", "", f"{one['seconds']:.1f}"]
    ends = f"{signless(other['low'], 4)} to {signless(other['high'], 4)}"
    difference = f"{signless(other['difference'], 4)} ({ends})"
    return [*cells, difference, f"{other['p_value']:.2g}", f"{one['seconds']:.1f}"]
