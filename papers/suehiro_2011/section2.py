"""Section 2: how many pairs lie below rho*, what Theorem 1 says, and how sparse the weights are."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from math import ceil, comb, log, sqrt
from statistics import mean
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Cause, Page, Verdict
from papers.statistics import t_interval
from papers.suehiro_2011.programs import draw_sample, scale_features
from papers.suehiro_2011.real import UCI
from papers.suehiro_2011.wording import MISSING
from papers.tables import read_rows
from papers.verdicts import by_interval, counted

EPSILONS = 0.05, 0.1, 0.2, 0.3
METHODS = {"pairs": "LP-Pair", "reduced": "reduced", "heuristic": "heuristic"}
CONFIDENCE = 0.05  # delta, the probability that Theorem 1 may fail
_TIE = 1e-9  # margins that differ by less are equal up to rounding
_ZERO = 1e-9  # a smaller weight is none
# Hypotheses, labels and fits of the samples for Theorem 1.
_N, _K, _R, _NOISE, _EPSILON = 5, 5, 3, 0.05, 0.3


def cases(setup: Setup) -> Iterator[Case]:
    """Data sets for the weights, and samples for the theorem."""
    n_rows, n_features, k = setup.pick((1000, 100, 30), (100, 40, 10), (60, 20, 5))
    for repetition in range(setup.pick(2, 1, 1)):
        for r in setup.pick((1, 8, 15), (3,), (3,)):
            work = partial(weigh_artificial, n_rows, n_features, k, r, setup.seed + repetition)
            yield Case(f"weights, r = {r} of {k}, #{repetition}", work, cost=setup.pick(10, 1, 1))
    for table in setup.pick(UCI, UCI[1:2], ()):
        size = setup.pick(1000, 200, 100)
        work = partial(weigh_table, table, size, setup.seed)
        yield Case(f"weights, {table}", work, tables=(table,), cost=setup.pick(10, 1, 1))
    for m in sizes(setup):
        work = partial(sample_theorem1, m, setup.pick(20, 5, 2), setup.seed)
        yield Case(f"Theorem 1, m = {m}", work, cost=m / 1000)


def sizes(setup: Setup) -> tuple[int, ...]:
    """Rows of the samples for Theorem 1."""
    return setup.pick((100, 1000, 10_000), (100, 1000), (100,))


def weigh_artificial(n_rows: int, n_features: int, k: int, r: int, seed: int) -> Result:
    """Weights and margins on data of section 5.1 with 5 % noise; the first k features matter."""
    sample = draw_sample(n_rows, n_features, k, r, 0.05, seed)
    return weigh(np.asarray(sample.X, dtype=np.float64), sample.y, k)


def weigh_table(table: str, n_rows: int, seed: int) -> Result:
    """Weights and margins on rows of a real table."""
    rows = read_rows(table, seed, n_rows)
    X = scale_features(rows.X)
    return weigh(X[:, np.ptp(X, axis=0) > 0], rows.y, None)  # some categories are in no row


def weigh(X: Floats, y: Ints, n_relevant: int | None) -> Result:
    """Nonzero weights of each method and epsilon, and the pairs about rho* of LP-Pair."""
    result: Result = {"n_features": X.shape[1], "n_pairs": int(y.sum() * (len(y) - y.sum()))}
    result["used_2norm"] = count_weights(fit_2norm(X, y), None)["used"]
    for method in METHODS:
        for epsilon in EPSILONS:
            alpha, gamma = fit_weights(method, X, y, epsilon)
            result[f"{method}|{epsilon:g}"] = count_weights(alpha, n_relevant) | {"gamma": gamma}
            if method == "pairs":
                result[f"margins|{epsilon:g}"] = count_margins(X, y, alpha, epsilon)
    return result


def fit_weights(method: str, X: Floats, y: Ints, epsilon: float) -> tuple[Floats, float]:
    """The weights of the columns as they are (the constant is left out), and the soft margin."""
    from auctor import MarginRanker

    tolerance = 1e-2 if method == "heuristic" else 1e-7
    options: dict[str, Any] = {"hypotheses": "columns", "negations": False, "relax": False}
    ranker = MarginRanker(method, epsilon=epsilon, gap_tol=tolerance, **options).fit(X, y)
    return np.asarray(ranker.coef_)[: X.shape[1]], float(ranker.certificate_.values["gamma"])


def fit_2norm(X: Floats, y: Ints) -> Floats:
    """The weights of logistic regression with the 2-norm, for comparison."""
    from sklearn.linear_model import LogisticRegression

    return np.asarray(LogisticRegression(max_iter=2000).fit(X, y).coef_[0])


def count_weights(alpha: Floats, n_relevant: int | None) -> dict[str, Any]:
    """How many weights are not 0, and how many of these belong to features that matter."""
    is_used = np.abs(alpha) > _ZERO
    relevant = None if n_relevant is None else int(is_used[:n_relevant].sum())
    return {"used": int(is_used.sum()), "relevant": relevant}


def count_margins(X: Floats, y: Ints, alpha: Floats, epsilon: float) -> dict[str, float]:
    """Pairs with a margin below rho*, and at most rho*, up to rounding.

    For given weights rho* is the nu-th smallest margin: the objective rho - 1/nu sum (rho - m)+
    rises while fewer than nu pairs lie below rho.
    """
    scores = X @ alpha
    margins = np.sort((scores[y == 1][:, None] - scores[y == 0][None, :]).ravel() / 2.0)
    nu = epsilon * len(margins)
    rho = float(margins[max(ceil(nu - 1e-9) - 1, 0)])
    return {
        "rho": rho,
        "nu": nu,
        "below": int(np.searchsorted(margins, rho - _TIE)),
        "up_to": int(np.searchsorted(margins, rho + _TIE)),
        # AUC_{S,rho} of section 2 compares the difference of scores, not half of it, with rho.
        "at_rho": int((2 * margins >= rho - _TIE).sum()),
    }


def sample_theorem1(m: int, n_times: int, seed: int) -> Result:
    """AUC_{S,rho} minus AUC_D of LP-Pair on samples of a distribution with 2^5 rows."""
    found: dict[str, list[float]] = {"gap": [], "bound": [], "rho": [], "auc": []}
    rows, chance = _distribution()
    for repetition in range(n_times):
        rng = np.random.default_rng([seed, 22, m, repetition])
        X, y = _draw_labelled(m, rng)
        alpha, _ = fit_weights("pairs", X, y, _EPSILON)
        rho = 2 * _rho(X, y, alpha)
        whole = _auc(rows @ alpha, chance)
        found["gap"].append(_auc_at(X @ alpha, y, rho) - whole)
        found["bound"].append(excess(m, _N, rho))
        found["rho"].append(rho)
        found["auc"].append(whole)
    return found


def _distribution() -> tuple[Floats, Floats]:
    """All rows, and the probability of each with either label (negatives first)."""
    rows = np.array(list(product((-1.0, 1.0), repeat=_N)))
    is_pos = (rows[:, :_K] > 0).sum(axis=1) >= _R
    right = np.where(is_pos, 1 - _NOISE, _NOISE) / len(rows)
    return rows, np.array([1 / len(rows) - right, right])


def _draw_labelled(m: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    rows, chance = _distribution()
    which = rng.integers(len(rows), size=m)
    is_pos = rng.random(m) < chance[1][which] * len(rows)
    return rows[which], is_pos.astype(np.int64)


def _counts(scores: Floats, y: Ints) -> tuple[Floats, Ints, Ints]:
    """Distinct scores, and the rows of either class with each."""
    levels, code = np.unique(np.round(scores, 12), return_inverse=True)
    neg, pos = (np.bincount(code[y == label], minlength=len(levels)) for label in (0, 1))
    return levels, neg.astype(np.int64), pos.astype(np.int64)


def _auc_at(scores: Floats, y: Ints, rho: float) -> float:
    """AUC_{S,rho}: the fraction of pairs whose scores differ by rho or more."""
    levels, neg, pos = _counts(scores, y)
    is_apart = levels[:, None] - levels[None, :] >= rho - _TIE  # positive, negative
    return float(pos @ is_apart @ neg) / float(pos.sum() * neg.sum())


def _rho(X: Floats, y: Ints, alpha: Floats) -> float:
    """rho* of many rows, from the few distinct scores."""
    levels, neg, pos = _counts(X @ alpha, y)
    margins = (levels[:, None] - levels[None, :]).ravel() / 2
    weight = (pos[:, None] * neg[None, :]).ravel()
    order = np.argsort(margins, kind="stable")
    at = np.searchsorted(np.cumsum(weight[order]), _EPSILON * weight.sum() * (1 - 1e-12))
    return float(margins[order][at])


def _auc(scores: Floats, chance: Floats) -> float:
    """AUC_D: the chance that a positive is strictly above a negative."""
    is_above = np.round(scores, 12)[:, None] > np.round(scores, 12)[None, :]
    neg, pos = chance / chance.sum(axis=1, keepdims=True)
    return float(pos @ is_above @ neg)


def excess(m: int, n_hypotheses: int, rho: float, is_least: bool = False) -> float:
    """The epsilon of Theorem 1 at confidence 95 % for balanced classes (E = 1/4).

    On rows of -1 and +1 the largest difference of two sums is the 1-norm of the difference of
    their weights, so that the covering number is that of the simplex of N weights in 1-norm.
    Rounding weights to multiples of 1/M, M = 4 (N - 1) / rho, moves them by at most rho / 4: there
    are comb(M + N - 1, N - 1) such points. Fewer than (1 / rho)^(N - 1) balls cannot cover it: a
    set within rho / 4 of anything has diameter rho / 2, and at most rho^(N - 1) of the volume.
    """
    if is_least:
        log_cover = max((n_hypotheses - 1) * log(1 / rho), 0.0)
    else:
        M = ceil(4 * (n_hypotheses - 1) / rho)
        log_cover = log(comb(M + n_hypotheses - 1, n_hypotheses - 1))
    return sqrt(8 * (log(2 / CONFIDENCE) + log_cover) / m) / 0.25


def least_rows(n_hypotheses: int, rho: float) -> int:
    """Rows from which on the bound can be below 1."""
    return ceil(excess(1, n_hypotheses, rho, is_least=True) ** 2)


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Three parts: pairs about rho*, Theorem 1, and nonzero weights."""
    weighed = {n: r for n, r in results.items() if n.startswith("weights")}
    sampled = {n: r for n, r in results.items() if n.startswith("Theorem")}
    if weighed:
        _report_margins(page, weighed)
        _report_sparsity(page, weighed)
    if sampled:
        _report_theorem1(page, sampled, weighed)


def _groups(weighed: CaseResults) -> dict[str, list[Result]]:
    """Data sets of the same kind together."""
    groups: dict[str, list[Result]] = {}
    for name in sorted(weighed):
        label = name.removeprefix("weights, ").partition(", #")[0]
        groups.setdefault(label, []).append(weighed[name])
    return groups


def _fits(weighed: CaseResults) -> list[dict[str, Any]]:
    """Solutions of LP-Pair with a margin; without one all weight is on the constant."""
    fits = [r[f"margins|{e:g}"] for r in weighed.values() for e in EPSILONS]
    return [fit for fit in fits if fit["rho"] > _TIE]


def _report_margins(page: Page, weighed: CaseResults) -> None:
    page.text(
        "**Pairs about rho\\*.** LP-Pair, problem (2), with epsilon = 0.05, 0.1, 0.2 and 0.3 on "
        "data of section 5.1 and on up to 1,000 rows of the UCI tables; solutions without a margin "
        "(all weight on the constant) are left out. As fractions of all pairs:"
    )
    rows = []
    for label, group in _groups(weighed).items():
        for epsilon in EPSILONS:
            fits = [r[f"margins|{epsilon:g}"] | {"n": r["n_pairs"]} for r in group]
            fits = [fit for fit in fits if fit["rho"] > _TIE]
            if fits:
                cells = [f"{mean(f[key] / f['n'] for f in fits):.4f}" for key in ("below", "up_to")]
                rows.append([label, f"{epsilon:g}", f"{mean(f['rho'] for f in fits):.4f}", *cells])
    page.table(["data", "epsilon", "rho*", "margin below rho*", "margin at most rho*"], rows)
    fits = _fits(weighed)
    over = sum(fit["up_to"] > fit["nu"] + 1e-6 for fit in fits)
    page.claim(
        'section 2.1 as printed: at most nu pairs have a margin of "<= rho*"',
        counted(len(fits) - over, len(fits)),
        f"more than nu in {over} of {len(fits)} solutions, by up to {_most_over(fits):,.0f} pairs: "
        "some have a margin of exactly rho*. It is a matter of < and <=, see the check below",
        cause=Cause.PAPER,
    )
    page.must_hold(
        "section 2.1: AUC_{S,rho*}(f) is at least 1 - nu/(pn)",
        all(_share(r, e) >= 1 - e - 1e-9 for r in weighed.values() for e in EPSILONS),
        f"{len(fits)} solutions",
    )
    page.check(
        "at most nu pairs have a margin below rho*",
        all(fit["below"] <= fit["nu"] + 1e-6 for fit in fits),
        f"{len(fits)} solutions",
    )


def _most_over(fits: list[dict[str, Any]]) -> float:
    return max((fit["up_to"] - fit["nu"] for fit in fits), default=0.0)


def _share(result: Result, epsilon: float) -> float:
    return float(result[f"margins|{epsilon:g}"]["at_rho"] / result["n_pairs"])


def _report_sparsity(page: Page, weighed: CaseResults) -> None:
    page.text(
        "**Sparse weights.** Hypotheses with a weight that is not 0, of all (mean over the data "
        "sets, without the constant); in brackets, on artificial data, those among the k features "
        "that decide the label. A dash: all weight is on the constant. Logistic regression "
        f"with the 2-norm leaves {_share_2norm(weighed):.0%} of the same weights different from 0."
    )
    head = ["data", "hypotheses", "method", *(f"epsilon = {e:g}" for e in EPSILONS)]
    rows = []
    for label, group in _groups(weighed).items():
        for method, title in METHODS.items():
            cells = [_used(group, method, e) for e in EPSILONS]
            rows.append([label, f"{group[0]['n_features']}", title, *cells])
    page.table(head, rows)
    by_data = [shares for result in weighed.values() if (shares := _shares(result))]
    few = sum(share < 0.5 for shares in by_data for share in shares)
    estimate = t_interval([0.5 - mean(shares) for shares in by_data]) if by_data else None
    page.claim(
        "the weight vector tends to be sparse (taken as: less than half of the weights are not 0, "
        "in the mean over data sets)",
        Verdict.NOT_RUN if estimate is None else by_interval(estimate),
        MISSING
        if estimate is None
        else f"a fraction of {0.5 - estimate.value:.2f} ({0.5 - estimate.high:.2f}, "
        f"{0.5 - estimate.low:.2f}) is not 0, {len(by_data)} data sets; less than half in {few} of "
        f"{sum(map(len, by_data))} solutions",
    )


def _shares(result: Result) -> list[float]:
    """Fractions of the weights that are not 0, of all solutions that use a feature."""
    used = [result[f"{method}|{epsilon:g}"]["used"] for method in METHODS for epsilon in EPSILONS]
    return [n / result["n_features"] for n in used if n]


def _share_2norm(weighed: CaseResults) -> float:
    return mean(r["used_2norm"] / r["n_features"] for r in weighed.values())


def _used(group: list[Result], method: str, epsilon: float) -> str:
    fits = [r[f"{method}|{epsilon:g}"] for r in group]
    fits = [fit for fit in fits if fit["used"]]
    if not fits:
        return MISSING
    text = f"{mean(fit['used'] for fit in fits):.1f}"
    if fits[0]["relevant"] is not None:
        text += f" ({mean(fit['relevant'] for fit in fits):.1f})"
    return text


def _report_theorem1(page: Page, sampled: CaseResults, weighed: CaseResults) -> None:
    page.text(
        f"**Theorem 1.** For f = the weights of LP-Pair (epsilon = {_EPSILON:g}) and rho = 2 rho*, "
        "since AUC_{S,rho} compares differences of scores and not their halves. Majority of "
        f"{_N} features with {_NOISE:.0%} noise, where AUC_D is a sum over 2^{_N} rows; the "
        f"epsilon of the theorem at confidence {1 - CONFIDENCE:.0%}, with E = 1/4 and the covering "
        "number of the simplex of weights (rounded to multiples of 1/M)."
    )
    rows = []
    for name, r in sorted(sampled.items(), key=lambda item: float(item[0].rpartition("=")[2])):
        gaps = r["gap"]
        rows.append([
            name.rpartition("=")[2].strip(), f"{len(gaps)}", f"{mean(r['rho']):.3f}",
            f"{mean(r['auc']):.4f}", f"{mean(gaps):+.4f}", f"{max(gaps):+.4f}",
            f"{mean(r['bound']):.3f}",
        ])  # fmt: skip
    head = ["m", "samples", "rho", "AUC_D", "AUC_{S,rho} - AUC_D, mean", "largest"]
    page.table([*head, "epsilon of Theorem 1"], rows)
    pairs = [p for r in sampled.values() for p in zip(r["gap"], r["bound"], strict=True)]
    held = sum(gap <= bound for gap, bound in pairs)
    page.must_hold(
        "Theorem 1: AUC_D is at least AUC_{S,rho} - epsilon",
        held >= (1 - CONFIDENCE) * len(pairs),
        f"{held} of {len(pairs)} samples",
    )
    rhos = [2 * fit["rho"] for fit in _fits(weighed)] or [0.2]
    rho, N = max(rhos), 101
    told = excess(1000, N, rho, is_least=True)
    page.addition(
        "Theorem 1 says something (epsilon below 1) at the size of section 5.1, m = 1000 and "
        f"{N} hypotheses",
        Verdict.REPRODUCED if told < 1 else Verdict.NOT_REPRODUCED,
        f"epsilon is at least {told:.1f} even at the largest rho seen, {rho:.2f}; it can fall "
        f"below 1 from m = {least_rows(N, rho):,} on",
    )
