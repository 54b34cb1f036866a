"""Early stopping on the AUC of held-out rows."""


class EarlyStopping:
    """Decides when to stop from the AUC of held-out rows after each round, and which was best.

    Parameters
    ----------
    n_iter_no_change : int
        Stop after this many rounds without an improvement.
    tol : float, default=0.0
        An AUC is an improvement if it exceeds the best one so far by more than this.

    Attributes
    ----------
    aucs : list of float
        The AUC after each round.
    best_round : int
        The number of rounds, from 1, after which the AUC was best; 0 before the first round.

    Examples
    --------
    >>> stopping = EarlyStopping(n_iter_no_change=2)
    >>> [stopping.stop_after(auc) for auc in (0.70, 0.75, 0.74, 0.75)]
    [False, False, False, True]
    >>> stopping.best_round
    2
    """

    def __init__(self, n_iter_no_change: int, tol: float = 0.0) -> None:
        self._n_iter_no_change, self._tol = n_iter_no_change, tol
        self.aucs: list[float] = []
        self.best_round = 0

    @property
    def is_at_best(self) -> bool:
        """Whether the last round is the best one so far."""
        return self.best_round == len(self.aucs)

    def stop_after(self, auc: float) -> bool:
        """Record the AUC after a round; returns whether to stop."""
        if not self.aucs or auc > self.aucs[self.best_round - 1] + self._tol:
            self.best_round = len(self.aucs) + 1
        self.aucs.append(auc)
        return len(self.aucs) - self.best_round >= self._n_iter_no_change
