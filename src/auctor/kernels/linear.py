"""Linear algebra in a fixed order of operations, for everything that a model depends on.

BLAS and LAPACK choose the order of summation, and whether to fuse multiplications with additions,
by the processor. So does NumPy in ``@``, ``np.convolve`` and ``np.exp``. The last bits of such a
result differ between machines; and where a learner compares two nearly equal numbers, the models
differ. The kernels of this module compute the same bits everywhere.
"""

from math import exp, log

import numpy as np

from auctor._typing import Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel


@kernel
def dot(a: Floats, b: Floats) -> float:
    """Inner product of two vectors, in four interleaved sums."""
    size = len(a)
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for i in range(0, size - 3, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    rest = 0.0
    for i in range(size - size % 4, size):
        rest += a[i] * b[i]
    return (s0 + s1) + (s2 + s3) + rest


@kernel
def matrix_vector(matrix: Floats, vector: Floats) -> Floats:
    """``matrix @ vector``: the inner product of each row with the vector."""
    out = np.empty(matrix.shape[0])
    for i in range(matrix.shape[0]):
        out[i] = dot(matrix[i], vector)
    return out


@kernel
def vector_matrix(vector: Floats, matrix: Floats) -> Floats:
    """``vector @ matrix``: the weighted sum of the rows of the matrix, from the first row on."""
    out = np.zeros(matrix.shape[1])
    for i in range(matrix.shape[0]):
        if vector[i] != 0.0:
            for j in range(matrix.shape[1]):
                out[j] += vector[i] * matrix[i, j]
    return out


@kernel
def convolve(a: Floats, b: Floats) -> Floats:
    """Full convolution, of length ``len(a) + len(b) - 1``; zeros of ``a`` are skipped."""
    out = np.zeros(len(a) + len(b) - 1)
    for i in range(len(a)):
        if a[i] != 0.0:
            for j in range(len(b)):
                out[i + j] += a[i] * b[j]
    return out


@kernel
def exp_each(x: Floats) -> Floats:
    """The exponential of each entry of a vector."""
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = exp(x[i])
    return out


@kernel
def log_each(x: Floats) -> Floats:
    """The natural logarithm of each entry of a vector."""
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = log(x[i])
    return out


@kernel
def factor_banded(lower: Floats) -> bool:
    """Cholesky factor of a symmetric banded matrix, in place; False if it is not definite.

    ``lower[d, i]`` is the entry in row i + d of column i, as in ``scipy.linalg.cholesky_banded``
    with ``lower=True``.
    """
    width, size = lower.shape
    for i in range(size):
        if not lower[0, i] > 0.0:
            return False
        pivot = np.sqrt(lower[0, i])
        lower[0, i] = pivot
        reach = min(width, size - i)
        for d in range(1, reach):
            lower[d, i] /= pivot
        for d in range(1, reach):
            if lower[d, i] != 0.0:
                for e in range(d, reach):
                    lower[e - d, i + d] -= lower[e, i] * lower[d, i]
    return True


@kernel
def solve_banded(factor: Floats, x: Floats) -> None:
    """Solve a system, given its Cholesky factor; ``x`` is the right side, then the solution."""
    width, size = factor.shape
    for i in range(size):
        x[i] /= factor[0, i]
        for d in range(1, min(width, size - i)):
            x[i + d] -= factor[d, i] * x[i]
    for i in range(size - 1, -1, -1):
        for d in range(1, min(width, size - i)):
            x[i] -= factor[d, i] * x[i + d]
        x[i] /= factor[0, i]


@inner_kernel
def solve_semidefinite(system: Floats, x: Floats, tiny: float) -> None:
    """Solve a positive semidefinite system; ``x`` is the right side, then a solution.

    The system is overwritten. An unknown whose pivot is below ``tiny`` times its diagonal entry
    depends on those before it and is set to 0.
    """
    size = len(x)
    least = np.empty(size)
    for i in range(size):
        least[i] = tiny * system[i, i]
    for i in range(size):
        pivot = system[i, i]
        if not pivot > least[i]:
            x[i] = 0.0
            system[i, i] = 0.0
            continue
        for j in range(i + 1, size):
            factor = system[j, i] / pivot
            if factor != 0.0:
                x[j] -= factor * x[i]
                for k in range(i + 1, size):
                    system[j, k] -= factor * system[i, k]
    for i in range(size - 1, -1, -1):
        if system[i, i] == 0.0:
            x[i] = 0.0
            continue
        for k in range(i + 1, size):
            x[i] -= system[i, k] * x[k]
        x[i] /= system[i, i]


@kernel
def main_part(values: Floats, weight: Floats, rows: Floats, columns: Floats) -> None:
    """The main effects of a table: row and column terms by weighted least squares.

    The residuals have weighted row and column means of 0. Among several solutions the one of
    smallest norm is returned. Rows and columns without weight get 0.
    """
    n_rows, n_columns = values.shape
    size = n_rows + n_columns
    system, x = np.zeros((size, size)), np.zeros(size)
    for i in range(n_rows):
        for j in range(n_columns):
            w, k = weight[i, j], n_rows + j
            system[i, i] += w
            system[k, k] += w
            system[i, k] = system[k, i] = w
            x[i] += w * values[i, j]
            x[k] += w * values[i, j]
    solve_semidefinite(system, x, 1e-12)
    # Within each connected block of cells a constant can be moved from the rows to the columns.
    block = blocks_of(weight)
    for first in range(size):
        shift, count = 0.0, 0
        for k in range(size):
            if block[k] == first:
                shift += x[k] if k < n_rows else -x[k]
                count += 1
        for k in range(size):
            if block[k] == first:
                x[k] -= shift / count if k < n_rows else -shift / count
    # Loops: compiling the assignment of a slice takes longer than all the rest of this kernel.
    for i in range(n_rows):
        rows[i] = x[i]
    for j in range(n_columns):
        columns[j] = x[n_rows + j]


@kernel
def blocks_of(weight: Floats) -> Ints:
    """Connected components of rows and columns, which are linked by cells of positive weight.

    The result has, for each row and then each column, the first index of its component.
    """
    n_rows, n_columns = weight.shape
    block = np.arange(n_rows + n_columns)
    changed = True
    while changed:
        changed = False
        for i in range(n_rows):
            for j in range(n_columns):
                k = n_rows + j
                if weight[i, j] > 0.0 and block[i] != block[k]:
                    block[i] = block[k] = min(block[i], block[k])
                    changed = True
    return block
