"""`auctor evaluate` of a table larger than memory: scores are sorted in files, rows forgotten."""

from auctor.cli.evaluated_rows import RowsInFiles
from auctor.cli.labels import (
    find_positives,
    incomplete,
    missing_labels,
    one_label,
    read_target,
)
from auctor.cli.large import DEFAULT_MEMORY, batch_rows
from auctor.cli.model_rows import check_class_counts, feature_batches, needed_columns
from auctor.cli.options import ColumnRoles
from auctor.cli.row_sample import RowSample
from auctor.cli.table_file import TableFile
from auctor.data.stored.dataset import FIXED_BYTES
from auctor.data.stored.memory import read_memory
from auctor.data.stored.spill import SpillFolder
from auctor.metrics.sorted_scores import RUN_BYTES, RUN_ROWS, ScoreSorter
from auctor.models import Model
from auctor.models.new_rows import Finding, RowComparison


def read_in_batches(
    model: Model,
    source: TableFile,
    roles: ColumnRoles,
    max_memory: str | None,
    spill: SpillFolder,
    sample: RowSample | None = None,
) -> tuple[RowsInFiles, list[Finding]]:
    """Score all rows; their ROC curve, and how they differ from the training rows.

    ``sample`` is given all rows, with the columns that it asks for.
    """
    target = roles.target
    more = [target] if sample is None else [target, *sample.columns]
    source.require(more)
    text = [target] if isinstance(model.classes[1], str) else []
    names, _ = needed_columns(model, source, more, text)
    memory = read_memory(max_memory or DEFAULT_MEMORY, "--max-memory")
    # One half is for the rows that are read, the other one for the scores that are sorted.
    n_rows = batch_rows(max_memory, len(names), parts=2)
    sorter = ScoreSorter(spill, min(RUN_ROWS, (memory - FIXED_BYTES) // 2 // RUN_BYTES))
    comparison, n_missing = RowComparison(model), 0
    for rows in feature_batches(model, source, n_rows, more, text):
        n_missing += missing_labels(rows[target])
        if n_missing:  # the other rows are read for their number alone
            continue
        if sample is not None:
            sample.add(rows)
        labels = read_target(rows[target], target)
        X = rows.select(list(model.feature_names))
        comparison.add(X)
        sorter.add(find_positives(labels, model.classes, target), model.decision_function(X))
        last_label = labels[-1:].tolist()[0]
    if n_missing:
        raise incomplete(n_missing, target, "label")
    if min(sorter.n_pos, sorter.n_neg) == 0:
        raise one_label(last_label, target)
    check_class_counts(sorter.n_pos, sorter.n_neg, target)
    return RowsInFiles(sorter.curve(model.classes[1])), comparison.findings()
