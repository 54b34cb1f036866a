"""Suehiro et al. (2011): a tiny run, its claims on small sizes, and the rules of its verdicts."""

from pathlib import Path

import numpy as np
import pytest

from papers.catalogue import choose, load_paper
from papers.experiment import Setup, Size
from papers.page import Page, Verdict
from papers.reproduce import Folders, Reproduction
from papers.statistics import Estimate
from papers.suehiro_2011 import curve, readings, real_report, section2, times, wording
from papers.suehiro_2011.artificial import Cell, case_name, cells_of_table1
from papers.suehiro_2011.artificial_figures import ceiling, luck
from papers.suehiro_2011.artificial_report import figure_verdict, gaps_of
from papers.suehiro_2011.judging import best_folds, honest_folds, measure, tied_fraction
from papers.suehiro_2011.methods import draw_folds, score_rounds
from papers.suehiro_2011.programs import draw_classes, draw_sample, solve_whole
from papers.suehiro_2011.rankboost import boost, find_scaling, score_hypotheses
from papers.suehiro_2011.theorems import exact_margin, run_soft

NAME = "suehiro_2011"
TINY = Setup(Size.TINY)


def run(folder: Path):
    folders = Folders(folder / "pages", folder / "results")
    outcome = Reproduction(TINY, folders).run(choose([NAME]))
    return outcome, (folders.pages / f"{NAME}.md").read_text()


def test_a_tiny_run_without_tables_has_every_section_and_says_what_is_missing(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("AUCTOR_DATA", raising=False)
    outcome, page = run(tmp_path)
    for experiment in load_paper(NAME).experiments:
        assert f"## {experiment.title}" in page
    assert outcome.broken() == []
    assert any("table3" in name for name in outcome.obstacles)
    assert any("table4" in name for name in outcome.obstacles)
    assert "This experiment has not been run." in page
    for picture in ("figure1", "figure2"):
        assert (tmp_path / "pages" / NAME / f"{picture}.png").stat().st_size > 1000


@pytest.mark.usefixtures("tables")
def test_a_tiny_run_of_table_3(tmp_path):
    folders = Folders(tmp_path / "pages", tmp_path / "results")
    outcome = Reproduction(TINY, folders).run(choose([f"{NAME}/table3"]))
    assert outcome.broken() == []
    assert outcome.obstacles == {}
    assert any("paper's N" in claim.text for claim in outcome.claims)


@pytest.mark.parametrize(("noise", "fraction"), [(0.05, 0.5), (0.15, 0.7), (0.1, 0.9)])
def test_the_ceiling_is_the_auc_of_the_clean_label(noise, fraction):
    a = fraction * (1 - noise) / (fraction * (1 - noise) + (1 - fraction) * noise)
    b = fraction * noise / (fraction * noise + (1 - fraction) * (1 - noise))
    assert ceiling(Cell(fraction, 8, noise)) == pytest.approx(0.5 + (a - b) / 2)


def test_most_figures_of_the_paper_lie_above_the_ceiling():
    rows = load_paper(NAME).expected()["table1"]["rows"]
    above = 0
    for key, figures in rows.items():
        r, noise = (float(part.split("=")[1]) for part in key.split())
        above += sum(f > ceiling(Cell(0.5, int(r), noise)) for f in figures[4:])
    assert above > 12


def test_the_whole_program_and_the_exact_pairs_have_one_margin():
    classes = draw_classes(60, 12, 10, 3, 0.05, 0)
    whole = solve_whole(classes, 0.2 * classes.n_pairs)
    assert exact_margin(classes, 0.2) == pytest.approx(whole.value, abs=1e-6)


@pytest.mark.filterwarnings("ignore::auctor.exceptions.MarginWarning")
@pytest.mark.parametrize("epsilon", [0.1, 0.3])
def test_corollary_4_on_a_noisy_sample(epsilon):
    result = run_soft(draw_classes(60, 15, 10, 3, 0.1, 1), epsilon)
    assert result["holding"] >= result["guaranteed"]
    assert result["gamma_hat"] >= result["gamma_star"] - 1e-7
    assert result["gamma_primal"] == pytest.approx(result["gamma_hat"], abs=1e-7)


def test_rounds_cut_short_are_those_of_a_short_fit():
    from auctor import RankBoost

    sample = draw_sample(80, 12, 10, 3, 0.1, 0)
    train, _ = draw_folds(sample.y, 2, 0)[0]
    for setting, scores in score_rounds(sample.X, sample.y, train, [5, 20]):
        short = RankBoost(int(setting)).fit(sample.X[train], sample.y[train])
        assert np.allclose(short.decision_function(sample.X), scores)


def test_ties_are_counted():
    y = np.array([1, 1, 0, 0])
    assert tied_fraction(np.array([1.0, 0.0, 0.0, -1.0]), y) == 0.25
    rows = np.arange(4)
    result = measure(np.zeros(4), y, y, rows, rows)
    assert (result["test"], result["ties_right"]) == (0.5, 1.0)


def test_the_honest_choice_does_not_see_its_own_fold():
    result = {"m|0.1|test": [0.9, 0.5, 0.5], "m|0.2|test": [0.6, 0.6, 0.6]}
    assert best_folds(result, "m", "test") == [0.9, 0.5, 0.5]
    # Without the first fold 0.2 is the better; without another, 0.1 is.
    assert honest_folds(result, "m", "test") == [0.6, 0.5, 0.5]


@pytest.mark.parametrize(
    ("gamma", "count"),
    [
        ([3, 2, 1], 1),
        ([1, 2, 3], 1),
        ([2, 1, 2], 1),
        ([2, 1, 2, 1, 2], 2),
        ([1, 2, 1], 2),
        ([1], 1),
    ],
)
def test_valleys_of_a_curve(gamma, count):
    assert curve.n_minima(np.array(gamma, dtype=float)) == count


def test_verdicts_go_both_ways():
    assert [times.ratio_verdict(r) for r in (9.0, 1.0, 0.1)] == [
        Verdict.REPRODUCED,
        Verdict.UNDECIDED,
        Verdict.NOT_REPRODUCED,
    ]
    assert [real_report.sizes_verdict(same) for same in ([], [True], [True, False], [False])] == [
        Verdict.NOT_RUN,
        Verdict.REPRODUCED,
        Verdict.PARTLY,
        Verdict.NOT_REPRODUCED,
    ]


def test_rankboost_over_hypotheses_and_negations_is_rankboost_over_stumps():
    sample = draw_sample(80, 12, 10, 3, 0.1, 0)  # of two values each
    train, _ = draw_folds(sample.y, 2, 0)[0]
    mine = score_hypotheses(sample.X, sample.y, train, [5, 20], negations=True)
    theirs = score_rounds(sample.X, sample.y, train, [5, 20])
    for (_, own), (_, other) in zip(mine, theirs, strict=True):
        assert np.ptp(own / 2 - other) < 1e-6  # from -1 to 1 a hypothesis has two steps


def test_hypotheses_in_one_direction_have_no_negative_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=60) > 0).astype(int)
    H = find_scaling(X).hypotheses(X)
    (_, one), (_, both) = (next(iter(boost(H, y, [50], negations))) for negations in (False, True))
    assert one.min() == 0 < one[0] and both[1] < 0 < both[0]


def test_a_missing_value_counts_as_the_mean_and_is_told():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [np.nan, 1.0]])
    expected = [[-1, -1, -1], [1, -1, -1], [0, -1, 1]]
    assert find_scaling(X).hypotheses(X).tolist() == expected


def test_figures_above_the_ceiling_are_judged_by_their_luck():
    assert readings.judge_excess([(-0.01, 0.007), (-0.2, 0.007)]).startswith("All")
    assert readings.judge_excess([(0.01, 0.007), (-0.2, 0.007)]).startswith("Luck")
    assert "cannot" in readings.judge_excess([(0.03, 0.007), (-0.2, 0.007)])


def test_a_figure_above_the_best_possible_auc_cannot_be_met():
    cell = Cell(0.5, 1, 0.15)
    assert figure_verdict(cell, [], 1.0, "heuristic") == Verdict.NOT_REPRODUCED
    assert figure_verdict(cell, [], 0.8322, "pairs") == Verdict.NOT_RUN
    assert figure_verdict(cell, [0.83], 0.8322, "pairs") == Verdict.UNDECIDED
    assert figure_verdict(cell, [0.83, 0.831, 0.832], 0.8322, "pairs") == Verdict.REPRODUCED
    assert figure_verdict(cell, [0.83, 0.831, 0.832], 0.7, "pairs") == Verdict.NOT_REPRODUCED


def test_figures_of_the_paper_keep_their_digits(tmp_path):
    rows = wording.printed(make_page(tmp_path), "table4")["rows"]
    assert wording.cell([], rows["trade"][0]) == "– (0.9290)"
    ones = wording.printed(make_page(tmp_path), "table3")["rows"]["spambase"]
    assert wording.cell([0.5], ones[4]) == "0.5000 (1.0)"
    assert wording.beside(TINY, ones) == [None] * len(ones)
    assert wording.beside(Setup(Size.FULL), ones) == ones


def test_noise_rates_of_one_draw_count_once():
    setup = Setup(Size.QUICK)
    cells = [cell for cell in cells_of_table1(setup) if cell.r == 1]
    assert len(cells) == 2
    results = {}
    for cell, gap in zip(cells, (0.1, 0.3), strict=True):
        for method, value in (("pairs", 0.5 + gap), ("RankBoost", 0.5)):
            for repetition in range(2):
                name = case_name(cell, method, repetition)
                results[name] = {f"{method}|1|test": [value, value]}
    assert gaps_of(results, setup, cells, "pairs", "RankBoost") == pytest.approx([0.2, 0.2])


def test_luck_is_the_spread_of_the_clean_label_over_draws():
    from auctor.datasets import make_r_of_k
    from auctor.metrics import auc

    samples = [make_r_of_k(1000, r=8, noise=0.1, random_state=seed) for seed in range(200)]
    aucs = [auc(sample.y, sample.y_clean.astype(float)) for sample in samples]
    assert np.mean(aucs) == pytest.approx(0.9, abs=0.003)
    assert np.std(aucs) == pytest.approx(luck(Cell(0.5, 8, 0.1)), rel=0.2)


def make_page(folder: Path) -> Page:
    page = Page(load_paper(NAME), TINY, folder)
    page.begin(load_paper(NAME).experiments[-1])
    return page


def curve_result(gamma: list[float], star: float) -> dict:
    return {"nu_pos": [1.0, 2.0, 3.0, 4.0, 5.0], "gamma": gamma, "gamma_star": star}


def test_a_convex_curve_is_not_called_otherwise(tmp_path):
    names = list(curve.data_of(TINY))
    page = make_page(tmp_path)
    convex = curve_result([4.0, 1.0, 0.5, 1.0, 4.0], 0.5)
    curve.report_figure1(page, dict.fromkeys(names, convex), TINY)
    verdicts = [claim.verdict for claim in page.claims]
    assert verdicts == [Verdict.NOT_REPRODUCED, Verdict.REPRODUCED, Verdict.REPRODUCED]
    page = make_page(tmp_path)
    bent = curve_result([1.0, 0.5, 1.0, 0.6, 1.0], 0.4)
    curve.report_figure1(page, dict.fromkeys(names, bent), TINY)
    verdicts = [claim.verdict for claim in page.claims]
    assert verdicts == [Verdict.REPRODUCED, Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]


def test_a_gamma_below_gamma_star_breaks_the_run(tmp_path):
    page = make_page(tmp_path)
    name = next(iter(curve.data_of(TINY)))
    curve.report_figure1(page, {name: curve_result([1.0, 0.5, 0.3, 0.5, 1.0], 0.4)}, TINY)
    assert [claim.is_broken() for claim in page.claims] == [False, True, False]


def uci_results(value: float, ties_right: float) -> dict:
    size = real_report.uci_size(TINY)
    results = {}
    for table in real_report.UCI:
        for column in ("pairs", "heuristic"):
            for fold in range(size.n_folds):
                results[real_report.case_name(table, column, fold)] = {
                    f"{column}|0.3|test": [value],
                    f"{column}|0.3|ties_right": [ties_right],
                }
    return results


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(1.0, Verdict.REPRODUCED), (0.5, Verdict.NOT_REPRODUCED)],
    ids=["reached", "missed"],
)
def test_figures_of_one_are_judged_on_held_out_rows(tmp_path, value, verdict):
    paper = load_paper(NAME).expected()["table3"]["rows"]
    size = real_report.uci_size(TINY)
    page = make_page(tmp_path)
    real_report.claim_ones(page, uci_results(value, 1.0), size, paper)
    assert page.claims[0].verdict == verdict


@pytest.mark.parametrize("table", ["table1", "table2", "table3", "table4", "table5"])
def test_expected_has_as_many_figures_as_columns(table):
    expected = load_paper(NAME).expected()
    assert {len(row) for row in expected[table]["rows"].values()} == {
        len(expected[table]["columns"])
    }


def test_pairs_about_the_margin_are_counted():
    X, y = np.array([[1.0], [0.6], [0.2], [-0.2]]), np.array([1, 1, 0, 0])
    # Margins: 0.4 and 0.6 of the first positive, 0.2 and 0.4 of the second.
    found = section2.count_margins(X, y, np.ones(1), 0.5)
    assert found["rho"] == pytest.approx(0.4)
    assert (found["below"], found["up_to"], found["nu"]) == (1, 3, 2.0)
    assert section2.count_margins(X, y, np.ones(1), 0.25)["rho"] == pytest.approx(0.2)


def test_ratios_of_times_are_told_in_three_digits():
    assert [times.tell_ratio(ratio) for ratio in (2643.7, 769.2, 14.62, 0.5123)] == [
        "2,640",
        "769",
        "14.6",
        "0.512",
    ]


def test_a_lead_is_told_with_the_tables_that_are_beyond_chance():
    gaps = {
        "spambase": Estimate(0.02, 0.01, 0.03),
        "ionosphere": Estimate(0.01, -0.01, 0.03),
        "kr-vs-kp": Estimate(-0.02, -0.03, -0.01),
    }
    told = "higher mean on 2 of 3, ahead beyond chance on 1 (spambase), behind beyond chance on 1"
    assert real_report.tell_lead(gaps) == f"{told} (kr-vs-kp)"


def test_the_bound_of_theorem_1_lies_above_its_least_value():
    for n_hypotheses, rho in ((5, 0.3), (101, 0.1)):
        least, most = (section2.excess(1000, n_hypotheses, rho, is_least=i) for i in (True, False))
        assert least < most
    assert section2.excess(1000, 101, 0.4, is_least=True) > 1
    m = section2.least_rows(101, 0.4)
    assert section2.excess(m, 101, 0.4, is_least=True) <= 1


def test_auc_at_a_margin_by_levels_is_that_by_pairs():
    rng = np.random.default_rng(0)
    scores, y = rng.integers(0, 5, 40) / 4, np.arange(40) % 2
    apart = scores[y == 1][:, None] - scores[y == 0]
    assert section2._auc_at(scores, y, 0.5) == pytest.approx((apart >= 0.5).mean())
    rho = section2._rho(scores[:, None], y, np.ones(1))
    same = section2.count_margins(scores[:, None], y, np.ones(1), section2._EPSILON)
    assert rho == pytest.approx(same["rho"])
