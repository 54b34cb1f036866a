"""Population stability: PSI of counts in bins, with its noise level, and a test of location.

The usual limits of PSI, 0.1 and 0.25, take no account of the number of rows. Two samples of one
population, of n and N rows in B bins, have a PSI of about (B - 1) (1 / n + 1 / N): 0.1 with 100
new rows in 11 bins. To first order PSI is the chi-square statistic of the two rows of counts times
(1 / n + 1 / N), so that its distribution without a change is known, and with it the value that a
given fraction of unchanged samples exceeds.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, gammainccinv

from auctor._checks import check_level
from auctor._text import p_words
from auctor._typing import Floats, Ints
from auctor.metrics.effective import student_factor
from auctor.metrics.limits import two_sided

# Added to every count, so that an empty bin gives no infinite PSI.
_SMOOTHING = 0.5


@dataclass(frozen=True, repr=False)
class PsiTest:
    """A population stability index with its noise level; prints as a sentence.

    Attributes
    ----------
    value : float
        PSI: the sum over the bins of ``(p - q) log(p / q)``, p and q the fractions of the rows.
    expected : float
        The mean PSI of samples of this size without a change.
    limit : float
        The PSI that such samples exceed with a probability of ``1 - level``.
    p_value : float
        The probability of a PSI at least as large without a change.
    n_bins : int
        Number of bins.
    n_reference, n_new : float
        Numbers of rows; with weights, Kish's effective numbers.
    level : float
        The level of ``limit``.

    Examples
    --------
    >>> from auctor.metrics import psi_test
    >>> test = psi_test([300, 400, 300], [50, 35, 15])
    >>> round(test.value, 3), round(test.limit, 3), test.p_value < 0.001
    (0.206, 0.066, True)
    """

    value: float
    expected: float
    limit: float
    p_value: float
    n_bins: int
    n_reference: float
    n_new: float
    level: float

    def __repr__(self) -> str:
        return (
            f"PSI {self.value:.3f} in {self.n_bins} bins (without a change {self.expected:.3f} on "
            f"average and below {self.limit:.3f} in {100 * self.level:g}% of samples; "
            f"p {p_words(self.p_value)}; {self.n_reference:,.0f} reference rows, "
            f"{self.n_new:,.0f} new rows)"
        )


@dataclass(frozen=True)
class Bins:
    """Counts of rows in bins, or sums of weights with the sums of their squares."""

    counts: Floats
    squares: Floats

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def fractions(self) -> Floats:
        return self.counts / self.total

    @property
    def n_rows(self) -> float:
        """Kish's effective number of rows; without weights the number of rows."""
        squares = float(self.squares.sum())
        return self.total**2 / squares if squares else 0.0

    @property
    def effective(self) -> Floats:
        """The effective number of rows in each bin: fractions of ``n_rows``."""
        return self.fractions * self.n_rows

    def merged(self, group: Ints) -> "Bins":
        """The bins of each group together; ``group`` has the group of each bin, from 0."""
        sums = np.bincount(group, weights=self.counts).astype(np.float64)
        return Bins(sums, np.bincount(group, weights=self.squares).astype(np.float64))

    def noise(self, fractions: Floats) -> Floats:
        """What a bin adds to the variance of the fractions: pi_b / n without weights.

        The mean weight of a bin is that of its rows, or of all rows where it has none.
        """
        overall = float(self.squares.sum()) / self.total
        with np.errstate(invalid="ignore"):
            mean_weight = np.where(self.counts > 0, self.squares / self.counts, overall)
        return np.asarray(fractions * mean_weight / self.total) * self._doubt()

    def _doubt(self) -> float:
        """A factor for weights, whose variance is itself an estimate: that of Student's t."""
        is_weighted = not np.array_equal(self.squares, self.counts)
        return 1 / student_factor(max(int(self.n_rows), 2), 0.025) if is_weighted else 1.0


def read_bins(counts: npt.ArrayLike, squares: npt.ArrayLike | None, name: str) -> Bins:
    """Counts of rows, or sums of weights with sums of squared weights, checked."""
    values = np.asarray(counts, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"{name} has the shape {values.shape}; give counts of two bins or more")
    squared = values if squares is None else np.asarray(squares, dtype=np.float64)
    if squared.shape != values.shape:
        raise ValueError(
            f"{name}_squares has the shape {squared.shape}; give a number for each of the "
            f"{len(values)} bins of {name}"
        )
    for part, own in ((values, name), (squared, f"{name}_squares")):
        if not np.isfinite(part).all() or (part < 0).any() or not part.any():
            raise ValueError(f"{own} has negative or missing values, or no rows; give counts")
    return Bins(values, squared)


def psi(reference: npt.ArrayLike, new: npt.ArrayLike) -> float:
    """Population stability index of two rows of counts in the same bins.

    Parameters
    ----------
    reference, new : array-like of shape (n_bins,)
        Counts of rows (or sums of weights, scaled to the effective number of rows). Half a row is
        added to each of them, so that empty bins do not give infinity.

    Returns
    -------
    float
        0 for the same fractions in both; it does not change if the two are exchanged.

    Examples
    --------
    >>> from auctor.metrics import psi
    >>> round(psi([100, 100], [100, 100]), 3), round(psi([100, 100], [120, 80]), 3)
    (0.0, 0.04)
    """
    return psi_of(read_bins(reference, None, "reference"), read_bins(new, None, "new"))


def psi_of(reference: Bins, new: Bins) -> float:
    """PSI of bins."""
    p, q = (_smoothed(bins.effective) for bins in (new, reference))
    return float(((p - q) * np.log(p / q)).sum())


def psi_terms(reference: Bins, new: Bins) -> Floats:
    """What each bin adds to PSI."""
    p, q = (_smoothed(bins.effective) for bins in (new, reference))
    return np.asarray((p - q) * np.log(p / q))


def _smoothed(counts: Floats) -> Floats:
    return (counts + _SMOOTHING) / (counts.sum() + _SMOOTHING * len(counts))


def psi_test(
    reference: npt.ArrayLike,
    new: npt.ArrayLike,
    *,
    reference_squares: npt.ArrayLike | None = None,
    new_squares: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> PsiTest:
    """Population stability index with the value that unchanged samples exceed, and a test.

    Without a change, PSI times ``1 / (1 / n + 1 / N)`` has approximately a chi-square distribution
    with one degree of freedom less than there are bins. About 8 expected rows in each bin, in both
    samples, are enough (docs/monitoring.md has the measured rates of false alarms): merge smaller
    bins first.

    Parameters
    ----------
    reference, new : array-like of shape (n_bins,)
        Counts of rows in the same bins, or sums of weights.
    reference_squares, new_squares : array-like of shape (n_bins,), optional
        With weights, the sums of their squares, which tell how far the sums vary. The scale of
        the weights does not matter.
    level : float, default=0.95
        The fraction of unchanged samples whose PSI is below ``limit``.

    Returns
    -------
    PsiTest

    Examples
    --------
    The same fractions say little with 60 new rows, and a lot with 6,000:

    >>> from auctor.metrics import psi_test
    >>> psi_test([5000, 3000, 2000], [25, 20, 15])
    PSI 0.032 in 3 bins (without a change 0.034 on average and below 0.100 in 95% of samples;
    p 0.39; 10,000 reference rows, 60 new rows)
    >>> psi_test([5000, 3000, 2000], [2500, 2000, 1500]).p_value < 1e-20
    True
    """
    level = check_level(level)
    first = read_bins(reference, reference_squares, "reference")
    second = read_bins(new, new_squares, "new")
    if len(first.counts) != len(second.counts):
        raise ValueError(
            f"reference has {len(first.counts)} bins and new has {len(second.counts)}; give counts "
            "in the same bins"
        )
    return compare_bins(first, second, level)


def compare_bins(reference: Bins, new: Bins, level: float = 0.95) -> PsiTest:
    """PSI and its test; bins that are empty in both samples do not count."""
    kept = (reference.counts > 0) | (new.counts > 0)
    reference, new = (Bins(bins.counts[kept], bins.squares[kept]) for bins in (reference, new))
    value = psi_of(reference, new)
    sizes: dict[str, Any] = {
        "n_bins": len(new.counts),
        "n_reference": reference.n_rows,
        "n_new": new.n_rows,
        "level": level,
    }
    if len(new.counts) < 2:
        return PsiTest(value, 0.0, 0.0, 1.0, **sizes)
    shape, scale = _null_gamma(reference, new)
    # Of two bins the counts lie on a coarse grid: half a row in each sample is noise (Yates).
    grid = _half_a_row(reference, new) if len(new.counts) == 2 else 0.0
    surely = max(math.sqrt(value) - grid, 0.0) ** 2
    limit = (math.sqrt(scale * float(gammainccinv(shape, 1 - level))) + grid) ** 2
    return PsiTest(value, shape * scale, limit, float(gammaincc(shape, surely / scale)), **sizes)


def _half_a_row(reference: Bins, new: Bins) -> float:
    """The square root of the PSI of two bins that differ by half a row in each sample."""
    pooled = _pooled(reference, new)
    return 0.5 * (1 / reference.n_rows + 1 / new.n_rows) * math.sqrt(float((1 / pooled).sum()))


def _null_gamma(reference: Bins, new: Bins) -> tuple[float, float]:
    """Shape and scale of the gamma distribution of PSI without a change.

    PSI is then close to d' diag(1 / pi) d with d the difference of the fractions, whose covariance
    V is the sum of both samples'. The two moments are tr(diag(1 / pi) V) and twice the trace of
    its square. Without weights the result is the chi-square distribution times (1 / n + 1 / N).
    """
    pooled = _pooled(reference, new)
    noise = reference.noise(pooled) + new.noise(pooled)
    total = float(noise.sum())
    covariance = (
        np.diag(noise)
        - np.outer(noise, pooled)
        - np.outer(pooled, noise)
        + total * np.outer(pooled, pooled)
    )
    mean = float((np.diag(covariance) / pooled).sum())
    variance = 2 * float((covariance**2 / np.outer(pooled, pooled)).sum())
    return mean**2 / variance, variance / mean


def _pooled(reference: Bins, new: Bins) -> Floats:
    """The fractions of both samples together, each with its effective number of rows."""
    sums = reference.effective + new.effective
    return np.asarray(sums / sums.sum())


@dataclass(frozen=True)
class LocationTest:
    """Whether the values of one sample are larger than those of another.

    Attributes
    ----------
    superiority : float
        The probability that a new value is larger than a reference value, ties counting half.
    p_value : float
        Of the hypothesis that there is no change (Wilcoxon's rank sum test in bins).
    """

    superiority: float
    p_value: float


def compare_location(reference: Bins, new: Bins) -> LocationTest | None:
    """Wilcoxon's rank sum test of values in ordered bins; None where all are in one bin.

    Examples
    --------
    >>> rows = [read_bins(counts, None, "new") for counts in ([50, 30, 20], [30, 30, 40])]
    >>> compare_location(*rows)
    LocationTest(superiority=0.63..., p_value=0.0007...)
    """
    pooled = _pooled(reference, new)
    ranks = np.cumsum(pooled) - pooled / 2
    centred = ranks - float((pooled * ranks).sum())
    noise = reference.noise(pooled) + new.noise(pooled)
    n_rows = reference.n_rows + new.n_rows
    variance = float((noise * centred**2).sum()) * n_rows / max(n_rows - 1, 1.0)
    if variance <= 0:
        return None
    difference = float(((new.fractions - reference.fractions) * ranks).sum())
    below = np.cumsum(reference.fractions) - reference.fractions / 2
    superiority = float((new.fractions * below).sum())
    return LocationTest(superiority, two_sided(difference / float(np.sqrt(variance))))


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's corrected p-values: with them the family-wise error rate is kept.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.5]).tolist()
    [0.03, 0.08, 0.5]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1.0)
    return corrected
