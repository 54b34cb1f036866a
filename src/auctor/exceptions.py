"""The errors and warnings that auctor defines; other errors are built-in, such as ValueError."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auctor.models.base import Model

__all__ = [
    "CheckpointWarning",
    "ExactBoostWarning",
    "MarginWarning",
    "OracleError",
    "SmoothWarning",
]


class MarginWarning(UserWarning):
    """MarginRanker reached no margin, raised epsilon to reach one, or ended before the optimum.

    Examples
    --------
    As any warning it can be turned into an error, or left out:

    >>> import warnings
    >>> from auctor import MarginRanker
    >>> from auctor.exceptions import MarginWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", MarginWarning)
    ...     MarginRanker(epsilon=0.1).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    Traceback (most recent call last):
    ...
    auctor.exceptions.MarginWarning: no weights have a positive soft margin, ...; give a larger
    epsilon (or nu), or relax=True
    """


class SmoothWarning(UserWarning):
    """SmoothAUCBoost has no maximum to reach: some feature separates the classes completely.

    Examples
    --------
    >>> import warnings
    >>> from auctor import SmoothAUCBoost
    >>> from auctor.exceptions import SmoothWarning
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always", SmoothWarning)
    ...     ranker = SmoothAUCBoost(penalty=0, shrinkage=0)
    ...     _ = ranker.fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> print(shown[0].message)
    the smoothed AUC has no maximum: the classes are separated and shrinkage is 0; the scores are
    finite, but their size depends on where the solver stopped; set shrinkage > 0
    """


class ExactBoostWarning(UserWarning):
    """ExactBoost was interrupted and keeps the runs that were finished.

    It is shown after Ctrl-C with ``keep_interrupted=True``. In a script that must not go on with
    fewer runs it can be turned into an error:

    Examples
    --------
    >>> import warnings
    >>> from auctor.exceptions import ExactBoostWarning
    >>> warnings.simplefilter("error", ExactBoostWarning)
    """


class CheckpointWarning(UserWarning):
    """The state of a fit could not be written to its checkpoint; the fit goes on.

    Examples
    --------
    Where a fit without a checkpoint is of no use, the warning can be turned into an error:

    >>> import warnings
    >>> from auctor.exceptions import CheckpointWarning
    >>> warnings.simplefilter("error", CheckpointWarning)
    """


class OracleError(ValueError):
    """SamplingMartiRank could not go on with its oracle; what it had learned is kept.

    Attributes
    ----------
    n_draws : int
        Number of draws before the failure.
    model : Model or None
        The program of the layers that were finished; None if there are none.
    history, certificate
        The history and the certificate of that program.

    Examples
    --------
    A stream that ends after two calls:

    >>> from auctor import SamplingMartiRank
    >>> from auctor.datasets import make_r_of_k
    >>> from auctor.exceptions import OracleError
    >>> left = [1, 2]
    >>> def draw(n, rng):
    ...     left.pop()
    ...     return make_r_of_k(n, n_features=20, k=9, r=5, noise=0.2, random_state=rng)
    >>> try:
    ...     SamplingMartiRank(n_layers=8, max_draws=3000, noise_rate=0.2).fit_oracle(draw)
    ... except OracleError as error:
    ...     print(f"{error.n_draws:,} draws;", str(error.model).partition(",")[0])
    6,000 draws; ProgramModel: branching program of 2 layers and 3 nodes
    """

    def __init__(
        self,
        message: str,
        n_draws: int = 0,
        model: "Model | None" = None,
        history: Any = None,
        certificate: Any = None,
    ) -> None:
        super().__init__(message)
        self.n_draws = n_draws
        self.model = model
        self.history = history
        self.certificate = certificate
