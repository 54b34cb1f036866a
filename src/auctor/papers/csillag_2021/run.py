"""Csillag et al. 2021 (paper 004): what is run again."""

import sys
from pathlib import Path

from auctor.papers.csillag_2021 import (
    ensembling,
    optimisers,
    runs,
    searching,
    surrogates,
    theorems,
    times,
)
from auctor.papers.experiment import Paper

PAPER = Paper(
    name="csillag_2021",
    number="004",
    citation=(
        "Csillag, Piazza, Ramos, Romano, Oliveira & Orenstein (2021): Optimizing Combinatorial "
        "and Non-decomposable Metrics with ExactBoost"
    ),
    folder=Path(__file__).parent,
    experiments=tuple(
        module.EXPERIMENT
        for module in (times, optimisers, ensembling, runs, surrogates, theorems, searching)
    ),
)

if __name__ == "__main__":
    from auctor.cli.main import main

    sys.exit(main(["reproduce", "csillag_2021", *sys.argv[1:]]))
