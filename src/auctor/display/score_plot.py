"""Score plots: each F_k of an additive score against its feature (paper 003, section 3.4)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor.display.score_drawing import Drawing
from auctor.display.score_panels import LabelledTerms, Panel, score_panel, surface_panel
from auctor.display.terms import additive_model, check_count, check_share, read_terms
from auctor.estimators.bands import refit_bands
from auctor.learners.smooth.bands import ScoreBands
from auctor.models import AdditiveModel


@dataclass(eq=False)
class ScorePlotDisplay:
    """Score plots of an additive model, the feature with the highest score AUC first.

    Attributes
    ----------
    panels : list of ScorePanel and SurfacePanel
    level : float
        Of the bands.
    n_resamples : int
        Bootstrap refits behind the bands; 0 without bands.
    is_centred : bool
        Whether 0 is the mean of F_k over the rows, both classes alike. Without rows it is the
        least value of F_k, as in the paper's Figure 5.
    left_out : list of ScorePanel and SurfacePanel
        Not drawn: flat ones, and those beyond ``max_panels``. Empty where ``features`` says what
        to draw.
    classes : (negative label, positive label)
    figure_, ax_, axes_
        Set by :meth:`plot`; ``axes_`` has one for each panel.
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
        band: str | None = "bootstrap",
        n_resamples: int = 100,
        level: float = 0.95,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        central: float = 0.99,
        max_panels: int = 12,
        ax: Any = None,
    ) -> Self:
        """Score plots of a fitted estimator, drawn at once.

        Parameters
        ----------
        estimator : fitted SmoothAUCBoost
            Others whose model is additive can be drawn without bands.
        X, y, sample_weight
            The rows that it was fitted on, for bands come from refits; any rows without bands.
        features : list of names or positions, optional
            What to draw, in this order: features, and surfaces as "a x b" (positions count on
            after the features). By default all that is not flat, the highest AUC first.
        band : "bootstrap" or None
        n_resamples, level, random_state, n_jobs
            Refits, confidence level, seed and threads of the bands.
        central : float, default=0.99
            Share of a number's values that the x axis covers; 1 for all of them.
        max_panels : int, default=12
            Most panels, unless ``features`` names them.
        ax : Axes, or one Axes per panel, optional

        Examples
        --------
        >>> from auctor import SmoothAUCBoost
        >>> from auctor.datasets import load_kyphosis
        >>> sample = load_kyphosis()
        >>> ranker = SmoothAUCBoost().fit(sample.X, sample.y)
        >>> display = ScorePlotDisplay.from_estimator(ranker, sample.X, sample.y, band=None)
        >>> [panel.name for panel in display.panels]
        ['x2', 'x1', 'x0']
        """
        if band not in ("bootstrap", None):
            raise ValueError(f"band is {band!r}; give 'bootstrap' or None")
        model, bands = additive_model(estimator), None
        chosen = _Choice(model, features, central, max_panels)
        if band is not None:
            told = {"n_resamples": n_resamples, "level": level, "random_state": random_state}
            bands = refit_bands(estimator, X, y, sample_weight, n_jobs, told)
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
        """Score plots of an additive model, without bands; ``plot`` draws them.

        Without labelled rows the widest F_k comes first.
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
            raise ValueError("give both X and y, or neither")
        if X is None and sample_weight is not None:
            raise ValueError("sample_weight is given without rows; give X and y as well")
        rows = None if X is None else LabelledTerms(model, X, y, sample_weight)
        panels: list[Panel] = []
        n_features = len(model.features)
        for term in choice.terms:
            if term < n_features:
                band = None if bands is None else bands[term]
                panels.append(score_panel(model, term, rows, band, choice.central))
            else:
                panels.append(surface_panel(model, term - n_features, rows))
        kept = choice.keep(panels)
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

        The dark band is pointwise, the light one simultaneous over all values of the feature.
        Below are the rows, those of the positive class on top. With ``share_y`` all F_k have the
        same y axis, so that their heights can be compared, and all surfaces the same colours.
        """
        drawing = Drawing(self, check_count(n_columns, "n_columns"), share_y)
        self.figure_, self.ax_, self.axes_ = drawing.draw(ax)
        return self


class _Choice:
    """Which terms to draw, and how much of them."""

    def __init__(self, model: AdditiveModel, features: Any, central: Any, max_panels: Any) -> None:
        self.model, self._is_told = model, features is not None
        names = model.term_names
        self.terms = read_terms(features, names) if self._is_told else list(range(len(names)))
        self.central = check_share(central, "central")
        self._max_panels = check_count(max_panels, "max_panels")

    def keep(self, panels: list[Panel]) -> list[Panel]:
        """As asked for; or the best first, without those that are flat, and up to the most."""
        if self._is_told:
            return panels
        by_auc = not np.isnan(panels[0].auc)
        panels = sorted(panels, key=lambda panel: -(panel.auc if by_auc else panel.range))
        return [panel for panel in panels if not panel.is_flat][: self._max_panels] or panels[:1]
