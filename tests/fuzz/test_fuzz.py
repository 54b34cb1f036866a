"""A fixed number of attacks with fixed seeds; `make fuzz` runs others for as long as one likes."""

import pytest
from fuzz.attacks import MODULES, run_attack

# Attacks of a module, cut into parts that workers share.
COUNTS = {"tables": 600, "csv_files": 300, "model_files": 300}
PARTS = 6


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", MODULES)
def test_attacks(name: str, part: int) -> None:
    for seed in range(part, COUNTS[name], PARTS):
        run_attack(name, seed)
