"""`auctor fit --checkpoint`: a command that was killed goes on, and writes the same model."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auctor.cli.main import main

FIT = ["--target", "y", "--drop", "id", "--learner", "rankboost", "--cv", "3", "--no-baseline"]


def model_without_date(path: Path) -> dict[str, object]:
    """The content of a model file, without what depends on the time."""
    content = json.loads(path.read_text())
    del content["training"]["origin"]["date"], content["sha256"]
    return content


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_killed_command_goes_on(train: Path, tmp_path: Path, capsys) -> None:
    words = ["fit", str(train), *FIT, "--param", "n_estimators=300"]
    folder = tmp_path / "state"
    kept = [*words, "--checkpoint", str(folder), "--out", str(tmp_path / "killed.json")]
    with subprocess.Popen([sys.executable, "-m", "auctor", *kept], stderr=subprocess.PIPE) as run:
        limit = time.monotonic() + 600
        while not (folder / "fit-fold-2.checkpoint").exists():
            assert run.poll() is None and time.monotonic() < limit
            time.sleep(0.002)
        run.kill()
    assert run.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed.json").exists()
    assert main(kept) == 0
    assert f"going on with the state in {folder}" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
    assert main([*words, "--out", str(tmp_path / "whole.json")]) == 0
    killed, whole = (model_without_date(tmp_path / f"{n}.json") for n in ("killed", "whole"))
    assert killed == whole


def test_large_tables_go_on(train: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    words = ["fit", str(train), *FIT, "--param", "n_estimators=30", "--max-memory", "2GB"]
    folder = tmp_path / "state"
    kept = [*words, "--checkpoint", str(folder), "--out", str(tmp_path / "kept.json")]
    with monkeypatch.context() as patch:
        patch.setattr("auctor.cli.fit_large.to_json", interrupt)
        assert main(kept) == 130
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == f"auctor: interrupted; the same command goes on with the state in {folder}"
    assert sorted(path.name for path in folder.iterdir()) == [
        "fit-final.checkpoint",
        "fit-fold-1.checkpoint",
    ]
    assert main(kept) == 0
    assert list(folder.iterdir()) == []
    assert main([*words, "--out", str(tmp_path / "whole.json")]) == 0
    kept_model, whole = (model_without_date(tmp_path / f"{n}.json") for n in ("kept", "whole"))
    assert kept_model == whole


def interrupt(*_: object) -> str:
    raise KeyboardInterrupt


def test_other_learners_and_other_options_are_refused(train: Path, tmp_path: Path, capsys) -> None:
    words = ["fit", str(train), "--target", "y", "--drop", "id", "--checkpoint", str(tmp_path)]
    assert main([*words, "--metric", "ks"]) == 1
    assert "ExactBoostCV does not support checkpoints; " in capsys.readouterr().err
    (tmp_path / "fit-fold-1.checkpoint").write_text("something else\n")
    assert main([*words, "--learner", "rankboost", "--cv", "2"]) == 1
    message = capsys.readouterr().err
    assert "fit-fold-1.checkpoint cannot be read: it is not valid JSON" in message
    assert not (tmp_path / "train.model.json").exists()
