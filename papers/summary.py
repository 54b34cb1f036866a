"""The pages about all papers: ``index.md`` with the headline claims, ``claims.md`` with all."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from papers.catalogue import NAMES
from papers.experiment import Setup
from papers.page import Verdict, claims_file, holds_words, made_by, table_row, write_whole

_INTRODUCTION = """\
The main claims of the five papers behind this library, the paper's figure, ours, and a verdict that
is computed from the results. The [list of all claims](claims.md), with the rules of the verdicts,
is behind this page; the page of each paper has its tables and figures."""
_CLAIMS_INTRODUCTION = """\
Every claim with its verdict and the number that decides it. First the claims of each paper, then
what the paper does not claim: checks of our corrections and of this library, and additions. The
rules of the verdicts are [at the end](#how-verdicts-are-made)."""
_RULES = """\
## How verdicts are made

One set of rules for all papers (`papers/verdicts.py`):

- A *figure* is reproduced if it lies in the 95 % interval of its difference from ours, which
  includes the paper's own sampling error and rounding. It is undecided if that interval is wider
  than ± 5 % of the range of the quantity (± 0.05 for an AUC), and *better* if ours is better than
  the paper's figure beyond the interval, for a method that the paper proposes.
- A *difference* is judged by its 95 % interval: above 0, below 0, or undecided.
- A claim about *several rows* is reproduced if most rows agree and at most one in ten contradicts
  it, in part if more rows agree than contradict, undecided if chance explains all rows.
- *Not comparable*: the paper and we did not measure the same thing, and the page says why.
- A *proved* statement must hold in every case.
- Statements of our own (corrections, additions, other distributions, our estimators) are counted
  apart."""

Facts = dict[str, Any]


def write_summary(folder: Path, results_folder: Path, setup: Setup) -> Path:
    """Write ``index.md`` and ``claims.md`` for the papers whose pages are in the folder."""
    facts_of = {}
    for name in NAMES:
        path = claims_file(results_folder, name)
        if path.exists() and (folder / f"{name}.md").exists():
            facts_of[name] = json.loads(path.read_text(encoding="utf-8"))
    parts = ["# The papers, reproduced", _INTRODUCTION, _headlines(facts_of), "## Counts"]
    parts += [_counts(facts_of), _pictures(facts_of), made_by(setup)]
    path = folder / "index.md"
    write_whole(path, "\n\n".join(filter(None, parts)) + "\n")
    _write_claims(folder / "claims.md", facts_of)
    return path


def _short(facts: Facts) -> str:
    """Authors and year; of more than three authors the first."""
    authors, _, year = str(facts["citation"]).partition(":")[0].rpartition(" ")
    names = authors.replace(" & ", ", ").split(", ")
    return f"{authors if len(names) <= 3 else f'{names[0]} et al.'} {year}"


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = list(head)
    return "\n".join([table_row(head), "|---" * len(head) + "|", *map(table_row, map(list, rows))])


def _headlines(facts_of: dict[str, Facts]) -> str:
    rows = []
    for name, facts in facts_of.items():
        paper = f"[{_short(facts)}]({name}.md)"
        for claim in facts["claims"]:
            if claim["headline"] is not None:
                told = [claim["headline"][key] for key in ("text", "paper", "ours")]
                rows.append([paper, *told, f"**{claim['verdict']}**", claim["cause"]])
                paper = ""  # in the first row only
    return _table(["paper", "claim", "the paper's figure", "ours", "verdict", "cause"], rows)


def _counts(facts_of: dict[str, Facts]) -> str:
    counts = {name: _count(facts) for name, facts in facts_of.items()}
    used = [v for v in Verdict if any(count[v] for count in counts.values())]
    rows = []
    for name, facts in facts_of.items():
        ours = [claim for claim in facts["claims"] if claim["is_ours"]]
        held = sum(claim["verdict"] in (Verdict.REPRODUCED, Verdict.BETTER) for claim in ours)
        total = sum(counts[name].values())
        own = f"{held} of {len(ours)}"
        rows.append([_short(facts), total, *(counts[name][v] for v in used), own])
    return _table(["claims of", "all", *used, "of our own: hold"], rows)


def _count(facts: Facts) -> Counter[str]:
    counts = Counter(claim["verdict"] for claim in facts["claims"] if not claim["is_ours"])
    counts[Verdict.NOT_RUN] += len(facts["left_out"])
    return counts


def _pictures(facts_of: dict[str, Facts]) -> str:
    """One picture for each paper, in a row."""
    known = {name: facts for name, facts in facts_of.items() if facts["best_figure"]}
    if not known:
        return ""
    cells = [f"[![{_short(f)}]({n}/{f['best_figure']}.png)]({n}.md)" for n, f in known.items()]
    return _table([_short(facts) for facts in known.values()], [cells])


def _write_claims(path: Path, facts_of: dict[str, Facts]) -> None:
    parts = ["# All claims", _CLAIMS_INTRODUCTION]
    for name, facts in facts_of.items():
        parts += [f"## [{facts['citation']}]({name}.md)", _paper_table(facts)]
        own = [claim for claim in facts["claims"] if claim["is_ours"]]
        if own:
            rows = [
                [claim["experiment"], claim["text"], holds_words(Verdict(claim["verdict"])),
                 claim["number"]]
                for claim in own
            ]  # fmt: skip
            head = ["", "what the paper does not claim", "result", "number"]
            parts.append(_table(head, rows))
    write_whole(path, "\n\n".join([*parts, _RULES]) + "\n")


def _paper_table(facts: Facts) -> str:
    theirs = [claim for claim in facts["claims"] if not claim["is_ours"]]
    keys = ("experiment", "text", "verdict", "cause", "number")
    rows = [[claim[key] for key in keys] for claim in theirs]
    rows += [[name, "", Verdict.NOT_RUN, "", why] for name, why in facts["left_out"].items()]
    return _table(["", "claim", "verdict", "cause", "number"], rows)
