"""From a model and labelled rows to a report file, in one call."""

from pathlib import Path
from typing import Any

from auctor._files import write_text_file
from auctor.report.page import render
from auctor.report.summary import summarize


def write_report(model: Any, X: Any, y: Any, path: str | Path, **options: Any) -> None:
    """Write the HTML report of a model on labelled rows.

    Parameters
    ----------
    model : fitted estimator of auctor, or Model
        A model that :func:`auctor.load` returned will do.
    X, y
        Labelled rows, preferably not those of the fit: on them every number is too optimistic,
        unless ``scores`` and ``folds`` give out-of-fold scores.
    path : str or Path
        The HTML file. After an error it is unchanged: no incomplete page is written.
    **options
        ``sample_weight``, ``groups``, ``about`` (such as ``{"title": "Loans"}``) and the other
        arguments of :func:`auctor.report.summarize`.

    Examples
    --------
    >>> from auctor.report import write_report
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from auctor import RankBoost
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    >>> ranker = RankBoost(n_estimators=5).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(ranker, X, y, f"{folder}/report.html", about={"title": "Six rows"})
    ...     "Six rows" in Path(f"{folder}/report.html").read_text(encoding="utf-8")
    True
    """
    write_text_file(path, render(summarize(model, X, y, **options)))
