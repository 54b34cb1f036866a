"""Shared fixtures: where the real tables are, if they are there at all."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Kernels compile on first use, so that the first example of a property can be slow.
settings.register_profile("auctor", deadline=None, derandomize=True)
settings.load_profile("auctor")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real tables named by AUCTOR_DATA; tests that need it skip without."""
    folder = os.environ.get("AUCTOR_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("AUCTOR_DATA does not name a folder of tables")
    return Path(folder)
