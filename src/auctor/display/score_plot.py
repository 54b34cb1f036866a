"""Score plots: each term F_k of an additive score against its feature (Komori 2010, 3.4)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._checks import check_whole
from auctor._typing import Floats
from auctor.display.look import ShortRepr
from auctor.display.score_drawing import Drawing
from auctor.display.score_panels import LabelledTerms, Panel, score_panel, surface_panel
from auctor.display.terms import additive_model, check_central, read_terms
from auctor.estimators.bands import estimator_bands, why_no_bands
from auctor.learners.smooth.bands import METHODS, ScoreBands
from auctor.models import AdditiveModel
from auctor.models.importance import by_importance


@dataclass(eq=False, repr=False)
class ScorePlotDisplay(ShortRepr):
    """Score plots of an additive model: the contribution F_k of each feature to the score.

    The most important feature comes first: the one whose contribution differs most between rows, as
    on the page of a report and in ``auctor fit``.

    Attributes
    ----------
    panels : list of ScorePanel and SurfacePanel
        One panel per drawn feature or surface.
    level : float
        Confidence level of the bands.
    n_resamples : int
        Number of bootstrap samples of the bands; 0 without bands.
    is_centred : bool
        Whether 0 is the class-balanced mean of F_k over the rows. Without rows, 0 is the smallest
        value of F_k, as in Figure 5 of Komori (2010).
    left_out : list of ScorePanel and SurfacePanel
        Panels that are not drawn: flat ones, and those beyond ``max_panels``. Empty if
        ``features`` was given.
    classes : (negative label, positive label)
        The labels of the two classes.
    figure_, ax_, axes_
        Set by :meth:`plot`; ``axes_`` has one Axes per panel.

    Examples
    --------
    >>> from auctor import SmoothAUCBoost
    >>> from auctor.display import ScorePlotDisplay
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> ranker = SmoothAUCBoost().fit(X, y)
    >>> display = ScorePlotDisplay.from_model(ranker.model_, X, y)
    >>> [panel.name for panel in display.panels]
    ['x2', 'x1', 'x0']
    """

    panels: list[Panel]
    level: float
    n_resamples: int
    is_centred: bool
    left_out: list[Panel]
    classes: tuple[Any, Any]

    @property
    def n_left_out(self) -> int:
        """Number of features and surfaces that are not drawn."""
        return len(self.left_out)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        features: Any = None,
        band: str | None = "auto",
        n_resamples: int = 100,
        level: float = 0.95,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        central: float = 0.99,
        max_panels: int = 12,
        ax: Any = None,
    ) -> Self:
        """Compute the score plots of a fitted estimator, and draw them.

        Parameters
        ----------
        estimator : fitted estimator or AdditiveModel
            An estimator with an additive model, or a model that :func:`auctor.load` returned. Only
            a fitted SmoothAUCBoost or SmoothAUCBoostCV has bands.
        X, y, sample_weight
            The training rows, since bands come from resampling them. Without bands, any labelled
            rows.
        features : list of names or positions, optional
            The terms to draw, in this order: features, and surfaces as "a x b" (their positions
            follow those of the features). By default all terms that are not flat, the most
            important first.
        band : {"auto", "one-step", "refit"} or None, default="auto"
            Bootstrap confidence bands by one Newton step from the fitted model for each resample,
            by a whole refit for each, which takes many times as long, or none. They show how much
            a curve varies with the rows, not the bias of the penalty, which flattens it. "auto" is
            one step if the estimator has bands, and none otherwise: a loaded model, for example,
            does not know the settings of its fit.
        n_resamples : int, default=100
            Number of bootstrap samples.
        level : float, default=0.95
            Confidence level of the bands.
        random_state : int or None, default=0
            Seed of the bootstrap. Results are reproducible by default; None gives new random
            numbers in every call.
        n_jobs : int or None, default=None
            Number of threads.
        central : float, default=0.99
            Fraction of the values of a numeric feature that the x axis covers; 1 for all.
        max_panels : int, default=12
            Maximum number of panels, if ``features`` is not given.
        ax : matplotlib Axes, or one Axes per panel, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ScorePlotDisplay

        Examples
        --------
        >>> from auctor.display import ScorePlotDisplay
        >>> from auctor import SmoothAUCBoost
        >>> from auctor.datasets import load_kyphosis
        >>> sample = load_kyphosis()
        >>> ranker = SmoothAUCBoost().fit(sample.X, sample.y)
        >>> display = ScorePlotDisplay.from_estimator(ranker, sample.X, sample.y, band=None)
        >>> [panel.name for panel in display.panels]
        ['x2', 'x1', 'x0']
        """
        if band not in ("auto", *METHODS, None):
            raise ValueError(f"band is {band!r}; give 'auto', 'one-step', 'refit' or None")
        if band == "auto":
            band = None if why_no_bands(estimator) else METHODS[0]
        model, bands = additive_model(estimator), None
        chosen = _Choice(model, features, central, max_panels)
        if band is not None:
            bands = estimator_bands(
                estimator,
                X,
                y,
                sample_weight,
                method=band,
                features=[term for term in chosen.terms if term < len(model.features)],
                n_resamples=n_resamples,
                level=level,
                random_state=random_state,
                n_jobs=n_jobs,
            )
        return cls._build(model, X, y, sample_weight, bands, chosen).plot(ax=ax)

    @classmethod
    def from_model(
        cls,
        model: AdditiveModel,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        features: Any = None,
        central: float = 0.99,
        max_panels: int = 12,
    ) -> Self:
        """Compute the score plots of an additive model, without bands; :meth:`plot` draws them.

        Parameters
        ----------
        model : AdditiveModel
            A fitted model.
        X, y, sample_weight : optional
            Labelled rows. Without rows, the term with the largest range comes first.
        features, central, max_panels
            As in :meth:`from_estimator`.

        Returns
        -------
        ScorePlotDisplay
        """
        chosen = _Choice(additive_model(model), features, central, max_panels)
        return cls._build(chosen.model, X, y, sample_weight, None, chosen)

    @classmethod
    def _build(
        cls,
        model: AdditiveModel,
        X: Any,
        y: Any,
        sample_weight: Any,
        bands: ScoreBands | None,
        choice: "_Choice",
    ) -> Self:
        if (X is None) != (y is None):
            raise ValueError("only one of X and y is given; give both or neither")
        if X is None and sample_weight is not None:
            raise ValueError("sample_weight is given without X and y; give them as well")
        rows = None if X is None else LabelledTerms(model, X, y, sample_weight)
        panels: list[Panel] = []
        n_features = len(model.features)
        for term in choice.terms:
            if term < n_features:
                band = None if bands is None else bands[model.features[term].name]
                panels.append(score_panel(model, term, rows, band, choice.central))
            else:
                panels.append(surface_panel(model, term - n_features, rows))
        kept = choice.keep(panels, None if rows is None else rows.importances(model))
        return cls(
            kept,
            0.95 if bands is None else bands.level,
            0 if bands is None else bands.n_resamples,
            rows is not None,
            [panel for panel in panels if panel not in kept],
            model.classes,
        )

    def plot(self, ax: Any = None, *, n_columns: int = 3, share_y: bool = True) -> Self:
        """Draw the panels.

        The dark band is pointwise, the light one is simultaneous over all values of the feature.
        The strip below a curve shows the rows, with those of the positive class on top.

        Parameters
        ----------
        ax : matplotlib Axes, or one Axes per panel, optional
            The axes to draw on. By default a new figure.
        n_columns : int, default=3
            Maximum number of panels side by side.
        share_y : bool, default=True
            Whether all F_k have the same y axis, so that their heights can be compared, and all
            surfaces the same colour scale.

        Returns
        -------
        ScorePlotDisplay
        """
        drawing = Drawing(self, check_whole(n_columns, "n_columns"), share_y)
        self.figure_, self.ax_, self.axes_ = drawing.draw(ax)
        return self


class _Choice:
    """The terms to draw, and the part of the x axis."""

    def __init__(self, model: AdditiveModel, features: Any, central: Any, max_panels: Any) -> None:
        self.model, self._is_explicit = model, features is not None
        names = model.term_names
        self.terms = read_terms(features, names) if self._is_explicit else list(range(len(names)))
        self.central = check_central(central)
        self._max_panels = check_whole(max_panels, "max_panels")

    def keep(self, panels: list[Panel], importances: Floats | None) -> list[Panel]:
        """The requested panels, or the first ones that are not flat, up to the maximum number.

        The most important panel comes first; without rows, the one with the largest range.
        """
        if self._is_explicit:
            return panels
        if importances is None:
            importances = np.array([panel.range for panel in panels])
        panels = [panels[k] for k in by_importance(importances)]
        return [panel for panel in panels if not panel.is_flat][: self._max_panels] or panels[:1]
