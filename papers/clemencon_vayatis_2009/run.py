"""Clémençon & Vayatis (2009): the ideal tree for a known ROC*, and TreeRank on samples."""

from pathlib import Path

from papers.clemencon_vayatis_2009 import (
    boosted_trees,
    consistency,
    diameters,
    figure1,
    identities,
    one_step,
    plug_in,
    rate,
    trees,
)
from papers.experiment import Experiment, Paper

PAPER = Paper(
    name="clemencon_vayatis_2009",
    citation=(
        "Clémençon & Vayatis (2009): Tree-structured ranking rules and approximation of the "
        "optimal ROC curve"
    ),
    folder=Path(__file__).parent,
    best_figure="theorem21",
    experiments=(
        Experiment(
            "figure1",
            "Figure 1: piecewise linear approximation of the ROC curve",
            figure1.cases,
            figure1.report,
        ),
        Experiment(
            "figure2",
            "Figure 2: numbering of the nodes and order for reading the ranks",
            trees.cases_figure2,
            trees.report_figure2,
        ),
        Experiment(
            "figure3",
            "Figure 3: partitioning by perpendicular splits",
            trees.cases_figure3,
            trees.report_figure3,
        ),
        Experiment(
            "proposition15",
            "Proposition 15: the rate of the approximation",
            rate.cases,
            rate.report,
        ),
        Experiment(
            "definition18",
            "Definition 18: one knot at a time",
            one_step.cases,
            one_step.report,
        ),
        Experiment(
            "theorem21",
            "Theorem 21: consistency in d1 and d-infinity",
            consistency.cases,
            consistency.report,
        ),
        Experiment(
            "diameters",
            "Theorem 21, its premise: does every cell shrink?",
            diameters.cases,
            diameters.report,
        ),
        Experiment(
            "boosted_trees",
            "Section 1: TreeRank trees in RankBoost",
            boosted_trees.cases,
            boosted_trees.report,
        ),
        Experiment(
            "proposition10",
            "Proposition 10: how far a plug-in is below ROC*",
            plug_in.cases,
            plug_in.report,
        ),
        Experiment(
            "identities",
            "The equations of sections 2 to 4",
            identities.cases,
            identities.report,
        ),
    ),
)
