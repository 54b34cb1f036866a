"""Learners by their name on the command line; a learner is imported when it is asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from auctor._learner_names import HOMES, option_name
from auctor.estimators.base import RankingEstimator


def learner_name(learner: type[RankingEstimator]) -> str:
    """The name of a learner on the command line.

    Examples
    --------
    >>> from auctor import RankBoost, TreeRankForest
    >>> learner_name(RankBoost), learner_name(TreeRankForest)
    ('rankboost', 'treerank-forest')
    """
    return option_name(learner.__module__)


class _Learners(Mapping[str, type[RankingEstimator]]):
    """Classes of learners by name."""

    def __getitem__(self, name: str) -> type[RankingEstimator]:
        module, class_name = HOMES[name]
        learner: type[RankingEstimator] = getattr(import_module(module), class_name)
        return learner

    def __contains__(self, name: object) -> bool:
        return name in HOMES  # without an import

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


LEARNERS: Mapping[str, type[RankingEstimator]] = _Learners()
