"""Komori (2010): its claims on small sizes, the rules of the verdicts, and a tiny run of it all."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from auctor.datasets import gaussian_pair_roc, t_pair_roc
from auctor.metrics import auc
from papers.catalogue import choose, load_paper
from papers.experiment import Setup, Size
from papers.komori_2010 import distributions, kyphosis, kyphosis_report, methods, theorem
from papers.komori_2010.adaboost import boost, fit_adaboost, pair_fractions
from papers.komori_2010.cross_validation import choose as choose_best
from papers.komori_2010.cross_validation import cross_validate
from papers.komori_2010.curves import alike, compare, follows, is_flat, one_factor
from papers.komori_2010.simulation import Aucs, claim_row, printed, tell_repetitions
from papers.komori_2010.table2 import beyond, useless
from papers.komori_2010.tuning import near_peak
from papers.komori_2010.verdicts import (
    Printed,
    ahead,
    all_of,
    narrower,
    same_distribution,
    same_figure,
)
from papers.page import Page, Verdict
from papers.reproduce import Folders, Reproduction
from papers.results import Results

TINY = Setup(Size.TINY)
PRINTED = Printed(0.8, 0.7, 0.9)


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory):
    """The whole paper, once, in a place without tables."""
    folder = tmp_path_factory.mktemp("komori")
    folders = Folders(folder / "pages", folder / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUCTOR_DATA", raising=False)
        outcome = Reproduction(TINY, folders).run(choose(["komori_2010"]))
    return outcome, folders


@pytest.fixture
def page(tmp_path):
    return Page(load_paper("komori_2010"), TINY, tmp_path)


def test_a_tiny_run_has_all_its_sections_and_pictures(tiny_run):
    outcome, folders = tiny_run
    text = (folders.pages / "komori_2010.md").read_text()
    for experiment in load_paper("komori_2010").experiments:
        assert f"## {experiment.title}" in text
    assert "This experiment has not been run" not in text
    assert "nan" not in text.replace("Nadeau", "")
    for number in ("1", "2", "3", "3_ours", "4", "5"):
        assert (folders.pages / "komori_2010" / f"figure{number}.png").stat().st_size > 5000
    assert outcome.broken() == []


def test_every_report_does_with_a_part_of_its_cases(tiny_run, page, monkeypatch):
    _, folders = tiny_run
    # Drawn, but not laid out and written, which takes most of the time.
    monkeypatch.setattr(page, "figure", lambda name, draw, caption: draw(Figure()))
    for experiment in page.paper.experiments:
        results = Results(folders.kept(page.paper, experiment, TINY), TINY).stored()
        assert results
        for name, result in results.items():
            page.begin(experiment)
            experiment.report(page, {name: result}, TINY)


@pytest.mark.parametrize(
    ("distribution", "exact"), [("gaussian", gaussian_pair_roc), ("t", t_pair_roc)]
)
def test_optimal_scores_reach_the_optimal_area(distribution, exact):
    rows = distributions.sample(distribution, 20_000, np.random.default_rng(0))
    optimal_auc = auc(rows.y, distributions.optimal_score(distribution, rows.X))
    assert optimal_auc == pytest.approx(exact().optimal_auc, abs=0.01)


def test_no_score_of_x2_reaches_table_2_under_the_printed_density(page):
    assert distributions.best_alone("t", 1) == pytest.approx(0.599, abs=5e-4)
    # Half-Cauchy against one twice as wide: 1 - 4/pi^2 sum a^(2n+1) (1/(2n+1)^2 - log a/(2n+1)).
    assert distributions.best_alone("t", 2) == pytest.approx(0.63682, abs=5e-5)
    assert beyond(page, "t")["x2"][2] > 2.58
    assert max(far for _, _, far in beyond(page, "divided").values()) < 2.58


@pytest.mark.parametrize("feature", [1, 3])
def test_density_of_the_divided_distribution_is_that_of_its_rows(feature):
    rows = distributions.sample("divided", 40_000, np.random.default_rng(1))
    column, x = np.array([feature]), np.linspace(-300, 300, 600_001)
    density = np.exp(distributions.log_density("divided", x[:, None], 1, column))
    fraction = density[np.abs(x) < 1].sum() / density.sum()
    drawn = rows.X[rows.y == 1, feature]
    assert (np.abs(drawn) < 1).mean() == pytest.approx(fraction, abs=0.012)


def test_glm_of_table_2_fits_the_divided_distribution_and_not_the_printed_one():
    effort, totals = methods.Effort(10, 2), {}
    for distribution in ("t", "divided"):
        totals[distribution] = []
        for repetition in range(40):
            train, test = distributions.draw(distribution, 0, repetition)
            fitted = methods.fit(methods.GLM, distribution, train, effort)
            totals[distribution].append(auc(test.y, fitted.score(test.X)))
    assert abs(np.mean(totals["divided"]) - 0.648) < 0.03 < abs(np.mean(totals["t"]) - 0.648)


@pytest.mark.parametrize(
    "method", [methods.AUCBOOST, methods.OURS, methods.ESTIMATED, methods.GAM_QUANTILES]
)
def test_parts_add_up_to_scores(method):
    train, test = distributions.draw("gaussian", 0, 0)
    effort = methods.Effort(5, 2, 5)
    fitted = methods.fit(method, "gaussian", train, effort)
    gaps = fitted.score(test.X) - fitted.parts(test.X).sum(axis=1)
    assert np.ptp(gaps) < 1e-9  # up to a constant


@pytest.mark.parametrize("is_full", [False, True], ids=["diagonal", "full"])
def test_estimated_optimal_score_is_the_optimal_one_on_many_rows(is_full):
    rows = distributions.sample("gaussian", 100_000, np.random.default_rng(0))
    test = distributions.sample("gaussian", 200, np.random.default_rng(1))
    scores = methods.fit_estimated(rows, is_full).score(test.X)
    assert np.corrcoef(scores, distributions.optimal_parts(test.X).sum(axis=1))[0, 1] > 0.999


def test_adaboost_takes_the_stump_of_the_least_error_and_lowers_the_loss():
    train, test = distributions.draw("gaussian", 0, 0)
    label = np.where(train.y > 0, 1, -1)
    stumps = boost(train, 30)
    losses = np.exp(-label * stumps.staged(train.X)).mean(axis=1)
    assert (np.diff(losses) < 0).all()
    assert stumps.staged(test.X)[-1] == pytest.approx(stumps.parts(test.X).sum(axis=1))
    errors = [
        np.mean((train.X[:, k] > cut) == (train.y != side))
        for k in range(4)
        for cut in np.unique(train.X[:, k])
        for side in (0, 1)
    ]
    first = np.mean((np.sign(stumps.staged(train.X)[0]) > 0) != (train.y > 0))
    assert first == pytest.approx(min(errors))


def test_adaboost_is_about_as_good_as_that_of_scikit_learn():
    train, test = distributions.draw("gaussian", 0, 1)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=40)
    theirs.fit(train.X, train.y)
    ours = auc(test.y, boost(train, 40).parts(test.X).sum(axis=1))
    assert ours == pytest.approx(auc(test.y, theirs.decision_function(test.X)), abs=0.04)
    assert len(fit_adaboost(train, 3, 20).cut) <= 20


def test_pair_fractions_are_areas():
    scores, y = np.array([[1.0, 2, 2, 3], [0.0, 0, 0, 0]]), np.array([0, 1, 0, 1])
    assert pair_fractions(scores, y).tolist() == [auc(y, scores[0]), 0.5]


def test_kyphosis_test_rows_have_18_pairs():
    train, test = kyphosis.first_split()
    assert (len(train.y), len(test.y), int(test.y.sum())) == (70, 11, 2)
    other = kyphosis.random_split(0, 5)
    assert (len(other.train.y), len(other.test.y), int(other.test.y.sum())) == (70, 11, 2)
    assert kyphosis_report.fraction_by_chance(2, 9, 0) == 1
    assert kyphosis_report.fraction_by_chance(2, 9, 18) == pytest.approx(1 / 55)
    assert kyphosis_report.fraction_by_chance(1, 3, 2) == pytest.approx(1 / 2)


def test_theorem_holds_and_would_not_for_another_ratio():
    atoms = theorem.make_atoms(80, 0)
    wrong = -np.abs(atoms.X[:, 2])
    rising = [theorem.smoothed_area(atoms, c * atoms.log_ratio) for c in (-1, 0, 1, 2)]
    falling = [theorem.smoothed_area(atoms, c * wrong) for c in (0, 1)]
    assert (np.diff(rising) > 0).all() and falling[1] < falling[0]


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        (ahead([0.1, 0.2, 0.15]), Verdict.REPRODUCED),
        (ahead([-0.1, -0.2, -0.15]), Verdict.NOT_REPRODUCED),
        (ahead([-0.1, 0.1]), Verdict.UNDECIDED),
        (ahead([0.1]), Verdict.NOT_RUN),
        (same_figure([0.79, 0.81] * 20, PRINTED, True), Verdict.REPRODUCED),
        (same_figure([0.7, 0.9], PRINTED, True), Verdict.UNDECIDED),
        (same_figure([0.89, 0.91] * 20, PRINTED, True), Verdict.BETTER),
        (same_figure([0.89, 0.91] * 20, PRINTED, False), Verdict.NOT_REPRODUCED),
        (same_figure([0.69, 0.71] * 20, PRINTED, True), Verdict.NOT_REPRODUCED),
        (same_distribution([0.5, -1.0]), Verdict.REPRODUCED),
        (same_distribution([0.5, -9.0]), Verdict.NOT_REPRODUCED),
        (same_distribution([2.5, -2.5]), Verdict.UNDECIDED),
        (all_of([ahead([0.1, 0.2, 0.15]), ahead([-0.1, 0.1])], ""), Verdict.PARTLY),
        (useless([0.50, 0.51]), Verdict.UNDECIDED),
        (useless([0.50, 0.501]), Verdict.REPRODUCED),
        (useless([0.60, 0.601]), Verdict.NOT_REPRODUCED),
        (near_peak(np.sin(np.linspace(0, 3, 200))[None].repeat(9, 0), 105), Verdict.REPRODUCED),
        (near_peak(np.linspace(0, 1, 100)[None].repeat(9, 0), 20), Verdict.NOT_REPRODUCED),
        (near_peak(np.eye(100)[[5, 20, 50, 90]], 40), Verdict.UNDECIDED),
        (near_peak(np.linspace(0, 1, 100)[None], 200), Verdict.NOT_RUN),
    ],
)
def test_verdicts_go_both_ways(rule, verdict):
    assert rule.verdict == verdict


def test_narrower_goes_both_ways():
    rng = np.random.default_rng(0)
    narrow, wide = rng.normal(0.8, 0.01, 60).tolist(), rng.normal(0.8, 0.04, 60).tolist()
    assert narrower(narrow, wide).verdict == Verdict.REPRODUCED
    assert narrower(wide, narrow).verdict == Verdict.NOT_REPRODUCED
    assert narrower(narrow, narrow).verdict == Verdict.UNDECIDED
    assert narrower(narrow, wide).number.endswith("60 repetitions")


def test_a_row_of_a_table_is_judged_by_its_mean_and_by_its_score_aucs(tmp_path):
    page = Page(load_paper("komori_2010"), Setup(Size.FULL), tmp_path)
    figures = page.expected["table1"][methods.AUCBOOST]
    near = {column: [band[0] - 0.001, band[0] + 0.001] * 50 for column, band in figures.items()}
    claim_row(page, Aucs({"AUCBoost 0": near}), "table1", methods.AUCBOOST)
    assert [claim.verdict for claim in page.claims] == [Verdict.REPRODUCED] * 2
    far = near | {"total": [0.5, 0.51] * 50, "x1": [0.6, 0.61] * 50}
    claim_row(page, Aucs({"AUCBoost 0": far}), "table1", methods.AUCBOOST)
    assert page.claims[2].verdict == Verdict.NOT_REPRODUCED
    assert page.claims[3].verdict == Verdict.REPRODUCED  # a score AUC that is better
    assert page.claims[3].number.startswith("4 of 4 met")


def test_auc_cv_takes_the_mean_over_folds_of_the_penalised_smoothed_area():
    train, _ = kyphosis.first_split()
    curves = cross_validate(train, (0.1, 0.001), n_rounds=3, n_folds=2, max_bins=20)
    penalised, plain = curves["penalised", 0.1], curves["auc", 0.1]
    assert len(penalised) == 3 and (plain > 0.5).all() and (penalised < plain).all()
    best = choose_best(curves, "auc")
    assert best.value == max(v.max() for (name, _), v in curves.items() if name == "auc")
    assert best.value == curves["auc", best.penalty][best.n_rounds - 1]


def test_lambda_of_a_tenth_gives_the_papers_aucs_on_kyphosis():
    train, test = kyphosis.first_split()
    fitted = methods.fit_aucboost(train, 0.1, 75, 255)
    assert auc(train.y, fitted.score(train.X)) == pytest.approx(0.926, abs=5e-4)
    assert auc(test.y, fitted.score(test.X)) == pytest.approx(14 / 18)


def test_splines_have_the_lowest_risk_at_the_highest_age():
    assert set(kyphosis.fit_splines().values()) == {206.0}


def test_the_page_tells_the_repetitions_that_were_run(page, tmp_path):
    tell_repetitions(page, Aucs({"a 0": {"total": [0.5, 0.6]}}), ["a", "b"])
    assert "2 of a; none of b" in page.write(tmp_path).read_text()


def test_reduced_methods_have_no_figure_of_the_paper_beside_them(page, tmp_path):
    full = Page(page.paper, Setup(Size.FULL), tmp_path)
    assert printed(full, "table1", methods.AUCBOOST, "total") is not None
    assert printed(page, "table1", methods.AUCBOOST, "total") is None
    assert printed(page, "table1", methods.ESTIMATED, "total") is not None


def test_score_plots_are_judged_both_ways():
    grid = np.linspace(-3, 3, 61)
    assert follows(compare(2 * grid, grid, "x2")).verdict == Verdict.REPRODUCED
    assert compare(2 * grid, grid, "x2").factor == pytest.approx(2)
    assert follows(compare(-grid, grid, "x2")).verdict == Verdict.NOT_REPRODUCED
    assert one_factor([0.2, 0.22]).verdict == Verdict.REPRODUCED
    assert one_factor([0.2, 0.9]).verdict == Verdict.NOT_REPRODUCED
    assert is_flat({"x1": 0 * grid[None], "x4": grid[None]}).verdict == Verdict.REPRODUCED
    assert is_flat({"x1": grid[None], "x4": grid[None]}).verdict == Verdict.NOT_REPRODUCED
    wide = grid**2 - (grid**2).mean()
    results = {"AUCBoost 0": {"x3": [wide.tolist()]}, "AdaBoost 0": {"x3": [(-wide).tolist()]}}
    assert alike(results).verdict == Verdict.NOT_REPRODUCED
    assert alike(results | {"AdaBoost 0": results["AUCBoost 0"]}).verdict == Verdict.REPRODUCED


def test_kyphosis_is_judged_both_ways():
    low, high = {"train": 0.9, "test": 0.6}, {"train": 0.95, "test": 0.8}
    rivals = dict.fromkeys(kyphosis.RIVALS, low)
    assert kyphosis_report.is_first({"AUCBoost": high, **rivals}).verdict == Verdict.REPRODUCED
    assert kyphosis_report.is_first({"AUCBoost": low, **rivals}).verdict == Verdict.PARTLY
    assert kyphosis_report.is_first({"AUCBoost": high}).verdict == Verdict.NOT_RUN
    with_gam = kyphosis_report.is_first({"AUCBoost": high, **rivals, "GAM": {"test": 0.5}})
    assert with_gam.number.endswith("degrees of freedom, 9")
    fitted = {"train": 1.0, "test": 0.5}
    assert (
        kyphosis_report.overfits({"AUCBoost": low, "AdaBoost": fitted}).verdict
        == Verdict.REPRODUCED
    )
    assert kyphosis_report.overfits({"AUCBoost": fitted, "AdaBoost": low}).verdict == (
        Verdict.NOT_REPRODUCED
    )


def test_adaboost_has_the_papers_kyphosis_figures_after_some_rounds():
    path = [kyphosis_report._cut(both) for both in kyphosis_report.adaboost_path()]
    met = [n + 1 for n, both in enumerate(path) if both == (0.997, 0.666)]
    assert (min(met), max(met)) == (36, 46)


def test_kyphosis_differences_are_of_the_same_splits():
    results = {
        "AUCBoost random 0": {"test": [0.5, 0.6]},
        "AUCBoost random 5": {"test": [0.9]},
        "GLM random 5": {"test": [0.8]},
    }
    assert kyphosis.random_differences(results, "GLM") == pytest.approx([0.1])


def test_differences_are_of_the_same_samples():
    aucs = Aucs({"a 0": {"total": [0.5, 0.6]}, "a 2": {"total": [0.9]}, "b 2": {"total": [0.8]}})
    assert aucs.less("a", "b") == pytest.approx([0.1])
    assert aucs.values("a") == [0.5, 0.6, 0.9]
    assert aucs.values("c") == []
