"""Theorem 21: TreeRank's distances from ROC* as the sample grows."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from auctor.datasets import approximate_roc
from papers.clemencon_vayatis_2009.feature_distributions import DISTRIBUTIONS, POSITIVE_FRACTION
from papers.clemencon_vayatis_2009.learners import (
    COSTS,
    FIXED_DEPTH,
    RANKERS,
    measure,
    measure_distribution,
    repetitions,
    sizes,
)
from papers.clemencon_vayatis_2009.verdicts import (
    join,
    judge_depth,
    judge_fall,
    judge_floor,
    step_exponent,
)
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Cause, Headline, Page
from papers.statistics import Estimate, mean_se, t_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {"d1": "d1", "d_inf": "d-infinity"}
_PLANES = ("squares", "diagonals")
_DEEPEST = 8
_MARKS = {"rate": "o-", "tree": "s--", "unions": "^:", "forest": "D-.", "fixed": "v--"}
_COLOURS = {"rate": "C0", "tree": "C1", "unions": "C2", "forest": "C4", "fixed": "C7"}


def cases(setup: Setup) -> list[Case]:
    """One case per distribution, ranker and size; and the tree on the distributions themselves."""
    all_cases = [
        Case(
            f"distribution/{distribution}",
            partial(measure_distribution, distribution, _DEEPEST),
            cost=1.0,
        )
        for distribution in _PLANES
    ]
    for distribution in DISTRIBUTIONS:
        for name, ranker in RANKERS.items():
            if distribution != "line" and not ranker.is_plane:
                continue
            for n_rows in sizes(setup):
                many = repetitions(setup, distribution, name, n_rows)
                base, each = COSTS.get(name, (0.05, 2e-6))
                if many:
                    work = partial(measure, distribution, name, n_rows, many, setup.seed)
                    cost = many * (base + each * n_rows)
                    all_cases.append(Case(_case(distribution, name, n_rows), work, cost=cost))
    return all_cases


def _case(distribution: str, ranker: str, n_rows: int) -> str:
    return f"{distribution}/{ranker}/{n_rows}"


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report distances by size, a picture, the tree on the distribution itself, and verdicts."""
    page.text(
        "Distributions of rows in the unit cube with a known likelihood ratio, so that distances "
        f"are those of the population, without a test sample; a fraction of {POSITIVE_FRACTION:g} "
        "is positive. Cells hold at least sqrt(n) rows, so that there are at most sqrt(n) of them. "
        "Mean ± standard error over independent samples, the same for all rankers; then the power "
        "of n over the last tenfold with its 95% interval."
    )
    page.text("Samples of each distribution by ranker and n:")
    page.table(*_repetition_table(setup))
    for key, title in _TITLES.items():
        page.text(f"**{title}**")
        page.table(*_distance_table(results, setup, key))
    caption = (
        "Distances from ROC* against the number of rows; dotted grey: the ideal tree of depth "
        f"{FIXED_DEPTH}"
    )
    page.figure("theorem21", partial(_draw, results, setup), caption)
    page.text("Cells, and their mean diameter over the negatives, of the trees in the theorem:")
    page.table(*_cell_table(results, setup))
    _judge_plug_in(page, results, setup)
    _judge_left_to_right(page, results, setup)
    _report_distribution(page, results)
    _judge_fixed(page, results, setup)
    _judge_grown(page, results, setup)


def _repetition_table(setup: Setup) -> tuple[list[str], list[list[str]]]:
    """The number of samples of each ranker; fewer, or none, if a fit takes long."""
    rows = []
    for name, ranker in RANKERS.items():
        feature_distributions = [
            distribution
            for distribution in DISTRIBUTIONS
            if ranker.is_plane or distribution == "line"
        ]
        rows.append(
            [ranker.title, *(_count(setup, feature_distributions, name, n) for n in sizes(setup))]
        )
    return ["ranker", *(f"n = {n:,}" for n in sizes(setup))], rows


def _count(setup: Setup, feature_distributions: list[str], ranker: str, n_rows: int) -> str:
    """Samples of a distribution; a reduced run may have none of some distributions."""
    counts = sorted(
        {repetitions(setup, distribution, ranker, n_rows) for distribution in feature_distributions}
    )
    return " or ".join(f"{count}" if count else "–" for count in counts)


def _pairs_run(results: CaseResults, setup: Setup) -> Iterable[tuple[str, str]]:
    """Distributions and rankers with results."""
    for distribution in DISTRIBUTIONS:
        for ranker in RANKERS:
            if any(_case(distribution, ranker, n) in results for n in sizes(setup)):
                yield distribution, ranker


def _distance_table(
    results: CaseResults, setup: Setup, key: str
) -> tuple[list[str], list[list[str]]]:
    head = ["distribution", "ranker", *(f"n = {n:,}" for n in sizes(setup)), "last power of n"]
    rows = []
    for distribution, ranker in _pairs_run(results, setup):
        cells = [_cell(results.get(_case(distribution, ranker, n)), key) for n in sizes(setup)]
        steps = find_steps(results, setup, distribution, ranker, key)
        last = _power(steps[-1]) if steps else "–"
        rows.append([DISTRIBUTIONS[distribution]().name, RANKERS[ranker].title, *cells, last])
    return head, rows


def _cell(result: Result | None, key: str) -> str:
    return "–" if result is None else mean_se(result[key], 5)


def _power(step: Estimate) -> str:
    return f"{step.value:.2f} ({step.low:.2f}, {step.high:.2f})"


def find_steps(
    results: CaseResults, setup: Setup, distribution: str, ranker: str, key: str
) -> list[Estimate]:
    """The power of n from each size that was run to the next."""
    ran = [n for n in sizes(setup) if _case(distribution, ranker, n) in results]
    values = [results[_case(distribution, ranker, n)][key] for n in ran]
    return [
        step_exponent(values[k], values[k + 1], float(np.log10(ran[k + 1] / ran[k])))
        for k in range(len(ran) - 1)
    ]


def _cell_table(case_results: CaseResults, setup: Setup) -> tuple[list[str], list[list[str]]]:
    head = ["distribution", "ranker", *(f"n = {n:,}" for n in sizes(setup))]
    rows = []
    for distribution, ranker in _pairs_run(case_results, setup):
        if ranker in ("rate", "grown"):
            results = [case_results.get(_case(distribution, ranker, n)) for n in sizes(setup)]
            cells = [
                f"{np.mean(r['n_cells']):.0f} of {np.mean(r['diameter']):.4f}" if r else "–"
                for r in results
            ]
            rows.append([DISTRIBUTIONS[distribution]().name, RANKERS[ranker].title, *cells])
    return head, rows


def _judge(
    page: Page,
    results: CaseResults,
    setup: Setup,
    text: str,
    ranker: str,
    key: str,
    feature_distributions: Iterable[str],
    is_claimed: bool = True,
    headline: tuple[str, str] | None = None,
) -> None:
    """Judge that a distance goes to zero on all distributions; the paper may not claim it there."""
    steps = {
        distribution: find_steps(results, setup, distribution, ranker, key)
        for distribution in feature_distributions
    }
    verdict = join([judge_fall(one) for one in steps.values()])
    words = [f"{DISTRIBUTIONS[p]().name}: n^{_power(s[-1])}" for p, s in steps.items() if s]
    number = f"last tenfold, {'; '.join(words) or 'not run'}"
    if not is_claimed:
        page.addition(text, verdict, number)
        return
    told = None
    if headline is not None:
        ours = "; ".join(words) or "not run"
        told = Headline(headline[0], headline[1], ours, Cause.PAPER)
    page.claim(text, verdict, number, headline=told, cause=Cause.PAPER)


def _judge_plug_in(page: Page, results: CaseResults, setup: Setup) -> None:
    page.text(
        "A distance counts as going to zero where it falls at every tenfold n beyond chance, and "
        "by a fifth or more at the last one; as having stopped where the last decrease is smaller "
        "than that."
    )
    order = "leaves by their fraction of positives, the plug-in of its proof"
    text = f"Theorem 21: d1 goes to 0 ({order})"
    short = ("Theorem 21: TreeRank is consistent in AUC (plug-in of the proof)", "d1 goes to 0")
    _judge(page, results, setup, text, "rate", "d1", DISTRIBUTIONS, headline=short)
    bound = [name for name, make in DISTRIBUTIONS.items() if make().meets_all]
    text = f"Theorem 21: d-infinity goes to 0 where Q* stays away from 1 ({order})"
    _judge(page, results, setup, text, "rate", "d_inf", bound)


def _judge_left_to_right(page: Page, results: CaseResults, setup: Setup) -> None:
    words = "leaves from left to right, the output of the algorithm, with perpendicular splits"
    for distribution, make in DISTRIBUTIONS.items():
        text = f"Theorem 21: d1 goes to 0 ({words}; {make().name})"
        # On squares the largest cell does not shrink, which the theorem assumes (next section).
        is_claimed = distribution != "squares"
        short = None
        if distribution == "diagonals":
            short = ("Theorem 21 for the order that TreeRank returns (cells shrink)",
                     "d1 goes to 0")  # fmt: skip
        _judge(page, results, setup, text, "tree", "d1", (distribution,), is_claimed, short)
    text = "d1 goes to 0 (left to right, where cells are unions of ever smaller boxes)"
    _judge(page, results, setup, text, "unions", "d1", DISTRIBUTIONS, is_claimed=False)


def _report_distribution(page: Page, case_results: CaseResults) -> None:
    """Report TreeRank on the distribution itself: the error without sampling error."""
    results = {
        p: case_results[f"distribution/{p}"] for p in _PLANES if f"distribution/{p}" in case_results
    }
    if not results:
        return
    page.text(
        "TreeRank with perpendicular splits on the distribution itself (a plane of 64 x 64 boxes, "
        "each with its mass of both classes), d1 by depth:"
    )
    rows = []
    for distribution, result in results.items():
        for order in ("tree", "rate"):
            cells = [f"{value:.5f}" for value in result[f"{order}_d1"]]
            rows.append([DISTRIBUTIONS[distribution]().name, RANKERS[order].title, *cells])
    page.table(["distribution", "ranker", *(f"depth {d}" for d in range(1, _DEEPEST + 1))], rows)
    page.text(
        "Rows that the first cut ranks below the others stay below. In the order from left to "
        "right that error remains, however small the cells become, unless the cut was a level "
        "set, as any cut of one feature with a monotone likelihood ratio is. The order by "
        "fraction of positives avoids this error, but takes the noise of single cells for a "
        "difference."
    )
    for order, words in (("tree", "from left to right"), ("rate", "by fraction of positives")):
        values = [result[f"{order}_d1"] for result in results.values()]
        ends = ", ".join(f"{v[-1]:.5f}" for v in values)
        page.addition(
            f"With perpendicular splits in the plane, deeper trees bring d1 to 0 ({words}, "
            "on the distribution itself)",
            join([judge_depth(v) for v in values]),
            f"d1 {ends} at depth {_DEEPEST}, "
            + ", ".join(f"{v[-1] / v[-4]:.2f}" for v in values)
            + " of its value three levels before",
        )


def _judge_fixed(page: Page, results: CaseResults, setup: Setup) -> None:
    """A tree of fixed depth: the approximation error of Proposition 15 is what remains."""
    ran = [n for n in sizes(setup) if _case("line", "fixed", n) in results]
    if not ran:
        return
    floor = approximate_roc(DISTRIBUTIONS["line"]().roc, depth=FIXED_DEPTH).d1
    values = results[_case("line", "fixed", ran[-1])]["d1"]
    excess = t_interval([value / floor - 1 for value in values])
    page.addition(
        f"Cells that do not shrink keep the approximation error: a tree of depth {FIXED_DEPTH} "
        "stops at the d1 of the ideal tree (one feature)",
        judge_floor(excess),
        f"at n = {ran[-1]:,} d1 is {np.mean(values):.5f}, the ideal tree's {floor:.5f}; "
        f"relative excess {excess}",
    )


def _judge_grown(page: Page, results: CaseResults, setup: Setup) -> None:
    page.text(
        "The theorem as worded asks that the diameter of cells goes to 0 and that they come from "
        "a class of finite VC dimension, as rectangles do. A tree grown until each cell has "
        "one class satisfies both; what it lacks is the bound on the number of cells, o(n / log "
        "n), that the theorem it follows has. (If the VC dimension is that of all unions of cells, "
        "it bounds their number, and their diameter cannot go to 0.)"
    )
    for key, title in _TITLES.items():
        text = f"Theorem 21 as worded: cells that shrink bring {title} to 0 (fully grown tree)"
        _judge(page, results, setup, text, "grown", key, ("line",))


def _draw(results: CaseResults, setup: Setup, figure: "Figure") -> None:
    figure.set_size_inches(10.5, 6.6)
    axes = figure.subplots(2, 3, sharex=True, sharey="row")
    for row, (key, title) in zip(axes, _TITLES.items(), strict=True):
        for ax, distribution in zip(row, DISTRIBUTIONS, strict=True):
            for ranker in _MARKS:
                if any(_case(distribution, ranker, n) in results for n in sizes(setup)):
                    _draw_line(ax, results, setup, distribution, ranker, key)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set(xscale="log", yscale="log")
        ideal = approximate_roc(DISTRIBUTIONS["line"]().roc, depth=FIXED_DEPTH)
        row[0].axhline(getattr(ideal, key), color="0.6", lw=1, ls=(0, (1, 3)))
        row[0].set_ylabel(title)
    for ax, distribution in zip(axes[0], DISTRIBUTIONS, strict=True):
        ax.set_title(DISTRIBUTIONS[distribution]().name, fontsize=10)
    for ax in axes[1]:
        ax.set_xlabel("rows, n")
    found_in = [ax.get_legend_handles_labels() for ax in axes[0]]
    named = {label: handle for pair in found_in for handle, label in zip(*pair, strict=True)}
    figure.legend(
        named.values(), named.keys(), loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )


def _draw_line(
    ax: Any, results: CaseResults, setup: Setup, distribution: str, ranker: str, key: str
) -> None:
    ran = [n for n in sizes(setup) if _case(distribution, ranker, n) in results]
    values = [results[_case(distribution, ranker, n)][key] for n in ran]
    middle = [np.mean(v) for v in values]
    error = [np.std(v, ddof=1) / len(v) ** 0.5 if len(v) > 1 else 0.0 for v in values]
    ax.errorbar(ran, middle, error, fmt=_MARKS[ranker], ms=4, lw=1.1, capsize=2,
                color=_COLOURS[ranker], label=RANKERS[ranker].title)  # fmt: skip
