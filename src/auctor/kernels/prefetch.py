"""Asking the processor for a row of a matrix that will be read a little later.

Rows of a node are far apart in memory, and a loop over them would wait for each of them. A request
does not wait: the row is fetched while the rows before it are worked on. It changes no result.
"""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def fetch_row(matrix: npt.NDArray[Any], row: Any) -> None:
    """Begin to load a short row, given by an unsigned number, into the cache.

    The first and the last byte are asked for: a row of up to 64 bytes is on two lines at most.
    Without compiling, it does nothing.
    """


@intrinsic
def _fetch(_: Any, matrix: types.Array, row: types.Integer) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, args[0])
        row_step, column_step = cgutils.unpack_tuple(builder, view.strides)
        n_columns = cgutils.unpack_tuple(builder, view.shape)[1]
        first = builder.mul(row_step, builder.zext(args[1], row_step.type))
        last = builder.add(
            first, builder.mul(column_step, builder.sub(n_columns, n_columns.type(1)))
        )
        start = builder.bitcast(view.data, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [start.type, number, number, number])
        request = builder.module.declare_intrinsic("llvm.prefetch", (start.type,), kind)
        for place in (first, last):
            # For reading, to be kept in all caches, data and not instructions.
            how = number(0), number(3), number(1)
            builder.call(request, [builder.gep(start, [place]), *how])
        return context.get_dummy_value()

    return types.void(matrix, row), generate


@overload(fetch_row, strict=False)
def _compiled(matrix: Any, row: Any) -> Any:
    return lambda matrix, row: _fetch(matrix, row)  # type: ignore[call-arg]
