"""Arrays as kernels expect them."""

from typing import Any

import numpy.typing as npt


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of an array that cannot be written to.

    Numba compiles a kernel anew for read-only arrays. Where either kind can reach a kernel, it is
    given this view, so that one compilation does.
    """
    view = array.view()
    view.flags.writeable = False
    return view
