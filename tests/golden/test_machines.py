"""The same model on every machine: golden models, fitted as other processors would.

Each setting runs in a process of its own, since OpenBLAS, NumPy and Numba read it when they load.
"""

import json
import os
import platform
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from golden import machine_cases
from golden.cases import CASES
from golden.machines import MACHINES, Machine, missing_flags, stored

TESTS = Path(__file__).parents[1]


def models_under(environment, folder):
    """The texts of all models, fitted in a process of its own."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "golden.machines", str(folder / "models.json")],
        env={**os.environ, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "models.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def usual():
    """The models of this machine: the stored ones, which ``test_golden.py`` fits, and others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fits warn of margins; it is not what is tested
        return {name: stored(name) for name in CASES} | machine_cases.texts()


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="settings of x86-64 processors")
def test_models_do_not_depend_on_the_processor(name, usual, tmp_path):
    machine = MACHINES[name]
    if lacks := missing_flags(machine):
        pytest.skip(f"this processor lacks {', '.join(sorted(lacks))}, which {name} has")
    models = models_under(machine.environment, tmp_path)
    assert models.keys() == usual.keys()
    assert [model for model in usual if models[model] != usual[model]] == []


def test_a_processor_without_the_flags_is_seen():
    assert missing_flags(Machine({}, frozenset({"no such flag"}))) == {"no such flag"}
    assert missing_flags(Machine({})) == set()
