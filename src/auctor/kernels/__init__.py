"""Every Numba function of the project: arrays and numbers in, arrays out.

No other room imports Numba. A change in any file here compiles all kernels anew: Numba's
own cache would not notice a change in a helper that lives in another file.
"""
