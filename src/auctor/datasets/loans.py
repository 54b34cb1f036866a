"""Simulated loans: numbers, categories and missing values, for examples of whole tasks."""

from typing import TYPE_CHECKING

import numpy as np

from auctor._typing import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa


def make_loans(n_samples: int = 3000, *, random_state: int = 0) -> "tuple[pa.Table, Ints]":
    """Draw loans, about one in nine of which was not paid back.

    The risk does not rise or fall evenly with the features, as it seldom does: it is high for the
    young and the old, falls with income and then stays, and jumps where a credit line is almost
    used up. People who do not state their income pay back less often.

    Parameters
    ----------
    n_samples : int, default=3000
        Number of loans.
    random_state : int, default=0
        Seed of the random numbers.

    Returns
    -------
    X : pyarrow.Table
        Seven columns: ``age``, ``monthly_income`` (unknown for 12 % of the rows),
        ``credit_line_used``, ``years_in_job``, ``late_payments``, and the categories ``purpose``
        and ``housing``. ``X.to_pandas()`` and ``polars.from_arrow(X)`` are data frames.
    y : ndarray of shape (n_samples,), int64
        1 where the loan was not paid back, and 0 elsewhere.

    Examples
    --------
    >>> from auctor.datasets import make_loans
    >>> X, y = make_loans(1000)
    >>> X.column_names[:4], int(y.sum())
    (['age', 'monthly_income', 'credit_line_used', 'years_in_job'], 124)
    >>> X["monthly_income"].null_count
    108
    """
    import pyarrow as pa

    rng = np.random.default_rng(random_state)
    columns = _draw_columns(n_samples, rng)
    is_unknown = rng.random(n_samples) < 0.12
    log_odds = _log_odds(columns) + 0.8 * is_unknown
    y = (rng.random(n_samples) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)
    income = pa.array(columns["monthly_income"], mask=is_unknown)
    return pa.table({**columns, "monthly_income": income}), y


def _draw_columns(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    age = np.clip(rng.gamma(6, 7, n) + 12, 18, 85).round()
    return {
        "age": age.astype(np.int64),
        "monthly_income": np.exp(rng.normal(7.9, 0.55, n)).round(-1),
        "credit_line_used": np.clip(rng.beta(1.1, 1.4, n), 0, 1).round(3),
        "years_in_job": np.minimum(rng.exponential(6, n), age - 17).round(1),
        "late_payments": rng.poisson(0.5, n),
        "purpose": rng.choice(
            ["car", "furniture", "education", "business"], n, p=[0.4, 0.3, 0.1, 0.2]
        ),
        "housing": rng.choice(["own", "rent", "free"], n, p=[0.55, 0.35, 0.1]),
    }


def _log_odds(columns: dict[str, np.ndarray]) -> Floats:
    """The log-odds of not paying back, for people who state their income."""
    purpose = columns["purpose"]
    result: Floats = (
        -2.5
        + 0.55 * ((columns["age"] - 46) / 18) ** 2
        - 1.3 * np.clip(np.log(columns["monthly_income"] / 1500), -1, 1)
        + 1.9 / (1 + np.exp(-(columns["credit_line_used"] - 0.8) / 0.03))
        - 0.9 * np.tanh(columns["years_in_job"] / 2)
        + 0.8 * np.sqrt(columns["late_payments"])
        + np.select([purpose == "business", purpose == "education"], [0.9, -0.5], 0.0)
        + np.where(columns["housing"] == "own", -0.4, 0.3)
    )
    return result
