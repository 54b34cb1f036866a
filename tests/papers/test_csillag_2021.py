"""Csillag et al. 2021: a tiny run of the whole paper, its claims on small sizes, the verdicts."""

from importlib.util import find_spec
from math import e, sqrt
from statistics import mean

import numpy as np
import pytest

from papers.catalogue import choose, load_paper
from papers.csillag_2021 import comparison as rules
from papers.csillag_2021 import (
    ensembling,
    growth,
    optimisers,
    poor_models,
    runs,
    searching,
    subsampling,
    theorems,
    times,
)
from papers.csillag_2021.methods import (
    IN_SAMPLE,
    LOSSES,
    OURS,
    OUT_OF_FOLD,
    SURROGATES,
    TABLES,
    Fold,
    exactboost,
    folds_of,
    stacked,
)
from papers.csillag_2021.pair_rankboost import PairRankBoost
from papers.experiment import Setup, Size
from papers.page import Page, Verdict
from papers.reproduce import Folders, Reproduction
from papers.statistics import Estimate
from tests.reference.exactboost import auc_loss, ks_loss

NAME = "csillag_2021"
PAPER = load_paper(NAME)


def run_tiny(folder):
    folders = Folders(folder / "pages", folder / "results")
    outcome = Reproduction(Setup(Size.TINY), folders).run(choose([NAME]))
    return outcome, (folders.pages / f"{NAME}.md").read_text(encoding="utf-8")


def two_classes(n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    y = (X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(size=n_rows) > 0.6).astype(np.int64)
    return X, y


# --- the whole paper ---------------------------------------------------------------------------


@pytest.mark.usefixtures("tables")
def test_a_tiny_run_fills_the_page(tmp_path):
    outcome, text = run_tiny(tmp_path)
    for experiment in PAPER.experiments:
        assert f"## {experiment.title}" in text
    assert outcome.broken() == []
    for name in ("figure1", "landscape", "figure2", "proposition1"):
        assert (tmp_path / "pages" / NAME / f"{name}.png").stat().st_size > 5000
    named = {claim.experiment for claim in outcome.claims}
    # Its six base models are one case, and one of them is not in every environment.
    left_out = {"Tables 3 and 4", "Section 4"} if find_spec("xgboost") is None else set()
    assert named == {e.title.partition(":")[0] for e in PAPER.experiments} - left_out
    assert text.count("This experiment has not been run") == len(left_out)


def test_without_tables_the_theorems_are_run_and_the_rest_is_listed(tmp_path, monkeypatch):
    monkeypatch.delenv("AUCTOR_DATA", raising=False)
    outcome, text = run_tiny(tmp_path)
    assert {claim.experiment for claim in outcome.claims} == {
        "Theorems 1 and 2, Proposition 1",
        growth.EXPERIMENT.title,
    }
    assert outcome.broken() == []
    assert text.count("This experiment has not been run") == len(PAPER.experiments) - 2
    assert any("liver.csv not found" in why for why in outcome.obstacles.values())


def test_the_papers_figures_are_there_for_every_table():
    expected = PAPER.expected()
    for key in ("table2", "ensembling"):
        for methods in expected[key].values():
            for losses in methods.values():
                assert {*TABLES, "gisette"} == set(losses)
        for metric, methods in expected["spreads"][key].items():
            assert methods.keys() == expected[key][metric].keys()
            assert all({*TABLES, "gisette"} == set(of) for of in methods.values())
    assert {*TABLES, "gisette"} == set(expected["table1"])


@pytest.mark.parametrize("size", Size)
def test_case_names_are_unique_and_can_be_read_back(size):
    for experiment in PAPER.experiments:
        names = [case.name for case in experiment.cases(Setup(size))]
        assert len(names) == len(set(names)) > 0


# --- claims on small sizes ---------------------------------------------------------------------


def test_proposition_1_as_printed_fails_and_the_corrected_one_holds():
    results = {"subsampling, k = 400": subsampling.work(400, seed=1, n_tables=8, n_draws=40)}
    for excess in subsampling.collect(results).values():
        assert len(set(excess[400])) == 8  # a figure for each table
        assert subsampling.exceeding(excess) == [400]
        assert mean(excess[400]) < subsampling.corrected(400)
        assert mean(excess[400]) > e / 400


@pytest.mark.parametrize(
    ("metric", "loss"), [("AUC", auc_loss), ("KS", ks_loss)], ids=["AUC", "KS"]
)
def test_losses_of_stumps_are_those_of_the_definitions(metric, loss):
    rng = np.random.default_rng(3)
    pos, neg = (rng.integers(0, 2, size=(n, 2)).astype(float) for n in (7, 9))
    fractions = pos.mean(axis=0), neg.mean(axis=0)
    up = [loss(pos[:, j], neg[:, j]) for j in range(2)]
    down = [loss(-pos[:, j], -neg[:, j]) for j in range(2)]
    assert subsampling.stump_losses(metric, *fractions) == pytest.approx(up + down)


def test_strict_loss_counts_ties_as_lost():
    rng = np.random.default_rng(4)
    y, scores = np.arange(40) % 2, rng.integers(0, 6, size=40).astype(float)
    expected = auc_loss(scores[y == 1], scores[y == 0])
    assert theorems.strict_auc_loss(y, scores) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["AUC", "KS"])
def test_a_bound_that_says_something_holds_on_fresh_rows(metric):
    result = theorems.work("apart", metric, 30_000, seed=2, n_times=1, n_fresh=20_000)
    assert result["loss"][0] < result["best_bound"][0] < 1 < result["bound"][0]


def test_rows_needed_are_where_the_margin_term_crosses_one():
    n_rows = theorems.rows_needed(20, 0.05)
    assert (
        theorems.margin_term(2 * n_rows, 20, 0.05) < 1 < theorems.margin_term(n_rows // 2, 20, 0.05)
    )
    assert theorems.rows_needed(20, 0.5) < n_rows / 50


@pytest.mark.parametrize("metric", ["AUC", "KS"])
def test_the_mean_of_single_runs_is_the_model(metric):
    fold = folds_of(*two_classes())[0]
    scores = runs.scores_of_runs(metric, fold, seed=0, n_runs=6)
    model = exactboost(metric, 0, 6).fit(fold.X, fold.y)
    whole = model.decision_function(fold.X_test) - model.model_.intercept
    assert scores.test.mean(axis=0) == pytest.approx(whole, abs=1e-7)
    assert scores.train.shape == (6, len(fold.y))


def test_more_runs_are_better_than_one():
    X, y = two_classes(400)
    fold = Fold(X[:200], y[:200], X[200:], y[200:])
    scores = runs.scores_of_runs("AUC", fold, seed=0, n_runs=20)
    for labels, of in zip((fold.y, fold.y_test), scores, strict=True):
        assert runs.block_loss("AUC", labels, of, 20) < runs.block_loss("AUC", labels, of, 1)


def test_bisection_misses_stumps_and_never_beats_the_best():
    shortfalls = searching.shortfalls_of(*two_classes(), "KS", seed=0, n_runs=1, n_rounds=15)
    assert min(shortfalls) >= 0.0
    assert (
        searching.judge_misses(sum(s > 0 for s in shortfalls), len(shortfalls))
        == Verdict.NOT_REPRODUCED
    )


# --- rules of verdicts, both ways --------------------------------------------------------------


def tally(ahead, behind, lower, total):
    return rules.Tally(ahead, behind, lower, total)


def test_being_no_worse():
    assert rules.judge_not_worse(tally(0, 0, 0, 12)) == Verdict.UNDECIDED
    assert rules.judge_not_worse(tally(2, 0, 8, 12)) == Verdict.REPRODUCED
    assert rules.judge_not_worse(tally(3, 2, 9, 12)) == Verdict.PARTLY
    assert rules.judge_not_worse(tally(1, 7, 3, 12)) == Verdict.NOT_REPRODUCED
    assert rules.judge_not_worse(tally(0, 0, 0, 0)) == Verdict.NOT_RUN


@pytest.mark.parametrize(
    ("peers", "verdict"),
    [
        ((0.1, 0.2), Verdict.REPRODUCED),  # ahead of both
        ((0.1, 0.0), Verdict.UNDECIDED),  # ahead of one, level with the other
        ((0.1, -0.1), Verdict.NOT_REPRODUCED),  # behind one
    ],
)
def test_being_the_top_performer(peers, verdict):
    comparison = rules.Comparison()
    for fold, noise in enumerate((0.001, 0.0, -0.001)):
        comparison.add("heart", "KS", OURS, fold, 0.3)
        for peer, shift in zip(("DMKS", "logistic"), peers, strict=True):
            comparison.add("heart", "KS", peer, fold, 0.3 + shift + noise)
    assert rules.judge_top(comparison, "KS", ["DMKS", "logistic"]) == verdict
    assert rules.judge_top(rules.Comparison(), "KS", ["DMKS"]) == Verdict.NOT_RUN


def filled(ours, peer):
    comparison = rules.Comparison()
    for fold, pair in enumerate(zip(ours, peer, strict=True)):
        for method, loss in zip((OURS, "DMKS"), pair, strict=True):
            comparison.add("heart", "KS", method, fold, loss)
    return comparison


def test_differences_are_counted_from_the_folds_that_both_have():
    comparison = filled([0.1, 0.2, 0.3], [0.2, 0.31, 0.4])
    comparison.add("heart", "KS", "DMKS", 3, 0.9)
    assert comparison.difference("heart", "KS", "DMKS").value == pytest.approx(0.31 / 3)
    assert rules.count(comparison.against("KS", ["DMKS"])) == (1, 0, 1, 1)
    other = filled([0.2, 0.31, 0.4], [0.1, 0.2, 0.3])
    assert rules.count(other.against("KS", ["DMKS"])) == (0, 1, 0, 1)
    assert rules.count_firsts(comparison, "KS", [OURS, "DMKS"]) == (1, 1)
    assert rules.count_firsts(other, "KS", [OURS, "DMKS"]) == (0, 1)


def test_tables_that_are_cut_are_left_out_of_a_judgement():
    comparison = filled([0.1, 0.2], [0.2, 0.3])
    comparison.add("gmsc", "KS", OURS, 0, 0.9)
    judged = comparison.without(ensembling.CUT)
    assert comparison.tables("KS") == ["gmsc", "heart"] and judged.tables("KS") == ["heart"]
    words = "lowest mean loss on 1 of 1 tables, beyond chance ahead in 1 and behind in 0 of 1"
    assert ensembling.tell_top(judged, "KS").startswith(words)


def test_a_table_on_which_exactboost_is_behind_is_named():
    comparison = filled([0.2, 0.31, 0.4], [0.1, 0.2, 0.3])
    told = optimisers._told_losses(comparison, "KS", "DMKS")
    assert told == (
        "lower mean loss on 0 of 1 tables; beyond chance ahead on 0, behind on 1 (heart)"
    )


def cells(method, published, spread=0.01):
    """One figure beside folds around 0.30."""
    folds = [0.30 - spread, 0.30, 0.30 + spread]
    comparison = filled(folds, folds)
    return rules.agreement(comparison, "KS", [method], {method: {"heart": published}})


@pytest.mark.parametrize(
    ("method", "published", "verdict"),
    [
        (OURS, 0.30, Verdict.REPRODUCED),
        (OURS, 0.50, Verdict.BETTER),
        (OURS, 0.10, Verdict.NOT_REPRODUCED),
        ("DMKS", 0.50, Verdict.NOT_REPRODUCED),  # a method that the paper does not propose
    ],
)
def test_agreement_with_the_papers_figures(method, published, verdict):
    found = cells(method, published)
    assert rules.judge_agreement(found) == verdict
    assert str(published)[:3] in rules.tell_agreement(found) or verdict == Verdict.REPRODUCED


def test_wide_intervals_tell_nothing():
    wide = cells(OURS, 0.30, spread=0.1)
    assert rules.judge_agreement(wide) == Verdict.UNDECIDED
    assert "0 of 1, and 1 in intervals of more than" in rules.tell_agreement(wide)
    one_each = cells("DMKS", 0.30) + cells("DMKS", 0.90)
    assert rules.judge_agreement(one_each) == Verdict.NOT_REPRODUCED
    assert rules.judge_agreement(one_each + cells("DMKS", 0.30)) == Verdict.PARTLY
    assert rules.judge_agreement([]) == Verdict.NOT_RUN


@pytest.mark.skipif(find_spec("xgboost") is None, reason="a base model")
def test_predictions_in_sample_are_those_of_models_that_saw_the_rows():
    fold = folds_of(*two_classes(120))[0]
    both = stacked(fold, seed=0, n_parts=2)
    inside, outside = both[IN_SAMPLE], both[OUT_OF_FOLD]
    assert (inside.X_test == outside.X_test).all()
    # A random forest fits the rows that it has seen.
    forest = list(SURROGATES).index("forest")
    aucs = [1 - LOSSES["AUC"](fold.y, rows.X[:, forest]) for rows in (inside, outside)]
    assert aucs[0] > 0.99 > aucs[1]


def test_rankboost_on_pairs_is_rankboost():
    from auctor import RankBoost

    X, y = two_classes(80)
    pairs = PairRankBoost(15).fit(X, y).decision_function(X)
    plain = RankBoost(15).fit(X, y).decision_function(X)
    assert np.ptp(pairs - plain) < 1e-6


def test_gains_of_more_runs():
    clear, faint, lost = Estimate(0.1, 0.05, 0.2), Estimate(0.1, -0.1, 0.3), Estimate(-1, -2, -0.5)
    assert runs.judge_gain([clear, clear]) == Verdict.REPRODUCED
    assert runs.judge_gain([clear, faint]) == Verdict.PARTLY
    assert runs.judge_gain([clear, lost]) == Verdict.PARTLY
    assert runs.judge_gain([faint, faint]) == Verdict.UNDECIDED
    assert runs.judge_gain([faint, lost]) == Verdict.NOT_REPRODUCED
    assert runs.judge_gain([]) == Verdict.NOT_RUN


def test_times_and_properties():
    assert times.judge_faster([[1.2, 1.3], [3.0]]) == Verdict.REPRODUCED
    assert times.judge_faster([[1.2, 1.3], [0.3, 0.4], [0.5]]) == Verdict.NOT_REPRODUCED
    assert times.judge_faster([[1.2, 1.3], [3.0], [0.3, 0.4]]) == Verdict.PARTLY
    assert times.judge_faster([[0.9, 1.2]]) == Verdict.UNDECIDED
    assert times.judge_faster([]) == Verdict.NOT_RUN
    assert times.ratios({"ours": [2.0], "peer": [1.0], "runs": 25}) == [0.05]
    liver = {"rows": 145, "features": 5, "positives": 37.93}
    published = PAPER.expected()["table1"]["liver"]
    assert times.is_same(liver, published)
    assert not times.is_same(liver | {"positives": 38.1}, published)
    assert times.judge_same(1, 2) == Verdict.PARTLY


def test_rates_and_misses():
    fast = {k: [1 / k, 1.01 / k] for k in (100, 400)}
    slow = {k: [1 / sqrt(k), 1.01 / sqrt(k)] for k in (100, 400)}
    assert subsampling.judge_rate(fast) == Verdict.REPRODUCED
    assert subsampling.judge_rate(slow) == Verdict.NOT_REPRODUCED
    assert subsampling.slope(slow) == pytest.approx(-0.5)
    assert searching.judge_misses(0, 100) == Verdict.REPRODUCED
    assert searching.judge_misses(3, 100) == Verdict.PARTLY


def test_a_theorem_is_broken_by_more_violations_than_delta_allows():
    assert theorems.holds(0, 20)
    assert not theorems.holds(10, 20)


def test_a_bound_that_says_nothing_is_no_claim(tmp_path):
    page = Page(PAPER, Setup(Size.TINY), tmp_path)
    empty = {"loss": [0.1, 0.1], "bound": [3.0, 4.0], "best_bound": [0.5, 0.6]}
    theorems.claim_bound(page, [empty], "AUC", "Theorem 1")
    assert [claim.text.split(" below ")[1] for claim in page.claims] == [
        "the bound at the best margin"
    ]
    page.claims.clear()
    theorems.claim_bound(page, [empty | {"best_bound": [0.05, 0.05]}] * 5, "AUC", "Theorem 1")
    assert [claim.is_broken() for claim in page.claims] == [True]


def test_poor_models_know_nothing_and_leave_the_others_as_they_are():
    X, y = two_classes(400)
    rows = Fold(X[:300], y[:300], X[300:], y[300:])
    more = poor_models.with_poor(rows, 7, 0)
    assert more.X.shape == (300, 12)
    assert more.X_test.shape == (100, 12)
    np.testing.assert_array_equal(more.X[:, :5], rows.X)
    np.testing.assert_array_equal(np.sort(more.X[:, 5]), np.sort(rows.X[:, 0]))
    assert poor_models.with_poor(rows, 0, 0) is rows


def test_robustness_and_growth_are_judged_by_whole_intervals():
    small, large, wide = Estimate(0.01, 0.0, 0.02), Estimate(0.2, 0.1, 0.3), Estimate(0.05, 0, 0.1)
    assert poor_models.judge_robust([small, small]) == Verdict.REPRODUCED
    assert poor_models.judge_robust([large, large]) == Verdict.NOT_REPRODUCED
    assert poor_models.judge_robust([wide, wide]) == Verdict.UNDECIDED
    assert growth.judge_power(Estimate(0.9, 0.8, 1.0)) == Verdict.REPRODUCED
    assert growth.judge_power(Estimate(1.0, 0.9, 1.1)) == Verdict.UNDECIDED
    assert growth.judge_power(Estimate(1.2, 1.1, 1.3)) == Verdict.NOT_REPRODUCED
    assert growth.judge_power(None) == Verdict.NOT_RUN
