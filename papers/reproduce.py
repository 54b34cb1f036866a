"""Run experiments of papers, and write their pages and the summary."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auctor._progress import Progress
from papers.catalogue import Choice
from papers.experiment import Experiment, Paper, Setup
from papers.page import Claim, Page
from papers.results import Results
from papers.runner import FAILED, Workers, run_experiment
from papers.summary import write_summary

Obstacles = dict[str, dict[str, str]]  # experiment -> case -> why it could not be run


@dataclass(frozen=True)
class Folders:
    """The folder of the pages and pictures, and that of the results of single cases."""

    pages: Path
    results: Path

    def kept(self, paper: Paper, experiment: Experiment, setup: Setup) -> Path:
        """Return the result file of an experiment; each size and seed has its own."""
        which = f"{setup.size.value}{'' if setup.seed == 0 else f'-seed{setup.seed}'}"
        return self.results / f"{paper.name}.{experiment.name}.{which}.jsonl"

    def earlier(self, paper: Paper, experiment: Experiment, setup: Setup) -> dict[str, Any] | None:
        """The section of an earlier run whose results were not kept, if there is one."""
        path = self.kept(paper, experiment, setup).with_suffix(".section.json")
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@dataclass
class Outcome:
    """The result of a run: files written, claims, and cases that could not be run."""

    written: list[Path] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    obstacles: dict[str, str] = field(default_factory=dict)  # paper/experiment: case -> why
    put_aside: list[Path] = field(default_factory=list)

    def failed(self) -> dict[str, str]:
        """Cases that ended in an error."""
        return {name: why for name, why in self.obstacles.items() if why.startswith(FAILED)}

    def broken(self) -> list[Claim]:
        """Proved claims that did not hold."""
        return [claim for claim in self.claims if claim.is_broken()]


@dataclass(frozen=True)
class Reproduction:
    """A run of experiments: stored results are reused unless ``again`` is set."""

    setup: Setup
    folders: Folders
    n_jobs: int = 1
    again: bool = False
    verbose: bool = False
    pages_only: bool = False  # write pages from stored results, without running a case

    def run(self, choices: Sequence[Choice]) -> Outcome:
        """Run the chosen experiments; after each paper write its page and the summary."""
        outcome = Outcome()
        with Workers(self.n_jobs) as workers:
            for paper, experiments in choices:
                obstacles: Obstacles = {}
                if not self.pages_only:
                    obstacles = self._run_paper(paper, experiments, workers, outcome)
                page = self._fill_page(paper, obstacles)
                outcome.claims += page.claims
                outcome.written.append(page.write(self.folders.results))
                summary = write_summary(self.folders.pages, self.folders.results, self.setup)
        outcome.written.append(summary)
        return outcome

    def _run_paper(
        self,
        paper: Paper,
        experiments: Sequence[Experiment],
        workers: Workers,
        outcome: Outcome,
    ) -> Obstacles:
        kept = {e.name: self._results(paper, e, self.again) for e in experiments}
        left = [
            case
            for experiment in experiments
            for case in experiment.cases(self.setup)
            if case.name not in kept[experiment.name] and case.obstacle() is None
        ]
        work = sum(case.cost for case in left)
        progress = Progress(len(left), paper.name, self.verbose and bool(left), work=work)
        obstacles: Obstacles = {}
        for experiment in experiments:
            results = kept[experiment.name]
            reasons = run_experiment(experiment, self.setup, results, workers, progress)
            obstacles[experiment.name] = reasons
            name = f"{paper.name}/{experiment.name}"
            outcome.obstacles.update({f"{name}: {case}": why for case, why in reasons.items()})
            if results.put_aside is not None:
                outcome.put_aside.append(results.put_aside)
        progress.close()
        return obstacles

    def _results(self, paper: Paper, experiment: Experiment, again: bool = False) -> Results:
        return Results(self.folders.kept(paper, experiment, self.setup), self.setup, again)

    def _fill_page(self, paper: Paper, obstacles: Obstacles) -> Page:
        """Write a page from all stored results, including those of earlier runs."""
        page = Page(paper, self.setup, self.folders.pages)
        for experiment in paper.experiments:
            results = self._results(paper, experiment).stored()
            page.begin(experiment)
            earlier = self.folders.earlier(paper, experiment, self.setup)
            if results:
                experiment.report(page, results, self.setup)
            elif earlier is not None:
                page.restore(earlier)
            else:
                page.text("This experiment has not been run.")
            is_empty = not results and earlier is None
            page.not_run(obstacles.get(experiment.name, {}), is_empty)
        return page
