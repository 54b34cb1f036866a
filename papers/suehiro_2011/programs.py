"""The matrices of hypotheses, and the whole program over pairs (3) for HiGHS."""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints


class Classes(NamedTuple):
    """Values of the hypotheses, the constant last, on the rows of each class."""

    pos: Floats
    neg: Floats

    @property
    def n_pairs(self) -> int:
        """Pairs of a positive and a negative row."""
        return len(self.pos) * len(self.neg)


class Whole(NamedTuple):
    """The optimum of (3) and the seconds its solver took."""

    value: float
    seconds: float


def split_classes(X: Floats, y: Ints, has_constant: bool = True) -> Classes:
    """Rows by class; section 5.1 adds the constant hypothesis."""
    values = np.column_stack([X, np.ones(len(X))]) if has_constant else np.asarray(X)
    return Classes(values[y == 1], values[y == 0])


def draw_classes(n_rows: int, n_features: int, k: int, r: int, noise: float, seed: int) -> Classes:
    """The artificial data of sections 5.1 and 5.4 with equal classes."""
    sample = draw_sample(n_rows, n_features, k, r, noise, seed)
    return split_classes(sample.X, sample.y)


def draw_sample(n_rows: int, n_features: int, k: int, r: int, noise: float, seed: int) -> Any:
    """Rows and labels of the same."""
    from auctor.datasets import make_r_of_k

    rng = np.random.default_rng([seed, 5])
    return make_r_of_k(n_rows, n_features=n_features, k=k, r=r, noise=noise, random_state=rng)


def scale_features(X: Floats) -> Floats:
    """Scale columns to [-1, 1] and replace missing values by the mean, like MarginRanker."""
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    low, high = filled.min(axis=0), filled.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return 2.0 * (filled - low) / width - 1.0


def solve_whole(classes: Classes, nu: float) -> Whole:
    """Solve problem (3) with one variable per pair by HiGHS's dual simplex, its fastest method."""
    from time import perf_counter

    solver = _whole_program(classes, nu)
    start = perf_counter()
    solver.run()
    taken = perf_counter() - start
    return Whole(float(solver.getInfo().objective_function_value), taken)


def _whole_program(classes: Classes, nu: float) -> Any:
    import highspy

    matrix = _whole_matrix(classes)
    count, n_pairs = classes.pos.shape[1], classes.n_pairs
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
    options: dict[str, Any] = {
        "output_flag": False,
        "solver": "simplex",
        "presolve": "off",
        "simplex_strategy": 1,
    }
    for option, value in options.items():
        solver.setOptionValue(option, value)
    solver.passModel(program)
    return solver


def _whole_matrix(classes: Classes) -> Any:
    """A column a pair: its margins under the hypotheses, and 1; the last column is gamma's."""
    from scipy import sparse

    blocks = []
    for row in classes.pos:  # one positive at a time, to save memory
        margins = sparse.csc_array((row[:, None] - classes.neg.T) / 2.0)
        blocks.append(sparse.vstack([margins, np.ones((1, len(classes.neg)))], format="csc"))
    gamma = np.append(-np.ones(classes.pos.shape[1]), 0.0)[:, None]
    return sparse.hstack([*blocks, sparse.csc_array(gamma)], format="csc")
