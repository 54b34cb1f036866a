"""Drawing of score plots; matplotlib is imported on first use."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._text import count
from auctor._typing import Bools, Floats
from auctor.display.score_panels import Band, Panel, RowStrip, ScorePanel, SurfaceAxis, SurfacePanel
from auctor.estimators.explanation import shorten

LINE = "#1b1b1b"
POINTWISE, SIMULTANEOUS = "#8fb8d8", "#d9e7f2"
NEGATIVE, POSITIVE = "#1b6ca8", "#c2410c"
_QUIET = "0.45"
# Height of the strip that shows the rows at the bottom of a panel, as a fraction of the panel.
_FOOT = 0.17
# Simultaneous bands may extend the y axis by at most this fraction of the height without them.
_STRETCH = 0.4
_MAX_LABELS = 12
_LETTER = 0.085  # width of a letter of a title in inches


class Drawing:
    """Draws the panels of a display on axes, with a common y axis and legend."""

    def __init__(self, display: Any, n_columns: int, share_y: bool) -> None:
        self._display, self._panels = display, display.panels
        self._n_columns = min(n_columns, len(self._panels))
        self._share_y = share_y

    def draw(self, ax: Any) -> tuple[Any, Any, npt.NDArray[Any]]:
        """Draw all panels; return the figure, the given (or the first) axes, and all axes."""
        axes, is_own = self._axes(ax)
        heights = [_height(panel) for panel in self._panels]
        common = _union([height for height in heights if height is not None])
        largest = max(map(_largest, self._panels))
        first = self._first_of_rows(axes)
        for k, (panel, axis) in enumerate(zip(self._panels, axes, strict=True)):
            _write_title(axis, panel, is_own)
            if isinstance(panel, SurfacePanel):
                _draw_surface(axis, panel, largest if self._share_y else _largest(panel))
            else:
                _draw_panel(axis, panel, common if self._share_y else heights[k])
                self._label_y(axis, k in first)
        self._draw_legend(axes, is_own)
        given = ax if hasattr(ax, "figure") else axes[0]
        return axes[0].figure, given, axes

    def _axes(self, ax: Any) -> tuple[npt.NDArray[Any], bool]:
        """One axes per panel: of a new figure, in the place of the given axes, or as given."""
        import matplotlib.pyplot as plt

        n, columns = len(self._panels), self._n_columns
        rows = -(-n // columns)
        if ax is None:
            size = (max(3.6 * columns, 5.2), 3.0 * rows + 0.6)
            _, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
            for unused in grid.ravel()[n:]:
                unused.set_axis_off()
            return grid.ravel()[:n], True
        if not hasattr(ax, "figure"):
            axes = np.asarray(ax, dtype=object).ravel()
            if len(axes) < n:
                raise ValueError(f"ax has {len(axes)} axes for {n} panels; give one per panel")
            return axes[:n], False
        if n == 1:
            return np.array([ax], dtype=object), False
        spec = ax.get_subplotspec()
        if spec is None:
            raise ValueError(
                f"ax is a single Axes that is not part of a subplot grid; give {n}, one per panel"
            )
        ax.set_axis_off()
        grid = spec.subgridspec(rows, columns, wspace=0.3, hspace=0.6)
        cells = [grid[k // columns, k % columns] for k in range(n)]
        return np.array([ax.figure.add_subplot(cell) for cell in cells], dtype=object), False

    def _first_of_rows(self, axes: npt.NDArray[Any]) -> set[int]:
        """The indices of the first F_k in each row of axes, and of all axes outside grids."""
        specs = [axis.get_subplotspec() for axis in axes]
        first: dict[Any, int] = {}
        for k, (panel, spec) in enumerate(zip(self._panels, specs, strict=True)):
            row = k if spec is None else (id(spec.get_gridspec()), spec.rowspan.start)
            if isinstance(panel, ScorePanel):
                first.setdefault(row, k)
        return set(first.values())

    def _label_y(self, axis: Any, is_first: bool) -> None:
        if is_first:
            zero = "class-balanced mean" if self._display.is_centred else "minimum"
            axis.set_ylabel(f"score $F_k$ (0: {zero})", fontsize=9)
        elif self._share_y:
            axis.tick_params(labelleft=False)

    def _draw_legend(self, axes: npt.NDArray[Any], is_own: bool) -> None:
        """Put the legend below the panels of a new figure, or into the first given axes."""
        handles = self._handles()
        left_out = self._display.left_out
        if len(handles) < 2 and not left_out:
            return
        has_surface = any(isinstance(panel, SurfacePanel) for panel in left_out)
        noun = "more term" if has_surface else "more feature"
        title = f"{count(len(left_out), noun)} not drawn" if left_out else None
        shared = {"handles": handles, "title": title, "title_fontsize": 8}
        if is_own:
            # Two rows if a single one would be wider than the figure.
            columns = len(handles) if self._n_columns > 2 else 2
            axes[0].figure.legend(
                loc="outside lower center", ncols=columns, frameon=False, fontsize=8, **shared
            )
        else:
            axes[0].legend(loc="best", fontsize=6.5, framealpha=0.85, edgecolor="none", **shared)

    def _handles(self) -> list[Any]:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        curves = [panel for panel in self._panels if isinstance(panel, ScorePanel)]
        if not curves:
            return []
        handles: list[Any] = [Line2D([], [], color=LINE, label="$F_k$")]
        if any(panel.band is not None for panel in curves):
            level = f"{100 * self._display.level:g} %"
            samples = f"{self._display.n_resamples} bootstrap samples"
            handles.append(Patch(color=POINTWISE, label=f"{level} pointwise, {samples}"))
            handles.append(Patch(color=SIMULTANEOUS, label=f"{level} simultaneous"))
        if any(panel.strip is not None for panel in curves):
            negative, positive = self._display.classes
            handles.append(Patch(color=POSITIVE, label=f"rows of class {positive}"))
            handles.append(Patch(color=NEGATIVE, label=f"rows of class {negative}"))
        return handles


def _height(panel: Panel) -> tuple[float, float] | None:
    """The range of the y axis that a panel needs; None for a surface."""
    if isinstance(panel, SurfacePanel):
        return None
    shown = _shown(panel)
    core = [panel.values[shown], [0.0]]
    light = []
    if panel.missing is not None:
        core.append([panel.missing])
    if panel.band is not None:
        chosen = np.concatenate([[panel.missing is not None], shown])
        core += [panel.band.low[chosen], panel.band.high[chosen]]
        light += [panel.band.simultaneous_low[chosen], panel.band.simultaneous_high[chosen]]
    low, high = _ends(core)
    if light:
        spare = _STRETCH * (high - low)
        far = _ends(light)
        low, high = min(low, max(far[0], low - spare)), max(high, min(far[1], high + spare))
    return low, high


def _ends(parts: list[Any]) -> tuple[float, float]:
    values = np.concatenate(parts)
    return float(np.nanmin(values)), float(np.nanmax(values))


def _shown(panel: ScorePanel) -> Bools:
    """Which bins of a numeric feature overlap the limits; all of them for categories."""
    if panel.edges is None:
        return np.ones(len(panel.values), dtype=np.bool_)
    low, high = panel.limits
    return np.asarray((panel.edges[1:] > low) & (panel.edges[:-1] < high))


def _union(heights: list[tuple[float, float]]) -> tuple[float, float] | None:
    if not heights:
        return None
    return min(low for low, _ in heights), max(high for _, high in heights)


def _draw_panel(ax: Any, panel: ScorePanel, height: tuple[float, float] | None) -> None:
    """Draw one F_k: its curve or bars, bands, missing values, and the rows in a strip below."""
    ax.axhline(0, color="0.75", linewidth=0.8, zorder=1)
    if panel.edges is None:
        _draw_categories(ax, panel)
    else:
        _draw_number(ax, panel, panel.edges)
    if panel.missing is not None:
        _draw_missing(ax, panel)
    _set_height(ax, height, panel.strip is not None)
    if panel.strip is not None:
        _draw_strip(ax, panel.strip)
    if panel.n_outside:
        label = f"{count(panel.n_outside, 'row')} outside the axis"
        ax.set_xlabel(label, fontsize=7.5, color=_QUIET, loc="right")
    ax.spines[["top", "right"]].set_visible(False)


def _write_title(ax: Any, panel: Panel, is_own: bool) -> None:
    """Write the name, and the AUC if the axes are wide enough."""
    width = _width(ax)
    longest = 24 if is_own else min(24, max(8, int(width / _LETTER)))
    name = shorten(panel.name, longest)
    ax.set_title(name, loc="left", fontsize=10, fontweight="bold")
    has_room = is_own or _LETTER * (len(name) + 12) < width
    if has_room and not np.isnan(panel.auc):
        ax.set_title(f"AUC {panel.auc:.3f}", loc="right", fontsize=9, color=_QUIET)


def _width(ax: Any) -> float:
    """Width in inches, before a layout engine changes it."""
    return float(ax.get_window_extent().width / ax.figure.dpi)


def _draw_number(ax: Any, panel: ScorePanel, edges: Floats) -> None:
    """Draw the steps of a numeric feature over their bands."""
    low, high = panel.limits
    shown = _shown(panel)
    inner = np.clip(np.append(edges[:-1][shown], edges[1:][shown][-1:]), low, high)
    if panel.band is not None:
        band = panel.band
        for ends, colour, order in (
            ((band.simultaneous_low, band.simultaneous_high), SIMULTANEOUS, 0.5),
            ((band.low, band.high), POINTWISE, 0.6),
        ):
            below, above = (_repeat_last(end[1:][shown]) for end in ends)
            ax.fill_between(
                inner, below, above, step="post", color=colour, linewidth=0, zorder=order
            )
    ax.stairs(panel.values[shown], inner, baseline=None, color=LINE, linewidth=1.4, zorder=3)
    margin = 0.02 * (high - low)
    ax.set_xlim(low - margin, high + margin)
    most = min(5, max(1, int(2 * _width(ax))))
    ticks = _ticks(low, high, most, panel.is_whole)
    if panel.ticks is not None:
        ticks = _apart(panel.ticks, (high - low) * max(1.0, 2.4 / _width(ax)))
    ax.set_xticks(ticks, _numerals(ticks))
    ax.tick_params(labelsize=8)


def _apart(ticks: Floats, span: float) -> Floats:
    """The ticks without those whose labels would overlap the one before."""
    kept = [0]
    words = _numerals(ticks)
    for k in range(1, len(ticks)):
        width = 0.015 + 0.0125 * (len(words[k]) + len(words[kept[-1]]))
        if ticks[k] - ticks[kept[-1]] >= width * span:
            kept.append(k)
    return ticks[kept]


def _numerals(ticks: Floats) -> list[str]:
    """Short labels of numbers, such as 120k for 120000."""
    largest = float(np.abs(ticks).max(initial=0.0))
    unit, letter = (1e6, "M") if largest >= 1e7 else (1e3, "k") if largest >= 1e4 else (1.0, "")
    return [f"{tick / unit:.6g}{letter if tick else ''}" for tick in ticks.tolist()]


def _repeat_last(values: Floats) -> Floats:
    return np.append(values, values[-1:])


def _ticks(low: float, high: float, most: int = 5, is_whole: bool = False) -> Floats:
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(most, integer=is_whole).tick_values(low, high))
    return ticks[(ticks >= low) & (ticks <= high)]


def _draw_categories(ax: Any, panel: ScorePanel) -> None:
    """Draw bars with error bars: dark for the pointwise bands, light for the simultaneous ones."""
    x = np.arange(len(panel.values))
    ax.bar(x, panel.values, width=0.62, color="0.82", edgecolor=LINE, linewidth=0.9, zorder=2)
    if panel.band is not None:
        _draw_errors(ax, x, panel.band, slice(1, None))
    ax.set_xlim(*panel.limits)
    _name_ticks(ax, x, panel.categories)


def _name_ticks(ax: Any, x: Any, names: Any, n_letters: float = 40.0) -> None:
    """Label ticks of an x axis that is ``n_letters`` wide; slanted if labels would overlap."""
    every = max(1, -(-len(names) // _MAX_LABELS))
    x, shown = x[::every], [shorten(name, 14) for name in names[::every]]
    ax.set_xticks(x, shown)
    ax.tick_params(labelsize=8)
    gaps = np.diff(x) / np.ptp(ax.get_xlim()) * n_letters
    lengths = np.array([len(name) for name in shown])
    if (gaps < (lengths[:-1] + lengths[1:]) / 2 + 1).any():
        for label in ax.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")


def _draw_errors(ax: Any, x: Any, band: Band, which: slice) -> None:
    bars = (
        (band.simultaneous_low, band.simultaneous_high, SIMULTANEOUS, 6.0),
        (band.low, band.high, POINTWISE, 3.5),
    )
    for low, high, colour, width in bars:
        ax.vlines(x, low[which], high[which], color=colour, linewidth=width, zorder=2.5)


def _draw_missing(ax: Any, panel: ScorePanel) -> None:
    """Draw F_k of missing values as a mark to the left of the other values."""
    low, high = panel.limits
    span = high - low
    if panel.edges is None:
        x, left, edge = low - 1.0, low - 1.8, low - 0.2
    else:
        x, left, edge = low - 0.14 * span, low - 0.25 * span, low - 0.035 * span
    if panel.band is not None:
        _draw_errors(ax, [x], panel.band, slice(0, 1))
    ax.plot([x], [panel.missing], "D", color=LINE, markersize=4.5, zorder=4)
    ax.axvline(edge, color="0.8", linewidth=0.8, linestyle=":", zorder=1)
    ax.set_xlim(left, ax.get_xlim()[1])
    if panel.edges is None:
        _name_ticks(ax, [x, *range(len(panel.values))], ["missing", *panel.categories])
        return
    ticks = ax.get_xticks()
    lengths = np.array([len(word) for word in _numerals(ticks)])
    # Only ticks whose labels do not overlap the label "missing".
    ticks = ticks[ticks >= low + 0.019 * lengths * span]
    ax.set_xticks([x, *ticks], ["missing", *_numerals(ticks)])


def _set_height(ax: Any, height: tuple[float, float] | None, has_foot: bool) -> None:
    """Set the y axis, with space for the strip of rows below, which has no ticks."""
    assert height is not None
    low, high = height
    margin = 0.05 * (high - low) or 0.5
    low, high = low - margin, high + margin
    foot = (high - low) * _FOOT / (1 - _FOOT) if has_foot else 0.0
    ax.set_ylim(low - foot, high)
    ax.set_yticks(_ticks(low, high, 7))


def _draw_strip(ax: Any, strip: RowStrip) -> None:
    """Draw the rows in a strip at the bottom of the panel, positives above negatives."""
    across = ax.get_xaxis_transform()
    ax.fill_between(
        [0, 1], 0, _FOOT, transform=ax.transAxes, color="white", linewidth=0, zorder=3.5
    )
    ax.plot([0, 1], [_FOOT, _FOOT], transform=ax.transAxes, color="0.85", linewidth=0.8, zorder=3.6)
    middle = _FOOT / 2
    if strip.edges is None:
        look = {"transform": across, "linewidth": 0.8, "alpha": 0.75, "zorder": 4}
        ax.vlines(strip.pos, middle + 0.008, _FOOT - 0.015, color=POSITIVE, **look)
        ax.vlines(strip.neg, 0.015, middle - 0.008, color=NEGATIVE, **look)
        return
    largest = max(float(strip.pos.max(initial=0)), float(strip.neg.max(initial=0))) or 1.0
    height = middle - 0.01
    for fraction, sign, colour in ((strip.pos, 1, POSITIVE), (strip.neg, -1, NEGATIVE)):
        ends = middle + sign * height * fraction / largest
        ax.stairs(
            ends, strip.edges, baseline=middle, fill=True, color=colour, transform=across, zorder=4
        )


def _largest(panel: Panel) -> float:
    """The largest absolute value of a surface; 0 for other panels."""
    return float(np.abs(panel.values).max(initial=0.0)) if isinstance(panel, SurfacePanel) else 0.0


def _draw_surface(ax: Any, panel: SurfacePanel, largest: float) -> None:
    """Draw a heat map of equally wide groups, white where the pair contributes nothing."""
    x, y = panel.x, panel.y
    edges = [
        np.arange(n + 1.0) - bool(axis.rest)
        for axis, n in zip((x, y), panel.values.shape[::-1], strict=True)
    ]
    top = largest or 1.0
    drawn = ax.pcolormesh(*edges, panel.values, cmap="RdBu_r", vmin=-top, vmax=top)
    ax.figure.colorbar(drawn, ax=ax, shrink=0.9).ax.tick_params(labelsize=8)
    ax.set_xlabel(shorten(x.name, 24), fontsize=9)
    ax.set_ylabel(shorten(y.name, 24), fontsize=9)
    if x.rest:
        ax.axvline(0, color="white", linewidth=3)
    if y.rest:
        ax.axhline(0, color="white", linewidth=3)
    _name_ticks(ax, *_group_ticks(x, 4), n_letters=30.0)
    ticks, names = _group_ticks(y, 6)
    every = max(1, -(-len(names) // _MAX_LABELS))
    ax.set_yticks(ticks[::every], [shorten(name, 14) for name in names[::every]])


def _group_ticks(axis: SurfaceAxis, most: int) -> tuple[list[float], list[str]]:
    """Ticks at the middle of categories, or at up to ``most`` of the cuts; ``rest`` first."""
    if axis.categories:
        ticks = [k + 0.5 for k in range(len(axis.categories))]
        names = list(axis.categories)
    else:
        every = max(1, -(-len(axis.cuts) // most))
        chosen = range(every // 2, len(axis.cuts), every)
        ticks = [k + 1.0 for k in chosen]
        names = _numerals(np.array([float(f"{axis.cuts[k]:.3g}") for k in chosen]))
    return ([-0.5, *ticks], [axis.rest, *names]) if axis.rest else (ticks, names)
