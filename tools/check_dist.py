"""Check what is in the wheel and in the source distribution of dist/. ``make build`` runs it."""

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
IN_SOURCE = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "docs/conf.py", "examples/01_first_model.py", "pyproject.toml", "tests/public_api.txt",
)  # fmt: skip


def package_files() -> set[str]:
    """All files of the package, as a wheel names them."""
    source = ROOT / "src"
    files = (path for path in (source / "auctor").rglob("*") if path.is_file())
    return {
        path.relative_to(source).as_posix() for path in files if "__pycache__" not in path.parts
    }


def wheel_problems(names: set[str]) -> list[str]:
    """What is missing in a wheel, and what should not be there."""
    wanted = package_files()
    metadata = {name for name in names if ".dist-info/" in name}
    problems = [f"the wheel lacks {name}" for name in sorted(wanted - names)]
    problems += [f"the wheel has {name}" for name in sorted(names - wanted - metadata)]
    if not any(name.endswith("licenses/LICENSE") for name in metadata):
        problems.append("the wheel lacks the licence")
    if not any(name.endswith("entry_points.txt") for name in metadata):
        problems.append("the wheel lacks the command `auctor`")
    return problems


def source_problems(names: set[str]) -> list[str]:
    """What is missing in a source distribution, and what should not be there."""
    wanted = {*IN_SOURCE, *(f"src/{name}" for name in package_files())}
    problems = [f"the source distribution lacks {name}" for name in sorted(wanted - names)]
    generated = ("docs/_build/", "docs/gallery/", "docs/api/generated/", ".venv", "demo-output/")
    return problems + [
        f"the source distribution has {name}"
        for name in sorted(names)
        if name.startswith(generated) or "__pycache__" in name
    ]


def main(folder: Path) -> int:
    """Print the problems of the one wheel and the one source distribution; 1 if there are any."""
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(source) as archive_of_source:
        in_source = {name.partition("/")[2] for name in archive_of_source.getnames()}
    problems = [*wheel_problems(in_wheel), *source_problems(in_source)]
    for line in problems:
        print(line)
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:.2f} MB" for path in (wheel, source))
    print(f"{sizes}: {len(in_wheel)} and {len(in_source)} files, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")))
