"""Report on Tables 1 and 2: our figures beside the paper's, and the order of the methods."""

from collections.abc import Sequence
from statistics import mean

from papers.experiment import CaseResults, Setup
from papers.experiment import Size as RunSize
from papers.page import Page, Verdict
from papers.statistics import differences, t_interval
from papers.suehiro_2011.artificial import (
    Cell,
    case_name,
    cells_of_table1,
    cells_of_table2,
    find_size,
    repetitions,
)
from papers.suehiro_2011.artificial_figures import (
    ceiling,
    columns_of,
    heads_of,
    label_of,
    values_of,
)
from papers.suehiro_2011.readings import (
    claim_reading,
    print_ceilings,
    print_constants,
    print_readings,
    tell_ceiling,
)
from papers.suehiro_2011.wording import MISSING, beside, cell, direction, printed, say_beside

# Methods as their columns call them.
TITLE_OF = {
    "RankBoost": "RankBoost",
    "SoftRankBoost": "SoftRankBoost",
    "pairs": "LP-Pair",
    "heuristic": "the method",
    "reduced": "reduced",
}


def report_table1(page: Page, results: CaseResults, setup: Setup) -> None:
    """Equal classes: figures, ceilings, readings, and the order of the methods."""
    cells = cells_of_table1(setup)
    rows = printed(page, "table1")["rows"]
    paper = {c: rows[f"r={c.r} noise={c.noise:g}"] for c in cells}
    _explain(page, results, setup, cells)
    _print_figures(page, results, setup, 1, paper)
    print_ceilings(page, results, setup, paper)
    print_constants(page, results, setup, cells)
    print_readings(page, results, setup, paper)
    tell_ceiling(page, paper, 1)
    claim_reading(page, results, setup, paper)
    _claim_order(page, results, setup, cells)


def report_table2(page: Page, results: CaseResults, setup: Setup) -> None:
    """Unequal classes: which noise rate the paper's rows may have, then figures."""
    cells = cells_of_table2(setup)
    rows = printed(page, "table2")["rows"]
    paper = {c: rows[f"share={c.positive_fraction:g} r={c.r}"] for c in cells}
    _explain(page, results, setup, cells)
    page.text(
        "The caption names three noise rates, the table has one row for each r. Two readings are "
        "possible: the mean over the rates, or one of them. RankBoost, which has no parameter to "
        "choose, decides: the distance is that of its figures from the paper's, averaged over rows."
    )
    _print_noise_readings(page, results, setup, paper)
    if setup.size == RunSize.FULL:
        page.text("The paper's one figure stands beside ours for every noise rate.")
    _print_figures(page, results, setup, 2, paper)
    # The lowest noise has the highest ceiling: a figure above it is above all ceilings.
    least = min(c.noise for c in cells)
    tell_ceiling(page, {c: figures for c, figures in paper.items() if c.noise == least}, 2)
    _claim_order(page, results, setup, cells)


def _explain(page: Page, results: CaseResults, setup: Setup, cells: list[Cell]) -> None:
    size = find_size(setup)
    page.text(
        f"{size.n_rows} rows, {size.n_features} features, {size.n_folds} folds; data sets that "
        f"were run for a row of the table: {_say_run(results, setup, cells)}; each is cut once "
        "into folds that all methods share. A figure is the mean over the data sets of the mean "
        f"over the folds, ± its standard error over data sets; {say_beside(setup)}. "
        f"Epsilon is one of {', '.join(f'{e:g}' for e in size.epsilons)}."
    )


def _say_run(results: CaseResults, setup: Setup, cells: list[Cell]) -> str:
    """Describe how many data sets were run for each method, and how many are planned."""
    table = 1 if cells[0].positive_fraction == 0.5 else 2
    parts = []
    for method, title in TITLE_OF.items():
        planned = repetitions(setup, table, method)
        counts = [sum(case_name(c, method, k) in results for k in range(planned)) for c in cells]
        least, most = min(counts), max(counts)
        run = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"{title} {run}" + ("" if least == planned else f" of {planned}"))
    return ", ".join(parts)


def _print_figures(
    page: Page, results: CaseResults, setup: Setup, table: int, paper: dict[Cell, list[float]]
) -> None:
    """Our AUC on noisy held-out labels, with the best epsilon, then chosen on other folds."""
    page.text(
        "AUC on held-out rows with noisy labels, epsilon the best over all folds (as the paper "
        "seems to have chosen it):"
    )
    rows = []
    for c, figures in paper.items():
        parts = [
            cell(values_of(results, setup, table, c, method, setting, "test"), figure)
            for (method, setting), figure in zip(
                columns_of(setup), beside(setup, [*figures, None]), strict=True
            )
        ]
        rows.append([label_of(c), f"{ceiling(c):.4f}", *parts])
    page.table(["positives, r, noise", "ceiling", *heads_of(setup)], rows)
    page.text(
        "The same with epsilon, or RankBoost's rounds, chosen for each fold on the other folds, so "
        "that a fold's test rows do not influence the choice (ours only):"
    )
    honest = [
        [
            label_of(c),
            *(
                cell(values_of(results, setup, table, c, m, "honest", "test"), None)
                for m in ("RankBoost", "SoftRankBoost", "pairs", "heuristic", "reduced")
            ),
        ]
        for c in paper
    ]
    heads = ["RankBoost", "SoftRankBoost", "LP-Pair", "the method", "reduced"]
    page.table(["positives, r, noise", *heads], honest)


def _claim_order(page: Page, results: CaseResults, setup: Setup, cells: list[Cell]) -> None:
    """LP-Pair and the method against RankBoost and against each other, on noisy labels."""
    table = 1 if cells[0].positive_fraction == 0.5 else 2
    pairs = [
        ("the method beats RankBoost", "heuristic", "RankBoost"),
        ("LP-Pair beats RankBoost", "pairs", "RankBoost"),
        ("the method beats SoftRankBoost", "heuristic", "SoftRankBoost"),
        ("the method is at least as good as LP-Pair", "heuristic", "pairs"),
    ]
    for text, first, second in pairs:
        gaps = gaps_of(results, setup, cells, first, second)
        _claim_gap(
            page,
            f"{text} (Table {table}, epsilon or rounds chosen on other folds, noisy labels)",
            gaps,
        )


def gaps_of(
    results: CaseResults, setup: Setup, cells: list[Cell], first: str, second: str
) -> list[float]:
    """Differences in AUC of two methods, with epsilon or rounds chosen on other folds.

    There is one value for each fraction of positives, r and repetition.

    The noise rates share their rows and clean labels, so that their mean is one observation.
    """
    table = 1 if cells[0].positive_fraction == 0.5 else 2
    gaps: list[float] = []
    for fraction, r in sorted({(c.positive_fraction, c.r) for c in cells}):
        by_noise = [
            differences(
                values_of(results, setup, table, c, first, "honest", "test"),
                values_of(results, setup, table, c, second, "honest", "test"),
            )
            for c in cells
            if (c.positive_fraction, c.r) == (fraction, r)
        ]
        # As many repetitions as every noise rate has.
        gaps += [mean(column) for column in zip(*by_noise, strict=False)]
    return gaps


def _claim_gap(page: Page, text: str, gaps: Sequence[float]) -> None:
    if len(gaps) < 2:
        page.claim(text, Verdict.NOT_RUN, MISSING)
        return
    estimate = t_interval(list(gaps))
    page.claim(
        text, direction(estimate), f"{estimate}, {len(gaps)} draws, each over all noise rates"
    )


def _print_noise_readings(
    page: Page, results: CaseResults, setup: Setup, paper: dict[Cell, list[float]]
) -> None:
    """Distances of RankBoost's figures for every noise rate and for their mean."""
    noises = sorted({c.noise for c in paper})
    rows_ = sorted({(c.positive_fraction, c.r) for c in paper})
    columns = columns_of(setup)[:3]

    def ours(fraction: float, r: int, noise: float, k: int) -> list[float]:
        c = Cell(fraction, r, noise)
        return values_of(results, setup, 2, c, *columns[k], "test")

    names = [*(f"{noise:.0%} only" for noise in noises), "mean of the rates"]
    gaps: dict[str, list[float]] = {name: [] for name in names}
    for fraction, r in rows_:
        for k in range(3):
            values = [ours(fraction, r, noise, k) for noise in noises]
            if not all(values):
                continue
            means = [mean(v) for v in values]
            figure = paper[Cell(fraction, r, noises[0])][k]
            for name, value in zip(names, [*means, mean(means)], strict=True):
                gaps[name].append(abs(value - figure))
    page.table(
        ["reading", "mean distance of RankBoost from the paper"],
        [[name, f"{mean(g):.4f}" if g else MISSING] for name, g in gaps.items()],
    )
    if all(gaps.values()):
        nearest = min(gaps, key=lambda name: mean(gaps[name]))
        verdict = Verdict.REPRODUCED if nearest == names[-1] else Verdict.NOT_REPRODUCED
        page.claim(
            "Table 2 holds means over the noise rates 5, 10 and 15 %, as its caption may be read",
            verdict,
            f"nearest is: {nearest}, {mean(gaps[nearest]):.4f} off; "
            f"the mean is {mean(gaps[names[-1]]):.4f} off",
        )
