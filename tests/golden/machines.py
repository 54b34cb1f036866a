"""Settings that make this processor act as another one; golden models are fitted under each.

Run as ``python -m golden.machines FILE`` it fits every golden model and those of
``machine_cases.py`` and writes the texts of the models to the file.
"""

import gc
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from golden import machine_cases
from golden.cases import CASES

from auctor.models import to_json

FOLDER = Path(__file__).parent
CPU_INFO = Path("/proc/cpuinfo")


class Machine(NamedTuple):
    """Environment variables, and the flags of /proc/cpuinfo without which they cannot be tried."""

    environment: dict[str, str]
    needs: frozenset[str] = frozenset()


# The plainest processor: OpenBLAS's oldest kernels, no vectors in NumPy, no fused multiplication in
# the C library. Our kernels are compiled for any x86-64 processor and with little optimisation,
# which may not change a bit either, and check their indices. Numba's cache does not tell such code
# from the usual one, so that it has a folder of its own, which the second pass of `make test` uses
# as well. NumPy ignores names of features that it does not know.
PLAIN = {
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR X86_V3",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_BOUNDSCHECK": "1",
    "NUMBA_OPT": "1",
    "NUMBA_CACHE_DIR": str(Path(os.environ.get("NUMBA_CACHE_DIR", sys.prefix)) / "plain-kernels"),
}

# Threads divide the sums of a matrix product; the tests themselves run with one.
THREADS = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}

# OpenBLAS crashes if it is made to run kernels that the processor lacks: such machines are skipped.
MACHINES = {
    "skylakex": Machine(
        {"OPENBLAS_CORETYPE": "SkylakeX", **THREADS},
        frozenset({"avx512f", "avx512dq", "avx512bw"}),
    ),
    "haswell": Machine({"OPENBLAS_CORETYPE": "Haswell", **THREADS}, frozenset({"avx2", "fma"})),
    "plain": Machine(PLAIN),
}


def missing_flags(machine: Machine) -> set[str]:
    """What this processor lacks; everything where its flags cannot be read."""
    flags: set[str] = set()
    if CPU_INFO.exists():
        for line in CPU_INFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("flags"):
                flags = set(line.split(":")[1].split())
                break
    return set(machine.needs) - flags


def stored(name: str) -> str:
    """The text of a stored golden model."""
    path = FOLDER / f"{name}.model.json"
    assert path.exists(), f"no {path.name}; `make golden CASES={name}` writes it, then commit it"
    return path.read_text(encoding="utf-8")


def texts() -> dict[str, str]:
    """The text of every model, by its name."""
    return {name: to_json(fit()) for name, fit in CASES.items()} | machine_cases.texts()


if __name__ == "__main__":
    gc.freeze()  # modules are no garbage, and compiling makes little of it
    gc.set_threshold(20_000)
    Path(sys.argv[1]).write_text(json.dumps(texts()), encoding="utf-8")
