"""Long and Servedio (2007), "Boosting the area under the ROC curve": its theorems, measured."""

from pathlib import Path

from papers.experiment import Experiment, Paper
from papers.long_servedio_2007 import (
    label_noise,
    label_noise_report,
    lemma4,
    lemma4_report,
    oracle_draws,
    oracle_draws_report,
    program,
    times,
    training_bound,
    training_bound_report,
)

PAPER = Paper(
    name="long_servedio_2007",
    citation="Long & Servedio (2007): Boosting the area under the ROC curve",
    folder=Path(__file__).parent,
    best_figure="theorem8",
    experiments=(
        Experiment(
            "theorem2",
            "Theorem 2: the bound of AUCBoost",
            training_bound.cases,
            training_bound_report.report,
        ),
        Experiment(
            "time",
            "Theorem 2, the time: O(m T log m)",
            times.cases,
            times.report,
            is_timed=True,
        ),
        Experiment(
            "figure1",
            "Lemma 4 and Figure 1: from a ranker to a two-sided classifier",
            lemma4.cases,
            lemma4_report.report,
        ),
        Experiment(
            "theorem8",
            "Theorem 8: MartiRank under label noise",
            label_noise.cases,
            label_noise_report.report,
        ),
        Experiment("figure2", "Figure 2: the branching program", program.cases, program.report),
        Experiment(
            "theorem10",
            "Theorems 9 and 10: SMartiRank on an oracle",
            oracle_draws.cases,
            oracle_draws_report.report,
        ),
    ),
)
