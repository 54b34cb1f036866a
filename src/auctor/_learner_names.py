"""The two names of a learner: of its class, which is shown, and of the command line's option.

Nothing is imported for it, so that every command can say the name of a model's learner.
"""

from auctor._lazy import stub_names

# Modules of the stub that hold no learner.
_TOOLS = {"auctor.estimators.cross_validation"}


def option_name(module: str) -> str:
    """The name on the command line of the learner in a module."""
    return module.rpartition(".")[2].replace("_", "-")


# Name on the command line -> module and class.
HOMES: dict[str, tuple[str, str]] = {
    option_name(module): (module, name)
    for name, module in stub_names("auctor.estimators").items()
    if module not in _TOOLS
}


def class_name(learner: str) -> str:
    """The name of a learner's class, from either name; other texts as they are.

    Model files of earlier versions have the name of the command line.

    Examples
    --------
    >>> class_name("rankboost"), class_name("RankBoost")
    ('RankBoost', 'RankBoost')
    """
    return HOMES[learner][1] if learner in HOMES else learner


def command_name(learner: str) -> str:
    """The name of a learner on the command line, from either name; other texts as they are.

    Examples
    --------
    >>> command_name("TreeRankForest"), command_name("treerank-forest")
    ('treerank-forest', 'treerank-forest')
    """
    names = {class_: option for option, (_, class_) in HOMES.items()}
    return names.get(learner, learner)
