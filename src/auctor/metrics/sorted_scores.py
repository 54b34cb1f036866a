"""ROC curves of more scores than memory holds, by sorting them in files.

Scores are sorted in runs that fit into memory. A run is a list of distinct scores with the number
of positive and of negative rows of each, so that ties take no space. The runs are merged block by
block into one list, whose cumulated counts are the curve. All of it is in a spill folder, and only
blocks of it are in memory. The counts are whole numbers: the curve is the one that
:func:`auctor.metrics.roc_curve` gives for all scores in memory.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._text import first_few
from auctor._typing import Bools, Floats, Ints
from auctor.data.labels import distinct_labels, read_scores, read_vector
from auctor.data.stored.spill import SpillFolder
from auctor.kernels import roc
from auctor.metrics.curve import RocCurve, freeze
from auctor.metrics.sample import split

# Rows that are sorted at a time, and the memory for each of them.
RUN_ROWS, RUN_BYTES = 2**22, 80
# Distinct scores of all runs that are merged at a time.
_MERGED_AT_A_TIME = 2**20


class Steps(NamedTuple):
    """Distinct scores in decreasing order, with the number of rows of each class at each."""

    scores: Floats
    n_pos: Ints
    n_neg: Ints

    def part(self, start: int, stop: int) -> "Steps":
        """The steps from one index to another."""
        part = slice(start, stop)
        return Steps(self.scores[part], self.n_pos[part], self.n_neg[part])


def steps_of(positive: Bools, scores: Floats) -> Steps:
    """The steps of some rows.

    Examples
    --------
    >>> steps = steps_of(np.array([True, False, False]), np.array([2.0, 1.0, 2.0]))
    >>> [values.tolist() for values in steps]
    [[2.0, 1.0], [1, 0], [1, 1]]
    """
    pos, neg = split(scores, positive)
    pos.sort()
    neg.sort()
    thresholds, n_pos, n_neg = roc.curve_steps(pos, neg)
    return Steps(thresholds[1:], np.diff(n_pos), np.diff(n_neg))


def merge(runs: list[Steps]) -> Steps:
    """One list of steps from several, in which a score occurs once."""
    while len(runs) > 1:
        pairs = [runs[k : k + 2] for k in range(0, len(runs), 2)]
        runs = [
            Steps(*roc.merge_steps(*pair[0], *pair[1])) if len(pair) == 2 else pair[0]
            for pair in pairs
        ]
    return runs[0]


class ScoreSorter:
    """Collects scores batch by batch and sorts them in a spill folder.

    Parameters
    ----------
    spill : SpillFolder
        Where the runs and the curve are; the curve remains valid after the folder is removed.
    run_rows : int
        Rows that are sorted at a time.
    """

    def __init__(self, spill: SpillFolder, run_rows: int = RUN_ROWS) -> None:
        self._spill, self._run_rows = spill, run_rows
        self._runs: list[Steps] = []
        self._waiting: list[tuple[Bools, Floats]] = []
        self._n_waiting = 0
        self.n_pos = self.n_neg = 0

    def add(self, positive: Bools, scores: Floats) -> None:
        """Add rows; ``positive`` is whether each one is positive."""
        n_pos = int(np.count_nonzero(positive))
        self.n_pos += n_pos
        self.n_neg += len(positive) - n_pos
        self._waiting.append((positive, scores))
        self._n_waiting += len(positive)
        if self._n_waiting >= self._run_rows:
            self._sort_run()

    def curve(self, pos_label: Any = 1) -> RocCurve:
        """The ROC curve of all rows, whose arrays are files."""
        if min(self.n_pos, self.n_neg) == 0:
            missing = "positive" if self.n_pos == 0 else "negative"
            raise ValueError(f"there is no {missing} row; a ROC curve needs rows of both classes")
        self._sort_run()
        n_points = 1 + sum(len(run.scores) for run in self._runs)
        arrays = [self._spill.empty((n_points,), np.float64) for _ in range(3)]
        for array, first in zip(arrays, (np.inf, 0.0, 0.0), strict=True):
            array[0] = first
        stop, total_pos, total_neg = 1, 0, 0
        for steps in merged_blocks(self._runs, _MERGED_AT_A_TIME):
            start, stop = stop, stop + len(steps.scores)
            arrays[0][start:stop] = steps.scores
            arrays[1][start:stop] = total_pos + np.cumsum(steps.n_pos)
            arrays[2][start:stop] = total_neg + np.cumsum(steps.n_neg)
            total_pos += int(steps.n_pos.sum())
            total_neg += int(steps.n_neg.sum())
        self._runs = []  # frees their files
        thresholds, true_positives, false_positives = (array[:stop] for array in arrays)
        curve = RocCurve(
            thresholds, true_positives, false_positives, total_pos, total_neg, pos_label
        )
        return freeze(curve)

    def _sort_run(self) -> None:
        """Sort the waiting rows and put their steps into the spill folder."""
        if self._n_waiting == 0:
            return
        positive, scores = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        self._waiting, self._n_waiting = [], 0
        steps = steps_of(positive, scores)
        stored = [self._spill.empty((len(values),), values.dtype) for values in steps]
        for file, values in zip(stored, steps, strict=True):
            file[:] = values
        self._runs.append(Steps(*stored))


def merged_blocks(runs: list[Steps], n_steps: int) -> Iterator[Steps]:
    """The steps of all runs in decreasing order, in blocks of about ``n_steps``.

    A block has the scores of every run down to the largest of the last scores that were read. The
    run with that score is read on, so that each block takes all of at least one run's part.
    """
    size = max(n_steps // max(len(runs), 1), 1)
    starts = [0] * len(runs)
    while True:
        open_runs = [k for k, run in enumerate(runs) if starts[k] < len(run.scores)]
        if not open_runs:
            return
        ends = {k: min(starts[k] + size, len(runs[k].scores)) for k in open_runs}
        last = max(float(runs[k].scores[ends[k] - 1]) for k in open_runs)
        parts = []
        for k in open_runs:
            scores = runs[k].scores[starts[k] : ends[k]]
            stop = starts[k] + int(np.searchsorted(-scores, -last, side="right"))
            parts.append(runs[k].part(starts[k], stop))
            starts[k] = stop
        yield merge([part for part in parts if len(part.scores)])


def roc_curve_of_batches(
    batches: Iterable[tuple[Any, Any]],
    *,
    pos_label: Any,
    spill_dir: str | Path | None = None,
) -> RocCurve:
    """ROC curve of more scores than memory holds.

    The scores are sorted in files. The curve is the same as that of :func:`roc_curve` for all
    scores at once, and its arrays are files that are mapped into memory. Its methods, and the
    functions of ``auctor.metrics.from_curve``, read them in blocks.

    Parameters
    ----------
    batches : iterable of pairs (y_true, y_score)
        Labels and scores of some rows. A batch may have rows of one class only. Missing labels, and
        more than one label beside ``pos_label``, are errors.
    pos_label : label
        The label of the positive class.
    spill_dir : str or Path, optional
        A folder on a disk, with space for 48 bytes for each row. By default the system's folder
        for temporary files. The files have no name, and are gone with the curve.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> from auctor.metrics import roc_curve_of_batches
    >>> batches = [([0, 1], [0.1, 0.4]), ([1, 0], [0.8, 0.4])]
    >>> roc_curve_of_batches(batches, pos_label=1)
    ROC curve of 2 positives (label 1) and 2 negatives: 4 points, AUC 0.875
    """
    with SpillFolder(spill_dir) as spill:
        sorter = ScoreSorter(spill)
        others: set[Any] = set()
        for y_true, y_score in batches:
            labels = read_vector(y_true, "y_true")
            others |= _other_labels(labels, pos_label)
            _check_one(others, pos_label)
            scores = read_scores(y_score, len(labels), name="y_score").copy()
            sorter.add(np.asarray(labels == pos_label), scores)
        return sorter.curve(pos_label)


def _other_labels(labels: npt.NDArray[Any], pos_label: Any) -> set[Any]:
    """The labels of a batch that are not the positive one; an error if some are missing."""
    classes = distinct_labels(labels, "y_true") if len(labels) else labels
    return {label for label in classes.tolist() if label != pos_label}


def _check_one(others: set[Any], pos_label: Any) -> None:
    if len(others) > 1:
        shown = first_few(sorted(others, key=str), quote=False)
        raise ValueError(
            f"y_true has more than one label beside pos_label={pos_label!r}: {shown}; give rows of "
            "two classes"
        )
