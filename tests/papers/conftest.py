"""Tables for the papers: the real ones if there are any, else generated ones."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from papers.csillag_2021.methods import TABLES
from papers.long_servedio_2007 import training_bound
from papers.suehiro_2011.real import UCI
from papers.tables import data_folder

NAMES = sorted({*TABLES, *training_bound.TABLES, *UCI})


def write_table(path: Path, seed: int, n_rows: int = 400) -> None:
    """Two classes that overlap, with numbers, ties and a column of text."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    risk = X[:, 0] + 0.7 * X[:, 1] ** 2 + rng.normal(size=n_rows)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)]).round({"x1": 1, "x2": 0})
    frame["group"] = rng.choice(["a", "b", "c"], n_rows)
    frame["target"] = (risk + (frame["group"] == "a") > 1.0).astype(int)
    frame.to_csv(path, index=False)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of AUCTOR_DATA if there is one; otherwise generated tables in its stead."""
    if data_folder() is None:
        folder = tmp_path / "tables"
        folder.mkdir()
        for seed, name in enumerate(NAMES):
            write_table(folder / f"{name}.csv", seed)
        monkeypatch.setenv("AUCTOR_DATA", str(folder))
