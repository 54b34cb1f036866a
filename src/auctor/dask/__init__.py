"""Fits on a Dask cluster, with the same model as in memory, and exact metrics of its scores."""

try:
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "auctor.dask needs the packages dask and distributed; install them with "
        "pip install 'auctor[dask]'"
    ) from error

from auctor.dask import metrics
from auctor.dask.ranker import DaskRanker

__all__ = ["DaskRanker", "metrics"]
