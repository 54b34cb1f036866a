"""Losses of methods on the same folds beside the paper's, and verdicts on ExactBoost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple

from auctor._text import first_few
from papers.csillag_2021.methods import OURS, OVERLAP, TABLES
from papers.page import Page, Verdict
from papers.statistics import Estimate, differences, mean_sd, t_interval

ROUNDING = 0.005  # half a unit of the paper's last digit
TELLING = 0.05  # largest half-width of our interval for which the paper's figure is informative
SHOWN = 4  # cells that are named in the number of a claim
Published = Mapping[str, Mapping[str, float | None]]  # method -> table -> loss


@dataclass
class Comparison:
    """Test losses by table, metric, method and fold."""

    losses: dict[tuple[str, str, str], dict[int, float]] = field(default_factory=dict)

    def add(self, table: str, metric: str, method: str, fold: int, loss: float) -> None:
        """One loss."""
        self.losses.setdefault((table, metric, method), {})[fold] = loss

    def tables(self, metric: str) -> list[str]:
        """The tables with results."""
        known = {table for table, of, _ in self.losses if of == metric}
        return [table for table in TABLES if table in known]

    def values(self, table: str, metric: str, method: str) -> list[float]:
        """The losses of all folds that were run, in their order."""
        folds = self.losses.get((table, metric, method), {})
        return [folds[fold] for fold in sorted(folds)]

    def difference(self, table: str, metric: str, peer: str) -> Estimate | None:
        """Loss of a peer minus that of ExactBoost over the folds that both have."""
        theirs, ours = (self.losses.get((table, metric, m), {}) for m in (peer, OURS))
        folds = sorted(set(ours) & set(theirs))
        if not folds:
            return None
        estimate = differences([theirs[f] for f in folds], [ours[f] for f in folds])
        return t_interval(estimate, OVERLAP)

    def against(self, metric: str, peers: Iterable[str]) -> list[Estimate]:
        """The differences of some peers on all tables."""
        tables = self.tables(metric)
        differences = [self.difference(table, metric, peer) for peer in peers for table in tables]
        return [estimate for estimate in differences if estimate is not None]


class Tally(NamedTuple):
    """Comparisons in which ExactBoost is ahead, behind, or neither beyond chance."""

    ahead: int
    behind: int
    lower: int  # its mean loss is lower, by any amount
    total: int

    def __str__(self) -> str:
        return (
            f"ahead in {self.ahead}, behind in {self.behind} of {self.total} comparisons beyond "
            f"chance; lower mean loss in {self.lower}"
        )


def count(estimates: Sequence[Estimate]) -> Tally:
    """Count the comparisons; differences are the peer's loss minus ExactBoost's."""
    return Tally(
        ahead=sum(e.low > 0 for e in estimates),
        behind=sum(e.high < 0 for e in estimates),
        lower=sum(e.value > 0 for e in estimates),
        total=len(estimates),
    )


def judge_ahead(tally: Tally) -> Verdict:
    """Judge "the best": ahead beyond chance once, behind nowhere, lower mean on most tables."""
    if tally.total == 0:
        return Verdict.NOT_RUN
    if tally.behind > 0 or 2 * tally.lower < tally.total:
        return Verdict.NOT_REPRODUCED
    if tally.ahead == 0:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if 2 * tally.lower > tally.total else Verdict.PARTLY


def judge_not_worse(tally: Tally) -> Verdict:
    """Judge "others are worse or indistinguishable": others are ahead no more than by chance."""
    if tally.total == 0:
        return Verdict.NOT_RUN
    if tally.ahead == tally.behind == 0:  # no difference is significant in either direction
        return Verdict.UNDECIDED
    if tally.behind <= 0.05 * tally.total:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if tally.behind < tally.ahead else Verdict.NOT_REPRODUCED


def judge_top(n_first: int, n_tables: int, tally: Tally, is_always: bool) -> Verdict:
    """Judge "the top performer": the lowest mean loss on every table, or on more than half.

    Not on less than half. Nor where a method is ahead of it beyond chance, but for "generally" if
    it is itself ahead more often, which is in part. Undecided where chance explains everything.
    """
    if n_tables == 0:
        return Verdict.NOT_RUN
    is_met = n_first == n_tables if is_always else 2 * n_first > n_tables
    if 2 * n_first < n_tables:
        return Verdict.NOT_REPRODUCED
    if tally.behind > 0:
        is_mostly = is_met and tally.ahead > tally.behind
        return Verdict.PARTLY if is_mostly else Verdict.NOT_REPRODUCED
    if tally.ahead == 0:
        return Verdict.UNDECIDED
    return Verdict.REPRODUCED if is_met else Verdict.PARTLY


def count_firsts(comparison: Comparison, metric: str, methods: Sequence[str]) -> tuple[int, int]:
    """Tables on which ExactBoost has the lowest mean loss, ties included, of how many."""
    first = total = 0
    for table in comparison.tables(metric):
        losses = {m: comparison.values(table, metric, m) for m in methods}
        means = {m: sum(v) / len(v) for m, v in losses.items() if v}
        if OURS in means and len(means) > 1:
            total += 1
            first += means[OURS] <= min(means.values())
    return first, total


def print_losses(
    page: Page,
    comparison: Comparison,
    metric: str,
    methods: Sequence[str],
    published: Published,
    spreads: Published | None = None,
) -> None:
    """Mean ± standard deviation over the folds, the paper's figure in brackets."""
    rows = []
    for table in comparison.tables(metric):
        cells = [
            (mean_sd(values) if (values := comparison.values(table, metric, method)) else "–")
            + _printed(method, table, published, spreads or {})
            for method in methods
        ]
        rows.append([table, *cells])
    page.table(["table", *methods], rows)


def _printed(method: str, table: str, published: Published, spreads: Published) -> str:
    """The paper's figure in brackets, with its ± if there is one."""
    loss, spread = (of.get(method, {}).get(table) for of in (published, spreads))
    if loss is None:
        return ""
    return f" ({loss:.2f})" if spread is None else f" ({loss:.2f} ± {spread:.1f})"


def print_differences(
    page: Page, comparison: Comparison, metric: str, peers: Sequence[str]
) -> None:
    """Loss of each peer minus that of ExactBoost, in bold if it is beyond chance."""
    page.text(
        f"Loss of a peer minus that of {OURS}, fold by fold, with the 95 % interval of the "
        "corrected resampled t; bold where it excludes 0:"
    )
    rows = []
    for table in comparison.tables(metric):
        differences = [comparison.difference(table, metric, peer) for peer in peers]
        rows.append([table, *(_difference_cell(estimate) for estimate in differences)])
    page.table(["table", *peers], rows)


def _difference_cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    if isnan(estimate.low):  # a single fold
        return f"{estimate.value:+.4f}"
    is_clear = estimate.low > 0 or estimate.high < 0
    return f"**{estimate}**" if is_clear else str(estimate)


class Cell(NamedTuple):
    """A figure of the paper beside ours."""

    name: str
    table: str
    theirs: float
    ours: Estimate

    @property
    def is_lower(self) -> bool:
        """Whether our loss is the lower one, beyond chance and the paper's rounding."""
        return self.theirs > self.ours.high + ROUNDING

    @property
    def is_higher(self) -> bool:
        """Whether our loss is the higher one, beyond chance and the paper's rounding."""
        return self.theirs < self.ours.low - ROUNDING

    @property
    def is_outside(self) -> bool:
        """Whether the paper's figure does not lie in our interval."""
        return self.is_lower or self.is_higher

    @property
    def is_decided(self) -> bool:
        """Whether the interval excludes the figure, or is narrow enough to be informative."""
        return self.is_outside or self.ours.high - self.ours.value <= TELLING

    def __str__(self) -> str:
        return f"{self.name} on {self.table} {self.ours.value:.3f} for {self.theirs:.2f}"


def agreement(
    comparison: Comparison, metric: str, methods: Sequence[str], published: Published
) -> list[Cell]:
    """The paper's figures and the 95 % intervals of ours."""
    cells = []
    for table in comparison.tables(metric):
        for method in methods:
            values = comparison.values(table, metric, method)
            theirs = published.get(method, {}).get(table)
            if theirs is not None and len(values) > 1:
                cells.append(Cell(method, table, theirs, t_interval(values, OVERLAP)))
    return cells


def tell_agreement(cells: Sequence[Cell]) -> str:
    """How many figures lie within, how many intervals are too wide, and what lies outside."""
    if not cells:
        return "nothing to compare"
    outside = [cell for cell in cells if cell.is_outside]
    n_wide = sum(not cell.is_decided for cell in cells)
    text = f"{len(cells) - len(outside) - n_wide} of {len(cells)}"
    text += f", and {n_wide} in intervals of more than ± {TELLING}" if n_wide else ""
    if not outside:
        return text
    shown = first_few(outside, SHOWN, quote=False)
    n_lower = sum(cell.is_lower for cell in outside)
    return f"{text}; of the others ours is lower in {n_lower}: {shown}"


def judge_agreement(cells: Sequence[Cell], peers: Sequence[Cell] | None = None) -> Verdict:
    """Judge by the fraction within: nine in ten is reproduced, one half is in part.

    With ``peers`` the cells are ExactBoost's own, which may be better than the paper's: where the
    peers are as in the paper on the same table. Where these differ too, the set-up does.
    """
    outside = [cell for cell in cells if cell.is_outside]
    n_decided = sum(cell.is_decided for cell in cells)
    if not cells:
        return Verdict.NOT_RUN
    if len(outside) <= 0.1 * len(cells):
        return Verdict.REPRODUCED if 2 * n_decided > len(cells) else Verdict.UNDECIDED
    if peers is not None and all(cell.is_lower for cell in outside):
        alike = {cell.table for cell in peers} - {cell.table for cell in peers if cell.is_outside}
        return Verdict.BETTER if {cell.table for cell in outside} <= alike else Verdict.PARTLY
    return Verdict.PARTLY if 2 * len(outside) <= n_decided else Verdict.NOT_REPRODUCED


def claim_agreement(
    page: Page,
    comparison: Comparison,
    source: str,
    metric: str,
    peers: Sequence[str],
    published: Published,
) -> None:
    """Whether the losses are the paper's: ExactBoost's own, then those of its peers."""
    ours, theirs = (agreement(comparison, metric, of, published) for of in ([OURS], peers))
    for name, cells, others in ((OURS, ours, theirs), ("the peers", theirs, None)):
        text = f"{source}, {metric} of {name}: the paper's figures lie in 95 % intervals of ours"
        page.claim(text, judge_agreement(cells, others), tell_agreement(cells))


def fold_counts(comparison: Comparison) -> str:
    """Describe how many folds were run."""
    counts = {len(folds) for folds in comparison.losses.values()}
    least, most = min(counts), max(counts)
    return f"{most} folds" if least == most else f"{least} to {most} folds"


def read_name(name: str) -> list[Any]:
    """``heart, AUC, RankBoost, fold 3`` in its parts, the fold as a number."""
    *parts, fold = name.split(", ")
    return [*parts, int(fold.removeprefix("fold "))]
