"""The AUC of single features from histograms against the AUC by pairs."""

import numpy as np
import pytest

from auctor.data import category_feature, number_feature
from auctor.kernels.stumps import feature_aucs
from auctor.weak.feature import FeatureRanking, StumpRanking
from tests.reference.aucboost import weighted_auc


def make_rows(seed: int, n_rows: int = 30):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, size=(3, n_rows))
    positive = np.arange(n_rows) % 2 == 0
    weight = rng.integers(1, 6, size=n_rows)
    histogram = np.zeros((2, 3, 5), dtype=np.int64)
    for j in range(3):
        np.add.at(histogram[:, j], (positive.astype(int), codes[j]), weight)
    return codes, positive, weight.astype(float), histogram


@pytest.mark.parametrize("seed", range(5))
def test_aucs_with_missing_low_and_high(seed):
    codes, positive, weight, histogram = make_rows(seed)
    counts = np.zeros((2, 3, 2, 5), dtype=np.int64)  # at node 1 there is no row
    counts[:, :, 0] = histogram
    result = np.empty((3, 2, 2))
    feature_aucs(counts, 2, np.array([4, 4, 4]), result)
    aucs = result[:, 0]
    assert (result[:, 1] == 0.5).all()
    for j in range(3):
        low = codes[j].astype(float)
        high = np.where(codes[j] == 0, 9.0, low)
        assert aucs[j, 0] == pytest.approx(weighted_auc(low, positive, weight), abs=1e-12)
        assert aucs[j, 1] == pytest.approx(weighted_auc(high, positive, weight), abs=1e-12)


@pytest.mark.parametrize("ranking", [FeatureRanking, StumpRanking])
@pytest.mark.parametrize("seed", range(5))
def test_the_auc_of_a_ranker_is_that_of_its_ranks(ranking, seed):
    codes, positive, weight, histogram = make_rows(seed)
    features = (
        number_feature("a", np.array([1.0, 2.0, 3.0])),
        number_feature("b", np.array([1.0, 2.0, 3.0])),
        category_feature("c", ("p", "q", "r", "s")),
    )
    ranker = ranking(features).best(histogram)
    ranks = ranker.ranks[codes[ranker.feature]].astype(float)
    assert ranker.auc == pytest.approx(weighted_auc(ranks, positive, weight), abs=1e-12)
    assert ranker.auc > 0.5
    assert sorted(set(ranker.ranks.tolist())) == list(range(ranker.ranks.max() + 1))
