"""Report on Theorem 8: curves over the number of layers, and a comparison with other boosters."""

from collections.abc import Callable, Iterable, Sequence, Sized
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING

from papers.experiment import CaseResults, Result, Setup
from papers.long_servedio_2007.distributions import NOISY_DISTRIBUTIONS
from papers.long_servedio_2007.label_noise import (
    MIN_CLASS,
    OURS,
    PEER_DISTRIBUTIONS,
    PEERS,
    SKEWED,
    TREES,
    curve_name,
    layers,
    n_peer_rounds,
    n_peer_rows,
    n_repetitions,
    n_rows,
    peer_name,
    peer_rates,
    rates,
    restored_name,
    restored_size,
)
from papers.long_servedio_2007.noisy_coin import report_coins
from papers.long_servedio_2007.rates import of_all
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import Estimate, mean_se, standard_error, t_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "osD^vX"
Values = dict[tuple[str, float, str], dict[int, float]]  # (distribution, eta, method) -> by sample
Curves = dict[tuple[str, float], list[list[float]]]  # (distribution, eta) -> samples, each over T


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Write the section."""
    votes, positions = (_curves(results, setup, name) for name in ("vote", "position"))
    if votes:
        _report_curves(page, votes, positions, setup)
        _claim_past_noise(page, votes, setup)
        _claim_near_one(page, votes, positions)
        _claim_balance(page, results, setup)
    report_coins(page, results)
    _report_restored(page, results, setup)
    _report_peers(page, results, setup)


def _curves(results: CaseResults, setup: Setup, name: str) -> Curves:
    curves = {
        (distribution, eta): [
            results[case][name]
            for i in range(n_repetitions(setup))
            if (case := curve_name(distribution, eta, i)) in results
        ]
        for distribution in NOISY_DISTRIBUTIONS
        for eta in rates(setup)
    }
    return {key: samples for key, samples in curves.items() if samples}


def _report_curves(page: Page, votes: Curves, positions: Curves, setup: Setup) -> None:
    T = layers(setup)
    page.text(
        f"AUC on unseen rows with clean labels after training on {n_rows(setup):,} rows of which "
        "a fraction eta has its label flipped; mean and standard error of "
        f"{_describe_samples(votes.values(), setup)}. H is the paper's classifier, the majority "
        "vote, with AUC = 1 - (e+ + e-)/2 (Lemma 5); the last column is the position, the score "
        f"that MartiRank ranks by. MartiRank does not know eta: a node needs {MIN_CLASS:g} rows "
        "of each label, whatever eta is."
    )
    head = ["distribution", "eta", "1 - eta", *(f"H, T = {t}" for t in T), f"position, T = {T[-1]}"]
    rows = []
    for (distribution, eta), samples in votes.items():
        cells = [mean_se(column) for column in zip(*samples, strict=True)]
        last = mean_se([sample[-1] for sample in positions[distribution, eta]])
        rows.append([distribution, eta, f"{1 - eta:.2f}", *cells, last])
    page.table(head, rows)
    page.figure(
        "theorem8",
        lambda figure: _draw(figure, votes, T),
        "1 - AUC of MartiRank's vote H on clean labels against the number of layers T, one line "
        "for each noise rate; bars are one standard error",
    )


def _draw(figure: "Figure", curves: Curves, T: tuple[int, ...]) -> None:
    distributions = [
        distribution
        for distribution in NOISY_DISTRIBUTIONS
        if any(key[0] == distribution for key in curves)
    ]
    figure.set_size_inches(3.4 * len(distributions), 4.0)
    panels = figure.subplots(1, len(distributions), sharey=True, squeeze=False)[0]
    etas = sorted({eta for _, eta in curves})
    for ax, distribution in zip(panels, distributions, strict=True):
        for number, eta in enumerate(etas):
            columns = list(zip(*curves.get((distribution, eta), []), strict=True))
            if not columns:
                continue
            missed = [max(1 - mean(column), 1e-6) for column in columns]
            errors = [standard_error(column) if len(column) > 1 else 0.0 for column in columns]
            style = {"color": f"C{number}", "marker": _MARKERS[number], "markersize": 4}
            ax.errorbar(T, missed, errors, label=f"{eta:g}", capsize=2, linewidth=1.2, **style)
        ax.set(
            xscale="log", yscale="log", title=distribution.replace(", ", ",\n"), xlabel="layers T"
        )
        ax.set_xticks(T, [str(t) for t in T])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    low = panels[0].get_ylim()[0]
    ticks = [tick for tick in (0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001) if tick >= low]
    panels[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[0].set_ylabel("1 - AUC of H on clean labels")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, title="noise rate eta", loc="outside right upper", frameon=False)


def _claim_past_noise(page: Page, votes: Curves, setup: Setup) -> None:
    """AUC above 1 - eta, which bounds the accuracy of boosted classifiers, at the largest T.

    A rare class needs more layers than are run here, so that falling short there says nothing
    about the theorem; the section without sampling has it.
    """
    noisy = {key: _last(samples) for key, samples in votes.items() if key[1] > 0}
    for distribution in NOISY_DISTRIBUTIONS:
        gains = {
            eta: t_interval([value - (1 - eta) for value in values])
            for (name, eta), values in noisy.items()
            if name == distribution
        }
        text = (
            f"{distribution}: AUC of H on clean labels exceeds 1 - eta (epsilon < eta is reached) "
            f"at T = {layers(setup)[-1]}, for every eta"
        )
        number = "AUC minus (1 - eta): " + "; ".join(
            f"eta = {eta:g} {gain}" for eta, gain in gains.items()
        )
        verdict = past_noise(list(gains.values()))
        if distribution == SKEWED:
            page.addition(f"{text}, fewer layers than the proof grants", verdict, number)
        else:
            page.claim(text, verdict, number, headline=_headline(distribution, gains))


def _headline(distribution: str, gains: dict[float, Estimate]) -> Headline | None:
    """Balanced classes are on the first page; a rare class is there without sampling."""
    if distribution != next(iter(NOISY_DISTRIBUTIONS)) or not gains:
        return None
    above = sum(gain.low > 0 for gain in gains.values())
    least = min(gains.values(), key=lambda gain: gain.value)
    return Headline(
        "Theorem 8: with noise eta the AUC still passes 1 - eta, balanced classes",
        "for every eta < 1/2",
        f"at {above} of {len(gains)} noise rates; smallest excess {least}",
        Cause.PAPER,
    )


def _last(samples: Sequence[Sequence[float]]) -> list[float]:
    return [sample[-1] for sample in samples]


def past_noise(gains: Sequence[Estimate]) -> Verdict:
    """Judge whether all gains are above 0; not if an interval or most means are below."""
    if not gains:
        return Verdict.NOT_RUN
    if all(gain.low > 0 for gain in gains):
        return Verdict.REPRODUCED
    n_above = sum(gain.value > 0 for gain in gains)
    if any(gain.high < 0 for gain in gains) or n_above < len(gains) / 2:
        return Verdict.NOT_REPRODUCED
    return Verdict.UNDECIDED


def _claim_near_one(page: Page, votes: Curves, positions: Curves) -> None:
    """Judge "arbitrarily close to 1", for finite data taken as an AUC of 0.99."""
    goal = page.expected["near_one"]
    best = {
        name: {key: max(map(mean, zip(*c, strict=True))) for key, c in curves.items()}
        for name, curves in (("H", votes), ("the position", positions))
    }
    reached = {name: [v >= goal for v in values.values()] for name, values in best.items()}
    missed = {key[1] for key, value in best["H"].items() if value < goal}
    page.addition(
        f"AUC comes close to 1 (taken as {goal}) at any eta < 1/2, with these numbers of rows and "
        "layers",
        of_all(reached["H"]),
        "distributions and noise rates where the mean AUC reaches it: "
        + ", ".join(f"{name} at {sum(hits)} of {len(hits)}" for name, hits in reached.items())
        + (f"; H misses it from eta = {min(missed):g} on" if missed else ""),
    )


def _claim_balance(page: Page, case_results: CaseResults, setup: Setup) -> None:
    """The proof of Theorem 8 needs equal errors on the true classes, which noise prevents."""
    eta = max(eta for eta in rates(setup) if eta <= 0.3)
    results = _samples_of(case_results, setup, partial(curve_name, SKEWED, eta))
    if not results:
        return
    gap = t_interval([result["error_neg"][-1] - result["error_pos"][-1] for result in results])
    page.addition(
        "H has equal errors on the two true classes where one of them is rare (10 % positive, eta "
        f"= {eta:g})",
        is_even(gap),
        f"error on negatives minus error on positives at T = {layers(setup)[-1]}: {gap}",
    )


def _samples_of(results: CaseResults, setup: Setup, name: Callable[[int], str]) -> list[Result]:
    """The samples of a case that were run."""
    return [results[name(i)] for i in range(n_repetitions(setup)) if name(i) in results]


def _describe_samples(groups: Iterable[Sized], setup: Setup) -> str:
    """Describe how many samples were run, and of how many if not all."""
    sizes, planned = [len(group) for group in groups], n_repetitions(setup)
    least, most = min(sizes, default=0), max(sizes, default=0)
    run = f"{least}" if least == most else f"{least} to {most}"
    return f"{run} samples" if least == planned else f"{run} of {planned} samples"


def _report_restored(page: Page, case_results: CaseResults, setup: Setup) -> None:
    """The remedy: if eta is known, the coins equalise the errors on the true classes."""
    by_rate = {
        eta: _samples_of(case_results, setup, partial(restored_name, eta)) for eta in rates(setup)
    }
    groups = {eta: results for eta, results in by_rate.items() if results}
    if not groups:
        return
    size, T = restored_size(setup)
    page.text(
        f"The distribution with 10 % positives again, with the noise removed from the coins: {T} "
        f"layers of SamplingMartiRank with eta given, at most {size:,} fresh draws per layer; "
        f"mean and standard error of {_describe_samples(groups.values(), setup)}."
    )
    columns = ("vote", "error_neg", "error_pos")
    rows = [
        [f"{eta:g}", *(mean_se([result[name][0] for result in results]) for name in columns)]
        for eta, results in groups.items()
    ]
    page.table(["eta", "AUC of H", "error on -", "error on +"], rows)
    gains = {
        eta: t_interval([result["vote"][0] - (1 - eta) for result in results])
        for eta, results in groups.items()
    }
    page.addition(
        f"{SKEWED}, noise removed from the coins, eta given: AUC of H exceeds 1 - eta at T = {T}",
        past_noise(list(gains.values())),
        "AUC minus (1 - eta): " + "; ".join(f"eta = {eta:g} {gain}" for eta, gain in gains.items()),
    )


def is_even(gap: Estimate, most: float = 0.01) -> Verdict:
    """Judge equality within 0.01: by the whole interval; not if larger and significant."""
    if -most <= gap.low and gap.high <= most:
        return Verdict.REPRODUCED
    is_significant = gap.low > 0 or gap.high < 0
    return Verdict.NOT_REPRODUCED if is_significant and abs(gap.value) > most else Verdict.UNDECIDED


def _report_peers(page: Page, results: CaseResults, setup: Setup) -> None:
    values = {
        (distribution, eta, method): {
            i: results[name]["auc"]
            for i in range(n_repetitions(setup))
            if (name := peer_name(distribution, eta, method, i)) in results
        }
        for distribution in PEER_DISTRIBUTIONS
        for eta in peer_rates(setup)
        for method in (OURS, *PEERS, TREES)
    }
    if not any(values.values()):
        return
    T, run = n_peer_rounds(setup), [one for one in values.values() if one]
    page.text(
        f"Other boosters, all on the same {n_peer_rows(setup):,} rows: AUC on clean labels, mean "
        f"and standard error of {_describe_samples(run, setup)}. {T} rounds of AUCBoost "
        f"(features), RankBoost and AdaBoost (stumps); LightGBM with {5 * T} stumps and {T} "
        "trees; 80 layers of MartiRank, ranked by the position. The paper has no such comparison: "
        f"an addition, on {PEER_DISTRIBUTIONS[0]} and on {PEER_DISTRIBUTIONS[1]}, which was "
        "constructed against boosters of a convex loss."
    )
    rows = [
        [
            distribution,
            f"{eta:g}",
            *(_cell(values[distribution, eta, method]) for method in (OURS, *PEERS, TREES)),
        ]
        for distribution in PEER_DISTRIBUTIONS
        for eta in peer_rates(setup)
    ]
    page.table(["distribution", "eta", OURS, *PEERS, TREES], rows)
    for distribution in PEER_DISTRIBUTIONS:
        _claim_ahead(page, distribution, values, setup)


def _cell(values: dict[int, float]) -> str:
    return mean_se(list(values.values())) if values else "–"


def _claim_ahead(page: Page, distribution: str, values: Values, setup: Setup) -> None:
    """MartiRank against the boosters of single features under noise, and against trees."""
    gains = {
        peer: gain
        for peer in (*PEERS, TREES)
        if (gain := gain_over_peer(distribution, peer, values, setup)) is not None
    }
    single = {peer: gain for peer, gain in gains.items() if peer != TREES}
    page.addition(
        f"{distribution}: with noise MartiRank is ahead of every booster of a convex loss over "
        "single features",
        past_noise(list(single.values())),
        "AUC on clean labels, MartiRank minus the other: "
        + ("; ".join(f"{peer} {gain}" for peer, gain in single.items()) or "–"),
    )
    if TREES in gains:
        page.text(
            f"{distribution}: trees can combine features; AUC of MartiRank minus that of {TREES} "
            f"is {gains[TREES]}."
        )


def gain_over_peer(distribution: str, peer: str, values: Values, setup: Setup) -> Estimate | None:
    """Differences of the means over the noise rates, sample by sample (rates share their rows)."""
    noisy = [eta for eta in peer_rates(setup) if eta > 0]
    pairs = [(values[distribution, eta, OURS], values[distribution, eta, peer]) for eta in noisy]
    samples = [i for i in range(n_repetitions(setup)) if all(i in a and i in b for a, b in pairs)]
    gaps = [mean(ours[i] - theirs[i] for ours, theirs in pairs) for i in samples]
    return t_interval(gaps) if gaps else None
