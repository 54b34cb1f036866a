"""Every Numba function of the project: arrays and numbers in, arrays out.

No other package imports Numba. After a change in any file of this package all kernels are compiled
again, because Numba's cache does not notice a change of a function in another file.
"""
