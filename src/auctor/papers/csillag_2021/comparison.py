"""Losses of methods on the same folds, beside the paper's, and what they say of ExactBoost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple

from auctor.papers.csillag_2021.methods import OURS, OVERLAP, TABLES
from auctor.papers.page import Page, Verdict
from auctor.papers.statistics import Estimate, differences, mean_sd, t_interval

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
        """Those of which anything is known."""
        known = {table for table, of, _ in self.losses if of == metric}
        return [table for table in TABLES if table in known]

    def values(self, table: str, metric: str, method: str) -> list[float]:
        """The losses of all folds that were run, in their order."""
        folds = self.losses.get((table, metric, method), {})
        return [folds[fold] for fold in sorted(folds)]

    def difference(self, table: str, metric: str, peer: str) -> Estimate | None:
        """Loss of a peer less that of ExactBoost over the folds that both have."""
        theirs, ours = (self.losses.get((table, metric, m), {}) for m in (peer, OURS))
        folds = sorted(set(ours) & set(theirs))
        if not folds:
            return None
        found = differences([theirs[f] for f in folds], [ours[f] for f in folds])
        return t_interval(found, OVERLAP)

    def against(self, metric: str, peers: Iterable[str]) -> list[Estimate]:
        """The differences of some peers on all tables."""
        tables = self.tables(metric)
        found = [self.difference(table, metric, peer) for peer in peers for table in tables]
        return [estimate for estimate in found if estimate is not None]


class Tally(NamedTuple):
    """Comparisons in which ExactBoost is ahead, behind, or neither beyond chance."""

    ahead: int
    behind: int
    lower: int  # its mean loss is lower, by whatever
    total: int

    def __str__(self) -> str:
        return (
            f"ahead in {self.ahead}, behind in {self.behind} of {self.total} comparisons beyond "
            f"chance; lower mean loss in {self.lower}"
        )


def count(estimates: Sequence[Estimate]) -> Tally:
    """How ExactBoost fared; differences are the peer's loss less its own."""
    return Tally(
        ahead=sum(e.low > 0 for e in estimates),
        behind=sum(e.high < 0 for e in estimates),
        lower=sum(e.value > 0 for e in estimates),
        total=len(estimates),
    )


def judge_ahead(tally: Tally) -> Verdict:
    """Of "ExactBoost is better": beyond chance somewhere, and nowhere the other way round."""
    if tally.total == 0:
        return Verdict.NOT_RUN
    if tally.ahead > 0 and tally.behind == 0:
        return Verdict.REPRODUCED
    is_half = 2 * tally.lower >= tally.total and tally.ahead >= tally.behind
    return Verdict.PARTLY if is_half else Verdict.NOT_REPRODUCED


def judge_not_worse(tally: Tally) -> Verdict:
    """Of "others are worse or indistinguishable": ahead of it no oftener than by chance."""
    if tally.total == 0:
        return Verdict.NOT_RUN
    if tally.behind <= 0.05 * tally.total:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if tally.behind < tally.ahead else Verdict.NOT_REPRODUCED


def judge_top(n_first: int, n_tables: int, tally: Tally, is_always: bool) -> Verdict:
    """Of "the top performer": the lowest mean loss on every table, or on more than half.

    In part where no method is ahead of it beyond chance, and it is ahead of most by however little.
    """
    if n_tables == 0:
        return Verdict.NOT_RUN
    if n_first == n_tables if is_always else 2 * n_first > n_tables:
        return Verdict.REPRODUCED
    is_beaten = tally.behind > 0 or 2 * tally.lower < tally.total
    return Verdict.NOT_REPRODUCED if is_beaten else Verdict.PARTLY


def first_places(comparison: Comparison, metric: str, methods: Sequence[str]) -> tuple[int, int]:
    """Tables on which ExactBoost has the lowest mean loss, ties included, of how many."""
    first = total = 0
    for table in comparison.tables(metric):
        found = {m: comparison.values(table, metric, m) for m in methods}
        means = {m: sum(v) / len(v) for m, v in found.items() if v}
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
) -> None:
    """Mean ± standard deviation over the folds, the paper's figure in brackets."""
    rows = []
    for table in comparison.tables(metric):
        cells = [
            _loss_cell(comparison.values(table, metric, m), published.get(m, {}).get(table))
            for m in methods
        ]
        rows.append([table, *cells])
    page.table(["table", *methods], rows)


def _loss_cell(values: list[float], published: float | None) -> str:
    theirs = f" ({published:.2f})" if published is not None else ""
    return (mean_sd(values) if values else "–") + theirs


def print_differences(
    page: Page, comparison: Comparison, metric: str, peers: Sequence[str]
) -> None:
    """Loss of each peer less that of ExactBoost, in bold where chance does not explain it."""
    page.text(
        f"Loss of a peer less that of {OURS}, fold by fold, with the 95 % interval of the "
        "corrected resampled t; bold where it excludes 0:"
    )
    rows = []
    for table in comparison.tables(metric):
        found = [comparison.difference(table, metric, peer) for peer in peers]
        rows.append([table, *(_difference_cell(estimate) for estimate in found)])
    page.table(["table", *peers], rows)


def _difference_cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    if isnan(estimate.low):  # a single fold
        return f"{estimate.value:+.4f}"
    is_clear = estimate.low > 0 or estimate.high < 0
    return f"**{estimate}**" if is_clear else str(estimate)


class Agreement(NamedTuple):
    """How many of the paper's figures lie within the intervals of ours, and which do not."""

    inside: int
    total: int
    better: list[str]  # ours is lower
    worse: list[str]

    def __str__(self) -> str:
        outside = self.better + self.worse
        if not outside:
            return f"{self.inside} of {self.total}"
        shown = ", ".join(outside[:SHOWN]) + (", ..." if len(outside) > SHOWN else "")
        return (
            f"{self.inside} of {self.total}; of the others ours is lower in {len(self.better)}: "
            f"{shown}"
        )


def agreement(
    comparison: Comparison, metric: str, methods: Sequence[str], published: Published
) -> Agreement:
    """The paper's figures against 95 % intervals of ours, widened by the paper's rounding."""
    found = Agreement(0, 0, [], [])
    for table in comparison.tables(metric):
        for method in methods:
            values = comparison.values(table, metric, method)
            theirs = published.get(method, {}).get(table)
            if theirs is not None and len(values) > 1:
                found = _compare(found, f"{method} on {table}", values, theirs)
    return found


def _compare(found: Agreement, name: str, values: list[float], theirs: float) -> Agreement:
    estimate = t_interval(values, OVERLAP)
    told = f"{name} {estimate.value:.3f} for {theirs:.2f}"
    found = found._replace(total=found.total + 1)
    if theirs > estimate.high + ROUNDING:
        return found._replace(better=[*found.better, told])
    if theirs < estimate.low - ROUNDING:
        return found._replace(worse=[*found.worse, told])
    return found._replace(inside=found.inside + 1)


def judge_agreement(found: Agreement, is_ours: bool) -> Verdict:
    """Nine in ten within; half of them is in part. Only ExactBoost's own may be better."""
    if found.total == 0:
        return Verdict.NOT_RUN
    if found.inside >= 0.9 * found.total:
        return Verdict.REPRODUCED
    if is_ours and not found.worse:
        return Verdict.BETTER
    return Verdict.PARTLY if 2 * found.inside >= found.total else Verdict.NOT_REPRODUCED


def claim_agreement(
    page: Page,
    comparison: Comparison,
    place: str,
    metric: str,
    peers: Sequence[str],
    published: Published,
) -> None:
    """Whether the losses are the paper's: ExactBoost's own, then those of its peers."""
    for is_ours, methods in ((True, [OURS]), (False, peers)):
        found = agreement(comparison, metric, methods, published)
        name = OURS if is_ours else "the peers"
        text = f"{place}, {metric} of {name}: the paper's figures lie in 95 % intervals of ours"
        page.claim(text, judge_agreement(found, is_ours), str(found))


def fold_counts(comparison: Comparison) -> str:
    """How many folds the figures rest on, in words."""
    counts = {len(folds) for folds in comparison.losses.values()}
    least, most = min(counts), max(counts)
    return f"{most} folds" if least == most else f"{least} to {most} folds"


def read_name(name: str) -> list[Any]:
    """``heart, AUC, RankBoost, fold 3`` in its parts, the fold as a number."""
    *parts, fold = name.split(", ")
    return [*parts, int(fold.removeprefix("fold "))]
