"""The order of the examples in the gallery: what one needs first comes first."""

FIRST = (
    "first_model",
    "score_plots",
    "compare_two_models",
    "threshold_by_cost",
    "ks_of_a_credit_table",
    "precision_at_k",
    "partial_auc",
    "monotone_features",
    "interactions",
    "ensembling",
    "groups",
    "calibration",
    "score_roc",
    "scorecard",
)


class GalleryOrder:
    """Sort key of sphinx-gallery: the examples of ``FIRST``, then the others by name."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        name = filename.removeprefix("plot_").removesuffix(".py")
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)

    def __repr__(self) -> str:
        return "<GalleryOrder>"
