"""Early stopping: which round was best, and when to stop."""

import pytest

from auctor.learners.common.early_stopping import EarlyStopping


def rounds_until_stop(aucs, **options):
    stopping = EarlyStopping(**options)
    for number, auc in enumerate(aucs, start=1):
        if stopping.stop_after(auc):
            return number, stopping.best_round
    return None, stopping.best_round


@pytest.mark.parametrize(
    ("aucs", "options", "expected"),
    [
        pytest.param([0.4, 0.3, 0.2], {"n_iter_no_change": 2}, (3, 1), id="the first is best"),
        pytest.param([0.6, 0.6, 0.6], {"n_iter_no_change": 2}, (3, 1), id="equal is no better"),
        pytest.param([0.6, 0.5, 0.7], {"n_iter_no_change": 2}, (None, 3), id="better in time"),
        pytest.param(
            [0.6, 0.605, 0.612], {"n_iter_no_change": 2, "tol": 0.01}, (None, 3), id="two small"
        ),
        pytest.param(
            [0.6, 0.605, 0.609], {"n_iter_no_change": 2, "tol": 0.01}, (3, 1), id="below tol"
        ),
    ],
)
def test_when_to_stop_and_which_round_was_best(aucs, options, expected):
    assert rounds_until_stop(aucs, **options) == expected


def test_before_the_first_round():
    stopping = EarlyStopping(3)
    assert (stopping.best_round, stopping.aucs) == (0, [])
