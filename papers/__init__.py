"""The papers' tables and figures, run again: ``python -m papers``, ``make papers``.

One folder a paper: ``README.md`` (claim, set-up, corrections, differences), ``run.py`` (its
experiments) and ``expected.json`` (the paper's figures). An `Experiment` is a list of cases, each
of which leaves a dict of numbers, and a report that turns those into a section of a page; running,
keeping, going on after a stop and writing are the same for all.
"""
