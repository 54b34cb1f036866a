"""SQL expressions, and the queries on top of each other that compute them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from auctor.models.export.sql_dialects import Dialect

# Limits: PostgreSQL has 1,664 columns in a query, SQLite 2,000, and its expressions a depth of 1000.
MOST_COLUMNS = 1_600
_BLOCK = 64  # terms of a sum without parentheses


class Expr(NamedTuple):
    """The text of an expression, the columns that it reads, and the first query that has them."""

    text: str
    reads: frozenset[str] = frozenset()
    stage: int = 0

    def __str__(self) -> str:
        return self.text


def join(template: str, *parts: Expr) -> Expr:
    """An expression made of others: ``{}`` stands for each of them."""
    return collect(template.format(*(part.text for part in parts)), parts)


def collect(text: str, parts: Iterable[Expr]) -> Expr:
    """An expression with the text given, that reads what its parts read."""
    parts = list(parts)
    reads = frozenset().union(*(part.reads for part in parts))
    return Expr(text, reads, max((part.stage for part in parts), default=0))


def add_up(terms: Sequence[Expr]) -> Expr:
    """The sum of terms from the first to the last; long sums are made of blocks.

    Databases limit the depth of an expression, which is that of a sum without parentheses.
    """
    if len(terms) <= _BLOCK:
        return collect(" + ".join(term.text for term in terms), terms)
    blocks = [terms[k : k + _BLOCK] for k in range(0, len(terms), _BLOCK)]
    return add_up([join("({})", add_up(block)) for block in blocks])


class Stages:
    """Queries on top of each other: each adds columns that the later ones can use."""

    def __init__(self, dialect: Dialect, prefix: str) -> None:
        self._dialect, self._prefix = dialect, prefix
        self._columns: list[dict[str, Expr]] = []  # of each stage: quoted name -> expression
        self._count = 0

    def column(self, expression: Expr) -> Expr:
        """A column for an expression that is used more than once."""
        name = self._dialect.name_of(f"{self._prefix}{self._count}")
        self._count += 1
        while len(self._columns) <= expression.stage:
            self._columns.append({})
        self._columns[expression.stage][name] = expression
        return Expr(name, frozenset([name]), expression.stage + 1)

    def write(
        self, source: str, alias: str, kept: Sequence[str], outputs: Sequence[tuple[str, Expr]]
    ) -> str:
        """The query of the outputs; ``kept`` are columns of the source that pass through.

        The columns of the first stage are computed from those of the source, which have its alias
        before them: SQLite takes a quoted name alone that it does not know for a text.
        """
        needed = [self._needed(stage, outputs) for stage in range(len(self._columns))]
        parts = []
        for stage, columns in enumerate(self._columns):
            before = [name for name in needed[stage] if name not in columns]
            new = [f"{columns[name]} AS {name}" for name in needed[stage] if name in columns]
            passed = kept if stage else [f"{alias}.{name} AS {name}" for name in kept]
            listed = [*passed, *before, *new]
            if len(listed) > MOST_COLUMNS:
                raise ValueError(
                    f"this model needs {len(listed):,} columns at the same time, and databases "
                    f"have at most {MOST_COLUMNS:,}; export it with to_python() or to_onnx()"
                )
            parts.append(self._dialect.stage(self._name(stage), self._select(listed, source)))
            source = self._name(stage)
        last = self._select([*kept, *(f"{e} AS {name}" for name, e in outputs)], source)
        return f"WITH {', '.join(parts)}\n{last}"

    def _needed(self, stage: int, outputs: Sequence[tuple[str, Expr]]) -> list[str]:
        """The columns of a stage and those before it that later stages or the outputs read."""
        later = [e for columns in self._columns[stage + 1 :] for e in columns.values()]
        read = set().union(*(e.reads for e in (*later, *(e for _, e in outputs))))
        known = [name for columns in self._columns[: stage + 1] for name in columns]
        return [name for name in known if name in read]

    def _name(self, stage: int) -> str:
        return self._dialect.name_of(f"{self._prefix}step_{stage + 1}")

    def _select(self, listed: Sequence[str], source: str) -> str:
        return "SELECT\n  " + ",\n  ".join(listed) + f"\nFROM {source}"
