"""Learners by their name on the command line; a learner is imported when it is asked for."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from auctor._lazy import stub_names
from auctor.estimators.base import RankingEstimator

# Modules of the stub that hold no learner.
_TOOLS = {"auctor.estimators.cross_validation"}


def learner_name(learner: type[RankingEstimator]) -> str:
    """The name of a learner on the command line.

    Examples
    --------
    >>> from auctor import RankBoost, TreeRankForest
    >>> learner_name(RankBoost), learner_name(TreeRankForest)
    ('rankboost', 'treerank-forest')
    """
    return _name(learner.__module__)


def _name(module: str) -> str:
    return module.rpartition(".")[2].replace("_", "-")


class _Learners(Mapping[str, type[RankingEstimator]]):
    """Classes of learners by name."""

    def __init__(self) -> None:
        names = stub_names("auctor.estimators")
        self._homes = {
            _name(module): (module, name) for name, module in names.items() if module not in _TOOLS
        }

    def __getitem__(self, name: str) -> type[RankingEstimator]:
        module, class_name = self._homes[name]
        learner: type[RankingEstimator] = getattr(import_module(module), class_name)
        return learner

    def __contains__(self, name: object) -> bool:
        return name in self._homes  # without an import

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


LEARNERS: Mapping[str, type[RankingEstimator]] = _Learners()
