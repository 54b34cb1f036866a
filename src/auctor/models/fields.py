"""Reads the fields of a model file one by one; a ValueError names the field that is wrong."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from auctor._typing import Floats


class Fields:
    """A JSON object whose fields are read by name and type, each of them once."""

    def __init__(self, value: Any, path: str = "") -> None:
        if not isinstance(value, dict):
            where = f"field '{path.removesuffix('.')}'" if path else "the file"
            raise ValueError(f"model file: {where} must be an object")
        self._left = dict(value)
        self._path = path

    def fail(self, name: str, wanted: str) -> ValueError:
        """The error for a field that is not what it should be."""
        return ValueError(f"model file: field '{self._path}{name}' must be {wanted}")

    @property
    def path(self) -> str:
        """Where in the file this object is, such as ``body.features[0].``."""
        return self._path

    def has(self, name: str) -> bool:
        """Whether there is a field of this name that was not read yet."""
        return name in self._left

    def names(self) -> list[str]:
        """The names of the fields that were not read yet."""
        return list(self._left)

    def take(self, name: str) -> Any:
        """A field of any type; each field can be read once."""
        if name not in self._left:
            raise ValueError(f"model file: field '{self._path}{name}' is missing")
        return self._left.pop(name)

    def end(self) -> None:
        """Raise an error if there is a field that was not read."""
        if self._left:
            name = sorted(map(str, self._left))[0]
            raise ValueError(f"model file: field '{self._path}{name}' is unknown")

    def text(self, name: str) -> str:
        value = self.take(name)
        if not isinstance(value, str):
            raise self.fail(name, "text")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.take(name)
        if not isinstance(value, str) or value not in choices:
            raise self.fail(name, f"one of {', '.join(choices)}")
        return value

    def integer(self, name: str) -> int:
        value = self.take(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fail(name, "a whole number")
        return value

    def number(self, name: str) -> float:
        """A number below 1e300 in size."""
        return self._as_term(self.take(name), name)

    def _as_term(self, value: Any, name: str) -> float:
        number = self.as_number(value, name)
        # Scores are sums of such numbers, which must not overflow.
        if not abs(number) < 1e300:
            raise self.fail(name, "a finite number below 1e300")
        return number

    def as_number(self, value: Any, name: str) -> float:
        """A value that was taken already, as a finite number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fail(name, "a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fail(name, "a finite number")
        return number

    def items(self, name: str) -> list[Any]:
        value = self.take(name)
        if not isinstance(value, list):
            raise self.fail(name, "a list")
        return value

    def terms(self, name: str) -> Floats:
        """A list of numbers below 1e300 in size, as a float64 array."""
        terms = [self._as_term(value, f"{name}[{i}]") for i, value in enumerate(self.items(name))]
        return np.array(terms, dtype=np.float64)

    def increasing(self, name: str) -> Floats:
        """A list of finite numbers, each larger than the one before, as a float64 array."""
        values = [self.as_number(value, f"{name}[{i}]") for i, value in enumerate(self.items(name))]
        if any(low >= high for low, high in pairwise(values)):
            raise self.fail(name, "in increasing order")
        return np.array(values, dtype=np.float64)

    def scalars(self, name: str) -> tuple[str | int | float | bool, ...]:
        """A list of texts, or of numbers and booleans, without repetitions."""
        values = self.items(name)
        for i, value in enumerate(values):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.as_number(value, f"{name}[{i}]")
            elif not isinstance(value, (str, bool)):
                raise self.fail(f"{name}[{i}]", "text, a number or a boolean")
        if len({isinstance(value, str) for value in values}) > 1:
            raise self.fail(name, "a list of one type")
        if len(set(values)) < len(values):
            raise self.fail(name, "a list without repetitions")
        return tuple(values)

    def children(self, name: str) -> list["Fields"]:
        """A field that is a list of JSON objects."""
        return [
            Fields(value, f"{self._path}{name}[{i}].") for i, value in enumerate(self.items(name))
        ]

    def child(self, name: str) -> "Fields":
        """A field that is a JSON object."""
        return Fields(self.take(name), f"{self._path}{name}.")
