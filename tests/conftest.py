"""Fixtures and reporting that all tests share."""

import gc
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from loop_variables import describe
from sklearn.datasets import load_breast_cancer

# Kernels compile on first use, so that the first example of a property can be slow. Where kernels
# run once more with checked indices or uncompiled, the usual pass has tried more examples.
AGAIN = {"NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"} & set(os.environ)
settings.register_profile(
    "auctor", deadline=None, derandomize=True, max_examples=15 if AGAIN else 40
)
settings.load_profile("auctor")

# All modules and thousands of tests stay until the end: looking through them for garbage again and
# again would take a tenth of the time.
gc.disable()
gc.set_threshold(20_000)


def pytest_collection_finish() -> None:
    """From here on only what tests make is looked through for garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: Any) -> Generator[None, Any, Any]:
    """A failure inside a loop shows the loop's variables: which case it was."""
    report = yield
    if call.excinfo is not None and report.failed:
        case = describe(call.excinfo.traceback)
        if case:
            report.sections.append(("Variables of the loops around the failure", case))
    return report


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real tables named by AUCTOR_DATA; tests that need it skip without."""
    folder = os.environ.get("AUCTOR_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("AUCTOR_DATA does not name a folder of tables")
    return Path(folder)


@pytest.fixture
def people() -> tuple[pd.DataFrame, pd.Series]:
    """A small table with text, missing values, a constant and a boolean, and its labels."""
    rng = np.random.default_rng(1)
    n_rows = 250
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n_rows),
            "town": rng.choice(["north", "south", "west"], n_rows),
            "member": rng.random(n_rows) < 0.5,
            "same": 1.0,
        }
    )
    risk = (frame["age"] - 50) / 10 + (frame["town"] == "west") * 2 + rng.normal(size=n_rows)
    frame.loc[::9, "age"] = np.nan
    frame.loc[::11, "town"] = None
    return frame, pd.Series(np.where(risk > 1, "yes", "no"), name="bad")


@pytest.fixture
def cancer() -> tuple[np.ndarray, np.ndarray]:
    """The breast cancer table of scikit-learn: 569 rows in a random order, 30 numbers."""
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]
