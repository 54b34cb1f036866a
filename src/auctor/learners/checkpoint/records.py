"""Records of rounds as plain values of JSON, and back.

The types of a record's fields say how it is read. A file therefore cannot name a class or run code:
a value of another type is an error that names the field.
"""

import base64
import binascii
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

Record = TypeVar("Record")

# Numbers that JSON does not have.
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LARGEST_INT = 2**63


def encode(value: Any) -> Any:
    """A record as dicts, lists, numbers and texts; arrays as text, so that no bit is lost.

    Examples
    --------
    >>> encode([1.5, float("inf"), np.array([1.0])])
    [1.5, 'inf', {'shape': [1], 'base64': 'AAAAAAAA8D8='}]
    """
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        text = base64.b64encode(little.tobytes()).decode("ascii")
        return {"shape": list(value.shape), "base64": text}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if _is_record(type(value)):
        return {name: encode(getattr(value, name)) for name in _kinds(cast(Any, type(value)))}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    raise TypeError(f"a record of a checkpoint cannot hold a {type(value).__name__}")


def decode(kind: Any, value: Any, path: str) -> Any:
    """A record of a type from its plain values; a ValueError names the field that is wrong."""
    origin = get_origin(kind)
    if origin in (UnionType, Union):
        return _decode_union(get_args(kind), value, path)
    if origin is np.ndarray:
        return _decode_array(np.dtype(get_args(get_args(kind)[1])[0]), value, path)
    if origin is list:
        items = _expect(list, value, path, "a list")
        (item_kind,) = get_args(kind)
        return [decode(item_kind, item, f"{path}[{i}]") for i, item in enumerate(items)]
    if origin is tuple:
        return _decode_tuple(get_args(kind), value, path)
    if _is_record(kind):
        return _decode_record(kind, value, path)
    return _SCALARS[kind](value, path)


def fail(path: str, wanted: str) -> ValueError:
    """The error for a field that is not what it should be."""
    return ValueError(f"field '{path}' must be {wanted}")


def _is_record(kind: Any) -> bool:
    is_named_tuple = isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
    return isinstance(kind, type) and (is_dataclass(kind) or is_named_tuple)


@cache
def _kinds(kind: type) -> dict[str, Any]:
    """The types of the fields of a dataclass or named tuple, by name."""
    hints = get_type_hints(kind)
    named = cast(Any, kind)
    names = named._fields if issubclass(kind, tuple) else [f.name for f in fields(named)]
    return {name: hints[name] for name in names}


def _decode_record(kind: type, value: Any, path: str) -> Any:
    kinds = _kinds(kind)
    given = _expect(dict, value, path, "an object")
    for name in kinds.keys() ^ given.keys():
        state = "missing" if name in kinds else "unknown"
        raise ValueError(f"field '{path}.{str(name)[:60]}' is {state}")
    return kind(**{name: decode(own, given[name], f"{path}.{name}") for name, own in kinds.items()})


def _decode_union(kinds: tuple[Any, ...], value: Any, path: str) -> Any:
    """One type or None; other unions do not occur."""
    if value is None and NoneType in kinds:
        return None
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    return decode(kind, value, path)


def _decode_tuple(kinds: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    items = _expect(list, value, path, "a list")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(items)
    if len(items) != len(kinds):
        raise fail(path, f"a list of {len(kinds)}")
    pairs = enumerate(zip(kinds, items, strict=True))
    return tuple(decode(kind, item, f"{path}[{i}]") for i, (kind, item) in pairs)


def _decode_array(dtype: np.dtype[Any], value: Any, path: str) -> npt.NDArray[Any]:
    given = _expect(dict, value, path, "an array")
    shape, text = given.get("shape"), given.get("base64")
    if not isinstance(shape, list) or not isinstance(text, str):
        raise fail(path, "an array with shape and base64")
    sides = [_decode_int(side, f"{path}.shape") for side in shape]
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise fail(f"{path}.base64", "base64") from None
    if min(sides, default=0) < 0 or math.prod(sides) * dtype.itemsize != len(content):
        raise fail(f"{path}.shape", f"the shape of {len(content)} bytes of {dtype.name}")
    array = np.frombuffer(content, dtype=dtype.newbyteorder("<")).reshape(sides)
    if dtype == np.bool_ and not (array.view(np.uint8) <= 1).all():
        raise fail(path, "an array of zeros and ones")
    return array.astype(dtype)  # a copy that can be written to


def _decode_int(value: Any, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not abs(value) < _LARGEST_INT:
        raise fail(path, "a whole number of 64 bits")
    return value


def _decode_float(value: Any, path: str) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise fail(path, "a number")
    try:
        return float(value)
    except OverflowError:
        raise fail(path, "a number") from None


def _expect(kind: type, value: Any, path: str, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise fail(path, wanted)
    return value


_SCALARS: dict[Any, Callable[[Any, str], Any]] = {
    int: _decode_int,
    float: _decode_float,
    bool: lambda value, path: _expect(bool, value, path, "true or false"),
    str: lambda value, path: _expect(str, value, path, "text"),
}
