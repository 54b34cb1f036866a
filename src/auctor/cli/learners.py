"""`auctor learners`: the names that ``auctor fit --learner`` takes."""

import argparse
import inspect

from auctor.cli.output import emit
from auctor.estimators.registry import LEARNERS


def run(args: argparse.Namespace) -> None:
    """List the learners, each with the first line of its class's documentation."""
    list_learners(as_json=args.json)


def list_learners(*, as_json: bool) -> None:
    """Print every learner with a summary."""
    summaries = {name: _first_line(LEARNERS[name]) for name in sorted(LEARNERS)}
    width = max(map(len, summaries))
    text = "\n".join(f"{name:<{width}}  {summary}" for name, summary in summaries.items())
    emit({"learners": summaries}, text, as_json)


def _first_line(learner: type) -> str:
    return (inspect.getdoc(learner) or "").partition("\n")[0]
