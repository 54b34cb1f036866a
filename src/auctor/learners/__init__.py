"""One file an algorithm: RankingData and settings in, (model, history, certificate) out."""

from auctor.learners.aucboost import fit_aucboost
from auctor.learners.aucboost_rows import fit_aucboost_rows
from auctor.learners.aucboost_trees import fit_aucboost_trees
from auctor.learners.certificate import Certificate
from auctor.learners.dmks import fit_dmks
from auctor.learners.exact_metric import RankMetric
from auctor.learners.exactboost import ExactBoostWarning, fit_exactboost
from auctor.learners.forest import fit_forest
from auctor.learners.martirank import fit_martirank
from auctor.learners.martirank_rows import fit_martirank_rows
from auctor.learners.oracle import OracleError
from auctor.learners.rankboost import fit_rankboost
from auctor.learners.sampling_martirank import fit_sampling_martirank
from auctor.learners.soft_rankboost import fit_soft_rankboost
from auctor.learners.treerank import fit_treerank

__all__ = [
    "Certificate",
    "ExactBoostWarning",
    "OracleError",
    "RankMetric",
    "fit_aucboost",
    "fit_aucboost_rows",
    "fit_aucboost_trees",
    "fit_dmks",
    "fit_exactboost",
    "fit_forest",
    "fit_martirank",
    "fit_martirank_rows",
    "fit_rankboost",
    "fit_sampling_martirank",
    "fit_soft_rankboost",
    "fit_treerank",
]
