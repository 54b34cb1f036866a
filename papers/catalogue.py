"""The papers by name; a paper is imported when it is requested."""

from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

from papers.experiment import Experiment, Paper

NAMES = (
    "long_servedio_2007",
    "suehiro_2011",
    "clemencon_vayatis_2009",
    "komori_2010",
    "csillag_2021",
)


class Choice(NamedTuple):
    """A paper and the selected experiments."""

    paper: Paper
    experiments: tuple[Experiment, ...]


def load_paper(name: str) -> Paper:
    """Load a paper by the name of its folder."""
    return import_module(f"papers.{name}.run").PAPER


def choose(wanted: list[str]) -> list[Choice]:
    """Read ``all``, names of papers and ``paper/experiment``; each paper appears once."""
    chosen: dict[str, list[str] | None] = {}
    for text in wanted:
        for name, experiment in _read(text):
            if experiment is None:
                chosen[name] = None
            elif chosen.setdefault(name, []) is not None:
                chosen[name] = [*(chosen[name] or []), experiment]
    return [_choice(name, chosen[name]) for name in NAMES if name in chosen]


def _read(text: str) -> list[tuple[str, str | None]]:
    if text == "all":
        return [(name, None) for name in NAMES]
    paper, _, experiment = text.partition("/")
    plain = paper.replace("-", "_")
    if plain in NAMES:
        return [(plain, experiment or None)]
    raise ValueError(f"NAME is {text!r}{_nearest(plain, list(NAMES))}")


def _choice(name: str, experiments: list[str] | None) -> Choice:
    paper = load_paper(name)
    known = {experiment.name: experiment for experiment in paper.experiments}
    for experiment in experiments or []:
        if experiment not in known:
            raise ValueError(
                f"NAME is {f'{name}/{experiment}'!r}{_nearest(experiment, list(known))}"
            )
    wanted = [e for e in known.values() if experiments is None or e.name in experiments]
    return Choice(paper, tuple(wanted))


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    if near:
        return f", which is not known; did you mean {near[0]!r}?"
    return f", which is not known; there are {', '.join(known)}"
