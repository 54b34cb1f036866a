"""A plan as an SQL query with the score, the probability and the label of each row."""

from collections.abc import Sequence

from auctor.data.features import Category
from auctor.models.export.plan import (
    LARGEST_NUMBER,
    LARGEST_TERM,
    Bins,
    CategoryNode,
    Constant,
    Forest,
    Grid,
    Input,
    Logistic,
    NumberNode,
    Plan,
    Program,
    Rounded,
    Slope,
    Steps,
    Sum,
    Term,
    Times,
    Tree,
)
from auctor.models.export.sql_dialects import DIALECTS, TRANSLATED, Dialect
from auctor.models.export.sql_stages import Expr, Stages, add_up, collect, join
from auctor.models.export.sql_trees import tree_sql

OUTPUTS = ("score", "probability", "label")
# exp(-708) is the smallest power of e that is a normal double; PostgreSQL refuses smaller ones.
_LARGEST_EXPONENT = 708.0
_SMALLEST = 1e-307


def plan_to_sql(
    plan: Plan,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "data",
    keep: Sequence[str] = (),
    booleans: Sequence[str] = (),
) -> str:
    """The query of a plan; see ``Model.to_sql``."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect is {dialect!r}; give one of {', '.join(DIALECTS)}")
    parts = [table] if isinstance(table, str) else list(table)
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f"table is {table!r}; give a name, or the names of a schema and a table")
    _check_booleans(plan, booleans)
    _check_keep(keep, DIALECTS[dialect])
    query = _Query(plan, DIALECTS[dialect], keep, frozenset(booleans)).write(parts, keep)
    return _translated(query, dialect) if dialect in TRANSLATED else query + "\n"


def _check_booleans(plan: Plan, booleans: Sequence[str]) -> None:
    _check_list("booleans", booleans)
    names = [column.name for column in plan.inputs]
    unknown = [name for name in booleans if name not in names]
    if unknown:
        raise ValueError(f"booleans has {unknown[0]!r}, which is not a feature of the model")


def _check_keep(keep: Sequence[str], dialect: Dialect) -> None:
    """Raise an error if the database would take two columns of the result for one."""
    _check_list("keep", keep)
    seen: dict[str, str] = {name: name for name in OUTPUTS}
    for name in keep:
        other = seen.setdefault(name.lower() if dialect.same_case else name, name)
        if other in OUTPUTS:
            raise ValueError(f"keep has {name!r}, which is the name of an output; rename it")
    if len(seen) < len(OUTPUTS) + len(keep):
        raise ValueError(f"keep has a name twice: {', '.join(map(repr, keep))}; give it once")


def _check_list(argument: str, names: Sequence[str]) -> None:
    """Raise an error unless the argument is a list of names: a text would be taken by letters."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{argument} is {names!r}; give a list of names")


def _translated(query: str, dialect: str) -> str:
    try:
        import sqlglot
    except ImportError:
        raise ImportError(
            f"to_sql needs the package sqlglot for the dialect {dialect}; install it with "
            "pip install 'auctor[export]'"
        ) from None
    return sqlglot.transpile(query, read="duckdb", write=dialect, pretty=True)[0] + "\n"


class _Query:
    """The translation of one plan: every kind of term is written once."""

    def __init__(
        self, plan: Plan, dialect: Dialect, keep: Sequence[str], booleans: frozenset[str]
    ) -> None:
        self._plan, self._dialect, self._booleans = plan, dialect, booleans
        prefix = "auctor_"
        while any(name.lower().startswith(prefix) for name in keep):
            prefix += "_"
        self._stages = Stages(dialect, prefix)
        self._source = dialect.name_of(prefix + "source")
        self._exact = _beyond_double(plan)
        self._check_names()
        self._inputs = {j: self._input(plan.inputs[j], j) for j in plan.used}

    def write(self, table: Sequence[str], keep: Sequence[str]) -> str:
        score = self._stages.column(self._term(self._plan.score))
        kept = [self._dialect.name_of(name) for name in keep]
        source = f"{self._dialect.name_of(*table)} AS {self._source}"
        number = self._dialect.number_of(self._plan.threshold)
        negative, positive = map(self._dialect.literal, self._plan.classes)
        label = join(f"CASE WHEN {{}} >= {number} THEN {_braced(positive)} "
                     f"ELSE {_braced(negative)} END", score)  # fmt: skip
        outputs = (score, self._probability(score), label)
        named = [(self._dialect.name_of(n), e) for n, e in zip(OUTPUTS, outputs, strict=True)]
        return self._stages.write(source, self._source, kept, named)

    def _check_names(self) -> None:
        """Raise an error if the database would take two features for one column."""
        if not self._dialect.same_case:
            return
        seen: dict[str, str] = {}
        for j in self._plan.used:
            name = self._plan.inputs[j].name
            other = seen.setdefault(name.lower(), name)
            if other != name:
                raise ValueError(
                    f"features {other!r} and {name!r} differ only by upper and lower case, which "
                    f"{self._dialect.name} does not distinguish; rename one of them"
                )

    def _input(self, column: Input, j: int) -> Expr:
        """A column for the values of an input, with NULL for all kinds of missing values."""
        dialect = self._dialect
        name = f"{self._source}.{dialect.name_of(column.name)}"
        if column.name in self._booleans and dialect.has_booleans:
            name = f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END"
        if column.kind == "text":
            value = dialect.text_column(name)
        elif j in self._exact:
            value = name
        else:
            value = dialect.without_nan(dialect.number_column(name))
        for code in column.missing_codes:
            value = f"NULLIF({value}, {self._category(j, code)})"
        return self._stages.column(Expr(value))

    def _category(self, j: int, value: Category) -> str:
        if isinstance(value, str):
            return self._dialect.text_of(value)
        if j in self._exact and not isinstance(value, float):
            return str(int(value))
        return self._dialect.number_of(float(value))

    def _number(self, value: float) -> str:
        text = self._dialect.number_of(value)
        return f"({text})" if text.startswith("-") else text

    def _term(self, term: Term) -> Expr:
        match term:
            case Constant(value):
                return Expr(self._number(value))
            case Steps(bins, values):
                return self._steps(bins, [Expr(self._number(value)) for value in values])
            case Grid():
                return self._grid(term)
            case Slope(j, weight, missing):
                return self._product(self._inputs[j], weight, self._number(missing))
            case Tree():
                return tree_sql(term, self._test, self._number)
            case Forest():
                return self._forest(term)
            case Program():
                return self._program(term)
            case Sum(terms):
                return add_up([self._inner(part) for part in terms])
            case Rounded():
                return self._rounded(term)
            case Times(part, weight):
                return self._product(self._stages.column(self._term(part)), weight)

    def _inner(self, term: Term) -> Expr:
        """A term of a sum, in parentheses if it is a sum itself."""
        part = self._term(term)
        return join("({})", part) if isinstance(term, Sum) else part

    def _steps(self, bins: Bins, values: Sequence[Expr]) -> Expr:
        """The value of the row's bin, of which 0 is the first."""
        if all(value.text == values[0].text for value in values):
            return values[0]
        if bins.categories is not None:
            return self._by_category(bins, values)
        column = self._inputs[bins.input]
        binned = self._by_cuts(column, bins.cuts, values[1:])
        if binned.text == values[0].text:
            return binned
        text = f"CASE WHEN {column} IS NULL THEN {values[0]} ELSE {binned} END"
        if binned.text.startswith("CASE WHEN "):
            text = f"CASE WHEN {column} IS NULL THEN {values[0]} {binned.text[5:]}"
        return collect(text, (column, values[0], binned))

    def _by_cuts(self, column: Expr, cuts: Sequence[float], values: Sequence[Expr]) -> Expr:
        """The value of a number's bin; neighbours of equal values are one bin."""
        ends = [k for k in range(len(cuts)) if values[k].text != values[k + 1].text]
        cuts, values = [cuts[k] for k in ends], [*(values[k] for k in ends), values[-1]]
        if not cuts:
            return values[-1]
        if len(cuts) < self._dialect.list_bins:
            tests = (
                f"WHEN {column} <= {self._dialect.number_of(cut)} THEN {value}"
                for cut, value in zip(cuts, values, strict=False)
            )
            return collect(f"CASE {' '.join(tests)} ELSE {values[-1]} END", (column, *values))
        k = len(cuts) // 2
        below = self._by_cuts(column, cuts[:k], values[: k + 1])
        above = self._by_cuts(column, cuts[k + 1 :], values[k + 1 :])
        test = f"{column} <= {self._dialect.number_of(cuts[k])}"
        return collect(f"CASE WHEN {test} THEN {below} ELSE {above} END", (column, below, above))

    def _by_category(self, bins: Bins, values: Sequence[Expr]) -> Expr:
        """The value of a category; those of equal values are listed together."""
        column, groups = self._inputs[bins.input], dict[str, list[str]]()
        assert bins.categories is not None
        for category, value in zip(bins.categories, values[1:], strict=True):
            if value.text != values[0].text:
                groups.setdefault(value.text, []).append(self._category(bins.input, category))
        if not groups:
            return values[0]
        is_one_of = self._dialect.is_one_of
        tests = (f"WHEN {is_one_of(column.text, own)} THEN {v}" for v, own in groups.items())
        return collect(f"CASE {' '.join(tests)} ELSE {values[0]} END", (column, *values))

    def _grid(self, grid: Grid) -> Expr:
        rows = [
            self._steps(grid.second, [Expr(self._number(value)) for value in row])
            for row in grid.values
        ]
        return self._steps(grid.first, rows)

    def _test(self, node: NumberNode | CategoryNode) -> tuple[Expr, int, int]:
        """The condition of a node, and its children where it holds and where it does not."""
        column = self._inputs[node.input]
        if isinstance(node, CategoryNode):
            if not node.categories:
                return column, node.outside, node.outside
            listed = [self._category(node.input, value) for value in node.categories]
            condition = collect(self._dialect.is_one_of(column.text, listed), [column])
            return condition, node.inside, node.outside
        if node.below == node.above:
            return join("{} IS NULL", column), node.missing, node.below
        cut = self._dialect.number_of(node.cut)
        if node.missing == node.above:
            return join(f"{{}} <= {cut}", column), node.below, node.above
        return join(f"{{}} > {cut}", column), node.above, node.below

    def _forest(self, forest: Forest) -> Expr:
        trees = [self._term(tree) for tree in forest.trees]
        n = len(trees)
        if forest.aggregate == "median":
            texts = [tree.text for tree in trees]
            middle = (self._dialect.sorted_at(texts, k) for k in ((n - 1) // 2, n // 2))
            return collect(f"({' + '.join(middle)}) / {self._number(2.0)}", trees)
        total = join("({})", add_up(trees))
        if forest.aggregate == "mean":
            return join(f"{{}} / {self._number(float(n))}", total)
        return total

    def _program(self, program: Program) -> Expr:
        """The chance of each node, carried down the layers; each layer is two queries."""
        one, zero = Expr(self._number(1.0)), Expr(self._number(0.0))
        chance: list[Expr | None] = [one]
        total, first = zero, 0
        for layer in range(1, program.n_layers + 1):
            below: list[list[Expr]] = [[] for _ in range(layer + 1)]
            ended: list[Expr] = []
            for i in reversed(range(layer)):
                gate, here = program.gates[first + i], chance[i]
                if here is None:
                    continue
                if isinstance(gate, Constant):
                    ended.append(join(f"{{}} * {_braced(self._number(gate.value))}", here))
                    continue
                right = self._stages.column(join("{} * ({})", here, self._term(gate)))
                below[i].insert(0, join("({} - {})", here, right))
                below[i + 1].append(right)
            # What stays comes first, as the model adds it up: (here - right) + from the left.
            chance = [self._stages.column(add_up(parts)) if parts else None for parts in below]
            if ended:
                total = self._stages.column(add_up([total, *ended]))
            first += layer
        ended = [
            join(f"{{}} * {_braced(self._number(value))}", here)
            for here, value in zip(chance, program.final, strict=True)
            if here is not None
        ]
        return join("({})", add_up([total, *ended]))

    def _rounded(self, term: Rounded) -> Expr:
        """Rounding to a grid by adding a number from which on doubles have this distance."""
        column = self._stages.column(self._term(term.term))
        far = self._dialect.number_of(2.0**52 * term.grid)
        bound = self._dialect.number_of(term.bound)
        text = (
            f"CASE WHEN ABS({column}) < {bound} THEN CASE WHEN {column} >= 0 "
            f"THEN ({column} + {far}) - {far} ELSE ({column} - {far}) + {far} END "
            f"ELSE {column} END"
        )
        return collect(text, (column,))

    def _product(self, column: Expr, weight: float, missing: str | None = None) -> Expr:
        """``weight`` times a column, at most ``LARGEST_TERM``; no product overflows on the way."""
        number, size = self._dialect.number_of, abs(weight)
        if weight == 0:
            product = Expr(self._number(0.0))
            return product if missing is None else self._or_missing(column, product, missing)
        tests = [] if missing is None else [f"WHEN {column} IS NULL THEN {missing}"]
        # An end that is the largest number of all is passed by infinite numbers alone.
        end = min(LARGEST_TERM / size, LARGEST_NUMBER)
        largest = min(LARGEST_TERM, LARGEST_NUMBER * size) * _sign(weight)
        tests.append(f"WHEN {column} > {number(end)} THEN {self._number(largest)}")
        tests.append(f"WHEN {column} < {self._number(-end)} THEN {self._number(-largest)}")
        if self._dialect.fails_on_underflow and size < 1:
            tiny = number(min(_SMALLEST / size, LARGEST_TERM))
            tests.append(f"WHEN ABS({column}) < {tiny} THEN {number(0.0)}")
        product = join(f"{{}} * {_braced(self._number(weight))}", column)
        return collect(f"CASE {' '.join(tests)} ELSE {product} END", (column,))

    def _or_missing(self, column: Expr, value: Expr, missing: str) -> Expr:
        if value.text == missing:
            return value
        return collect(f"CASE WHEN {column} IS NULL THEN {missing} ELSE {value} END", (column,))

    def _probability(self, score: Expr) -> Expr:
        rule, number = self._plan.probability, self._dialect.number_of
        if not isinstance(rule, Logistic):
            values = [Expr(number(p)) for p in rule.probabilities]
            return self._by_scores(score, rule.scores, values)
        product = self._product(score, rule.slope)
        z = self._stages.column(join(f"{{}} + {_braced(self._number(rule.offset))}", product))
        end = number(_LARGEST_EXPONENT)
        decayed = self._stages.column(
            collect(f"EXP(-(CASE WHEN ABS({z}) < {end} THEN ABS({z}) ELSE {end} END))", (z,))
        )
        one = number(1.0)
        text = f"(CASE WHEN {z} >= 0 THEN {one} ELSE {decayed} END) / ({one} + {decayed})"
        return collect(text, (z, decayed))

    def _by_scores(self, score: Expr, ends: Sequence[float], values: Sequence[Expr]) -> Expr:
        """The value of the largest of the increasing ``ends`` up to the score."""
        if len(ends) == 1:
            return values[0]
        k = len(ends) // 2
        below = self._by_scores(score, ends[:k], values[:k])
        above = self._by_scores(score, ends[k:], values[k:])
        test = f"{score} < {self._number(ends[k])}"
        return collect(f"CASE WHEN {test} THEN {below} ELSE {above} END", (score, below, above))


def _sign(value: float) -> float:
    return 1.0 if value > 0 else -1.0


def _braced(text: str) -> str:
    """Text for a template, in which braces stand for expressions."""
    return text.replace("{", "{{").replace("}", "}}")


def _beyond_double(plan: Plan) -> set[int]:
    """Inputs with whole numbers as categories that float64 does not hold."""
    binned: set[int] = set()

    def look(bins: Bins) -> None:
        if any(isinstance(c, int) and abs(c) >= 2**53 for c in bins.categories or ()):
            binned.add(bins.input)

    def walk(term: Term) -> None:
        match term:
            case Steps(bins, _):
                look(bins)
            case Grid():
                look(term.first)
                look(term.second)
            case Tree(nodes):
                for node in nodes:
                    if isinstance(node, CategoryNode):
                        look(Bins(node.input, categories=node.categories))
            case Forest(trees, _):
                for tree in trees:
                    walk(tree)
            case Program(gates, _):
                for gate in gates:
                    walk(gate)
            case Sum(terms):
                for part in terms:
                    walk(part)
            case Rounded() | Times():
                walk(term.term)

    walk(plan.score)
    return binned
