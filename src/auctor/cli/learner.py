"""The learner that a command is asked for, with its settings, checked before any table is read."""

import argparse
import json
import sys
from typing import Any, NamedTuple

from auctor.cli.errors import UsageError, nearest
from auctor.estimators.base import RankingEstimator
from auctor.estimators.peers import PEERS
from auctor.estimators.registry import LEARNERS, learner_name

# An additive model that needs no tuning by hand.
DEFAULT_LEARNER = "smooth-aucboost-cv"

# Parameters that have an option of their own.
_OPTIONS = {
    "categorical_features": "--categorical",
    "pos_label": "--positive",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "verbose": "--quiet",
}


class Loss(NamedTuple):
    """What to train on: its kind, and how much of the curve or of the list."""

    kind: str
    k: float | None = None
    region: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.kind == "p@k":
            return f"p@k:{self.k:g}"
        if self.region is not None:
            return f"pauc:{self.region[0]:g}-{self.region[1]:g}"
        return self.kind


# Kind of loss -> the learners that train on it, the usual one first.
TRAINS_ON: dict[str, tuple[str, ...]] = {
    "auc": (DEFAULT_LEARNER, *sorted(set(LEARNERS) - {DEFAULT_LEARNER, "dmks", "exactboost-cv"})),
    "ks": ("exactboost-cv", "exactboost", "dmks"),
    "p@k": ("exactboost-cv", "exactboost"),
    "pauc": (DEFAULT_LEARNER, "smooth-aucboost"),
}


def parse_loss(text: str) -> Loss:
    """``auc``, ``ks``, ``p@k:100`` (or a share, ``p@k:0.1``) or ``pauc:0-0.1``."""
    kind, _, rest = text.lower().partition(":")
    if kind in ("auc", "ks") and not rest:
        return Loss(kind)
    if kind == "p@k" and (k := _top(rest)) is not None:
        return Loss(kind, k=k)
    if kind == "pauc" and (region := _region(rest)) is not None:
        return Loss(kind, region=region)
    raise UsageError(f"--loss is {text!r}; give auc, ks, p@k:100, p@k:0.1 or pauc:0-0.1")


def _top(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if number >= 1 and number.is_integer():
        return int(number)
    return number if 0 < number < 1 else None


def _region(text: str) -> tuple[float, float] | None:
    low, dash, high = text.partition("-")
    try:
        ends = float(low), float(high)
    except ValueError:
        return None
    return ends if dash and 0 <= ends[0] < ends[1] <= 1 else None


def make_learner(name: str | None, loss: Loss, args: argparse.Namespace) -> RankingEstimator:
    """The learner of that name, or the usual one for the loss, with the command's settings."""
    chosen = name or TRAINS_ON[loss.kind][0]
    if chosen in PEERS:
        raise UsageError(f"{chosen} is another library's, for `auctor compare` only")
    if chosen not in LEARNERS:
        raise UsageError(f"unknown learner {chosen!r}{nearest(chosen, LEARNERS)}")
    if chosen not in TRAINS_ON[loss.kind]:
        able = ", ".join(TRAINS_ON[loss.kind])
        raise UsageError(f"{chosen} does not train on {loss}; these do: {able}")
    estimator = LEARNERS[chosen]()
    estimator.set_params(**_loss_settings(chosen, loss))
    _set_usual(estimator, args)
    return estimator


def share_of_rows(loss: Loss, n_rows: int) -> dict[str, Any]:
    """A top of so many rows as a share of them, so that it is the same share in every fold."""
    if loss.k is None or loss.k < 1:
        return {}
    if loss.k > n_rows:
        raise ValueError(f"--loss {loss} asks for the top {loss.k:g} of {n_rows} rows")
    return {"k": min(loss.k / n_rows, 1 - 1e-9)}


def set_parameters(estimator: RankingEstimator, settings: list[tuple[str, str]]) -> None:
    """The settings of ``--param``; an error for a name that the learner does not have."""
    known = sorted(set(estimator.get_params()) - set(_OPTIONS))
    for name, text in settings:
        if name in _OPTIONS:
            raise UsageError(f"--param {name}: use {_OPTIONS[name]} instead")
        if name not in known:
            who = learner_name(type(estimator))
            raise UsageError(f"{who} has no parameter {name!r}; known: {', '.join(known)}")
        estimator.set_params(**{name: _parse_value(text)})
    estimator._validate_params()


def _loss_settings(name: str, loss: Loss) -> dict[str, Any]:
    if name in ("exactboost", "exactboost-cv"):
        metric = {"auc": "auc", "ks": "ks", "p@k": "precision_at_k"}[loss.kind]
        return {"metric": metric} | ({"k": loss.k} if loss.kind == "p@k" else {})
    return {"fpr_range": loss.region} if loss.kind == "pauc" else {}


def _set_usual(estimator: RankingEstimator, args: argparse.Namespace) -> None:
    usual = {
        "categorical_features": args.categorical or "from_dtype",
        "random_state": args.seed,
        "n_jobs": args.jobs,
        # Its own bar on a terminal only: in a log the folds are enough.
        "verbose": not args.quiet and sys.stderr.isatty(),
    }
    # A learner without randomness, say, has no random_state.
    parameters = estimator.get_params()
    estimator.set_params(**{name: value for name, value in usual.items() if name in parameters})


def _parse_value(text: str) -> Any:
    """A value as JSON (0.1, true, null, [1, 2]), else as the text it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text
