"""Fits on a Dask cluster, with the same model as in memory, and exact metrics of its scores."""

from auctor.dask import metrics
from auctor.dask.ranker import DaskRanker

__all__ = ["DaskRanker", "metrics"]
