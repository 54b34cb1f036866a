"""Names that are imported on first use, read from a stub that type checkers read too."""

from pathlib import Path


def stub_names(package: str) -> dict[str, str]:
    """Public name -> module that defines it, from the ``__init__.pyi`` of a package.

    Each line of the stub has the form ``from package.module import Name as Name``.

    Examples
    --------
    >>> stub_names("auctor.estimators")["RankBoost"]
    'auctor.estimators.rankboost'
    """
    folder = Path(__file__).parent.joinpath(*package.split(".")[1:])
    text = folder.joinpath("__init__.pyi").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines()]
    return {words[3]: words[1] for words in lines if words[:1] == ["from"]}
