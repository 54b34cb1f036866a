"""The nodes and constants of an ONNX graph under construction."""

from collections.abc import Collection
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

ML = "ai.onnx.ml"  # the domain of the operators for trees and categories
DOUBLE, FLOAT, INT32, INT64, BOOL, STRING = 11, 1, 6, 7, 9, 8  # onnx.TensorProto's data types


class Graph:
    """Collects nodes and constants, and gives a name to each result.

    Parameters
    ----------
    taken : collection of str
        Names of inputs and outputs, which no result may have.
    """

    def __init__(self, taken: Collection[str]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._number = count()
        self._prefix = "v"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"

    def _name(self) -> str:
        return f"{self._prefix}{next(self._number)}"

    def op(
        self, kind: str, *inputs: str, domain: str = "", result: str = "", **attributes: Any
    ) -> str:
        """Add a node with one result, and return the name of the result (``result`` if given)."""
        from onnx import helper

        result = result or self._name()
        self.nodes.append(
            helper.make_node(kind, list(inputs), [result], domain=domain, **attributes)
        )
        return result

    def split(self, matrix: str, n_columns: int) -> list[str]:
        """The columns of a matrix, each of shape [N, 1]."""
        from onnx import helper

        if n_columns == 1:
            return [matrix]
        names = [f"{self._name()}_{k}" for k in range(n_columns)]
        sizes = self.constant(np.ones(n_columns, dtype=np.int64))
        self.nodes.append(helper.make_node("Split", [matrix, sizes], names, axis=1))
        return names

    def largest(self, matrix: str, n_columns: int) -> str:
        """The largest values of each row, from the largest to the smallest."""
        from onnx import helper

        name, number = self._name(), self.constant(np.array([n_columns]))
        self.nodes.append(helper.make_node("TopK", [matrix, number], [name, f"{name}_at"]))
        return name

    def join(self, columns: list[str]) -> str:
        """The columns as a matrix."""
        return columns[0] if len(columns) == 1 else self.op("Concat", *columns, axis=1)

    def constant(self, values: npt.NDArray[Any]) -> str:
        """Add a constant, and return its name; equal constants are stored once."""
        from onnx import numpy_helper

        key = values.dtype.str, values.shape, values.tobytes()
        if values.dtype == object or key not in self._known:
            name = self._name()
            self.constants.append(numpy_helper.from_array(values, name))
            self._known[key] = name
        return self._known[key]

    def number(self, value: float) -> str:
        """A double of shape [1, 1]."""
        return self.constant(np.array([[value]]))
