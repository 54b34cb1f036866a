"""A plan as one file of Python or JavaScript without dependencies, which scores a row."""

import json
from pathlib import Path

from auctor.models.export.plan import Plan
from auctor.models.export.plan_data import plan_data

_FOLDER = Path(__file__).parent
_PYTHON_MODEL = "MODEL: dict[str, Any] = {}\n"  # in score_row.py, where the model is put
_LARGEST_EXACT = 2**53


def javascript_scorer() -> str:
    """The functions that score a row, without a model: what the report page uses too."""
    return (_FOLDER / "score_row.js").read_text(encoding="utf-8")


def plan_to_python(plan: Plan) -> str:
    """The text of a Python module with a function ``score_row(row)``."""
    before, after = (_FOLDER / "score_row.py").read_text(encoding="utf-8").split(_PYTHON_MODEL)
    # Both repr and JSON write a float with the fewest digits that give it back.
    return f"{before}MODEL: dict[str, Any] = {plan_data(plan)!r}\n{after}"


def plan_to_js(plan: Plan) -> str:
    """The text of a JavaScript file with a function ``scoreRow(row)``."""
    data = plan_data(plan)
    _check_whole_numbers(data)
    return (
        f"{javascript_scorer()}\n"
        f"const MODEL = {json.dumps(data, allow_nan=False)};\n\n"
        'if (typeof module !== "undefined") {\n'
        "  module.exports = { MODEL, scoreRow: (row) => scoreRow(row, MODEL) };\n"
        "}\n"
    )


def _check_whole_numbers(data: object) -> None:
    """Raise an error for whole numbers that JavaScript would round."""
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            _check_whole_numbers(value)
    elif isinstance(data, int) and abs(data) >= _LARGEST_EXACT:
        raise ValueError(
            f"the model has the category {data}, a whole number beyond 2^53 that JavaScript cannot "
            "hold; give such categories as text when the model is fitted"
        )
