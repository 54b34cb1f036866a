"""DaskRanker: an estimator that is fitted on a Dask cluster."""

import hashlib
from typing import Any, NamedTuple, Self

import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd
from dask.delayed import Delayed, delayed
from distributed import Client, default_client
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from auctor._checks import check_positive, check_whole
from auctor.dask.group import DaskGroup
from auctor.dask.parts import Part, delayed_parts, read_parts
from auctor.dask.run import run_on_cluster
from auctor.dask.state import KeptState, StatePlan
from auctor.estimators.checkpointing import read_checkpoint
from auctor.estimators.dataset_fit import check_binned
from auctor.learners.checkpoint.identity import OtherFitError

# The learners that reach the rows of other workers through the group of their data alone.
DISTRIBUTED = (
    "RankBoost",
    "SoftRankBoost",
    "AUCBoost",
    "MartiRank",
    "TreeRank",
    "SmoothAUCBoost",
    "SmoothAUCBoostCV",
    "SmoothTreeBoost",
)


class Fitted(NamedTuple):
    """What a member of a fit returns: a checksum of its model, and member 0 the estimator."""

    checksum: str
    estimator: Any


class FitWork:
    """The work of each member of a fit."""

    def __init__(self, estimator: Any, plan: StatePlan) -> None:
        self._estimator, self._plan = estimator, plan

    def __call__(self, group: DaskGroup, parts: list[tuple[int, Part]]) -> Fitted:
        """Fit a copy of the estimator to the partitions, together with the other members."""
        estimator = clone(self._estimator)
        if group.rank > 0:
            estimator.set_params(verbose=False)
        if estimator.n_jobs is None:
            estimator.set_params(n_jobs=group.n_threads)
        checkpoint = self._plan.open(group)
        try:
            estimator._fit_rows(read_parts(parts, group), checkpoint)
        except OtherFitError as error:
            if self._plan.is_given:
                raise
            raise RuntimeError(
                "partitions were computed again after a worker was lost, and are not the same: "
                f"{error.differences}; give partitions that are the same each time"
            ) from None
        checksum = hashlib.sha256(estimator.model_.to_json().encode()).hexdigest()
        return Fitted(checksum, estimator if group.rank == 0 else None)


class DaskRanker(ClassifierMixin, BaseEstimator):
    """Fits an estimator to a table that is spread over the workers of a Dask cluster.

    Every worker runs the learner on the partitions that it holds, and the workers add up whole
    numbers: the model is the same, bit for bit, as that of ``fit`` on the whole table in memory,
    for any number of workers and any partitions. What the workers send each other in a round does
    not depend on the number of rows.

    Parameters
    ----------
    estimator : estimator
        A `RankBoost`, `SoftRankBoost`, `AUCBoost` or `MartiRank` (with features or stumps),
        `TreeRank`, `SmoothAUCBoost`, `SmoothAUCBoostCV` or `SmoothTreeBoost`, whose ``init`` is no
        model and whose ``cv`` is a number. Other estimators are refused. With ``n_jobs=None`` each
        worker uses as many threads as it has for tasks; models do not depend on it.
    client : distributed.Client, optional
        The client of the cluster; by default the one that was made last.
    max_restarts : int, default=3
        How often a fit goes on without a worker that is lost.
    timeout : float, default=600
        Seconds that workers wait for the slowest of them at each step. After that, the fit stops
        with an error that names the worker.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, the same as ``to_local()`` returns. Its fitted attributes, such as
        ``model_``, ``certificate_`` and ``classes_``, are attributes of this object, too.
    n_bytes_ : int
        Bytes that a worker sent to others, about.
    round_bytes_ : ndarray of int
        The part of them that was sent in each round but the last.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> from distributed import Client
    >>> from auctor import RankBoost
    >>> from auctor.dask import DaskRanker
    >>> table = pd.DataFrame({"age": [20, 30, 40, 25, 50, 60], "default": [1, 1, 0, 1, 0, 0]})
    >>> loans = dd.from_pandas(table, npartitions=2)
    >>> with Client(processes=False, dashboard_address="127.0.0.1:0") as client:
    ...     ranker = DaskRanker(RankBoost(n_estimators=5), client).fit(loans, "default")
    ...     ranker.decision_function(loans[["age"]]).compute().tolist()
    [8.0, 8.0, -8.0, 8.0, -8.0, -8.0]
    """

    def __init__(
        self,
        estimator: Any,
        client: Client | None = None,
        *,
        max_restarts: int = 3,
        timeout: float = 600.0,
    ) -> None:
        self.estimator = estimator
        self.client = client
        self.max_restarts = max_restarts
        self.timeout = timeout

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted; the client cannot be copied and is shared."""
        parameters = self.get_params(deep=False) | {"estimator": clone(self.estimator)}
        return type(self)(**parameters)

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None
    ) -> Self:
        """Fit the estimator to the rows of all partitions.

        Parameters
        ----------
        X : dask.dataframe, dask.array or list of delayed
            The table. Delayed parts are (X, y) or (X, y, sample_weight), where X is any table that
            estimators take.
        y : dask series, dask array or str
            Labels of two values, in the same partitions as X; or the name of a column of X.
        sample_weight : dask series, dask array or str, optional
            The importance of each row, or the name of a column of X.
        checkpoint : str, Path or Checkpoint, default=None
            A folder on the machine of the client for the state of the fit, as in ``fit`` of the
            estimators. If the client is killed or all workers are lost, call ``fit`` again with the
            same rows: it goes on, on any workers and partitions.

        Returns
        -------
        self : DaskRanker
        """
        check_binned(self.estimator, DISTRIBUTED, "cannot be fitted on a cluster")
        given = read_checkpoint(checkpoint, self.estimator)
        timeout = check_positive(self.timeout, "timeout")
        max_restarts = check_whole(self.max_restarts, "max_restarts", minimum=0)
        client = default_client() if self.client is None else self.client
        if client.asynchronous:
            raise ValueError("client is asynchronous; give a client with asynchronous=False")
        parts = delayed_parts(X, y, sample_weight)
        work, kept = FitWork(_prepared(self.estimator), StatePlan(given)), KeptState(given)
        members = run_on_cluster(client, work, parts, max_restarts, timeout, kept)
        if len({member.result.checksum for member in members}) > 1:
            raise RuntimeError(
                "the workers of the fit have different models; give them the same version of "
                "auctor, or report this as an error of it"
            )
        local = members[0].result.estimator.set_params(**self.estimator.get_params(deep=False))
        self._set_fitted(local)
        self.n_bytes_ = members[-1].n_bytes
        self.round_bytes_ = np.diff(members[-1].bytes_before)
        kept.finish()
        return self

    def _set_fitted(self, local: Any) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in vars(local).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.estimator_ = local

    def to_local(self) -> Any:
        """The fitted estimator, which needs no cluster."""
        check_is_fitted(self)
        return self.estimator_

    def decision_function(self, X: Any) -> Any:
        """The score of each row, computed by partition when the result is computed.

        Parameters
        ----------
        X : dask.dataframe, dask.array, list of delayed tables, or a table in memory

        Returns
        -------
        dask series, dask array, list of delayed, or ndarray
            In the same partitions as X.
        """
        return self._by_partition(X, "decision_function", np.dtype(float))

    def predict(self, X: Any) -> Any:
        """The class of each row, in the same partitions as X; see ``decision_function``."""
        check_is_fitted(self)
        return self._by_partition(X, "predict", self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, in the order of ``classes_``; see ``decision_function``.

        For a dask.dataframe the result is one with a column for each class.
        """
        check_is_fitted(self)
        return self._by_partition(X, "predict_proba", np.dtype(float), list(self.classes_))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The exact AUC of all rows, which is not the mean over the partitions."""
        from auctor.dask.metrics import auc

        if isinstance(X, dd.DataFrame):
            y, sample_weight = (X[v] if isinstance(v, str) else v for v in (y, sample_weight))
        scores = self.decision_function(X)
        return auc(
            y, scores, sample_weight=sample_weight, pos_label=self.pos_label_, client=self.client
        )

    def _by_partition(
        self, X: Any, method: str, dtype: np.dtype[Any], columns: list[Any] | None = None
    ) -> Any:
        check_is_fitted(self)
        if isinstance(X, dd.DataFrame):
            meta: Any = (None, dtype) if columns is None else dict.fromkeys(columns, dtype)
            if columns is not None:
                meta = pd.DataFrame({name: np.empty(0, dtype) for name in columns})
            model = delayed(self.estimator_)
            return X.map_partitions(_frame, model, method, dtype, columns, meta=meta)
        if isinstance(X, da.Array):
            chunks = {"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (2,))}
            return X.rechunk({1: -1}).map_blocks(
                _rows, delayed(self.estimator_), method, dtype, columns, dtype=dtype, **chunks
            )
        if isinstance(X, list) and X and all(isinstance(part, Delayed) for part in X):
            model = delayed(self.estimator_)
            return [delayed(_rows)(part, model, method, dtype, columns) for part in X]
        return getattr(self.estimator_, method)(X)


def _rows(
    X: Any, estimator: Any, method: str, dtype: np.dtype[Any], columns: list[Any] | None
) -> npt.NDArray[Any]:
    """A method of the estimator on one partition, which may have no rows."""
    if len(X) == 0:
        return np.empty(0 if columns is None else (0, len(columns)), dtype=dtype)
    return np.asarray(getattr(estimator, method)(X))


def _frame(
    X: Any, estimator: Any, method: str, dtype: np.dtype[Any], columns: list[Any] | None
) -> Any:
    """The same as a series, or as a table with a column for each class."""
    values = _rows(X, estimator, method, dtype, columns)
    if columns is None:
        return pd.Series(values, index=X.index)
    return pd.DataFrame(values, index=X.index, columns=columns)


def _prepared(estimator: Any) -> Any:
    """A copy of the estimator in which nothing is left to chance on each worker."""
    copy = clone(estimator)
    copy._validate_params()
    if copy.get_params(deep=False).get("random_state", 0) is None:
        copy.set_params(random_state=int(np.random.SeedSequence().generate_state(1)[0] // 2))
    return copy
