"""Report on Theorem 2: tables, a picture and claims."""

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING

from papers.experiment import CaseResults, Result, Setup
from papers.long_servedio_2007.distributions import least_edge
from papers.long_servedio_2007.rates import at_most, fit_power, interval, theorem2_rounds
from papers.long_servedio_2007.training_bound import (
    GOALS,
    RELEVANT,
    TABLES,
    majority_name,
    n_repetitions,
)
from papers.page import Headline, Page
from papers.statistics import log_slope, mean_se, t_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUNDING = 1e-9  # relative; steps are rounded to a grid of 2^-32
_LINES = (
    ("theorem", "theorem's bound", "C3", ":"),
    ("bound", "product of Z", "C1", "--"),
    ("vote", "vote H, measured", "C0", "-"),
    ("score", "score F, measured", "C2", "-."),
)


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Write the section."""
    page.text(
        "1 - AUC on the training rows after all rounds, beside the two bounds. gamma is the "
        "smallest AUC - 1/2 of any round; the theorem's bound is (1 - gamma²/4)^(T/2), the "
        "product of Z uses what each round achieved. H is the vote that the theorem speaks of, "
        "F the weighted sum that AUCBoost scores by. Where the classes overlap, no gamma holds for "
        "every distribution: the smallest one sinks towards 0, and only the product of Z says "
        "something."
    )
    shown = _shown(results)
    head = ["rows", "T", "gamma", "theorem's bound", "product of Z", "1 - AUC of H", "1 - AUC of F"]
    page.table(head, [[name, *_line(results[name])] for name in shown])
    pictured = [name for name in shown if name in _PICTURED]
    page.figure(
        "theorem2",
        lambda figure: _draw(figure, {name: results[name] for name in pictured}),
        "1 - AUC on the training rows against the number of rounds; a curve ends where no pair is "
        "out of order",
    )
    _claim_bounds(page, results)
    _report_rounds(page, results, setup)


_PICTURED = (majority_name(5, 0), majority_name(15, 0), "gaussian pair", "heart", "spambase")


def _shown(results: CaseResults) -> list[str]:
    """The first sample of each majority distribution, and all other data."""
    names = [*(majority_name(k, 0) for k in RELEVANT), "gaussian pair", *TABLES]
    return [name for name in names if name in results]


def _line(result: Result) -> list[str]:
    last = [result[name][-1] for name in ("theorem", "bound", "vote", "score")]
    return [f"{result['n_rounds']}", f"{result['edge']:.4f}", *(f"{value:.3g}" for value in last)]


def _draw(figure: "Figure", results: dict[str, Result]) -> None:
    """One panel for each of at most six sets of rows."""
    n_columns = min(3, max(1, len(results)))
    n_lines = -(-max(1, len(results)) // n_columns)
    figure.set_size_inches(3.2 * n_columns, 2.9 * n_lines + 0.4)
    axes = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax in axes[len(results) :]:
        ax.axis("off")
    for ax, (name, result) in zip(axes, results.items(), strict=False):
        _draw_panel(ax, name.removesuffix(", sample 0"), result)
    if results:
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)


def _draw_panel(ax: "Axes", title: str, result: Result) -> None:
    for name, label, color, style in _LINES:
        points = [(t, v) for t, v in zip(result["rounds"], result[name], strict=True) if v > 0]
        ax.plot(*zip(*points, strict=True), color=color, linestyle=style, label=label)
    lowest = min(v for name in ("vote", "score") for v in [*result[name], 1.0] if v > 0)
    ax.set(xscale="log", yscale="log", title=title, xlabel="rounds T", ylabel="1 - AUC")
    ax.set_ylim(lowest / 5, 1.5)
    ax.spines[["top", "right"]].set_visible(False)


def _claim_bounds(page: Page, case_results: CaseResults) -> None:
    results = case_results.values()
    n_points = sum(len(result["rounds"]) for result in results)
    page.must_hold(
        "product of Z ≥ 1 - AUC of H and of F, after every number of rounds looked at",
        all(
            _above(result["bound"], result[name])
            for result in results
            for name in ("vote", "score")
        ),
        f"{len(case_results)} fits, {n_points} points; 1 - AUC of H over the product is at most "
        f"{_largest_ratio(case_results, 'vote', 'bound'):.2f}",
    )
    page.must_hold(
        "Theorem 2: (1 - gamma²/4)^(T/2) with the smallest gamma seen is above the product of Z",
        all(_above(result["theorem"], result["bound"]) for result in results),
        f"the product is at most {_largest_ratio(case_results, 'bound', 'theorem'):.2f} of it",
    )


def _above(upper: Sequence[float], lower: Sequence[float]) -> bool:
    return all(a >= b * (1 - _ROUNDING) for a, b in zip(upper, lower, strict=True))


def _largest_ratio(case_results: CaseResults, over: str, under: str) -> float:
    results = case_results.values()
    return max(a / b for r in results for a, b in zip(r[over], r[under], strict=True))


def _report_rounds(page: Page, case_results: CaseResults, setup: Setup) -> None:
    """Rounds to 1 - AUC(H) <= epsilon on the majority distributions, for which gamma is known."""
    n = n_repetitions(setup)
    groups = {
        k: [case_results[name] for i in range(n) if (name := majority_name(k, i)) in case_results]
        for k in RELEVANT
    }
    groups = {k: results for k, results in groups.items() if results}
    if not groups:
        return
    page.text(
        "Rounds until 1 - AUC of H is at most epsilon and stays there, mean and standard error of "
        f"{n} samples; in brackets 8 ln(1/epsilon)/gamma² with gamma = 1/(2k), which the best of k "
        "features has under any distribution. A dash: not within the rounds that were run."
    )
    head = ["majority of", "1/(2k)", "smallest gamma seen", *(f"epsilon = {g}" for g in GOALS)]
    page.table(head, [_rounds_line(k, results) for k, results in groups.items()])
    _claim_edges(page, groups)
    _claim_powers(page, groups)
    _tell_epsilon(page, groups)


def _rounds_line(k: int, results: list[Result]) -> list[str]:
    cells = []
    for goal in GOALS:
        needed = [result[f"rounds_to_{goal}"] for result in results]
        shown = "–" if None in needed else mean_se(needed, 1)
        cells.append(f"{shown} [{theorem2_rounds(goal, least_edge(k)):,}]")
    least = min(result["edge"] for result in results)
    return [f"{k}", f"{least_edge(k):.4f}", f"{least:.4f}", *cells]


def _claim_edges(page: Page, groups: dict[int, list[Result]]) -> None:
    pairs = [(k, result) for k, results in groups.items() for result in results]
    ratio = min(result["edge"] / least_edge(k) for k, result in pairs)
    page.check(
        "on a majority of k features every round's gamma is 1/(2k) or more",
        ratio >= 1 - _ROUNDING,
        f"the smallest is {ratio:.2f} times that",
    )
    page.must_hold(
        "8 ln(1/epsilon)/gamma² rounds are enough for AUC(H) ≥ 1 - epsilon",
        all(_is_within(k, result) for k, result in pairs),
        f"{len(pairs)} fits, epsilon from {max(GOALS)} to {min(GOALS)}; "
        f"at most {max(_fraction_used(k, result) for k, result in pairs):.2%} of them were needed",
        headline=Headline(
            "Theorem 2: AUCBoost reaches AUC 1 - epsilon in O(log(1/epsilon)/gamma²) rounds",
            "8 ln(1/epsilon)/gamma² rounds",
            f"at most {max(_fraction_used(k, result) for k, result in pairs):.2%} of these rounds, "
            f"{len(pairs)} fits",
        ),
    )


def _is_within(k: int, result: Result) -> bool:
    """Whether no goal refutes the theorem; an unreached goal does if enough rounds were run."""
    for goal in GOALS:
        limit = theorem2_rounds(goal, least_edge(k))
        needed = result[f"rounds_to_{goal}"]
        if (result["n_rounds"] + 1 if needed is None else needed) > limit:
            return False
    return True


def _fraction_used(k: int, result: Result) -> float:
    """The largest fraction of the theorem's rounds that a goal needed."""
    limits = {goal: theorem2_rounds(goal, least_edge(k)) for goal in GOALS}
    return max((result[f"rounds_to_{g}"] or 0) / limit for g, limit in limits.items())


def _claim_powers(page: Page, groups: dict[int, list[Result]]) -> None:
    goal, limit = 0.05, page.expected["theorem2_power_of_gamma"]
    points = [
        (1 / least_edge(k), result[f"rounds_to_{goal}"])
        for k, results in groups.items()
        for result in results
        if result[f"rounds_to_{goal}"] is not None
    ]
    power = fit_power(*zip(*points, strict=True)) if points else None
    page.claim(
        f"rounds grow no faster than 1/gamma² (epsilon = {goal}, gamma = 1/(2k))",
        at_most(power, limit),
        f"fitted power of 1/gamma: {interval(power)}; claimed: at most {limit:g}",
    )


def _tell_epsilon(page: Page, groups: dict[int, list[Result]]) -> None:
    """Explain why growth like log(1/epsilon) is not judged: the rounds follow no power of it."""
    bends = [b for results in groups.values() for r in results if (b := _bend(r)) is not None]
    if not bends:
        return
    curves = [points for results in groups.values() for r in results if (points := _by_goal(r))]
    powers = [log_slope(*zip(*c, strict=True)).value for c in curves if len(c) > 1]
    power, bend = t_interval(powers), t_interval(bends)
    fits = "does not fit" if bend.low > 0 or bend.high < 0 else "cannot be ruled out"
    page.text(
        "Whether rounds grow no faster than log(1/epsilon) is not judged by a fitted power. A "
        f"power of ln(1/epsilon) fitted to each sample is {interval(power)} on average, where the "
        f"claim is at most 1; a power law {fits}, though: its power over the smaller half of the "
        f"goals minus that over the larger half is {interval(bend)} ({len(bends)} samples, 95 % "
        "intervals). The rounds that the theorem grants are enough at every goal, as said above."
    )


def _by_goal(result: Result) -> list[tuple[float, float]]:
    """(ln(1/epsilon), rounds) of the goals that were reached after the first round."""
    points = [(log(1 / goal), result[f"rounds_to_{goal}"]) for goal in sorted(GOALS, reverse=True)]
    return [(x, rounds) for x, rounds in points if rounds]


def _bend(result: Result) -> float | None:
    """The power over the smaller half of the goals minus that over the larger half."""
    points = _by_goal(result)
    middle = len(points) // 2
    if len(points) < 3:
        return None
    first, last = (
        log_slope(*zip(*part, strict=True)).value
        for part in (points[: middle + 1], points[middle:])
    )
    return last - first
