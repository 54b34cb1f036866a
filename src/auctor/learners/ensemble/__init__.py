"""Weights of an ensemble's members, chosen on held-out scores by the metric asked for."""
