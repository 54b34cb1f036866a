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
    """SmoothAUCBoost has no maximum to reach: some feature separates the classes completely."""


class ExactBoostWarning(UserWarning):
    """ExactBoost was interrupted and keeps the runs that were finished."""


class CheckpointWarning(UserWarning):
    """The state of a fit could not be written to its checkpoint; the fit goes on."""


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
