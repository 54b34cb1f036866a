"""Table 1: the Gaussian distribution of section 4.2."""

from auctor.datasets import gaussian_pair_roc
from papers.experiment import Case, CaseResults, Setup
from papers.komori_2010.distributions import FEATURES, best_alone
from papers.komori_2010.methods import (
    ADABOOST,
    AUCBOOST,
    BY_AUC,
    BY_AUC_CV,
    ESTIMATED,
    ESTIMATED_FULL,
    GAM,
    GAM_QUANTILES,
    GLM,
    OPTIMAL,
    OURS,
    STUMPS,
)
from papers.komori_2010.simulation import (
    TOTAL,
    Aucs,
    cases,
    print_parts,
    print_totals,
    printed,
    tell_repetitions,
)
from papers.komori_2010.verdicts import REDUCED, Finding, ahead, all_of, not_behind, same_figure
from papers.page import Page, Verdict

METHODS = (
    AUCBOOST, BY_AUC_CV, BY_AUC, OURS, OPTIMAL, ESTIMATED, ESTIMATED_FULL, ADABOOST, GAM,
    GAM_QUANTILES, GLM, STUMPS,
)  # fmt: skip


def table1_cases(setup: Setup) -> list[Case]:
    """Blocks of repetitions on the Gaussian distribution."""
    return cases(setup, "gaussian", METHODS)


def report_table1(page: Page, results: CaseResults, setup: Setup) -> None:
    """Totals, score AUCs, and the claims of section 4.2."""
    aucs = Aucs(results)
    tell_repetitions(page, aucs, METHODS)
    print_totals(page, aucs, METHODS, "table1", ESTIMATED)
    print_parts(page, aucs, METHODS, "table1")
    alone = ", ".join(f"{name} {best_alone('gaussian', k):.4f}" for k, name in enumerate(FEATURES))
    page.text(
        f"In the population the optimal score has an AUC of {gaussian_pair_roc().optimal_auc:.4f}, "
        f"and no score of one feature alone can have more than {alone} (both by quadrature)."
    )
    _claim_figures(page, aucs)
    _claim_order(page, aucs)


def _claim_figures(page: Page, aucs: Aucs) -> None:
    """Judge the paper's means and the order of the methods."""
    for method, findings in same_totals(page, aucs).items():
        page.claim(f"{method}: mean AUC {page.expected['table1'][method][TOTAL][0]:.3f}", *findings)
    findings = ahead(aucs.less(ESTIMATED, AUCBOOST))
    page.claim("the estimated optimal score is ahead of AUCBoost in total", *findings)
    single = {name: ahead(aucs.less(ESTIMATED, AUCBOOST, name)) for name in FEATURES[1:]}
    numbers = "; ".join(f"{name} {findings.number}" for name, findings in single.items())
    page.claim(
        "... and in the score AUCs of x2, x3 and x4", *all_of(list(single.values()), numbers)
    )
    findings = not_behind(aucs.less(OURS, AUCBOOST))
    page.claim(f"{OURS} ranks no worse than the paper's own algorithm", *findings)


def same_totals(page: Page, aucs: Aucs) -> dict[str, Finding]:
    """Compare the means of AUCBoost and of a reference, which shows whether the samples agree."""
    findings = {}
    for method in (AUCBOOST, ESTIMATED):
        theirs, values = printed(page, "table1", method, TOTAL), aucs.values(method)
        is_ours = method == AUCBOOST
        findings[method] = REDUCED if theirs is None else same_figure(values, theirs, is_ours)
    is_off = findings[ESTIMATED].verdict != Verdict.REPRODUCED
    if findings[AUCBOOST].verdict == Verdict.BETTER and is_off:
        findings[AUCBOOST] = findings[AUCBOOST]._replace(verdict=Verdict.PARTLY)
    return findings


def _claim_order(page: Page, aucs: Aucs) -> None:
    """x4 is the most informative feature, then x3, x2, and x1 is useless."""
    pairs = [("x1", "x2"), ("x2", "x3"), ("x3", "x4")]
    for method in (AUCBOOST, OURS):
        steps = [ahead(aucs.steps(method, *pair)) for pair in pairs]
        numbers = "; ".join(
            f"{b} minus {a} {finding.number}" for (a, b), finding in zip(pairs, steps, strict=True)
        )
        page.claim(
            f"score AUCs of {method} rise from x1 over x2 and x3 to x4", *all_of(steps, numbers)
        )
