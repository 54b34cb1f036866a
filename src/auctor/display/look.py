"""What the displays of predictions have in common: colours, axes, the legend's place."""

from typing import Any

import numpy as np

from auctor._typing import Floats, Indices

# Okabe and Ito's colours, which colour-blind people can tell apart; lines differ in style too.
BLUE, VERMILION, GREEN, PURPLE, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"
GREY = "0.45"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))

_MOST_POINTS = 2000


def line_look(k: int) -> dict[str, Any]:
    """Colour and style of the line of number k."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)]}


def axes_for(ax: Any, size: tuple[float, float] = (5.6, 5.2)) -> tuple[Any, bool]:
    """The axes to draw on, and whether they are those of a figure of our own."""
    if ax is not None:
        return ax, False
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, True


def finish(ax: Any, is_own: bool, *, columns: int = 1, legend_title: str | None = None) -> None:
    """Clear spines, and a legend that stays out of the way of the lines."""
    ax.spines[["top", "right"]].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if is_own:
        size = {"fontsize": 9, "title_fontsize": 9, "ncols": columns, "frameon": False}
        ax.figure.legend(handles, labels, loc="outside lower center", title=legend_title, **size)
        return
    look: dict[str, Any] = {"loc": "best", "framealpha": 0.85, "edgecolor": "none"}
    if ax.figure.get_layout_engine() is not None:  # which makes room below the axes
        look = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 5.2}
        look |= {"frameon": False}
    ax.legend(fontsize=7, title_fontsize=7, title=legend_title, **look)


def unit_square(ax: Any) -> None:
    """Both axes from 0 to 1, with a hair of room for lines along the edges."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.015))


def mark(ax: Any, x: float, y: float, label: str) -> None:
    """A ring on a curve; what it stands for goes to the legend, where it hides no line."""
    ax.plot(
        [x], [y], "o", color="black", markerfacecolor="white", markeredgewidth=1.8, markersize=8,
        zorder=5, label=label,
    )  # fmt: skip


def kept_points(*rising: Floats) -> Indices:
    """Which points of a long line to keep: evenly along it, both ends among them.

    Examples
    --------
    >>> share = np.linspace(0, 1, 100_001)
    >>> kept = kept_points(share, share**2)
    >>> len(kept) <= 2002, int(kept[0]), int(kept[-1])
    (True, 0, 100000)
    """
    n = len(rising[0])
    if n <= _MOST_POINTS:
        return np.arange(n)
    way = np.sum(rising, axis=0)
    wanted = np.linspace(way[0], way[-1], _MOST_POINTS)
    return np.unique(np.append(np.searchsorted(way, wanted).clip(0, n - 1), [0, n - 1]))


def percent(level: float) -> str:
    """A level in words.

    Examples
    --------
    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:g} %"


def labelled(name: str | None, text: str) -> str:
    """A text after the name of what it is about, if that has one."""
    return f"{name}: {text}" if name else text
