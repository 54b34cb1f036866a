"""Figure 2: AUC_CV against the number of rounds T, for several lambda (section 3.3)."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from auctor._typing import Floats
from papers.experiment import Case, CaseResults, Result, Setup, Size
from papers.komori_2010.cross_validation import CRITERIA, cross_validate
from papers.komori_2010.distributions import draw
from papers.komori_2010.methods import LAMBDAS, N_QUANTILES, Effort, effort
from papers.komori_2010.verdicts import REDUCED, Finding, ahead
from papers.page import Page, Verdict
from papers.verdicts import by_distance, distance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = {0.0001: ("C0", "o"), 0.001: ("C1", "^"), 0.01: ("C2", "s")}


def figure2_cases(setup: Setup) -> list[Case]:
    """A case for each sample and number of cuts."""
    cuts = setup.pick((20, N_QUANTILES, 255), (N_QUANTILES,), (N_QUANTILES,))
    n_samples, spent = setup.pick({N_QUANTILES: 10}, {}, {}), effort(setup)
    cost = len(LAMBDAS) * spent.n_rounds * spent.n_folds * 0.0015
    return [
        Case(
            f"{n_cuts} quantiles, sample {i}",
            partial(tune, n_cuts, i, setup.seed, spent),
            cost=cost,
            turn=i,
        )
        for n_cuts in cuts
        for i in range(n_samples.get(n_cuts, setup.pick(3, 1, 1)))
    ]


def tune(n_cuts: int, sample: int, seed: int, effort: Effort) -> Result:
    """Both criteria after every round, the mean over the folds, for every lambda."""
    rows = draw("gaussian", seed, sample).train
    found = cross_validate(rows, LAMBDAS, effort.n_rounds, effort.n_folds, n_cuts)
    return {
        f"{criterion} {penalty:g}": np.round(values, 6).tolist()
        for (criterion, penalty), values in found.items()
    }


def curves(results: CaseResults, n_cuts: int, criterion: str, penalty: float) -> Floats:
    """(samples, rounds)."""
    own = [result for name, result in results.items() if name.startswith(f"{n_cuts} quantiles,")]
    return np.array([result[f"{criterion} {penalty:g}"] for result in own])


def report_figure2(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report the curves, their maxima, and the claims of section 3.3."""
    known = sorted({int(name.split()[0]) for name in results})
    page.text(
        f"Means over samples of 250 + 250 rows and the {effort(setup).n_folds} folds of each. The "
        "paper does not say how many cuts a feature has; the number of them decides what a lambda "
        "means."
    )
    is_full = setup.size == Size.FULL  # otherwise it has fewer rounds and folds than the paper
    peaks = page.expected["figure2"]["peak_rounds"] if is_full else {}
    _print_peaks(page, results, known, peaks)
    page.figure(
        "figure2",
        partial(_draw, results=results, known=known, peaks=peaks),
        "AUC_CV against T for three lambda, mean over the samples and its standard error (bands)"
        + ("; the paper's Figure 2 has its peaks at the dotted lines" if is_full else ""),
    )
    if N_QUANTILES in known:
        _claim_peaks(page, results, is_full)


def _print_peaks(page: Page, results: CaseResults, known: list[int], peaks: dict[str, int]) -> None:
    rows = []
    for n_cuts in known:
        for penalty in sorted(LAMBDAS):
            n_samples = len(curves(results, n_cuts, "auc", penalty))
            cells: list[object] = [n_cuts, n_samples, f"{penalty:g}"]
            for criterion in CRITERIA:
                mean = curves(results, n_cuts, criterion, penalty).mean(axis=0)
                top = int(np.argmax(mean))
                cells += [top + 1, f"{mean[top]:.4f}", f"{mean[-1]:.4f}"]
            rows.append([*cells, *([f"[{peaks[f'{penalty:g}']}]"] if peaks else [])])
    heads = [
        f"{name}: {what}" for name in CRITERIA.values() for what in ("best T", "there", "last")
    ]
    last = ["[the paper's best T]"] if peaks else []
    page.table(["quantiles", "samples", "lambda", *heads, *last], rows)


def _draw(figure: "Figure", results: CaseResults, known: list[int], peaks: dict[str, int]) -> None:
    """A panel for each number of cuts."""
    panels: list[Axes] = list(figure.subplots(1, len(known), sharey=True, squeeze=False)[0])
    for ax, n_cuts in zip(panels, known, strict=True):
        for penalty, (colour, marker) in _MARKERS.items():
            lines = curves(results, n_cuts, "penalised", penalty)
            mean, rounds = lines.mean(axis=0), np.arange(1, lines.shape[1] + 1)
            if len(lines) > 1:
                error = lines.std(axis=0, ddof=1) / len(lines) ** 0.5
                ax.fill_between(rounds, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
            ax.plot(
                rounds, mean, color=colour, marker=marker, markevery=max(len(mean) // 10, 1),
                markersize=4, linewidth=1.2, label=f"lambda = {penalty:g}",
            )  # fmt: skip
            if peaks:
                ax.axvline(peaks[f"{penalty:g}"], color=colour, linestyle=":", linewidth=1)
        ax.set(xlabel="rounds T", title=f"{n_cuts} quantiles a feature", ylim=(0.7, None))
    panels[0].set_ylabel("AUC_CV")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def _claim_peaks(page: Page, results: CaseResults, is_full: bool) -> None:
    """Judge the claims by the curves with 50 quantiles and the criterion as printed."""
    for text, penalty in (
        ("the curve of lambda = 0.0001 starts to decline around T = 20", 0.0001),
        ("the curve of lambda = 0.001 has its peak around T = 70", 0.001),
        ("the curve of lambda = 0.01 rises to T = 200", 0.01),
    ):
        by_sample = curves(results, N_QUANTILES, "penalised", penalty)
        theirs = page.expected["figure2"]["peak_rounds"][f"{penalty:g}"]
        verdict = near_peak(by_sample, theirs) if is_full else REDUCED
        page.claim(f"{text} ({N_QUANTILES} quantiles)", *verdict)
    best = {p: curves(results, N_QUANTILES, "penalised", p).max(axis=1) for p in LAMBDAS}
    others = np.maximum(best[0.001], best[0.0001])
    verdict = ahead((best[0.01] - others).tolist()) if is_full else REDUCED
    page.claim("lambda = 0.01 is the best of the three, by its best T", *verdict)


def near_peak(by_sample: Floats, theirs: int) -> Finding:
    """Judge the T of the peak, which the paper shows for one sample and rounds to tens."""
    if by_sample.shape[1] < theirs:
        return Finding(Verdict.NOT_RUN, f"{by_sample.shape[1]} rounds are too few")
    tops = (np.argmax(by_sample, axis=1) + 1.0).tolist()
    apart = distance(tops, theirs, rounding=5, n_theirs=1)
    verdict = by_distance(apart, is_proposed=False, value_range=by_sample.shape[1])
    number = (
        f"best T {np.mean(tops):.0f} on average, from {min(tops):.0f} to {max(tops):.0f} in "
        f"{len(tops)} samples"
    )
    return Finding(verdict, number)
