"""Csillag et al. (2021): the experiments."""

from pathlib import Path

from papers.csillag_2021 import (
    ensembling,
    growth,
    landscape,
    optimisers,
    poor_models,
    runs,
    searching,
    surrogates,
    theorems,
    times,
)
from papers.experiment import Paper

PAPER = Paper(
    name="csillag_2021",
    citation=(
        "Csillag, Piazza, Ramos, Romano, Oliveira & Orenstein (2021): Optimizing Combinatorial "
        "and Non-decomposable Metrics with ExactBoost"
    ),
    folder=Path(__file__).parent,
    best_figure="proposition1",
    experiments=tuple(
        module.EXPERIMENT
        for module in (
            times,
            growth,
            optimisers,
            ensembling,
            poor_models,
            landscape,
            runs,
            surrogates,
            theorems,
            searching,
        )
    ),
)
