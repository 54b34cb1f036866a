"""The summary of all papers: claim by claim, reproduced, better, or not."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from papers.catalogue import NAMES
from papers.page import Verdict, claims_file, table_row, write_whole

_INTRODUCTION = """\
What the five papers behind this library claim, and what came of it here: each claim with its
number, and a page for each paper with tables, pictures and spread. Verdicts are computed, not
written. Checks of our own - of what we corrected in a paper, and of this library - count apart."""
_MEANING = {
    Verdict.REPRODUCED: "the same within chance, or a proved statement that held",
    Verdict.BETTER: "ours is ahead of what the paper reports",
    Verdict.PARTLY: "some of it",
    Verdict.UNDECIDED: "what was run cannot tell",
    Verdict.NOT_REPRODUCED: "our figures say otherwise; the page says why, where we know",
    Verdict.NOT_RUN: "a table or a package was missing, or it was not asked for",
}
_CHECK = "check of our own"

Facts = dict[str, Any]


def write_summary(folder: Path, results_folder: Path) -> Path:
    """``index.md``: every claim of the papers that have been run into this folder."""
    read = {}
    for name in NAMES:
        path = claims_file(results_folder, name)
        if path.exists() and (folder / f"{name}.md").exists():
            read[name] = json.loads(path.read_text(encoding="utf-8"))
    parts = ["# The papers, reproduced", _INTRODUCTION, _counts(list(read.values()))]
    for name, facts in read.items():
        parts += [f"## [{facts['citation']}]({name}.md)", facts["made"], _table(facts)]
    path = folder / "index.md"
    write_whole(path, "\n\n".join(parts) + "\n")
    return path


def _counts(papers: list[Facts]) -> str:
    claims = [claim for facts in papers for claim in facts["claims"]]
    counts = Counter(claim["verdict"] for claim in claims if not claim["is_ours"])
    counts[Verdict.NOT_RUN] += sum(len(facts["left_out"]) for facts in papers)
    lines = ["| verdict | claims | meaning |", "|---|---|---|"]
    lines += [f"| {v} | {counts[v]} | {meaning} |" for v, meaning in _MEANING.items() if counts[v]]
    checks = [claim for claim in claims if claim["is_ours"]]
    held = sum(claim["verdict"] == Verdict.REPRODUCED for claim in checks)
    lines.append(f"| {_CHECK} | {len(checks)} | {held} held |")
    return "\n".join(lines)


def _table(facts: Facts) -> str:
    rows = []
    for claim in facts["claims"]:
        verdict = claim["verdict"]
        if claim["is_ours"]:
            verdict = f"{_CHECK}: {'held' if verdict == Verdict.REPRODUCED else 'failed'}"
        rows.append((claim["experiment"], claim["text"], verdict, claim["number"]))
    rows += [(name, "", Verdict.NOT_RUN, why) for name, why in facts["left_out"].items()]
    head = ["| | claim | verdict | number |", "|---|---|---|---|"]
    return "\n".join([*head, *(table_row(row) for row in rows)])
