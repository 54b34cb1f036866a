"""What a fit is recognised by: its table, its learner and its settings.

A checkpoint is used only by the fit that wrote it. Everything that decides the model is compared;
the number of threads and what is printed are not.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from auctor import __version__
from auctor.data import RankingData
from auctor.data.checksum import row_checksums
from auctor.learners.checkpoint.records import encode

# Settings that do not change the model.
_IGNORED = {"n_jobs", "verbose", "keep_interrupted"}
_LONGEST_LIST = 100  # longer ones are compared by their digest
_MOST_NAMED = 3

# What the entries of a table are called in an error.
_WORDS = {
    "auctor": "the version of auctor",
    "rows": "the number of rows",
    "positives": "the number of positive rows",
    "classes": "the labels",
    "columns": "the names of the columns",
    "bins": "the bins of the columns",
    "codes": "the values of the features",
    "weights": "the weights of the rows",
    "labels": "the rows that are positive",
    "rows_per_unit": "the meaning of the weights",
    "copies": "the copies among the rows",
}


class OtherFitError(ValueError):
    """A checkpoint is of another fit than the one that reads it; ``differences`` says why."""

    differences = ""  # no argument: errors of workers are pickled


def identify(learner: str, data: RankingData, settings: Any, **others: Any) -> dict[str, Any]:
    """The identity of a fit; ``others`` are further arguments of the learner by name.

    It is that of the whole table: all members of a group have the same one, and must ask for it
    at the same time.
    """
    return {
        "learner": learner,
        "auctor": __version__,
        "table": _plain(data, "table"),
        "settings": _plain(settings, "settings"),
        **{name: _plain(value, name) for name, value in others.items()},
    }


def check_same(was: Any, now: dict[str, Any], place: str) -> None:
    """Raise an error that says what differs, unless both identities are equal."""
    texts = [text for _, text in zip(range(_MOST_NAMED + 1), _differences(was, now), strict=False)]
    if not texts:
        return
    more = ", and more" if len(texts) > _MOST_NAMED else ""
    differences = "; ".join(texts[:_MOST_NAMED]) + more
    error = OtherFitError(
        f"the checkpoint {place} is of another fit: {differences}. Give checkpoint another folder "
        "for this fit, or remove the file to start anew"
    )
    error.differences = differences
    raise error


def _differences(was: Any, now: Any, name: str = "", path: str = "") -> Iterator[str]:
    """What differs, in words."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in now:
            inner = f"{path}{key}." if path or key not in ("table", "settings") else ""
            yield from _differences(was.get(key), now[key], key, inner)
        if was.keys() - now.keys():
            yield f"{sorted(map(str, was.keys() - now.keys()))[0][:60]} is unknown"
        return
    if was == now:
        return
    what = _WORDS.get(name, name)
    if "validation." in path:
        what = f"{what} (held-out rows)"
    if _is_digest(was) or _is_digest(now):
        yield f"{what} changed"
    else:
        yield f"{what} was {_short(was)} and is {_short(now)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _plain(value: Any, name: str) -> Any:
    """A value as JSON has it; arrays and tables by their digest."""
    if isinstance(value, RankingData):
        return _describe_rows(value)
    if isinstance(value, np.ndarray):
        return digest(value)
    if isinstance(value, (list, tuple)):
        items = [_plain(item, f"{name}[{i}]") for i, item in enumerate(value)]
        return items if len(items) <= _LONGEST_LIST else digest(repr(items))
    if is_dataclass(value) and not isinstance(value, type):
        own = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in _IGNORED}
        inside = "" if name == "settings" else f"{name}."
        return {key: _plain(item, f"{inside}{key}") for key, item in own.items()}
    if value is None or isinstance(value, (bool, str, Real)):
        return encode(value)
    raise ValueError(
        f"{name} is a {type(value).__name__}, of which a checkpoint cannot tell whether it is the "
        "same in the next run; leave out checkpoint, or give a number or a name"
    )


def _describe_rows(data: RankingData) -> dict[str, Any]:
    sums = row_checksums(data)
    bins = [
        (f.kind, f.cuts.tobytes(), repr(f.categories), f.centres.tobytes()) for f in data.features
    ]
    return {
        "rows": data.n_rows,
        "positives": data.n_pos,
        "classes": [str(label) for label in data.classes.tolist()],
        "columns": digest(repr([f.name for f in data.features])),
        "bins": digest(repr(bins)),
        "codes": digest(str(sums.codes)),
        "weights": digest(str(sums.weights)),
        "labels": digest(str(sums.labels)),
        "rows_per_unit": None if data.rows_per_unit is None else list(data.rows_per_unit),
        "copies": None if data.copies is None else digest(data.copies),
    }


def digest(value: Any) -> str:
    """A short text that differs for different arrays or texts."""
    summary = hashlib.blake2b(digest_size=12)
    if isinstance(value, np.ndarray):
        summary.update(f"{value.dtype.str}{value.shape}".encode())
        summary.update(np.ascontiguousarray(value).view(np.uint8).data)
    else:
        summary.update(str(value).encode("utf-8", "surrogatepass"))
    return f"digest:{summary.hexdigest()}"


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("digest:")
