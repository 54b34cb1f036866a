"""Table 2: the t distribution as printed, and the one that the table seems to come from."""

from collections.abc import Callable
from functools import partial

from papers.experiment import Case, CaseResults, Setup
from papers.komori_2010.distributions import FEATURES, best_alone
from papers.komori_2010.methods import (
    ADABOOST,
    AUCBOOST,
    BY_AUC,
    BY_AUC_CV,
    GAM,
    GAM_QUANTILES,
    GLM,
    OPTIMAL,
    OURS,
    STUMPS,
)
from papers.komori_2010.simulation import (
    COLUMNS,
    TOTAL,
    Aucs,
    cases,
    claim_row,
    mean_interval,
    print_choices,
    print_parts,
    print_totals,
    printed,
    row_findings,
    tell_repetitions,
)
from papers.komori_2010.verdicts import (
    NOTHING,
    Finding,
    Printed,
    ahead,
    far,
    narrower,
    same_distribution,
)
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import t_interval

METHODS = (
    AUCBOOST, BY_AUC_CV, BY_AUC, OURS, OPTIMAL, ADABOOST, GAM, GAM_QUANTILES, GLM, STUMPS,
)  # fmt: skip
RIVALS = (ADABOOST, GAM, GLM)
BELIEVED = "divided"  # the distribution that Table 2 comes from
# A score AUC below this counts as nearly useless (0.5).
_USELESS = 0.52
# With fewer repetitions every distribution would be accepted.
_ENOUGH = 20
_WORDS = {
    "t": "the density printed in section 4.3",
    "divided": "the distribution of (mu + z) / s, whose mean is also divided",
}


def table2_cases(distribution: str) -> Callable[[Setup], list[Case]]:
    """Blocks of repetitions on one of the two distributions."""
    return partial(cases, distribution=distribution, methods=METHODS)


def report_table2(distribution: str) -> Callable[[Page, CaseResults, Setup], None]:
    """The report of one of the two distributions."""
    return partial(_report, distribution=distribution)


def _report(page: Page, results: CaseResults, setup: Setup, distribution: str) -> None:
    aucs = Aucs(results)
    tell_repetitions(page, aucs, METHODS)
    print_totals(page, aucs, METHODS, "table2", OPTIMAL)
    print_parts(page, aucs, METHODS, "table2")
    print_choices(page, aucs)
    failed = aucs.values(GAM).count(0.5)
    page.text(
        f"No candidate of pyGAM's grid converged in {failed} of {len(aucs.values(GAM))} samples; "
        "its score is flat there, with an AUC of 0.5. Its knots stand at equal distances over the "
        "range of x, most of them among the outliers; the other GAM has them among the rows."
    )
    if distribution == BELIEVED:
        _claim_figures(page, aucs)
    else:
        _tell_figures(page, aucs)
    judge = page.claim if distribution == BELIEVED else page.addition
    for rival in RIVALS:
        text, finding = (
            f"AUCBoost has a larger mean AUC than {rival}",
            ahead(aucs.less(AUCBOOST, rival)),
        )
        if rival == ADABOOST and distribution == BELIEVED:
            short = "Table 2: AUCBoost is ahead of AdaBoost, the best of the others"
            page.claim(text, *finding, headline=Headline(short, "+0.011", finding.number))
        else:
            judge(text, *finding)
    for rival in RIVALS:
        finding = narrower(*aucs.paired(AUCBOOST, rival))
        judge(f"the AUC of AUCBoost varies less than that of {rival}", *finding)
    judge("GLM finds nothing in x3 (score AUC 0.496)", *useless(aucs.values(GLM, "x3")))
    finding = ahead(aucs.less(AUCBOOST, GAM_QUANTILES))
    page.addition("AUCBoost is ahead of a GAM whose knots stand among the rows", *finding)
    page.addition(f"{OURS} is ahead of AUCBoost", *ahead(aucs.less(OURS, AUCBOOST)))
    _print_distances(page, aucs, distribution)


_HEADLINES = {AUCBOOST: ("Table 2: mean AUC of AUCBoost under outliers", Cause.SETUP)}


def _claim_figures(page: Page, aucs: Aucs) -> None:
    """The paper's four rows under the distribution that they come from."""
    for method in (AUCBOOST, *RIVALS):
        claim_row(page, aucs, "table2", method, _HEADLINES.get(method))


def _tell_figures(page: Page, aucs: Aucs) -> None:
    """The paper's four mean AUCs under the density as printed, which is not theirs."""
    for method in (AUCBOOST, *RIVALS):
        figure = page.expected["table2"][method][TOTAL][0]
        finding = row_findings(page, aucs, "table2", method)[TOTAL]
        page.addition(f"{method}: mean AUC {figure:.3f} under the density as printed", *finding)


def useless(values: list[float]) -> Finding:
    """Whether a score AUC is next to 0.5."""
    if len(values) < 2:
        return NOTHING
    interval = t_interval(values)
    verdict = Verdict.UNDECIDED
    if interval.high < _USELESS:
        verdict = Verdict.REPRODUCED
    elif interval.low > _USELESS:
        verdict = Verdict.NOT_REPRODUCED
    return Finding(verdict, f"{interval.value:.3f} ({interval.low:.3f}, {interval.high:.3f})")


def distances(page: Page, aucs: Aucs, method: str) -> dict[str, float]:
    """Standard errors between our means and the paper's Table 2, column by column."""
    out = {}
    for column in COLUMNS:
        values, theirs = aucs.values(method, column), printed(page, "table2", method, column)
        if theirs is not None and len(values) > 1:
            out[column] = far(values, theirs)
    return out


def _print_distances(page: Page, aucs: Aucs, distribution: str) -> None:
    """Judge which of the two distributions Table 2 comes from."""
    page.text("Our mean minus the paper's, in standard errors of the difference:")
    apart = {method: distances(page, aucs, method) for method in (AUCBOOST, *RIVALS)}
    rows = [
        [method, *(f"{by[c]:+.1f}" if c in by else "–" for c in COLUMNS)]
        for method, by in apart.items()
    ]
    page.table(["method", *COLUMNS], rows)
    # GLM is the same everywhere; our GAM and our stumps are not those of S-Plus.
    is_enough = len(aucs.values(GLM)) >= _ENOUGH
    finding = same_distribution(list(apart[GLM].values())) if is_enough else NOTHING
    text = f"Table 2 comes from {_WORDS[distribution]}, judged by its GLM"
    if distribution == BELIEVED:
        page.addition(text, *finding)
    else:
        theirs = f"{page.expected['table2'][GLM][TOTAL][0]:.3f}"
        ours = mean_interval(aucs.values(GLM))
        told = Headline(
            "Table 2 is of the t distribution printed in section 4.3 (AUC of GLM)",
            theirs,
            ours,
            Cause.PAPER,
        )
        page.claim(text, *finding, headline=told)
    _tell_possible(page, distribution)


def _tell_possible(page: Page, distribution: str) -> None:
    """Compare the paper's figures with exact limits (by quadrature), independently of any run."""
    limits = beyond(page, distribution)
    parts = [f"{f} {v.mean:.3f} of at most {most:.4f}" for f, (v, most, _) in limits.items()]
    feature = max(limits, key=lambda name: limits[name][2])
    most_far = limits[feature][2]
    verdict = (
        f"that of {feature} is {most_far:.0f} standard errors above it: the table does not come "
        "from this distribution"
    )
    page.text(
        f"The paper's score AUCs of AUCBoost beside the largest that any score of the feature can "
        f"have under {_WORDS[distribution]}: {'; '.join(parts)}; "
        + (f"{verdict}." if most_far > 1.96 else "none is above it by more than chance.")
    )


def beyond(page: Page, distribution: str) -> dict[str, tuple[Printed, float, float]]:
    """The paper's figure, the largest possible, and how many standard errors it is above that."""
    out = {}
    for k, feature in enumerate(FEATURES[1:], start=1):
        theirs = Printed(*page.expected["table2"][AUCBOOST][feature])
        most = best_alone(distribution, k)
        out[feature] = theirs, most, (theirs.mean - most) / theirs.error
    return out
