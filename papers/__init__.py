"""The tables and figures of the papers, reproduced: ``python -m papers`` and ``make papers``.

Each paper has a folder with ``README.md`` (claims, set-up, corrections, differences), ``run.py``
(its experiments) and ``expected.json`` (the figures that the paper prints). An `Experiment` is a
list of cases, each of which returns a dict of numbers, and a report that turns these into a section
of the paper's page. Running cases, storing results, resuming and writing pages are shared.
"""
