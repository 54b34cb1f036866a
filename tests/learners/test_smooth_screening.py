"""Wide tables: which features take part, by training rows alone, and what becomes of the rest."""

import numpy as np
import pytest

from auctor import SmoothAUCBoost, SmoothAUCBoostCV
from auctor.data import prepare
from auctor.learners.smooth.bands import score_bands
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.screening import narrow, screen
from auctor.learners.smooth.settings import SmoothSettings


@pytest.fixture(scope="module")
def wide():
    """80 rows; of 30 columns, 4, 11 and 25 inform, 25 at both ends; 20 is missing by class."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 30))
    X[:, 4] += 2.0 * y
    X[:, 11] -= 1.5 * y
    X[:, 25] *= 1 + 3 * y
    X[(y == 1) & (rng.random(80) < 0.5), 20] = np.nan
    return X, y


class TestScreen:
    def test_keeps_what_informs_in_the_order_of_the_columns(self, wide):
        data = prepare(*wide)
        assert screen(data, SmoothSettings(max_features=4)).tolist() == [4, 11, 20, 25]

    @pytest.mark.parametrize("most", [None, 30, 100])
    def test_a_table_that_is_not_wide_is_left_alone(self, wide, most):
        assert screen(prepare(*wide), SmoothSettings(max_features=most)) is None

    def test_stumps_see_every_feature(self, wide):
        assert screen(prepare(*wide), SmoothSettings(max_features=4, solver="stagewise")) is None

    def test_a_category_counts_by_its_values(self):
        rng = np.random.default_rng(1)
        y = np.arange(120) % 2
        kind = np.where(rng.random(120) < 0.8, y, 1 - y) * 2 + rng.integers(0, 2, 120)
        X = np.column_stack([rng.normal(size=(120, 6)), (kind * 7) % 5])
        data = prepare(X, y, categorical_features=[6])
        assert screen(data, SmoothSettings(max_features=1)).tolist() == [6]

    def test_settings_follow_the_features(self):
        settings = SmoothSettings(signs=(0, 1, -1), loose=np.array([1.0, 2.0, 3.0]))
        kept = narrow(settings, np.array([0, 2]))
        assert kept.signs == (0, -1)
        assert kept.loose.tolist() == [1.0, 3.0]


class TestFit:
    def test_is_that_of_the_columns_alone(self, wide):
        X, y = wide
        few = SmoothAUCBoost(interactions=2).fit(X[:, [4, 11, 20, 25]], y)
        ranker = SmoothAUCBoost(max_features=4, interactions=2).fit(X, y)
        assert (ranker.decision_function(X) == few.decision_function(X[:, [4, 11, 20, 25]])).all()
        assert np.flatnonzero(ranker.feature_importances_).tolist() == [4, 11, 20, 25]
        kept = np.array([4, 11, 20, 25])
        assert ranker.history_.pairs == [tuple(kept[list(p)]) for p in few.history_.pairs] != []
        assert ranker.n_features_in_ == 30
        assert [surface.features for surface in ranker.model_.surfaces] == ranker.history_.pairs

    def test_the_certificate_tells(self, wide):
        _, history, certificate = fit_smooth(prepare(*wide), SmoothSettings(max_features=4))
        assert "4 of the 30 features" in certificate.statement
        assert certificate.values["n_screened"] == 4
        assert history.adapted.bend.shape == (30,)

    def test_constraints_stay_with_their_features(self, wide):
        X, y = wide
        signs = np.zeros(30, dtype=int)
        signs[[4, 11]] = -1, -1  # column 4 rises by itself
        model = SmoothAUCBoost(max_features=4, monotonic_cst=signs).fit(X, y).model_
        assert (np.diff(model.steps[4][1:]) <= 0).all()
        assert (np.diff(model.steps[11][1:]) < 0).any()

    def test_a_model_to_start_from_keeps_all_its_features(self, wide):
        X, y = wide
        first = SmoothAUCBoost(max_features=None).fit(X, y).model_
        model = SmoothAUCBoost(max_features=4, init=first).fit(X, y).model_
        assert len(model.used) > 4

    def test_bands_of_the_others_are_flat(self, wide):
        bands = score_bands(prepare(*wide), SmoothSettings(max_features=4), n_resamples=3)
        assert len(bands) == 30
        assert [j for j, band in enumerate(bands) if np.any(band.table)] == [4, 11, 20, 25]


class TestLeakage:
    def test_folds_pick_features_by_their_own_training_rows(self):
        """On noise no fold does better than chance, however many columns there are to pick from.

        Picked with the held-out rows in sight, 5 of 400 columns rank them with an AUC above 0.9.
        """
        rng = np.random.default_rng(3)
        X, y = rng.normal(size=(60, 400)), np.arange(60) % 2
        ranker = SmoothAUCBoostCV(max_features=5, interactions=0, shrinkages=[0.1]).fit(X, y)
        assert ranker.best_score_ < 0.65
        chosen = screen(prepare(X, y), SmoothSettings(max_features=5))
        leaked = SmoothAUCBoostCV(interactions=0, shrinkages=[0.1]).fit(X[:, chosen], y)
        assert leaked.best_score_ > 0.8
