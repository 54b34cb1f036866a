"""Stored results as tables in Markdown; needs none of the libraries that were measured."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev

import numpy as np
from kept import Kept, interval, row, signed
from scipy.stats import rankdata

DEFAULT = "defaults"  # the setting that the others are compared with


def head(cells: Sequence[str]) -> list[str]:
    """The first two rows of a table."""
    return [row(cells), row(["---"] * len(cells))]


def quality_table(kept: Kept, methods: Sequence[str]) -> list[str]:
    """Mean AUC with its standard deviation over folds, then means, mean ranks and seconds.

    The rows are the tables that have been run with all of the methods.
    """
    complete = {t: r for t, r in kept.items() if all(m in r for m in methods)}
    if not complete:
        raise ValueError("no table has been run with all of these methods; choose fewer")
    lines = head(["table", *methods])
    for table, results in complete.items():
        means = {m: mean(results[m]["auc"]) for m in methods}
        cells = [f"{means[m]:.4f} ± {stdev(results[m]['auc']):.4f}" for m in methods]
        top = max(means.values())
        bold = [f"**{c}**" if means[m] == top else c for m, c in zip(methods, cells, strict=True)]
        lines.append(row([table, *bold]))
    areas = np.array([[mean(r[m]["auc"]) for m in methods] for r in complete.values()])
    lines.append(row([f"mean of {len(complete)}", *(f"{x:.4f}" for x in areas.mean(axis=0))]))
    ranks = rankdata(-areas, axis=1).mean(axis=0)
    lines.append(row(["mean rank", *(f"{x:.2f}" for x in ranks)]))
    seconds = [sum(sum(r[m]["seconds"]) for r in complete.values()) for m in methods]
    return [*lines, row(["CPU seconds", *(f"{x:.0f}" for x in seconds)])]


def differences(kept: Kept, ours: str, others: Sequence[str]) -> list[str]:
    """Mean difference of the AUC to each other method over the tables, with a 95 % interval."""
    lines = []
    for other in others:
        both = [r for r in kept.values() if ours in r and other in r]
        gaps = [mean(r[ours]["auc"]) - mean(r[other]["auc"]) for r in both]
        wins = sum(gap > 0 for gap in gaps)
        text = signed(interval(gaps))
        lines.append(f"- {ours} minus {other}: {text}, ahead on {wins} of {len(gaps)}")
    return lines


def means_table(
    kept: Kept, tables: Sequence[str], methods: Mapping[str, str], result: str
) -> list[str]:
    """The mean of a result over the folds, by method and table; keys are the names to print."""
    lines = head(["method", *tables, "mean"])
    for name, stored in methods.items():
        means = [mean(kept[table][stored][result]) for table in tables]
        lines.append(row([name, *(f"{x:.4f}" for x in means), f"{mean(means):.4f}"]))
    return lines


def settings_table(kept: Kept, kind: str, cases: Sequence[str]) -> list[str]:
    """Mean AUC, its difference to the defaults with a 95 % interval over tables, and seconds."""
    lines = head([kind, "tables", "mean AUC", "minus defaults", "ahead on", "CPU seconds"])
    default = f"{kind}, {DEFAULT}"
    for case in cases:
        name = f"{kind}, {case}"
        both = [r for r in kept.values() if name in r and default in r]
        if not both:
            continue
        gaps = [mean(r[name]["auc"]) - mean(r[default]["auc"]) for r in both]
        area = mean(mean(r[name]["auc"]) for r in both)
        seconds = sum(sum(r[name]["seconds"]) for r in both)
        ahead = str(sum(gap > 0 for gap in gaps))
        against = ["", ""] if case == DEFAULT else [signed(interval(gaps)), ahead]
        lines.append(row([case, str(len(both)), f"{area:.4f}", *against, f"{seconds:.0f}"]))
    return lines
