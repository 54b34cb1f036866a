"""The linear programs of Suehiro, Hatano & Takimoto (2011), with every pair formed."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Floats = npt.NDArray[np.float64]


class Optimum(NamedTuple):
    """The optimal value and the weights of the hypotheses."""

    value: float
    alpha: Floats


def pair_margins(pos: Floats, neg: Floats) -> Floats:
    """(h_k(x_i^+) - h_k(x_j^-)) / 2 of every pair: (pairs, hypotheses)."""
    return ((pos[:, None, :] - neg[None, :, :]) / 2.0).reshape(-1, pos.shape[1])


def solve_pairs(pos: Floats, neg: Floats, nu: float, pair_weight: Floats | None = None) -> Optimum:
    """Problem (2): max rho - 1/nu sum w_ij xi_ij over alpha on the simplex."""
    margins = pair_margins(pos, neg)
    n_pairs, count = margins.shape
    weight = np.ones(n_pairs) if pair_weight is None else pair_weight
    cost = np.concatenate([[-1.0], np.zeros(count), weight / nu])
    upper = np.hstack([np.ones((n_pairs, 1)), -margins, -np.eye(n_pairs)])
    equal = np.concatenate([[0.0], np.ones(count), np.zeros(n_pairs)])[None]
    bounds = [(None, None)] + [(0.0, None)] * (count + n_pairs)
    result = linprog(cost, upper, np.zeros(n_pairs), equal, [1.0], bounds, method="highs")
    return Optimum(-float(result.fun), result.x[1 : 1 + count])


def solve_pairs_dual(pos: Floats, neg: Floats, nu: float) -> Optimum:
    """Problem (3): min gamma over distributions d with no pair above 1/nu.

    The weights are the dual variables of the constraints of the hypotheses.
    """
    margins = pair_margins(pos, neg)
    n_pairs, count = margins.shape
    cost = np.append(1.0, np.zeros(n_pairs))
    upper = np.hstack([-np.ones((count, 1)), margins.T])
    equal = np.append(0.0, np.ones(n_pairs))[None]
    bounds = [(None, None)] + [(0.0, 1.0 / nu)] * n_pairs
    result = linprog(cost, upper, np.zeros(count), equal, [1.0], bounds, method="highs-ds")
    return Optimum(float(result.fun), -np.asarray(result.ineqlin.marginals))


def solve_rows(pos: Floats, neg: Floats, nu_pos: float, nu_neg: float) -> Optimum:
    """Problem (7); the text has d_j^- <= 1/nu^- = nu^+/nu and nu = nu^+ nu^-."""
    p, n, count = len(pos), len(neg), pos.shape[1]
    cost = np.append(1.0, np.zeros(p + n))
    upper = np.hstack([-np.ones((count, 1)), pos.T / 2.0, -neg.T / 2.0])
    equal = np.zeros((2, 1 + p + n))
    equal[0, 1 : 1 + p] = equal[1, 1 + p :] = 1.0
    bounds = [(None, None)] + [(0.0, 1.0 / nu_pos)] * p + [(0.0, 1.0 / nu_neg)] * n
    result = linprog(cost, upper, np.zeros(count), equal, [1.0, 1.0], bounds, method="highs-ds")
    return Optimum(float(result.fun), -np.asarray(result.ineqlin.marginals))


def solve_rows_primal(pos: Floats, neg: Floats, nu_pos: float, nu_neg: float) -> Optimum:
    """Problem (8), whose value is that of (7).

    The paper writes sum alpha_k (h_k + b) for sum alpha_k h_k + b, which is the same since alpha
    adds up to 1. The factors 1/2 before the sums of xi follow from the bound d_i^+ <= 1/nu^+.
    """
    p, n, count = len(pos), len(neg), pos.shape[1]
    # rho, b, alpha, xi+, xi-; the value of (7) is rho - sum xi / (2 nu).
    cost = np.concatenate(
        [[-1.0, 0.0], np.zeros(count), np.full(p, 0.5 / nu_pos), np.full(n, 0.5 / nu_neg)]
    )
    upper = np.zeros((p + n, len(cost)))
    upper[:, 0] = 1.0
    upper[:p, 1], upper[p:, 1] = -1.0, 1.0
    upper[:p, 2 : 2 + count], upper[p:, 2 : 2 + count] = -pos, neg
    upper[:, 2 + count :] = -np.eye(p + n)
    equal = np.zeros((1, len(cost)))
    equal[0, 2 : 2 + count] = 1.0
    bounds = [(None, None)] * 2 + [(0.0, None)] * (count + p + n)
    result = linprog(cost, upper, np.zeros(p + n), equal, [1.0], bounds, method="highs")
    return Optimum(-float(result.fun), result.x[2 : 2 + count])


def solve_tangent(pos: Floats, neg: Floats, nu: float, nu_c: float) -> tuple[float, float]:
    """Problem (9): (gamma, nu+)."""
    p, n, count = len(pos), len(neg), pos.shape[1]
    # gamma, nu+, d+, d-
    cost = np.concatenate([[1.0, 0.0], np.zeros(p + n)])
    edges = np.hstack([-np.ones((count, 1)), np.zeros((count, 1)), pos.T / 2.0, -neg.T / 2.0])
    caps = np.zeros((p + n, 2 + p + n))
    caps[:, 2:] = np.eye(p + n)
    caps[:p, 1], caps[p:, 1] = 1.0 / nu_c**2, -1.0 / nu
    limits = np.concatenate([np.zeros(count), np.full(p, 2.0 / nu_c), np.zeros(n)])
    equal = np.zeros((2, 2 + p + n))
    equal[0, 2 : 2 + p] = equal[1, 2 + p :] = 1.0
    bounds = [(None, None), (nu / n, 2.0 * nu_c - nu_c**2 / p)] + [(0.0, None)] * (p + n)
    result = linprog(cost, np.vstack([edges, caps]), limits, equal, [1.0, 1.0], bounds)
    return float(result.fun), float(result.x[1])


def solve_hard_pairs(pos: Floats, neg: Floats) -> Optimum:
    """Problem (4): max rho such that every pair has a margin of at least rho."""
    margins = pair_margins(pos, neg)
    n_pairs, count = margins.shape
    upper = np.hstack([np.ones((n_pairs, 1)), -margins])
    equal = np.append(0.0, np.ones(count))[None]
    bounds = [(None, None)] + [(0.0, None)] * count
    cost = np.append(-1.0, np.zeros(count))
    result = linprog(cost, upper, np.zeros(n_pairs), equal, [1.0], bounds)
    return Optimum(-float(result.fun), result.x[1:])


def solve_hard_bias(pos: Floats, neg: Floats) -> Optimum:
    """Problem (5): the hard margin of the rows themselves, with a bias."""
    p, n, count = len(pos), len(neg), pos.shape[1]
    upper = np.zeros((p + n, 2 + count))
    upper[:, 0] = 1.0
    upper[:p, 1], upper[p:, 1] = -1.0, 1.0
    upper[:p, 2:], upper[p:, 2:] = -pos, neg
    equal = np.concatenate([[0.0, 0.0], np.ones(count)])[None]
    bounds = [(None, None)] * 2 + [(0.0, None)] * count
    cost = np.concatenate([[-1.0, 0.0], np.zeros(count)])
    result = linprog(cost, upper, np.zeros(p + n), equal, [1.0], bounds)
    return Optimum(-float(result.fun), result.x[2:])
