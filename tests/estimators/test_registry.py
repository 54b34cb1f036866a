"""Learners load when they are asked for, and are entered in one place."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

import auctor
from auctor._lazy import stub_names
from auctor.estimators.base import RankingEstimator
from auctor.estimators.registry import LEARNERS, learner_name

STUB = stub_names("auctor.estimators")
NO_LEARNERS = {"CrossValidation", "cross_val_auc"}
# Classes that learners derive from.
BASES = {"RankingEstimator", "SmoothEstimator"}
ROOT = Path(__file__).parents[2]


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
    return {name.split(".")[2] for name in learners} - {"certificate", "checkpoint", "common"}


def test_every_line_of_the_stub_is_a_public_name() -> None:
    text = Path(auctor.__file__).with_name("estimators").joinpath("__init__.pyi").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines == [f"from {module} import {name} as {name}" for name, module in STUB.items()]
    assert set(STUB) <= set(auctor.__all__)
    assert [name for name in STUB if getattr(auctor, name).__name__ != name] == []


def test_every_estimator_class_of_the_package_is_in_the_stub() -> None:
    folder = import_module("auctor.estimators").__path__
    modules = [import_module(f"auctor.estimators.{each.name}") for each in iter_modules(folder)]
    classes = {
        name: module.__name__
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, RankingEstimator)
        and value.__module__ == module.__name__
        and name not in BASES
    }
    missing = [f"from {classes[name]} import {name} as {name}" for name in set(classes) - set(STUB)]
    message = "add these lines to src/auctor/estimators/__init__.pyi:\n"
    assert missing == [], message + "\n".join(missing)
    assert set(STUB) - NO_LEARNERS <= set(classes), "the stub names classes that are not learners"


def test_the_name_on_the_command_line_is_that_of_the_module() -> None:
    homes = [module for name, module in STUB.items() if name not in NO_LEARNERS]
    assert sorted(set(homes)) == sorted(homes), "a module of estimators has one public class"
    assert len(LEARNERS) == len(homes)
    assert {name: learner_name(learner) for name, learner in LEARNERS.items()} == {
        name: name for name in LEARNERS
    }
    assert LEARNERS["smooth-aucboost-cv"] is auctor.SmoothAUCBoostCV


def test_the_readme_has_a_line_for_every_learner() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    named = " ".join(line.split("|")[1] for line in lines if line.startswith("| `"))
    missing = [
        learner.__name__ for learner in LEARNERS.values() if f"`{learner.__name__}`" not in named
    ]
    assert missing == [], "add a line to the table of learners in README.md"


def test_unknown_learners_are_not_there() -> None:
    assert "cross-validation" not in LEARNERS and "nonsense" not in LEARNERS
    with pytest.raises(KeyError, match="nonsense"):
        LEARNERS["nonsense"]
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        auctor.estimators.Nonsense  # noqa: B018


def test_each_class_loads_its_own_family_and_names_load_none() -> None:
    """One process loads one after another; the families that are new belong to the last one."""
    steps = [
        ("from auctor.estimators.registry import LEARNERS; 'rankboost' in LEARNERS", set()),
        ("from auctor import RankBoost", {"boosting"}),
        ("from auctor import SmoothAUCBoostCV", {"smooth"}),
        ("from auctor import MarginRanker", {"margin"}),
    ]
    shown = "; print('after', *sys.modules)"
    script = "import sys\n" + "\n".join(step + shown for step, _ in steps)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    before: set[str] = set()
    for line, (step, expected) in zip(done.stdout.splitlines(), steps, strict=True):
        after = families(set(line.split()))
        assert after - before == expected, step
        before = after


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
