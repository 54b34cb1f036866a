"""Which estimators can be fitted to a Dataset, and with which parameters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from auctor.data import resolve_n_jobs
from auctor.data.stored.dataset import Dataset, RowBytes, StoredRows, open_dataset

# Bytes of memory that a fit to numbers without weights needs for each row: labels, positions, the
# columns that are being binned, and what the learner keeps of a row, measured by `rows` of
# benchmarks/dataset_memory.py. Codes are not counted, because they are in files.
ROW_BYTES = {
    "RankBoost": 86,
    "SoftRankBoost": 86,
    "AUCBoost": 86,
    "MartiRank": 86,
    "TreeRank": 87,
    "SmoothAUCBoost": 87,
    "SmoothAUCBoostCV": 100,
    "SmoothTreeBoost": 130,
    "ExactBoost": 90,
}
# The same where arrays with a number for each row are in files (``Partition.new_rows``), because
# memory is short: what is left are labels, masks and parts of arrays. Drawing held-out rows, which
# early stopping needs, has its own arrays in memory.
SPILLED_BYTES = {"RankBoost": 12, "SmoothAUCBoost": 12, "SmoothTreeBoost": 16}
_HELD_OUT_BYTES = 70
# A record of the training rows needs their scores and one column in memory, in any case.
RECORD_BYTES = 86
# A thread that bins a column has a buffer for its values, their sorted copy and the sort itself.
_THREAD_BYTES = 24
# A thread of ExactBoost has a run of its own: scores and orders of the rows, twice.
_RUN_BYTES = 60
# Values of parameters with which the learner works on binned rows alone.
_ALLOWED: dict[str, tuple[Any, ...]] = {
    "estimator": ("feature", "stump"),
    "init": (None, "smooth"),
}


@contextmanager
def open_rows(dataset: Any, estimator: Any, least_bytes: int = 0) -> Iterator[StoredRows]:
    """The rows of a data set; errors about the estimator and the memory come first.

    ``least_bytes`` is the memory for each row that is needed beside the fit, at another time.
    """
    name = type(estimator).__name__
    check_binned(estimator, tuple(ROW_BYTES), "needs the whole table in memory")
    if not isinstance(dataset, Dataset):
        raise ValueError(
            f"dataset is of type {type(dataset).__name__}; give the result of auctor.read_dataset, "
            "or use fit(X, y) for a table in memory"
        )
    threads = resolve_n_jobs(estimator.n_jobs)
    thread_bytes = _RUN_BYTES if name == "ExactBoost" else _THREAD_BYTES
    in_memory = max(least_bytes, ROW_BYTES[name] + thread_bytes * (threads - 1))
    spilled = None
    if name in SPILLED_BYTES:  # buffers of threads are in files, too
        held_out = _HELD_OUT_BYTES if estimator.early_stopping else 0
        spilled = max(least_bytes, SPILLED_BYTES[name] + held_out)
    with open_dataset(dataset, RowBytes(in_memory, spilled), name) as rows:
        yield rows


def check_binned(estimator: Any, names: Sequence[str], why: str) -> None:
    """Raise an error for an estimator, or a parameter, that needs more than binned rows.

    ``names`` are the estimators that do not, and ``why`` is what the others lack.
    """
    name = type(estimator).__name__
    if name not in names:
        raise TypeError(f"{name} {why}; give it to fit(X, y), or use one of {', '.join(names)}")
    parameters = estimator.get_params(deep=False)
    for parameter, allowed in _ALLOWED.items():
        value = parameters.get(parameter, allowed[0])
        if not any(value is choice or value == choice for choice in allowed):
            raise ValueError(
                f"{name} with {parameter}={value!r} {why}; give {parameter}={allowed[0]!r}, or use "
                "fit(X, y)"
            )
    cv = parameters.get("cv")
    if not (cv is None or isinstance(cv, Integral)):
        raise ValueError(f"cv is {str(cv)[:60]}; for a data set give a number of folds, or None")
