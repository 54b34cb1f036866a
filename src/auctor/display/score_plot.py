"""Score plots: each F_k of an additive score against its feature (paper 003, section 3.4)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor.data import prepare
from auctor.display.score_drawing import Drawing
from auctor.display.score_panels import (
    LabelledTerms,
    Panel,
    additive_model,
    score_panel,
    surface_panel,
)
from auctor.learners.smooth_bands import ScoreBands, codes_in, score_bands
from auctor.models import AdditiveModel

# The refit on the given rows may differ from the estimator by this share of the scores' range.
_SAME = 0.05


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
    n_left_out : int
        Features that are not drawn: flat ones, and those beyond ``max_panels``.
    classes : (negative label, positive label)
    figure_, ax_, axes_
        Set by :meth:`plot`; ``axes_`` has one for each panel.
    """

    panels: list[Panel]
    level: float
    n_resamples: int
    is_centred: bool
    n_left_out: int
    classes: tuple[Any, Any]

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
        random_state: int = 0,
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
            What to draw; by default all features that are not flat, and all surfaces.
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
        if band is not None:
            told = {"n_resamples": n_resamples, "level": level}
            bands = _refit(estimator, X, y, sample_weight, random_state, n_jobs, told)
        chosen = _Choice(features, central, max_panels)
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
        if (X is None) != (y is None):
            raise ValueError("give both X and y, or neither")
        chosen = _Choice(features, central, max_panels)
        return cls._build(additive_model(model), X, y, sample_weight, None, chosen)

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
        rows = None if X is None else LabelledTerms(model, X, y, sample_weight)
        panels: list[Panel] = []
        for j in choice.positions(model):
            band = None if bands is None else bands[j]
            panels.append(score_panel(model, j, rows, band, choice.central))
        if choice.features is None:
            panels += [surface_panel(model, k, rows) for k in range(len(model.surfaces))]
        kept = choice.keep(panels)
        return cls(
            kept,
            0.95 if bands is None else bands.level,
            0 if bands is None else bands.n_resamples,
            rows is not None,
            len(panels) - len(kept),
            model.classes,
        )

    def plot(self, ax: Any = None, *, n_columns: int = 3, share_y: bool = True) -> Self:
        """Draw the panels.

        The dark band is pointwise, the light one simultaneous over all values of the feature.
        Below are the rows, those of the positive class on top. With ``share_y`` all F_k have the
        same y axis, so that their heights can be compared.
        """
        drawing = Drawing(self, n_columns, share_y)
        self.figure_, self.ax_, self.axes_ = drawing.draw(ax)
        return self


@dataclass(frozen=True)
class _Choice:
    """Which features to draw, and how much of them."""

    features: Any
    central: float
    max_panels: int

    def __post_init__(self) -> None:
        if not 0.0 < self.central <= 1.0:
            raise ValueError(f"central is {self.central!r}; give a share above 0, at most 1")
        if self.max_panels < 1:
            raise ValueError(f"max_panels is {self.max_panels}; it must be 1 or more")

    def positions(self, model: AdditiveModel) -> list[int]:
        names = list(model.feature_names)
        if self.features is None:
            return list(range(len(names)))
        given = [self.features] if isinstance(self.features, (str, int)) else list(self.features)
        for item in given:
            known = names if isinstance(item, str) else range(len(names))
            if item not in known:
                raise ValueError(f"features has {item!r}; the model has {', '.join(names[:10])}")
        return [names.index(item) if isinstance(item, str) else int(item) for item in given]

    def keep(self, panels: list[Any]) -> list[Any]:
        """In order; what nobody asked for only where it is not flat, and up to the most."""
        if panels and not np.isnan(panels[0].auc):
            panels = sorted(panels, key=lambda panel: (panel.is_flat, -panel.auc))
        else:
            panels = sorted(panels, key=lambda panel: -float(np.ptp(panel.values)))
        if self.features is not None:
            return panels
        return [panel for panel in panels if not panel.is_flat][: self.max_panels] or panels[:1]


def _refit(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    random_state: int,
    n_jobs: int | None,
    told: dict[str, Any],
) -> ScoreBands:
    """Bands of the estimator's score functions, on the rows that it was fitted on."""
    if not hasattr(estimator, "penalty_"):
        raise ValueError(
            f"{type(estimator).__name__} has no bands: refits are those of SmoothAUCBoost; "
            "give band=None"
        )
    if estimator.init is not None:
        raise ValueError("bands of a fit that starts from init are not drawn; give band=None")
    data = prepare(
        estimator._read(X),
        y,
        sample_weight=sample_weight,
        pos_label=estimator.pos_label,
        max_bins=estimator.max_bins,
        categorical_features=estimator.categorical_features,
        n_jobs=n_jobs,
    )
    train, held_out = estimator._hold_out(data)
    bands = score_bands(
        train,
        estimator._settings(data),
        validation=held_out,
        random_state=random_state,
        n_jobs=n_jobs,
        **told,
    )
    _check_same(estimator.model_, bands)
    return bands


def _check_same(model: AdditiveModel, bands: ScoreBands) -> None:
    """A refit on all given rows must be the estimator's own fit."""
    largest = sum(float(np.ptp(steps)) for steps in model.steps)
    for feature, steps, band in zip(model.features, model.steps, bands, strict=True):
        differences = steps[codes_in(band.feature, feature)] - band.table
        apart = float(np.ptp(differences[1:])) if feature.n_bins else 0.0
        if apart > _SAME * largest:
            raise ValueError(
                "a refit on X and y is not the estimator's own fit: bands need the rows (and "
                "weights) that it was fitted on, and with early_stopping a whole number as "
                "random_state; without bands, give band=None"
            )
