"""Random models of every form and rows that lie at their thresholds, for tests of exports."""

import math

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from auctor.data import category_feature, number_feature
from auctor.kernels.program import Nodes
from auctor.kernels.trees import TreeNodes
from auctor.models import (
    AdditiveModel,
    Calibration,
    ForestModel,
    LinearModel,
    LinearTerm,
    ProgramModel,
    Reference,
    Surface,
    TreeModel,
    sum_models,
)
from auctor.testing.strategies import EXTREMES

# Upper and lower case of no two names are equal, since databases do not distinguish them.
NAMES = (
    "select", 'a"b', "it's", "Ärger ß", "1", "with space", "a.b", "{0} %s", "back\\slash", "😀", ";--",
    "auctor_0", "__proto__", "constructor", "line\nbreak", "score",
)  # fmt: skip
TOWNS = ("", "a'b", "Ärger", "1", "NULL", " a", "back\\slash", 'q"', "{}", "nan")
KINDS = ("double", "float", "int64", "bool", "text", "code", "half")
CLASSES = (("no", "yes"), (0, 1), (False, True), ("it's", 'ü"\\'), (-1.5, 2.25))
FORMS = ("additive", "linear", "tree", "forest", "median", "program", "sum")
_BIG = 2**53 + 1


class Case:
    """Columns of all kinds with random bins, and models of all forms over them."""

    def __init__(self, draw):
        self._rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        names = draw(st.permutations(NAMES))[: len(KINDS)]
        numbers = st.one_of(
            st.sampled_from(EXTREMES),
            st.floats(-1e3, 1e3),
            st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-3, 3).map(float),
        )
        self.pool = draw(st.lists(numbers, min_size=2, max_size=8))
        self.features = tuple(map(self.feature, KINDS, names))
        self.classes = draw(st.sampled_from(CLASSES))
        self.codes = {names[0]: (-9, float(self.pool[0])), names[4]: ("NULL",), names[5]: (2,)}

    def feature(self, kind, name):
        rng = self._rng
        if kind == "text":
            return category_feature(name, tuple(rng.permutation(TOWNS)[:6].tolist()))
        if kind == "code":
            return category_feature(name, (0, 1, 2, 7))
        if kind == "half":
            return category_feature(name, (-0.5, 0.1, 3))
        pools = {
            "double": self.pool,
            "float": [float(np.float32(v)) for v in self.pool if abs(v) < 1e38],
            "int64": [float(_BIG - 1), 3.0, -0.5],
            "bool": [0.5],
        }
        return number_feature(name, np.unique(np.array(pools[kind], dtype=np.float64) + 0.0))

    def table(self, n_rows=40):
        """Rows at the cuts, beside them, missing, of unknown categories, and extreme."""
        columns = {
            feature.name: self._column(kind, feature, n_rows)
            for kind, feature in zip(KINDS, self.features, strict=True)
        }
        return pa.table(columns)

    def _column(self, kind, feature, n_rows):
        near = [math.nextafter(c, side) for c in feature.cuts for side in (-math.inf, math.inf)]
        cuts = feature.cuts.tolist()
        doubles = [v for v in (*cuts, *near, *EXTREMES, -9.0, np.nan) if not np.isinf(v)]
        values, dtype = {
            "double": (doubles, pa.float64()),
            "float": ([v for v in doubles if not abs(v) > 1e38], pa.float32()),
            "int64": ([_BIG, _BIG - 1, _BIG - 2, 3, 4, -1, 2**62, -(2**63)], pa.int64()),
            "bool": ([True, False], pa.bool_()),
            "text": ([*TOWNS, "unknown", "A"], pa.string()),
            "code": ([0, 1, 2, 7, 8, -1, _BIG], pa.int64()),
            "half": ([-0.5, 0.1, 3.0, float(np.float32(0.1)), np.nan], pa.float64()),
        }[kind]
        chosen = [
            None if self._rng.random() < 0.1 else values[k]
            for k in self._rng.integers(len(values), size=n_rows)
        ]
        return pa.array(chosen, dtype)

    def _steps(self, size):
        """Terms on the grid of scores, some of them equal."""
        return (
            self._rng.integers(-(2**34), 2**34, size=size) // self._rng.choice([1, 2**33]) / 2**32
        )

    @property
    def _shared(self):
        calibration = Calibration(float(self._rng.choice([1e-3, 1.7, 300.0])), -0.3)
        return self.classes, float(self._steps(1)[0]), calibration

    def model(self, form):
        model = getattr(self, form)()
        object.__setattr__(model, "missing_codes", self.codes)
        return model

    def additive(self):
        steps = tuple(self._steps(feature.n_bins + 1) for feature in self.features)
        pairs = [(0, 4), (3, 1), (5, 6)]
        surfaces = tuple(
            Surface(
                pair,
                (self.features[pair[0]], self.features[pair[1]]),
                self._steps([self.features[j].n_bins + 1 for j in pair]),
            )
            for pair in pairs
        )
        reference = Reference(self._steps(len(self.features) + len(pairs)))
        return AdditiveModel(*self._shared, self.features, steps, 0.1, surfaces, reference)

    def linear(self):
        rng = self._rng
        columns = tuple(
            LinearTerm(f.name, 0.0, 0.25, f.categories, tuple(rng.normal(size=f.n_bins).tolist()))
            if f.is_category
            else LinearTerm(f.name, float(rng.choice([0.0, 1e-9, 0.3, -7.0, 1e3])), 0.1)
            for f in self.features
        )
        return LinearModel(*self._shared, columns, 0.1, Reference(self._steps(len(columns))))

    def _nodes(self, n_inner, n_leaves):
        """Nodes whose children are any later nodes, so that paths meet again."""
        rng, n = self._rng, n_inner + n_leaves
        columns = np.full((7, n), -1, dtype=np.int64)
        feature, cut, above, missing, start, left, right = columns
        table = []
        for k in range(n_inner):
            feature[k] = j = rng.integers(len(self.features))
            n_bins = self.features[j].n_bins
            cut[k], above[k], missing[k] = rng.integers(n_bins), rng.integers(2), rng.integers(2)
            if self.features[j].is_category:
                start[k] = len(table)
                table += rng.integers(0, 2, size=n_bins + 1).tolist()
            # The next node is always a child, so that all inner nodes are reached.
            children = [k + 1, int(rng.integers(k + 1, n))]
            left[k], right[k] = children if rng.random() < 0.5 else children[::-1]
        for column in (cut, above, missing):
            column[n_inner:] = 0
        return TreeNodes(
            feature, cut, above, missing, start, np.array(table, dtype=np.int64), left, right
        )

    def tree(self):
        nodes = self._nodes(9, 5)
        n = len(nodes.feature)
        value = self._rng.permutation(n) / 8
        is_cell, zeros = np.ones(n, dtype=np.bool_), np.zeros((2, n))
        probability = value / value.max()
        return TreeModel(
            *self._shared, self.features, nodes, is_cell, *zeros, value, probability, 0.1
        )

    def forest(self, aggregate="mean", n_trees=5):
        trees = [self._nodes(int(self._rng.integers(0, 8)), 4) for _ in range(n_trees)]
        return self.forest_of(trees, aggregate)

    def forest_of(self, trees, aggregate):
        sizes = [len(nodes.feature) for nodes in trees]
        roots = np.cumsum([0, *sizes[:-1]])
        tables = np.cumsum([0, *(len(nodes.table) for nodes in trees[:-1])])
        moved = [
            nodes._replace(
                start=np.where(nodes.start >= 0, nodes.start + table, -1),
                left=np.where(nodes.left >= 0, nodes.left + root, -1),
                right=np.where(nodes.right >= 0, nodes.right + root, -1),
            )
            for nodes, root, table in zip(trees, roots, tables, strict=True)
        ]
        nodes = TreeNodes(*map(np.concatenate, zip(*moved, strict=True)))
        rank = self._rng.integers(0, 2**20, size=sum(sizes)) / 2**20
        importance = np.ones(len(self.features)) / len(self.features)
        shared = self._shared
        return ForestModel(*shared, self.features, aggregate, roots, nodes, rank, importance, 0.1)

    def median(self):
        return self.forest("median", int(self._rng.integers(1, 5)))

    def program(self, n_layers=4):
        rng, n = self._rng, n_layers * (n_layers + 1) // 2
        feature = rng.integers(-1, len(self.features), size=n)
        feature[0] = max(feature[0], 0)
        cut, start = np.zeros(n, dtype=np.int64), np.full(n, -1)
        table: list[float] = []
        for k, j in enumerate(feature.tolist()):
            if j >= 0:
                cut[k] = rng.integers(self.features[j].n_bins + 1 - self.features[j].is_category)
                if self.features[j].is_category:
                    start[k] = len(table)
                    table += rng.random(self.features[j].n_bins + 1).tolist()
        arrays = {
            "feature": feature, "cut": cut, "start": start, "table": np.array(table),
            "value": rng.normal(size=n),
            **{name: rng.choice([0.0, 1.0, 0.3, 0.71], size=n) for name in ("low", "high", "missing")},
        }  # fmt: skip
        nodes = Nodes(**{name: arrays[name] for name in Nodes._fields})
        final = rng.normal(size=n_layers + 1)
        return ProgramModel(*self._shared, self.features, n_layers, nodes, final, 0.1)

    def sum(self):
        parts = [self.additive(), self.forest("sum"), self.linear()]
        _, threshold, calibration = self._shared
        weights = self._rng.choice([1.0, 0.3, 2.0], size=3).tolist()
        return sum_models(
            parts, weights, intercept=0.05, threshold=threshold, calibration=calibration
        )


@st.composite
def cases(draw):
    return Case(draw)
