"""Report on Theorems 9 and 10: draws, their growth, and errors."""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, exp, log
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from scipy.stats import binomtest

from papers.experiment import CaseResults, Result, Setup
from papers.long_servedio_2007.oracle_draws import (
    FIXED_LAYERS,
    LARGEST_EPSILON,
    LEAST_K,
    MIN_CLASS,
    POSITIVE_RATE,
    SAMPLE_SIZE,
    n_repetitions,
)
from papers.long_servedio_2007.rates import at_most, fit_power, interval, of_all, ranker_draws
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLASSES = ("neg", "pos")


class Varied(NamedTuple):
    """A varied parameter: its label, its value in a fit, and the fits that belong to it."""

    label: str
    of: Callable[[Result], float]
    is_one: Callable[[Result], bool]

    def points(
        self, results: list[Result], what: Callable[[Result], float]
    ) -> tuple[list[float], list[float]]:
        """Return the points of the fits that belong to it, in order."""
        own = sorted((r for r in results if self.is_one(r)), key=self.of)
        return [self.of(r) for r in own], [what(r) for r in own]


_EPSILON = Varied(
    "1/epsilon (T of Theorem 9)",
    lambda r: 1 / r["epsilon"],
    lambda r: not r["is_fixed"] and r["k"] == LEAST_K and r["eta"] == 0,
)
_FIXED = Varied(
    f"1/epsilon (T = {FIXED_LAYERS})", lambda r: 1 / r["epsilon"], lambda r: r["is_fixed"]
)
_GAMMA = Varied(
    "1/gamma (through k)",
    lambda r: 1 / r["advantage"],
    lambda r: not r["is_fixed"] and r["epsilon"] == LARGEST_EPSILON and r["eta"] == 0,
)
_ETA = Varied(
    "1/(1 - 2 eta)",
    lambda r: 1 / (1 - 2 * r["eta"]),
    lambda r: not r["is_fixed"] and r["epsilon"] == LARGEST_EPSILON and r["k"] == LEAST_K,
)


def report(page: Page, case_results: CaseResults, setup: Setup) -> None:
    """Write the section."""
    results = list(case_results.values())
    page.text(
        "The oracle draws rows of k features, -1 or +1 with equal probability, with their "
        "majority as the true label, and flips a fraction eta of them. T = ln(2/epsilon)/(2 "
        "gamma²), where gamma is the two-sided advantage of one feature under the distribution "
        f"itself; m_A = {MIN_CLASS:g}/(1 - 2 eta)², p = 1/2, eta and p given. There are only 2^k "
        "rows, so that the errors of H on the true classes, what freezes, and the advantage of "
        "every node are computed, not estimated. The limit is 2 T²(T + 1)² m_A/(epsilon p), the "
        "paper's T⁴ m_A/(epsilon p) with its constants; its other term, for the draws that decide "
        f"which nodes freeze, is left out. {n_repetitions(setup)} fits per setting: mean and "
        "standard error of the draws, means of what freezes, the largest errors, the smallest "
        "advantage."
    )
    head = ["k", "epsilon", "eta", "T", "draws", "limit", "error on -", "error on +"]
    head += ["frozen, -", "frozen, +", "wrong and frozen", "smallest advantage"]
    page.table(head, [_line(group) for group in _groups(results)])
    page.figure(
        "theorem10",
        lambda figure: _draw(figure, results),
        "Draws of SamplingMartiRank and the limit of section 5; powers with their 95 % intervals",
    )
    _claim_limits(page, results)
    _claim_powers(page, results)
    _claim_errors(page, results)
    _claim_freezing(page, results)


def _groups(results: Iterable[Result]) -> list[list[Result]]:
    """Group the samples of each setting; a setting may be used in several comparisons."""
    groups: dict[tuple[float, ...], list[Result]] = {}
    for result in results:
        key = tuple(result[name] for name in ("is_fixed", "k", "eta", "n_layers"))
        key = (*key, -result["epsilon"])
        groups.setdefault(key, []).append(result)
    return [groups[key] for key in sorted(groups)]


def _line(group: list[Result]) -> list[str]:
    first = group[0]
    errors = [max(r[f"error_{name}"] for r in group) for name in _CLASSES]
    frozen = [mean(r[f"frozen_{name}"] for r in group) for name in _CLASSES]
    wrong = max(r[f"error_frozen_{name}"] for r in group for name in _CLASSES)
    return [
        f"{first['k']}",
        f"{first['epsilon']:g}",
        f"{first['eta']:g}",
        f"{first['n_layers']}",
        _mean_draws([r["draws"] for r in group]),
        f"{_limit(first):,.0f}",
        *(f"{value:.4f}" for value in (*errors, *frozen, wrong)),
        f"{min(r['least_advantage'] for r in group):.3f}",
    ]


def _mean_draws(draws: Sequence[float]) -> str:
    """Mean and standard error, if there are several values."""
    error = f" ± {standard_error(draws):,.0f}" if len(draws) > 1 else ""
    return f"{mean(draws):,.0f}{error}"


def _draws(result: Result) -> float:
    return float(result["draws"])


def _limit(result: Result) -> float:
    """The limit on draws; m_A is larger with noise, since noisy rows contain less information."""
    min_class = MIN_CLASS / (1 - 2 * result["eta"]) ** 2
    return ranker_draws(result["n_layers"], min_class, result["epsilon"], POSITIVE_RATE)


def _draw(figure: "Figure", results: list[Result]) -> None:
    figure.set_size_inches(8.4, 6.2)
    panels = figure.subplots(2, 2).ravel()
    for ax, varied in zip(panels, (_EPSILON, _FIXED, _GAMMA, _ETA), strict=True):
        x, y = varied.points(results, _draws)
        label = varied.label
        if not len(x):  # not reached by a run that was stopped
            ax.set(xlabel=f"{label}: not run yet", xticks=[], yticks=[])
            continue
        ax.plot(x, y, "o", color="C0", markersize=4, alpha=0.7, label="draws, one dot a fit")
        limit = varied.points(results, _limit)
        ax.plot(*limit, color="C1", linestyle="--", label="limit, 2 T²(T + 1)² m_A/(epsilon p)")
        power = fit_power(x, y)
        if power is not None:
            scale = exp(mean(_logs(y)) - power.value * mean(_logs(x)))
            ax.plot(x, [scale * value**power.value for value in x], color="C0", linewidth=1,
                    label="fitted power")  # fmt: skip
            label += f"; power {interval(power)}"
        ax.set(xscale="log", yscale="log", xlabel=label, ylabel="draws")
        ticks = sorted(set(x))
        ax.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)


def _logs(values: Sequence[float]) -> list[float]:
    return [log(value) for value in values]


def _claim_limits(page: Page, results: list[Result]) -> None:
    page.check(
        "the number of draws is at most T times 8 m_A T (T + 1)/(epsilon p (1 - 2 eta)²), the "
        "largest number that a layer may take",
        all(r["draws"] <= _layers_limit(r) for r in results),
        f"at most {max(r['draws'] / _layers_limit(r) for r in results):.2f} of that",
    )
    page.claim(
        "the number of draws is at most T⁴ m_A/(epsilon p), with its constants",
        of_all([r["draws"] <= _limit(r) for r in results]),
        f"at most {max(r['draws'] / _limit(r) for r in results):.3f} of it in {len(results)} fits",
    )


def _layers_limit(result: Result) -> float:
    T, epsilon = result["n_layers"], result["epsilon"]
    reach = POSITIVE_RATE * (1 - 2 * result["eta"]) ** 2
    return T * ceil(8 * MIN_CLASS * T * (T + 1) / (epsilon * reach)) + 3 * SAMPLE_SIZE


def _claim_powers(page: Page, results: list[Result]) -> None:
    """Measured powers against those of section 5: T^4 / epsilon, and 1 / (1 - 2 eta)^3."""
    by_gamma = 2 * page.expected["section5_power_of_layers"]  # T is of the order 1 / gamma^2
    by_noise = page.expected["section5_power_of_noise"]
    of_limit = fit_power(*_EPSILON.points(results, _limit))
    steepest = None if of_limit is None else of_limit.value
    _claim_power(page, results, _FIXED, 1.0, "1, the paper's power for one T")
    _claim_power(page, results, _EPSILON, steepest, "that of T⁴/epsilon over the same values")
    _claim_power(
        page,
        results,
        _GAMMA,
        by_gamma,
        f"{by_gamma}, since T⁴ enters and T is of the order 1/gamma²",
    )
    _claim_power(
        page, results, _ETA, by_noise, f"{by_noise}, from the draws that decide what freezes"
    )


def _claim_power(
    page: Page, results: list[Result], varied: Varied, limit: float | None, claimed: str
) -> None:
    power = fit_power(*varied.points(results, _draws))
    shown = "–" if limit is None else f"{limit:.2f}"
    page.claim(
        f"the number of draws grows with {varied.label} by a power of at most {claimed}",
        Verdict.NOT_RUN if limit is None else at_most(power, limit),
        f"fitted power {interval(power)}; claimed: at most {shown}",
    )


def _claim_errors(page: Page, results: list[Result]) -> None:
    """Theorem 9: errors of at most epsilon, and the two halves of its proof."""
    chosen = [r for r in results if not r["is_fixed"]]  # T is that of the theorem
    worst = max((r[f"error_{name}"] / r["epsilon"] for r in chosen for name in _CLASSES), default=0)
    page.claim(
        "Theorem 9: H errs on at most epsilon of each true class",
        of_all([r[f"error_{name}"] <= r["epsilon"] for r in chosen for name in _CLASSES]),
        f"largest error divided by epsilon: {worst:.3f}, in {len(chosen)} fits",
        headline=Headline(
            "Theorem 9: SMartiRank errs on at most epsilon of each class",
            "error ≤ epsilon",
            f"largest error {worst:.3f} epsilon in {len(chosen)} fits",
        ),
    )
    sound = [r for r in results if r["least_advantage"] > 0]
    page.must_hold(
        "the misclassified rows that do not freeze are at most a fraction exp(-2 g² T) of a "
        "class, where g is the smallest advantage of any node that is reached",
        all(_walks_right(r, name) for r in sound for name in _CLASSES),
        f"{len(sound)} of {len(results)} fits have g > 0 at every node",
    )
    below = [r["share_below"] for r in chosen]
    page.addition(
        "every node has at least the advantage of the first one, by which T was chosen",
        of_all([fraction == 0 for fraction in below]),
        f"{sum(fraction == 0 for fraction in below)} of {len(below)} fits; at most "
        f"{max(below, default=0):.1%} of the steps are taken at nodes with less",
    )
    _claim_intervals(page, results)


def _walks_right(result: Result, name: str) -> bool:
    moving = result[f"error_{name}"] - result[f"error_frozen_{name}"]
    limit = exp(-2 * result["least_advantage"] ** 2 * result["n_layers"])
    return bool(moving <= limit + 1e-9)


def _claim_intervals(page: Page, results: list[Result]) -> None:
    """Compare the certificate's 95 % intervals with the exact errors."""
    inside = [
        r[f"error_{name}_low"] - 1e-12 <= r[f"error_{name}"] <= r[f"error_{name}_high"] + 1e-12
        for r in results
        for name in _CLASSES
    ]
    page.check(
        "the certificate's 95 % intervals contain the errors on the true classes",
        covers(sum(inside), len(inside)),
        f"{sum(inside)} of {len(inside)}; the check fails if so few are less likely than 1 in 1000",
    )


def covers(n_inside: int, n: int, level: float = 0.95) -> bool:
    """Whether the coverage is consistent with the level (binomial test at 1 in 1000)."""
    return bool(binomtest(n_inside, n, level, alternative="less").pvalue >= 0.001)


def _claim_freezing(page: Page, results: list[Result]) -> None:
    """Equation (3) as printed, and as the proof needs it."""
    pairs = [(r, name) for r in results for name in _CLASSES]
    printed = [r[f"frozen_{name}"] < r["epsilon"] / 2 for r, name in pairs]
    page.claim(
        "equation (3) as printed: less than epsilon/2 of a class freezes",
        of_all(printed),
        f"{sum(printed)} of {len(printed)}; up to "
        f"{max(r[f'frozen_{name}'] for r, name in pairs):.0%} of a class freezes",
        cause=Cause.PAPER,
    )
    mended = [r[f"error_frozen_{name}"] <= r["epsilon"] / 2 for r, name in pairs]
    largest = max(r[f"error_frozen_{name}"] / r["epsilon"] for r, name in pairs)
    page.check(
        "equation (3) as the proof needs it: at most epsilon/2 of a class freezes with the wrong "
        "vote",
        all(mended),
        f"{sum(mended)} of {len(mended)}; largest fraction divided by epsilon: {largest:.3f}",
    )
