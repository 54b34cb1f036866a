"""What a learner guarantees of its training result, in a sentence and in numbers."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """A statement computed from the data, and the numbers in it."""

    statement: str
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.statement
