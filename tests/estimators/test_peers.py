"""Other libraries behind our input validation: every kind of column, and scores that rank."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from auctor.estimators.peers import PEERS, CodeEncoder, Encoder, installed_peers
from auctor.metrics import auc

N = 300


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    colour = rng.choice(["red", "blue", "green"], N).astype(object)
    y = (size + 2 * (colour == "red") + rng.normal(size=N) > 1).astype(int)
    size[::10] = np.nan
    colour[::15] = None
    frame = pd.DataFrame({"size": size, "colour": colour, "empty": np.nan, "grade": y * 0 + 3})
    return frame, y


def test_numbers_are_scaled_and_missing_ones_indicated(table):
    X, _ = table
    matrix = Encoder().fit(X).transform(X)
    # size, size is missing; blue, green, red; empty; grade
    assert matrix.shape == (N, 7)
    missing = X["size"].isna().to_numpy()
    np.testing.assert_array_equal(matrix[:, 1], missing)
    known = X["size"].to_numpy()
    np.testing.assert_allclose(
        matrix[~missing, 0], (known[~missing] - np.nanmean(known)) / np.nanstd(known)
    )
    assert (matrix[missing, 0] == matrix[missing, 0][0]).all()
    assert set(matrix[:, 2:5].sum(axis=1)) == {0.0, 1.0}  # 0 where the colour is missing
    assert (matrix[:, 5] == 0).all() and (matrix[:, 6] == 0).all()


def test_categories_of_new_rows_that_were_never_seen_are_missing(table):
    X, _ = table
    new = pd.DataFrame({"size": [0.0], "colour": ["mauve"], "empty": [1.0], "grade": [3]})
    assert (Encoder().fit(X).transform(new)[0, 2:5] == 0).all()
    codes = CodeEncoder().fit(X).transform(new)
    assert np.isnan(codes[0, 1]) and codes[0, 0] == 0.0


def test_a_wide_matrix_stays_sparse():
    many = pa.table({f"x{j}": [str(i % 90) for i in range(2000)] for j in range(70)})
    matrix = Encoder().fit(many).transform(many)
    assert matrix.shape == (2000, 6300) and hasattr(matrix, "tocsr")


def test_logistic_is_scikit_learns_on_plain_numbers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3)) * [1, 10, 100]
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    ours = PEERS["logistic"].make().fit(X, y)
    theirs = LogisticRegression(max_iter=2000).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(StandardScaler().fit_transform(X))
    )


@pytest.mark.parametrize("name", installed_peers())
def test_every_peer_ranks_a_mixed_table(table, name):
    X, y = table
    words = np.where(y == 1, "yes", "no")
    peer = PEERS[name].make(categorical_features=["colour"])
    weight = np.ones(N)
    fitted = peer.fit(X[:200], words[:200], sample_weight=weight[:200])
    scores = fitted.decision_function(X[200:])
    assert auc(y[200:], scores) > 0.75
    assert fitted.classes_.tolist() == ["no", "yes"]
    chances = fitted.predict_proba(X[200:])[:, 1]
    assert auc(y[200:], chances) == pytest.approx(auc(y[200:], scores), abs=0.02)


@pytest.mark.parametrize("name", installed_peers())
def test_every_peer_takes_plain_numbers(name):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0).astype(int)
    assert auc(y, PEERS[name].make().fit(X, y).decision_function(X)) > 0.9


def test_installed_peers_are_those_whose_package_is_there(monkeypatch):
    assert "logistic" in installed_peers()
    monkeypatch.setattr("auctor.estimators.peers.find_spec", lambda name: None)
    assert installed_peers() == []
