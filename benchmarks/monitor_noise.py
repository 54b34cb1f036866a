"""False alarms and power of monitoring, by simulation.

    python benchmarks/monitor_noise.py features      # PSI and location of columns
    python benchmarks/monitor_noise.py quality       # AUC, KS, calibration, score of a fitted model

``features`` draws training and new rows from one population and counts how often PSI exceeds its
noise level, how often a feature is called moved, and how often any feature of the table is. Then
the normal column of the new rows is moved by a tenth of its standard deviation. ``quality`` fits
and cross-validates a model, and compares new rows of the same population with the record.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from auctor import RankBoost, SmoothAUCBoost
from auctor.estimators.cross_validation import cross_val_auc
from auctor.metrics import ks_ci
from auctor.models import make_record
from auctor.models.make_record import make_validation
from auctor.models.training_record import Measured
from auctor.report import monitor

TRAINING = 300, 3_000, 30_000
NEW = 30, 100, 300, 1_000, 10_000
SHIFT = 0.1
# Training rows and new rows of a fitted model.
QUALITY = (300, 100), (300, 1_000), (3_000, 1_000), (3_000, 10_000)
LEARNERS = "smooth", "rankboost"
N_RARE = 200


def draw(n: int, rng: np.random.Generator, shift: float = 0.0) -> pd.DataFrame:
    """Rows with columns of every kind."""
    zipf = 1 / np.arange(1, N_RARE + 1)
    return pd.DataFrame(
        {
            "normal": rng.normal(size=n) + shift,
            "skewed": rng.lognormal(sigma=2, size=n),
            "few values": rng.poisson(0.5, n).astype(float),
            "mostly missing": np.where(rng.random(n) < 0.8, np.nan, rng.normal(size=n)),
            "rarely missing": np.where(rng.random(n) < 0.02, np.nan, rng.normal(size=n)),
            "categories": rng.choice(list("ABCDE"), n, p=[0.5, 0.3, 0.15, 0.04, 0.01]),
            "rare categories": rng.choice([f"c{k}" for k in range(N_RARE)], n, p=zipf / zipf.sum()),
        }
    )


def weights(n: int, rng: np.random.Generator) -> Any:
    return rng.lognormal(sigma=0.7, size=n)


def repetitions(n_training: int, n_new: int, n: int, weighted: bool) -> Iterator[Any]:
    """Results of monitoring without and with the shift."""
    rng = np.random.default_rng([n_training, n_new, weighted])
    X = draw(2_000, rng)
    model = RankBoost(n_estimators=1).fit(X, X["normal"] + rng.normal(size=len(X)) > 0).model_
    for _ in range(n):
        X = draw(n_training, rng)
        own = weights(n_training, rng) if weighted else None
        record = make_record(model, X, rng.random(n_training) < 0.5, own)
        known = replace(model, training=record)
        new_weights = weights(n_new, rng) if weighted else None
        tables = draw(n_new, rng), draw(n_new, rng, SHIFT)
        yield [monitor(known, table, sample_weight=new_weights) for table in tables]


def run_features(n: int, weighted: bool, training: Sequence[int], new: Sequence[int]) -> None:
    names = draw(2, np.random.default_rng(0)).columns.tolist()
    print(f"{n} repetitions{', weighted' if weighted else ''}; percent of unchanged features:")
    print("training    new  p < 0.05 (worst column)      PSI > limit  moved  any moved | power:")
    print(f"{'| p < 0.05  moved  limit':>97}")
    for n_training in training:
        for n_new in new:
            alarms, above, moved, table = (np.zeros(len(names)) for _ in range(4))
            power, limit = np.zeros(2), 0.0
            for same, shifted in repetitions(n_training, n_new, n, weighted):
                by_name = {one.name: one for one in same.features}
                ones = [by_name[name] for name in names]
                alarms += [one.p_value is not None and one.p_value < 0.05 for one in ones]
                above += [one.psi.value > one.psi.limit and one.psi.n_bins > 1 for one in ones]
                own = np.array([one.verdict == "moved" for one in ones])
                moved, table = moved + own, table + own.any()
                normal = next(one for one in shifted.features if one.name == "normal")
                power += [(normal.p_value or 1.0) < 0.05, normal.verdict == "moved"]
                limit += normal.psi.limit / n
            worst = int(np.argmax(alarms))
            print(
                f"{n_training:8,} {n_new:6,}  {100 * alarms.mean() / n:4.1f} "
                f"({100 * alarms[worst] / n:4.1f} {names[worst]:15})  "
                f"{100 * above.mean() / n:9.1f}  {100 * moved.mean() / n:5.2f}  "
                f"{100 * table[0] / n:9.1f} | {100 * power[0] / n:8.1f} {100 * power[1] / n:6.1f}  "
                f"{limit:.3f}",
                flush=True,
            )


def fitted(n: int, rng: np.random.Generator, learner: str) -> tuple[Any, Any]:
    """A model with the record of `auctor fit`, and the coefficients of its population."""
    slopes = np.array([1.0, 0.5, 0.25, 0, 0, 0])
    X = rng.normal(size=(n, len(slopes)))
    y = rng.random(n) < 1 / (1 + np.exp(1 - X @ slopes))
    make = {"rankboost": RankBoost(n_estimators=50), "smooth": SmoothAUCBoost()}[learner]
    folds = cross_val_auc(make, X, y)
    model = make.fit(X, y).model_
    record = make_record(model, X, y)
    ks = ks_ci(y, folds.scores, folds=folds.folds, instability=folds.instability)
    metrics = {
        name: Measured(one.value, one.low, one.high, one.level)
        for name, one in (("auc", folds.auc), ("ks", ks))
    }
    own = folds.scores_of(model, X)
    validation = make_validation(
        model, record, own, y, metrics, kind="cross-validation", description="5 folds"
    )
    return replace(model, training=replace(record, validations=(validation,))), slopes


def run_quality(n: int, learners: Sequence[str]) -> None:
    print(f"{n} repetitions; percent of p < 0.05 without a change:")
    print("learner    training    new   AUC    KS  score  mean prediction")
    for learner in learners:
        for n_training, n_new in QUALITY:
            rng = np.random.default_rng([n_training, n_new, learner == "smooth"])
            alarms = np.zeros(4)
            for _ in range(n):
                model, slopes = fitted(n_training, rng, learner)
                X = rng.normal(size=(n_new, len(slopes)))
                y = rng.random(n_new) < 1 / (1 + np.exp(1 - X @ slopes))
                result = monitor(model, X, y)
                quality = result.quality
                values = (
                    quality.auc.p_value,
                    quality.ks.p_value,
                    result.score.p_value,
                    quality.calibration.p_value,
                )
                alarms += [value < 0.05 for value in values]
            words = " ".join(f"{100 * alarm / n:6.1f}" for alarm in alarms)
            print(f"{learner:10} {n_training:8,} {n_new:6,} {words}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="False alarms and power of monitoring.")
    parser.add_argument("what", choices=("features", "quality"))
    parser.add_argument("--repetitions", type=int, default=1_000)
    parser.add_argument("--weighted", action="store_true", help="rows have weights")
    parser.add_argument("--training", type=int, nargs="*", help="numbers of training rows")
    parser.add_argument("--new", type=int, nargs="*", help="numbers of new rows")
    parser.add_argument("--learners", nargs="*", choices=LEARNERS)
    args = parser.parse_args()
    if args.what == "features":
        run_features(args.repetitions, args.weighted, args.training or TRAINING, args.new or NEW)
    else:
        run_quality(args.repetitions, args.learners or LEARNERS)


if __name__ == "__main__":
    main()
