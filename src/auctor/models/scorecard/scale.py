"""PointScale: from the score of a model to points, and from points to odds and probabilities."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from auctor._checks import check_choice, check_finite, check_positive
from auctor._typing import Floats

Direction = Literal["lower_risk", "higher_risk"]
DIRECTIONS: tuple[Direction, Direction] = ("lower_risk", "higher_risk")


@dataclass(frozen=True)
class PointScale:
    """The line between points and log odds: points = base_score + factor * ln(odds / base odds).

    Attributes
    ----------
    pdo : float
        Points to double the odds.
    odds : float
        The odds that ``base_score`` points stand for. With ``direction="lower_risk"`` these are
        the odds of the negative class (50 means 50 good rows for each bad one), with
        ``"higher_risk"`` those of the positive class.
    base_score : float
        The points at these odds.
    direction : {"lower_risk", "higher_risk"}
        What more points mean: a lower or a higher probability of the positive class.

    Examples
    --------
    >>> from auctor.models import PointScale
    >>> scale = PointScale(pdo=20, odds=50, base_score=600)
    >>> [round(float(p), 4) for p in scale.probability([580, 600, 620])]
    [0.0385, 0.0196, 0.0099]
    """

    pdo: float = 20.0
    odds: float = 50.0
    base_score: float = 600.0
    direction: Direction = "lower_risk"

    def __post_init__(self) -> None:
        numbers = {
            "pdo": check_positive(self.pdo, "pdo"),
            "odds": check_positive(self.odds, "odds"),
            "base_score": check_finite(self.base_score, "base_score"),
        }
        for name, number in numbers.items():  # floats, whatever numbers were given
            object.__setattr__(self, name, number)
        check_choice(self.direction, DIRECTIONS, "direction")

    @property
    def factor(self) -> float:
        """Points for each unit of the log odds."""
        return self.pdo / math.log(2.0)

    @property
    def sign(self) -> float:
        """-1 if points fall as the probability of the positive class rises, else 1."""
        return -1.0 if self.direction == "lower_risk" else 1.0

    def line(self, slope: float, offset: float) -> tuple[float, float]:
        """Points as a function of the score: (points at score 0, points for each unit of score).

        ``slope`` and ``offset`` are those of the model's calibration, from a score to the log odds
        of the positive class.
        """
        start = self.base_score + self.factor * (self.sign * offset - math.log(self.odds))
        return start, self.factor * self.sign * slope

    def of_contributions(self, contributions: Any, slope: float) -> Floats:
        """Points for what features add to a model's score, such as the bars of an explanation.

        ``slope`` is that of the model's calibration.

        Examples
        --------
        >>> from auctor.models import PointScale
        >>> PointScale(pdo=20).of_contributions([0.5, -1.0], slope=2.0).round(2).tolist()
        [-28.85, 57.71]
        """
        return np.asarray(contributions, dtype=np.float64) * self.line(slope, 0.0)[1]

    def log_odds(self, points: Any) -> Floats:
        """The log odds of the positive class for points."""
        above = (np.asarray(points, dtype=np.float64) - self.base_score) / self.factor
        return self.sign * (above + math.log(self.odds))

    def probability(self, points: Any) -> Floats:
        """The probability of the positive class for points."""
        z = self.log_odds(points)
        decayed = np.exp(-np.abs(z))  # exp of a negative number only, so that nothing overflows
        return np.asarray(np.where(z >= 0, 1.0, decayed) / (1.0 + decayed))
