"""The premise of Theorem 21: the diameter of every cell goes to 0 as the sample grows."""

from functools import partial
from itertools import pairwise

import numpy as np

from papers.clemencon_vayatis_2009.feature_distributions import DISTRIBUTIONS, evaluate
from papers.clemencon_vayatis_2009.learners import RANKERS
from papers.clemencon_vayatis_2009.verdicts import judge_fall, step_exponent
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page
from papers.statistics import mean_se

SHAPES = {"tree": "rectangles", "unions": "unions of boxes"}


def sizes(setup: Setup) -> list[int]:
    """Rows of the samples."""
    return setup.pick([10**2, 10**3, 10**4, 10**5], [10**2, 10**3, 10**4], [10**2, 10**3])


def cases(setup: Setup) -> list[Case]:
    """One case per distribution, shape of the cells, and size."""
    return [
        Case(
            f"{distribution}/{ranker}/{n_rows}",
            partial(measure, distribution, ranker, n_rows, n_samples(setup, ranker), setup.seed),
            cost=0.1 * n_samples(setup, ranker),
        )
        for distribution in DISTRIBUTIONS
        for ranker in SHAPES
        for n_rows in sizes(setup)
    ]


def n_samples(setup: Setup, ranker: str) -> int:
    """Samples of each size; more of the cells that the theorem is about."""
    return setup.pick(20 if ranker == "tree" else 5, 3, 2)


def measure(distribution: str, ranker: str, n_rows: int, n_times: int, seed: int) -> Result:
    """The largest diameter of a cell in trees of fresh samples."""
    law, largest = DISTRIBUTIONS[distribution](), []
    for repetition in range(n_times):
        numbers = [seed, list(DISTRIBUTIONS).index(distribution), n_rows, repetition]
        X, y = law.draw(n_rows, np.random.default_rng(numbers))
        fitted = RANKERS[ranker].make(n_rows, law).fit(X, y)
        largest.append(evaluate(fitted, law).largest)
    return {"largest": largest}


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """The largest diameter by size, and whether it falls."""
    page.text(
        "The theorem assumes that the diameter of any cell goes to 0. Cells hold at least sqrt(n) "
        "rows, as in the section before; the largest diameter of a cell, mean ± standard error "
        "over samples (the unit square has a diagonal of 1.414):"
    )
    rows, falls = [], {}
    for distribution in DISTRIBUTIONS:
        for ranker, shape in SHAPES.items():
            names = [f"{distribution}/{ranker}/{n}" for n in sizes(setup)]
            values = [results[name]["largest"] if name in results else [] for name in names]
            name = DISTRIBUTIONS[distribution]().name
            rows.append([name, shape, *(mean_se(v, 3) if len(v) > 1 else "–" for v in values)])
            known = [v for v in values if v]
            steps = [step_exponent(a, b) for a, b in pairwise(known)]
            falls[name, shape] = steps
    page.table(["distribution", "cells", *(f"n = {n:,}" for n in sizes(setup))], rows)
    for (name, shape), steps in falls.items():
        told = f"last tenfold n^{steps[-1].value:.2f}" if steps else "not run"
        page.addition(
            f"the largest cell shrinks: {name}, cells are {shape}", judge_fall(steps), told
        )
    page.text(
        "Where it does not shrink, the theorem says nothing: there a distance d1 that stops "
        "falling does not contradict it. Where it does, as with rectangles and diagonal level "
        "sets, a d1 that stops contradicts it: the proof is about the order by the fraction of "
        "positives, and the algorithm returns the order from left to right."
    )
