"""`auctor reproduce`: the tables and figures of the papers, their numbers beside ours."""

import argparse
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from auctor.cli.errors import UsageError, listed
from auctor.cli.output import emit
from auctor.papers.catalogue import NAMES, Choice, choose, load_paper
from auctor.papers.experiment import Paper, Setup, Size
from auctor.papers.page import Claim
from auctor.papers.reproduce import Folders, Outcome, Reproduction


def run(args: argparse.Namespace) -> None:
    """Run the papers that are named; without a name, list what there is."""
    if not args.names:
        papers = [load_paper(name) for name in NAMES]
        emit({"papers": [_facts(paper) for paper in papers]}, _listing(papers), args.json)
        return
    choices = _choose(args.names)
    setup = Setup(Size.QUICK if args.quick else Size.FULL, args.seed)
    pages = Path(args.out)
    folders = Folders(pages, Path(args.results) if args.results else pages / "results")
    outcome = _reproduce(choices, setup, folders, args)
    emit(_outcome_facts(outcome), _outcome_text(outcome), args.json)
    _complain(outcome, any("/" in name for name in args.names))


def _choose(names: list[str]) -> list[Choice]:
    try:
        return choose(names)
    except ValueError as error:  # a name that is not known
        raise UsageError(str(error)) from error


def _reproduce(
    choices: list[Choice], setup: Setup, folders: Folders, args: argparse.Namespace
) -> Outcome:
    with suppress(ValueError):  # not in the main thread: whoever runs it there has to stop it
        signal.signal(signal.SIGTERM, _stop)
    try:
        again, is_loud = args.again, not args.quiet
        return Reproduction(setup, folders, args.jobs, again, is_loud).run(choices)
    except KeyboardInterrupt:
        print(
            "auctor: results so far are kept; the same command goes on from them", file=sys.stderr
        )
        raise


def _stop(*_: object) -> None:
    """End as Ctrl-C does, so that processes of the run end too."""
    raise KeyboardInterrupt


def _complain(outcome: Outcome, is_particular: bool) -> None:
    """Errors that the exit code has to tell of."""
    failed = outcome.failed()
    if failed:
        name, why = next(iter(failed.items()))
        raise ValueError(f"{len(failed)} case(s) failed, the first: {name} {why}")
    broken = outcome.broken()
    if broken:
        raise ValueError(f"a proved claim did not hold: {listed(c.text for c in broken)}")
    if is_particular and not outcome.claims and outcome.obstacles:
        name, why = next(iter(outcome.obstacles.items()))
        raise ValueError(f"{name} could not be run: {why}")


def _listing(papers: list[Paper]) -> str:
    lines = ["Papers and their experiments (auctor reproduce NAME, NAME/EXPERIMENT, or all):"]
    for paper in papers:
        lines += ["", f"{paper.name} ({paper.number}): {paper.citation}"]
        width = max(len(experiment.name) for experiment in paper.experiments)
        lines += [f"  {e.name:<{width}}  {e.title}" for e in paper.experiments]
    return "\n".join(lines)


def _facts(paper: Paper) -> dict[str, Any]:
    experiments = {experiment.name: experiment.title for experiment in paper.experiments}
    return {"name": paper.name, "citation": paper.citation, "experiments": experiments}


def _outcome_facts(outcome: Outcome) -> dict[str, Any]:
    return {
        "claims": [vars(claim) for claim in outcome.claims],
        "not_run": outcome.obstacles,
        "written": [str(path) for path in outcome.written],
    }


def _claim_line(claim: Claim) -> str:
    if not claim.is_ours:
        return f"{claim.verdict}: {claim.text} ({claim.number})"
    return f"check {'failed' if claim.is_broken() else 'held'}: {claim.text} ({claim.number})"


def _outcome_text(outcome: Outcome) -> str:
    lines = [_claim_line(claim) for claim in outcome.claims]
    for reason in sorted(set(outcome.obstacles.values())):
        names = [name for name, why in outcome.obstacles.items() if why == reason]
        lines.append(f"not run ({len(names)} cases, {reason}): {'; '.join(names[:4])}")
    lines += [f"put aside earlier results: {path}" for path in outcome.put_aside]
    lines.append(f"wrote {', '.join(str(path) for path in outcome.written)}")
    return "\n".join(lines)
