"""Report on Tables 1 and 2: our figures beside the paper's, and the order of the methods."""

from collections.abc import Sequence
from statistics import mean

from papers.experiment import CaseResults, Setup
from papers.experiment import Size as RunSize
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import differences, t_interval
from papers.suehiro_2011.artificial import (
    METHODS,
    Cell,
    case_name,
    cells_of_rates,
    cells_of_table1,
    cells_of_table2,
    find_size,
    rate_repetitions,
    repetitions,
)
from papers.suehiro_2011.artificial_figures import (
    ceiling,
    columns_of,
    heads_of,
    label_of,
    luck,
    values_of,
)
from papers.suehiro_2011.readings import (
    print_ceilings,
    print_constants,
    print_readings,
    tell_ceiling,
)
from papers.suehiro_2011.wording import MISSING, beside, cell, printed, say_beside, title_of
from papers.verdicts import by_distance, by_interval, distance, over_rows


def report_table1(page: Page, results: CaseResults, setup: Setup) -> None:
    """Equal classes: figures, ceilings, readings, and the order of the methods."""
    cells = cells_of_table1(setup)
    rows = printed(page, "table1")["rows"]
    paper = {c: rows[f"r={c.r} noise={c.noise:g}"] for c in cells}
    _explain(page, results, setup, cells)
    _print_figures(page, results, setup, 1, paper)
    _claim_figures(page, results, setup, 1, paper)
    _claim_order(page, results, setup, cells)
    print_ceilings(page, results, setup, paper)
    print_constants(page, results, setup, cells)
    print_readings(page, results, setup, paper)
    tell_ceiling(page, paper, 1)


def report_table2(page: Page, results: CaseResults, setup: Setup) -> None:
    """Unequal classes: which noise rate the paper's rows have, then figures."""
    cells = cells_of_table2(setup)
    rows = printed(page, "table2")["rows"]
    paper = {c: rows[f"share={c.positive_fraction:g} r={c.r}"] for c in cells}
    page.text(
        "The caption names three noise rates, the table has one row for each r. Two readings are "
        "possible: the mean over the rates, or one of them. RankBoost, which has no parameter to "
        "choose, decides: the distance is that of its figures from the paper's, averaged over rows."
    )
    _print_noise_readings(page, results, setup, paper)
    _explain(page, results, setup, cells)
    _print_figures(page, results, setup, 2, paper)
    _claim_figures(page, results, setup, 2, paper)
    _claim_order(page, results, setup, cells)
    tell_ceiling(page, paper, 2)


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
    table = _table_of(cells)
    parts = []
    for method in METHODS:
        planned = repetitions(setup, table, method)
        counts = [sum(case_name(c, method, k) in results for k in range(planned)) for c in cells]
        least, most = min(counts), max(counts)
        run = f"{least}" if least == most else f"{least} to {most}"
        missing = "" if least == planned else f" of {planned}"
        parts.append(f"{title_of(method)} {run}{missing}")
    return ", ".join(parts)


def _table_of(cells: Sequence[Cell]) -> int:
    return 1 if cells[0].positive_fraction == 0.5 else 2


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
                columns_of(setup), beside(setup, [*figures, None, None]), strict=True
            )
        ]
        rows.append([label_of(c), f"{ceiling(c):.4f}", *parts])
    page.table(["positives, r, noise", "ceiling", *heads_of(setup)], rows)


def _claim_figures(
    page: Page, results: CaseResults, setup: Setup, table: int, paper: dict[Cell, list[float]]
) -> None:
    """The paper's figures beside ours, by r: each is of one data set, as far as we know."""
    if setup.size != RunSize.FULL:
        return
    for r in sorted({c.r for c in paper}):
        for k, (method, setting) in enumerate(columns_of(setup)[:-2]):
            if method != "RankBoost" or k == 0:
                _claim_figure(page, results, setup, table, paper, r, k, (method, setting))


def _claim_figure(
    page: Page,
    results: CaseResults,
    setup: Setup,
    table: int,
    paper: dict[Cell, list[float]],
    r: int,
    k: int,
    column: tuple[str, str],
) -> None:
    rows = {c: values_of(results, setup, table, c, *column, "test") for c in paper if c.r == r}
    verdicts = [figure_verdict(c, values, paper[c][k], column[0]) for c, values in rows.items()]
    gaps = [mean(values) - paper[c][k] for c, values in rows.items() if values]
    n_over = sum(is_impossible(c, paper[c][k]) for c in rows)
    numbers = [f"{sum(verdict == Verdict.REPRODUCED for verdict in verdicts)} of {len(rows)} met"]
    if gaps:
        far = max(gaps, key=abs)
        numbers.append(f"mean difference {mean(gaps):+.4f}, largest {far:+.4f}")
    if n_over:
        numbers.append(f"{n_over} above the best possible AUC by more than 3 standard deviations")
    told = None
    if column[0] == "heuristic" and table == 1 and r == 1:
        figures = ", ".join(str(paper[c][k]) for c in rows)
        best = ", ".join(f"{ceiling(c):g}" for c in rows)
        ours = ", ".join(f"{mean(values):.3f}" if values else MISSING for values in rows.values())
        short = "Table 1: AUC of the heuristic, r = 1, noise 5, 10 and 15 %"
        told = Headline(short, figures, f"{ours}; the best possible: {best}", Cause.PAPER)
    text = f"figures of {heads_of(setup)[k]} in Table {table}, r = {r}"
    if column[0] == "SoftRankBoost":  # ours is not that of its authors
        page.addition(text, over_rows(verdicts), "; ".join(numbers))
        return
    why = Cause.UNKNOWN if Verdict.NOT_REPRODUCED in verdicts else Cause.RUNS
    why = Cause.PAPER if n_over else why
    page.claim(text, over_rows(verdicts), "; ".join(numbers), headline=told, cause=why)


def is_impossible(c: Cell, figure: float) -> bool:
    """Whether a figure is above the best possible AUC by more than luck in 1000 rows."""
    return figure > ceiling(c) + 3 * luck(c)


def figure_verdict(c: Cell, values: Sequence[float], figure: float, method: str) -> Verdict:
    """A figure of the paper, of one data set as far as we know, beside ours."""
    if is_impossible(c, figure):
        return Verdict.NOT_REPRODUCED
    if not values:
        return Verdict.NOT_RUN
    apart = distance(values, figure, rounding=5e-5, n_theirs=1)
    return by_distance(apart, is_proposed=method == "heuristic")


def _claim_order(page: Page, results: CaseResults, setup: Setup, cells: list[Cell]) -> None:
    """LP-Pair and the heuristic against RankBoost and against each other, on noisy labels."""
    table = _table_of(cells)
    page.text(
        "Order of the methods: differences in AUC on the same folds, with epsilon or RankBoost's "
        "rounds chosen for each fold on the other folds, noisy labels."
    )
    for first, second, judge in (
        ("heuristic", "RankBoost", page.claim),
        ("pairs", "RankBoost", page.claim),
        ("heuristic", "pairs", page.claim),
        ("heuristic", "SoftRankBoost", page.addition),
        ("heuristic", "RankBoost, negations", page.addition),
        ("pairs", "RankBoost, negations", page.addition),
        ("RankBoost", "RankBoost, negations", page.addition),
    ):
        text = f"{title_of(first)} has higher AUCs than {title_of(second)} (Table {table})"
        if "SoftRankBoost" in second:
            text += "; SoftRankBoost is our own derivation"
        told = {}
        verdict, number = judge_order(results, setup, cells, first, second)
        if (first, second) == ("heuristic", "RankBoost"):
            told["headline"] = Headline(
                f"Table {table}: the heuristic beats RankBoost with the same hypotheses",
                f"{len(cells) if table == 1 else 5} of {len(cells)} rows",
                number,
                Cause.UNKNOWN,
            )
        judge(text, verdict, number, **told)


def judge_order(
    results: CaseResults, setup: Setup, cells: list[Cell], first: str, second: str
) -> tuple[Verdict, str]:
    """Judge by the mean difference over all rows; the number also tells the rows ahead."""
    gaps = gaps_of(results, setup, cells, first, second)
    if len(gaps) < 2:
        return Verdict.NOT_RUN, MISSING
    rows = [_row_gap(results, setup, c, first, second) for c in cells]
    known = [gap for gap in rows if gap is not None]
    estimate = t_interval(gaps)
    number = (
        f"{estimate}; ahead in {sum(gap > 0 for gap in known)} of {len(known)} rows, "
        f"{len(gaps)} data sets"
    )
    return by_interval(estimate), number


def _row_gap(results: CaseResults, setup: Setup, c: Cell, first: str, second: str) -> float | None:
    """The mean difference in one row of the table."""
    both = [
        values_of(results, setup, _table_of([c]), c, method, "honest", "test")
        for method in (first, second)
    ]
    gaps = differences(*both)
    return mean(gaps) if gaps else None


def gaps_of(
    results: CaseResults, setup: Setup, cells: list[Cell], first: str, second: str
) -> list[float]:
    """Differences in AUC of two methods, with epsilon or rounds chosen on other folds.

    There is one value for each fraction of positives, r and repetition.

    The noise rates share their rows and clean labels, so that their mean is one observation.
    """
    table = _table_of(cells)
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
        # As many repetitions as every noise rate has that was run.
        ran = [gaps_ for gaps_ in by_noise if gaps_]
        gaps += [mean(column) for column in zip(*ran, strict=False)]
    return gaps


def _print_noise_readings(
    page: Page, results: CaseResults, setup: Setup, paper: dict[Cell, list[float]]
) -> None:
    """Distances of RankBoost's figures for every noise rate and for their mean."""
    noises = sorted({c.noise for c in [*paper, *cells_of_rates(setup)]})
    names = [*(f"{noise:.0%} only" for noise in noises), "mean of the rates"]
    gaps: dict[str, list[float]] = {name: [] for name in names}
    for c, figures in paper.items():
        for k, (method, setting) in enumerate(columns_of(setup)[:3]):
            values = [
                _of_rate(results, setup, c._replace(noise=noise), method, setting)
                for noise in noises
            ]
            if all(values):
                means = [mean(v) for v in values]
                for name, value in zip(names, [*means, mean(means)], strict=True):
                    gaps[name].append(abs(value - figures[k]))
    page.table(
        ["reading", "mean distance of RankBoost from the paper"],
        [[name, f"{mean(g):.4f}" if g else MISSING] for name, g in gaps.items()],
    )
    if all(gaps.values()):
        nearest = min(gaps, key=lambda name: mean(gaps[name]))
        page.text(
            f"Nearest to the paper is: {nearest}, {mean(gaps[nearest]):.4f} off on average (the "
            f"mean of the rates is {mean(gaps[names[-1]]):.4f} off). The paper's figures are "
            "judged at 5 %."
        )


def _of_rate(results: CaseResults, setup: Setup, c: Cell, method: str, setting: str) -> list[float]:
    """As many data sets of RankBoost as every noise rate has."""
    return values_of(results, setup, 2, c, method, setting, "test")[: rate_repetitions(setup)]
