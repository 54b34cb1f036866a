"""Checks of old versions of scikit-learn that no estimator for two classes can pass."""

import sklearn
from sklearn.utils.fixes import parse_version

_EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
_OTHER_LABELS = (
    "scikit-learn 1.6 makes two classes of three by the first label, after it has shuffled one of "
    "the two tables: 0 against the rest in one, 1 against the rest in the other"
)
FAULTY: dict[str, str] = (
    dict.fromkeys(_EQUIVALENCE, _OTHER_LABELS)
    if parse_version(sklearn.__version__) < parse_version("1.7")
    else {}
)
