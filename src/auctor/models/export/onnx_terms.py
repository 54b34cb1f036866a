"""The terms of a plan as nodes of an ONNX graph; every result is double of shape [N, 1]."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from auctor._typing import Floats
from auctor.data.features import Category
from auctor.models.export import plan as p
from auctor.models.export.onnx_ensemble import exact_sum, leaf_numbers, leaf_values
from auctor.models.export.onnx_graph import DOUBLE, INT64, Graph
from auctor.models.export.onnx_trees import Branch, Tree

# Number of the code of each category of an input; code 0 is for all other values.
Codes = Mapping[Category, int]


class Columns:
    """The columns of the rows as doubles, and what their values mean.

    Parameters
    ----------
    names : mapping of int to str
        Index of an input of the plan -> its column in the graph: the numbers, NaN where missing,
        or the codes of the categories.
    codes : mapping of int to mapping
        Index of a categorical input -> the codes of its categories.
    """

    def __init__(self, graph: Graph, names: Mapping[int, str], codes: Mapping[int, Codes]) -> None:
        self.names, self.codes = names, codes
        self._graph = graph
        self._joined: dict[tuple[int, ...], str] = {}

    def join(self, inputs: Sequence[int]) -> str:
        """The columns of some inputs as a matrix [N, inputs]."""
        key = tuple(inputs)
        if key not in self._joined:
            self._joined[key] = self._graph.join([self.names[j] for j in key])
        return self._joined[key]

    @cached_property
    def zeros(self) -> str:
        """A column of zeros [N, 1]."""
        first = self.names[min(self.names)]
        is_missing = self._graph.op("IsNaN", first)
        never = self._graph.op("And", is_missing, self._graph.op("Not", is_missing))
        return self._graph.op("Cast", never, to=DOUBLE)


class Translator:
    """Adds the nodes that compute terms of a plan to a graph."""

    def __init__(self, graph: Graph, columns: Columns) -> None:
        self._graph, self._columns = graph, columns

    def column(self, term: p.Term) -> str:
        """The values of a term."""
        return self.columns_of([term])[0]

    def columns_of(self, terms: Sequence[p.Term]) -> list[str]:
        """The values of several terms; those of all slopes are computed together."""
        slopes = [term for term in terms if isinstance(term, p.Slope)]
        products = iter(self._slopes(slopes) if slopes else [])
        return [
            next(products) if isinstance(term, p.Slope) else self._column(term) for term in terms
        ]

    def _column(self, term: p.Term) -> str:
        graph = self._graph
        match term:
            case p.Constant(value):
                return graph.op("Add", self._columns.zeros, graph.number(value))
            case p.Steps():
                return self._steps([term])
            case p.Grid():
                return self._grid(term)
            case p.Tree():
                return self._forest(p.Forest((term,), "sum"))
            case p.Forest():
                return self._forest(term)
            case p.Program():
                return self._program(term)
            case p.Sum(terms):
                return self._sum(terms)
            case p.Times(part, weight):
                product = graph.op("Mul", self.column(part), graph.number(weight))
                return self._clip(product)
            case p.Rounded(part, grid, bound):
                return self._rounded(self.column(part), grid, bound)
        raise TypeError(f"{term!r} is not a term of a plan")

    def _sum(self, terms: Sequence[p.Term]) -> str:
        """The operator Sum adds from the first term to the last, as the model does."""
        own = iter(self.columns_of([term for term in terms if not isinstance(term, p.Constant)]))
        parts = [
            self._graph.number(term.value) if isinstance(term, p.Constant) else next(own)
            for term in terms
        ]
        if all(isinstance(term, p.Constant) for term in terms):
            parts.insert(0, self._columns.zeros)
        return self._graph.op("Sum", *parts)

    def _clip(self, values: str, largest: float = p.LARGEST_TERM) -> str:
        bound = np.array(largest)
        return self._graph.op(
            "Clip", values, self._graph.constant(-bound), self._graph.constant(bound)
        )

    def _rounded(self, values: str, grid: float, bound: float) -> str:
        graph = self._graph
        whole = graph.op("Round", graph.op("Div", values, graph.number(grid)))
        is_small = graph.op("Less", graph.op("Abs", values), graph.number(bound))
        return graph.op("Where", is_small, graph.op("Mul", whole, graph.number(grid)), values)

    def _slopes(self, slopes: Sequence[p.Slope]) -> list[str]:
        graph = self._graph
        rows = self._columns.join([slope.input for slope in slopes])
        weights, missing = (
            graph.constant(np.array([[getattr(slope, name) for slope in slopes]]))
            for name in ("weight", "missing")
        )
        # An infinite number times a weight of 0 would be NaN.
        finite = self._clip(rows, p.LARGEST_NUMBER)
        products = self._clip(graph.op("Mul", finite, weights))
        parts = graph.op("Where", graph.op("IsNaN", rows), missing, products)
        return graph.split(parts, len(slopes))

    def _steps(self, steps: Sequence[p.Steps]) -> str:
        """The values of several steps as a matrix [N, steps]."""
        inputs = sorted({step.bins.input for step in steps})
        values, trees = _Values(), []
        for step in steps:
            tree = Tree()
            leaves = [tree.leaf(values.index(value)) for value in step.values]
            tree.root = self._search(tree, step.bins, leaves, inputs.index(step.bins.input))
            trees.append(tree)
        return leaf_values(self._graph, self._columns.join(inputs), trees, values.array)

    def _search(self, tree: Tree, bins: p.Bins, children: list[int], column: int) -> int:
        """Add the search of a bin to a tree; ``children`` has a node for each bin."""
        if bins.categories is None:
            return tree.search(column, bins.cuts, children[1:], children[0])
        # Codes without a bin here are those of other terms, or of values that stand for missing.
        by_code = [children[0]] * (len(self._columns.codes[bins.input]) + 1)
        for category, child in zip(bins.categories, children[1:], strict=True):
            by_code[self._columns.codes[bins.input].get(category, 0)] = child
        by_code[0] = children[0]
        return tree.search(column, _between_codes(len(by_code)), by_code, None)

    def _grid(self, grid: p.Grid) -> str:
        graph = self._graph
        axes = []
        for bins in (grid.first, grid.second):
            tree = Tree()
            leaves = [tree.leaf(number) for number in range(bins.n_bins)]
            tree.root = self._search(tree, bins, leaves, 0)
            column = self._columns.names[bins.input]
            axes.append(
                graph.op("Cast", leaf_numbers(graph, column, [tree], bins.n_bins), to=INT64)
            )
        width = graph.constant(np.array([[grid.second.n_bins]]))
        cell = graph.op("Add", graph.op("Mul", axes[0], width), axes[1])
        return graph.op("Gather", graph.constant(np.array(grid.values).ravel()), cell)

    def _forest(self, forest: p.Forest) -> str:
        inputs = sorted(set(p.inputs_of(forest))) or [min(self._columns.names)]
        column_of = {j: k for k, j in enumerate(inputs)}
        values = _Values()
        trees = [self._tree(tree, column_of, values) for tree in forest.trees]
        rows, n_trees = self._columns.join(inputs), len(trees)
        if forest.aggregate == "median":
            return self._median(leaf_values(self._graph, rows, trees, values.array), n_trees)
        total = exact_sum(self._graph, rows, trees, values.array) if n_trees > 1 else None
        if total is None:
            parts = self._graph.split(leaf_values(self._graph, rows, trees, values.array), n_trees)
            total = self._graph.op("Sum", *parts)
        if forest.aggregate == "sum":
            return total
        return self._graph.op("Div", total, self._graph.number(float(n_trees)))

    def _tree(self, tree: p.Tree, column_of: Mapping[int, int], values: "_Values") -> Tree:
        out, number_of = Tree(), {}
        # Children come after their parents.
        for k, node in reversed(list(enumerate(tree.nodes))):
            match node:
                case p.Leaf(value):
                    number_of[k] = out.leaf(values.index(value))
                case p.NumberNode(j, cut, below, above, missing):
                    children = [number_of[child] for child in (below, above, missing)]
                    number_of[k] = _number_test(out, column_of[j], cut, *children)
                case p.CategoryNode(j, categories, inside, outside):
                    codes = self._columns.codes[j]
                    by_code = [number_of[outside]] * (len(codes) + 1)
                    for category in categories:
                        if category in codes:
                            by_code[codes[category]] = number_of[inside]
                    cuts = _between_codes(len(by_code))
                    number_of[k] = out.search(column_of[j], cuts, by_code, None)
        out.root = number_of[0]
        return out

    def _median(self, ranks: str, n_trees: int) -> str:
        """The mean of the two ranks in the middle, which are the same one for an odd number."""
        graph = self._graph
        largest = graph.largest(ranks, n_trees // 2 + 1)
        places = np.array([n_trees // 2, n_trees - 1 - n_trees // 2])  # from the largest one
        middle = graph.split(graph.op("Gather", largest, graph.constant(places), axis=1), 2)
        return graph.op("Div", graph.op("Add", *middle), graph.number(2.0))

    def _program(self, program: p.Program) -> str:
        """The probability of each node of a layer is carried to the next layer."""
        graph, zeros = self._graph, self._columns.zeros
        here, parts = graph.op("Add", zeros, graph.number(1.0)), [zeros]
        for gates in _layers(program):
            parts += self._leaving(here, gates)
            # Rows that leave go neither left nor right.
            stays = np.array([[float(isinstance(gate, p.Steps)) for gate in gates]])
            here = graph.op("Mul", here, graph.constant(stays)) if not stays.all() else here
            goes = graph.op("Mul", here, self._right(gates))
            left = graph.join([graph.op("Sub", here, goes), zeros])
            here = graph.op("Add", left, graph.join([zeros, goes]))
        ends = graph.op("Mul", here, graph.constant(np.array([program.final])))
        return graph.op("Sum", *parts, *graph.split(ends, len(program.final)))

    def _leaving(self, here: str, gates: Sequence[p.Steps | p.Constant]) -> Iterator[str]:
        """What rows add that leave at the gates of a layer, from the right to the left."""
        graph = self._graph
        for i in reversed(range(len(gates))):
            gate = gates[i]
            if isinstance(gate, p.Constant):
                chance = graph.op("Gather", here, graph.constant(np.array([i])), axis=1)
                yield graph.op("Mul", chance, graph.number(gate.value))

    def _right(self, gates: Sequence[p.Steps | p.Constant]) -> str:
        """The probability of going right at each gate of a layer, 0 where rows leave."""
        steps = [gate for gate in gates if isinstance(gate, p.Steps)]
        columns = iter(self._graph.split(self._steps(steps), len(steps)) if steps else [])
        zeros = self._columns.zeros
        return self._graph.join(
            [next(columns) if isinstance(gate, p.Steps) else zeros for gate in gates]
        )


class _Values:
    """Numbers that are referred to by their index; equal numbers have the same one."""

    def __init__(self) -> None:
        self._index: dict[float, int] = {}

    def index(self, value: float) -> int:
        return self._index.setdefault(value, len(self._index))

    @property
    def array(self) -> Floats:
        return np.array(list(self._index), dtype=np.float64)


def _number_test(tree: Tree, column: int, cut: float, below: int, above: int, missing: int) -> int:
    """Add the test of a number; where missing values go elsewhere, two tests are needed."""
    if missing in (below, above):
        if below == above:
            return below
        return tree.add(Branch(column, cut, below, above, missing == below))
    return tree.search(column, [cut], [below, above], missing)


def _between_codes(n_codes: int) -> list[float]:
    """Cuts between the codes 0, 1, ..., n_codes - 1."""
    return [code + 0.5 for code in range(n_codes - 1)]


def _layers(program: p.Program) -> Iterator[tuple[p.Steps | p.Constant, ...]]:
    first = 0
    for size in range(1, program.n_layers + 1):
        yield program.gates[first : first + size]
        first += size
