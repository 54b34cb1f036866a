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
    Aucs,
    cases,
    claim_row,
    print_choices,
    print_parts,
    print_totals,
    tell_repetitions,
)
from papers.komori_2010.verdicts import ahead, all_of
from papers.page import Cause, Page

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
    print_choices(page, aucs)
    alone = ", ".join(f"{name} {best_alone('gaussian', k):.4f}" for k, name in enumerate(FEATURES))
    page.text(
        f"In the population the optimal score has an AUC of {gaussian_pair_roc().optimal_auc:.4f}, "
        f"and no score of one feature alone can have more than {alone} (both by quadrature)."
    )
    _claim_figures(page, aucs)
    _claim_order(page, aucs)


def _claim_figures(page: Page, aucs: Aucs) -> None:
    """Judge the paper's ten figures and the order of the two methods."""
    short = "Table 1: mean AUC of AUCBoost, Gaussian classes"
    claim_row(page, aucs, "table1", AUCBOOST, (short, Cause.SETUP))
    claim_row(page, aucs, "table1", ESTIMATED)
    finding = ahead(aucs.less(ESTIMATED, AUCBOOST))
    page.claim("the estimated optimal score is ahead of AUCBoost in total", *finding)
    single = {name: ahead(aucs.less(ESTIMATED, AUCBOOST, name)) for name in FEATURES[1:]}
    numbers = "; ".join(f"{name} {finding.number}" for name, finding in single.items())
    page.claim(
        "... and in the score AUCs of x2, x3 and x4", *all_of(list(single.values()), numbers)
    )
    for other in (BY_AUC_CV, BY_AUC):
        finding = ahead(aucs.less(AUCBOOST, other))
        page.addition(f"the given pair lambda = 0.01, T = 200 is ahead of {other}", *finding)
    finding = ahead(aucs.less(OURS, AUCBOOST))
    page.addition(f"{OURS} is ahead of AUCBoost", *finding)


def _claim_order(page: Page, aucs: Aucs) -> None:
    """x4 is the most informative feature, then x3, x2, and x1 is useless."""
    pairs = [("x1", "x2"), ("x2", "x3"), ("x3", "x4")]
    steps = [ahead(aucs.steps(AUCBOOST, *pair)) for pair in pairs]
    numbers = "; ".join(
        f"{b} minus {a} {finding.number}" for (a, b), finding in zip(pairs, steps, strict=True)
    )
    page.claim("score AUCs of AUCBoost rise from x1 over x2 and x3 to x4", *all_of(steps, numbers))
