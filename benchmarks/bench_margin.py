"""MarginRanker over all pairs: against one large linear program and the reduction, and scaling.

The data are those of Suehiro, Hatano & Takimoto (2011), section 5.4: N = 100, k = 10, r = 3,
5 % noise, epsilon = 0.2; and the words of Reuters if AUCTOR_DATA has them.
"""

import os
import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import checkout  # noqa: F401 - for tests
import highspy
import numpy as np
from bench_sparse import read_reuters
from scipy import sparse
from timing import Row, print_table, race, seconds

from auctor.data import read_table
from auctor.data.labelled import read_rows
from auctor.datasets import make_r_of_k
from auctor.learners.margin.fit import largest_margin
from auctor.learners.margin.hypotheses import Hypotheses
from auctor.learners.margin.problems import LinearProblem
from auctor.learners.margin.settings import MarginFit, MarginSettings
from tests.reference.margin import pair_margins

SIZES = 1000, 10_000, 100_000


def make_hypotheses(n_rows: int) -> tuple[Hypotheses, np.ndarray, np.ndarray]:
    """Return the hypotheses of the paper's rows, and the positives and negatives."""
    sample = make_r_of_k(n_rows, n_features=100, k=10, r=3, noise=0.05, random_state=0)
    X, y = sample.X, sample.y
    rows = read_rows(y, None, None, len(y))
    problem = LinearProblem(read_table(X), rows, frozenset(), "features")
    return problem.hypotheses, X[y == 1].astype(np.float64), X[y == 0].astype(np.float64)


def settings_of(method: str) -> MarginSettings:
    """Fit as in the paper, without negations."""
    return MarginSettings(method, epsilon=0.2, negations=False)  # type: ignore[arg-type]


def whole_program() -> list[Row]:
    """Exact pairs at m = 1000 against all pairs formed; both must find the same margin."""
    hypotheses, pos, neg = make_hypotheses(1000)
    results: dict[str, float] = {}

    def ours() -> None:
        results["ours"] = largest_margin(hypotheses, settings_of("pairs"))[0].value

    solver = whole_dual(pos, neg, 0.2 * len(pos) * len(neg))

    def peer() -> None:
        solver.run()
        results["peer"] = solver.getInfo().objective_function_value

    ours()
    times = seconds(ours), seconds(peer)  # the whole program takes long and is solved once
    off = abs(results["ours"] - results["peer"])
    return [
        {
            "name": "pairs, 1000 x 100, against the whole program (3)",
            "ours": times[0],
            "peer": times[1],
            "ratio": times[1] / times[0],
            "spread": "",
            "target": "at least 20",
        },
        _plain("difference of the two margins, in 1e-6", off * 1e6, "at most 1", unit=" "),
    ]


def whole_dual(pos: np.ndarray, neg: np.ndarray, nu: float) -> highspy.Highs:
    """Problem (3) with every pair a variable, for HiGHS's dual simplex: its fastest form."""
    margins = pair_margins(pos, neg)
    n_pairs, count = margins.shape
    edges = np.hstack([margins.T, -np.ones((count, 1))])
    matrix = sparse.csc_array(np.vstack([edges, np.append(np.ones(n_pairs), 0.0)]))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n_pairs + 1, count + 1
    program.col_cost_ = np.append(np.zeros(n_pairs), 1.0)
    program.col_lower_ = np.append(np.zeros(n_pairs), -highspy.kHighsInf)
    program.col_upper_ = np.append(np.full(n_pairs, 1.0 / nu), highspy.kHighsInf)
    program.row_lower_ = np.append(np.full(count, -highspy.kHighsInf), 1.0)
    program.row_upper_ = np.append(np.zeros(count), 1.0)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("solver", "simplex"), ("presolve", "off")):
        solver.setOptionValue(option, value)
    solver.setOptionValue("simplex_strategy", 1)
    solver.passModel(program)
    return solver


def reduction() -> Row:
    """Pairs against the reduction at m = 1500; the paper's ratio is 769."""
    hypotheses, _, _ = make_hypotheses(1500)
    return race(
        "pairs, 1500 x 100, against reduced",
        lambda: largest_margin(hypotheses, settings_of("pairs")),
        lambda: largest_margin(hypotheses, settings_of("reduced")),
        "at least 0.1",
        n_rounds=3,
    )


def growth() -> list[Row]:
    """Time of every method and memory of the pairs for growing numbers of rows."""
    rows = []
    for n_rows in SIZES:
        hypotheses, _, _ = make_hypotheses(n_rows)
        for method in ("pairs", "reduced", "heuristic"):
            taken = seconds(lambda h=hypotheses, m=method: largest_margin(h, settings_of(m)))
            rows.append(_plain(f"{method}, {n_rows} x 100", taken, "minutes"))
        peak = peak_memory(hypotheses, settings_of("pairs"))
        rows.append(_plain(f"memory of pairs, {n_rows} x 100", peak / 1e6, "linear", unit="M"))
    return rows


def peak_memory(hypotheses: Hypotheses, settings: MarginSettings) -> int:
    """Return the memory allocated in addition to the hypotheses, in a few iterations."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit is stopped early on purpose
        largest_margin(hypotheses, replace(settings, max_iter=20))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def words(folder: Path) -> list[Row]:
    """Reuters, topic acq, to a gap of 1e-4."""
    X, y = read_reuters(folder)
    rows = read_rows(y, None, None, len(y))
    hypotheses = LinearProblem(read_table(X, accept_sparse=True), rows, frozenset(), "words")
    out = []
    for method in ("reduced", "pairs"):
        fits: list[MarginFit] = []
        settings = MarginSettings(method, epsilon=0.2, gap_tol=1e-4)  # type: ignore[arg-type]
        taken = seconds(
            lambda f=fits, s=settings: f.append(largest_margin(hypotheses.hypotheses, s)[0])
        )
        name = f"{method} on Reuters, {X.shape[0]} x {X.shape[1]}, gap {fits[0].gap:.1e}"
        out.append(_plain(name, taken, "gap 1e-4"))
    return out


def _plain(name: str, value: float, target: str, unit: str = "s") -> Row:
    return {
        "name": name,
        "ours": value,
        "peer": None,
        "ratio": None,
        "spread": "",
        "target": target,
        "unit": unit,
    }


def run() -> list[Row]:
    """Every case, one row each."""
    rows = [*whole_program(), reduction(), *growth()]
    folder = Path(os.environ.get("AUCTOR_DATA", "")) / "reuters"
    return rows + words(folder) if folder.is_dir() else rows


if __name__ == "__main__":
    print_table(run())
