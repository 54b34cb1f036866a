"""A paper with nothing in it, for the tests of the machinery."""

import json
import os
from functools import partial
from pathlib import Path

from papers.experiment import Case, CaseResults, Experiment, Paper, Result, Setup
from papers.page import Page, Verdict


def square(number: int) -> Result:
    """Return a square, and note the call in the file TOY_TRACE if it is set."""
    trace = os.environ.get("TOY_TRACE")
    if trace:
        with Path(trace).open("a") as file:
            file.write(f"{number}\n")
    if os.environ.get("TOY_STOP") == str(number):
        raise KeyboardInterrupt
    if os.environ.get("TOY_FAIL") == str(number):
        raise RuntimeError("asked to fail")
    return {"square": number * number, "process": os.getpid()}


def cases(setup: Setup) -> list[Case]:
    """A few squares; one case needs a table and one a package that do not exist."""
    return [
        *(Case(f"{n}", partial(square, n), cost=n) for n in range(1, setup.pick(5, 4, 3))),
        Case("data", partial(square, 10), tables=("no_such_table",)),
        Case("package", partial(square, 11), packages=("no_such_package",)),
    ]


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """A table, a picture and two claims."""
    page.table(["n", "square"], [[n, results[n]["square"]] for n in sorted(results)])
    page.figure("line", lambda figure: figure.subplots().plot([0, 1], [0, 1]), "A line")
    page.claim("squares grow", Verdict.REPRODUCED, f"{len(results)} of them")
    page.must_hold("1 x 1 = 1", results["1"]["square"] == page.expected["one"], "1")


def missing_cases(setup: Setup) -> list[Case]:
    """Return no cases."""
    return [case for case in cases(setup) if case.obstacle()]


def make_paper(folder: Path, one: int = 1, only_missing: bool = False) -> Paper:
    """Make the paper and write its folder to ``folder``."""
    folder.mkdir(exist_ok=True)
    (folder / "README.md").write_text("# A toy\n")
    (folder / "expected.json").write_text(json.dumps({"one": one}))
    chosen = missing_cases if only_missing else cases
    experiments = (
        Experiment("squares", "Table 1: squares", chosen, report),
        Experiment("other", "Table 2: nothing yet", chosen, report),
    )
    return Paper("toy", "Nobody (1900)", folder, experiments)
