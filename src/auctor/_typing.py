"""Names of the array types that annotations use, defined once."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
RowIndices = npt.NDArray[np.uint32]  # half the memory of Indices
DenseCodes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]  # bins of features
Hashes = npt.NDArray[np.uint64]
