"""The summary page of all papers: every claim with its verdict."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from papers.catalogue import NAMES
from papers.page import Verdict, claims_file, table_row, write_whole

_INTRODUCTION = """\
The claims of the five papers behind this library, each with a verdict and the number that decides
it. The page of each paper has its tables and figures with their uncertainty. Verdicts are computed
by the programs in `papers/`, not written by hand. Checks of our own, of our corrections to a paper
and of this library, are counted separately."""
_MEANING = {
    Verdict.REPRODUCED: "our figures agree within chance, or a proved statement held",
    Verdict.BETTER: "our figures are better than the paper's",
    Verdict.PARTLY: "a part of the claim holds",
    Verdict.UNDECIDED: "the cases that were run do not decide it",
    Verdict.NOT_REPRODUCED: "our figures contradict it; the page gives the reason if it is known",
    Verdict.NOT_RUN: "a table or a package was missing, or the experiment was not selected",
}
_CHECK = "check of our own"

Facts = dict[str, Any]


def write_summary(folder: Path, results_folder: Path) -> Path:
    """Write ``index.md`` with every claim of the papers whose pages are in the folder."""
    facts_of = {}
    for name in NAMES:
        path = claims_file(results_folder, name)
        if path.exists() and (folder / f"{name}.md").exists():
            facts_of[name] = json.loads(path.read_text(encoding="utf-8"))
    parts = ["# The papers, reproduced", _INTRODUCTION, _counts(list(facts_of.values()))]
    for name, facts in facts_of.items():
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
