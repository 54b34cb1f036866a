"""`auctor fit --learner ensemble`: its metrics, and the model that it writes."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run

import auctor
from auctor.cli.errors import UsageError
from auctor.cli.make_learner import make_learner, set_columns
from auctor.cli.metric import parse_metric
from auctor.cli.options import Execution
from auctor.models import SumModel

EXECUTION = Execution(seed=3, jobs=2, quiet=True)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("auc", {"metric": "auc", "fpr_range": None}),
        ("ks", {"metric": "ks"}),
        ("p@k:0.2", {"metric": "precision_at_k", "k": 0.2}),
        ("pauc:0-0.1", {"metric": "partial_auc", "fpr_range": (0.0, 0.1)}),
    ],
)
def test_the_metric_becomes_parameters(text: str, parameters: dict[str, Any]) -> None:
    learner = make_learner("ensemble", parse_metric(text), EXECUTION)
    set_columns(learner, "ensemble", ["city"], (), ["city", "x"])
    wanted = {**parameters, "random_state": 3, "n_jobs": 2, "categorical_features": ["city"]}
    assert wanted.items() <= learner.get_params().items()


def test_an_unknown_name_is_still_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'ensemble'"):
        make_learner("ensembel", parse_metric("auc"), EXECUTION)


def test_fit_writes_a_sum_of_models(run: Run, train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Which model is written is tested, and not how many trees its members have.
    small = partial(auctor.SmoothTreeBoost, n_estimators=10)
    monkeypatch.setattr("auctor.estimators.ensemble.SmoothTreeBoost", small)
    options = ["--drop", "id", "--learner", "ensemble", "--param", "cv=2", "--cv", "0", "--json"]
    done = run("fit", train, "--target", "y", *options)
    assert done.code == 0, done.err
    assert isinstance(auctor.load("train.model.json"), SumModel)
