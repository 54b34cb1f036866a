"""The rows of a table as a fitted model needs them: features, labels, scores, reference."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._text import count, first_few
from auctor._typing import Bools, Floats
from auctor.cli.labels import match_labels, read_target, read_weight_and_group
from auctor.cli.options import ColumnRoles
from auctor.cli.tables import TableFile, open_table
from auctor.models import ExplainedModel, Model


def read_features(
    model: Model, source: TableFile, more: Sequence[str] = (), text: Sequence[str] = ()
) -> pa.Table:
    """The columns that a model needs, and ``more`` of them, with the types of the training data.

    Columns that the model does not use are not parsed, so that a date among them does no harm.
    """
    _require_features(model, source)
    names = list(dict.fromkeys([*model.feature_names, *more]))
    return source.read(names, text=[*model.text_features, *text])


def _require_features(model: Model, source: TableFile) -> None:
    missing = [name for name in model.feature_names if name not in source.columns]
    if len(missing) == 1:
        source.require(missing)  # its error suggests the nearest name
    if missing:
        raise ValueError(
            f"{source.name} lacks {len(missing)} columns that the model needs: {first_few(missing)}"
        )


class Labelled(NamedTuple):
    """Scored rows whose labels are known."""

    X: pa.Table
    positive: Bools
    scores: Floats
    weight: Floats | None
    groups: npt.NDArray[Any] | None


def read_labelled(model: Model, source: TableFile, roles: ColumnRoles) -> Labelled:
    """Read and score the rows of a table that has labels."""
    others = list(roles.special.values())
    source.require(others)
    # Labels that were text in training are read as text, even if they look like numbers.
    text = [roles.target] if isinstance(model.classes[1], str) else []
    table = read_features(model, source, others, text)
    target = read_target(table[roles.target], roles.target)
    positive = match_labels(target, model.classes, roles.target)
    weight, groups = read_weight_and_group(table, roles, source.line_of)
    _check_counts(positive, weight, roles.target)
    X = table.select(list(model.feature_names))
    return Labelled(X, positive, model.decision_function(X), weight, groups)


def _check_counts(positive: Bools, weight: Floats | None, name: str) -> None:
    """Without two rows of each class an AUC has no confidence interval."""
    counted = positive if weight is None else positive[weight > 0]
    n_pos = int(np.count_nonzero(counted))
    if min(n_pos, len(counted) - n_pos) < 2:
        weighted = "" if weight is None else " with a weight above 0"
        raise ValueError(
            f"column {name!r} has {count(n_pos, 'positive row')} and "
            f"{count(len(counted) - n_pos, 'negative row')}{weighted}; "
            "evaluation needs at least two of each"
        )


def model_with_reference(
    model: Model, name: str, reference: str | None, delimiter: str | None
) -> ExplainedModel:
    """A model that can explain rows, with the row that they are compared with.

    ``name`` is the model's file, ``reference`` the table of ``--reference`` if there is one.
    """
    if not isinstance(model, ExplainedModel):
        raise ValueError(
            f"{name} is a {model.form} model; only additive and linear models, forests with the "
            "cover of their nodes, and sums of these can explain rows. "
            f"`auctor explain {name}` prints the model itself"
        )
    if model.why_unexplained is not None:
        raise ValueError(f"{name}: {model.why_unexplained}")
    if reference is not None:
        rows = read_features(model, open_table(reference, delimiter))
        return model.with_reference(rows, name=f"the average row of {reference}")
    if model.average_row is None:
        raise ValueError(
            f"{name} has no reference row to compare with: an earlier release of auctor saved it; "
            "fit the model again, or give the training table with --reference TABLE"
        )
    return model
