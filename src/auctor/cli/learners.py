"""`auctor learners`: the names that ``auctor fit --learner`` takes."""

import argparse
import inspect

from auctor.cli.output import emit
from auctor.estimators.registry import LEARNERS


def run(args: argparse.Namespace) -> None:
    """List the learners with the first line of what their classes say of themselves."""
    summaries = {name: _first_line(learner) for name, learner in sorted(LEARNERS.items())}
    width = max(map(len, summaries))
    text = "\n".join(f"{name:<{width}}  {summary}" for name, summary in summaries.items())
    emit({"learners": summaries}, text, args.json)


def _first_line(learner: type) -> str:
    return (inspect.getdoc(learner) or "").partition("\n")[0]
