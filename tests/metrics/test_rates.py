"""Intervals of rates against scipy's."""

import pytest
from scipy.stats import binomtest

from auctor.metrics.rates import clopper_pearson, wilson

COUNTS = [(0, 7), (7, 7), (3, 10), (120, 4000)]


@pytest.mark.parametrize(("part", "whole"), COUNTS)
@pytest.mark.parametrize(("method", "ours"), [("wilson", wilson), ("exact", clopper_pearson)])
def test_intervals_equal_scipys(part, whole, method, ours):
    ends = binomtest(part, whole).proportion_ci(0.9, method=method)
    assert ours(part, whole, 0.9) == pytest.approx((ends.low, ends.high), abs=1e-12)
