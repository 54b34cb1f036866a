"""One file an algorithm: RankingData and settings in, (model, history, certificate) out."""

from auctor.learners.aucboost import fit_aucboost
from auctor.learners.aucboost_rows import fit_aucboost_rows
from auctor.learners.certificate import Certificate
from auctor.learners.martirank import fit_martirank
from auctor.learners.martirank_rows import fit_martirank_rows
from auctor.learners.rankboost import fit_rankboost

__all__ = [
    "Certificate",
    "fit_aucboost",
    "fit_aucboost_rows",
    "fit_martirank",
    "fit_martirank_rows",
    "fit_rankboost",
]
