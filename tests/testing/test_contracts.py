"""The contracts catch a learner that breaks them."""

import numpy as np
import pytest

from auctor.models import AdditiveModel, Calibration, on_grid
from auctor.testing import contracts


def with_steps(data, value):
    """An additive model in which every bin of every feature adds ``value``, missing values 0."""
    steps = tuple(
        on_grid(np.append(0.0, np.full(feature.n_bins, value))) for feature in data.features
    )
    shared = tuple(data.classes.tolist()), 0.0, Calibration(1.0, 0.0)
    return AdditiveModel(*shared, data.features, steps, 0.0)


def test_a_learner_that_ignores_the_rows_keeps_the_contracts(tmp_path):
    def fit(data, n_jobs):
        return with_steps(data, 0.5)

    contracts.check_row_order(fit, 0)
    contracts.check_weights_are_copies(fit, 0)
    contracts.check_weight_scale(fit, 0)
    contracts.check_constants_are_never_used(fit, 0)
    X, y = contracts.messy_table(0)
    contracts.check_saved_model(fit(contracts.prepare(X, y), 1), X, tmp_path)


def test_the_order_of_rows_is_noticed():
    def fit(data, n_jobs):
        part = data.partitions[0]
        return with_steps(data, float((part.codes[0] * np.arange(part.n_rows)).sum()))

    words = r"order of the rows; the first difference is body\.features\[0\]\.steps\[0\]: "
    with pytest.raises(AssertionError, match=words):
        contracts.check_row_order(fit, 0)


def test_weights_that_count_once_are_noticed():
    def fit(data, n_jobs):
        return with_steps(data, float(data.n_rows))

    with pytest.raises(AssertionError, match="differ from copies"):
        contracts.check_weights_are_copies(fit, 0)


def test_threads_are_noticed():
    def fit(data, n_jobs):
        return with_steps(data, float(n_jobs))

    with pytest.raises(AssertionError, match="1 partitions or 2 threads change the model"):
        contracts.check_partitions_and_threads(fit, cases=[(1, 2)])


def test_a_difference_is_one_of_the_files():
    X, y = contracts.messy_table(0)
    data = contracts.prepare(X, y)
    one, other = with_steps(data, 0.0), with_steps(data, -0.0)
    assert contracts.first_difference(one, one) == ""
    assert not contracts.same_model(one, other)
    assert contracts.first_difference(one, other) == "body.features[0].steps[0]: 0.0 and -0.0"
    fewer = with_steps(data.take_features(np.array([0, 1])), 0.0)
    assert contracts.first_difference(one, fewer).startswith("body.features: [")
