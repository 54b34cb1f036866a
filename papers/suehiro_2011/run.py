"""Suehiro, Hatano and Takimoto (2011): AUC maximisation as 1-norm soft margin optimisation."""

from pathlib import Path

from papers.experiment import Experiment, Paper
from papers.suehiro_2011 import (
    artificial,
    artificial_report,
    curve,
    real,
    real_report,
    section2,
    theorems,
    times,
)

PAPER = Paper(
    name="suehiro_2011",
    citation=(
        "Suehiro, Hatano & Takimoto (2011): Approximate Reduction from AUC Maximization to "
        "1-norm Soft Margin Optimization"
    ),
    folder=Path(__file__).parent,
    best_figure="table3",
    experiments=(
        Experiment(
            "table1",
            "Table 1: artificial data, equal classes",
            artificial.cases_of_table1,
            artificial_report.report_table1,
        ),
        Experiment(
            "table2",
            "Table 2: artificial data, unequal classes",
            artificial.cases_of_table2,
            artificial_report.report_table2,
        ),
        Experiment(
            "table3",
            "Table 3: tables of the UCI repository",
            real.cases_of_table3,
            real_report.report_table3,
        ),
        Experiment(
            "table4",
            "Table 4: topics of Reuters",
            real.cases_of_table4,
            real_report.report_table4,
        ),
        Experiment("table5", "Table 5: times", times.cases, times.report, is_timed=True),
        Experiment(
            "figure1",
            "Figure 1: gamma-hat against nu+",
            curve.cases_of_figure1,
            curve.report_figure1,
        ),
        Experiment(
            "figure2",
            "Figure 2: the path of the heuristic",
            curve.cases_of_figure2,
            curve.report_figure2,
        ),
        Experiment(
            "section2",
            "Section 2: pairs below rho*, sparse weights, Theorem 1",
            section2.cases,
            section2.report,
        ),
        Experiment(
            "theorems",
            "Theorems 2 and 3, Corollary 4: checked by counting",
            theorems.cases,
            theorems.report,
        ),
    ),
)
