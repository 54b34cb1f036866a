"""Cross-validated penalties: warm starts, the rules that choose, surfaces, and staged rounds."""

import numpy as np
import pytest

from auctor.data import Workers, prepare
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.held_out import HeldOut
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.search import (
    LAMBDAS,
    PENALTIES,
    SHRINKAGES,
    AmountSearch,
    Candidate,
    Fold,
    choose_candidate,
    find_amounts,
    only_if_sure,
)
from auctor.learners.smooth.settings import Amounts, SmoothSettings
from auctor.metrics import auc

AUTO = Amounts(1.0, 1.0, 1.0)
COARSE = 24  # bins: enough for these tables, and quick


def noisy(seed=0, n_rows=150, n_features=3):
    """Two of the features matter, one of them bends."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] - 0.5 * X[:, 1] ** 2 + rng.normal(size=n_rows) > 0


def product(seed=0, n_rows=500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n_rows) > 0


def three_folds(n_rows):
    """Every third row is held out."""
    return [(np.arange(n_rows) % 3 != k, np.arange(n_rows) % 3 == k) for k in range(3)]


def candidate(shrinkage, *aucs, penalty=1.0, **more):
    return Candidate(Amounts(penalty, shrinkage, shrinkage), aucs, **more)


class TestRules:
    def test_mean_and_error(self):
        result = candidate(1.0, 0.7, 0.8, 0.9)
        assert result.mean == pytest.approx(0.8)
        assert result.error == pytest.approx(0.1 / np.sqrt(3))
        other = candidate(3.0, 0.7, 0.7, 0.7)
        assert result.sure_gain(other, 0.0) == pytest.approx(0.1)
        assert result.sure_gain(other, 2.0) == pytest.approx(0.1 - 0.2 / np.sqrt(3))
        assert candidate(1.0, 0.7).error == 0.0

    def test_best_takes_the_largest_mean_and_of_equals_the_strongest(self):
        a, b = candidate(1.0, 0.7, 0.8), candidate(3.0, 0.6, 0.9)
        c = candidate(10.0, 0.6, 0.8)
        assert choose_candidate([a, c], "best", AUTO) is a
        assert choose_candidate([c, a, b], "best", AUTO) is b
        assert choose_candidate([b, a, c], "best", AUTO) is b
        weak, strong = (candidate(1.0, 0.75, 0.75, penalty=p) for p in (0.1, 10.0))
        assert choose_candidate([weak, strong], "best", AUTO) is strong

    def test_one_se_takes_the_strongest_within_the_error_of_the_best(self):
        best = candidate(0.3, 0.7, 0.8, 0.9)  # 0.8 with an error of 0.058
        near, far = candidate(3.0, 0.75, 0.75, 0.75), candidate(30.0, 0.74, 0.74, 0.74)
        assert choose_candidate([best, near, far], "one_se", AUTO) is near
        assert choose_candidate([best, far], "one_se", AUTO) is best
        stiffer = candidate(3.0, 0.75, 0.75, 0.75, penalty=10.0)
        assert choose_candidate([best, stiffer, near], "one_se", AUTO) is stiffer

    def test_paired_stays_with_the_automatic_amounts_unless_sure(self):
        usual = candidate(1.0, 0.7, 0.8, 0.9)
        lucky = candidate(3.0, 0.9, 0.8, 0.85)  # better on average, not fold by fold
        sure = candidate(0.1, 0.71, 0.815, 0.91)
        assert choose_candidate([lucky, usual], "paired", AUTO) is usual
        assert choose_candidate([lucky, usual, sure], "paired", AUTO) is sure
        assert choose_candidate([lucky, usual, sure], "best", AUTO) is lucky

    def test_paired_prefers_the_automatic_amounts_of_equals(self):
        usual, same = candidate(1.0, 0.7, 0.8), candidate(3.0, 0.7, 0.8)
        for candidates in ([usual, same], [same, usual]):
            assert choose_candidate(candidates, "paired", AUTO) is usual

    def test_paired_starts_from_the_nearest_where_the_automatic_ones_were_not_tried(self):
        near, far = candidate(2.0, 0.7, 0.8), candidate(50.0, 0.7, 0.8)
        none = candidate(0.0, 0.7, 0.8)
        assert choose_candidate([far, none, near], "paired", AUTO) is near
        assert choose_candidate([none], "paired", AUTO) is none

    @pytest.mark.parametrize("rule", ["best", "one_se", "paired"])
    def test_a_single_fold_has_no_error_and_the_best_wins(self, rule):
        a, b = candidate(1.0, 0.7), candidate(0.3, 0.71)
        assert choose_candidate([a, b], rule, AUTO) is b
        assert choose_candidate([a], rule, AUTO) is a

    def test_surfaces_are_kept_only_when_sure(self):
        without = candidate(1.0, 0.7, 0.8, 0.9)
        lucky = candidate(1.0, 0.8, 0.79, 0.89, interactions=10)  # 0.027, with an error of 0.037
        sure = candidate(1.0, 0.72, 0.81, 0.93, interactions=10)
        same = candidate(1.0, 0.7, 0.8, 0.9, interactions=10)
        for rule in ("paired", "one_se"):
            assert only_if_sure(without, lucky, rule) is without
            assert only_if_sure(without, sure, rule) is sure
        assert only_if_sure(without, lucky, "best") is lucky
        for rule in ("paired", "one_se", "best"):
            assert only_if_sure(without, same, rule) is without


@pytest.mark.parametrize("options", [{}, {"adaptive": False}, {"fpr_range": (0.0, 0.4)}], ids=str)
def test_a_warm_start_ends_where_a_cold_one_does(options):
    X, y = noisy()
    data, settings = prepare(X, y, max_bins=COARSE), SmoothSettings(**options)
    (train, test), *_ = three_folds(len(y))
    with Workers(1) as workers:
        auto = Problem(data, settings, workers).auto
        warm, objectives, aucs = None, [], []
        path = [auto._replace(shrinkage=m * auto.shrinkage) for m in (30.0, 3.0, 0.3)]
        for along in (path, path[-1:]):
            fold = Fold(data.take(train), data.take(test), settings, workers)
            for amounts in along:
                warm = fold.auc_at(amounts)
            penalty = fold.problem.roughness.weigh(*path[-1], fold.adapted)
            objectives.append(fold.problem.evaluate(penalty, fold.last).objective)
            aucs.append(warm)
    # Both stop where the next step promises 1e-5.
    assert objectives[0] == pytest.approx(objectives[1], abs=5e-5)
    assert aucs[0] == pytest.approx(aucs[1], abs=0.01)


def test_held_out_rows_are_scored_as_the_model_would():
    X, y = noisy(1)
    data = prepare(X, y, max_bins=COARSE)
    (train, test), *_ = three_folds(len(y))
    with Workers(1) as workers:
        fold = Fold(data.take(train), data.take(test), SmoothSettings(), workers)
        amounts = Problem(data, SmoothSettings(), workers).auto
        result = fold.auc_at(amounts)
    options = SmoothSettings(**amounts._asdict(), tol=1e-5)
    model, _, _ = fit_smooth(data.take(train), options)
    assert result == pytest.approx(auc(y[test], model.decision_function(X[test])), abs=1e-9)


def test_the_path_by_default():
    X, y = noisy()
    data = prepare(X, y, max_bins=COARSE)
    chosen, candidates, _ = find_amounts(data, SmoothSettings(), three_folds(len(y)))
    with Workers(1) as workers:
        auto = Problem(data, SmoothSettings(), workers).auto
    # From the automatic amounts outward: shrinkages at the automatic penalty, then penalties.
    assert candidates[0].amounts == auto
    first = [c for c in candidates if c.amounts.penalty == auto.penalty]
    multiples = [c.amounts.shrinkage / auto.shrinkage for c in first]
    assert set(np.round(multiples, 9)) <= set(SHRINKAGES)
    assert len(multiples) >= 3
    rest = candidates[len(first) :]
    assert {round(c.amounts.penalty / auto.penalty, 9) for c in rest} == set(PENALTIES) - {1.0}
    assert len({c.amounts.shrinkage for c in rest}) == 1
    for c in candidates:  # the ridge goes along with the shrinkage
        assert c.amounts.ridge / auto.ridge == pytest.approx(c.amounts.shrinkage / auto.shrinkage)
        assert len(c.aucs) == 3
        assert c.interactions == 0
    assert chosen in candidates


def test_the_path_ends_where_it_surely_gets_worse(monkeypatch):
    data = prepare(*noisy(n_rows=60), max_bins=8)
    aucs = {30.0: 0.5, 3.0: 0.6, 1.0: 0.8, 0.3: 0.81}

    def auc_at(self, amounts):
        multiple = round(amounts.shrinkage / self.problem.auto.shrinkage, 6)
        return aucs[min(aucs, key=lambda m: abs(np.log(m / multiple)))]

    monkeypatch.setattr(Fold, "auc_at", auc_at)
    search = AmountSearch(data, SmoothSettings(), three_folds(60), Workers(1))
    amounts = [search.auto._replace(shrinkage=m * search.auto.shrinkage) for m in SHRINKAGES]
    search.try_outward(amounts)
    # 3 times as much is worse in every fold: 30 times is not tried.
    tried = [round(c.amounts.shrinkage / search.auto.shrinkage, 6) for c in search.candidates]
    assert tried == [1.0, 0.3, 3.0]


def test_penalties_that_are_given_are_the_only_ones_chosen():
    X, y = noisy(n_rows=90)
    data, folds = prepare(X, y, max_bins=COARSE), three_folds(90)
    given = {"penalties": [1e-4, 3e-3], "shrinkages": [2e-3]}
    for rule in ("best", "one_se", "paired"):
        chosen, candidates, _ = find_amounts(data, SmoothSettings(), folds, rule=rule, **given)
        assert {c.amounts.penalty for c in candidates} == {1e-4, 3e-3}
        assert {c.amounts.shrinkage for c in candidates} == {2e-3}
        assert chosen in candidates
    chosen, candidates, _ = find_amounts(data, SmoothSettings(), folds, penalties=[5e-3])
    assert chosen.amounts.penalty == 5e-3
    chosen, candidates, _ = find_amounts(data, SmoothSettings(), folds, shrinkages=[0.0, 5e-3])
    assert {c.amounts.shrinkage for c in candidates} == {0.0, 5e-3}


def test_surfaces_are_tried_last_with_the_chosen_amounts():
    X, y = product()
    data = prepare(X, y, max_bins=COARSE)
    given = {"penalties": [1e-3], "shrinkages": [1e-3], "surfaces": 2}
    chosen, candidates, _ = find_amounts(data, SmoothSettings(), three_folds(len(y)), **given)
    assert [c.interactions for c in candidates] == [0, 2]
    assert chosen is candidates[-1]
    assert chosen.amounts == candidates[0].amounts
    assert chosen.mean > candidates[0].mean + 0.1


def test_surfaces_are_left_where_none_is_found():
    """A single feature has no pair: the same AUCs again are no gain."""
    X, y = noisy(n_rows=90, n_features=3)
    data = prepare(X[:, :1], y, max_bins=COARSE)
    given = {"penalties": [1e-3], "shrinkages": [1e-3], "surfaces": 2, "rule": "best"}
    chosen, candidates, _ = find_amounts(data, SmoothSettings(), three_folds(90), **given)
    assert chosen is candidates[0]
    assert candidates[1].aucs == pytest.approx(candidates[0].aucs, abs=1e-9)


STAGEWISE = SmoothSettings(solver="stagewise", roughness="bins", n_estimators=12)


def test_staged_aucs_are_those_of_refits():
    X, y = noisy(n_rows=90)
    data, folds = prepare(X, y, max_bins=COARSE), three_folds(90)
    given = {"penalties": [3e-3], "shrinkages": [1e-3]}
    chosen, candidates, _ = find_amounts(data, STAGEWISE, folds, **given)
    (only,) = candidates
    assert only.staged.shape == (3, 12)
    means = only.staged.mean(axis=0)
    assert chosen is only
    assert chosen.n_rounds == 1 + int(np.argmax(means))
    assert chosen.mean == pytest.approx(means.max(), abs=1e-12)
    for n_rounds in (1, 5, 12):
        for k, (train, test) in enumerate(folds):
            options = {**vars(STAGEWISE), **chosen.amounts._asdict(), "n_estimators": n_rounds}
            model, _, _ = fit_smooth(data.take(train), SmoothSettings(**options))
            expected = auc(y[test], model.decision_function(X[test]))
            assert only.staged[k, n_rounds - 1] == pytest.approx(expected, abs=1e-12)


def test_rounds_after_the_last_stump_stay_as_they_are():
    """One split tells the classes apart; without a penalty no other has a slope then."""
    x = np.repeat(np.arange(10.0), 3)[:, None]  # every fold has every value
    data = prepare(x, x[:, 0] > 4)
    given = {"penalties": [0.0], "shrinkages": [0.0]}
    chosen, _, _ = find_amounts(data, STAGEWISE, three_folds(30), **given)
    assert chosen.staged.shape == (3, 12)
    assert (chosen.staged == 1).all()
    assert chosen.n_rounds == 1


def test_stagewise_tries_every_penalty():
    X, y = noisy(n_rows=60)
    data = prepare(X, y, max_bins=8)
    options = SmoothSettings(solver="stagewise", n_estimators=4)
    _, candidates, _ = find_amounts(data, options, three_folds(60))
    assert [c.amounts.penalty for c in candidates] == list(LAMBDAS)
    assert {c.amounts.shrinkage for c in candidates} == {0.0}
    best, _, _ = find_amounts(data, options, three_folds(60), rule="best")
    assert best.mean == max(c.mean for c in candidates)
    strongest, _, _ = find_amounts(data, options, three_folds(60), rule="one_se")
    near = [c for c in candidates if c.mean >= best.mean - best.error]
    assert strongest.amounts.penalty == max(c.amounts.penalty for c in near)
    _, both, _ = find_amounts(
        data, options, three_folds(60), penalties=[1.0, 2.0], shrinkages=[0.1, 0.2]
    )
    assert {c.amounts[:2] for c in both} == {(1.0, 0.1), (1.0, 0.2), (2.0, 0.1), (2.0, 0.2)}


@pytest.mark.parametrize(
    "options",
    [SmoothSettings(), STAGEWISE, SmoothSettings(signs=(1, 0, 0))],
    ids=["newton", "stagewise", "monotone"],
)
def test_threads_do_not_show(options):
    X, y = noisy(n_rows=90)
    data = prepare(X, y, max_bins=12)
    surfaces = 1 if options.solver == "newton" else 0
    results = []
    for n_jobs in (1, 3):
        settings = SmoothSettings(**{**vars(options), "n_jobs": n_jobs})
        given = {"penalties": [1e-3, 1e-2], "shrinkages": [1e-3], "surfaces": surfaces}
        chosen, candidates, _ = find_amounts(data, settings, three_folds(90), **given)
        results.append((chosen.amounts, [(c.amounts, c.aucs) for c in candidates]))
    assert results[0] == results[1]


def test_amounts_already_tried_are_left_out():
    X, y = noisy(n_rows=60)
    data = prepare(X, y, max_bins=8)
    with Workers(1) as workers:
        search = AmountSearch(data, SmoothSettings(), three_folds(60), workers)
        search.try_all([AUTO])
        search.try_all([AUTO, AUTO._replace(penalty=2.0)])
    assert [c.amounts.penalty for c in search.candidates] == [1.0, 2.0]


def test_the_range_decides_by_the_mean_true_positive_rate_over_it():
    X, y = noisy(2)
    data = prepare(X, y, max_bins=COARSE)
    x = np.random.default_rng(0).normal(size=3 * data.n_codes)
    whole, none = (HeldOut(data, SmoothSettings(fpr_range=r)).auc(x) for r in ((0.0, 1.0), None))
    assert whole == pytest.approx(none, abs=1e-12)
    parts = [HeldOut(data, SmoothSettings(fpr_range=r)).auc(x) for r in ((0.0, 0.3), (0.3, 1.0))]
    assert 0.3 * parts[0] + 0.7 * parts[1] == pytest.approx(none, abs=1e-12)
