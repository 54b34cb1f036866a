"""Where bins lie on the scale of roughness."""

import numpy as np
import pytest
from scipy.special import ndtri

from auctor.data import prepare
from auctor.learners.smooth.scale import gaps

SCALES = ["normal", "arcsinh", "linear", "bins"]


def bins_of(x, weight=None, max_bins=255):
    """The feature of a column, and the fraction of the rows in each of its bins."""
    x = np.asarray(x, dtype=float)
    data = prepare(x[:, None], np.arange(len(x)) % 2, sample_weight=weight, max_bins=max_bins)
    (part,) = data.partitions
    counts = np.bincount(part.codes[0], part.weight, minlength=data.n_codes)[1:]
    return data.features[0], counts / counts.sum()


def middle(values, fraction, level):
    """The smallest value with at least this fraction of the rows up to it."""
    return values[np.flatnonzero(np.cumsum(fraction) >= level)[0]]


@pytest.mark.parametrize("turn", [np.exp, np.cbrt, lambda x: 5 * x - 3, lambda x: x**3 + x])
def test_the_normal_scale_does_not_see_a_monotone_transform(turn):
    x = np.random.default_rng(0).normal(size=200)
    assert np.array_equal(gaps(*bins_of(x), "normal"), gaps(*bins_of(turn(x)), "normal"))


def test_the_normal_scale_is_the_quantile_of_the_middle_rank():
    feature, fraction = bins_of([1, 2, 2, 3, 3, 3, 9, 9])
    ranks = np.array([0.5, 2, 4.5, 7]) / 8
    assert gaps(feature, fraction, "normal") == pytest.approx(np.diff(ndtri(ranks)), rel=1e-12)
    # Fractions need not add up to 1: those of missing values are not among them.
    assert gaps(feature, fraction / 3, "normal") == pytest.approx(np.diff(ndtri(ranks)), rel=1e-12)


def test_the_quantiles_of_normal_rows_are_their_values():
    x = ndtri((np.arange(250) + 0.5) / 250)
    assert gaps(*bins_of(x), "normal") == pytest.approx(np.diff(x), rel=1e-9)


@pytest.mark.parametrize("scale", ["arcsinh", "linear"])
def test_values_are_standardised_by_median_and_quartiles(scale):
    rng = np.random.default_rng(1)
    values = np.sort(rng.normal(10, 4, size=40))
    feature, fraction = bins_of(values, weight=rng.integers(1, 6, size=40))
    spread = (middle(values, fraction, 0.75) - middle(values, fraction, 0.25)) / 1.349
    standard = (values - middle(values, fraction, 0.5)) / spread
    positions = np.arcsinh(standard) if scale == "arcsinh" else standard
    # None of these is closer to the next than a thousandth of the range.
    result, expected = gaps(feature, fraction, scale), np.diff(positions)
    apart = expected > 1.001e-3 * np.ptp(positions)
    assert apart.sum() > 30
    assert result[apart] == pytest.approx(expected[apart], rel=1e-10)


def test_an_outlier_stretches_the_linear_scale_but_hardly_the_others():
    x = np.append(np.arange(100.0), 1e6)
    lengths = {scale: gaps(*bins_of(x), scale).sum() for scale in SCALES}
    assert lengths["linear"] > 1e4
    assert lengths["arcsinh"] < 20
    assert lengths["normal"] < 6
    assert lengths["bins"] == 100


def test_no_two_bins_are_closer_than_a_thousandth_of_the_range():
    feature, fraction = bins_of([0.0, 1.0, 1.0 + 1e-9, 2.0])
    result = gaps(feature, fraction, "linear")
    assert result[1] == pytest.approx(1e-3 * 2 / 1 * result[0], rel=1e-6)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    ("x", "n_gaps"),
    [
        ([5.0, 5.0, 5.0], 0),
        ([np.nan, np.nan], 0),
        ([0.0, 1.0], 1),
        ([0.0] * 99 + [1.0], 1),
        ([0.0] * 98 + [1.0, 2.0], 2),
        ([1.0, np.nextafter(1.0, 2.0)], 1),
        (list(range(60)), 59),
    ],
    ids=["constant", "missing", "binary", "rare", "tied", "neighbours", "whole"],
)
def test_gaps_are_finite_and_positive(x, n_gaps, scale):
    with np.errstate(all="raise", under="ignore"):
        if np.isnan(x).all():
            data = prepare(np.array(x)[:, None], [0, 1])
            feature, fraction = data.features[0], np.zeros(data.n_codes - 1)
        else:
            feature, fraction = bins_of(x)
        result = gaps(feature, fraction, scale)
    assert result.shape == (n_gaps,)
    assert np.isfinite(result).all()
    assert (result > 0).all()


@pytest.mark.parametrize("scale", SCALES)
def test_extreme_values_that_are_rare(scale):
    feature, fraction = bins_of([-1e300] + [0.0] * 50 + [1e300])
    result = gaps(feature, fraction, scale)
    assert np.isfinite(result).all()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("empty", [[0], [-1], [0, 1, -1], [4]])
def test_bins_without_a_row_stay_at_a_distance(scale, empty):
    """Rows held out leave bins of their own empty, also the first and the last."""
    feature, fraction = bins_of(np.arange(10.0))
    fraction[empty] = 0
    result = gaps(feature, fraction, scale)
    assert np.isfinite(result).all()
    assert (result > 0).all()


@pytest.mark.parametrize("scale", SCALES)
def test_a_feature_of_which_no_row_is_known(scale):
    feature, fraction = bins_of(np.arange(3.0))
    assert np.isfinite(gaps(feature, 0 * fraction, scale)).all()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("ends", [(1e308,), (-1.7e308, 1.7e308), (5e-324, 1e300)])
def test_outliers_at_the_end_of_floating_point(scale, ends):
    """Divided by a spread of 1e-300 they would be infinite."""
    x = np.concatenate([np.arange(20) * 1e-300, ends])
    result = gaps(*bins_of(x), scale)
    assert np.isfinite(result).all() and (result > 0).all()
    assert np.isfinite(result**4).all()
