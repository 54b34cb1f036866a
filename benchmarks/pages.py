"""Write the tables of the README and of the measured pages from the stored results.

A page marks such a table by ``<!-- results: NAME -->`` before and ``<!-- end -->``
after it. ``--check`` writes nothing and ends with code 1 if a page and the results differ; a test
does the same.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from kept import Kept, read_kept
from result_tables import differences, means_table, quality_table, settings_table

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
PAGES = [ROOT / "README.md", ROOT / "docs" / "tree_boost.md"]

ALL = [
    "SmoothTreeBoost", "RankEnsemble", "trees alone", "SmoothAUCBoostCV", "CatBoost", "LightGBM",
    "XGBoost", "logistic",
]  # fmt: skip
BY_RANK = [*ALL[:2], "CatBoost", "SmoothAUCBoostCV", "trees alone", *ALL[5:]]
WITH_EBM = ["SmoothTreeBoost", "RankEnsemble", "SmoothAUCBoostCV", "CatBoost", "EBM"]
RARE = ["mammography", "gmsc", "taiwan", "hypothyroid", "sick-euthyroid", "w1a", "cover-anomaly"]
LOSSES = ["pairs", "smoothed AUC", "partial AUC", "log loss"]
# Name on the page -> name in the file.
BY_LOSS = {f"{kind}, {loss}": f"{kind}, {loss}" for kind in ("trees", "mixed") for loss in LOSSES}
BY_LOSS |= {"trees, pairs": "trees alone", "mixed, pairs": "SmoothTreeBoost"}
BY_LOSS |= {name: name for name in ("CatBoost", "LightGBM", "XGBoost")}
TITLES = {"auc": "AUC", "partial": "mean TPR up to FPR 0.05", "top": "precision, 1 %"}


def against_others(kept: Kept, methods: list[str]) -> list[str]:
    """The differences of our two methods to all others."""
    lines = []
    for ours in ("SmoothTreeBoost", "RankEnsemble"):
        lines += differences(kept, ours, [name for name in methods if name != ours])
    return lines


def quality() -> list[str]:
    kept = stored("tree_boost_quality")
    title = "Differences of the mean AUC over the tables, with 95 % intervals:"
    return [*quality_table(kept, ALL), "", title, "", *against_others(kept, ALL)]


def summary() -> list[str]:
    """The last three rows of the table of quality: means over all tables."""
    lines = quality_table(stored("tree_boost_quality"), BY_RANK)
    return [*lines[:2], *lines[-3:]]


def ebm() -> list[str]:
    kept = stored("tree_boost_quality")
    lines = [*quality_table(kept, WITH_EBM), ""]
    for ours in ("SmoothTreeBoost", "RankEnsemble"):
        lines += differences(kept, ours, ["EBM"])
    return lines


def losses() -> list[str]:
    kept = stored("tree_boost_quality")
    lines: list[str] = []
    for result, title in TITLES.items():
        lines += [title, "", *means_table(kept, RARE, BY_LOSS, result), ""]
    return lines[:-1]


def defaults() -> list[str]:
    kept = stored("tree_boost_defaults")
    names = dict.fromkeys(name for results in kept.values() for name in results)
    lines: list[str] = []
    for kind in ("mixed", "trees"):
        cases = [name.removeprefix(f"{kind}, ") for name in names if name.startswith(f"{kind}, ")]
        lines += [*settings_table(kept, kind, cases), ""]
    return lines[:-1]


TABLES: dict[str, Callable[[], list[str]]] = {
    "summary": summary,
    "tree_boost_quality": quality,
    "tree_boost_ebm": ebm,
    "tree_boost_losses": losses,
    "tree_boost_defaults": defaults,
}


def stored(name: str) -> Kept:
    """The results of a file."""
    return read_kept(RESULTS / f"{name}.json")


def updated(text: str) -> str:
    """The text of a page with its tables as the results have them."""

    def block(found: re.Match[str]) -> str:
        return "\n\n".join([found[1], "\n".join(TABLES[found[2]]()), "<!-- end -->"])

    return re.sub(r"(<!-- results: (\w+) -->)\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = updated(text)
        if new == text:
            continue
        if check:
            sys.exit(f"{page.name} differs from the results; `make pages` writes it")
        page.write_text(new, encoding="utf-8")
        print(f"wrote {page.name}")


if __name__ == "__main__":
    main()
