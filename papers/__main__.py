"""``python -m papers``: reproduce the tables and figures of the papers."""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from auctor._text import count, first_few
from papers import catalogue
from papers.experiment import Paper, Setup, Size
from papers.page import Claim, verdict_words
from papers.reproduce import Folders, Outcome, Reproduction

OK, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

_EXAMPLES = """\
examples:
  python -m papers                                 list the papers and their experiments
  python -m papers komori_2010/table1 --quick      run one table on small sizes
  python -m papers all --jobs 2 --out pages        run everything (hours); a stopped run is resumed

Experiments on real tables look for them in the folder that AUCTOR_DATA names.
"""


class Broken(Exception):  # noqa: N818 - the run itself went well
    """A run in which a case failed or a proved claim did not hold."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named papers or experiments; without a name, list them."""
    options = _parser().parse_args(argv)
    try:
        choices = catalogue.choose(options.names)
    except ValueError as error:  # a name that is not known
        return _fail(str(error), WRONG_USAGE)
    if not choices:
        _list_papers(options.json)
        return OK
    pages = Path(options.out)
    folders = Folders(pages, Path(options.results) if options.results else pages / "results")
    setup = Setup(Size.QUICK if options.quick else Size.FULL, options.seed)
    run = Reproduction(
        setup, folders, options.jobs, options.again, not options.quiet, options.pages_only
    )
    with suppress(ValueError):  # only the main thread may set a signal handler
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        outcome = run.run(choices)
        _print(_outcome_facts(outcome), _outcome_text(outcome), options.json)
        _check(outcome, is_particular=any("/" in name for name in options.names))
    except KeyboardInterrupt:
        kept = "interrupted; results so far are kept, and the same command continues from them"
        return _fail(kept, INTERRUPTED)
    except (Broken, OSError) as error:
        return _fail(str(error), FAILED)
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m papers",
        description="Reproduce the experiments of the papers and write a page for each paper.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    names = "a paper, PAPER/EXPERIMENT, or all (default: list them)"
    add("names", metavar="NAME", nargs="*", help=names)
    add("--quick", action="store_true", help="run smaller sizes, in minutes")
    add("--out", metavar="DIR", default="papers-output", help="folder of the pages (papers-output)")
    add("--results", metavar="DIR", help="folder of the results of single cases (OUT/results)")
    jobs = "number of processes; experiments that measure times use one (1)"
    add("--jobs", metavar="N", type=_at_least_one, default=1, help=jobs)
    add("--again", action="store_true", help="rename earlier results and run everything again")
    pages = "write the pages from the stored results and run nothing"
    add("--pages-only", action="store_true", help=pages)
    add("--quiet", action="store_true", help="show no progress on stderr")
    add("--seed", metavar="N", type=int, default=0, help="seed of the experiments (0)")
    add("--json", action="store_true", help="print one JSON object")
    return parser


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _interrupt(*_: object) -> None:
    """End as Ctrl-C does, so that the processes of the run end too."""
    raise KeyboardInterrupt


def _fail(message: str, code: int) -> int:
    print(f"papers: error: {message}", file=sys.stderr)
    return code


def _print(facts: dict[str, Any], text: str, as_json: bool) -> None:
    print(json.dumps(facts, indent=2, default=str) if as_json else text)


def _check(outcome: Outcome, is_particular: bool) -> None:
    """Raise an error for what the exit code must report.

    A case that cannot be run because a table is missing counts only if it was selected by name.
    """
    failed = outcome.failed()
    if failed:
        name, why = next(iter(failed.items()))
        raise Broken(f"{count(len(failed), 'case')} failed, the first: {name} {why}")
    broken = outcome.broken()
    if broken:
        raise Broken(f"a proved claim did not hold: {first_few(claim.text for claim in broken)}")
    if is_particular and not outcome.claims and outcome.obstacles:
        name, why = next(iter(outcome.obstacles.items()))
        raise Broken(f"{name} could not be run: {why}")


def _list_papers(as_json: bool) -> None:
    papers = [catalogue.load_paper(name) for name in catalogue.NAMES]
    _print({"papers": [_paper_facts(paper) for paper in papers]}, _listing(papers), as_json)


def _listing(papers: list[Paper]) -> str:
    lines = ["Papers and their experiments (python -m papers NAME, NAME/EXPERIMENT, or all):"]
    for paper in papers:
        lines += ["", f"{paper.name}: {paper.citation}"]
        width = max(len(experiment.name) for experiment in paper.experiments)
        lines += [f"  {e.name:<{width}}  {e.title}" for e in paper.experiments]
    return "\n".join(lines)


def _paper_facts(paper: Paper) -> dict[str, Any]:
    experiments = {experiment.name: experiment.title for experiment in paper.experiments}
    return {"name": paper.name, "citation": paper.citation, "experiments": experiments}


def _outcome_facts(outcome: Outcome) -> dict[str, Any]:
    return {
        "claims": [vars(claim) for claim in outcome.claims],
        "not_run": outcome.obstacles,
        "written": [str(path) for path in outcome.written],
    }


def _claim_line(claim: Claim) -> str:
    return f"{verdict_words(claim)}: {claim.text} ({claim.number})"


def _outcome_text(outcome: Outcome) -> str:
    lines = [_claim_line(claim) for claim in outcome.claims]
    for reason in sorted(set(outcome.obstacles.values())):
        names = [name for name, why in outcome.obstacles.items() if why == reason]
        lines.append(f"not run ({count(len(names), 'case')}, {reason}): {'; '.join(names[:4])}")
    lines += [f"renamed earlier results to {path}" for path in outcome.put_aside]
    lines.append(f"wrote {', '.join(str(path) for path in outcome.written)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
