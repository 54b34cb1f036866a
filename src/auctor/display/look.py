"""Colours, axes and legends that the displays share."""

from dataclasses import fields
from typing import Any

import numpy as np

from auctor._typing import Floats, Indices

# Okabe and Ito's colours, which colour-blind people can distinguish; line styles differ too.
BLUE, VERMILION, GREEN, PURPLE, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
GREY = "0.45"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))

_MAX_POINTS = 2000


class ShortRepr:
    """A display prints the names of its numbers: in a notebook all of them would fill the page."""

    def __repr__(self) -> str:
        names: Any = fields(self)  # type: ignore[arg-type]  # displays are dataclasses
        return f"{type(self).__name__}({', '.join(field.name for field in names)})"


def curve_style(k: int) -> dict[str, Any]:
    """Colour and line style of curve number k."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)]}


def axes_for(ax: Any, size: tuple[float, float] = (5.6, 5.2)) -> tuple[Any, bool]:
    """The axes to draw on, and whether they belong to a new figure."""
    if ax is not None:
        return ax, False
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, True


def finish(ax: Any, is_own: bool, *, columns: int = 1, legend_title: str | None = None) -> None:
    """Remove the upper and right spines, and add a legend outside the curves."""
    ax.spines[["top", "right"]].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if is_own:
        size = {"fontsize": 9, "title_fontsize": 9, "ncols": columns, "frameon": False}
        ax.figure.legend(handles, labels, loc="outside lower center", title=legend_title, **size)
        return
    look: dict[str, Any] = {"loc": "best", "framealpha": 0.85, "edgecolor": "none"}
    if ax.figure.get_layout_engine() is not None:  # which leaves space below the axes
        look = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 5.2}
        look |= {"frameon": False}
    ax.legend(fontsize=7, title_fontsize=7, title=legend_title, **look)


def unit_square(ax: Any) -> None:
    """Both axes from 0 to 1, with a small margin for curves along the edges."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.015))


def mark(ax: Any, x: float, y: float, label: str) -> None:
    """Draw a ring on a curve; its label is in the legend."""
    ax.plot(
        [x], [y], "o", color="black", markerfacecolor="white", markeredgewidth=1.8, markersize=8,
        zorder=5, label=label,
    )  # fmt: skip


def kept_points(*rising: Floats) -> Indices:
    """Indices of about 2000 points of a longer curve, evenly along it and with both ends.

    Examples
    --------
    >>> x = np.linspace(0, 1, 100_001)
    >>> kept = kept_points(x, x**2)
    >>> len(kept), int(kept[0]), int(kept[-1])
    (2000, 0, 100000)
    """
    n = len(rising[0])
    if n <= _MAX_POINTS:
        return np.arange(n)
    distance = np.sum(rising, axis=0)
    wanted = np.linspace(distance[0], distance[-1], _MAX_POINTS)
    return np.unique(np.append(np.searchsorted(distance, wanted).clip(0, n - 1), [0, n - 1]))


def percent(level: float) -> str:
    """A confidence level in percent.

    Examples
    --------
    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:g} %"


def labelled(name: str | None, text: str) -> str:
    """A text, preceded by a name if there is one."""
    return f"{name}: {text}" if name else text
