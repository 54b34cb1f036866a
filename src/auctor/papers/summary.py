"""The summary of all papers: claim by claim, reproduced, better, or not."""

import json
from collections import Counter
from pathlib import Path

from auctor.papers.catalogue import NAMES
from auctor.papers.experiment import Setup, Size
from auctor.papers.page import Verdict, claims_file, table_row, versions, write_whole

_MEANING = {
    Verdict.REPRODUCED: "the same within chance, or a proved statement that held",
    Verdict.BETTER: "ours is ahead of what the paper reports",
    Verdict.PARTLY: "some of it",
    Verdict.NOT_REPRODUCED: "our figures say otherwise; the page says why, where we know",
    Verdict.NOT_RUN: "a table or a package was missing",
}


def write_summary(folder: Path, results_folder: Path, setup: Setup) -> Path:
    """``index.md``: every claim of the papers that have been run into this folder."""
    read = {}
    for name in NAMES:
        path = claims_file(results_folder, name)
        if path.exists() and (folder / f"{name}.md").exists():
            read[name] = json.loads(path.read_text(encoding="utf-8"))
    claims = [claim for paper in read.values() for claim in paper["claims"]]
    parts = ["# The papers, reproduced", _introduction(setup), _counts(claims)]
    for name, paper in read.items():
        parts += [f"## [{paper['citation']}]({name}.md)", _table(name, paper["claims"])]
    path = folder / "index.md"
    write_whole(path, "\n\n".join(parts) + "\n")
    return path


def _introduction(setup: Setup) -> str:
    quick = "" if setup.size == Size.FULL else f" --{setup.size.value}"
    return (
        "What the five papers behind this library claim, and what came of it here: each claim with "
        "its number, and a page for each paper with tables, pictures and spread. Verdicts are "
        f"computed, not written. Made by `auctor reproduce all{quick} --seed {setup.seed}` with "
        f"{versions()}."
    )


def _counts(claims: list[dict[str, str]]) -> str:
    counts = Counter(claim["verdict"] for claim in claims)
    lines = ["| verdict | claims | meaning |", "|---|---|---|"]
    lines += [f"| {v} | {counts[v]} | {meaning} |" for v, meaning in _MEANING.items() if counts[v]]
    return "\n".join(lines)


def _table(name: str, claims: list[dict[str, str]]) -> str:
    lines = ["| | claim | verdict | number |", "|---|---|---|---|"]
    for claim in claims:
        cells = (claim["experiment"], claim["text"], claim["verdict"], claim["number"])
        lines.append(table_row(cells))
    return "\n".join(lines)
