"""Clémençon & Vayatis: the whole paper in a tiny run, its claims on small sizes, the verdicts."""

from functools import partial

import numpy as np
import pytest

from auctor import TreeRank
from auctor.datasets import approximate_roc
from auctor.metrics import auc, roc_curve, roc_distance
from papers.catalogue import choose, load_paper
from papers.clemencon_vayatis_2009 import boosted_trees, consistency, one_step, plug_in, rate
from papers.clemencon_vayatis_2009.feature_distributions import DISTRIBUTIONS, distances, evaluate
from papers.clemencon_vayatis_2009.learners import measure, measure_distribution
from papers.clemencon_vayatis_2009.population import check_populations
from papers.clemencon_vayatis_2009.roc_curves import RATIO, ROC_CURVES, octave_curvatures
from papers.clemencon_vayatis_2009.samples import check_trees
from papers.clemencon_vayatis_2009.trees import find_numbers
from papers.clemencon_vayatis_2009.verdicts import (
    join,
    judge_depth,
    judge_fall,
    judge_floor,
    step_exponent,
)
from papers.experiment import Setup, Size
from papers.page import Page, Verdict
from papers.reproduce import Folders, Reproduction
from papers.statistics import Estimate

NAME = "clemencon_vayatis_2009"
TINY = Setup(Size.TINY)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUCTOR_DATA", raising=False)  # no table is needed
        outcome = Reproduction(TINY, Folders(folder / "pages", folder / "results")).run(
            choose([NAME])
        )
    return outcome, folder / "pages"


def test_the_page_has_its_sections_and_pictures(tiny):
    outcome, pages = tiny
    text = (pages / f"{NAME}.md").read_text()
    for heading in ("Figure 1:", "Figure 2:", "Figure 3:", "Proposition 15:", "Theorem 21:"):
        assert f"\n## {heading}" in text
    for name in ("figure1", "figure2", "figure3", "proposition15", "theorem21"):
        assert (pages / NAME / f"{name}.png").stat().st_size > 5000
    assert outcome.obstacles == {}
    assert "nan" not in text.replace("d-infinity", "")


def test_nothing_proved_is_broken(tiny):
    outcome, _ = tiny
    assert outcome.broken() == []
    assert sum(claim.is_certain for claim in outcome.claims) >= 20


def test_reports_work_on_any_part_of_the_cases(tmp_path):
    paper = load_paper(NAME)
    results = {case.name: case for case in consistency.cases(TINY)}
    few = {n: results[n].work() for n in ("line/rate/100", "squares/tree/1000")}
    page = Page(paper, TINY, tmp_path)
    consistency.report(page, few, TINY)
    assert any(claim.verdict == Verdict.NOT_RUN for claim in page.claims)
    page = Page(paper, TINY, tmp_path)
    rate.report(page, {"power": rate.measure("power", 6)}, TINY)
    verdicts = {claim.verdict for claim in page.claims if not claim.is_certain}
    assert verdicts == {Verdict.NOT_RUN}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_rows_follow_their_distribution(name):
    distribution = DISTRIBUTIONS[name]()
    X, y = distribution.draw(60_000, np.random.default_rng(0))
    edges = [np.linspace(0, 1, 4)] * distribution.n_features
    box = np.ravel_multi_index((X * 3).astype(int).T, (3,) * distribution.n_features)
    for label, mass in enumerate(distribution.masses(edges)):
        seen = np.bincount(box[y == label], minlength=len(mass)) / (y == label).sum()
        assert mass.sum() == pytest.approx(1)
        np.testing.assert_allclose(seen, mass, atol=0.012)
    assert auc(y, distribution.log_ratio(X)) == pytest.approx(
        distribution.roc.optimal_auc, abs=0.008
    )


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distances_in_the_population_are_those_of_many_rows(name):
    distribution = DISTRIBUTIONS[name]()
    rng = np.random.default_rng(1)
    ranker = TreeRank(5, min_samples_leaf=20).fit(*distribution.draw(1000, rng))
    result = evaluate(ranker, distribution)
    X, y = distribution.draw(100_000, rng)
    ideal = approximate_roc(distribution.roc, depth=10).knots
    seen = roc_distance(roc_curve(y, ranker.decision_function(X)), ideal)
    assert result.d1 == pytest.approx(seen.l1, abs=0.005)
    assert result.d_inf == pytest.approx(seen.sup, abs=0.01)


@pytest.mark.parametrize("name", ["exponential_2", "octaves", "fading", "gaussian_1"])
def test_distances_agree_with_the_ideal_tree(name):
    ideal = approximate_roc(ROC_CURVES[name].make(), depth=4)
    result = distances(ideal.optimal, ideal.alpha, ideal.beta)
    assert result == pytest.approx((ideal.d1, ideal.d_inf), rel=1e-6)


@pytest.mark.parametrize("name", [n for n, roc in ROC_CURVES.items() if roc.meets])
def test_bends_lie_in_their_bounds(name):
    roc = ROC_CURVES[name].make()
    curvature = -np.diff(roc.tpr(np.linspace(0, 1, 1001)), 2) * 1e6
    assert (
        ROC_CURVES[name].least - 1e-3
        < curvature.min()
        <= curvature.max()
        < ROC_CURVES[name].most + 1e-3
    )


def test_a_cell_at_the_corner_keeps_its_fraction_on_the_bend_of_octaves():
    widths = [approximate_roc(ROC_CURVES["octaves"].make(), depth=d).alpha[1] for d in range(2, 8)]
    assert min(octave_curvatures()) > 0
    # Every level splits the cell at 0 at the same fraction of its width, above one half.
    np.testing.assert_allclose(np.divide(widths[1:], widths[:-1]), RATIO, atol=1e-6)


def test_a_cell_at_the_corner_shrinks_too_slowly_where_waves_fade():
    widths = [approximate_roc(ROC_CURVES["fading"].make(), depth=d).alpha[1] for d in range(1, 8)]
    fractions = [0.5 + 1 / (level + 32) for level in range(1, 7)]
    np.testing.assert_allclose(np.divide(widths[1:], widths[:-1]), fractions, atol=1e-6)
    slow = rate.measure("fading", 10)
    assert not rate.fit_exponent(slow["tree_d_inf"]).reaches()
    assert rate.fit_exponent(slow["tree_d1"]).reaches()


def test_proposition_15_on_distributions_within_and_outside_its_assumptions():
    inside = rate.measure("exponential_2", 10)
    assert rate.fit_exponent(inside["tree_d1"]).reaches()
    assert rate.fit_exponent(inside["tree_d_inf"]).reaches()
    outside = rate.measure("power", 10)
    assert rate.fit_exponent(outside["tree_d_inf"]).value == pytest.approx(-1, abs=0.01)
    bumpy = rate.measure("octaves", 10)
    assert rate.fit_exponent(bumpy["tree_d_inf"]).value == pytest.approx(
        2 * np.log2(RATIO), abs=0.01
    )
    assert rate.fit_exponent(bumpy["even_d_inf"]).value == pytest.approx(-2, abs=0.05)


@pytest.mark.parametrize("name", ["exponential_1", "exponential_5"])
def test_best_knots_are_no_worse_than_those_of_the_tree(name):
    result = rate.measure(name, 10)
    for d in rate.DISTANCES:
        tree, even = (rate.constant(result[f"{kind}_{d}"]) for kind in ("tree", "even"))
        assert result[f"best_{d}"] < tree * 1.01 < even


def test_theorem_21_the_order_by_fraction_keeps_falling_and_left_to_right_rests():
    roc = measure_distribution("diagonals", 8)
    assert roc["tree_d1"][-1] > 0.9 * roc["tree_d1"][-4]
    assert roc["rate_d1"][-1] < 0.2 * roc["rate_d1"][-4]
    small, large = (np.mean(measure("squares", "rate", n, 3, 0)["d1"]) for n in (1000, 30_000))
    assert large < small / 2


def test_equations_hold_on_other_seeds():
    result = check_populations(30, seed=5)
    assert result.pop("remark4_printed") > 0.1
    assert max(value for key, value in result.items() if key != "n") < 1e-9
    trees = check_trees(5, seed=5)
    assert max(value for key, value in trees.items() if key != "n") < 1e-9


def test_nodes_are_numbered_as_in_figure_2():
    # The root, its two parts, and the parts of the right one.
    assert find_numbers([0, 1, 1, 2, 2], [-1, 0, 0, 2, 2], [0.75, 0, 1.5, 1, 2]) == [0, 0, 1, 2, 3]


def test_checks_of_our_own_differ_from_what_the_paper_proves(tiny):
    outcome, _ = tiny
    ours = [claim.text for claim in outcome.claims if claim.is_ours]
    assert any("corrected" in text for text in ours)
    assert not any(text.startswith("Proposition") for text in ours)


def fall(value, half=0.05):
    return Estimate(value, value - half, value + half)


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([fall(-0.5), fall(-0.4)], Verdict.REPRODUCED),
        ([fall(-0.5), fall(0.0)], Verdict.NOT_REPRODUCED),
        ([fall(-0.5), fall(0.3)], Verdict.NOT_REPRODUCED),
        ([fall(-0.5), fall(-0.1)], Verdict.UNDECIDED),
        ([fall(0.2), fall(-0.5)], Verdict.PARTLY),
        ([Estimate(-0.5, float("nan"), float("nan"))], Verdict.UNDECIDED),
        ([], Verdict.NOT_RUN),
    ],
)
def test_verdict_of_a_distance_by_size(steps, verdict):
    assert judge_fall(steps) == verdict


def test_exponent_of_a_step():
    exponent = step_exponent([0.1, 0.11, 0.09], [0.01, 0.011, 0.009])
    assert exponent.value == pytest.approx(-1)
    assert exponent.low < -1 < exponent.high < -0.5
    assert np.isnan(step_exponent([0.1], [0.01]).high)


def test_verdicts_of_several_distributions():
    yes, no = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
    assert join([yes, yes]) == yes
    assert join([no, Verdict.NOT_RUN]) == no
    assert join([yes, no]) == Verdict.PARTLY
    assert join([yes, Verdict.UNDECIDED]) == Verdict.PARTLY
    assert join([no, Verdict.UNDECIDED]) == no
    assert join([Verdict.NOT_RUN]) == Verdict.NOT_RUN


def test_verdicts_of_depth_floor_rate_and_constant():
    yes, no, partly = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.PARTLY
    by_depth = [judge_depth([1, end, end, end, end * last]) for end, last in ((1, 0.2), (1, 1))]
    assert by_depth == [yes, no]
    assert judge_depth([1, 1, 1, 0.7]) == partly
    assert [judge_floor(fall(v)) for v in (0.0, 0.3, -0.3)] == [yes, no, no]
    assert judge_floor(fall(0.1)) == Verdict.UNDECIDED
    exponent = partial(rate.Exponent, error=0.001)
    assert rate.judge_rate([exponent(-2.0), exponent(-2.3)]) == yes
    assert rate.judge_rate([exponent(-1.5)]) == no
    assert rate.judge_rate([exponent(-1.5), exponent(-2.0)]) == partly
    assert rate.judge_constants([1.0, 0.5]) == yes
    assert rate.judge_constants([1.0, 1.2]) == no
    assert rate.judge_constants([0.5, 1.2]) == partly


def test_the_first_knots_of_definition_18_are_those_of_the_recursion():
    roc = ROC_CURVES["exponential_2"].make()
    knots, gains = one_step.one_step_knots(roc, 8)
    ideal = approximate_roc(roc, depth=1)
    assert knots[0].alpha == pytest.approx(ideal.alpha[1])
    assert 0.5 + gains[0] == pytest.approx(roc.optimal_auc - ideal.d1)
    assert gains == sorted(gains, reverse=True)
    assert one_step.missed(roc, knots[:3], gains[3]) < 1e-9


def test_proposition_10_is_tight_for_nothing_and_holds_for_a_wrong_order():
    ratio = plug_in.RATIOS["linear"]
    right, wrong = plug_in.eta_of(ratio(plug_in.grid()), 0.4), plug_in.grid()
    gap, _ = plug_in.inequality(ratio, 0.4, right)
    assert np.abs(gap).max() < 1e-12
    gap, bound = plug_in.inequality(ratio, 0.4, wrong)
    assert gap.max() > 0.2
    assert (gap <= bound).all()


def test_boosted_trees_rank_better_than_one_of_them():
    X, y = DISTRIBUTIONS["diagonals"]().draw(400, np.random.default_rng(0))
    one = TreeRank(3).fit(X, y)
    boosted = boosted_trees.BoostedTrees(10).fit(X, y)
    assert auc(y, boosted.decision_function(X)) > auc(y, one.decision_function(X))
