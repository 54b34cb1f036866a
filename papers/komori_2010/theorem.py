"""Theorem 1, the identity of section 3.1, and the derivatives of section 3.2: all proved."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from auctor._typing import Floats, Ints
from papers.experiment import Case, CaseResults, Result, Setup
from papers.komori_2010.distributions import draw, log_density, sample
from papers.page import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Function = Callable[[Floats], Floats]

# Scores F to start from, of the four features, and strictly increasing m of log Lambda.
STARTS: dict[str, Function] = {
    "0": lambda X: np.zeros(len(X)),
    "-2 x4": lambda X: -2 * X[:, 3],
    "sin(3 x2) + x1^2": lambda X: np.sin(3 * X[:, 1]) + X[:, 0] ** 2,
}
RISES: dict[str, Function] = {
    "log Lambda": lambda log: log,
    "Lambda / (1 + Lambda)": lambda log: 1 / (1 + np.exp(-log)),
}
_STEPS = np.concatenate([-(2.0 ** np.arange(3, -5, -1)), [0.0], 2.0 ** np.arange(-4, 4)])
_SHOWN = np.linspace(-4, 8, 49)
_FAR = 1e7


class Atoms(NamedTuple):
    """A distribution on finitely many points: coordinates, log Lambda, and both probabilities.

    Points are drawn from the even mixture and weigh g_0 / (g_0 + g_1) and g_1 / (g_0 + g_1): the
    ratio of the weights is Lambda itself, so that the theorem holds here exactly, without chance.
    """

    X: Floats
    log_ratio: Floats
    negative: Floats
    positive: Floats


def make_atoms(n: int, seed: int) -> Atoms:
    """``n`` points of each class of the Gaussian distribution, with their weights."""
    X = sample("gaussian", n, np.random.default_rng([seed, 31])).X
    log_ratio = log_density("gaussian", X, 1) - log_density("gaussian", X, 0)
    positive = 1 / (1 + np.exp(-log_ratio))
    negative = 1 - positive
    # Both must add up to 1; the ratio of the weights is then Lambda up to a constant.
    return Atoms(X, log_ratio, negative / negative.sum(), positive / positive.sum())


def smoothed_area(atoms: Atoms, score: Floats, sigma: float = 1.0) -> float:
    """AUC_sigma of section 2.2."""
    inner = ndtr((score[:, None] - score[None, :]) / sigma) @ atoms.negative
    return float(atoms.positive @ inner)


def true_area(atoms: Atoms, score: Floats) -> float:
    """AUC of the distribution; ties count one half."""
    inner = (np.sign(score[:, None] - score[None, :]) + 1) / 2 @ atoms.negative
    return float(atoms.positive @ inner)


def theorem_cases(setup: Setup) -> list[Case]:
    """One case, which takes seconds."""
    n, n_rounds = setup.pick(600, 200, 60), setup.pick(60, 10, 3)
    return [Case("proofs", partial(prove, n, n_rounds, setup.seed), cost=setup.pick(15, 3, 1))]


def prove(n: int, n_rounds: int, seed: int) -> Result:
    """Compute all parts; their names are all different."""
    parts = (climb(n, seed), identity(seed), derivatives(seed), compare_rounds(seed, n_rounds))
    return {key: value for part in parts for key, value in part.items()}


def climb(n: int, seed: int) -> Result:
    """Psi(c) = AUC_1(F + c m(Lambda)) along c for every start and every m."""
    atoms = make_atoms(n, seed)
    result: Result = {"best": true_area(atoms, atoms.log_ratio)}
    for start, F in STARTS.items():
        for rise, m in RISES.items():
            at = partial(_psi, atoms, F(atoms.X), m(atoms.log_ratio))
            result[f"{start} | {rise}"] = [at(c) for c in _STEPS.tolist()]
            result[f"limit of {start} | {rise}"] = at(_FAR)
        result[f"shown {start}"] = [
            _psi(atoms, F(atoms.X), atoms.log_ratio, c) for c in _SHOWN.tolist()
        ]
    return result


def _psi(atoms: Atoms, start: Floats, rise: Floats, c: float) -> float:
    return smoothed_area(atoms, start + c * rise)


def second_differences(n_bins: int, ends_repeated: bool = True) -> Floats:
    """The matrix of F^(2) over the values of F_k on its bins; end values are repeated."""
    inner = np.eye(n_bins, k=-1) - 2 * np.eye(n_bins) + np.eye(n_bins, k=1)
    if not ends_repeated:
        return inner[1:-1]
    inner[0, 0] = inner[-1, -1] = -1.0
    return inner


def identity(seed: int) -> Result:
    """Largest gap of the two sides of the identity below equation (7)."""
    rng, gaps = np.random.default_rng([seed, 32]), []
    for _ in range(50):
        table, codes = rng.normal(size=12), rng.integers(0, 12, size=(2, 40))
        sigma, other, penalty = rng.uniform(0.2, 5, size=3)
        left = _objective(table, codes, sigma, penalty)
        right = _objective(other / sigma * table, codes, other, penalty * sigma**2 / other**2)
        gaps.append(abs(left - right) / max(1.0, abs(left)))
    widths = {
        name: second_differences(12, ends) for name, ends in (("all", True), ("inner", False))
    }
    free = {f"free {name}": 12 - int(np.linalg.matrix_rank(D)) for name, D in widths.items()}
    return {"gap": max(gaps), **free}


def _objective(table: Floats, codes: Ints, sigma: float, penalty: float) -> float:
    """Equation (7) for one feature; row 0 of the codes are negatives, row 1 positives."""
    scores = table[codes]
    pairs = ndtr((scores[1][:, None] - scores[0]) / sigma).mean()
    return float(pairs - penalty * ((second_differences(len(table)) @ table) ** 2).sum())


def derivatives(seed: int) -> Result:
    """The first and second derivative as printed against differences of the objective.

    And, of all cuts, for how many the printed constants 2 alpha and 4 lambda are wrong where the
    sum in (7) is over the cuts alone, as its letter says, not over the bins between them.
    """
    from tests.reference.smooth import AUCBoost

    train = draw("gaussian", seed, 0).train
    X, positive = train.X[:60, 2:], train.y[:60] == 1
    paper = AUCBoost(X, positive, np.ones(60), lam=0.01)
    paper.run(6)
    stumps = [stump for stump in paper.stumps() if stump.b in _some_cuts(paper.points(stump.k))]
    before, alpha, step = list(paper.rounds), 0.3, 1e-4
    first_gap = second_gap = 0.0
    for stump in stumps:
        values = []
        for a in (alpha - step, alpha, alpha + step):
            moved = type(stump)(stump.k, stump.b, stump.a, a, 0.0)
            paper.rounds = [*before, moved]
            values.append(paper.objective())
        paper.rounds = before
        first, second = paper.derivatives(stump, alpha)
        first_gap = max(first_gap, abs(first - (values[2] - values[0]) / (2 * step)))
        curve = (values[2] - 2 * values[1] + values[0]) / step**2
        second_gap = max(second_gap, abs(second - curve))
    squares = {ends: _stump_squares(20, ends) for ends in ("bins", "cuts")}
    wrong = {f"wrong {ends}": int((values != 2).sum()) for ends, values in squares.items()}
    lowest = float(squares["cuts"][0])
    return {"first": first_gap, "second": second_gap, "stumps": len(stumps), **wrong,
            "lowest cut": lowest}  # fmt: skip


def _some_cuts(points: list[float]) -> list[float]:
    """The lowest two, one in the middle, and the highest two."""
    cuts = points[1:]
    return [*cuts[:2], cuts[len(cuts) // 2], *cuts[-2:]]


def _stump_squares(n_bins: int, over: str) -> Floats:
    """Sum of squared second differences of a stump at each cut: 2 by the printed constants.

    Over the cuts alone F_k(b) is its value above b: the lowest bin is not in the sum.
    """
    stumps = (np.arange(n_bins)[:, None] >= np.arange(1, n_bins)).astype(float)
    values = stumps if over == "bins" else stumps[1:]
    return np.asarray(((second_differences(len(values)) @ values) ** 2).sum(axis=0))


def compare_rounds(seed: int, n_rounds: int) -> Result:
    """The library's rounds beside those of section 3.2 written out with every pair."""
    from auctor import SmoothAUCBoost
    from tests.reference.smooth import AUCBoost

    train = draw("gaussian", seed, 0).train
    X, y = train.X[:60], train.y[:60]
    paper = AUCBoost(X, y == 1, np.ones(60), lam=0.01)
    paper.run(n_rounds)
    model = SmoothAUCBoost(0.01, n_estimators=n_rounds, solver="stagewise").fit(X, y)
    ours = [(step.feature, step.a) for step in model.history_.rounds]
    theirs = [(step.k, step.a) for step in paper.rounds]
    alphas = zip(model.history_.rounds, paper.rounds, strict=False)
    gap = max(abs(mine.alpha - their.alpha) for mine, their in alphas)
    return {"same": ours == theirs, "alpha": gap, "rounds": len(theirs)}


def report_theorem(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report the proved statements, which must hold."""
    result = results["proofs"]
    _report_climb(page, result)
    _report_identity(page, result)
    _report_derivatives(page, result)
    page.check(
        "the library's stagewise solver takes the paper's steps, stump by stump",
        result["same"] and result["alpha"] < 1e-6,
        f"{result['rounds']} rounds, alpha within {result['alpha']:.1e}",
    )


def _report_identity(page: Page, result: Result) -> None:
    page.must_hold(
        "AUC_{sigma,lambda}(F) = AUC_{sigma',lambda'}(sigma'/sigma F) where lambda sigma^2 = "
        "lambda' sigma'^2",
        result["gap"] < 1e-12,
        f"largest relative gap {result['gap']:.1e} in 50 random cases",
    )
    page.check(
        "the penalty guarantees a maximum: it is 0 for constants alone, if the second "
        "differences at the ends count, with the end repeated beyond itself",
        result["free all"] == 1 and result["free inner"] == 2,
        f"{result['free all']} free direction; {result['free inner']} without the ends: straight "
        "lines, which may grow without limit where they separate the classes",
    )


def _report_climb(page: Page, result: Result) -> None:
    page.text(
        "Theorem 1 on a distribution on finitely many points: drawn from the even mixture of the "
        "two Gaussian classes, each with the probabilities that its likelihood ratio gives it, so "
        "that no random error remains."
    )
    names = [f"{start} | {rise}" for start in STARTS for rise in RISES]
    least = min(float(np.diff(result[name]).min()) for name in names)
    page.must_hold(
        "Psi(c) = AUC_sigma(F + c m(Lambda)) rises strictly with c, for any F and m",
        least > 0,
        f"smallest rise {least:.1e}, {len(names)} pairs of F and m, c from -8 to 8",
    )
    gap = max(abs(result[f"limit of {name}"] - result["best"]) for name in names)
    below = all(max(result[name]) < result["best"] for name in names)
    page.must_hold(
        "Psi(c) stays below AUC(Lambda) and tends to it",
        below and gap < 1e-4,
        f"AUC(Lambda) {result['best']:.6f}, Psi(1e7) within {gap:.1e}",
    )
    page.figure(
        "theorem1",
        partial(_draw, result=result),
        "Psi(c) for three scores F to start from, m = log; dotted: AUC(Lambda)",
    )


def _draw(figure: "Figure", result: Result) -> None:
    ax = figure.subplots()
    for (start, style), colour in zip(
        zip(STARTS, ("-", "--", "-."), strict=True), ("C0", "C1", "C2"), strict=True
    ):
        ax.plot(_SHOWN, result[f"shown {start}"], style, color=colour, label=f"F = {start}")
    ax.axhline(result["best"], color="black", linestyle=":", linewidth=1, label="AUC(Lambda)")
    ax.set(xlabel="c", ylabel="Psi(c)")
    ax.legend(loc="lower right", frameon=False)


def _report_derivatives(page: Page, result: Result) -> None:
    page.must_hold(
        "the derivatives by alpha of section 3.2, with 2 alpha and 4 lambda, are right at inner "
        "and at outermost cuts, where the sum in (7) is over the bins between the cuts",
        result["first"] < 1e-7 and result["second"] < 1e-5 and result["wrong bins"] == 0,
        f"within {result['first']:.1e} and {result['second']:.1e} of differences, "
        f"{result['stumps']} stumps",
    )
    page.check(
        "where the sum is over the cuts alone, as (7) is written, they are wrong at the lowest cut",
        result["wrong cuts"] == 1 and result["lowest cut"] == 0,
        f"at {result['wrong cuts']} cut of 19, whose stump would cost {result['lowest cut']:g}",
    )
