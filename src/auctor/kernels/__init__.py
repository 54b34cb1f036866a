"""Every Numba function of the project: arrays and numbers in, arrays out.

No other room imports Numba. Kernels that call each other share a file, because
Numba's cache does not notice a change in a helper that lives elsewhere.
"""
