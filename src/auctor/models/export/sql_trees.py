"""Trees as SQL: nested CASEs, and lists of conditions below a certain depth."""

from collections.abc import Callable
from dataclasses import dataclass

from auctor.models.export.plan import CategoryNode, Leaf, NumberNode, Tree
from auctor.models.export.sql_stages import Expr, collect

# The parser of SQLite has a stack of 100 symbols, of which a nested CASE takes five.
_NESTED = 10
_DEEPEST = 200  # levels of a tree; each is a level of recursion


@dataclass(frozen=True)
class Decision:
    """``inside`` where the condition holds, else ``outside``; a NULL does not hold."""

    condition: Expr
    inside: "Decision | Expr"
    outside: "Decision | Expr"


Test = Callable[[NumberNode | CategoryNode], tuple[Expr, int, int]]


def tree_sql(tree: Tree, test: Test, literal: Callable[[float], str]) -> Expr:
    """The value of a row's leaf. ``test`` has the condition of a node, and its two children."""
    return _nested(_Decisions(tree, test, literal).at(0, {}, 0), 0)


class _Decisions:
    """A tree as decisions; a node with several parents is written once."""

    def __init__(self, tree: Tree, test: Test, literal: Callable[[float], str]) -> None:
        self._tree, self._literal = tree, literal
        self._tests: dict[int, tuple[Expr, int, int]] = {
            k: test(node) for k, node in enumerate(tree.nodes) if not isinstance(node, Leaf)
        }
        self._joins = _find_joins(self._children, len(tree.nodes))

    def _children(self, k: int) -> set[int]:
        return set(self._tests[k][1:]) if k in self._tests else set()

    def at(self, k: int, stops: dict[int, Expr], depth: int) -> Decision | Expr:
        """The decisions below node k; those of ``stops`` are replaced by the expressions given."""
        if depth > _DEEPEST:
            raise ValueError(
                f"this model has a tree of more than {_DEEPEST} levels, which is too deep for SQL; "
                "export it with to_python() or to_onnx()"
            )
        if k in stops:
            return stops[k]
        node = self._tree.nodes[k]
        if isinstance(node, Leaf):
            return Expr(self._literal(node.value))
        joins = self._joins.get(k)
        if joins:
            return self._dispatch(k, joins, stops, depth)
        return self._split(k, stops, depth)

    def _split(self, k: int, stops: dict[int, Expr], depth: int) -> Decision | Expr:
        condition, inside, outside = self._tests[k]
        if inside == outside:
            return self.at(inside, stops, depth + 1)
        parts = (self.at(child, stops, depth + 1) for child in (inside, outside))
        return Decision(condition, *parts)

    def _dispatch(
        self, k: int, joins: set[int], stops: dict[int, Expr], depth: int
    ) -> Decision | Expr:
        """A number for each node where the paths below k meet, then one decision by the number."""
        exits = sorted(self._exits(k, joins, stops))
        numbers = {exit: Expr(str(number)) for number, exit in enumerate(exits)}
        number = _nested(self._split(k, numbers, depth), 0)
        result = self.at(exits[-1], stops, depth + 1)
        for exit in reversed(exits[:-1]):
            condition = collect(f"{number} = {numbers[exit]}", [number])
            result = Decision(condition, self.at(exit, stops, depth + 1), result)
        return result

    def _exits(self, k: int, joins: set[int], stops: dict[int, Expr]) -> set[int]:
        """Nodes below k that are joins or stops, and the first that lead to no join."""
        leads: dict[int, bool] = {}
        for node in range(len(self._tree.nodes) - 1, k - 1, -1):
            below = set() if node in stops else self._children(node)
            leads[node] = node in joins or any(leads[child] for child in below)
        exits, open_nodes = set(), [k]
        while open_nodes:
            node = open_nodes.pop()
            for child in self._children(node):
                if child in joins or child in stops or not leads[child]:
                    exits.add(child)
                else:
                    open_nodes.append(child)
        return exits


def _find_joins(children: Callable[[int], set[int]], n_nodes: int) -> dict[int, set[int]]:
    """Node -> the nodes with several parents whose paths from the root part at this node.

    It is their immediate dominator; children come after their parents.
    """
    above: dict[int, int] = {0: 0}  # node -> its immediate dominator
    n_parents: dict[int, int] = {}
    for k in range(n_nodes):
        for child in children(k) if k in above else ():
            n_parents[child] = n_parents.get(child, 0) + 1
            above[child] = _common(above, above[child], k) if child in above else k
    joins: dict[int, set[int]] = {}
    for child, count in n_parents.items():
        if count > 1 and children(child):  # a leaf is short enough to be written several times
            joins.setdefault(above[child], set()).add(child)
    return joins


def _common(above: dict[int, int], a: int, b: int) -> int:
    while a != b:
        a, b = (above[a], b) if a > b else (a, above[b])
    return a


def _nested(what: Decision | Expr, depth: int) -> Expr:
    if isinstance(what, Expr):
        return what
    if depth == _NESTED:
        return _listed(what)
    inside, outside = (_nested(side, depth + 1) for side in (what.inside, what.outside))
    text = f"CASE WHEN {what.condition} THEN {inside} ELSE {outside} END"
    return collect(text, (what.condition, inside, outside))


def _listed(what: Decision) -> Expr:
    """A list of conditions without nesting.

    The leaves are in order, those of ``inside`` first. A row that comes to a leaf has met none of
    those before, so that only the conditions which hold on its path have to be listed.
    """
    parts: list[Expr] = []
    cases: list[str] = []

    def walk(here: Decision | Expr, held: tuple[Expr, ...]) -> None:
        if isinstance(here, Decision):
            walk(here.inside, (*held, here.condition))
            walk(here.outside, held)
            return
        parts.extend((*held, here))
        conditions = " AND ".join(f"({condition})" for condition in held)
        cases.append(f"WHEN {conditions} THEN {here}" if held else f"ELSE {here}")

    walk(what, ())
    return collect(f"CASE {' '.join(cases)} END", parts)
