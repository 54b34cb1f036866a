"""How good a model still is on labelled rows: metrics and calibration beside those of training."""

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from auctor._text import interval, p_words, signed
from auctor._typing import Bools, Floats
from auctor.metrics import auc_ci, ks_ci
from auctor.metrics.calibration import wilson_ends
from auctor.metrics.effective import kish
from auctor.metrics.limits import difference_limits, normal_quantile, two_sided
from auctor.metrics.rates import wilson
from auctor.metrics.thresholds import is_flagged
from auctor.models import Model
from auctor.models.training_record import NEGATIVE, POSITIVE, Measured, Validation
from auctor.report.monitor_slope import Slope, calibration_slope

LEVEL = 0.95
# Below this number of rows of a class an interval says nothing, and its coverage was not measured.
FEWEST_OF_A_CLASS = 5
# Two tests decide about the calibration: the mean and the slope.
_ALPHA_OF_CALIBRATION = 0.025
_N_BANDS = 10
_MOST_DRAWN = 1e8  # rows in all resamples of KS together


@dataclass(frozen=True)
class Estimated:
    """A number with its confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({interval(self.low, self.high, LEVEL)})"


@dataclass(frozen=True)
class MetricChange:
    """A metric on the new rows, and its difference from the figure of training.

    Attributes
    ----------
    name : str
        "AUC" or "KS".
    now, before : Estimated
        On the new rows; at training, on rows that the model had not seen. None where the record
        does not have it.
    difference : Estimated or None
        ``now - before``; the interval has the uncertainty of both.
    p_value : float or None
        Of the hypothesis that there is no difference.
    """

    name: str
    now: Estimated
    before: Estimated | None
    difference: Estimated | None
    p_value: float | None

    def __str__(self) -> str:
        text = f"{self.name} {self.now}"
        if self.before is None or self.difference is None or self.p_value is None:
            return text
        low, high = self.difference.low, self.difference.high
        return (
            f"{text}; {self.before.value:.3f} at training "
            f"({interval(self.before.low, self.before.high, LEVEL)}): difference "
            f"{signed(self.difference.value)} ({100 * LEVEL:g}% CI {signed(low)} to {signed(high)},"
            f" p {p_words(self.p_value)})"
        )


class Band(NamedTuple):
    """Rows in a band of the score: how many, and predicted and observed rates of positives."""

    n_rows: float
    predicted: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """Predicted probabilities against observed labels.

    Attributes
    ----------
    predicted : float
        The mean predicted probability.
    observed : Estimated
        The fraction of positives.
    p_value : float
        Of the hypothesis that the two agree; the noise of the training rows counts too.
    slope, slope_before : Estimated or None
        Slope of a logistic regression of the labels on the log odds of the predictions: 1 if they
        are right, below 1 if they are too extreme. Now, and of the out-of-fold rows of training.
    bands : tuple of Band
        By tenths of the score.
    verdict : str
        In words.
    """

    predicted: float
    observed: Estimated
    p_value: float
    slope: Estimated | None
    slope_before: Estimated | None
    bands: tuple[Band, ...]
    verdict: str

    def __str__(self) -> str:
        slope = f"; slope {self.slope}" if self.slope is not None else ""
        before = f", {self.slope_before.value:.2f} at training" if self.slope_before else ""
        return (
            f"calibration: {self.verdict} (mean prediction {self.predicted:.3f}, fraction of "
            f"positives {self.observed}, p {p_words(self.p_value)}{slope}{before})"
        )


@dataclass(frozen=True)
class AtThreshold:
    """Rates at the model's threshold; those that need labels are None without them."""

    threshold: float
    flagged: Estimated
    tpr: Estimated | None = None
    fpr: Estimated | None = None
    precision: Estimated | None = None

    def __str__(self) -> str:
        text = f"flagged at the threshold {self.threshold:.4g}: {self.flagged}"
        parts = {
            "true positive rate": self.tpr,
            "false positive rate": self.fpr,
            "precision": self.precision,
        }
        shown = [f"{name} {rate}" for name, rate in parts.items() if rate is not None]
        return ", ".join([text, *shown])


@dataclass(frozen=True)
class Quality:
    """How good the model is on labelled rows.

    Attributes
    ----------
    n_pos, n_neg : int
        Numbers of labelled rows of each class.
    rate, rate_before : Estimated and float
        The fraction of positives now, and in the training rows.
    rate_p_value : float or None
        Of the hypothesis that it has not changed; None where rows have weights, since the record
        counts the classes without them.
    auc, ks : MetricChange
    calibration : Calibration
    """

    n_pos: int
    n_neg: int
    rate: Estimated
    rate_before: float
    rate_p_value: float | None
    auc: MetricChange
    ks: MetricChange
    calibration: Calibration

    def facts(self) -> dict[str, Any]:
        """The quality in plain values."""
        facts = asdict(self)
        facts["calibration"]["bands"] = [band._asdict() for band in self.calibration.bands]
        return facts


class Scored(NamedTuple):
    """Scores of labelled rows, all of weight above 0; equal weights are None."""

    scores: Floats
    positive: Bools
    weight: Floats | None

    @property
    def counted(self) -> Floats:
        return np.ones(len(self.scores)) if self.weight is None else self.weight

    def take(self, rows: Bools) -> "Scored":
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Scored(self.scores[rows], self.positive[rows], weight)


def measure_quality(
    model: Model, rows: Scored, validation: Validation | None, seed: int
) -> Quality:
    """All measures of labelled rows; each class has ``FEWEST_OF_A_CLASS`` rows or more."""
    record = model.training
    assert record is not None
    n_pos = int(np.count_nonzero(rows.positive))
    rate = _rate(rows, np.ones(len(rows.scores), dtype=bool), rows.positive)
    rate_before = record.n_pos / max(record.n_rows, 1)
    has_weights = rows.weight is not None or record.has_weights
    return Quality(
        n_pos=n_pos,
        n_neg=len(rows.positive) - n_pos,
        rate=rate,
        rate_before=rate_before,
        rate_p_value=None
        if has_weights
        else _rates_p_value(rate.value, len(rows.scores), rate_before, record.n_rows),
        auc=_auc_change(rows, validation),
        ks=_ks_change(rows, validation, seed),
        calibration=_calibrate(model, rows, validation),
    )


def _n_rows(rows: Scored) -> float:
    return float(len(rows.scores)) if rows.weight is None else kish(rows.weight)


def _rates_p_value(a: float, n_a: float, b: float, n_b: float) -> float:
    """Two-sided p-value of the difference of two fractions."""
    pooled = (a * n_a + b * n_b) / (n_a + n_b)
    variance = pooled * (1 - pooled) * (1 / n_a + 1 / n_b)
    return two_sided((a - b) / math.sqrt(variance)) if variance > 0 else 1.0


def _rate(rows: Scored, among: Bools, chosen: Bools) -> Estimated:
    """The fraction of the chosen rows among some rows, with Wilson's interval."""
    weight = rows.counted[among]
    part, n_rows = float(weight[chosen[among]].sum() / weight.sum()), kish(weight)
    return Estimated(part, *wilson(part * n_rows, n_rows, LEVEL))


def at_threshold(model: Model, rows: Scored, labelled: bool) -> AtThreshold:
    """The flagged fraction, and with labels the other rates, at the threshold of the model."""
    flagged = is_flagged(rows.scores, model.threshold)
    every = np.ones(len(flagged), dtype=bool)
    flagged_fraction = _rate(rows, every, flagged)
    if not labelled:
        return AtThreshold(model.threshold, flagged_fraction)
    return AtThreshold(
        model.threshold,
        flagged_fraction,
        _rate(rows, rows.positive, flagged) if rows.positive.any() else None,
        _rate(rows, ~rows.positive, flagged) if not rows.positive.all() else None,
        _rate(rows, flagged, rows.positive) if flagged.any() else None,
    )


def _auc_change(rows: Scored, validation: Validation | None) -> MetricChange:
    result = auc_ci(rows.positive, rows.scores, sample_weight=rows.weight, level=LEVEL)
    return change_of("AUC", Estimated(result.value, result.low, result.high), validation)


def _ks_change(rows: Scored, validation: Validation | None, seed: int) -> MetricChange:
    """KS without its bias, as the record has it: hence the one fold."""
    n_rows = len(rows.scores)
    result = ks_ci(
        rows.positive,
        rows.scores,
        sample_weight=rows.weight,
        folds=np.zeros(n_rows, dtype=np.int64),
        instability=0.0,
        level=LEVEL,
        n_resamples=int(min(300, max(50, _MOST_DRAWN / n_rows))),
        random_state=seed,
    )
    return change_of("KS", Estimated(result.value, result.low, result.high), validation)


def change_of(name: str, now: Estimated, validation: Validation | None) -> MetricChange:
    """A metric beside that of the record, whose interval tells its standard error."""
    recorded = None if validation is None else validation.metrics.get(name.lower())
    if recorded is None:
        return MetricChange(name, now, None, None, None)
    before = _at_level(recorded)
    values, ends = (now.value, before.value), ((now.low, now.high), (before.low, before.high))
    low, high = difference_limits(values, ends, 0.0)
    difference = now.value - before.value
    # The interval and the test agree: the limit towards 0 is as many standard errors away.
    reach = difference - low if difference > 0 else high - difference
    p_value = two_sided(difference / reach * normal_quantile(LEVEL)) if reach > 0 else 1.0
    return MetricChange(name, now, before, Estimated(difference, low, high), p_value)


def _at_level(recorded: Measured) -> Estimated:
    """A recorded metric with an interval of the level that is used here.

    The distance of a limit is taken for a multiple of the standard error on that side.
    """
    factor = normal_quantile(LEVEL) / normal_quantile(recorded.level)
    below, above = (max(d, 0.0) * factor for d in _distances(recorded))
    return Estimated(recorded.value, recorded.value - below, recorded.value + above)


def _distances(recorded: Measured) -> tuple[float, float]:
    return recorded.value - recorded.low, recorded.high - recorded.value


def _calibrate(model: Model, rows: Scored, validation: Validation | None) -> Calibration:
    record = model.training
    assert record is not None
    probability = model.probabilities(rows.scores)[:, 1]
    weight, n_rows = rows.counted / rows.counted.sum(), _n_rows(rows)
    predicted = float((weight * probability).sum())
    observed = _rate(rows, np.ones(len(weight), dtype=bool), rows.positive)
    spread = label_variance(probability, rows.positive, weight)
    # The mean prediction was fitted to the training rows, which are a sample too.
    variance = spread * (1 / n_rows + 1 / max(sum(record.effective_rows), 1.0))
    p_value = two_sided((observed.value - predicted) / math.sqrt(variance)) if variance else 1.0
    odds = np.clip(model.calibration.slope * rows.scores + model.calibration.offset, -30, 30)
    now = calibration_slope(odds, weight * n_rows * rows.positive, weight * n_rows * ~rows.positive)
    before = None if validation is None or record.has_weights else _slope_before(validation)
    return Calibration(
        predicted,
        observed,
        p_value,
        _estimated(now),
        _estimated(before),
        _bands(rows, probability),
        _verdict(predicted, observed.value, p_value, now, before),
    )


def label_variance(probability: Floats, positive: Bools, weight: Floats) -> float:
    """The variance of a label around its prediction, of a row of average weight.

    That of the predictions, p (1 - p), is too small for a model whose predictions are too extreme,
    and the observed one is too small if no label is of the rarer class.
    """
    predicted = float((weight * probability * (1 - probability)).sum())
    return max(predicted, float((weight * np.square(positive - probability)).sum()))


def _slope_before(validation: Validation) -> Slope | None:
    """The slope of the out-of-fold rows, from their counts in bands."""
    p = np.clip(validation.probability, 1e-9, 1 - 1e-9)
    counts = validation.counts.astype(np.float64)
    return calibration_slope(np.log(p / (1 - p)), counts[POSITIVE], counts[NEGATIVE])


def _estimated(slope: Slope | None) -> Estimated | None:
    if slope is None:
        return None
    reach = normal_quantile(LEVEL) * slope.standard_error
    return Estimated(slope.value, slope.value - reach, slope.value + reach)


def _verdict(
    predicted: float, observed: float, p_value: float, now: Slope | None, before: Slope | None
) -> str:
    """What is wrong with the predicted probabilities, in words."""
    words = []
    if p_value < _ALPHA_OF_CALIBRATION:
        way = "low" if predicted < observed else "high"
        words.append(f"too {way} by {abs(predicted - observed):.3f} on average")
    if now is not None and now.differs_from(1.0) < _ALPHA_OF_CALIBRATION:
        text = f"too {'extreme' if now.value < 1 else 'close to the average'}"
        if before is not None and now.differs_from(before) >= _ALPHA_OF_CALIBRATION:
            text += ", as in the cross-validation" if before.value < 1 else ""
        words.append(text)
    return f"predictions are {' and '.join(words)}" if words else "no deviation found"


def _bands(rows: Scored, probability: Floats) -> tuple[Band, ...]:
    """Predicted and observed rates by tenths of the rows."""
    order = np.argsort(probability, kind="stable")
    weight = rows.counted[order]
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    band = np.minimum((middle * _N_BANDS).astype(np.int64), _N_BANDS - 1)
    sums = [
        np.bincount(band, weights=part, minlength=_N_BANDS)
        for part in (weight, weight**2, weight * probability[order], weight * rows.positive[order])
    ]
    total, squares, predicted, observed = (part[sums[0] > 0] for part in sums)
    n_rows = total**2 / squares
    low, high = wilson_ends(observed / total, n_rows, LEVEL)
    columns = (n_rows, predicted / total, observed / total, low, high)
    return tuple(Band(*values) for values in zip(*(c.tolist() for c in columns), strict=True))
