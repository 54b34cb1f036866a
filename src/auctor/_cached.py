"""A property that is computed once, without a lock."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached(Generic[Value]):  # noqa: N801  (used as a decorator)
    """Like ``functools.cached_property``, but threads do not wait for each other.

    Before Python 3.12 that one holds a lock for all objects of a class while it computes. Members
    of a group that are threads of one process compute theirs together, and would wait forever.

    Examples
    --------
    >>> class Square:
    ...     side = 3
    ...
    ...     @cached
    ...     def area(self):
    ...         return self.side**2
    >>> Square().area
    9
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = vars(instance)[self._name] = self._compute(instance)
        return value
