"""scikit-learn's own checks of one estimator, as one test."""

import re
from typing import Any

from sklearn.utils.estimator_checks import check_estimator


def case_name(estimator: Any) -> str:
    """The estimator in one line: the name of its case."""
    return re.sub(r"\s+", "", repr(estimator))


def assert_checks_pass(estimator: Any, expected_failures: dict[str, str] | None = None) -> None:
    """Run all checks; those that fail, but for the expected ones, are raised together.

    A test for each check, which `parametrize_with_checks` makes, would be a sixth of all tests:
    pytest takes longer to hand them to its workers than many of the checks do.
    """
    results = check_estimator(
        estimator, expected_failed_checks=expected_failures, on_skip=None, on_fail=None
    )
    assert len(results) > 50
    failed = [result for result in results if result["status"] == "failed"]
    for result in failed:
        result["exception"].add_note(f"in {result['check_name']}")
    if failed:
        names = ", ".join(result["check_name"] for result in failed)
        raise ExceptionGroup(names, [result["exception"] for result in failed])
