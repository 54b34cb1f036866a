"""Long and Servedio (2007): the whole paper at its smallest, and claims that could fail."""

import numpy as np
import pytest

from auctor import MartiRank
from papers.catalogue import choose
from papers.experiment import Setup, Size
from papers.long_servedio_2007 import (
    accuracy,
    label_noise,
    lemma7,
    oracle_draws,
    rare_class,
    training_bound,
)
from papers.long_servedio_2007.distributions import (
    NOISY_DISTRIBUTIONS,
    first_advantage,
    least_edge,
    majority,
)
from papers.long_servedio_2007.finite_distribution import follow_majority
from papers.long_servedio_2007.label_noise_report import gain_over_peer, is_even, past_noise
from papers.long_servedio_2007.lemma4 import Groups, draw_groups, examine
from papers.long_servedio_2007.noisy_coin import toss
from papers.long_servedio_2007.oracle_draws_report import covers
from papers.long_servedio_2007.rates import at_most, fit_power, of_all, theorem2_rounds
from papers.long_servedio_2007.whole_distribution import (
    build_program,
    guaranteed_advantage,
    walk,
)
from papers.page import Verdict
from papers.reproduce import Folders, Reproduction
from papers.statistics import Estimate

NAME = "long_servedio_2007"


def run(tmp_path, wanted=NAME):
    folders = Folders(tmp_path / "pages", tmp_path / "results")
    outcome = Reproduction(Setup(Size.TINY), folders).run(choose([wanted]))
    return outcome, folders.pages


@pytest.mark.usefixtures("tables")
def test_the_whole_paper_runs_and_nothing_proved_is_broken(tmp_path):
    outcome, pages = run(tmp_path)
    assert outcome.broken() == []
    assert outcome.obstacles == {}
    page = (pages / f"{NAME}.md").read_text()
    for title in ("Theorem 2", "Figure 1", "Theorem 8", "Figure 2", "Theorems 9 and 10"):
        assert title in page
    pictures = {path.stem for path in (pages / NAME).glob("*.png")}
    assert pictures == {
        "theorem2", "figure1", "lemma4", "lemma7", "theorem8", "accuracy", "figure2", "theorem10",
    }  # fmt: skip


@pytest.mark.parametrize("experiment", ["theorem2", "figure1", "figure2"])
def test_without_tables_the_rest_is_run(tmp_path, monkeypatch, experiment):
    monkeypatch.delenv("AUCTOR_DATA", raising=False)
    outcome, pages = run(tmp_path, f"{NAME}/{experiment}")
    assert outcome.broken() == []
    assert any("AUCTOR_DATA" in reason for reason in outcome.obstacles.values())
    assert "AUCTOR_DATA" in (pages / f"{NAME}.md").read_text()
    assert (pages / NAME / f"{experiment}.png").exists()


def test_rounds_of_theorem_2_are_enough():
    result = training_bound.on_majority(0, 3, 0, 200, theorem2_rounds(0.3, least_edge(3)))
    assert result["rounds_to_0.3"] <= theorem2_rounds(0.3, least_edge(3))
    assert result["edge"] >= least_edge(3)
    assert all(
        a >= b >= c
        for a, b, c in zip(*(result[n] for n in ("theorem", "bound", "vote")), strict=True)
    )


def test_lemma_4_on_the_numbers_of_its_proof():
    # p- = 1/4, p+ = 1/2: equation (1) gives 1/2 / (1 + 1/4) = 2/5.
    edge, gap, error_neg, error_pos = examine(Groups(np.array([3.0, 1.0]), np.array([2.0, 2.0])))
    assert edge == pytest.approx(0.125)
    assert gap == pytest.approx(0.25)
    assert error_neg == pytest.approx(0.4)
    assert error_pos == pytest.approx(0.4)


def test_noise_tilts_the_coin_where_classes_are_uneven():
    groups = draw_groups(np.random.default_rng(0))
    even, rare = toss(groups, 0.5, 0.3), toss(groups, 0.02, 0.3)
    assert even.noisy == pytest.approx(even.clean)
    assert rare.noisy < rare.clean
    assert rare.clean == pytest.approx(even.clean)


@pytest.mark.parametrize("output", ["position", "majority"])
def test_a_program_cut_short_is_that_of_fewer_layers(output):
    sample = NOISY_DISTRIBUTIONS["Long and Servedio's distribution"](
        1000, 0.2, np.random.default_rng(0)
    )
    long = MartiRank(n_layers=20).fit(sample.X, sample.y)
    short = MartiRank(n_layers=7, output=output).fit(sample.X, sample.y)
    cut = label_noise.cut_short(long, 7, output).decision_function(sample.X)
    own = short.decision_function(sample.X) - short.model_.intercept
    np.testing.assert_allclose(cut, own, atol=1e-12)


def test_noise_does_not_hold_up_the_vote_at_1_minus_eta():
    result = label_noise.curve("majority of 9 of 20", 0.4, 20_000, (5, 40), 0, 0)
    assert result["vote"][-1] > 0.6
    assert result["vote"][-1] > result["vote"][0]
    assert result["position"][-1] > 0.9


def test_a_rare_class_needs_the_noise_taken_out_of_the_coins():
    tilted = label_noise.curve(label_noise.SKEWED, 0.2, 10_000, (20,), 0, 0)
    restored = label_noise.restored(label_noise.SKEWED, 0.2, 10_000, 20, 0, 0)
    assert tilted["error_neg"][0] - tilted["error_pos"][0] > 0.2
    assert abs(restored["error_neg"][0] - restored["error_pos"][0]) < 0.15
    assert restored["vote"][0] > tilted["vote"][0]


def test_a_program_followed_over_the_distribution_errs_as_on_draws_from_it():
    sample = majority(4000, 0.0, np.random.default_rng(0), k=5, n_features=5)
    ranker = MartiRank(n_layers=9, output="majority").fit(sample.X, sample.y)
    result = follow_majority(ranker.history_.layers, 5, first_advantage(5))
    fresh = majority(40_000, 0.0, np.random.default_rng(1), k=5, n_features=5)
    chance = ranker.decision_function(fresh.X) - ranker.model_.intercept
    errors = chance[fresh.y == 0].mean(), 1 - chance[fresh.y == 1].mean()
    np.testing.assert_allclose(result.error, errors, atol=0.01)


def test_smaller_epsilon_takes_more_draws_and_errs_less_than_it():
    results = [oracle_draws.measure(3, epsilon, 0.0, False, 0, 0) for epsilon in (0.4, 0.2)]
    assert results[0]["draws"] < results[1]["draws"]
    assert all(max(r["error_neg"], r["error_pos"]) <= r["epsilon"] for r in results)
    assert results[0]["frozen_pos"] > 0.2  # equation (3) as printed has less than epsilon / 2


def test_a_power_is_found_and_judged():
    power = fit_power([1, 2, 4, 8], [3, 12, 48, 192])
    assert power.value == pytest.approx(2)
    assert at_most(power, 2.5) == Verdict.REPRODUCED
    assert at_most(power, 1.5) == Verdict.NOT_REPRODUCED
    assert at_most(Estimate(2, 1, 3), 2.5) == Verdict.UNDECIDED
    assert at_most(fit_power([1, 1, 1], [1, 2, 3]), 1) == Verdict.NOT_RUN


def test_samples_are_paired_by_their_number():
    distribution, eta, setup = label_noise.PEER_DISTRIBUTIONS[0], 0.2, Setup(Size.QUICK)
    values = {
        (distribution, eta, label_noise.OURS): {0: 0.5, 2: 0.75},
        (distribution, eta, "AdaBoost"): {1: 0.9, 2: 0.5},
    }
    assert gain_over_peer(distribution, "AdaBoost", values, setup).value == 0.25
    values[distribution, eta, "AdaBoost"] = {1: 0.9}
    assert gain_over_peer(distribution, "AdaBoost", values, setup) is None


def test_verdicts_go_both_ways():
    above, below, open_ = Estimate(2, 1, 3), Estimate(-2, -3, -1), Estimate(0, -1, 1)
    assert past_noise([above, above]) == Verdict.REPRODUCED
    assert past_noise([above, open_]) == Verdict.UNDECIDED
    assert past_noise([open_, Estimate(-0.1, -1, 1), Estimate(-0.1, -1, 1)]) == (
        Verdict.NOT_REPRODUCED  # most of the means are below
    )
    assert past_noise([above, below]) == Verdict.NOT_REPRODUCED
    assert past_noise([]) == Verdict.NOT_RUN
    assert is_even(open_) == Verdict.UNDECIDED
    assert is_even(Estimate(0.001, -0.005, 0.007)) == Verdict.REPRODUCED
    assert is_even(above) == Verdict.NOT_REPRODUCED
    assert covers(95, 100)
    assert not covers(80, 100)
    assert [of_all(holds) for holds in ([True], [True, False], [False], [])] == [
        Verdict.REPRODUCED,
        Verdict.PARTLY,
        Verdict.NOT_REPRODUCED,
        Verdict.NOT_RUN,
    ]


def test_a_walk_without_noise_is_binomial():
    exact = lemma7.with_exact_nodes(0.15)
    program = walk(400, 0.3)
    error = np.maximum(program.error_neg, program.error_pos)
    at = exact["layers"][lemma7.EPSILONS.index(0.01)]
    assert error[at - 1 :].max() <= 0.01 < error[at - 2]
    assert exact["largest_ratio"] <= 1


def test_noise_keeps_a_rare_class_from_auc_1_unless_eta_is_known():
    rare, known = (walk(301, 0.3, 0.1, 0.3, is_known) for is_known in (False, True))
    assert rare.error_neg[-1] > 0.4  # the negatives walk without direction
    np.testing.assert_allclose(known.error_neg, walk(301, 0.3).error_neg)
    even = walk(400, 0.3, 0.5, 0.3)
    assert even.error_neg[400 - 1] == pytest.approx(even.error_neg[100 - 1] / 2, rel=0.1)


def test_the_best_feature_has_its_advantage_at_every_node_of_a_majority():
    program = build_program(5, 60)
    assert program.least_advantage[-1] >= guaranteed_advantage(5)
    T = np.arange(1, 61)
    bound = np.exp(-2 * guaranteed_advantage(5) ** 2 * T)
    assert (np.maximum(program.error_neg, program.error_pos) <= bound).all()


def test_accuracy_on_noisy_labels_follows_from_that_on_true_ones():
    result = accuracy.measure(accuracy.WALK, 0.5, 0.2, False, 31)
    clean, noisy = accuracy.accuracy_of(result)
    assert noisy == pytest.approx(0.2 + 0.6 * clean)
    assert accuracy.auc_of(result)[-1] == pytest.approx(clean)  # balanced classes


def test_the_oracle_of_a_rare_class_and_guesses_of_its_fraction():
    X, labels = rare_class.draw(20_000, np.random.default_rng(0), p=0.1, eta=0.2)
    assert (X.sum(axis=1) > 0).mean() == pytest.approx(0.1, abs=0.01)
    assert labels.mean() == pytest.approx(0.2 + 0.6 * 0.1, abs=0.01)
    result = rare_class.halve(0, 50)
    assert result["inside"] >= 45
    fitted = rare_class.measure(0.2, 0.0, rare_class.HALF, True, 0, 0)
    assert max(fitted["error_neg"], fitted["error_pos"]) <= 0.4
    assert fitted["positive_rate"] == 0.1
