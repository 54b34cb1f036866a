"""Fixtures of the metrics: stored numbers of pROC and samples of two normal classes."""

import json

import numpy as np
import pytest


@pytest.fixture(scope="session")
def proc_cases(data_folder):
    """Cases computed with R's pROC; arrays for the scores and labels."""
    path = data_folder.parent / "reference" / "roc_reference.json"
    if not path.is_file():
        pytest.skip("no stored numbers of pROC beside the tables")
    cases = json.loads(path.read_text())
    for case in cases:
        case.update({key: np.array(case[key]) for key in ("y", "s1", "s2")})
    return cases


@pytest.fixture
def normal_scores():
    """A maker of samples of two normal classes, with ties if rounded."""

    def make(n_pos, n_neg, shift=1.0, seed=0, decimals=None):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], [n_pos, n_neg])
        s = rng.normal(size=len(y)) + shift * y
        return y, (s if decimals is None else s.round(decimals))

    return make
