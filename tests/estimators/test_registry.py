"""Learners load when they are asked for, and are entered in one place."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import auctor
from auctor._lazy import stub_names
from auctor.estimators.base import RankingEstimator
from auctor.estimators.registry import LEARNERS, learner_name

STUB = stub_names("auctor.estimators")


def loaded_after(script: str, *args: str) -> set[str]:
    """The modules that a new process has loaded after a script."""
    lines = f"import sys\n{script}\nprint(*sys.modules, file=sys.__stdout__)"
    done = subprocess.run(
        [sys.executable, "-c", lines, *args],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stdout.splitlines()[-1].split())


def families(modules: set[str]) -> set[str]:
    """The folders of learners among them."""
    learners = [name for name in modules if name.startswith("auctor.learners.")]
    return {name.split(".")[2] for name in learners} - {"certificate", "common"}


def test_every_line_of_the_stub_is_a_public_name() -> None:
    text = Path(auctor.__file__).with_name("estimators").joinpath("__init__.pyi").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == [f"from {module} import {name} as {name}" for name, module in STUB.items()]
    assert set(STUB) <= set(auctor.__all__)
    assert [name for name in STUB if getattr(auctor, name).__name__ != name] == []


def test_every_estimator_class_of_the_package_is_in_the_stub() -> None:
    for module in set(STUB.values()):
        __import__(module)
    classes = {
        name
        for module in set(STUB.values())
        for name, value in vars(sys.modules[module]).items()
        if isinstance(value, type)
        and issubclass(value, RankingEstimator)
        and value.__module__ == module
    }
    assert classes == set(STUB) - {"CrossValidation", "cross_val_auc"}


def test_the_name_on_the_command_line_is_that_of_the_module() -> None:
    assert len(LEARNERS) == len(STUB) - 2
    assert {name: learner_name(learner) for name, learner in LEARNERS.items()} == {
        name: name for name in LEARNERS
    }
    assert LEARNERS["smooth-aucboost-cv"] is auctor.SmoothAUCBoostCV


def test_unknown_learners_are_not_there() -> None:
    assert "cross-validation" not in LEARNERS and "nonsense" not in LEARNERS
    with pytest.raises(KeyError, match="nonsense"):
        LEARNERS["nonsense"]
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        auctor.estimators.Nonsense  # noqa: B018


def test_names_of_learners_load_none() -> None:
    script = "from auctor.estimators.registry import LEARNERS; 'rankboost' in LEARNERS, [*LEARNERS]"
    assert families(loaded_after(script)) == set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("RankBoost", {"boosting"}), ("SmoothAUCBoostCV", {"smooth"}), ("MarginRanker", {"margin"})],
)
def test_a_class_loads_its_own_family(name: str, expected: set[str]) -> None:
    assert families(loaded_after(f"from auctor import {name}")) == expected


def test_auctor_fit_loads_the_learner_that_it_uses(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    lines = ["a,b,target", *(f"{a},{b},{int(c)}" for (a, b), c in zip(X, y, strict=True))]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines))
    script = "from auctor.cli.main import main\nmain(sys.argv[1:])"
    arguments = ["fit", str(table), "--target", "target", "--out", str(tmp_path / "model.json")]
    modules = loaded_after(script, *arguments, "--quiet")
    assert tmp_path.joinpath("model.json").exists()
    assert families(modules) == {"smooth"}
    assert "highspy" not in modules
