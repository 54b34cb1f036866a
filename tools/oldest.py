"""Print the oldest versions that pyproject.toml allows, one requirement a line, for pip.

``make test-oldest`` installs them. A bound ">=1.6" becomes "==1.6.*": the newest bug fix of that
version, since the first one is often withdrawn.
"""

import re
import sys
import tomllib
from pathlib import Path

FILE = Path(__file__).parent.parent / "pyproject.toml"


def oldest(requirement: str) -> str:
    """The requirement with its lower bound as the version.

    Examples
    --------
    >>> oldest("scikit-learn>=1.6"), oldest("pyarrow>=16"), oldest("dask[dataframe]>=2025.5")
    ('scikit-learn==1.6.*', 'pyarrow==16.*', 'dask[dataframe]==2025.5.*')
    """
    name, version = re.fullmatch(r"([\w.\[\]-]+)\s*>=\s*([\d.]+)", requirement).groups()  # type: ignore[union-attr]
    return f"{name}=={version}.*"


def main(extras: list[str]) -> None:
    """Print the requirements of the package and of some extras, those of auctor itself resolved."""
    project = tomllib.loads(FILE.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    requirements = list(project["dependencies"])
    for extra in extras:
        requirements += [each for each in optional[extra] if not each.startswith("auctor[")]
    print("\n".join(oldest(each) for each in dict.fromkeys(requirements)))


if __name__ == "__main__":
    main(sys.argv[1:])
