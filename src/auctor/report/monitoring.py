"""Monitoring: what has moved since a model was trained, and how good it still is."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincc

from auctor._text import count, p_words
from auctor._typing import Bools, Floats
from auctor.data import read_vector, read_weights
from auctor.data.missing import is_missing
from auctor.metrics.limits import normal_quantile
from auctor.models import Finding, Model, TrainingRecord, compare_rows
from auctor.models.training_record import Validation
from auctor.report.monitor_bins import Binned, bin_features, bin_scores
from auctor.report.monitor_features import Movement, by_relevance, compare_all
from auctor.report.monitor_periods import Periods, read_periods
from auctor.report.monitor_quality import (
    FEWEST_OF_A_CLASS,
    LEVEL,
    AtThreshold,
    Quality,
    Scored,
    at_threshold,
    measure_quality,
)

FORMAT = 1
_MOST_SHOWN = 12


@dataclass(frozen=True)
class Period:
    """The rows of one period.

    Attributes
    ----------
    name : str
        Such as "2024-03".
    n_rows : int
    quality : Quality or None
        None without labels, and where a class has fewer than five labelled rows.
    why_not : str
        Why there is no quality; empty otherwise.
    at_threshold : AtThreshold
    score : Movement
        The score; p-values are corrected for the number of periods too.
    features : tuple of Movement
        The features, in the order of the whole table.
    """

    name: str
    n_rows: int
    quality: Quality | None
    why_not: str
    at_threshold: AtThreshold
    score: Movement
    features: tuple[Movement, ...]

    def facts(self) -> dict[str, Any]:
        """The period in plain values; of features the verdict and PSI only."""
        few = ("name", "verdict", "n_bins", "psi", "psi_limit", "p_value", "p_corrected")
        facts = [movement.facts() for movement in self.features]
        return {
            "name": self.name,
            "n_rows": self.n_rows,
            "quality": None if self.quality is None else self.quality.facts(),
            "why_not": self.why_not,
            "at_threshold": asdict(self.at_threshold),
            "score": self.score.facts(),
            "features": [{key: one[key] for key in few} for one in facts],
        }

    def __str__(self) -> str:
        text = f"{self.name}: {self.n_rows:,} rows"
        if self.quality is None:
            text += f", {self.why_not}" if self.why_not else ""
        else:
            text += f", AUC {self.quality.auc.now}, KS {self.quality.ks.now}"
        text += f"; {self.score!r}"
        moved = [one.name for one in self.features if one.verdict == "moved"]
        return f"{text}; {count(len(moved), 'feature')} moved" if moved else text


@dataclass(frozen=True, repr=False)
class Monitoring:
    """New rows beside the training rows of a model; prints as sentences.

    Attributes
    ----------
    n_rows : int
        The number of new rows of weight above 0.
    effective_rows : float
        Kish's effective number of them, lower where rows have weights.
    n_training : int
        The number of training rows.
    score : Movement
        The distribution of the score.
    features : tuple of Movement
        The features: those that moved first, sorted by importance times movement.
    findings : tuple of Finding
        Missing values, new categories and numbers out of range, as `compare_rows` reports them.
    at_threshold : AtThreshold
        The flagged fraction and, with labels, the rates at the model's threshold.
    quality : Quality or None
        AUC, KS and calibration, with their differences from training; None without labels.
    periods : tuple of Period
        The same by period, where times were given.
    period_unit : str or None
        What a period is, such as "month".
    auc_p_value : float or None
        Of the hypothesis that the AUC is the same in all periods.
    notes : tuple of str
        What could not be compared, and why.

    Examples
    --------
    >>> from auctor import load
    >>> from auctor.report import monitor
    >>> from tempfile import TemporaryDirectory
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> with TemporaryDirectory() as folder:
    ...     RankBoost(n_estimators=5).fit(X, y).save(f"{folder}/model.json", X, y)
    ...     model = load(f"{folder}/model.json")
    >>> result = monitor(model, X + [100, 0, 0])
    >>> print(result.headline)
    81 new rows beside 81 training rows: 1 of 3 features moved, too few rows to say for 1
    >>> [movement.name for movement in result.moved]
    ['x0']
    """

    n_rows: int
    effective_rows: float
    n_training: int
    score: Movement
    features: tuple[Movement, ...]
    findings: tuple[Finding, ...]
    at_threshold: AtThreshold
    quality: Quality | None = None
    periods: tuple[Period, ...] = ()
    period_unit: str | None = None
    auc_p_value: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def moved(self) -> tuple[Movement, ...]:
        """The features that moved."""
        return tuple(one for one in self.features if one.verdict == "moved")

    def facts(self) -> dict[str, Any]:
        """The result in plain values, for JSON and for the page."""
        return {
            "format": FORMAT,
            "rows": self.n_rows,
            "effective_rows": self.effective_rows,
            "training_rows": self.n_training,
            "level": LEVEL,
            "score": self.score.facts(),
            "features": [movement.facts() for movement in self.features],
            "findings": [asdict(finding) for finding in self.findings],
            "at_threshold": asdict(self.at_threshold),
            "quality": None if self.quality is None else self.quality.facts(),
            "periods": [period.facts() for period in self.periods],
            "period_unit": self.period_unit,
            "auc_p_value": self.auc_p_value,
            "notes": list(self.notes),
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """The result in sentences, the most important first."""
        lines = [self.headline, repr(self.score)]
        lines += [repr(movement) for movement in self.moved[:_MOST_SHOWN]]
        if len(self.moved) > _MOST_SHOWN:
            lines.append(f"... and {len(self.moved) - _MOST_SHOWN} more features that moved")
        lines += self._quality_sentences()
        lines += [str(period) for period in self.periods]
        lines += [self._auc_sentence()] if self.auc_p_value is not None else []
        return [*lines, *self.notes]

    def _quality_sentences(self) -> list[str]:
        """Rows unlike those of training, and AUC, KS, calibration and rates."""
        named = {movement.name for movement in self.moved}
        others = [finding for finding in self.findings if finding.column not in named]
        lines = [str(finding) for finding in others[:_MOST_SHOWN]]
        if self.quality is not None:
            quality = self.quality
            lines += [str(quality.auc), str(quality.ks), self._rate(), str(quality.calibration)]
        return [*lines, str(self.at_threshold)]

    def _auc_sentence(self) -> str:
        """Whether the AUC differs between periods; empty where there are none."""
        if self.auc_p_value is None:
            return ""
        verdict = "differs" if self.auc_p_value < 1 - LEVEL else "shows no difference"
        return f"the AUC {verdict} between periods (p {p_words(self.auc_p_value)})"

    @property
    def headline(self) -> str:
        """How many features moved, in a sentence."""
        total = len(self.features)
        unsure = sum(one.verdict == "too few rows" for one in self.features)
        text = (
            f"{self.n_rows:,} new rows beside {self.n_training:,} training rows: "
            f"{len(self.moved)} of {count(total, 'feature')} moved"
        )
        return f"{text}, too few rows to say for {unsure}" if unsure else text

    def _rate(self) -> str:
        quality = self.quality
        assert quality is not None
        p_value = quality.rate_p_value
        test = "" if p_value is None else f" (p {p_words(p_value)})"
        return f"fraction of positives {quality.rate}; {quality.rate_before:.3f} in training{test}"

    def __repr__(self) -> str:
        return "\n".join(self.sentences())


def monitor(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    time: Any = None,
    period: str | None = None,
    sample_weight: Any = None,
    random_state: int = 0,
) -> Monitoring:
    """Compare new rows with what a model remembers of its training.

    Parameters
    ----------
    model : Model
        A model with a training record, such as :func:`auctor.load` returns for a file of
        `auctor fit`, or of ``estimator.save(path, X, y)`` with the training rows.
        :func:`auctor.models.make_record` makes a record for a model that has none.
    X : table
        New rows, of any kind that the model can score.
    y : array-like of shape (n_rows,), optional
        Their labels. Rows whose label is missing (None, NaN) are compared with training, and left
        out of the AUC, KS and calibration.
    time : array-like of shape (n_rows,), optional
        The time of each row: dates, text such as 2024-01-31, or numbers. Everything is then
        reported by period as well.
    period : {"day", "week", "month", "quarter", "year"}, optional
        What a period is; by default the shortest that has at most 24 periods of typically 100 rows
        or more.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows. Multiplying all of them by a constant changes nothing.
    random_state : int, default=0
        Seed of the resamples for the interval of KS.

    Returns
    -------
    Monitoring
        It prints as sentences; ``facts()`` has its numbers as a dict, of which
        :func:`render_monitoring` makes a page. docs/monitoring.md explains the tests.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor.report import monitor
    >>> from dataclasses import replace
    >>> from auctor import RankBoost
    >>> from auctor.models import make_record
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = X[:, 0] + rng.normal(size=2000) > 0
    >>> model = RankBoost(n_estimators=10).fit(X, y).model_
    >>> model = replace(model, training=make_record(model, X, y))
    >>> result = monitor(model, X[:500] + [0.5, 0.0])
    >>> [(one.name, one.verdict) for one in result.features]
    [('x0', 'moved'), ('x1', 'unchanged')]
    """
    fitted = getattr(model, "model_", model)
    if not isinstance(fitted, Model):
        raise ValueError(
            f"model is of type {type(model).__name__}; give a fitted estimator of auctor, or what "
            "auctor.load returned"
        )
    record = check_record(fitted)
    return _Rows(fitted, record, X, y, sample_weight, random_state).monitor(time, period)


def check_record(model: Model, name: str = "the model") -> TrainingRecord:
    """The training record of a model; an error says how to get one."""
    if model.training is None:
        raise ValueError(
            f"{name} has no record of its training rows to compare with: it was saved from Python "
            "without them, or by an earlier release; save the fitted estimator with its training "
            "rows, estimator.save(path, X, y), fit it again with `auctor fit`, or add a record to "
            "the model: dataclasses.replace(model, training=auctor.models.make_record(model, X, "
            "y == 1))"
        )
    return model.training


class _Rows:
    """The new rows of weight above 0: scored, and in the bins of the record."""

    def __init__(
        self, model: Model, record: TrainingRecord, X: Any, y: Any, sample_weight: Any, seed: int
    ) -> None:
        self.model, self.record, self.seed = model, record, seed
        table = model._read(X)
        weight = read_weights(sample_weight, table.n_rows)
        self.kept = np.ones(table.n_rows, dtype=bool) if weight is None else weight > 0
        self.positive, self.labelled = _read_labels(y, table.n_rows, model)
        is_plain = weight is None or len(np.unique(weight[self.kept])) == 1
        self.weight = None if weight is None or is_plain else weight
        self.scores = model.decision_function(table)
        self.validation = _reference(record)
        weighted = self.weight is not None
        features = bin_features(model, table, record, weighted)
        score = bin_scores(record, self.validation, self.scores, weighted)
        self.binned: list[Binned] = [*features, score]
        self.findings = compare_rows(model, _take(X, table, self.kept))

    def monitor(self, time: Any, period: str | None) -> Monitoring:
        """Compare all rows, and those of each period."""
        periods = None if time is None else read_periods(time, len(self.kept), period)
        *features, score = compare_all(self.binned, self.findings, self.kept, self.weight)
        ordered = by_relevance(features)
        quality, why_not = self._quality(self.kept)
        own = self.weight if self.weight is None else self.weight[self.kept]
        n_rows = int(np.count_nonzero(self.kept))
        by_period = [] if periods is None else self._by_period(periods, ordered)
        return Monitoring(
            n_rows=n_rows,
            effective_rows=n_rows if own is None else float(own.sum() ** 2 / (own**2).sum()),
            n_training=self.record.n_rows,
            score=score,
            features=tuple(ordered),
            findings=tuple(self.findings),
            at_threshold=self._at_threshold(self.kept),
            quality=quality,
            periods=tuple(by_period),
            period_unit=None if periods is None else periods.unit,
            auc_p_value=_homogeneity(by_period),
            notes=tuple(self._notes(why_not)),
        )

    def _by_period(self, periods: Periods, ordered: Sequence[Movement]) -> list[Period]:
        place = {movement.name: k for k, movement in enumerate(ordered)}
        result = []
        for k, name in enumerate(periods.names):
            rows = self.kept & (periods.codes == k)
            if not rows.any():
                continue
            *features, score = compare_all(self.binned, [], rows, self.weight, len(periods.names))
            quality, why_not = self._quality(rows)
            features.sort(key=lambda movement: place[movement.name])
            result.append(
                Period(
                    name=name,
                    n_rows=int(np.count_nonzero(rows)),
                    quality=quality,
                    why_not=why_not,
                    at_threshold=self._at_threshold(rows),
                    score=score,
                    features=tuple(features),
                )
            )
        return result

    def _scored(self, rows: Bools) -> Scored:
        weight = None if self.weight is None else self.weight[rows]
        return Scored(self.scores[rows], self.positive[rows], weight)

    def _at_threshold(self, rows: Bools) -> AtThreshold:
        """All rates of labelled rows; the flagged fraction of all rows."""
        flagged = at_threshold(self.model, self._scored(rows), labelled=False)
        labelled = rows & self.labelled
        if not labelled.any():
            return flagged
        rates = at_threshold(self.model, self._scored(labelled), labelled=True)
        return AtThreshold(
            flagged.threshold, flagged.flagged, rates.tpr, rates.fpr, rates.precision
        )

    def _quality(self, rows: Bools) -> tuple[Quality | None, str]:
        """The quality of the labelled rows, or why there is none."""
        labelled = rows & self.labelled
        if not self.labelled.any():
            return None, ""
        n_pos = int(np.count_nonzero(self.positive & labelled))
        n_neg = int(np.count_nonzero(labelled)) - n_pos
        if min(n_pos, n_neg) < FEWEST_OF_A_CLASS:
            return None, (
                f"too few labelled rows for AUC, KS and calibration ({n_pos} positive, {n_neg} "
                f"negative; {FEWEST_OF_A_CLASS} of each are needed)"
            )
        return measure_quality(self.model, self._scored(labelled), self.validation, self.seed), ""

    def _notes(self, why_not: str) -> list[str]:
        notes = [why_not] if why_not else []
        n_unlabelled = int(np.count_nonzero(self.kept & ~self.labelled))
        if self.labelled.any() and n_unlabelled:
            notes.append(
                f"{count(n_unlabelled, 'row')} without a label: compared with training, and left "
                "out of AUC, KS, calibration and rates"
            )
        if not self.record.columns:
            notes.append("the record does not describe the features, since there are too many")
        if self.validation is None:
            notes.append(
                "the record has no cross-validation or holdout: the score is compared with scores "
                "of the training rows, which are more extreme than those of new rows even without "
                "a change, and AUC and KS have no figure of training"
            )
        if self.record.has_weights and self.weight is None:
            notes.append(
                "the training rows had weights; without weights of the new rows both are compared "
                "without"
            )
        elif self.record.has_weights and self.binned[-1].reference.total > 1.5:
            notes.append(
                "the record of an earlier release counts weighted training rows without their "
                "weights; fit the model again to compare with weights"
            )
        return notes


def _reference(record: TrainingRecord) -> Validation | None:
    """The cross-validation; a holdout where there is none."""
    folds = [one for one in record.validations if one.kind == "cross-validation"]
    return next(iter([*folds, *record.validations]), None)


def _take(X: Any, table: Any, kept: Bools) -> Any:
    """The rows of weight above 0, of a table of any kind."""
    if kept.all():
        return table
    from auctor.estimators.table_rows import collect_rows, take_rows

    return take_rows(collect_rows(X), np.flatnonzero(kept))


def _read_labels(y: Any, n_rows: int, model: Model) -> tuple[Bools, Bools]:
    """Which rows are positive, and which have a label."""
    if y is None:
        return np.zeros(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
    values = read_vector(y, "y")
    if len(values) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y has {len(values)}; give a label for each row")
    labelled = np.array([not is_missing(value) for value in values.tolist()], dtype=bool)
    known = values[labelled].tolist()
    unknown = [value for value in dict.fromkeys(known) if value not in model.classes]
    if unknown:
        raise ValueError(
            f"y has the label {unknown[0]!r}, which the model does not know; give the labels "
            f"{model.classes[0]!r} and {model.classes[1]!r}"
        )
    if not known:
        raise ValueError("every label of y is missing; give labels, or leave out y")
    positive = np.zeros(n_rows, dtype=bool)
    positive[labelled] = [value == model.classes[1] for value in known]
    return positive, labelled


def _homogeneity(periods: Sequence[Period]) -> float | None:
    """The p-value of the hypothesis that all periods have the same AUC (Cochran's Q)."""
    measured = [one.quality.auc.now for one in periods if one.quality is not None]
    if len(measured) < 2:
        return None
    values: Floats = np.array([one.value for one in measured])
    errors = np.array([(one.high - one.low) / 2 for one in measured]) / normal_quantile(LEVEL)
    weight = 1 / errors**2
    mean = float((weight * values).sum() / weight.sum())
    statistic = float((weight * (values - mean) ** 2).sum())
    return float(gammaincc((len(values) - 1) / 2, statistic / 2))
