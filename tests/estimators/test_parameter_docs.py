"""Shared parameters are documented in the same words by every estimator.

The rule: where an estimator has a parameter of ``SHARED``, its docstring has an entry for it whose
type is the shared type, whose ``default=`` is the default of ``__init__``, and whose text begins
with the shared text. An estimator may add sentences of its own after it.
"""

import ast
import inspect
import re
from typing import Any, NamedTuple

import pytest

import auctor
from auctor.estimators.base import RankingEstimator


class Entry(NamedTuple):
    """A parameter in a docstring: what follows the colon, and the text below it."""

    kind: str
    text: str


SHARED = {
    "max_bins": Entry(
        "int",
        "Maximum number of bins per feature. Missing values have one more bin of their own.",
    ),
    "categorical_features": Entry(
        '"from_dtype" or array-like of str, int or bool',
        "Names, positions or mask of additional columns to treat as categorical. Columns of "
        "strings and columns of a categorical dtype are always categorical.",
    ),
    "frequency_weights": Entry(
        "bool",
        "Whether ``sample_weight`` counts copies of a row, so that the sum of the weights is the "
        "number of rows. By default only the proportions of the weights matter, and rules that "
        "need a number of rows use the effective number, (sum w)^2 / sum w^2.",
    ),
    "pos_label": Entry(
        "label",
        "The positive class. None takes the larger of the two labels.",
    ),
    "threshold": Entry(
        '"youden" or float',
        "``predict`` returns the positive class where the score is at or above this value. Scores "
        "are shifted so that TPR - FPR (Youden's index) on the training rows is largest at 0, and "
        '"youden" is that 0.',
    ),
    "random_state": Entry(
        "int, RandomState instance or None",
        "Seed of the random choices. None makes different choices in every call.",
    ),
    "n_jobs": Entry(
        "int",
        "Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, "
        "for any number.",
    ),
    "verbose": Entry(
        "bool or int",
        "Whether to show the progress of the fit on stderr.",
    ),
    "early_stopping": Entry(
        "bool",
        "Whether to hold out rows and to stop when their AUC no longer improves. The best "
        "iteration is kept.",
    ),
    "validation_fraction": Entry(
        "float",
        "Fraction of the rows of each class that early stopping holds out.",
    ),
    "n_iter_no_change": Entry(
        "int",
        "Number of iterations without an improvement after which early stopping ends the fit.",
    ),
    "tol": Entry(
        "float",
        "The smallest improvement that counts; the fit stops below it.",
    ),
    "gap_tol": Entry(
        "float",
        "The search ends when the solution is proven to be within this distance of the optimum.",
    ),
    "cv": Entry(
        "int, cross-validation generator or iterable",
        "Number of folds, or a scikit-learn splitter, or an iterable of (train, test) row "
        "positions. A number gives stratified, shuffled folds that keep copies of a row together.",
    ),
    "max_iter": Entry(
        "int",
        "Maximum number of iterations.",
    ),
    "n_estimators": Entry(
        "int",
        "Maximum number of boosting rounds.",
    ),
    "learning_rate": Entry(
        "float",
        "Factor that multiplies the weight of each stump.",
    ),
    "epsilon": Entry(
        "float",
        "Fraction of the pairs of a positive and a negative row that may miss the margin.",
    ),
    "min_gain": Entry(
        "float",
        "A split must add more than this to the AUC of the training rows.",
    ),
}
# Where a class gives the name another meaning that scikit-learn's users know it by.
OWN = {
    ("TreeRankForest", "n_estimators"): Entry("int", "Number of trees."),
    ("SmoothTreeBoost", "n_estimators"): Entry("int", "Maximum number of trees;"),
    ("SmoothTreeBoost", "learning_rate"): Entry("float", "Factor of each tree."),
    ("SmoothTreeBoost", "early_stopping"): Entry(
        "bool", "Whether held-out rows choose the number of trees and their weight"
    ),
}

ESTIMATORS = [
    value
    for name in sorted(auctor.__all__)
    if inspect.isclass(value := getattr(auctor, name)) and issubclass(value, RankingEstimator)
]


def documented(estimator: type) -> dict[str, Entry]:
    """The entries of the section "Parameters" of a class docstring, by name."""
    doc = inspect.getdoc(estimator) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", doc, re.M | re.S)
    assert section is not None, f"{estimator.__name__} documents no parameters"
    entries = {}
    for head, text in re.findall(r"^(\S[^\n]*)\n((?:(?: +[^\n]*)?\n|\Z)*)", section[1], re.M):
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            entries[name.strip()] = Entry(kind, " ".join(text.split()))
    return entries


def defaults(estimator: type) -> dict[str, Any]:
    parameters = inspect.signature(estimator).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_parameter_is_documented(estimator: type) -> None:
    missing = sorted(set(defaults(estimator)) - set(documented(estimator)))
    assert missing == [], "the docstring lacks these parameters"
    unknown = sorted(set(documented(estimator)) - set(defaults(estimator)))
    assert unknown == [], "the docstring has these, but __init__ does not"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_parameter_has_a_constraint(estimator: type[RankingEstimator]) -> None:
    missing = sorted(set(defaults(estimator)) - set(estimator._parameter_constraints))
    assert missing == [], "_parameter_constraints lacks these: no value of them would be refused"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_estimator_has_these_parameters(estimator: type) -> None:
    everywhere = {"categorical_features", "pos_label", "threshold", "verbose"}
    assert sorted(everywhere - set(defaults(estimator))) == [], "see RankingEstimator"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_only_the_first_parameter_may_be_positional(estimator: type) -> None:
    first, *others = inspect.signature(estimator).parameters.values()
    assert first.kind is first.POSITIONAL_OR_KEYWORD
    assert [each.name for each in others if each.kind is not each.KEYWORD_ONLY] == []


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(each, name) for each in ESTIMATORS for name in SHARED if name in defaults(each)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_shared_parameters_have_one_wording(estimator: type, name: str) -> None:
    kind, text = OWN.get((estimator.__name__, name), SHARED[name])
    entry = documented(estimator)[name]
    own_kind, _, default = entry.kind.partition(", default=")
    assert own_kind == kind
    assert default, f'write "{name} : {kind}, default={defaults(estimator)[name]!r}"'
    assert ast.literal_eval(default) == defaults(estimator)[name]
    same = entry.text == text or entry.text.startswith(text + " ")
    assert same, f"begin the text of {name} with:\n{text}\nIt is:\n{entry.text}"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_results_are_reproducible_by_default(estimator: type) -> None:
    assert defaults(estimator).get("random_state", 0) == 0
