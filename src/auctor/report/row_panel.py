"""Facts of the panel "what if" for one row: example rows, and the model for the page's scorer.

The page scores what a reader types with the code that ``model.to_js`` writes, for every form of
model of moderate size. The contributions of models with trees are computed here, for the example
rows alone.
"""

from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.models import ExplainedModel, ForestModel, Model, PointScale, TermModel
from auctor.models.explanation import value_text
from auctor.models.export.plan_data import plan_data
from auctor.models.features import code_columns
from auctor.models.sum import join_features
from auctor.report.plain import LONGEST_TEXT, clean
from auctor.report.rows import ReportRows

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)
MOST_NUMBERS = 50_000  # of a model that the page scores rows with
MOST_INPUTS = 200
_MOST_TERMS = 12  # of an example row that the page cannot explain itself
_LONGEST_CATEGORY = 60


def row_facts(rows: ReportRows) -> dict[str, Any] | None:
    """What the panel needs; None for models that are too large or cannot be saved."""
    model = rows.model
    own = rows.scores if not rows.is_out_of_fold else model.decision_function(rows.table)
    examples = _examples(own, rows.present)
    typed = _typed_facts(model, rows, examples)
    explained = None
    if not typed or typed["model"]["explained"] is None:
        explained = _explained_rows(model, rows, examples)
    if not typed and explained is None:
        return None
    average = model.average_row if isinstance(model, ExplainedModel) else None
    return {
        "kind": "typed" if typed else "examples",
        "percentiles": list(PERCENTILES),
        "quantiles": _quantiles(own[rows.present]),
        "reference": None if average is None else clean(average.name),
        "threshold": float(model.threshold),
        "scores": own[examples].tolist(),
        "probabilities": model.probabilities(own[examples])[:, 1].tolist(),
        "explained": explained,
        "points": _points(model),
        **typed,
    }


def _points(model: Model) -> dict[str, float] | None:
    """Points of a scorecard with the default scale: the line from a score to its points.

    They are those of the whole row: a card rounds the points of each bin. None for models that
    have no scorecard.
    """
    if not isinstance(model, TermModel):
        return None
    scale = PointScale()
    start, per_score = scale.line(model.calibration.slope, model.calibration.offset)
    return {
        "start": float(start),
        "per_score": float(per_score),
        "pdo": scale.pdo,
        "odds": scale.odds,
        "base_score": scale.base_score,
    }


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


def _typed_facts(model: Model, rows: ReportRows, examples: Ints) -> dict[str, Any]:
    """The model, its inputs in the order of importance, and the values of the example rows.

    Names and categories can be long and hold anything: the model of the page calls inputs by their
    number and categories by their position. It is empty for models that the page does not score.
    """
    try:
        plan = plan_data(model.plan())
    except ValueError:  # a model that cannot be saved
        return {}
    used = plan["used"]
    if not used or len(used) > MOST_INPUTS or _count_numbers(plan) > MOST_NUMBERS:
        return {}
    columns = enumerate(model._columns)
    choices = {j: list(column.categories) for j, column in columns if column.is_category}
    return {
        "model": _anonymous(plan, choices),
        "inputs": [
            {
                "input": j,
                "name": clean(model._columns[j].name, LONGEST_TEXT),
                **(
                    {"categories": [clean(one, _LONGEST_CATEGORY) for one in choices[j]]}
                    if j in choices
                    else {}
                ),
            }
            for j in _by_importance(model, rows, used)
        ],
        "rows": _values(model, rows, examples, used),
    }


def _count_numbers(data: Any) -> int:
    if isinstance(data, dict):
        return sum(map(_count_numbers, data.values()))
    return sum(map(_count_numbers, data)) if isinstance(data, list) else 1


def _anonymous(plan: dict[str, Any], choices: dict[int, list[Any]]) -> dict[str, Any]:
    """The model with numbers instead of names and categories."""
    position = {j: {value: k for k, value in enumerate(own)} for j, own in choices.items()}

    def renumber(data: Any) -> Any:
        if isinstance(data, list):
            if len(data) == 4 and isinstance(data[1], list):  # a node that tests a category
                j, values, *children = data
                return [j, [position[j].get(value, -1) for value in values], *children]
            return [renumber(item) for item in data]
        if not isinstance(data, dict):
            return data
        if "categories" in data:
            own = position[data["input"]]
            # An axis of a surface may have a category that the feature does not have.
            return {**data, "categories": [own.get(value, -1) for value in data["categories"]]}
        return {key: renumber(item) for key, item in data.items()}

    explained = plan["explained"]
    return {
        **plan,
        "inputs": [
            {
                "name": str(j),
                "kind": "code" if j in choices else "number",
                "missing": [] if j in choices else column["missing"],
            }
            for j, column in enumerate(plan["inputs"])
        ],
        "classes": [0, 1],
        "score": renumber(plan["score"]),
        "explained": explained
        and {
            **explained,
            "reference": "",
            "terms": [{**renumber(term), "name": ""} for term in explained["terms"]],
        },
    }


def _by_importance(model: Model, rows: ReportRows, used: list[int]) -> list[int]:
    """The inputs, the most important first where that is known."""
    if isinstance(model, TermModel):
        return sorted(used, key=lambda j: (-rows.importances[j], j))
    if isinstance(model, ForestModel):
        return sorted(used, key=lambda j: (-model.importance[j], j))
    return used


def _values(
    model: Model, rows: ReportRows, examples: Ints, used: list[int]
) -> list[dict[str, float | int | None]]:
    """The values of the example rows: numbers, or positions of categories; None if missing."""
    table = rows.table.take(examples)
    columns = {}
    for j in used:
        column = rows.columns[[j]]
        if model._columns[j].is_category:
            feature = join_features([model._columns[j]])
            codes = code_columns((feature,), table, column)[0].tolist()
            columns[str(j)] = [None if code == 0 else code - 1 for code in codes]
        else:
            values = table.numbers(int(column[0])).tolist()
            columns[str(j)] = [None if value != value else value for value in values]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _explained_rows(model: Model, rows: ReportRows, examples: Ints) -> list[dict[str, Any]] | None:
    """The example rows with their largest contributions; None for models that have none."""
    if not isinstance(model, ExplainedModel) or model.why_unexplained is not None:
        return None
    if model.average_row is None:
        return None
    listed = []
    for one in model.explain_rows(rows.table.take(examples)):
        terms = [
            {"name": clean(name), "value": clean(value_text(value)), "adds": adds}
            for name, value, adds in list(one)[:_MOST_TERMS]
        ]
        rest = float(sum(one.contributions[_MOST_TERMS:]))
        n_more = max(0, len(one) - _MOST_TERMS)
        listed.append({"base": one.base, "terms": terms, "rest": rest, "n_more": n_more})
    return listed
