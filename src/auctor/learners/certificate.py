"""Certificates: what a learner guarantees for its training result, in words and in numbers."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """A statement that was computed from the training data, and the numbers in it.

    Examples
    --------
    >>> certificate = Certificate("The training AUC is at least 0.7.", {"bound": 0.7})
    >>> print(certificate)
    The training AUC is at least 0.7.
    >>> certificate.values["bound"]
    0.7
    """

    statement: str
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.statement
