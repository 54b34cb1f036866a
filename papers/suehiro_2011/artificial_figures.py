"""Our figures for the cells of Tables 1 and 2, and the best possible ones."""

from statistics import mean

from auctor.datasets import r_of_k_roc
from papers.experiment import CaseResults, Setup
from papers.suehiro_2011.artificial import Cell, case_name, find_size, repetitions
from papers.suehiro_2011.judging import best_folds, honest_folds, read
from papers.suehiro_2011.wording import title_of


def values_of(
    results: CaseResults,
    setup: Setup,
    table: int,
    cell_: Cell,
    method: str,
    setting: str,
    name: str,
) -> list[float]:
    """A number for each data set; ``setting`` is 'best', 'honest' (by other folds) or a value."""
    out = []
    for repetition in range(repetitions(setup, table, method)):
        result = results.get(case_name(cell_, method, repetition))
        if result is None:
            break  # values after a gap would be paired with the wrong data set
        if setting == "best":
            # Each reading of what was measured picks its own best epsilon.
            by = name if name == "ties_right" else "test"
            out.append(mean(best_folds(result, method, name, by)))
        elif setting == "honest":
            out.append(mean(honest_folds(result, method, name)))
        else:
            out.append(mean(read(result, method, setting, name)))
    return out


def columns_of(setup: Setup) -> list[tuple[str, str]]:
    """(method, setting) of each column of the tables; the last two are not in the paper."""
    rounds = [("RankBoost", f"{n}") for n in find_size(setup).rounds]
    methods = ("SoftRankBoost", "pairs", "heuristic", "reduced", "RankBoost, negations")
    return [*rounds, *((method, "best") for method in methods)]


def heads_of(setup: Setup) -> list[str]:
    """The heads of the columns, with RankBoost's rounds."""
    return [
        title_of(method) + ("" if setting == "best" else f" {setting}")
        for method, setting in columns_of(setup)
    ]


def label_of(cell_: Cell) -> str:
    """The first cell of a row."""
    return f"{cell_.positive_fraction:g}, {cell_.r}, {cell_.noise:.0%}"


def ceiling(cell_: Cell) -> float:
    """The best AUC that any score has on the noisy labels, in the population."""
    return float(
        r_of_k_roc(noise=cell_.noise, positive_fraction=cell_.positive_fraction).optimal_auc
    )


def luck(cell_: Cell, n_rows: int = 1000) -> float:
    """Standard deviation of the clean label's AUC on a sample of noisy labels."""
    fraction, noise = cell_.positive_fraction, cell_.noise
    in_pos, in_neg = fraction * (1 - noise), fraction * noise  # clean positives in each noisy class
    n_pos = in_pos + (1 - fraction) * noise
    a, b = in_pos / n_pos, in_neg / (1 - n_pos)
    spread = a * (1 - a) / n_pos + b * (1 - b) / (1 - n_pos)
    return 0.5 * float((spread / n_rows) ** 0.5)
