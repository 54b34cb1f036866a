"""Interactions of SmoothAUCBoost: the chosen pairs, the joint maximum, and purified surfaces."""

from itertools import pairwise

import numpy as np
import pytest

from auctor.data import Workers, category_feature, number_feature, prepare
from auctor.learners.smooth.fit import add_surfaces, climb, fit_smooth
from auctor.learners.smooth.interactions import Pair, find_pairs, main_parts, make_axis, usefulness
from auctor.learners.smooth.newton import Patience
from auctor.learners.smooth.penalty import gaps
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.smooth.surfaces import (
    JointProblem,
    SurfacePenalty,
    cell_fractions,
    purify,
    row_cells,
    table_side,
)
from auctor.metrics import auc
from auctor.testing import contracts

NAN = float("nan")


def product_table(seed=0, n_rows=1500, n_features=6):
    """y is the sign of x0 * x1 plus noise; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n_rows) > 0


def mixed_table(seed=0, n_rows=800):
    """What a number does depends on a category, and both are missing now and then."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, 3, n_rows)
    turn = np.where(X[:, 3] == 1, 1.0, -1.0)
    y = turn * X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0
    X[rng.random((n_rows, 4)) < 0.1] = NAN
    return X, y


def prepare_mixed(seed=0, **settings):
    return prepare(*mixed_table(seed), categorical_features=[3], **settings)


@pytest.fixture(scope="module")
def mixed():
    """The joint maximum of the mixed table, before and after it is taken apart."""
    data = prepare_mixed()
    with Workers(1) as workers:
        problem = Problem(data, SmoothSettings(interactions=3), workers)
        penalty = problem.roughness.weigh(*problem.amounts)
        point, _ = climb(problem, problem.amounts, None)
        pairs = find_pairs(problem, point.x, 3)
        joint = JointProblem(problem, penalty, pairs)
        result, _ = joint.climb(point, Patience())
    return problem, point, pairs, joint, result


class TestProduct:
    def test_pair_is_found_and_ranks(self):
        data, (X, y) = prepare(*product_table()), product_table(seed=1)
        alone, history, _ = fit_smooth(data, SmoothSettings())
        assert auc(y, alone.decision_function(X)) < 0.65
        assert (history.pairs, history.usefulness, alone.surfaces) == ([], [], ())
        model, history, _ = fit_smooth(data, SmoothSettings(interactions=1))
        assert history.pairs == [(0, 1)]
        assert history.usefulness[0] > 0
        assert auc(y, model.decision_function(X)) > 0.9
        assert model.term_names[-1] == "x0 x x1"
        assert history.importances[:2].min() > history.importances[2:].max()
        assert history.importances.sum() == pytest.approx(1)

    def test_scores_are_those_of_training(self):
        X, y = product_table()
        model, _, certificate = fit_smooth(prepare(X, y), SmoothSettings(interactions=2))
        assert auc(y, model.decision_function(X)) == pytest.approx(certificate.values["auc"])
        parts = model.contributions(X)
        assert parts.shape[1] == 6 + len(model.surfaces)
        assert (parts.sum(axis=1) + model.intercept == model.decision_function(X)).all()

    def test_joint_objective_is_no_less(self):
        data = prepare(*product_table())
        one, _, alone = fit_smooth(data, SmoothSettings())
        _, history, joint = fit_smooth(data, SmoothSettings(interactions=1))
        assert joint.values["objective"] > alone.values["objective"] + 0.1
        assert history.stopped_by == "converged"
        # The additive climb comes first and ends where it does without surfaces.
        first = len(fit_smooth(data, SmoothSettings())[1].objective)
        assert history.objective[first - 1] == alone.values["objective"]
        assert all(a <= b for a, b in pairwise(history.objective))
        assert one.surfaces == ()

    def test_noise_is_held_down(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(2, 1000, 5))
        y = X[:, :, 0] + X[:, :, 1] + rng.normal(size=(2, 1000)) > 0
        data = prepare(X[0], y[0])
        aucs = [
            auc(y[1], fit_smooth(data, SmoothSettings(interactions=m))[0].decision_function(X[1]))
            for m in (0, 5)
        ]
        assert aucs[1] > aucs[0] - 0.005

    def test_monotone_features_are_in_no_pair(self):
        data = prepare(*product_table(n_rows=600))
        signs = (1, 0, 0, 0, 0, 0)
        model, history, _ = fit_smooth(data, SmoothSettings(interactions=15, signs=signs))
        assert history.pairs
        assert all(0 not in pair for pair in history.pairs)
        assert (np.diff(model.steps[0][1:]) >= 0).all()

    def test_early_stopping_watches_the_surfaces(self):
        data = prepare(*product_table())
        held_out = np.arange(1500) % 4 == 0
        train, validation = data.take(~held_out), data.take(held_out)
        model, history, _ = fit_smooth(train, SmoothSettings(interactions=1), validation)
        X, y = product_table()
        assert len(history.validation_auc) == len(history.objective)
        result = auc(y[held_out], model.decision_function(X[held_out]))
        assert result == pytest.approx(max(history.validation_auc), abs=1e-9)
        assert result > 0.9

    def test_partial_auc(self):
        data = prepare(*product_table())
        model, history, _ = fit_smooth(data, SmoothSettings(interactions=1, fpr_range=(0.0, 0.3)))
        assert history.pairs == [(0, 1)]
        X, y = product_table(seed=1)
        assert auc(y, model.decision_function(X)) > 0.85


class TestMixed:
    def test_missing_values_and_categories(self, tmp_path):
        X, y = mixed_table(seed=1)
        model, history, _ = fit_smooth(prepare_mixed(), SmoothSettings(interactions=1))
        assert history.pairs == [(0, 3)]
        plain = fit_smooth(prepare_mixed(), SmoothSettings())[0]
        gain = auc(y, model.decision_function(X)) - auc(y, plain.decision_function(X))
        assert gain > 0.05
        (surface,) = model.surfaces
        assert surface.axes[1].categories == (0.0, 1.0, 2.0)
        assert len(surface.axes[0].cuts) == 15
        assert surface.values.shape == (17, 4)
        # Turned around by category 1, as y is.
        slopes = surface.values[12:17].mean(axis=0) - surface.values[1:6].mean(axis=0)
        assert slopes[2] > 0.5
        assert max(slopes[1], slopes[3]) < -0.2
        X[0, [0, 3]] = NAN, 77.0
        assert model.contributions(X)[0, -1] == surface.values[0, 0]
        contracts.check_saved_model(model, X, tmp_path)

    def test_cuts_are_the_features(self):
        data = prepare_mixed()
        model, _, _ = fit_smooth(data, SmoothSettings(interactions=3))
        for surface in model.surfaces:
            for j, axis in zip(surface.features, surface.axes, strict=True):
                assert set(axis.cuts) <= set(data.features[j].cuts)
                assert set(axis.categories) <= set(data.features[j].categories)
                assert axis.name == data.features[j].name

    def test_purified(self, mixed):
        problem, _, _, joint, result = mixed
        parts = joint.parts(result)
        assert len(parts.surfaces) >= 2
        for surface, fraction in zip(parts.surfaces, joint.fraction, strict=True):
            n_a, n_b = surface.values.shape
            assert fraction[n_a:].sum() == fraction[:, n_b:].sum() == 0.0
            weighted = fraction[:n_a, :n_b] * surface.values
            np.testing.assert_allclose(weighted.sum(axis=0), 0.0, atol=1e-9)
            np.testing.assert_allclose(weighted.sum(axis=1), 0.0, atol=1e-9)
        _, cells = joint.objective.tables(result.x)
        assert (
            np.abs(main_parts(cells.reshape(joint.fraction.shape), joint.fraction)[0]).max() > 1e-3
        )
        for part, before, added in zip(
            problem.data.partitions, result.scores, parts.added, strict=True
        ):
            after = added + sum(parts.tables[j][part.codes[j]] for j in range(4))
            np.testing.assert_allclose(after - after[0], before - before[0], atol=1e-8)

    def test_joint_gradient_by_finite_differences(self, mixed):
        _, _, _, joint, result = mixed
        rng = np.random.default_rng(0)
        for _ in range(3):
            way = rng.normal(size=len(result.x)) * 1e-4
            ahead, behind = (joint.objective.at(result.x + t * way) for t in (1, -1))
            middle = (ahead.gradient + behind.gradient) / 2
            assert ahead.objective - behind.objective == pytest.approx(
                2 * float(middle @ way), abs=1e-10
            )

    def test_a_group_of_no_row_adds_nothing(self):
        X, y = product_table(n_rows=400)
        model, _, _ = fit_smooth(prepare(X, y), SmoothSettings(interactions=1))
        (surface,) = model.surfaces
        assert not surface.values[0].any()
        assert not surface.values[:, 0].any()
        assert surface.values.any()

    def test_nested_features_gain_nothing(self):
        X, y = product_table(n_rows=400, n_features=2)
        y = X[:, 0] > 0.1 * X[:, 1]
        X[:, 1] = np.round(X[:, 0])
        _, history, _ = fit_smooth(prepare(X, y), SmoothSettings(interactions=5))
        assert history.pairs == []


def fit(data, n_jobs):
    return fit_smooth(data, SmoothSettings(interactions=2, n_jobs=n_jobs))[0]


class TestContracts:
    @pytest.mark.parametrize("seed", range(3))
    def test_weight_two_is_the_row_twice(self, seed):
        contracts.check_weights_are_copies(fit, seed)
        X, y = product_table(seed, n_rows=300)
        weight = np.random.default_rng(seed).integers(0, 4, size=300)
        copies = np.repeat(np.arange(300), weight)
        by_weight = fit(prepare(X, y, sample_weight=weight), 1)
        assert by_weight.surfaces
        assert contracts.same_model(by_weight, fit(prepare(X[copies], y[copies]), 1))

    @pytest.mark.parametrize("seed", range(3))
    def test_order_of_the_rows_does_not_matter(self, seed):
        contracts.check_row_order(fit, seed)

    def test_same_bits_for_any_partition_and_any_number_of_threads(self):
        contracts.check_partitions_and_threads(fit)

    @pytest.mark.parametrize(("n_jobs", "n_partitions"), [(1, 3), (2, 4)])
    def test_same_bits_with_categories(self, n_jobs, n_partitions):
        whole, cut = prepare_mixed(), prepare_mixed().split(n_partitions)
        assert fit(whole, 1).surfaces
        assert contracts.same_model(fit(cut, n_jobs), fit(whole, 1))

    def test_constant_columns_are_never_used(self):
        contracts.check_constants_are_never_used(fit, 0)

    def test_saved_models_score_the_same(self, tmp_path):
        X, y = product_table()
        contracts.check_saved_model(fit(prepare(X, y), 1), X, tmp_path)


class TestAxis:
    def test_few_bins_stay(self):
        feature = number_feature("a", np.array([1.0, 2.0, 3.0]))
        axis = make_axis(feature, np.array([0.1, 0.4, 0.2, 0.2, 0.1, 0.0]), 16)
        assert axis.feature.cuts.tolist() == [1.0, 2.0, 3.0]
        assert axis.groups.tolist() == [0, 1, 2, 3, 4, 0]
        assert axis.fraction.tolist() == [0.1, 0.4, 0.2, 0.2, 0.1]

    def test_groups_of_equal_weight(self):
        feature = number_feature("a", np.arange(159.0))
        fraction = np.concatenate([[0.0], np.full(160, 1 / 160)])
        axis = make_axis(feature, fraction, 16)
        assert axis.feature.cuts.tolist() == list(range(9, 159, 10))
        np.testing.assert_allclose(axis.fraction, [0.0, *[1 / 16] * 16])

    def test_heavy_bins_are_groups_of_their_own(self):
        fraction = np.concatenate([[0.1], np.full(20, 0.4 / 20), [0.5], np.full(20, 0.0)])
        axis = make_axis(number_feature("a", np.arange(40.0)), fraction, 8)
        assert axis.groups[21:].tolist() == [axis.feature.n_bins] * 21  # the empty ones with it
        assert axis.groups[20] == axis.feature.n_bins - 1
        assert (axis.fraction[1:] > 0).all()

    def test_all_missing(self):
        axis = make_axis(number_feature("a", np.array([])), np.array([1.0, 0.0]), 16)
        assert (axis.feature.n_bins, axis.fraction.tolist()) == (1, [1.0, 0.0])
        axis = make_axis(category_feature("a", ()), np.array([1.0, 0.0]), 16)
        assert (axis.feature.n_bins, axis.fraction.tolist()) == (0, [1.0])

    def test_heaviest_categories(self):
        fraction = np.array([0.1, 0.2, 0.05, 0.3, 0.05, 0.3, 0.0])
        axis = make_axis(category_feature("a", tuple("vwxyz")), fraction, 4)
        assert axis.feature.categories == ("v", "x", "z")
        assert axis.groups.tolist() == [0, 1, 0, 2, 0, 3, 0]
        np.testing.assert_allclose(axis.fraction, [0.2, 0.2, 0.3, 0.3])


class TestParts:
    def test_rows_and_columns_alone_are_useless(self):
        rng = np.random.default_rng(0)
        stiffness = rng.random((3, 5, 4)) + 0.1
        main = rng.normal(size=(3, 5, 1)) + rng.normal(size=(3, 1, 4))
        np.testing.assert_allclose(usefulness(main * stiffness, stiffness), 0.0, atol=1e-12)
        stiffness[:, 2, 1:] = stiffness[:, 3] = 0.0
        np.testing.assert_allclose(usefulness(main * stiffness, stiffness), 0.0, atol=1e-12)
        both = main + rng.normal(size=(3, 5, 4))
        assert (usefulness(both * stiffness, stiffness) > 0.1).all()

    def test_least_squares(self):
        rng = np.random.default_rng(1)
        values, weight = rng.normal(size=(5, 4)), rng.random((5, 4))
        weight[2], weight[:, 1] = 0.0, 0.0
        rows, columns = main_parts(values[None], weight[None])
        design = np.concatenate([np.eye(5).repeat(4, axis=0), np.tile(np.eye(4), (5, 1))], axis=1)
        root = np.sqrt(weight.ravel())
        best, *_ = np.linalg.lstsq(root[:, None] * design, root * values.ravel(), rcond=1e-10)
        np.testing.assert_allclose(np.concatenate([rows[0], columns[0]]), best, atol=1e-10)
        assert abs(rows[0, 2]) < 1e-12

    def test_purify_keeps_every_sum(self):
        rng = np.random.default_rng(2)
        fraction = rng.random((1, 4, 4))
        fraction[0, 3] = fraction[0, 0] = fraction[0, :, 0] = 0.0
        fraction /= fraction.sum()
        features = [number_feature("a", np.arange(4.0)), number_feature("b", np.arange(2.0))]
        axes = (
            make_axis(features[0], np.array([0, 0.2, 0.2, 0.3, 0.3]), 2),
            make_axis(features[1], np.array([0, 0.5, 0.2, 0.3, 0]), 9),
        )
        tables, cells = rng.normal(size=(2, 5)), rng.normal(size=(1, 4, 4))
        after, left = purify(tables, cells, fraction, [Pair((0, 1), axes)])
        for a in range(1, 5):
            for b in range(1, 4):
                cell = axes[0].groups[a], axes[1].groups[b]
                before = tables[0, a] + tables[1, b] + cells[0][cell]
                assert after[0, a] + after[1, b] + left[0][cell] == pytest.approx(before)
        np.testing.assert_allclose((fraction * left).sum(axis=1), 0.0, atol=1e-12)
        np.testing.assert_allclose((fraction * left).sum(axis=2), 0.0, atol=1e-12)
        assert not left[0, 0, :3].any()


class TestPenalty:
    @pytest.fixture
    def penalty(self, mixed):
        pairs = [Pair(p.features, p.axes, 0.0, 1.0 + i) for i, p in enumerate(mixed[2])]
        return SurfacePenalty(pairs, mixed[3].fraction, 0.7)

    def test_gradient_by_finite_differences(self, penalty):
        rng = np.random.default_rng(0)
        f = rng.normal(size=penalty.shape)

        def value(g):
            return float(np.sum(g * penalty.gradient(g))) / 2

        gradient = penalty.gradient(f)
        for index in zip(*(rng.integers(0, n, 40) for n in f.shape), strict=True):
            step = np.zeros_like(f)
            step[index] = 1e-3
            result = (value(f + step) - value(f - step)) / 2e-3
            assert result == pytest.approx(gradient[index], rel=1e-6, abs=1e-8)

    def test_value_by_hand(self):
        fraction = np.array([0.0, 0.3, 0.5, 0.2])
        number = make_axis(number_feature("a", np.array([0.0, 1.0])), fraction, 16)
        category = make_axis(category_feature("b", ("u", "v")), np.array([0.2, 0.5, 0.3, 0.0]), 16)
        pair = Pair((0, 1), (number, category))
        side = table_side([pair])
        cells = np.zeros((1, side, side))
        cells[0, 1:4, :3] = number.fraction[1:, None] * category.fraction
        f = np.random.default_rng(0).normal(size=(side, side))
        penalty = SurfacePenalty([pair], cells, 2.0)
        h = gaps(number.feature, number.fraction[1:], "normal")
        known = f[1:4, :3]
        along_a = np.mean(np.sum(np.diff(known, axis=0) ** 2 / h[:, None], axis=0))
        away = known - (known @ category.fraction)[:, None]
        along_b = np.mean(np.sum(away**2, axis=1))
        expected = 2.0 * (along_a + along_b + np.mean(known**2))
        result = np.sum(f.ravel() * penalty.gradient(f.reshape(1, -1)).ravel()) / 2
        assert result == pytest.approx(expected)

    def test_solver_inverts_what_is_banded(self):
        axes = [
            make_axis(number_feature("a", np.arange(n - 1.0)), np.array([0, *[1 / n] * n]), 16)
            for n in (5, 9)
        ]
        pair = Pair((0, 1), (axes[0], axes[1]))
        fraction = np.zeros((1, 10, 10))
        fraction[0, 1:6, 1:10] = 1 / 45
        penalty = SurfacePenalty([pair], fraction, 0.3)
        rng = np.random.default_rng(0)
        f = rng.normal(size=penalty.shape) * (fraction > 0).reshape(1, -1)
        mass = fraction.reshape(1, -1)
        g = penalty.gradient(f) + 0.5 * mass * f
        np.testing.assert_allclose(penalty.solver(mass)(g), f, rtol=1e-5, atol=1e-5)

    def test_cells_of_no_row_stay_zero(self, penalty, mixed):
        fraction = mixed[3].fraction
        held = (fraction.sum(axis=2) > 0)[:, :, None] & (fraction.sum(axis=1) > 0)[:, None, :]
        cells = mixed[3].objective.tables(mixed[4].x)[1].reshape(fraction.shape)
        assert not cells[~held].any()
        assert cells[held].all()


def test_lines_and_fractions():
    data = prepare_mixed().split(3)
    with Workers(1) as workers:
        fraction = Problem(data, SmoothSettings(), workers).roughness.fraction
    axes = [make_axis(f, s, 16) for f, s in zip(data.features, fraction, strict=True)]
    pairs = [Pair((0, 3), (axes[0], axes[3])), Pair((1, 2), (axes[1], axes[2]))]
    cells, side = row_cells(data, pairs), table_side(pairs)
    assert side == 17
    for part, own in zip(data.partitions, cells, strict=True):
        first, second = axes[0].groups[part.codes[0]], axes[3].groups[part.codes[3]]
        assert (own[0] == first * 17 + second).all()
    fractions = cell_fractions(data, cells, side)
    np.testing.assert_allclose(fractions.sum(axis=(1, 2)), 1.0)
    np.testing.assert_allclose(fractions[0].sum(axis=1), axes[0].fraction, atol=1e-12)
    np.testing.assert_allclose(fractions[1].sum(axis=0), axes[2].fraction, atol=1e-12)


def test_the_objective_of_an_earlier_iteration_is_without_its_barrier():
    X, y = product_table(n_rows=400, n_features=4)
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    data, held = prepare(X, y, max_bins=24), np.arange(400) % 10 == 0
    options = SmoothSettings(interactions=1, signs=(0, 0, 1, 1), adaptive=False, n_iter_no_change=3)
    with Workers(1) as workers:
        problem = Problem(data.take(~held), options, workers)
        point, history = climb(problem, problem.amounts, None, data.take(held))
        pairs = find_pairs(problem, point.x, 1)
        joint = JointProblem(problem, problem.roughness.weigh(*problem.amounts), pairs)
        result, parts = add_surfaces(problem, point, history, data.take(held))
        assert len(parts.surfaces) == 1
        expected = joint.objective.at(result.x)  # without the barrier
    assert result.smoothed_auc == expected.smoothed_auc
    assert result.objective == pytest.approx(expected.objective, abs=1e-12)
