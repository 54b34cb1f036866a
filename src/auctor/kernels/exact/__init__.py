"""Kernels of ExactBoost."""
