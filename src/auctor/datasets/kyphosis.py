"""Kyphosis after spinal surgery in 81 children: the real data of Komori (2010), section 5."""

import numpy as np

from auctor.datasets.sample import Sample

# (Age, Number, Start, kyphosis present). The order matters: Komori (2010) trains on the first 70.
# fmt: off
_ROWS = (
    (71, 3, 5, 0), (158, 3, 14, 0), (128, 4, 5, 1), (2, 5, 1, 0), (1, 4, 15, 0), (1, 2, 16, 0),
    (61, 2, 17, 0), (37, 3, 16, 0), (113, 2, 16, 0), (59, 6, 12, 1), (82, 5, 14, 1),
    (148, 3, 16, 0), (18, 5, 2, 0), (1, 4, 12, 0), (168, 3, 18, 0), (1, 3, 16, 0), (78, 6, 15, 0),
    (175, 5, 13, 0), (80, 5, 16, 0), (27, 4, 9, 0), (22, 2, 16, 0), (105, 6, 5, 1), (96, 3, 12, 1),
    (131, 2, 3, 0), (15, 7, 2, 1), (9, 5, 13, 0), (8, 3, 6, 0), (100, 3, 14, 0), (4, 3, 16, 0),
    (151, 2, 16, 0), (31, 3, 16, 0), (125, 2, 11, 0), (130, 5, 13, 0), (112, 3, 16, 0),
    (140, 5, 11, 0), (93, 3, 16, 0), (1, 3, 9, 0), (52, 5, 6, 1), (20, 6, 9, 0), (91, 5, 12, 1),
    (73, 5, 1, 1), (35, 3, 13, 0), (143, 9, 3, 0), (61, 4, 1, 0), (97, 3, 16, 0), (139, 3, 10, 1),
    (136, 4, 15, 0), (131, 5, 13, 0), (121, 3, 3, 1), (177, 2, 14, 0), (68, 5, 10, 0),
    (9, 2, 17, 0), (139, 10, 6, 1), (2, 2, 17, 0), (140, 4, 15, 0), (72, 5, 15, 0), (2, 3, 13, 0),
    (120, 5, 8, 1), (51, 7, 9, 0), (102, 3, 13, 0), (130, 4, 1, 1), (114, 7, 8, 1), (81, 4, 1, 0),
    (118, 3, 16, 0), (118, 4, 16, 0), (17, 4, 10, 0), (195, 2, 17, 0), (159, 4, 13, 0),
    (18, 4, 11, 0), (15, 5, 16, 0), (158, 5, 14, 0), (127, 4, 12, 0), (87, 4, 16, 0),
    (206, 4, 10, 0), (11, 3, 15, 0), (178, 4, 15, 0), (157, 3, 13, 1), (26, 7, 13, 0),
    (120, 2, 13, 0), (42, 7, 6, 1), (36, 4, 13, 0),
)
# fmt: on


def load_kyphosis() -> Sample:
    """Load the kyphosis data: 81 children, 17 with the deformity after corrective surgery.

    The features are ``Age`` (in months), ``Number`` (of vertebrae operated on) and ``Start`` (the
    first, that is topmost, vertebra operated on). The label is 1 if kyphosis was present after the
    operation. The rows are in the order of their source.

    Returns
    -------
    Sample
        A sample with labels 0 and 1. Its ``optimal_score`` is None, because it is unknown.

    References
    ----------
    J. M. Chambers and T. J. Hastie, Statistical Models in S, 1992.

    Examples
    --------
    >>> from auctor.datasets import load_kyphosis
    >>> sample = load_kyphosis()
    >>> sample
    Sample(81 rows, 3 features, 17 positive, 64 negative, 0 labels flipped)
    >>> sample.X[0].tolist(), sample.feature_names
    ([71.0, 3.0, 5.0], ('Age', 'Number', 'Start'))
    """
    table = np.array(_ROWS, dtype=np.int64)
    y = table[:, 3].copy()
    return Sample(
        X=table[:, :3].astype(np.float64),
        y=y,
        y_clean=y.copy(),
        feature_names=("Age", "Number", "Start"),
        optimal_score=None,
    )
