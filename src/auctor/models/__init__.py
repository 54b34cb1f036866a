"""Fitted models as data: score, print, save and load, written once per form."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from auctor.models.additive import GRID, AdditiveModel, compress, on_grid
from auctor.models.base import Model
from auctor.models.ensemble import MemberModel, StackedModel
from auctor.models.explained import ExplainedModel
from auctor.models.explanation import Explanation, Explanations
from auctor.models.file import FORMS, from_json, load, register, to_json
from auctor.models.forest import ForestModel
from auctor.models.linear import LinearModel, LinearTerm
from auctor.models.make_record import make_record
from auctor.models.merge import add_terms
from auctor.models.new_rows import Finding, compare_rows
from auctor.models.program import ProgramModel
from auctor.models.reference import Reference
from auctor.models.serialization import Calibration
from auctor.models.spread import ScoreSpread
from auctor.models.sum import SumModel, sum_models
from auctor.models.surface import Surface
from auctor.models.terms import TermModel
from auctor.models.training_record import TrainingRecord
from auctor.models.tree import TreeModel
from auctor.models.unsaved import Gate, Member, RowProgram, ScorerModel, VoteModel

if TYPE_CHECKING:
    from auctor.models.scorecard import (
        CardQuality,
        PointScale,
        PointsPerUnit,
        PointsTable,
        Scorecard,
        load_scorecard,
    )

# Imported on first use: scoring rows with a saved model does not need them.
_SCORECARD = (
    "CardQuality",
    "PointScale",
    "PointsPerUnit",
    "PointsTable",
    "Scorecard",
    "load_scorecard",
)

__all__ = [
    "FORMS",
    "GRID",
    "AdditiveModel",
    "Calibration",
    "CardQuality",
    "ExplainedModel",
    "Explanation",
    "Explanations",
    "Finding",
    "ForestModel",
    "Gate",
    "LinearModel",
    "LinearTerm",
    "Member",
    "MemberModel",
    "Model",
    "PointScale",
    "PointsPerUnit",
    "PointsTable",
    "ProgramModel",
    "Reference",
    "RowProgram",
    "ScoreSpread",
    "Scorecard",
    "ScorerModel",
    "StackedModel",
    "SumModel",
    "Surface",
    "TermModel",
    "TrainingRecord",
    "TreeModel",
    "VoteModel",
    "add_terms",
    "compare_rows",
    "compress",
    "from_json",
    "load",
    "load_scorecard",
    "make_record",
    "on_grid",
    "register",
    "sum_models",
    "to_json",
]


def __getattr__(name: str) -> Any:
    if name in _SCORECARD:
        return getattr(import_module("auctor.models.scorecard"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
