"""Kernels of ExactBoost (Csillag et al. 2021)."""
