"""Theorem 8 without sampling: layers that noise takes, and accuracy beside the AUC."""

from functools import partial
from math import ceil, log
from typing import TYPE_CHECKING

from papers.experiment import Case, CaseResults, Result, Setup
from papers.long_servedio_2007.rates import of_all
from papers.long_servedio_2007.whole_distribution import Program, build_program, walk
from papers.page import Cause, Headline, Page
from papers.statistics import log_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 0.3  # v - u at every node: the weak ranker has gamma = 0.15
_K = 5
_CLOSE, _SMALL = 0.99, 0.001
EVEN, RARE = 0.5, 0.1
WALK, MAJORITY = "independent features", f"majority of {_K}"
COINS = {False: "of the noisy labels", True: "of the true classes (eta known)"}


def n_layers(setup: Setup, distribution: str) -> int:
    """Layers of the longest program."""
    if distribution == MAJORITY:
        return setup.pick(401, 401, 41)
    return setup.pick(3001, 2501, 301)


def granted(epsilon: float) -> int:
    """The layers of Theorem 8, with the advantage of gamma/4 that its proof uses.

    An odd number: with an even one a row in the middle is called positive, and errors are uneven.
    """
    return ceil(log(1 / epsilon) / (2 * (GAP / 8) ** 2)) | 1


def etas(setup: Setup) -> tuple[float, ...]:
    """Noise rates."""
    return setup.pick((0.1, 0.2, 0.3, 0.4, 0.45, 0.49), (0.1, 0.3), (0.1, 0.3))


def cases(setup: Setup) -> list[Case]:
    """Each distribution, class fraction and noise rate; eta known at one rate, as it is the same.

    With eta known the noise is removed from the rates, and nothing depends on it.
    """
    rates = etas(setup)
    settings = [(eta, False) for eta in rates] + [(rates[1], True)]
    return [
        Case(
            f"{distribution}, {fraction:g} positive, eta = {eta}, "
            + ("eta known" if is_known else "noisy coins"),
            partial(measure, distribution, fraction, eta, is_known, n_layers(setup, distribution)),
            cost=(n_layers(setup, distribution) / 5000) ** 2,
        )
        for distribution in (WALK, MAJORITY)
        for fraction in (EVEN, RARE)
        for eta, is_known in settings
    ]


def measure(distribution: str, fraction: float, eta: float, is_eta_known: bool, T: int) -> Result:
    """Errors of H on the true classes for some numbers of layers."""
    if distribution == WALK:
        program: Program = walk(T, GAP, fraction, eta, is_eta_known)
    else:
        program = build_program(_K, T, fraction, eta, is_eta_known)
    wanted = {11, 31, 101, 301, 401, 1001, 3001, 10_001, granted(0.01), granted(_SMALL)}
    layers = sorted(t for t in wanted if t <= T)
    return {
        "distribution": distribution,
        "fraction": fraction,
        "eta": eta,
        "is_known": is_eta_known,
        "layers": layers,
        "error_neg": [float(program.error_neg[t - 1]) for t in layers],
        "error_pos": [float(program.error_pos[t - 1]) for t in layers],
        "least_advantage": float(program.least_advantage[-1]),
    }


def auc_of(result: Result) -> list[float]:
    """AUC of H on the true classes by Lemma 5, after each number of layers."""
    pairs = zip(result["error_neg"], result["error_pos"], strict=True)
    return [1 - (neg + pos) / 2 for neg, pos in pairs]


def accuracy_of(result: Result) -> tuple[float, float]:
    """Accuracy of the last program on true labels, and on labels wrong at rate eta."""
    fraction, eta = result["fraction"], result["eta"]
    clean = 1 - (1 - fraction) * result["error_neg"][-1] - fraction * result["error_pos"][-1]
    return clean, eta + (1 - 2 * eta) * clean


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Accuracy and AUC side by side, and the layers that the AUC takes."""
    known = [results[case.name] for case in cases(setup) if case.name in results]
    page.text(
        "Theorem 8 leaves sampling aside: a node is given the distribution that it sees. So is it "
        "here; masses of both classes are followed down the program, and nothing is drawn. "
        f"*{WALK.capitalize()}*: each node has a feature of its own, +1 in {(1 + GAP) / 2:.0%} of "
        f"the positives and {(1 - GAP) / 2:.0%} of the negatives, independently of all others, so "
        f"that the weak ranker has gamma = {GAP / 2:g} at every node. *{MAJORITY.capitalize()}* "
        "features: all 32 rows; a node that one class alone reaches sends everything that way. "
        "Coins make the error rates of the noisy labels equal, as Theorem 8 has it, or those of "
        "the true classes. Against labels that are wrong at rate eta no classifier is right more "
        "often than 1 - eta: that is the limit of boosting for accuracy which the paper sets "
        "beside the AUC. (That no black-box booster passes it on true labels either, for some weak "
        "learner, is proved by Kalai and Servedio, and cannot be measured on one distribution.)"
    )
    head = ["distribution", "positive", "eta", "coins", "T", "accuracy on noisy labels"]
    head += ["on true labels", "AUC of H", "smallest advantage of a node"]
    page.table(head, [_line(result) for result in known])
    page.figure(
        "accuracy",
        partial(_draw, results=[r for r in known if r["distribution"] == WALK]),
        "1 - AUC of H against the number of layers on independent features, by exact "
        "probabilities; dotted: eta known",
    )
    page.check(
        "accuracy of H on noisy labels is at most 1 - eta",
        all(accuracy_of(r)[1] <= 1 - r["eta"] + 1e-12 for r in known),
        f"{len(known)} programs",
    )
    _claims(page, _some(known, WALK), _some(known, MAJORITY))


def _some(known: list[Result], distribution: str) -> list[Result]:
    return [r for r in known if r["distribution"] == distribution]


def _line(result: Result) -> list[str]:
    clean, noisy = accuracy_of(result)
    return [
        result["distribution"],
        f"{result['fraction']:.0%}",
        f"{result['eta']:g}",
        COINS[result["is_known"]],
        f"{result['layers'][-1]:,}",
        f"{noisy:.4f}",
        f"{clean:.4f}",
        f"{auc_of(result)[-1]:.4f}",
        f"{max(result['least_advantage'], 0.0):.2g}",
    ]


def _claims(page: Page, walks: list[Result], majorities: list[Result]) -> None:
    even = [r for r in walks if r["fraction"] == EVEN and not r["is_known"]]
    page.claim(
        "the AUC is boosted past 1 - eta and close to 1 (taken as 0.99) at any noise rate: "
        "balanced classes, independent features",
        of_all([_is_close(r) for r in even]),
        _aucs(even),
    )
    T = granted(_SMALL)
    judged = [r for r in even if T in r["layers"]]
    page.claim(
        "Theorem 8: T = O(log(1/epsilon)/gamma²) layers are enough under noise: balanced classes, "
        f"independent features, epsilon = {_SMALL:g}",
        of_all([auc_of(r)[r["layers"].index(T)] >= 1 - _SMALL for r in judged]),
        f"T = {T:,} by the proof; 1 - AUC there {_errors(judged, T)}; from there on it falls like "
        f"T^{_power(judged)}, and not exponentially",
        cause=Cause.PAPER,
    )
    rare = [r for r in walks if r["fraction"] == RARE and not r["is_known"]]
    last = rare[0]["layers"][-1] if rare else 0
    page.claim(
        "the AUC is boosted past 1 - eta and close to 1 at any noise rate: 10 % positive, "
        "independent features",
        of_all([_is_close(r) for r in rare]),
        _aucs(rare),
        headline=Headline(
            "Theorem 8: with noise the AUC still comes close to 1, 10 % positive",
            "AUC ≥ 1 - epsilon for every epsilon",
            f"{_range(rare)} after {last:,} layers at {len(rare)} noise rates, by exact "
            f"probabilities on independent features; with eta known {_known_auc(walks)}",
            Cause.PAPER,
        ),
    )
    page.text(
        "Both failures have one cause. Lemma 4 applied to noisy labels gives r+ > 1/2 > r- for the "
        "chances of true positives and negatives to go right, but of the advantage r+ - r- a class "
        "gets a part that falls with the fraction of the other class at the node (see below, "
        '"What we corrected"). Where negatives are nearly alone, they walk without direction. With '
        "10 % positives these walk off to the right, and the negatives, left alone in the middle, "
        "spread to both sides of it. With balanced classes each class keeps the other on its side "
        "of the middle, but only there: errors fall like the chance of a walk to be at the middle, "
        "T^(-1/2)."
    )
    mended = [r for r in walks if r["is_known"]]
    page.addition(
        "with eta known and the noise removed from the coins T = O(log(1/epsilon)/gamma²) layers "
        f"are enough, independent features, epsilon = {_SMALL:g}",
        of_all([auc_of(r)[r["layers"].index(T)] >= 1 - _SMALL for r in mended if T in r["layers"]]),
        f"1 - AUC at T = {T:,}: {_errors([r for r in mended if T in r['layers']], T)}",
    )
    page.addition(
        f"on the {MAJORITY} the AUC comes close to 1 with the coins of the noisy labels",
        of_all([_is_close(r) for r in majorities if not r["is_known"]]),
        "; ".join(
            f"{fraction:.0%} positive {_range(own)}"
            for fraction in (EVEN, RARE)
            if (own := [r for r in majorities if r["fraction"] == fraction])
        ),
    )


def _is_close(result: Result) -> bool:
    return auc_of(result)[-1] >= max(_CLOSE, 1 - result["eta"])


def _aucs(some: list[Result]) -> str:
    parts = [f"eta = {r['eta']:g} {auc_of(r)[-1]:.4f}" for r in some]
    layers = some[0]["layers"][-1] if some else 0
    return f"AUC of H at T = {layers:,}: {'; '.join(parts)}"


def _range(some: list[Result]) -> str:
    last = [auc_of(r)[-1] for r in some]
    return f"AUC {min(last):.3f} to {max(last):.3f}" if last else "–"


def _known_auc(walks: list[Result]) -> str:
    known = [auc_of(r)[-1] for r in walks if r["is_known"] and r["fraction"] == RARE]
    return f"{min(known):.3f}" if known else "–"


def _errors(some: list[Result], T: int) -> str:
    values = [1 - auc_of(r)[r["layers"].index(T)] for r in some]
    if values and max(values) < 1e-12:
        return "below 1e-12"
    return f"{min(values):.2g} to {max(values):.2g}" if values else "–"


def _power(some: list[Result]) -> str:
    """The power of T with which 1 - AUC falls over the last numbers of layers."""
    powers = [log_slope(r["layers"][-3:], [1 - a for a in auc_of(r)[-3:]]).value for r in some]
    return f"{max(powers):.2f}" if powers else "–"


def _draw(figure: "Figure", results: list[Result]) -> None:
    figure.set_size_inches(8.4, 4.0)
    panels = figure.subplots(1, 2, sharey=True)
    for ax, fraction in zip(panels, (EVEN, RARE), strict=True):
        own = [r for r in results if r["fraction"] == fraction]
        for number, result in enumerate(r for r in own if not r["is_known"]):
            ax.plot(result["layers"], [1 - a for a in auc_of(result)], "o-", color=f"C{number}",
                    markersize=3, label=f"eta = {result['eta']:g}")  # fmt: skip
        for result in [r for r in own if r["is_known"]]:
            shown = [(t, 1 - a) for t, a in zip(result["layers"], auc_of(result), strict=True)]
            ax.plot(*zip(*shown, strict=True), ":", color="black", label="eta known")
        ax.set(xscale="log", yscale="log", xlabel="layers T", ylim=(1e-4, 1))
        ax.set_title(f"{fraction:.0%} positive", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("1 - AUC of H")
    panels[1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
