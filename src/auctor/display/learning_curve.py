"""Cross-validated AUC of each pair of penalties (Komori 2010, section 3.3 and Figure 2)."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from auctor._checks import check_choice
from auctor._text import count
from auctor._typing import Bools, Floats, Indices, Ints
from auctor.display.look import ShortRepr

Against = Literal["penalty", "shrinkage", "rounds"]

_NEEDED = ("penalty", "shrinkage", "mean_auc", "aucs")
_SURFACES = "#c2410c"


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(ShortRepr):
    """Mean AUC over the folds, with one standard error, for each candidate of SmoothAUCBoostCV.

    A candidate is a pair of penalty and shrinkage, with a maximum number of interactions.

    Attributes
    ----------
    penalty, shrinkage : ndarray of shape (n_candidates,)
        The values of each candidate.
    interactions : ndarray of shape (n_candidates,)
        Maximum number of surfaces of each candidate.
    mean_auc, standard_error : ndarray of shape (n_candidates,)
        Mean AUC over the folds and its standard error.
    rounds : ndarray of shape (n_rounds,) or None
        Numbers of rounds T; None unless the solver is stagewise.
    staged_mean, staged_error : ndarray of shape (n_candidates, n_rounds) or None
        Mean AUC and standard error after each number of rounds.
    best_penalty, best_shrinkage : float
        The chosen penalty and shrinkage.
    best_interactions : int
        The chosen number of interactions.
    best_rounds : int or None
        The chosen number of rounds; None unless the solver is stagewise.
    n_folds : int
        Number of folds.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor import SmoothAUCBoostCV
    >>> from auctor.display import LearningCurveDisplay
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> ranker = SmoothAUCBoostCV(interactions=0).fit(X, y)
    >>> display = LearningCurveDisplay.from_estimator(ranker)
    >>> display.n_folds, display.mean_auc.round(2).tolist()[:3]
    (5, [0.86, 0.86, 0.85])
    """

    penalty: Floats
    shrinkage: Floats
    interactions: Ints
    mean_auc: Floats
    standard_error: Floats
    rounds: Floats | None
    staged_mean: Floats | None
    staged_error: Floats | None
    best_penalty: float
    best_shrinkage: float
    best_interactions: int
    best_rounds: int | None
    n_folds: int

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        against: Against | None = None,
        ax: Any = None,
    ) -> Self:
        """Read the curves of a fitted SmoothAUCBoostCV, and draw them.

        Parameters
        ----------
        estimator : fitted SmoothAUCBoostCV
            The estimator to draw.
        X, y, sample_weight
            Not used: the folds were scored during the fit. They are accepted because most other
            displays need them.
        against, ax
            As in :meth:`plot`.

        Returns
        -------
        LearningCurveDisplay
        """
        results = _results(estimator)
        penalty, shrinkage, mean, aucs = (
            np.asarray(results[name], dtype=np.float64) for name in _NEEDED
        )
        staged = results.get("staged_auc")
        rounds = staged_mean = staged_error = best_rounds = None
        if staged is not None:
            by_fold = np.asarray(staged, dtype=np.float64)
            rounds = np.asarray(results["rounds"], dtype=np.float64)
            staged_mean, staged_error = by_fold.mean(axis=1), _standard_error(by_fold)
            best_rounds = int(estimator.n_estimators_)
        display = cls(
            penalty,
            shrinkage,
            np.asarray(results.get("interactions", np.zeros(len(penalty))), dtype=np.int64),
            mean,
            _standard_error(aucs),
            rounds,
            staged_mean,
            staged_error,
            float(estimator.penalty_),
            float(estimator.shrinkage_),
            int(getattr(estimator, "interactions_", 0)),
            best_rounds,
            aucs.shape[1],
        )
        return display.plot(ax=ax, against=against)

    def plot(self, ax: Any = None, *, against: Against | None = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.
        against : {"rounds", "penalty", "shrinkage"}, optional
            The x axis: number of rounds (with a curve for each penalty), penalty (with a curve for
            each shrinkage) or shrinkage (with a curve for each penalty). By default the rounds of
            the stagewise solver, or the penalty of the Newton solver.

        Returns
        -------
        LearningCurveDisplay
        """
        import matplotlib.pyplot as plt

        if against is None:
            against = "penalty" if self.rounds is None else "rounds"
        check_choice(against, ("penalty", "shrinkage", "rounds"), "against")
        if against == "rounds" and self.rounds is None:
            raise ValueError(
                "against is 'rounds', but the Newton solver has no rounds; give 'penalty' or "
                "'shrinkage'"
            )
        is_own = ax is None
        if is_own:
            _, ax = plt.subplots(figsize=(7.6, 4.4), layout="constrained")
        if against == "rounds":
            self._draw_rounds(ax)
        else:
            self._draw_amounts(ax, against)
        ax.set_ylabel(f"AUC, mean of {self.n_folds} folds")
        ax.spines[["top", "right"]].set_visible(False)
        self._draw_legend(ax, "shaded" if against == "rounds" else "bars", is_own)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_legend(self, ax: Any, shown: str, is_own: bool) -> None:
        """Put the legend beside the axes of a new figure, or inside given axes."""
        title = f"{shown}: one standard error" if self.n_folds > 1 else None
        if is_own:
            look = {"frameon": False, "fontsize": 8.5, "loc": "center left"}
            look["bbox_to_anchor"] = (1.01, 0.5)
        else:
            look = {"framealpha": 0.85, "edgecolor": "none", "fontsize": 7, "loc": "best"}
        ax.legend(title=title, title_fontsize=8 if is_own else 7, **look)

    @property
    def _is_best(self) -> Bools:
        """Which candidate was chosen."""
        same = np.isclose(self.penalty, self.best_penalty, rtol=1e-9, atol=0.0)
        same &= np.isclose(self.shrinkage, self.best_shrinkage, rtol=1e-9, atol=0.0)
        # An explicit number of interactions is used in the final fit only, not in the folds.
        paired = same & (self.interactions == self.best_interactions)
        return paired if paired.any() else same

    def _draw_rounds(self, ax: Any) -> None:
        """Draw a curve per candidate; the chosen one is thicker and has its standard error."""
        assert self.rounds is not None
        assert self.staged_mean is not None and self.staged_error is not None
        order = np.lexsort([self.shrinkage, self.penalty]).tolist()
        several = len(np.unique(self.shrinkage)) > 1
        for k, colour in zip(order, _colours(len(order)), strict=True):
            label = rf"$\lambda$ = {self.penalty[k]:.3g}"
            label += f", shrinkage {self.shrinkage[k]:.3g}" if several else ""
            mean, error, best = self.staged_mean[k], self.staged_error[k], self._is_best[k]
            if best:
                ax.fill_between(
                    self.rounds, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0
                )
            ax.plot(
                self.rounds, mean, color=colour, linewidth=2.4 if best else 1.2,
                label=label + (", chosen" if best else ""),
            )  # fmt: skip
            if best:
                self._star(ax, self.rounds, mean, self.rounds == self.best_rounds)
        ax.set_xlabel("rounds T")

    def _star(self, ax: Any, x: Floats, y: Floats, which: Bools) -> None:
        """Mark the chosen candidate."""
        label = "chosen" if self.best_rounds is None else f"chosen: T = {self.best_rounds}"
        if which.any():
            ax.plot(
                x[which][:1], y[which][:1], "*", color="black", markersize=13, zorder=4,
                linestyle="none", label=label,
            )  # fmt: skip

    def _draw_amounts(self, ax: Any, against: str) -> None:
        """Draw a curve for each value of the other parameter that has two or more points."""
        x, other, word, own = (
            (self.penalty, self.shrinkage, "shrinkage", r"penalty $\lambda$")
            if against == "penalty"
            else (self.shrinkage, self.penalty, r"$\lambda$", "shrinkage")
        )
        shown, zero = _on_log_axis(x)
        plain = np.flatnonzero(self.interactions == 0)
        groups = [plain[other[plain] == value] for value in np.unique(other[plain])]
        curves = [group for group in groups if len(np.unique(x[group])) > 1]
        for group, colour in zip(curves, _colours(len(curves)), strict=True):
            # Candidates are in the order of the search, which starts at the automatic values.
            chosen = group[np.argsort(x[group], kind="stable")]
            label = f"{word} {other[group[0]]:.3g}"
            self._draw_points(ax, shown, chosen, label, fmt="o-", linewidth=1.3, color=colour)
        single = np.setdiff1d(plain, np.concatenate([*curves, plain[:0]]))
        if len(single):
            label = f"other {word}" if curves else "candidates"
            self._draw_points(ax, shown, single, label, fmt="x", color="0.6")
        for most in np.unique(self.interactions[self.interactions > 0]).tolist():
            label = f"with {count(most, 'surface')}"
            which = np.flatnonzero(self.interactions == most)
            self._draw_points(ax, shown, which, label, fmt="D", color=_SURFACES)
        self._star(ax, shown, self.mean_auc, self._is_best)
        ax.set_xscale("log")
        ax.set_xlabel(own)
        if zero is not None:
            ax.axvline(zero, color="0.85", linewidth=0.8, zorder=0)
            ax.text(zero, 1.01, "0", transform=ax.get_xaxis_transform(), ha="center", fontsize=8)

    def _draw_points(self, ax: Any, x: Floats, which: Indices, label: str, **look: Any) -> None:
        """Draw candidates with their standard errors."""
        error = self.standard_error[which] if self.n_folds > 1 else None
        ax.errorbar(
            x[which], self.mean_auc[which], error, label=label, markersize=4.5, capsize=3,
            elinewidth=0.9, **look,
        )  # fmt: skip


def _results(estimator: Any) -> dict[str, Any]:
    """The cross-validation results of a fitted estimator, with at least one candidate and fold."""
    results = getattr(estimator, "cv_results_", None)
    name = type(estimator).__name__
    if not isinstance(results, dict) or any(needed not in results for needed in _NEEDED):
        raise ValueError(
            f"{name} has no results of cross-validation; give a fitted SmoothAUCBoostCV"
        )
    if np.size(results["aucs"]) == 0:
        raise ValueError(
            f"cv_results_ of {name} is empty, because a class has only one row; give an estimator "
            "that was fitted with at least two rows of each class"
        )
    return results


def _standard_error(by_fold: Floats) -> Floats:
    """Standard error of the mean over axis 1; 0 if there is only one fold."""
    n = by_fold.shape[1]
    return by_fold.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros_like(by_fold[:, 0])


def _colours(n: int) -> list[Any]:
    """Colours from light to dark for increasing values; a dark one if there is only one."""
    import matplotlib.pyplot as plt

    shades = np.linspace(0.85, 0.1, n) if n != 1 else np.array([0.25])
    return [plt.get_cmap("viridis")(shade) for shade in shades]


def _on_log_axis(values: Floats) -> tuple[Floats, float | None]:
    """Values on a log axis, with 0 drawn half a decade to the left of all others."""
    positive = values > 0
    if positive.all():
        return values, None
    zero = float(values[positive].min()) / 10**0.5 if positive.any() else 1.0
    return np.where(positive, values, zero), zero
