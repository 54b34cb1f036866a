"""Komori (2010): Tables 1 and 2, Figures 1 to 5, and Theorem 1."""

from pathlib import Path

from papers.experiment import Experiment, Paper
from papers.komori_2010.curves import figure3_cases, figure4_cases, report_figure3, report_figure4
from papers.komori_2010.definition import figure1_cases, report_figure1
from papers.komori_2010.kyphosis import kyphosis_cases
from papers.komori_2010.kyphosis_report import report_kyphosis
from papers.komori_2010.table1 import report_table1, table1_cases
from papers.komori_2010.table2 import BELIEVED, report_table2, table2_cases
from papers.komori_2010.theorem import report_theorem, theorem_cases
from papers.komori_2010.tuning import figure2_cases, report_figure2

PAPER = Paper(
    name="komori_2010",
    citation="Komori (2010): A boosting method for maximization of the area under the ROC curve",
    folder=Path(__file__).parent,
    best_figure="figure3",
    experiments=(
        Experiment(
            "figure1", "Figure 1: FPR, TPR and the ROC curve", figure1_cases, report_figure1
        ),
        Experiment(
            "theorem1",
            "Theorem 1, sections 3.1 and 3.2: what is proved",
            theorem_cases,
            report_theorem,
        ),
        Experiment("figure2", "Figure 2: lambda and T", figure2_cases, report_figure2),
        Experiment("table1", "Table 1: the Gaussian distribution", table1_cases, report_table1),
        Experiment(
            "figure3",
            "Figure 3: score plots, the Gaussian distribution",
            figure3_cases,
            report_figure3,
        ),
        Experiment(
            "table2",
            "Table 2: outliers, from the distribution that the table comes from",
            table2_cases(BELIEVED),
            report_table2(BELIEVED),
        ),
        Experiment(
            "table2_as_printed",
            "Table 2 again: outliers, from the density as printed",
            table2_cases("t"),
            report_table2("t"),
        ),
        Experiment("figure4", "Figure 4: x3 under outliers", figure4_cases, report_figure4),
        Experiment("kyphosis", "Figure 5: kyphosis (section 5)", kyphosis_cases, report_kyphosis),
    ),
)
