"""The metric that a model is trained for, by its name: auc, ks, p@k:100 or pauc:0-0.1."""

from dataclasses import dataclass
from typing import Any

# A precision at k counts a fraction of the rows below 1.
_LARGEST_FRACTION = 1 - 1e-9


@dataclass(frozen=True)
class Metric:
    """AUC, KS, precision at k or partial AUC, with the k or the false positive rates.

    Examples
    --------
    >>> str(Metric("p@k", k=0.1)), Metric("p@k", k=0.1).words
    ('p@k:0.1', ('precision', 'in the top 0.1 of the rows'))
    """

    kind: str
    k: float | None = None
    fpr_range: tuple[float, float] | None = None

    def __str__(self) -> str:
        """The metric as it is typed on the command line."""
        if self.kind == "p@k":
            return f"p@k:{self.k:g}"
        if self.fpr_range is not None:
            return f"pauc:{self.fpr_range[0]:g}-{self.fpr_range[1]:g}"
        return self.kind

    @property
    def has_own_interval(self) -> bool:
        """Whether the metric is neither the AUC nor KS, which every command prints anyway."""
        return self.kind not in ("auc", "ks")

    @property
    def words(self) -> tuple[str, str]:
        """The name of the metric, and the part of the curve or of the list that it looks at."""
        if self.kind in ("auc", "ks"):
            return self.kind.upper(), ""
        if self.kind == "p@k":
            assert self.k is not None
            return "precision", f"in the top {self.k:g}" + ("" if self.k >= 1 else " of the rows")
        assert self.fpr_range is not None
        low, high = self.fpr_range
        return "scaled partial AUC", f"over fpr {low:g} to {high:g}"

    def arguments(self, n_rows: int) -> dict[str, Any]:
        """The metric as keyword arguments of :func:`auctor.metrics.compare_metric`."""
        if self.kind == "p@k":
            return {"metric": "precision_at_k", "k": self._fraction(n_rows)}
        if self.kind == "pauc":
            return {"metric": "partial_auc", "fpr_range": self.fpr_range, "scaled": True}
        return {"metric": self.kind}

    def learner_arguments(self, n_rows: int) -> dict[str, Any]:
        """The parameter ``k`` of a learner, where ``--metric p@k:N`` gave a number of rows.

        It becomes a fraction of the rows, which is the same in every fold.
        """
        if self.k is None or self.k < 1:
            return {}
        if self.k > n_rows:
            raise ValueError(
                f"--metric {self} is the precision in the top {self.k:g} rows, but the table has "
                f"{n_rows}; give a smaller number, or a fraction such as p@k:0.1"
            )
        return {"k": self._fraction(n_rows)}

    def _fraction(self, n_rows: int) -> float:
        assert self.k is not None
        fraction = self.k / n_rows if self.k >= 1 else self.k
        return min(fraction, _LARGEST_FRACTION)


def read_metric(text: str) -> Metric | None:
    """Read ``auc``, ``ks``, ``p@k:100`` (or a fraction, ``p@k:0.1``) or ``pauc:0-0.1``.

    None for any other text.

    Examples
    --------
    >>> read_metric("pauc:0-0.1")
    Metric(kind='pauc', k=None, fpr_range=(0.0, 0.1))
    """
    kind, _, rest = text.lower().partition(":")
    if kind in ("auc", "ks") and not rest:
        return Metric(kind)
    if kind == "p@k" and (k := _parse_k(rest)) is not None:
        return Metric(kind, k=k)
    if kind == "pauc" and (fpr_range := _parse_range(rest)) is not None:
        return Metric(kind, fpr_range=fpr_range)
    return None


def _parse_k(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if number >= 1 and number.is_integer():
        return int(number)
    return number if 0 < number < 1 else None


def _parse_range(text: str) -> tuple[float, float] | None:
    low, dash, high = text.partition("-")
    try:
        ends = float(low), float(high)
    except ValueError:
        return None
    return ends if dash and 0 <= ends[0] < ends[1] <= 1 else None
