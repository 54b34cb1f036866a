"""What cross-validation said of each candidate (paper 003, section 3.3 and Figure 2)."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from auctor._typing import Bools, Floats, Indices, Ints

Against = Literal["penalty", "shrinkage", "rounds"]

_NEEDED = ("penalty", "shrinkage", "mean_auc", "aucs")
_SURFACES = "#c2410c"


@dataclass(eq=False)
class LearningCurveDisplay:
    """Mean AUC over the folds, with one standard error, for each pair of penalties tried.

    Attributes
    ----------
    penalty, shrinkage : ndarray of shape (n_candidates,)
    interactions : ndarray of shape (n_candidates,)
        Most surfaces of the candidate; 0 for those that are joined by lines.
    mean_auc, standard_error : ndarray of shape (n_candidates,)
        Over the folds.
    rounds : ndarray of shape (n_rounds,) or None
        Values of T where the solver is stagewise.
    staged_mean, staged_error : ndarray of shape (n_candidates, n_rounds) or None
    best_penalty, best_shrinkage : float
        The amounts that were chosen.
    best_interactions : int
    best_rounds : int or None
        The T that was chosen where the solver is stagewise.
    n_folds : int
    figure_, ax_
        Set by :meth:`plot`.
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
        cls, cv_estimator: Any, *, against: Against | None = None, ax: Any = None
    ) -> Self:
        """The curves of a fitted SmoothAUCBoostCV, drawn at once; ``against`` as in ``plot``."""
        results = _results(cv_estimator)
        penalty, shrinkage, mean, aucs = (
            np.asarray(results[name], dtype=np.float64) for name in _NEEDED
        )
        staged = results.get("staged_auc")
        rounds = staged_mean = staged_error = best_rounds = None
        if staged is not None:
            by_fold = np.asarray(staged, dtype=np.float64)
            rounds = np.asarray(results["rounds"], dtype=np.float64)
            staged_mean, staged_error = by_fold.mean(axis=1), _standard_error(by_fold)
            best_rounds = int(cv_estimator.n_estimators_)
        found = cls(
            penalty,
            shrinkage,
            np.asarray(results.get("interactions", np.zeros(len(penalty))), dtype=np.int64),
            mean,
            _standard_error(aucs),
            rounds,
            staged_mean,
            staged_error,
            float(cv_estimator.penalty_),
            float(cv_estimator.shrinkage_),
            int(getattr(cv_estimator, "interactions_", 0)),
            best_rounds,
            aucs.shape[1],
        )
        return found.plot(ax=ax, against=against)

    def plot(self, ax: Any = None, *, against: Against | None = None) -> Self:
        """Draw the curves.

        ``against`` is "rounds" (T, a line for each penalty), "penalty" (a line for each shrinkage)
        or "shrinkage" (a line for each penalty); by default the rounds of the stagewise solver,
        the penalty of the other.
        """
        import matplotlib.pyplot as plt

        if against is None:
            against = "penalty" if self.rounds is None else "rounds"
        if against not in ("penalty", "shrinkage", "rounds"):
            raise ValueError(f"against is {against!r}; give 'penalty', 'shrinkage' or 'rounds'")
        if against == "rounds" and self.rounds is None:
            raise ValueError("against is 'rounds', but the newton solver has none")
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
        """Beside the curves of a figure of our own; among those of somebody else's axes."""
        title = f"{shown}: one standard error" if self.n_folds > 1 else None
        if is_own:
            look = {"frameon": False, "fontsize": 8.5, "loc": "center left"}
            look["bbox_to_anchor"] = (1.01, 0.5)
        else:
            look = {"framealpha": 0.85, "edgecolor": "none", "fontsize": 7, "loc": "best"}
        ax.legend(title=title, title_fontsize=8 if is_own else 7, **look)

    @property
    def _is_best(self) -> Bools:
        """The candidate that was chosen."""
        same = np.isclose(self.penalty, self.best_penalty, rtol=1e-9, atol=0.0)
        same &= np.isclose(self.shrinkage, self.best_shrinkage, rtol=1e-9, atol=0.0)
        # A number of surfaces that somebody asked for is in the last fit only, and in no fold.
        paired = same & (self.interactions == self.best_interactions)
        return paired if paired.any() else same

    def _draw_rounds(self, ax: Any) -> None:
        """One line per candidate, the chosen one thicker and with its standard error."""
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
        """A mark at what was chosen."""
        label = "chosen" if self.best_rounds is None else f"chosen: T = {self.best_rounds}"
        if which.any():
            ax.plot(
                x[which][:1], y[which][:1], "*", color="black", markersize=13, zorder=4,
                linestyle="none", label=label,
            )  # fmt: skip

    def _draw_amounts(self, ax: Any, against: str) -> None:
        """A line for each value of the other amount that goes with two or more of this one."""
        x, other, word, own = (
            (self.penalty, self.shrinkage, "shrinkage", r"penalty $\lambda$")
            if against == "penalty"
            else (self.shrinkage, self.penalty, r"$\lambda$", "shrinkage")
        )
        places, zero = _log_places(x)
        plain = np.flatnonzero(self.interactions == 0)
        groups = [plain[other[plain] == value] for value in np.unique(other[plain])]
        lines = [group for group in groups if len(np.unique(x[group])) > 1]
        for group, colour in zip(lines, _colours(len(lines)), strict=True):
            # Candidates are in the order tried, from the automatic amounts outward.
            chosen = group[np.argsort(x[group], kind="stable")]
            label = f"{word} {other[group[0]]:.3g}"
            self._draw_points(ax, places, chosen, label, fmt="o-", linewidth=1.3, color=colour)
        single = np.setdiff1d(plain, np.concatenate([*lines, plain[:0]]))
        if len(single):
            label = f"other {word}" if lines else "candidates"
            self._draw_points(ax, places, single, label, fmt="x", color="0.6")
        for most in np.unique(self.interactions[self.interactions > 0]).tolist():
            label = f"with {most} surface{'s' if most > 1 else ''}"
            which = np.flatnonzero(self.interactions == most)
            self._draw_points(ax, places, which, label, fmt="D", color=_SURFACES)
        self._star(ax, places, self.mean_auc, self._is_best)
        ax.set_xscale("log")
        ax.set_xlabel(own)
        if zero is not None:
            ax.axvline(zero, color="0.85", linewidth=0.8, zorder=0)
            ax.text(zero, 1.01, "0", transform=ax.get_xaxis_transform(), ha="center", fontsize=8)

    def _draw_points(
        self, ax: Any, places: Floats, which: Indices, label: str, **look: Any
    ) -> None:
        """Candidates with their standard errors."""
        error = self.standard_error[which] if self.n_folds > 1 else None
        ax.errorbar(
            places[which], self.mean_auc[which], error, label=label, markersize=4.5, capsize=3,
            elinewidth=0.9, **look,
        )  # fmt: skip


def _results(cv_estimator: Any) -> dict[str, Any]:
    """What cross-validation left in the estimator; there must be a candidate and a fold."""
    results = getattr(cv_estimator, "cv_results_", None)
    name = type(cv_estimator).__name__
    if not isinstance(results, dict) or any(needed not in results for needed in _NEEDED):
        raise ValueError(
            f"{name} holds no results of cross-validation; give a fitted SmoothAUCBoostCV"
        )
    if np.size(results["aucs"]) == 0:
        raise ValueError(
            f"{name} was fitted without folds, for a class has one row: cv_results_ is empty, and "
            "there is nothing to draw"
        )
    return results


def _standard_error(by_fold: Floats) -> Floats:
    """Of the mean over axis 1; 0 where there is one fold."""
    n = by_fold.shape[1]
    return by_fold.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros_like(by_fold[:, 0])


def _colours(count: int) -> list[Any]:
    """From light to dark, for amounts from small to large; one dark one where there is one."""
    import matplotlib.pyplot as plt

    shades = np.linspace(0.85, 0.1, count) if count != 1 else np.array([0.25])
    return [plt.get_cmap("viridis")(shade) for shade in shades]


def _log_places(amounts: Floats) -> tuple[Floats, float | None]:
    """Where amounts stand on a log scale; those of 0 half a decade to the left of all others."""
    positive = amounts > 0
    if positive.all():
        return amounts, None
    zero = float(amounts[positive].min()) / 10**0.5 if positive.any() else 1.0
    return np.where(positive, amounts, zero), zero
