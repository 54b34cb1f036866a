"""Results of metrics as plain values, for the JSON output of the commands."""

from typing import Any

from auctor._text import interval, signed, signless
from auctor.metrics import AucInterval, MetricComparison, MetricInterval


def auc_facts(result: AucInterval) -> dict[str, Any]:
    """An AUC with its interval and its sentence."""
    return {
        "auc": result.value,
        "low": result.low,
        "high": result.high,
        "level": result.level,
        "method": result.method,
        "standard_error": result.standard_error,
        "folds": result.n_folds,
        "sentence": str(result),
    }


def interval_facts(name: str, result: AucInterval | MetricInterval) -> dict[str, float]:
    """A metric and its interval, under keys that begin with ``name``."""
    return {name: result.value, f"{name}_low": result.low, f"{name}_high": result.high}


def difference_facts(compared: MetricComparison) -> dict[str, Any]:
    """A paired difference with its interval and its test."""
    return {
        "difference": compared.difference,
        "low": compared.low,
        "high": compared.high,
        "p_value": compared.p_value,
        "method": compared.method,
    }


def with_interval(result: MetricInterval) -> str:
    """A value and its confidence interval in words."""
    return f"{result.value:.3f} ({interval(result.low, result.high, result.level)})"


def difference_words(compared: MetricComparison, digits: int = 3) -> tuple[str, str]:
    """A difference with its sign, and the two ends of its confidence interval.

    Both are texts; the caller adds the level of the interval.
    """
    ends = f"{signless(compared.low, digits)} to {signless(compared.high, digits)}"
    return signed(compared.difference, digits), ends
