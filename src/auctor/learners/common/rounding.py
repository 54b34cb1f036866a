"""The difference below which two computed numbers count as equal."""

# Sums over many rows of numbers near 1 carry rounding errors of some 2^-45 to 2^-50. 2^-40, about
# 1e-12, is well above these and well below any difference that matters to a model. A choice
# between two candidates that differ by less must not depend on their last bits.
ROUNDING = 2.0**-40
