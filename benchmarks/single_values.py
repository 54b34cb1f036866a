"""Values that leave their smooth curve: held-out AUC with the evidence of folds and without.

    python benchmarks/single_values.py [TABLE.csv ...]

"always" lets values leave the curve where the training rows alone say so, "never" keeps all on the
curve, and "confirmed" asks the inner folds, as SmoothAUCBoostCV does. Generated tables: codes with
a risk of their own; a rate with 300 values that are in force for some days each, whose risk is
smooth in the rate, with and without an effect of the day; and two classes that hardly overlap.
Tables (a CSV file with the column ``target``) are shuffled and cut to 8,000 rows.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from auctor import SmoothAUCBoostCV
from auctor.learners.smooth.search import AmountSearch

WAYS = "always", "never", "confirmed"
_CONFIRMED = AmountSearch.check_single_values


def _always(search: Any, chosen: Any, rule: str) -> Any:
    from dataclasses import replace

    return replace(chosen, single_values=True)


def _never(search: Any, chosen: Any, rule: str) -> Any:
    for fold in search._folds:
        fold.keep_on_curves()
    return chosen


CHECKS: dict[str, Any] = {"always": _always, "never": _never, "confirmed": _CONFIRMED}


def generated() -> Iterator[tuple[str, Any, Any]]:
    """Generate tables of 3,000 rows, or 9,000 where each value must have many."""
    for name in ("codes", "rate", "rate, days", "hardly overlapping"):
        rng = np.random.default_rng(0)
        n = 9000 if name.startswith("rate") else 3000
        X, days = rng.normal(size=(n, 3)), rng.integers(300, size=n)
        walk = np.cumsum(rng.normal(size=300)).round(3)
        if name == "codes":
            X[:, 0] = days % 60
            score = 1.2 * rng.normal(size=60)[days % 60] + X[:, 1]
        elif name == "hardly overlapping":
            score = 8 * X[:, 0] + 4 * X[:, 1]
        else:
            X[:, 0] = walk[days]
            score = -walk[days] / walk.std() + X[:, 1]
            score += 0.7 * rng.normal(size=300)[days] if name == "rate, days" else 0.0
        yield name, X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def given(paths: list[Path]) -> Iterator[tuple[str, Any, Any]]:
    """Read tables from files."""
    for path in paths:
        frame = pd.read_csv(path).sample(frac=1.0, random_state=0)[:8000]
        X = frame.drop(columns="target")
        for name in X.columns[~X.dtypes.map(pd.api.types.is_numeric_dtype)]:
            X[name] = X[name].astype("category")
        yield path.name, X, frame["target"].to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description="Held-out AUC with and without single values.")
    parser.add_argument("tables", nargs="*", type=Path)
    args = parser.parse_args()
    print(f"{'table':24}" + "".join(f"{way:>12}" for way in WAYS) + "   confirmed - always  kept")
    for name, X, y in [*generated(), *given(args.tables)]:
        aucs: dict[str, list[float]] = {way: [] for way in WAYS}
        kept = 0
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y))
        for way in WAYS:
            AmountSearch.check_single_values = CHECKS[way]  # type: ignore[method-assign]
            for train, test in folds:
                rows = (X.iloc[train], X.iloc[test]) if hasattr(X, "iloc") else (X[train], X[test])
                ranker = SmoothAUCBoostCV(interactions=0).fit(rows[0], y[train])
                aucs[way].append(ranker.score(rows[1], y[test]))
                kept += way == "confirmed" and ranker.single_values_
        gain = np.array(aucs["confirmed"]) - np.array(aucs["always"])
        print(
            f"{name:24}"
            + "".join(f"{np.mean(aucs[way]):12.4f}" for way in WAYS)
            + f"   {gain.mean():+.4f} +- {gain.std(ddof=1) / 5**0.5:.4f}    {kept}/5",
            flush=True,
        )


if __name__ == "__main__":
    main()
