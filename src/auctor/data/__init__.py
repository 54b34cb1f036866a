"""Input validation and binning: a table of any library becomes RankingData."""

from auctor._threads import Workers, resolve_n_jobs
from auctor.data.columns import Categories
from auctor.data.features import Category, Feature, category_feature, number_feature
from auctor.data.labels import Labels, read_labels, read_scores, read_vector, read_weights
from auctor.data.ranking import Partition, RankingData
from auctor.data.sparse import SparseCodes, check_sparse
from auctor.data.table import SparseTable, Table, read_table
from auctor.data.validation import find_categorical, prepare, select

__all__ = [
    "Categories",
    "Category",
    "Feature",
    "Labels",
    "Partition",
    "RankingData",
    "SparseCodes",
    "SparseTable",
    "Table",
    "Workers",
    "category_feature",
    "check_sparse",
    "find_categorical",
    "number_feature",
    "prepare",
    "read_labels",
    "read_scores",
    "read_table",
    "read_vector",
    "read_weights",
    "resolve_n_jobs",
    "select",
]
