"""Amounts of memory: read from text such as "2GB", and written for messages."""

import re
from numbers import Integral
from typing import Any

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PATTERN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


def read_memory(amount: Any, name: str = "max_memory") -> int:
    """A number of bytes, from a whole number or a text such as "500MB", "2GB" or "1.5GiB".

    Examples
    --------
    >>> read_memory("2GB"), read_memory("1.5 GiB"), read_memory(1000)
    (2000000000, 1610612736, 1000)
    """
    if isinstance(amount, Integral) and not isinstance(amount, bool) and int(amount) > 0:
        return int(amount)
    match = _PATTERN.fullmatch(amount) if isinstance(amount, str) else None
    if match is None or float(match[1]) == 0 or (match[3] and not match[2]):
        raise ValueError(
            f"{name} is {amount!r}; give a number of bytes, or a text such as '500MB' or '2GB'"
        )
    units = _BINARY_UNITS if match[3] else _UNITS
    return int(float(match[1]) * units[match[2].upper()])


def memory_text(n_bytes: float) -> str:
    """A number of bytes with two digits or more, in MB or GB.

    Examples
    --------
    >>> memory_text(2_345_000_000), memory_text(120_400_000)
    ('2.3 GB', '120 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
