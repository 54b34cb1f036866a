"""A loop that fails in a test says in which case."""

import pytest
from loop_variables import describe


def check_all():
    for word, (number, _) in {"one": (1, 0), "two": (2, 0)}.items():
        for repeat in range(3):
            assert (word, number + repeat) != ("two", 4)


def test_the_case_is_named():
    with pytest.raises(AssertionError) as caught:
        check_all()
    assert describe(caught.traceback) == "word = 'two'\nnumber = 2\n_ = 0\nrepeat = 2"


def test_a_failure_outside_loops_has_no_case():
    with pytest.raises(ZeroDivisionError) as caught:
        1 / 0  # noqa: B018
    assert describe(caught.traceback) == ""
