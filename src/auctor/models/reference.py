"""The reference of explanations: the average contribution of each term on the training rows."""

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.models.fields import Fields

TRAINING = "the average training row"


@dataclass(frozen=True, eq=False)
class Reference:
    """The average row that an explanation compares with. No training row is stored.

    Attributes
    ----------
    contributions : ndarray of shape (n_terms,)
        The weighted average over rows of what each term of the model adds to the score.
    name : str
        A description of the rows, such as "the average training row".

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> reference = RankBoost(n_estimators=5).fit(X, y).model_.reference
    >>> reference.name, [round(float(each), 3) for each in reference.contributions]
    ('the average training row', [0.422, 0.117, -0.691])
    """

    contributions: Floats
    name: str = TRAINING

    def __post_init__(self) -> None:
        self.contributions.flags.writeable = False

    def body(self) -> dict[str, Any]:
        """The reference as plain JSON values."""
        return {"name": self.name, "contributions": self.contributions.tolist()}

    def widened(self, positions: npt.NDArray[Any], n_features: int) -> "Reference":
        """The reference of the same model with more features, which add nothing.

        ``positions[j]`` is the index of feature j among all features. Surfaces still come last.

        Examples
        --------
        >>> import numpy as np
        >>> from auctor.models import Reference
        >>> Reference(np.array([1.0, 2.0, 9.0])).widened(np.array([2, 0]), 4).contributions.tolist()
        [2.0, 0.0, 1.0, 0.0, 9.0]
        """
        features = np.zeros(n_features)
        features[positions] = self.contributions[: len(positions)]
        return Reference(np.append(features, self.contributions[len(positions) :]), self.name)

    def plus(self, other: "Reference | None", contributions: Floats) -> "Reference | None":
        """The reference of a sum of two models, or None if the names of theirs differ."""
        is_same = other is not None and other.name == self.name
        return Reference(contributions, self.name) if is_same else None


def check_reference(reference: Reference | None, n_terms: int) -> None:
    """Raise a ValueError unless the reference has one average for each term of the model."""
    if reference is not None and len(reference.contributions) != n_terms:
        raise ValueError(
            f"reference has {len(reference.contributions)} contributions for {n_terms} terms; give "
            "one for each, or None"
        )


def read_reference(fields: Fields, n_terms: int) -> Reference | None:
    """Read the reference from a model file; None if there is none, as in old files."""
    if not fields.has("reference"):
        return None
    child = fields.child("reference")
    name, contributions = child.text("name"), child.terms("contributions")
    if len(contributions) != n_terms:
        raise child.fail("contributions", f"a list of {n_terms} numbers, one for each term")
    child.end()
    return Reference(contributions, name)


def weighted_mean(values: Floats, fraction: Floats) -> float:
    """The mean of values whose fractions of the weight are given (they add up to 1).

    The sum is rounded once, so that it does not depend on the order of the rows.

    Examples
    --------
    >>> weighted_mean(np.array([1e17, 4.0, -1e17]), np.array([0.25, 0.5, 0.25]))
    2.0
    """
    return fsum((values * fraction).tolist())
