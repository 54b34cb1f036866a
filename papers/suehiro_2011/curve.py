"""Figures 1 and 2: gamma-hat as a function of nu+, and the path of the heuristic."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from auctor._typing import Floats
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Cause, Page, Verdict
from papers.suehiro_2011.programs import draw_classes, draw_sample
from papers.suehiro_2011.wording import MISSING
from papers.verdicts import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPSILON = 0.2
# Smaller differences of gamma come from the solver.
ROUNDING = 1e-7
STYLES: tuple[Any, ...] = ("-", "--", "-.", (0, (5, 1)), (0, (1, 1)))


def data_of(setup: Setup) -> dict[str, tuple[int, int, int, int, float]]:
    """Name -> rows, features, k, r and noise; the paper says only: an artificial data set."""
    shapes = [(10, 3, 0.05), (30, 8, 0.05), (30, 1, 0.05), (30, 15, 0.1), (30, 8, 0.1)]
    n_rows, n_features = setup.pick((400, 100), (80, 34), (40, 32))
    kept = shapes[: setup.pick(5, 3, 2)]
    return {
        f"k = {k}, r = {r}, noise {noise:.0%}": (n_rows, n_features, k, r, noise)
        for k, r, noise in kept
    }


def points_of(setup: Setup) -> int:
    """The number of grid points: valleys are as narrow as steps between integer numbers of rows."""
    return setup.pick(321, 121, 9)


def cases_of_figure1(setup: Setup) -> Iterator[Case]:
    """A curve for each data set."""
    n_points = points_of(setup)
    for name, shape in data_of(setup).items():
        work = partial(run_curve, shape, n_points, setup.seed)
        yield Case(name, work, cost=setup.pick(40.0, 1.5, 0.1))


def cases_of_figure2(setup: Setup) -> Iterator[Case]:
    """A path for each data set."""
    n_points = points_of(setup)
    for name, shape in data_of(setup).items():
        work = partial(run_way, shape, n_points, setup.seed, setup.pick(1e-6, 1e-5, 1e-4))
        yield Case(name, work, cost=setup.pick(70.0, 3.0, 0.2))


def run_curve(shape: tuple[int, int, int, int, float], n_points: int, seed: int) -> Result:
    """gamma-hat (7) on a grid of nu+, and gamma* (3)."""
    from tests.reference.margin import solve_rows

    classes = draw_classes(*shape, seed)
    p, n = len(classes.pos), len(classes.neg)
    nu = EPSILON * p * n
    # nu- = nu / nu+ must not exceed n, nor nu+ exceed p.
    grid = np.linspace(nu / n, p, n_points)
    gamma = [solve_rows(*classes, nu_pos, nu / nu_pos).value for nu_pos in grid.tolist()]
    return {"nu_pos": grid.tolist(), "gamma": gamma, "gamma_star": exact_pairs(shape, seed)}


def exact_pairs(shape: tuple[int, int, int, int, float], seed: int) -> float:
    """gamma*, the soft margin over all pairs."""
    from auctor import MarginRanker

    sample = draw_sample(*shape, seed)
    ranker = MarginRanker("pairs", epsilon=EPSILON, negations=False, relax=False)
    return float(ranker.fit(sample.X, sample.y).certificate_.values["gamma"])


def run_way(
    shape: tuple[int, int, int, int, float], n_points: int, seed: int, tol: float
) -> Result:
    """The heuristic's nu+ and gamma, step by step, beside the curve."""
    from auctor import MarginRanker
    from tests.reference.margin import solve_rows

    sample = draw_sample(*shape, seed)
    ranker = MarginRanker("heuristic", epsilon=EPSILON, negations=False, relax=False, gap_tol=tol)
    history = ranker.fit(sample.X, sample.y).history_
    classes = draw_classes(*shape, seed)
    nu = EPSILON * classes.n_pairs
    again = [solve_rows(*classes, nu_pos, nu / nu_pos).value for nu_pos in history.nu_pos_path]
    way = {
        "way_nu_pos": list(history.nu_pos_path),
        "way_gamma": list(history.gamma_path),
        "way_direct": again,
    }
    return run_curve(shape, n_points, seed) | way


def n_minima(gamma: Floats, flat: float = ROUNDING) -> int:
    """Valleys of a curve on a grid: runs down then up by more than ``flat``; ends count too."""
    kept = [float(gamma[0])]
    for value in gamma[1:].tolist():
        if abs(value - kept[-1]) > flat:
            kept.append(value)
    steps = np.sign(np.diff(kept))
    if len(steps) == 0:
        return 1
    turns = int(((steps[:-1] < 0) & (steps[1:] > 0)).sum())
    return turns + int(steps[0] > 0) + int(steps[-1] < 0)


def least_bend(gamma: Floats) -> float:
    """The smallest second difference; below 0 the curve is not convex."""
    return float(np.diff(gamma, 2).min())


def report_figure1(page: Page, results: CaseResults, setup: Setup) -> None:
    """Describe whether the curve is convex and how many valleys it has."""
    page.text(
        f"gamma-hat(nu+) of problem (7), solved on a grid by HiGHS, epsilon = {EPSILON:g}. The "
        "paper names no data: these are drawn as in section 5. gamma* is the margin over all "
        "pairs; the paper's sentence before Theorem 3 says that the smallest gamma-hat equals it, "
        "but products of distributions are only some of the distributions, so that it can only be "
        "larger."
    )
    rows: list[list[object]] = []
    bends, valleys, above = [], [], []
    for name in data_of(setup):
        if name not in results:
            rows.append([name, *[MISSING] * 5])
            continue
        result = results[name]
        gamma, star = np.array(result["gamma"]), result["gamma_star"]
        bends.append(least_bend(gamma))
        valleys.append(n_minima(gamma))
        above.append((gamma.min() - star) / max(star, 1e-3))
        cells = [f"{gamma.min():.6f}", f"{star:.6f}", f"{above[-1]:.2%}", valleys[-1]]
        rows.append([name, *cells, f"{bends[-1]:.1e}"])
    head = ["data", "smallest gamma-hat", "gamma*", "above", "valleys", "least second difference"]
    page.table(head, rows)
    page.figure(
        "figure1",
        partial(_draw_curves, _in_order(results, setup)),
        "gamma-hat against nu+ / p; dotted: the margin over all pairs",
    )
    _claim_shape(page, bends, valleys, above)


def _claim_shape(page: Page, bends: list[float], valleys: list[int], above: list[float]) -> None:
    n_all = len(bends)
    n_bent = sum(bend < -ROUNDING for bend in bends)
    n_many = sum(count > 1 for count in valleys)
    page.claim(
        "gamma-hat is not convex in nu+ (Figure 1)",
        counted(n_bent, n_all),
        f"{n_bent} of {n_all} data sets; {n_many} have more than one valley on the grid",
    )
    if not above:
        return
    page.check(
        "gamma-hat is never below gamma*",
        min(above) > -1e-5,
        f"smallest excess {min(above):.2e}",
    )
    equal = sum(excess < 1e-4 for excess in above)
    page.claim(
        "the smallest gamma-hat equals gamma* (the sentence before Theorem 3)",
        counted(equal, n_all),
        f"equal in {equal} of {n_all}; above by up to {max(above):.1%}",
        cause=Cause.PAPER,
    )


def _in_order(results: CaseResults, setup: Setup) -> CaseResults:
    """Sort results, since processes finish in any order."""
    return {name: results[name] for name in data_of(setup) if name in results}


def _draw_curves(results: CaseResults, figure: "Figure") -> None:
    axes = figure.subplots()
    for k, (name, result) in enumerate(results.items()):
        fraction = np.array(result["nu_pos"]) / result["nu_pos"][-1]
        axes.plot(fraction, result["gamma"], color=f"C{k}", linestyle=STYLES[k], label=name)
        axes.axhline(result["gamma_star"], color=f"C{k}", linestyle=":", linewidth=1)
    axes.set_xlabel("nu+ / p")
    axes.set_ylabel("gamma-hat(nu+)")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")


def report_figure2(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report the path, and its excess over the smallest value on the grid."""
    page.text(
        "MarginRanker(method='heuristic') from nu+ = sqrt(epsilon) p. Each step solves the tangent "
        "problem (9) and then (7). At every nu+ of the path (7) was solved again by HiGHS."
    )
    ways = _in_order(results, setup)
    rows = [
        _way_line(name, ways[name]) if name in ways else [name, *[MISSING] * 5]
        for name in data_of(setup)
    ]
    head = ["data", "solutions of (7)", "nu+", "gamma", "smallest on the grid", "excess"]
    page.table(head, rows)
    page.figure(
        "figure2",
        partial(_draw_ways, ways),
        "Left: the heuristic's steps (marks) on gamma-hat (lines). Right: as in the paper's "
        "figure, the bound 1/nu+ and its tangent at the first nu+ of the first data set, which (9) "
        "has in its place; the cross is the nu+ that (9) found",
    )
    _hold_ways(page, ways, setup)
    _claim_arrival(page, ways)


def _left_above(result: Result) -> float:
    """Excess of the end of the path over the smallest value on the grid, as a fraction of it."""
    lowest = min(result["gamma"])
    return float((result["way_direct"][-1] - lowest) / max(lowest, 1e-3))


def _way_line(name: str, result: Result) -> list[object]:
    way, nu_pos = result["way_gamma"], result["way_nu_pos"]
    return [
        name,
        len(way),
        f"{nu_pos[0]:.1f} → {nu_pos[-1]:.1f}",
        f"{way[0]:.6f} → {way[-1]:.6f}",
        f"{min(result['gamma']):.6f}",
        f"{_left_above(result):+.2%}",
    ]


def _hold_ways(page: Page, ways: CaseResults, setup: Setup) -> None:
    """gamma falls along the path (proved), and the solvers agree (a check of our own)."""
    falls = [b - a for result in ways.values() for a, b in pairwise(result["way_gamma"])]
    page.must_hold(
        "gamma never grows along the heuristic (section 4.2)",
        all(fall <= 1e-9 for fall in falls),
        f"{len(falls)} steps, largest change {max(falls, default=0.0):+.1e}",
    )
    apart = [
        abs(a - b)
        for result in ways.values()
        for a, b in zip(result["way_gamma"], result["way_direct"], strict=True)
    ]
    if apart:
        near = max(apart) < setup.pick(1e-5, 1e-4, 1e-3)
        page.check(
            "MarginRanker and HiGHS agree on (7)", near, f"largest difference {max(apart):.1e}"
        )


def _claim_arrival(page: Page, ways: CaseResults) -> None:
    gaps = [_left_above(result) for result in ways.values()]
    arrived = sum(gap < 0.01 for gap in gaps)
    page.addition(
        "the heuristic finds a minimum that is as good as any (within 1 % of the smallest value "
        "on the grid)",
        counted(arrived, len(gaps)) if gaps else Verdict.NOT_RUN,
        f"{arrived} of {len(gaps)}; at most {max(gaps, default=0.0):.2%} above it",
    )


def _draw_ways(ways: CaseResults, figure: "Figure") -> None:
    figure.set_size_inches(9.5, 4.8)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for k, (name, result) in enumerate(ways.items()):
        p, least = result["nu_pos"][-1], min(result["gamma"])
        fraction, way = np.array(result["nu_pos"]) / p, np.array(result["way_nu_pos"]) / p
        steps = np.array(result["way_direct"]) / least
        line = np.array(result["gamma"]) / least
        left.plot(fraction, line, color=f"C{k}", linestyle=STYLES[k], linewidth=1, label=name)
        left.plot(way, steps, "os^Dv"[k], color=f"C{k}", markersize=5)
        left.plot(way[0], steps[0], "o", color="black", markersize=9, fillstyle="none")
    left.set_xlabel("nu+ / p (ring: the start)")
    left.set_ylabel("gamma-hat(nu+) / its least on the grid")
    if ways:
        _draw_tangent(right, next(iter(ways.values())))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")


def _draw_tangent(ax: "Axes", result: Result) -> None:
    """The paper's picture: d+ is at most 1 / nu+, and (9) has the tangent at nu_c+ for it."""
    nu_pos = np.array(result["nu_pos"])
    at, *later = result["way_nu_pos"]
    tangent = np.maximum(2 / at - nu_pos / at**2, 0.0)
    ax.plot(nu_pos, 1 / nu_pos, color="black", label="1/nu+")
    ax.fill_between(nu_pos, tangent, color="0.9")
    ax.plot(nu_pos, tangent, color="C3", linestyle="--", label="tangent, allowed by (9) below it")
    ax.plot(at, 1 / at, "o", color="black", markersize=9, fillstyle="none")
    for results in later[:1]:
        ax.plot(results, 2 / at - results / at**2, "x", color="C3", markersize=8)
    ax.set(xlabel="nu+", ylabel="largest d+", ylim=(0, None))
