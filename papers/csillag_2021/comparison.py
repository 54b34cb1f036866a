"""Losses of methods on the same folds beside the paper's, and verdicts on ExactBoost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple

from auctor._text import first_few
from papers.csillag_2021.methods import OURS, OVERLAP, TABLES
from papers.page import Cause, Page, Verdict
from papers.statistics import Estimate, differences, mean_sd, t_interval
from papers.verdicts import TELLING, by_distance, by_interval, counted, distance, over_rows

ROUNDING = 0.005  # half a unit of the paper's last digit
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

    def without(self, tables: Collection[str]) -> "Comparison":
        """The same without some tables."""
        return Comparison({key: v for key, v in self.losses.items() if key[0] not in tables})

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


def judge_ahead(estimates: Sequence[Estimate]) -> Verdict:
    """Judge "the best performance" table by table."""
    return over_rows([by_interval(estimate) for estimate in estimates])


def judge_not_worse(tally: Tally) -> Verdict:
    """Judge "others are worse or indistinguishable": a comparison contradicts it if behind."""
    if tally.ahead == tally.behind == 0:  # no difference is significant in either direction
        return Verdict.NOT_RUN if tally.total == 0 else Verdict.UNDECIDED
    return counted(tally.total - tally.behind, tally.total)


def judge_top(comparison: Comparison, metric: str, peers: Sequence[str]) -> Verdict:
    """Judge "the top performer" table by table: ahead of all others, or behind one, by chance."""
    verdicts = []
    for table in comparison.tables(metric):
        known = [comparison.difference(table, metric, peer) for peer in peers]
        found = [by_interval(estimate) for estimate in known if estimate is not None]
        if Verdict.NOT_REPRODUCED in found:
            verdicts.append(Verdict.NOT_REPRODUCED)
        elif found:
            is_first = set(found) == {Verdict.REPRODUCED}
            verdicts.append(Verdict.REPRODUCED if is_first else Verdict.UNDECIDED)
    return over_rows(verdicts)


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
    values: Sequence[float]

    @property
    def apart(self) -> Estimate:
        """By how much our loss is lower than the paper's, with its 95 % interval."""
        up = distance(self.values, self.theirs, rounding=ROUNDING, overlap=OVERLAP)
        return Estimate(-up.value, -up.high, -up.low)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the figure; only ExactBoost's may be better."""
        return by_distance(self.apart, is_proposed=self.name == OURS)

    @property
    def is_outside(self) -> bool:
        """Whether the paper's figure does not lie in our interval."""
        return self.verdict in (Verdict.NOT_REPRODUCED, Verdict.BETTER)

    def __str__(self) -> str:
        ours = sum(self.values) / len(self.values)
        return f"{self.name} on {self.table} {ours:.3f} for {self.theirs:.2f}"


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
                cells.append(Cell(method, table, theirs, values))
    return cells


def tell_agreement(cells: Sequence[Cell]) -> str:
    """How many figures lie within, how many intervals are too wide, and what lies outside."""
    if not cells:
        return "nothing to compare"
    outside = [cell for cell in cells if cell.is_outside]
    n_wide = sum(cell.verdict == Verdict.UNDECIDED for cell in cells)
    text = f"{len(cells) - len(outside) - n_wide} of {len(cells)}"
    text += f", and {n_wide} in intervals of more than ± {TELLING}" if n_wide else ""
    if not outside:
        return text
    shown = first_few(outside, SHOWN, quote=False)
    n_lower = sum(cell.apart.low > 0 for cell in outside)
    return f"{text}; of the others ours is lower in {n_lower}: {shown}"


def judge_agreement(cells: Sequence[Cell]) -> Verdict:
    """Judge by the figures; better only if every figure that is not met is better."""
    verdicts = [cell.verdict for cell in cells]
    outside = [cell.verdict for cell in cells if cell.is_outside]
    if outside and set(outside) == {Verdict.BETTER} and len(outside) > len(cells) / 2:
        return Verdict.BETTER
    return over_rows(verdicts)


def claim_agreement(
    page: Page,
    comparison: Comparison,
    source: str,
    metric: str,
    peers: Sequence[str],
    published: Published,
    cause: Cause = Cause.UNKNOWN,
) -> None:
    """Whether the losses are the paper's: ExactBoost's own, then those of its peers.

    ``cause`` is why figures differ; where none does, the intervals are too wide.
    """
    for name, methods in ((OURS, [OURS]), ("the peers", peers)):
        cells = agreement(comparison, metric, methods, published)
        text = f"{source}, {metric} of {name}: the paper's figures lie in 95 % intervals of ours"
        differ = any(cell.verdict == Verdict.NOT_REPRODUCED for cell in cells)
        why = cause if differ else Cause.RUNS
        page.claim(text, judge_agreement(cells), tell_agreement(cells), cause=why)


def mean_distance(cells: Sequence[Cell]) -> float:
    """Mean absolute difference between the paper's figures and ours."""
    return sum(abs(cell.apart.value) for cell in cells) / len(cells)


def fold_counts(comparison: Comparison) -> str:
    """Describe how many folds were run."""
    counts = {len(folds) for folds in comparison.losses.values()}
    least, most = min(counts), max(counts)
    return f"{most} folds" if least == most else f"{least} to {most} folds"


def read_name(name: str) -> list[Any]:
    """``heart, AUC, RankBoost, fold 3`` in its parts, the fold as a number."""
    *parts, fold = name.split(", ")
    return [*parts, int(fold.removeprefix("fold "))]
