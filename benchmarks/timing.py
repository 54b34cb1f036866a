"""Time auctor and another library in turns, and print the result as a table."""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

Row = dict[str, Any]


def seconds(function: Callable[[], Any]) -> float:
    """Return the wall time of one call."""
    start = perf_counter()
    function()
    return perf_counter() - start


def race(
    name: str,
    ours: Callable[[], Any],
    peer: Callable[[], Any],
    target: str,
    n_rounds: int = 7,
    per: int = 1,
) -> Row:
    """Warm up both functions, then time them in turns, so that a busy machine slows both.

    ``per`` is the number of units of work in one call; times are given for one unit.
    """
    ours()
    peer()
    times = [(seconds(ours) / per, seconds(peer) / per) for _ in range(n_rounds)]
    ratios = [theirs / mine for mine, theirs in times]
    return {
        "name": name,
        "ours": median(mine for mine, _ in times),
        "peer": median(theirs for _, theirs in times),
        "ratio": median(ratios),
        "spread": f"{min(ratios):.2f}..{max(ratios):.2f}",
        "target": target,
    }


def print_table(rows: list[Row]) -> None:
    """Print the rows as a text table; the ratio is peer / ours."""
    print(f"{'case':62} {'ours':>9} {'peer':>9} {'ratio':>6}  {'spread':14} target")
    for row in rows:
        ratio = f"{row['ratio']:6.2f}" if row["ratio"] is not None else " " * 6
        print(
            f"{row['name']:62} {_amount(row, 'ours')} {_amount(row, 'peer')} {ratio}  "
            f"{row['spread']:14} {row['target']}"
        )


def _amount(row: Row, key: str) -> str:
    value = row[key]
    if value is None:
        return " " * 9
    return f"{value:8.4f}{row.get('unit', 's')[0]}"
