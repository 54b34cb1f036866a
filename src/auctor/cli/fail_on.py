"""`monitor --fail-on`: limits for a pipeline, and which of them the new rows break."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from auctor._text import first_few, p_words, signed
from auctor.cli.errors import UsageError, nearest
from auctor.report import Monitoring
from auctor.report.monitor_features import ALPHA, Movement

# Name of a limit -> whether it is a difference, and so negative.
_LIMITS = {
    "psi": False,
    "score": False,
    "missing": False,
    "new": False,
    "p": False,
    "auc": True,
    "ks": True,
    "calibration": False,
}
NEED_LABELS = ("auc", "ks", "calibration")


@dataclass(frozen=True)
class Limit:
    """One limit of ``--fail-on``."""

    name: str
    value: float

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}"


def parse_limits(texts: Sequence[str], has_target: bool) -> tuple[Limit, ...]:
    """Read ``psi=0.25,auc=-0.03``.

    Examples
    --------
    >>> parse_limits(["psi=0.25,auc=-0.03"], has_target=True)
    (Limit(name='psi', value=0.25), Limit(name='auc', value=-0.03))
    """
    limits = tuple(_parse(part.strip()) for text in texts for part in text.split(","))
    for limit in limits:
        if limit.name in NEED_LABELS and not has_target:
            raise UsageError(f"--fail-on {limit} needs labels; give --target COL")
    return limits


def _parse(text: str) -> Limit:
    name, equals, number = text.partition("=")
    name = name.strip()
    if name not in _LIMITS:
        raise UsageError(f"--fail-on has the unknown limit {text!r}{nearest(name, _LIMITS)}")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not equals or not math.isfinite(value):
        raise UsageError(f"--fail-on {text!r} has no number; give for example psi=0.25,auc=-0.03")
    if _LIMITS[name] and value >= 0:
        raise UsageError(
            f"--fail-on {text!r} is a difference from training; give a number below 0, such as "
            f"{name}=-0.03"
        )
    if not _LIMITS[name] and value < 0:
        raise UsageError(f"--fail-on {text!r} is negative; give a number of at least 0")
    return Limit(name, value)


def broken_limits(result: Monitoring, limits: Sequence[Limit]) -> list[str]:
    """A sentence for each limit that is broken.

    A limit is broken if it is reached and the change is more than noise.
    """
    reasons = []
    for limit in limits:
        for words in _breaks(result, limit):
            reasons.append(f"{words} (limit {limit})")
    return reasons


def _breaks(result: Monitoring, limit: Limit) -> list[str]:
    if limit.name in ("psi", "score"):
        chosen = [result.score] if limit.name == "score" else [result.score, *result.features]
        return [_psi_words(one) for one in chosen if _has_moved_by(one, limit.value)]
    if limit.name == "p":
        return [
            f"{_title(one)} has the corrected p-value {p_words(one.p_corrected)}"
            for one in (result.score, *result.features)
            if one.p_corrected is not None and one.p_corrected < limit.value
        ]
    if limit.name in ("missing", "new"):
        return _row_breaks(result, limit)
    return _quality_breaks(result, limit)


def _title(movement: Movement) -> str:
    return movement.title if movement.kind == "score" else repr(movement.name)


def _has_moved_by(movement: Movement, value: float) -> bool:
    return movement.verdict == "moved" and movement.psi is not None and movement.psi.value >= value


def _psi_words(movement: Movement) -> str:
    assert movement.psi is not None
    return f"{_title(movement)} has moved with a PSI of {movement.psi.value:.3f}"


def _row_breaks(result: Monitoring, limit: Limit) -> list[str]:
    """Missing values and new categories, as far as `compare_rows` reports them."""
    kind = "missing" if limit.name == "missing" else "unseen category"
    movements = {one.name: one for one in result.features}
    reasons = []
    for finding in result.findings:
        if finding.kind != kind:
            continue
        fraction, words = finding.n_rows / result.n_rows, "of the rows have new categories"
        if kind == "missing":
            movement = movements[finding.column]
            fraction = movement.missing_now - movement.missing_before
            words = "more missing values than in training"
        if fraction >= limit.value:
            reasons.append(f"{finding.column!r}: {fraction:.1%} {words}")
    return reasons


def _quality_breaks(result: Monitoring, limit: Limit) -> list[str]:
    quality = result.quality
    if quality is None:
        return []
    if limit.name == "calibration":
        calibration = quality.calibration
        gap = calibration.predicted - calibration.observed.value
        is_broken = abs(gap) >= limit.value and calibration.p_value < ALPHA
        return [f"mean prediction minus fraction of positives is {signed(gap)}"] * is_broken
    change = quality.auc if limit.name == "auc" else quality.ks
    if change.difference is None or change.p_value is None:
        return []
    is_broken = change.difference.value <= limit.value and change.p_value < ALPHA
    words = f"{change.name} has changed by {signed(change.difference.value)}"
    return [f"{words} since training (p {p_words(change.p_value)})"] * is_broken


def unchecked_limits(result: Monitoring, limits: Sequence[Limit]) -> list[str]:
    """Limits that could not be checked, with the reason."""
    sentences = []
    for limit in limits:
        if limit.name not in NEED_LABELS:
            sentences += _untested(result, limit)
            continue
        if result.quality is None:
            why = next(iter(result.notes), "there are too few labelled rows")
        elif limit.name != "calibration" and result.quality.auc.before is None:
            why = "the model file has no figure of training"
        else:
            continue
        sentences.append(f"--fail-on {limit} was not checked: {why}")
    return sentences


def _untested(result: Monitoring, limit: Limit) -> list[str]:
    """The features, or the score, for which a limit was not checked, with the reason."""
    if limit.name != "score" and not result.features:
        why = "the model file does not describe them"
        return [f"--fail-on {limit} was not checked for the features: {why}"]
    tested = [result.score] if limit.name in ("psi", "score", "p") else []
    tested += result.features if limit.name in ("psi", "p") else ()
    names = [_title(one) for one in tested if one.verdict == "too few rows"]
    if not names:
        return []
    return [f"--fail-on {limit} was not checked for {first_few(names, quote=False)}: too few rows"]
