"""AdditiveModel: a step function per feature. A sum of boosted stumps is such a model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, ClassVar

import numpy as np

from auctor import _text as words
from auctor._typing import Floats, Ints
from auctor.data import Feature, SparseTable, Table, number_feature
from auctor.data.binning import code_categories
from auctor.kernels.arrays import read_only
from auctor.kernels.binning import add_steps
from auctor.models.export.plan import Constant, Grid, Steps, Sum, Term, bins_of
from auctor.models.features import check_names, feature_body, read_feature, refuse_other_kind
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.reference import Reference, check_reference, read_reference
from auctor.models.serialization import Shared
from auctor.models.sparse_steps import ZeroSteps, correct, zero_steps
from auctor.models.surface import Surface, read_surface
from auctor.models.terms import TermModel

# Steps are whole multiples of this power of two. Sums of them are then exact in float64 in any
# order, so that scores which are equal in theory are equal on every machine.
GRID = 2.0**-32
GRID_BOUND = 2.0**20  # only values below it are rounded
_MAX_PRINTED = 12  # terms of each kind in a printed model


def on_grid(values: Floats) -> Floats:
    """The nearest whole multiples of ``GRID``, 2^-32, on which sums are exact in any order.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor.models import on_grid
    >>> a, b, c = 0.1, 0.2, 0.3
    >>> (a + b) + c == a + (b + c)
    False
    >>> a, b, c = on_grid(np.array([0.1, 0.2, 0.3])).tolist()
    >>> (a + b) + c == a + (b + c)
    True
    """
    return np.rint(values / GRID) * GRID


def on_grid_if_small(values: Floats) -> Floats:
    """Values rounded to the grid; those of 2^20 or more, which could overflow, are unchanged."""
    small = np.abs(values) < GRID_BOUND
    return np.where(small, on_grid(np.where(small, values, 0.0)), values)


def unique_names(names: tuple[str, ...], pairs: Iterable[str]) -> tuple[str, ...]:
    """Names of features, then those of pairs; a second "a x b" is called "a x b (2)".

    Examples
    --------
    >>> unique_names(("a", "b", "a x b"), ["a x b", "b x a"])
    ('a', 'b', 'a x b', 'a x b (2)', 'b x a')
    """
    out, taken = list(names), set(names)
    numbers: dict[str, Iterator[int]] = {}
    for pair in pairs:
        # Each pair continues its own count: counting from 1 every time would be quadratic.
        number = numbers.setdefault(pair, count(1))
        tries = (f"{pair} ({k})" if k > 1 else pair for k in number)
        out.append(next(name for name in tries if name not in taken))
        taken.add(out[-1])
    return tuple(out)


@register
@dataclass(frozen=True, eq=False)
class AdditiveModel(TermModel):
    """A sum of step functions: score(x) = intercept + one step function for each feature.

    Attributes
    ----------
    features : tuple of Feature
        The features with their bins.
    steps : tuple of ndarray
        ``steps[j][0]`` is what a missing value or unseen category of feature j adds to the score;
        the other entries are for its bins in order.
    intercept : float
    surfaces : tuple of Surface
        Interactions: what pairs of features add together. Usually empty.
    reference : Reference or None
        What each feature, then each surface, adds on average over the training rows.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=3).fit(X, y).model_
    >>> print(model)
    AdditiveModel: score = +0.2349 + step functions of 2 of 3 features
    1 is predicted where score >= 0, 0 elsewhere
      x2 (-1.07 to +0): <= 8.5: +0, <= 12.5: -0.422, > 12.5: -1.07; missing: -0.52
      x0 (+0 to +0.374): <= 39.5: +0, > 39.5: +0.374; missing: +0.29
    >>> model.steps[2].round(3).tolist()
    [-0.52, 0.0, -0.422, -1.069]
    """

    features: tuple[Feature, ...]
    steps: tuple[Floats, ...]
    intercept: float
    surfaces: tuple[Surface, ...] = ()
    reference: Reference | None = None

    form: ClassVar[str] = "additive"

    def __post_init__(self) -> None:
        check_reference(self.reference, len(self.features) + len(self.surfaces))
        for steps in self.steps:
            steps.flags.writeable = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms of the sum: the features, then "a x b" for each surface.

        No name occurs twice: a second "a x b" is called "a x b (2)".
        """
        return unique_names(self.feature_names, (surface.name for surface in self.surfaces))

    @property
    def used(self) -> list[int]:
        """Indices of the features that change the score, the widest range of steps first.

        Features that occur only in surfaces come last.
        """
        alone = {j for surface in self.surfaces for j in surface.used} - set(self._stepped)
        return [*self._stepped, *sorted(alone)]

    @property
    def _stepped(self) -> list[int]:
        """Features whose steps differ, the widest range first."""
        ranges = [float(np.ptp(steps)) for steps in self.steps]
        return sorted((j for j, r in enumerate(ranges) if r > 0), key=lambda j: -ranges[j])

    def _term(self, k: int, table: Table, columns: Ints) -> Floats:
        out = np.zeros(table.n_rows)
        if k < len(self.features):
            self._add(k, table, int(columns[k]), out)
        else:
            self.surfaces[k - len(self.features)].add(table, columns, out)
        return out

    def _constant(self, k: int) -> float | None:
        n = len(self.features)
        values = self.steps[k] if k < n else self.surfaces[k - n].values.ravel()
        return float(values[0]) if (values == values[0]).all() else None

    def _term_features(self) -> list[tuple[int, ...]]:
        alone = [(j,) for j in range(len(self.features))]
        return [*alone, *(surface.features for surface in self.surfaces)]

    def _on_grid(self, averages: Floats) -> Floats:
        return on_grid_if_small(averages)

    def _score(self, table: Table, columns: Ints) -> Floats:
        if isinstance(table, SparseTable) and self._zero_steps is not None:
            out = self._sum_sparse(table, columns, self._zero_steps)
        else:
            out = np.full(table.n_rows, self.intercept)
            for j, column in enumerate(columns):
                self._add(j, table, int(column), out)
        for surface in self.surfaces:
            surface.add(table, columns, out)
        return out

    def _sum_sparse(self, table: SparseTable, columns: Ints, at_zero: ZeroSteps) -> Floats:
        """The same sums, bit for bit, in time proportional to the nonzero entries of the table."""
        table.refuse_infinities()
        out = np.full(table.n_rows, self.intercept + at_zero.constant)
        for j, step in at_zero.steps.items():
            correct(table, int(columns[j]), self.features[j], self.steps[j], step, out)
        for j, feature in enumerate(self.features):
            if feature.is_category:
                self._add(j, table, int(columns[j]), out)
        return out

    @cached_property
    def _zero_steps(self) -> ZeroSteps | None:
        return zero_steps(self.features, self.steps, self.intercept)

    def _add(self, j: int, table: Table, column: int, out: Floats) -> None:
        """Add the step of feature j, even if all are equal, since a bad column is an error."""
        feature, steps = self.features[j], self.steps[j]
        if feature.is_category:
            values = table.categories(column)
            refuse_other_kind(feature, values)
            out += steps[code_categories(feature, values)]
        else:
            numbers, cuts = read_only(table.numbers(column)), read_only(feature.cuts)
            add_steps(numbers, cuts, read_only(steps), out)

    def _plan_terms(self) -> tuple[Term, ...]:
        steps = (
            Steps(bins_of(feature, j), tuple(self.steps[j].tolist()))
            for j, feature in enumerate(self.features)
        )
        return *steps, *map(_plan_surface, self.surfaces)

    def _plan_score(self) -> Term:
        return Sum((Constant(float(self.intercept)), *self._plan_terms()))

    def body(self) -> dict[str, Any]:
        surfaces = [surface.body() for surface in self.surfaces]
        return {
            "intercept": float(self.intercept),
            "features": [_to_body(f, s) for f, s in zip(self.features, self.steps, strict=True)],
            **({"surfaces": surfaces} if surfaces else {}),
            **({"reference": self.reference.body()} if self.reference is not None else {}),
        }

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "AdditiveModel":
        intercept = fields.number("intercept")
        pairs = [_from_body(child) for child in fields.children("features")]
        features = tuple(feature for feature, _ in pairs)
        check_names(fields, features)
        children = fields.children("surfaces") if fields.has("surfaces") else []
        surfaces = tuple(read_surface(child, features) for child in children)
        if len({surface.key for surface in surfaces}) < len(surfaces):
            raise fields.fail("surfaces", "surfaces over different features or different bins")
        reference = read_reference(fields, len(features) + len(surfaces))
        steps = tuple(steps for _, steps in pairs)
        return cls(*shared, features, steps, intercept, surfaces, reference)

    def __str__(self) -> str:
        stepped, n_surfaces = self._stepped, len(self.surfaces)
        surfaces = f" + {words.count(n_surfaces, 'surface')}"
        lines = [
            f"AdditiveModel: score = {self.intercept:+.4g} + step functions of "
            f"{len(stepped)} of {words.count(len(self.features), 'feature')}"
            + (surfaces if n_surfaces else ""),
            words.prediction_rule(self.classes, self.threshold),
        ]
        lines += [_describe(self.features[j], self.steps[j]) for j in stepped[:_MAX_PRINTED]]
        if len(stepped) > _MAX_PRINTED:
            lines.append(f"  ... and {len(stepped) - _MAX_PRINTED} more features")
        lines += [str(surface) for surface in self.surfaces[:_MAX_PRINTED]]
        if n_surfaces > _MAX_PRINTED:
            lines.append(f"  ... and {n_surfaces - _MAX_PRINTED} more surfaces")
        return "\n".join(lines)


def compress(feature: Feature, steps: Floats) -> tuple[Feature, Floats]:
    """The same step function, with neighbouring bins of equal steps merged.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor.data import number_feature
    >>> from auctor.models import compress
    >>> age = number_feature("age", np.array([20.0, 30.0, 40.0]))
    >>> merged, steps = compress(age, np.array([0.0, 1.0, 1.0, 2.0, 3.0]))  # missing, then bins
    >>> merged.cuts.tolist(), steps.tolist()
    ([30.0, 40.0], [0.0, 1.0, 2.0, 3.0])
    """
    if feature.is_category:
        return feature, steps
    differs = steps[2:] != steps[1:-1]
    kept = np.ones(len(steps), dtype=np.bool_)
    kept[2:] = differs
    return number_feature(feature.name, feature.cuts[differs]), steps[kept]


def _plan_surface(surface: Surface) -> Grid:
    first, second = (bins_of(a, j) for a, j in zip(surface.axes, surface.features, strict=True))
    return Grid(first, second, tuple(map(tuple, surface.values.tolist())))


def _to_body(feature: Feature, steps: Floats) -> dict[str, Any]:
    return {**feature_body(feature), "missing": float(steps[0]), "steps": steps[1:].tolist()}


def _from_body(fields: Fields) -> tuple[Feature, Floats]:
    feature = read_feature(fields)
    missing, steps = fields.number("missing"), fields.terms("steps")
    if len(steps) != feature.n_bins:
        raise fields.fail("steps", f"a list of {feature.n_bins} numbers, one for each bin")
    fields.end()
    return feature, np.concatenate([[missing], steps])


def _describe(feature: Feature, steps: Floats, most: int = 6) -> str:
    """One line of a printed model: the name of a feature, its range of steps, and the steps."""
    if feature.is_category:
        order = np.argsort(-steps[1:], kind="stable")
        parts = [f"{feature.categories[i]}: {steps[1 + i]:+.3g}" for i in order]
    else:
        cuts = [f"{cut:.4g}" for cut in feature.cuts]
        ends = [f"<= {cut}" for cut in cuts] + ([f"> {cuts[-1]}"] if cuts else ["any"])
        parts = [f"{end}: {step:+.3g}" for end, step in zip(ends, steps[1:], strict=True)]
    if len(parts) > most:
        half = most // 2
        parts = [*parts[:half], f"... {len(parts) - 2 * half} more ...", *parts[-half:]]
    span = f"{steps.min():+.3g} to {steps.max():+.3g}"
    return f"  {feature.name} ({span}): {', '.join(parts)}; missing: {steps[0]:+.3g}"
