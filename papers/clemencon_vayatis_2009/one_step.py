"""Definition 18: the sequence that adds one knot at a time, where it adds most to the AUC."""

from functools import partial
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.datasets import OptimalRoc, approximate_roc
from papers.clemencon_vayatis_2009.feature_distributions import distances
from papers.clemencon_vayatis_2009.rate import (
    DISTANCES,
    Exponent,
    fit_exponent,
)
from papers.clemencon_vayatis_2009.roc_curves import ROC_CURVES
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page
from papers.verdicts import counted

_TITLES = {"d1": "d1", "d_inf": "d-infinity"}
_N_CHECKED = 15  # first knots that are set beside all others
_N_TRIED = 1000  # false positive rates at which all other knots are tried


class Point(NamedTuple):
    """A knot."""

    alpha: float
    beta: float


def cases(setup: Setup) -> list[Case]:
    """One case per distribution of Proposition 15."""
    deepest = setup.pick(10, 7, 7)
    return [Case(name, partial(measure, name, deepest), cost=1.0) for name in ROC_CURVES]


def best_knot(roc: OptimalRoc, left: Point, right: Point) -> tuple[float, Point]:
    """The knot of a cell with the chord's slope, and what it adds to the AUC (section 3.3)."""
    width, rise = right.alpha - left.alpha, right.beta - left.beta
    if width <= 0 or rise <= 0:
        return 0.0, left
    alpha, beta = (float(np.squeeze(v)) for v in roc.rates(np.log(np.array([rise / width]))))
    alpha = min(max(alpha, left.alpha), right.alpha)
    beta = float(np.squeeze(roc.tpr(np.array([alpha]))))
    return (width * (beta - left.beta) - rise * (alpha - left.alpha)) / 2, Point(alpha, beta)


def one_step_knots(roc: OptimalRoc, n_cells: int) -> tuple[list[Point], list[float]]:
    """The knots in the order in which they are added, and what each adds to the AUC."""
    start, end = Point(0.0, 0.0), Point(1.0, 1.0)
    gain, knot = best_knot(roc, start, end)
    heap = [(-gain, start, end, knot)]
    heapify(heap)
    knots: list[Point] = []
    gains: list[float] = []
    while len(knots) < n_cells - 1:
        lost, left, right, knot = heappop(heap)
        knots.append(knot)
        gains.append(-lost)
        for a, b in ((left, knot), (knot, right)):
            gain, inner = best_knot(roc, a, b)
            heappush(heap, (-gain, a, b, inner))
    return knots, gains


def curve(knots: list[Point]) -> tuple[Floats, Floats]:
    """The piecewise linear curve through the knots."""
    points = np.array([(0.0, 0.0), *sorted(knots), (1.0, 1.0)])
    return points[:, 0], points[:, 1]


def measure(name: str, deepest: int) -> Result:
    """Distances after 2, 4, 8, ... cells; the first knots beside all others that were tried."""
    roc = ROC_CURVES[name].make()
    knots, gains = one_step_knots(roc, 2**deepest)
    result: Result = {f"{kind}_{d}": [] for kind in ("step", "tree") for d in DISTANCES}
    for depth in range(1, deepest + 1):
        found = distances(roc, *curve(knots[: 2**depth - 1]))
        ideal = approximate_roc(roc, depth=depth)
        for d, value, other in zip(DISTANCES, found, (ideal.d1, ideal.d_inf), strict=True):
            result[f"step_{d}"].append(value)
            result[f"tree_{d}"].append(other)
    result["missed"] = max(
        missed(roc, knots[:n], gains[n]) for n in range(min(_N_CHECKED, len(knots)))
    )
    result["rises"] = float(np.diff(gains).max())
    return result


def missed(roc: OptimalRoc, knots: list[Point], gain: float) -> float:
    """How much more than the chosen knot any other one adds, over a fine grid."""
    alpha, beta = curve(knots)
    tried = np.linspace(0, 1, _N_TRIED + 1)[1:-1]
    cell = np.clip(np.searchsorted(alpha, tried, side="right") - 1, 0, len(alpha) - 2)
    width, rise = np.diff(alpha)[cell], np.diff(beta)[cell]
    gains = (width * (roc.tpr(tried) - beta[cell]) - rise * (tried - alpha[cell])) / 2
    return float(gains.max() - gain)


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """The rate, and the constant beside that of the recursion."""
    shown = {name: results[name] for name in ROC_CURVES if name in results}
    if not shown:
        return
    deepest = len(next(iter(shown.values()))["step_d1"])
    page.text(
        "Definition 18 adds one knot at a time, the one that adds most to the AUC of all cells, so "
        "that there is an s_N for every N and not only for powers of 2. (As printed it maximises "
        "d1(s_N, s_N + sigma) = AUC(s_N) - AUC(s_N + sigma), which is never above 0: the two "
        f"arguments are exchanged.) Exponents at N = {2 ** (deepest - 4)} to {2**deepest}, and the "
        "distance with N cells divided by that of the recursion of section 3.4 with as many:"
    )
    head = ["distribution", *(f"{_TITLES[d]}: exponent" for d in DISTANCES)]
    head += [f"{_TITLES[d]}: over the recursion's" for d in DISTANCES]
    rows = []
    for name, r in shown.items():
        exponents = [str(fit_exponent(r[f"step_{d}"])) for d in DISTANCES]
        ratios = [f"{_ratio(r, d):.3f}" for d in DISTANCES]
        rows.append([ROC_CURVES[name].title, *exponents, *ratios])
    page.table(head, rows)
    _claims(page, shown)


def _ratio(result: Result, d: str) -> float:
    return float(result[f"step_{d}"][-1] / result[f"tree_{d}"][-1])


def _claims(page: Page, shown: CaseResults) -> None:
    page.must_hold(
        "Section 3.3: the knot at eta > Delta_j of the best cell adds at least as much to the AUC "
        "as any other knot",
        max(r["missed"] for r in shown.values()) < 1e-9,
        f"the first {_N_CHECKED} knots beside {_N_TRIED:,} others each, {len(shown)} "
        "distributions; others add at most "
        f"{max(0.0, *(r['missed'] for r in shown.values())):.1e} more",
    )
    meeting = [name for name in shown if ROC_CURVES[name].meets]
    page.text(
        "That this sequence has the rate of Proposition 15 wherever m <= |ROC*''| <= M, on curves "
        "too where the recursion has not, can be proved. A knot in a cell of width w adds between "
        "m w³/16 and M w³/16, and leaves parts of m w/(2 M) or more. If g is the most that a knot "
        "can add now, every cell that was split had w³ >= 16 g/M, so that N cells of (m/(2 M)) (16 "
        "g/M)^(1/3) or more fit into [0, 1]; and every cell now has w³ <= 16 g/m. Together w <= 2 "
        "(M/m)^(4/3)/N, d-infinity is at most M w²/8 and d1 at most M w²/12."
    )
    uneven = ", as the largest distance falls in uneven steps"
    for d in DISTANCES:
        used = [_used(name, shown[name], d) for name in meeting]
        exponents = [fit_exponent(shown[name][f"step_{d}"]) for name in meeting]
        page.must_hold(
            f"Proposition 15 for the sequence of Definition 18: {_TITLES[d]} is at most C/N² where "
            "ROC*'' is bounded and away from 0, with the C above",
            all(part <= 1 for part in used),
            f"at most {max(used, default=0):.3f} of C/N², {len(used)} distributions, N = 2 to "
            f"{2 ** len(shown[meeting[0]]['step_d1']) if meeting else 0}; slowest exponent fitted "
            f"to the last 5 doublings {_slowest(exponents)}{uneven if d == 'd_inf' else ''}",
        )
    for d in DISTANCES:
        ahead = sum(_ratio(shown[name], d) <= 1 + 1e-6 for name in shown)
        ratios = [_ratio(shown[name], d) for name in shown]
        page.addition(
            f"one knot at a time is at least as near to ROC* in {_TITLES[d]} as the recursion with "
            "as many cells",
            counted(ahead, len(shown)),
            f"on {ahead} of {len(shown)} distributions; {min(ratios):.3f} to {max(ratios):.3f} of "
            "its distance",
        )


def _used(name: str, result: Result, d: str) -> float:
    """The largest distance divided by C / N^2, over all N that were looked at."""
    known = ROC_CURVES[name]
    width = 2 * (known.most / known.least) ** (4 / 3)
    constant = known.most * width**2 / (12 if d == "d1" else 8)
    values = result[f"step_{d}"]
    return max(value * 4.0**depth / constant for depth, value in enumerate(values, start=1))


def _slowest(exponents: list[Exponent]) -> str:
    return str(max(exponents)) if exponents else "–"
