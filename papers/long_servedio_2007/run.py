"""Long and Servedio (2007), "Boosting the area under the ROC curve": its theorems, measured."""

from pathlib import Path

from papers.experiment import Experiment, Paper
from papers.long_servedio_2007 import (
    accuracy,
    label_noise,
    label_noise_report,
    lemma4,
    lemma4_report,
    lemma7,
    oracle_draws,
    oracle_draws_report,
    program,
    rare_class,
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
            "lemma7",
            "Lemma 7: the layers of Basic MartiBoost",
            lemma7.cases,
            lemma7.report,
        ),
        Experiment(
            "theorem8",
            "Theorem 8: MartiRank under label noise",
            label_noise.cases,
            label_noise_report.report,
        ),
        Experiment(
            "accuracy",
            "Theorem 8 without sampling: layers, accuracy and AUC",
            accuracy.cases,
            accuracy.report,
        ),
        Experiment("figure2", "Figure 2: the branching program", program.cases, program.report),
        Experiment(
            "theorem10",
            "Theorems 9 and 10: SMartiRank on an oracle",
            oracle_draws.cases,
            oracle_draws_report.report,
        ),
        Experiment(
            "rare_class",
            "Theorem 10: a rare class, and p and eta that are not known",
            rare_class.cases,
            rare_class.report,
        ),
    ),
)
