"""What explanations compare with: the average contribution of each term on the training rows."""

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
    """The average row that an explanation compares with, as a file keeps it: no row is stored.

    Attributes
    ----------
    contributions : ndarray of shape (n_terms,)
        What each term of the model adds to the score on average, rows weighted by their weights.
    name : str
        Which rows that is the average of, in words.
    """

    contributions: Floats
    name: str = TRAINING

    def __post_init__(self) -> None:
        self.contributions.flags.writeable = False

    def body(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"name": self.name, "contributions": self.contributions.tolist()}

    def widened(self, places: npt.NDArray[Any], n_features: int) -> "Reference":
        """That of the same model over more features, of which the others add nothing.

        ``places[j]`` is where feature j stands among all of them; surfaces follow, as they did.

        Examples
        --------
        >>> Reference(np.array([1.0, 2.0, 9.0])).widened(np.array([2, 0]), 4).contributions.tolist()
        [2.0, 0.0, 1.0, 0.0, 9.0]
        """
        features = np.zeros(n_features)
        features[places] = self.contributions[: len(places)]
        return Reference(np.append(features, self.contributions[len(places) :]), self.name)

    def plus(self, other: "Reference | None", contributions: Floats) -> "Reference | None":
        """The reference of a sum of two models; None where both do not say the same of theirs."""
        is_same = other is not None and other.name == self.name
        return Reference(contributions, self.name) if is_same else None


def check_reference(reference: Reference | None, n_terms: int) -> None:
    """A model's terms and its averages must be as many: a model may be made of parts of others."""
    if reference is not None and len(reference.contributions) != n_terms:
        raise ValueError(
            f"reference has {len(reference.contributions)} contributions for {n_terms} terms; give "
            "one for each, or None"
        )


def read_reference(fields: Fields, n_terms: int) -> Reference | None:
    """The reference of a file; None where it has none, as in files of earlier releases."""
    if not fields.has("reference"):
        return None
    child = fields.child("reference")
    name, contributions = child.text("name"), child.terms("contributions")
    if len(contributions) != n_terms:
        raise child.fail("contributions", f"a list of {n_terms} numbers, one per term")
    child.end()
    return Reference(contributions, name)


def weighted_mean(values: Floats, share: Floats) -> float:
    """The sum of values times shares that add up to 1, rounded once: no order of rows shows.

    Examples
    --------
    >>> weighted_mean(np.array([1e17, 4.0, -1e17]), np.array([0.25, 0.5, 0.25]))
    2.0
    """
    return fsum((values * share).tolist())
