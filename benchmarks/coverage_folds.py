"""Coverage of the intervals of out-of-fold scores, out-of-bag scores and differences.

    python benchmarks/coverage_folds.py --repetitions 200

Each cell is a distribution of the rows and a number of rows. A row of the output has the fraction
of 95 % intervals that contain the true value with its standard error, the mean width and the
number of simulations. The true value of a cross-validated metric is its mean, over the
simulations, on 8,000 new rows that the models of the folds have not seen. "p < 0.05" is the
rejection rate of the test of a difference: it should be 5 % if there is none.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from auctor import RankBoost, SmoothAUCBoostCV, TreeRankForest
from auctor.metrics import (
    auc,
    auc_ci,
    compare_auc,
    compare_metric,
    fold_instability,
    ks,
    ks_ci,
    partial_auc,
    partial_auc_ci,
    precision_at_k,
    precision_at_k_ci,
)

N_FEATURES = 10
N_FOLDS = 5
N_NEW = 8000
REGION, TOP = (0.0, 0.2), 0.1

LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(max_iter=300),
    "means": lambda: Means(),
    "rankboost": lambda: RankBoost(n_estimators=20, n_jobs=1),
    "smooth-aucboost-cv": lambda: SmoothAUCBoostCV(n_jobs=1),
}

METRICS: dict[str, tuple[Callable[..., float], Callable[..., Any], dict[str, Any]]] = {
    "KS": (ks, ks_ci, {}),
    "partial AUC": (partial_auc, partial_auc_ci, {"fpr_range": REGION, "scaled": True}),
    "precision at 10%": (precision_at_k, precision_at_k_ci, {"k": TOP}),
}
NAMES = {"KS": "ks", "partial AUC": "partial_auc", "precision at 10%": "precision_at_k"}


class Distribution(NamedTuple):
    """Ten normal features with the same difference of the class means."""

    name: str
    n_pos: int
    n_neg: int
    best_auc: float

    def draw(self, rng: np.random.Generator, n_pos: int, n_neg: int) -> tuple[Any, Any]:
        """Draw rows, positives first."""
        y = np.repeat([1, 0], [n_pos, n_neg])
        shift = math.sqrt(2 / N_FEATURES) * ndtri(self.best_auc)
        return rng.normal(size=(len(y), N_FEATURES)) + shift * y[:, None], y


DISTRIBUTIONS = (
    Distribution("no signal", 150, 150, 0.5),
    Distribution("signal 0.75", 150, 150, 0.75),
    Distribution("signal 0.9", 150, 150, 0.9),
    Distribution("33 of 300, no signal", 33, 267, 0.5),
    Distribution("33 of 300, signal 0.75", 33, 267, 0.75),
)


class Row(NamedTuple):
    """A row of the table."""

    interval: str
    distribution: str
    sizes: str
    covered: float
    width: float
    n: int
    rejected: float | None = None
    note: str = ""

    @property
    def error(self) -> float:
        """Standard error of the coverage."""
        return math.sqrt(max(self.covered * (1 - self.covered), 0.25 / self.n) / self.n)

    def __str__(self) -> str:
        test = "" if self.rejected is None else f"  p < 0.05: {self.rejected:.3f}"
        return (
            f"{self.interval:46} {self.distribution:24} {self.sizes:>10} {self.covered:.3f} "
            f"± {self.error:.3f}  width {self.width:.3f}  n {self.n}{test}  {self.note}"
        )


class Means:
    """A linear score along the difference of the class means, the fastest learner."""

    def fit(self, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> "Means":
        self.direction = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
        return self

    def decision_function(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray((X * self.direction).sum(axis=1))


class Validated(NamedTuple):
    """Scores of all rows by the model of each fold, and scores of new rows."""

    by_fold: npt.NDArray[np.float64]
    own: npt.NDArray[np.float64]
    new: list[npt.NDArray[np.float64]]


def validate(name: str, X: Any, y: Any, new: Any, splits: list[Any]) -> Validated:
    """Cross-validate, and score new rows with the models of the folds."""
    by_fold, own, others = np.empty((len(y), len(splits))), np.empty(len(y)), []
    for k, (train, test) in enumerate(splits):
        model = LEARNERS[name]().fit(X[train], y[train])
        by_fold[:, k] = model.decision_function(X)
        own[test] = by_fold[test, k]
        others.append(model.decision_function(new))
    return Validated(by_fold, own, others)


def cross_validated(
    learner: str, distribution: Distribution, n: int, seed: int = 0
) -> Iterator[Row]:
    """Intervals of AUC, KS, partial AUC, precision at k, and of differences from logistic."""
    rng = np.random.default_rng([seed, distribution.n_pos, int(100 * distribution.best_auc)])
    total = distribution.n_pos + distribution.n_neg
    new, y_new = distribution.draw(
        rng, N_NEW * distribution.n_pos // total, N_NEW * distribution.n_neg // total
    )
    result: dict[str, list[Any]] = {}
    truths: dict[str, list[float]] = {}
    for repetition in range(n):
        X, y = distribution.draw(rng, distribution.n_pos, distribution.n_neg)
        cutter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repetition)
        splits = list(cutter.split(X, y))
        folds = np.empty(len(y), dtype=int)
        for k, (_, test) in enumerate(splits):
            folds[test] = k
        ours = validate(learner, X, y, new, splits)
        other = ours if learner == "logistic" else validate("logistic", X, y, new, splits)
        for key, truth in _truths(y_new, ours, other).items():
            truths.setdefault(key, []).append(truth)
        for key, interval in _intervals(y, folds, ours, other, repetition).items():
            result.setdefault(key, []).append(interval)
    for key, intervals in result.items():
        truth = float(np.mean(truths[key.partition(",")[0]]))
        yield summarise(
            f"{learner}: {key}",
            distribution.name,
            f"{distribution.n_pos}+{distribution.n_neg}",
            intervals,
            truth,
        )


def _truths(y: Any, ours: Validated, other: Validated) -> dict[str, float]:
    truths = {}
    measures = {"AUC": (auc, {})} | {key: (m, options) for key, (m, _, options) in METRICS.items()}
    for key, (measure, options) in measures.items():
        a, b = (float(np.mean([measure(y, s, **options) for s in v.new])) for v in (ours, other))
        truths |= {key: a, f"difference in {key}": a - b}
    return truths


def _intervals(y: Any, folds: Any, ours: Validated, other: Validated, seed: int) -> dict[str, Any]:
    instability = fold_instability(y, ours.by_fold, folds)
    options: dict[str, Any] = {"folds": folds, "instability": instability}
    intervals = {
        "AUC": auc_ci(y, ours.own, **options),
        "AUC, worst case": auc_ci(y, ours.own, folds=folds),
        "AUC, as printed by LeDell et al.": auc_ci(y, ours.own, folds=folds, method="delong"),
    }
    draws = {"n_resamples": 100, "random_state": seed}
    for key, (_, interval, more) in METRICS.items():
        intervals[key] = interval(y, ours.own, **more, **options, **draws)
    if other is ours:
        return intervals
    options["instability"] = fold_instability(y, ours.by_fold, folds, scores_b=other.by_fold)
    pair = (y, ours.own, other.own)
    intervals["difference in AUC"] = compare_auc(*pair, **options)
    intervals["difference in AUC, as printed"] = compare_auc(*pair, folds=folds, method="delong")
    for key, (_, _, more) in METRICS.items():
        intervals[f"difference in {key}"] = compare_metric(
            *pair, metric=NAMES[key], **more, **options, **draws
        )
    return intervals


def summarise(name: str, distribution: str, sizes: str, intervals: list[Any], truth: float) -> Row:
    """Return the coverage, the mean width, and the rejection rate of the test."""
    held = np.mean([one.low <= truth <= one.high for one in intervals])
    width = np.mean([one.high - one.low for one in intervals])
    rejected = None
    if hasattr(intervals[0], "p_value"):
        rejected = float(np.mean([one.p_value < 0.05 for one in intervals]))
        mean = np.mean([one.difference for one in intervals])
    else:
        mean = np.mean([one.value for one in intervals])
    note = f"true {truth:.3f}, mean {mean:.3f}"
    return Row(name, distribution, sizes, float(held), float(width), len(intervals), rejected, note)


def fixed_scorer(n: int, seed: int = 0) -> Iterator[Row]:
    """One fixed score on rows in folds: AUC near 1, few rows, two values."""
    for n_pos, n_neg, best, is_cut in (
        (15, 100, 0.97, False),
        (10, 200, 0.9, True),
        (10, 200, 0.97, False),
        (10, 10, 0.9, False),
        (50, 50, 0.97, False),
        (100, 100, 0.75, False),
    ):
        rng = np.random.default_rng([seed, n_pos, n_neg])
        y, shift = np.repeat([1, 0], [n_pos, n_neg]), math.sqrt(2) * ndtri(best)
        folds = np.concatenate([np.arange(n_pos), np.arange(n_neg)]) % N_FOLDS
        result: dict[str, list[Any]] = {"": [], ", worst case": [], ", as printed": []}
        for _ in range(n):
            s = rng.normal(size=len(y)) + shift * y
            s = (s > shift / 2).astype(float) if is_cut else s
            result[""].append(auc_ci(y, s, folds=folds, instability=0))
            result[", worst case"].append(auc_ci(y, s, folds=folds))
            result[", as printed"].append(auc_ci(y, s, folds=folds, method="delong"))
        # For a score with two values, the AUC is (1 + tpr - fpr) / 2.
        truth = 0.5 * math.erfc(-shift / 2 / math.sqrt(2)) if is_cut else best
        distribution = f"AUC {best}" + (", two values" if is_cut else "")
        for key, intervals in result.items():
            yield summarise(
                f"fixed scorer{key}", distribution, f"{n_pos}+{n_neg}", intervals, truth
            )


def paired(n: int, seed: int = 0) -> Iterator[Row]:
    """Two fixed scores of the same rows, binormal with correlation rho."""
    for n_pos, n_neg, best_a, best_b, rho in (
        (10, 200, 0.95, 0.95, 0.5),
        (10, 200, 0.97, 0.85, 0.5),
        (10, 10, 0.8, 0.8, 0.5),
        (5, 1000, 0.75, 0.75, 0.5),
        (5, 1000, 0.9, 0.75, 0.5),
        (30, 30, 0.9, 0.8, 0.5),
        (100, 100, 0.8, 0.8, 0.8),
        (200, 200, 0.97, 0.97, 0.9),
        (50, 500, 0.85, 0.75, 0.5),
    ):
        rng = np.random.default_rng([seed, n_pos, n_neg])
        y = np.repeat([1, 0], [n_pos, n_neg])
        shifts = math.sqrt(2) * ndtri([best_a, best_b])
        result: dict[str, list[Any]] = {}
        for repetition in range(n):
            scores = _pair(rng, y, shifts, rho)
            draws = {"n_resamples": 200, "random_state": repetition}
            results = {
                "AUC": compare_auc(y, *scores),
                "AUC, bootstrap": compare_auc(y, *scores, method="bootstrap", **draws),
                "AUC, as printed by pROC": compare_auc(y, *scores, method="delong"),
            }
            for key, (_, _, more) in METRICS.items():
                results[key] = compare_metric(y, *scores, metric=NAMES[key], **more, **draws)
            for key, one in results.items():
                result.setdefault(key, []).append(one)
        big = np.repeat([1, 0], [200_000 * n_pos // len(y), 200_000 * n_neg // len(y)])
        many = _pair(np.random.default_rng(seed), big, shifts, rho)
        for key, intervals in result.items():
            measure, _, more = METRICS.get(key, (auc, None, {}))
            truth = best_a - best_b
            if key in METRICS and best_a != best_b:
                truth = measure(big, many[0], **more) - measure(big, many[1], **more)
            distribution = f"AUC {best_a}, {best_b}, rho {rho}"
            yield summarise(
                f"paired difference in {key}", distribution, f"{n_pos}+{n_neg}", intervals, truth
            )


def _pair(rng: np.random.Generator, y: Any, shifts: Any, rho: float) -> list[Any]:
    noise = rng.normal(size=(2, len(y)))
    other = rho * noise[0] + math.sqrt(1 - rho**2) * noise[1]
    return [noise[0] + shifts[0] * y, other + shifts[1] * y]


def out_of_bag(n: int, seed: int = 0) -> Iterator[Row]:
    """TreeRankForest's certificate; the truth is the mean AUC of the forests on new rows."""
    for distribution in DISTRIBUTIONS[:3]:
        rng = np.random.default_rng([seed, int(100 * distribution.best_auc)])
        new, y_new = distribution.draw(rng, N_NEW // 2, N_NEW // 2)
        intervals, truths = [], []
        for repetition in range(n):
            X, y = distribution.draw(rng, distribution.n_pos, distribution.n_neg)
            forest = TreeRankForest(n_estimators=50, random_state=repetition, n_jobs=1).fit(X, y)
            values = forest.certificate_.values
            truths.append(auc(y_new, forest.decision_function(new)))
            intervals.append(_Ends(values["low"], values["high"], values["oob_auc"]))
        sizes = f"{distribution.n_pos}+{distribution.n_neg}"
        yield summarise(
            "forest, out of bag", distribution.name, sizes, intervals, float(np.mean(truths))
        )


def fold_bias(n: int, seed: int = 7) -> Iterator[str]:
    """KS, partial AUC and precision at k: true value, mean within folds, and our estimate."""
    for distribution in (DISTRIBUTIONS[0], DISTRIBUTIONS[1], DISTRIBUTIONS[4]):
        rng, total, result = (
            np.random.default_rng(seed),
            distribution.n_pos + distribution.n_neg,
            [],
        )
        new, y_new = distribution.draw(
            rng, N_NEW * distribution.n_pos // total, N_NEW * distribution.n_neg // total
        )
        for repetition in range(n):
            X, y = distribution.draw(rng, distribution.n_pos, distribution.n_neg)
            cutter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repetition)
            splits, folds = list(cutter.split(X, y)), np.empty(len(y), dtype=int)
            for k, (_, test) in enumerate(splits):
                folds[test] = k
            ours = validate("means", X, y, new, splits)
            result.append([_three(y_new, y, folds, ours, name, repetition) for name in METRICS])
        means = np.mean(result, axis=0)
        for name, (truth, plain, pooled) in zip(METRICS, means, strict=True):
            yield (
                f"{name:18} {distribution.name:24} true {truth:.3f}  "
                f"mean within folds {plain:.3f}  pooled by rank {pooled:.3f}  n {n}"
            )


def _three(
    y_new: Any, y: Any, folds: Any, ours: Validated, name: str, seed: int
) -> tuple[float, float, float]:
    measure, interval, options = METRICS[name]
    draws = {"n_resamples": 100, "random_state": seed}
    parts = [folds == k for k in range(N_FOLDS)]
    return (
        float(np.mean([measure(y_new, s, **options) for s in ours.new])),
        float(np.mean([measure(y[rows], ours.own[rows], **options) for rows in parts])),
        interval(y, ours.own, folds=folds, **options, **draws).value,
    )


class _Ends(NamedTuple):
    low: float
    high: float
    value: float


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Row | str]]] = {
    "bias": lambda args: fold_bias(args.repetitions),
    "fixed": lambda args: fixed_scorer(args.repetitions),
    "paired": lambda args: paired(args.repetitions),
    "cv": lambda args: (
        row
        for learner in args.learner
        for distribution in DISTRIBUTIONS
        if not args.distribution or distribution.name in args.distribution
        for row in cross_validated(learner, distribution, args.repetitions)
    ),
    "bag": lambda args: out_of_bag(args.repetitions),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--learner", choices=LEARNERS, action="append")
    parser.add_argument(
        "--distribution",
        choices=[distribution.name for distribution in DISTRIBUTIONS],
        action="append",
    )
    args = parser.parse_args()
    args.learner = args.learner or ["logistic", "rankboost"]
    for part in args.part or PARTS:
        for row in PARTS[part](args):
            print(row, flush=True)


if __name__ == "__main__":
    main()
