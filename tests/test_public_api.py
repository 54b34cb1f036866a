"""Public names and flags are those of stored lists, so that a change shows up in review."""

import difflib

from public_api import FILE, FLAGS_FILE, describe, describe_flags


def test_the_stored_list_of_public_names_is_up_to_date() -> None:
    stored, now = FILE.read_text(encoding="utf-8").splitlines(), describe().splitlines()
    changes = "\n".join(difflib.unified_diff(stored, now, FILE.name, "package", lineterm="", n=0))
    assert stored == now, f"public names changed; `make api` rewrites the list:\n{changes}"


def test_the_list_has_names_parameters_and_methods() -> None:
    lines = describe().splitlines()
    assert "auctor.load(path)" in lines
    assert any(line.startswith("auctor.RankBoost(n_estimators=500,") for line in lines)
    fit = ".RankingEstimator.fit(self, X, y, sample_weight=None, *, checkpoint=None)"
    assert any(line.endswith(fit) for line in lines)
    assert not [line for line in lines if " at 0x" in line]


def test_the_stored_list_of_flags_is_up_to_date() -> None:
    stored, now = FLAGS_FILE.read_text(encoding="utf-8").splitlines(), describe_flags().splitlines()
    changes = "\n".join(difflib.unified_diff(stored, now, FLAGS_FILE.name, "auctor", lineterm=""))
    assert stored == now, f"flags changed; `make api` rewrites the list:\n{changes}"
    assert "auctor evaluate --target value required" in now
    assert "auctor --version" in now
