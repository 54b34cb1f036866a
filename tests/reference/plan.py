"""The score of one row by a plan, slow and obvious: what every export must compute."""

import math
from bisect import bisect_left, bisect_right
from statistics import median

from auctor.models.export import plan as p


def value_of(column, value):
    """The value of an input, or None if it is missing."""
    if value is None or value != value or value in column.missing_codes:
        return None
    return float(value) if column.kind == "number" else value


def read_row(plan, row):
    """The values of the inputs, in order; a row is a dict."""
    return [value_of(column, row[column.name]) for column in plan.inputs]


def bin_of(bins, values):
    value = values[bins.input]
    if value is None:
        return 0
    if bins.categories is None:
        return 1 + bisect_left(bins.cuts, value)
    return 1 + bins.categories.index(value) if value in bins.categories else 0


def leaf_of(tree, values):
    node = tree.nodes[0]
    while not isinstance(node, p.Leaf):
        value = values[node.input]
        if isinstance(node, p.CategoryNode):
            is_inside = value is not None and value in node.categories
            child = node.inside if is_inside else node.outside
        elif value is None:
            child = node.missing
        else:
            child = node.below if value <= node.cut else node.above
        node = tree.nodes[child]
    return node.value


def expected_value(program, values):
    chance, total, first = [1.0] + [0.0] * program.n_layers, 0.0, 0
    for layer in range(1, program.n_layers + 1):
        for i in reversed(range(layer)):
            gate = program.gates[first + i]
            if isinstance(gate, p.Constant):
                total += chance[i] * gate.value
                chance[i] = 0.0
            else:
                goes = chance[i] * evaluate(gate, values)
                chance[i + 1] += goes
                chance[i] -= goes
        first += layer
    for here, value in zip(chance, program.final, strict=True):
        total += here * value
    return total


def added(numbers):
    total = numbers[0]
    for number in numbers[1:]:
        total += number
    return total


def clipped(value):
    return min(max(value, -p.LARGEST_TERM), p.LARGEST_TERM)


def evaluate(term, values):
    """The value of a term for a row that ``read_row`` returned."""
    match term:
        case p.Constant(value):
            return value
        case p.Steps(bins, steps):
            return steps[bin_of(bins, values)]
        case p.Grid(first, second, table):
            return table[bin_of(first, values)][bin_of(second, values)]
        case p.Slope(j, weight, missing):
            return missing if values[j] is None else clipped(weight * values[j])
        case p.Tree():
            return leaf_of(term, values)
        case p.Forest(trees, aggregate):
            leaves = [leaf_of(tree, values) for tree in trees]
            if aggregate == "median":
                return median(leaves)
            return added(leaves) / (len(leaves) if aggregate == "mean" else 1)
        case p.Program():
            return expected_value(term, values)
        case p.Sum(terms):
            return added([evaluate(part, values) for part in terms])
        case p.Rounded(part, grid, bound):
            value = evaluate(part, values)
            return round(value / grid) * grid if abs(value) < bound else value
        case p.Times(part, weight):
            return clipped(weight * evaluate(part, values))
    raise TypeError(f"{term!r} is not a term of a plan")


def probability(plan, score):
    """The probability of the positive class for a score."""
    rule = plan.probability
    if isinstance(rule, p.Lookup):
        return rule.probabilities[max(bisect_right(rule.scores, score) - 1, 0)]
    z = rule.slope * score + rule.offset
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def score_row(plan, row):
    """Score, probability and label of a row, and its contributions by name or None."""
    values = read_row(plan, row)
    score = evaluate(plan.score, values)
    label = plan.classes[1] if score >= plan.threshold else plan.classes[0]
    return score, probability(plan, score), label, contributions(plan, values, score)


def contributions(plan, values, score):
    if plan.explained is None:
        return None
    adds = [evaluate(term.adds, values) for term in plan.explained.terms]
    largest = max(range(len(adds)), key=lambda k: abs(adds[k]))
    for _ in range(2):  # what rounding has left over
        adds[largest] += score - (plan.explained.constant + added(adds))
    pairs = zip(plan.explained.terms, adds, strict=True)
    return {term.name: value - term.average for term, value in pairs}
