"""Random plans with every kind of term and input, and rows at and beside their thresholds."""

import numpy as np

from auctor.models.export import plan as p

CATEGORIES = {
    "text": ("red", "", "grün", "None", "a\0b", "it's"),
    "whole": (3, -1, 0, 2**62, 7),
    "flag": (False, True),
    "real": (0.1, np.nextafter(0.1, 1.0), -2.5, 4, 1e300),
}
INPUTS = (
    p.Input("x", "number"),
    p.Input("score", "number", (-9.0, 0.5)),  # the name of an output
    p.Input("", "number"),
    p.Input("text", "text", ("red",)),
    p.Input("whole", "code"),
    p.Input("flag", "code"),
    p.Input("real \N{PILE OF POO}\n\"'", "code", (4,)),
)
KINDS = (None, None, None, *CATEGORIES)  # of the categories of each input
CUTS = (-1.5, 0.1, 0.5, 1.0, 1e10)


class PlanMaker:
    """Draws terms; values are multiples of 2^-32 if ``on_grid``."""

    def __init__(self, seed, on_grid=True):
        self.rng = np.random.default_rng(seed)
        self.on_grid = on_grid

    def value(self):
        value = float(self.rng.normal())
        return round(value * 2**32) / 2**32 if self.on_grid else value

    def values(self, count):
        return tuple(self.value() for _ in range(count))

    def input(self):
        return int(self.rng.integers(len(INPUTS)))

    def subset(self, values, at_least=0):
        size = int(self.rng.integers(at_least, len(values) + 1))
        chosen = self.rng.permutation(len(values))[:size]
        return tuple(values[k] for k in chosen)

    def bins(self):
        j = self.input()
        if KINDS[j] is None:
            return p.Bins(j, tuple(sorted(self.subset(CUTS))))
        return p.Bins(j, categories=self.subset(CATEGORIES[KINDS[j]]))

    def steps(self, draw=None):
        bins = self.bins()
        draw = draw or self.value
        return p.Steps(bins, tuple(draw() for _ in range(bins.n_bins)))

    def grid(self):
        first, second = self.bins(), self.bins()
        return p.Grid(first, second, tuple(self.values(second.n_bins) for _ in range(first.n_bins)))

    def slope(self):
        return p.Slope(int(self.rng.integers(3)), 3e-3 * self.value(), self.value())

    def tree(self, n_inner=9, n_leaves=6):
        """A tree whose nodes have any later nodes as children, so that many are shared."""

        def child(k):
            return int(self.rng.integers(k + 1, n_inner + n_leaves))

        nodes = [self.node(child(k), child(k)) for k in range(n_inner)]
        return p.Tree((*nodes, *map(p.Leaf, self.values(n_leaves))))

    def node(self, first, second):
        j = self.input()
        if KINDS[j] is not None:
            return p.CategoryNode(j, self.subset(CATEGORIES[KINDS[j]]), first, second)
        missing = first if self.rng.random() < 0.5 else second
        if self.rng.random() < 0.2:  # any number goes to the same child
            return p.NumberNode(j, 0.0, first, first, second)
        return p.NumberNode(j, float(self.rng.choice(CUTS)), first, second, missing)

    def forest(self, aggregate, n_trees):
        return p.Forest(tuple(self.tree() for _ in range(n_trees)), aggregate)

    def program(self, n_layers=4):
        gates = []
        for _ in range(n_layers * (n_layers + 1) // 2):
            is_frozen = self.rng.random() < 0.2
            gates.append(p.Constant(self.value()) if is_frozen else self.steps(self.rng.random))
        return p.Program(tuple(gates), self.values(n_layers + 1))

    def rounded(self, term):
        return p.Rounded(p.Times(term, 0.7), 2.0**-32, 2.0**20)

    def sum(self):
        return p.Sum(
            (
                p.Constant(self.value()),
                self.steps(),
                self.slope(),
                self.grid(),
                self.tree(),
                self.rounded(self.forest("mean", 3)),
                self.slope(),
                p.Rounded(p.Sum((self.slope(), self.steps())), 2.0**-36, 2.0**15),
            )
        )


FORMS = {
    "constant": lambda make: p.Sum((p.Constant(make.value()), p.Constant(0.5))),
    "steps": lambda make: p.Sum((p.Constant(0.25), *(make.steps() for _ in range(5)))),
    "grid": lambda make: p.Sum((p.Constant(0.25), *(make.grid() for _ in range(3)))),
    "slope": lambda make: p.Sum(tuple(make.slope() for _ in range(4))),
    "tree": lambda make: p.Sum((make.tree(), p.Constant(1.0))),
    "forest": lambda make: make.forest("sum", 40),
    "mean forest": lambda make: make.forest("mean", 7),
    "median forest": lambda make: make.forest("median", 4),
    "odd median forest": lambda make: make.forest("median", 5),
    "program": lambda make: p.Sum((p.Constant(0.1), make.program())),
    "sum": PlanMaker.sum,
}


def random_plan(form, seed, on_grid=True):
    make = PlanMaker(seed, on_grid)
    score = FORMS[form](make)
    return p.Plan(INPUTS, score, p.Logistic(1.3, -0.2), 0.25, ("no", "yes"))


def borderline_rows(seed, count):
    """Rows of missing values, thresholds and their neighbours, and known and unknown categories."""
    rng = np.random.default_rng(seed)
    near = [f(cut) for cut in CUTS for f in (float, below, above, single)]
    numbers = [None, float("nan"), -9.0, 0.0, -0.0, 5e-324, 1.7e308, -1.7e308, *near]
    values = {
        None: numbers,
        "text": [None, *CATEGORIES["text"], "RED", "unseen"],
        "whole": [None, *CATEGORIES["whole"], 2**62 + 1, -(2**63)],
        "flag": [True, False],
        "real": [None, *CATEGORIES["real"], below(0.1), single(0.1), 4.5],
    }
    return [
        {own.name: pick(rng, values[kind]) for own, kind in zip(INPUTS, KINDS, strict=True)}
        for _ in range(count)
    ]


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def below(value):
    return float(np.nextafter(value, -np.inf))


def above(value):
    return float(np.nextafter(value, np.inf))


def single(value):
    return float(np.float32(value))
