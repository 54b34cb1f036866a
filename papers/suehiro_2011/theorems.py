"""Theorem 2, Theorem 3 and Corollary 4, counted on generated and on real rows."""

from collections.abc import Iterator
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from auctor._typing import Floats
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page
from papers.suehiro_2011.programs import Classes, draw_classes, scale_features, split_classes
from papers.suehiro_2011.wording import MISSING
from papers.tables import read_rows

EPSILONS = 0.05, 0.1, 0.2, 0.3
TABLES = "ionosphere", "hypothyroid", "kr-vs-kp", "spambase"
# Slack of a margin against the solver's rounding.
ROUNDING = 1e-7


def cases(setup: Setup) -> Iterator[Case]:
    """Data sets, generated and real."""
    n_rows, n_features = setup.pick((300, 50), (60, 20), (40, 15))
    cost = setup.pick(20.0, 0.5, 0.1)
    for repetition in range(setup.pick(10, 4, 2)):
        noise = (0.0, 0.05, 0.1)[repetition % 3]
        shape = (n_rows, n_features, 10, 3, noise)
        work = partial(run_artificial, shape, setup.seed + repetition)
        yield Case(f"artificial, noise {noise:.0%}, #{repetition}", work, cost=cost)
    for table in setup.pick(TABLES, TABLES[:2], ()):
        work = partial(run_table, table, n_rows, setup.seed)
        yield Case(f"{table}, {n_rows} rows", work, tables=(table,), cost=cost)


def run_artificial(shape: tuple[int, int, int, int, float], seed: int) -> Result:
    """The theorems on a data set of section 5.1's kind."""
    return run_theorems(draw_classes(*shape, seed))


def run_table(table: str, n_rows: int, seed: int) -> Result:
    """The theorems on rows of a real table."""
    rows = read_rows(table, seed, n_rows)
    return run_theorems(split_classes(scale_features(rows.X), rows.y))


def run_theorems(classes: Classes) -> Result:
    """Both hard margins, and for every epsilon the pairs with the margin gamma*."""
    from tests.reference.margin import solve_hard_bias, solve_hard_pairs

    result: Result = {
        "hard_pairs": solve_hard_pairs(*classes).value,
        "hard_bias": solve_hard_bias(*classes).value,
        "n_pairs": classes.n_pairs,
    }
    for epsilon in EPSILONS:
        result |= {f"{epsilon:g}|{k}": v for k, v in run_soft(classes, epsilon).items()}
    return result


def run_soft(classes: Classes, epsilon: float) -> dict[str, float]:
    """gamma* by MarginRanker, then how many pairs of the solution of (7) have that margin."""
    from tests.reference.margin import solve_rows, solve_rows_primal

    p, n = len(classes.pos), len(classes.neg)
    nu_pos, nu_neg = sqrt(epsilon) * p, sqrt(epsilon) * n
    star = exact_margin(classes, epsilon)
    reduced = solve_rows(*classes, nu_pos, nu_neg)
    margins = pair_margins(classes, reduced.alpha)
    return {
        "gamma_star": star,
        "gamma_hat": reduced.value,
        "gamma_primal": solve_rows_primal(*classes, nu_pos, nu_neg).value,
        "holding": int((margins >= star - ROUNDING).sum()),
        "guaranteed": (p - nu_pos) * (n - nu_neg),
    }


def exact_margin(classes: Classes, epsilon: float) -> float:
    """gamma* of (2), by MarginRanker on the values of the hypotheses as they are."""
    from auctor import MarginRanker

    X = np.vstack([classes.pos, classes.neg])
    y = np.repeat([1, 0], [len(classes.pos), len(classes.neg)])
    options: dict[str, Any] = {"hypotheses": "columns", "negations": False, "relax": False}
    ranker = MarginRanker("pairs", epsilon=epsilon, gap_tol=1e-7, **options).fit(X, y)
    return float(ranker.certificate_.values["gamma"])


def pair_margins(classes: Classes, alpha: Floats) -> Floats:
    """Half of the difference of scores for every pair."""
    scores_pos, scores_neg = classes.pos @ alpha, classes.neg @ alpha
    return np.asarray((scores_pos[:, None] - scores_neg[None, :]) / 2.0)


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Counts beside the guarantees."""
    page.text(
        "Each data set at four epsilons, with nu+ = sqrt(epsilon) p and nu- = sqrt(epsilon) n "
        "(Corollary 4). gamma* is the margin over all pairs, found by MarginRanker; (7) and (8) "
        "are solved by HiGHS as printed, with nu- = nu / nu+. Fractions are of all pairs. A "
        "gamma* of 0 means that no weights have a margin at that epsilon."
    )
    rows = [
        _row(name, epsilon, result)
        for name, result in sorted(results.items())
        for epsilon in EPSILONS
    ]
    head = ["data", "epsilon", "gamma*", "gamma-hat", "pairs with gamma*", "guaranteed", "nearness"]
    page.table(head, rows)
    hard = [abs(r["hard_pairs"] - r["hard_bias"]) for r in results.values()]
    apart = f"largest difference {max(hard):.1e}" if hard else MISSING
    separable = sum(r["hard_pairs"] > ROUNDING for r in results.values())
    page.must_hold(
        "Theorem 2: the hard margin over pairs equals the hard margin with a bias",
        all(gap < ROUNDING for gap in hard),
        f"{apart}, {len(hard)} data sets, {separable} of them separable",
    )
    _hold_soft(page, results)


def _row(name: str, epsilon: float, result: Result) -> list[str]:
    """A row of the table."""
    part = {
        key: result[f"{epsilon:g}|{key}"]
        for key in ("gamma_star", "gamma_hat", "holding", "guaranteed")
    }
    n_pairs = result["n_pairs"]
    return [
        name,
        f"{epsilon:g}",
        f"{part['gamma_star']:.5f}",
        f"{part['gamma_hat']:.5f}",
        f"{part['holding'] / n_pairs:.4f}",
        f"{part['guaranteed'] / n_pairs:.4f}",
        f"{part['gamma_star'] / part['gamma_hat']:.3f}"
        if part["gamma_hat"] > ROUNDING
        else MISSING,
    ]


def _hold_soft(page: Page, results: CaseResults) -> None:
    """The proved inequalities, over all data and epsilons."""
    triples = [
        {
            key: r[f"{e:g}|{key}"]
            for key in ("gamma_star", "gamma_hat", "gamma_primal", "holding", "guaranteed")
        }
        for r in results.values()
        for e in EPSILONS
    ]
    n_short = sum(t["holding"] < t["guaranteed"] - 1e-6 for t in triples)
    page.must_hold(
        "Theorem 3 and Corollary 4: (p - nu+)(n - nu-) pairs or more have the margin gamma*",
        n_short == 0,
        f"{len(triples)} fits, {n_short} short",
    )
    least = min((t["gamma_hat"] - t["gamma_star"] for t in triples), default=0.0)
    page.check("gamma-hat is at least gamma*", least > -1e-6, f"smallest excess {least:.1e}")
    apart = max((abs(t["gamma_hat"] - t["gamma_primal"]) for t in triples), default=0.0)
    page.check(
        "(8), with its halves, is the dual of (7)", apart < 1e-6, f"largest difference {apart:.1e}"
    )
