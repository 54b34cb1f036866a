"""Plan: how a model scores one row, as plain data that knows no form of model.

Every form of model describes its score by the few kinds of terms that are defined here, and every
export (SQL, Python, JavaScript, ONNX) translates each kind of term once. Numbers are Python floats
with the exact values of the model, and the terms are in the order in which the model adds them up.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from auctor.data.features import Category, Feature

# The largest product in a score, as in model files; a sum of such terms does not overflow.
LARGEST_TERM = 1e300
# What an infinite number counts as in engines that let it pass (SQL, ONNX); others refuse it.
LARGEST_NUMBER = sys.float_info.max


class Input(NamedTuple):
    """A column that the model reads.

    A value is missing if it is NULL or NaN, or equal to one of ``missing_codes``. The values of a
    "number" are float64 (booleans count as 0 and 1, whole numbers are rounded to float64), those of
    a "text" are strings, and those of a "code" are numbers or booleans that are compared for
    equality only. A category that no term lists is treated as a missing value. ``categories`` has
    those of the training rows, which tell the type of a "code".
    """

    name: str
    kind: Literal["number", "text", "code"]
    missing_codes: tuple[Category, ...] = ()
    categories: tuple[Category, ...] = ()


@dataclass(frozen=True)
class Bins:
    """The bins of an input; bin 0 is for missing values and unknown categories.

    A number has the bins 1 to ``len(cuts) + 1``: a value equal to a cut is in the bin below it. A
    category has one bin for each entry of ``categories``, which is None for numbers.
    """

    input: int  # index among the inputs of the plan
    cuts: tuple[float, ...] = ()
    categories: tuple[Category, ...] | None = None

    @property
    def is_category(self) -> bool:
        return self.categories is not None

    @property
    def n_bins(self) -> int:
        """Number of bins, with bin 0."""
        return 1 + (len(self.cuts) + 1 if self.categories is None else len(self.categories))


@dataclass(frozen=True)
class Constant:
    """A number that does not depend on the row."""

    value: float


@dataclass(frozen=True)
class Steps:
    """A value for each bin of one input."""

    bins: Bins
    values: tuple[float, ...]


@dataclass(frozen=True)
class Grid:
    """A value for each pair of bins of two inputs: ``values[first bin][second bin]``."""

    first: Bins
    second: Bins
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Slope:
    """``weight`` times a number, at most ``LARGEST_TERM`` in size; ``missing`` if it is missing."""

    input: int
    weight: float
    missing: float


@dataclass(frozen=True)
class NumberNode:
    """An inner node of a tree: its children (indices of nodes) for x <= cut, x > cut, missing."""

    input: int
    cut: float
    below: int
    above: int
    missing: int


@dataclass(frozen=True)
class CategoryNode:
    """An inner node of a tree: its children for the categories of a set, and for other values.

    Missing values and unknown categories are never in the set.
    """

    input: int
    categories: tuple[Category, ...]
    inside: int
    outside: int


@dataclass(frozen=True)
class Leaf:
    value: float


Node = NumberNode | CategoryNode | Leaf


@dataclass(frozen=True)
class Tree:
    """The value of the leaf of a row. Node 0 is the root, and children come after their parents.

    A node may be the child of several nodes, so that a leaf can be a union of boxes.
    """

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Forest:
    """The sum, mean or median over trees. The sum is in the order of the trees.

    The median of an even number of trees is the mean of the two values in the middle.
    """

    trees: tuple[Tree, ...]
    aggregate: str  # "sum", "mean" or "median"


@dataclass(frozen=True)
class Program:
    """The expected value of the node where a row leaves a branching program.

    Layer t = 1, 2, ... has t nodes, and ``gates`` has those of all layers in order. A gate is the
    probability of going right, or a constant: the value of the rows that leave there. Left leads
    from node i of a layer to node i of the next one, right to node i + 1. ``final`` has the values
    of the nodes below the last layer. Within a layer the nodes are worked off from the right.
    """

    gates: tuple[Steps | Constant, ...]
    final: tuple[float, ...]

    @property
    def n_layers(self) -> int:
        return len(self.final) - 1


@dataclass(frozen=True)
class Sum:
    """The sum of terms, added from the first to the last."""

    terms: tuple["Term", ...]


@dataclass(frozen=True)
class Rounded:
    """A term rounded to a multiple of ``grid`` (half to even) if it is below ``bound`` in size."""

    term: "Term"
    grid: float
    bound: float


@dataclass(frozen=True)
class Times:
    """``weight`` times a term, at most ``LARGEST_TERM`` in size."""

    term: "Term"
    weight: float


Term = Constant | Steps | Grid | Slope | Tree | Forest | Program | Sum | Rounded | Times


class Logistic(NamedTuple):
    """Probability of the positive class: 1 / (1 + exp(-(slope * score + offset)))."""

    slope: float
    offset: float


class Lookup(NamedTuple):
    """Probability of the positive class: that of the largest of ``scores`` up to the row's score.

    ``scores`` increase; a row below all of them has the first probability.
    """

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]


class ExplainedTerm(NamedTuple):
    """A term of an explanation: its name, the terms that it sums, and their average.

    ``adds`` is compared with ``average``, what it adds to the average training row.
    """

    name: str
    inputs: tuple[int, ...]
    adds: Term
    average: float


class Explained(NamedTuple):
    """How a row's score is explained: score = base + sum over terms of (adds - average).

    Each ``adds`` is rounded as the score is; what rounding leaves over, usually 0, belongs to the
    term of the largest size, the first of them if there are several.
    """

    reference: str  # the name of the average row
    constant: float  # the score of a row to which no term adds anything
    base: float  # the score of the average row
    terms: tuple[ExplainedTerm, ...]


@dataclass(frozen=True)
class Plan:
    """How a model scores one row.

    A row whose score is at or above ``threshold`` is predicted to be ``classes[1]``, others
    ``classes[0]``. ``explained`` is None for models whose score is not a sum of terms with one or
    two features each, or that have nothing to compare a row with.
    """

    inputs: tuple[Input, ...]
    score: Term
    probability: Logistic | Lookup
    threshold: float
    classes: tuple[Category, Category]
    explained: Explained | None = None

    @property
    def used(self) -> tuple[int, ...]:
        """Indices of the inputs that some term reads."""
        return tuple(sorted(set(inputs_of(self.score))))


def bins_of(feature: Feature, j: int) -> Bins:
    """The bins of a model's feature, which is input j."""
    if feature.is_category:
        return Bins(j, categories=feature.categories)
    return Bins(j, tuple(feature.cuts.tolist()))


def make_input(column: Any, missing_codes: tuple[Category, ...]) -> Input:
    """The input of a column of a model: a `Feature`, or a term of a linear model."""
    if not column.is_category:
        numbers = (float(code) for code in missing_codes if not isinstance(code, str))
        return Input(column.name, "number", tuple(numbers))
    is_text = not column.categories or isinstance(column.categories[0], str)
    codes = tuple(code for code in missing_codes if isinstance(code, str) == is_text)
    return Input(column.name, "text" if is_text else "code", codes, tuple(column.categories))


def simplified(term: Term) -> Term:
    """The same term, in which what is equal for all rows is a constant that reads no input."""
    match term:
        case Steps(_, values) if len(set(values)) == 1:
            return Constant(values[0])
        case Grid(_, _, rows) if len({value for row in rows for value in row}) == 1:
            return Constant(rows[0][0])
        case Slope(_, 0.0, 0.0):
            return Constant(0.0)
        case Sum(terms):
            return Sum(tuple(map(simplified, terms)))
        case Rounded(part, grid, bound):
            return Rounded(simplified(part), grid, bound)
        case Times(part, weight):
            return Times(simplified(part), weight)
    return term


def inputs_of(term: Term) -> Iterator[int]:
    """The indices of the inputs that a term reads, with repetitions."""
    match term:
        case Steps():
            yield term.bins.input
        case Grid():
            yield term.first.input
            yield term.second.input
        case Slope():
            yield term.input
        case Tree():
            yield from (node.input for node in term.nodes if not isinstance(node, Leaf))
        case Forest():
            for tree in term.trees:
                yield from inputs_of(tree)
        case Program():
            for gate in term.gates:
                yield from inputs_of(gate)
        case Sum():
            for part in term.terms:
                yield from inputs_of(part)
        case Rounded() | Times():
            yield from inputs_of(term.term)
