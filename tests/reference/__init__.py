"""Slow and obvious versions of what the package computes fast, for tests to compare with."""
