"""Facts on the features of models with trees: Shapley values, partial dependence, interactions."""

from typing import Any

import numpy as np

from auctor._typing import Ints
from auctor.data import Feature, number_feature
from auctor.models import AdditiveModel, ForestModel
from auctor.models.features import code_columns
from auctor.models.importance import by_importance
from auctor.models.spread import ScoreSpread, find_spread
from auctor.report.dependence import Dependence, TreeScore, weighted_parts
from auctor.report.feature_plots import (
    Steps,
    axis_limits,
    class_fractions,
    frequent_codes,
    plot_feature,
    plot_surface,
)
from auctor.report.feature_scores import TermRows
from auctor.report.interactions import MOST_FEATURES, interaction_facts, variance
from auctor.report.plain import clean
from auctor.report.rows import ReportRows

MOST_CURVES = 12
_MOST_ROWS = 500  # over which partial dependence is averaged
_MOST_PAIR_ROWS = 120  # the same for pairs of features
_MOST_POINTS = 40  # values of a feature
_MOST_SPREAD = 5_000  # rows for the variance of the score
# Rows times trees, so that the page of a very large forest takes seconds too.
_MOST_WALKS = 500_000
_FEWEST_ROWS = 50


class TreeFeatures:
    """The features of a model with trees, on a sample of the rows of the report."""

    def __init__(self, model: TreeScore, rows: ReportRows) -> None:
        self.model, self._rows = model, rows
        self._order = np.random.default_rng(0).permutation(np.flatnonzero(rows.present))
        trees = (part.n_trees for part, _ in weighted_parts(model) if isinstance(part, ForestModel))
        self._most_rows = max(_FEWEST_ROWS, _MOST_WALKS // sum(trees))
        self.sample = self._order[: min(_MOST_ROWS, self._most_rows)]
        self._weight = rows.counted[self.sample]
        explained = model.explain_rows(rows.table.take(self.sample))
        self._contributions = explained.contributions
        self._scores = explained.scores
        self.importance = rows.importances
        self._dependence = self._on(self.sample)

    def _on(self, sample: Ints) -> Dependence:
        table, weight = self._rows.table.take(sample), self._rows.counted[sample]
        return Dependence(self.model, table, self._rows.columns, weight)

    @property
    def terms(self) -> list[int]:
        """The terms of the explanations, the most important first: features, then pairs."""
        return by_importance(self.importance)

    def plot(self, term: int) -> dict[str, Any]:
        """Partial dependence on a feature, or the heat map of a pair that has a surface."""
        if term >= len(self._dependence.features):
            return self._plot_pair(term)
        feature = _coarse(self._dependence.features[term], self._rows, term)
        column = self._rows.columns[[term]]
        codes = code_columns((feature,), self._rows.table, column)[0].astype(np.intp)
        if feature.is_category:
            picked = _frequent(self._rows, codes, feature.n_bins + 1)
        else:
            joint = self._dependence.features[term]
            picked = _medians(feature, joint, self._dependence.codes[term])
        steps = self._steps(feature, term, picked)
        return plot_feature(self._rows, steps, TermRows(codes, steps.values), int(column[0]))

    def _steps(self, feature: Feature, j: int, picked: Ints) -> Steps:
        """The two parts of the score at each code of the feature, which may have wider bins.

        ``picked`` has the code of the model that stands for each code of the feature, or -1.
        """
        own, joint = self._dependence, self._dependence.features[j]
        trees, known = np.full(len(picked), np.nan), np.flatnonzero(picked >= 0)
        trees[known] = own.trees([j], picked[None, known])
        additive = own.additive(j)[np.maximum(picked, 0)]
        # On the rows of the sample the curve has the mean of the feature's contributions, which are
        # compared with the average training row: that row is 0 for both.
        at = code_of(feature, joint)[own.codes[j]]
        counted = np.isfinite(trees[at])
        weight = own.row_fraction[counted]
        if weight.sum() > 0:
            wanted = self._contributions[counted, j] - own.additive(j)[own.codes[j][counted]]
            trees += np.average(wanted - trees[at[counted]], weights=weight)
        return Steps(feature, additive + trees, parts={"additive": additive, "trees": trees})

    def _plot_pair(self, term: int) -> dict[str, Any]:
        """The surface of the first additive part that has this pair."""
        pair = set(self.model._term_features()[term])
        part, weight, k = next(
            (part, weight, k)
            for part, weight in weighted_parts(self.model)
            if isinstance(part, AdditiveModel)
            for k, surface in enumerate(part.surfaces)
            if set(surface.features) == pair
        )
        zero = 0.0
        if part.reference is not None:
            zero = part.reference.contributions[len(part.features) + k]
        return plot_surface(part, k, weight * (part.surfaces[k].values - zero))

    def interactions(self) -> dict[str, Any] | None:
        """The strongest interactions of the most important features; None for one feature."""
        features = [k for k in self.terms if k < len(self._dependence.features)]
        chosen = [j for j in features[:MOST_FEATURES] if self.importance[j] > 0]
        spread = variance(self._scores, self._weight)
        if len(chosen) < 2 or spread == 0.0:
            return None
        pair_rows = self._on(self.sample[:_MOST_PAIR_ROWS])
        return interaction_facts(pair_rows, chosen, spread)

    def spread(self) -> dict[str, Any]:
        """How much of the variance of the score is due to single features, pairs and trees."""
        table = self._rows.table.take(np.sort(self._order[:_MOST_SPREAD]))
        if isinstance(self.model, ForestModel):
            none = np.zeros(table.n_rows)
            spread = find_spread(none, none, self.model.decision_function(table))
            words = "All of the variance of the score is due to trees."
        else:
            spread = self.model.spread(table)
            words = str(spread)
        return {"sentence": words, **_spread_facts(spread)}


def _spread_facts(spread: ScoreSpread) -> dict[str, Any]:
    names = ("single features", "pairs of features", "trees")
    parts = zip(names, spread.fractions, strict=True)
    return {
        "n_rows": spread.n_rows,
        "variance": spread.variance,
        "parts": [{"name": name, "fraction": fraction} for name, fraction in parts],
    }


def tree_feature_facts(model: TreeScore, rows: ReportRows, longest: int) -> dict[str, Any]:
    """Every feature, by its importance, with plots of the first ones."""
    own = TreeFeatures(model, rows)
    listed = []
    for position, term in enumerate(own.terms):
        is_feature = term < len(rows.columns)
        row = {
            "name": clean(model.term_names[term], longest),
            "kind": model._columns[term].kind if is_feature else "surface",
            "missing": rows.count_missing(term) if is_feature else None,
            "importance": float(own.importance[term]),
        }
        if position < MOST_CURVES and own.importance[term] > 0:
            row["plot"] = own.plot(term)
        listed.append(row)
    return {
        "kind": "trees",
        "order": "importance",
        "rows": listed,
        "reference": clean(_reference_name(model)),
        "n_sample": len(own.sample),
        "spread": own.spread(),
        "interactions": own.interactions(),
    }


def _reference_name(model: TreeScore) -> str:
    assert model.average_row is not None
    return model.average_row.name


def _coarse(joint: Feature, rows: ReportRows, j: int) -> Feature:
    """A number with wider bins, half of them of equal counts and half of equal widths.

    Bins of equal counts would hide the tails, and those of equal widths the middle.
    """
    if joint.is_category or len(joint.cuts) < _MOST_POINTS:
        return joint
    values = rows.table.numbers(int(rows.columns[j]))
    low, high, _ = axis_limits(values[rows.present & ~np.isnan(values)])
    first, last = np.searchsorted(joint.cuts, [low, high])
    inside = joint.cuts[first : last + 1]
    half = _MOST_POINTS // 2
    by_rank = np.linspace(0, len(inside) - 1, half).round().astype(np.intp)
    by_width = np.searchsorted(inside, np.linspace(low, high, half)).clip(0, len(inside) - 1)
    return number_feature(joint.name, inside[np.unique(np.append(by_rank, by_width))])


def code_of(wide: Feature, joint: Feature) -> Ints:
    """For each code of the joint feature, the code of the feature with wider bins."""
    if wide is joint:
        return np.arange(joint.n_bins + 1)
    return np.append(0, 1 + np.searchsorted(wide.cuts, np.append(joint.cuts, np.inf)))


def _frequent(rows: ReportRows, codes: Any, n_codes: int) -> Ints:
    """The codes of missing values and frequent categories stand for themselves; -1 for others."""
    fractions = class_fractions(rows, codes, n_codes)
    picked = np.full(n_codes, -1)
    shown = np.append(0, frequent_codes(fractions[0] + fractions[1], _MOST_POINTS - 1))
    picked[shown] = shown
    return picked


def _medians(wide: Feature, joint: Feature, codes: Ints) -> Ints:
    """The median of the sample's codes in each wider bin, or the middle code if there are none."""
    place = code_of(wide, joint)
    picked = np.zeros(wide.n_bins + 1, dtype=np.int64)
    for k in range(1, len(picked)):
        inside = codes[place[codes] == k]
        candidates = np.sort(inside) if len(inside) else np.flatnonzero(place == k)
        picked[k] = candidates[(len(candidates) - 1) // 2]
    return picked
