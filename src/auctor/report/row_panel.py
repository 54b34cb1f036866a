"""Facts of the panel that explains one row: example rows, and the tables of an additive model.

The page scores what a reader types with ``score_row.js``, which needs the whole model. Only
additive models of moderate size are small enough for that; for other models that explain rows, the
page shows the example rows with the contributions computed here.
"""

from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature
from auctor.models import AdditiveModel, ExplainedModel
from auctor.models.explanation import value_text
from auctor.models.features import code_columns
from auctor.report.dependence import own_codes
from auctor.report.plain import LONGEST_TEXT, clean
from auctor.report.rows import ReportRows

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)
MOST_NUMBERS = 50_000  # of all tables of an additive model
MOST_INPUTS = 200
_MOST_TERMS = 12  # of an example row that the page cannot score itself
_LONGEST_CATEGORY = 60


def row_facts(rows: ReportRows) -> dict[str, Any] | None:
    """What the panel needs; None for models that do not explain rows."""
    model = rows.model
    if not isinstance(model, ExplainedModel) or model.why_unexplained is not None:
        return None
    if model.average_row is None:
        return None
    own = rows.scores if not rows.is_out_of_fold else model.decision_function(rows.table)
    examples = _examples(own, rows.present)
    facts: dict[str, Any] = {
        "percentiles": list(PERCENTILES),
        "quantiles": _quantiles(own[rows.present]),
        "reference": clean(model.average_row.name),
        "threshold": float(model.threshold),
        "probabilities": model.probabilities(own[examples])[:, 1].tolist(),
    }
    if isinstance(model, AdditiveModel) and _is_small(model):
        return facts | _additive_facts(model, rows, examples)
    return facts | _explained_facts(model, rows, examples)


def _examples(scores: Floats, present: Any) -> Ints:
    """The rows at the percentiles of the score."""
    known = np.flatnonzero(present)
    order = known[np.argsort(scores[known], kind="stable")]
    # As the quantiles below: the first row that this fraction of the rows does not exceed.
    places = -(-np.array(PERCENTILES) * len(order) // 100) - 1
    return order[places]


def _quantiles(scores: Floats) -> list[float]:
    """The percentiles of the score from 0 to 100, to place a score among those of the rows."""
    return np.quantile(scores, np.linspace(0, 1, 101), method="inverted_cdf").tolist()


def _is_small(model: AdditiveModel) -> bool:
    numbers = sum(len(steps) for steps in model.steps)
    numbers += sum(surface.values.size for surface in model.surfaces)
    return numbers <= MOST_NUMBERS and len(model.used) <= MOST_INPUTS


def _additive_facts(model: AdditiveModel, rows: ReportRows, examples: Ints) -> dict[str, Any]:
    """The tables of the features in use, and the example rows as values of these features.

    Features that add the same to every row are part of the constant.
    """
    assert model.reference is not None
    used = sorted(model.used, key=lambda j: (-rows.importances[j], j))
    average, n = model.reference.contributions, len(model.features)
    unused = sum(float(model.steps[j][0]) for j in range(n) if j not in set(used))
    position = {j: k for k, j in enumerate(used)}
    return {
        "kind": "additive",
        "constant": float(model.intercept) + unused,
        "calibration": [float(model.calibration.slope), float(model.calibration.offset)],
        "features": [
            {
                "name": clean(model.features[j].name, LONGEST_TEXT),
                **_axis_facts(model.features[j]),
                "missing": _missing_codes(model, model.features[j]),
                "steps": model.steps[j].tolist(),
                "average": float(average[j]),
            }
            for j in used
        ],
        "surfaces": [
            {
                "features": [position[j] for j in surface.features],
                "axes": [
                    _surface_axis(model.features[j], axis)
                    for j, axis in zip(surface.features, surface.axes, strict=True)
                ],
                "values": surface.values.tolist(),
                "average": float(average[n + k]),
            }
            for k, surface in enumerate(model.surfaces)
            if set(surface.features) <= set(used)
        ],
        "rows": _values(model, rows, examples, used),
    }


def _axis_facts(feature: Feature) -> dict[str, Any]:
    """How a value becomes a code: the cuts of a number, or the categories."""
    if feature.is_category:
        names = [clean(category, _LONGEST_CATEGORY) for category in feature.categories]
        return {"kind": "category", "categories": names}
    return {"kind": "number", "cuts": feature.cuts.tolist()}


def _missing_codes(model: AdditiveModel, feature: Feature) -> list[float]:
    """Numbers that the model takes as missing; its categories do not have such values."""
    codes = () if feature.is_category else model.missing_codes.get(feature.name, ())
    return [float(code) for code in codes if not isinstance(code, str)]


def _surface_axis(feature: Feature, axis: Feature) -> dict[str, Any]:
    """The same for an axis of a surface, which need not have all categories of the feature."""
    if not axis.is_category:
        return _axis_facts(axis)
    return {"kind": "category", "codes": own_codes(feature, axis).tolist()[1:]}


def _values(
    model: AdditiveModel, rows: ReportRows, examples: Ints, used: list[int]
) -> list[list[float | int | None]]:
    """The values of the example rows: numbers, or positions of categories; None if missing."""
    table = rows.table.take(examples)
    columns = []
    for j in used:
        column = rows.columns[[j]]
        if model.features[j].is_category:
            codes = code_columns((model.features[j],), table, column)[0].tolist()
            columns.append([None if code == 0 else code - 1 for code in codes])
        else:
            values = table.numbers(int(column[0])).tolist()
            columns.append([None if value != value else value for value in values])
    return [list(row) for row in zip(*columns, strict=True)]


def _explained_facts(model: ExplainedModel, rows: ReportRows, examples: Ints) -> dict[str, Any]:
    """The example rows with their scores and largest contributions."""
    explained = model.explain_rows(rows.table.take(examples))
    listed = []
    for one in explained:
        terms = [
            {"name": clean(name), "value": clean(value_text(value)), "adds": adds}
            for name, value, adds in list(one)[:_MOST_TERMS]
        ]
        rest = float(sum(one.contributions[_MOST_TERMS:]))
        n_more = max(0, len(one) - _MOST_TERMS)
        listed.append(
            {"score": one.score, "base": one.base, "terms": terms, "rest": rest, "n_more": n_more}
        )
    return {"kind": "examples", "rows": listed}
