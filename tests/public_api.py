"""Public names with their parameters, and flags of the commands: ``make api`` writes the files."""

import argparse
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_name("public_api.txt")
FLAGS_FILE = Path(__file__).with_name("cli_flags.txt")
MODULES = (
    "auctor",
    "auctor.dask",
    "auctor.dask.metrics",
    "auctor.datasets",
    "auctor.display",
    "auctor.exceptions",
    "auctor.metrics",
    "auctor.models",
    "auctor.report",
)


def describe() -> str:
    """One line for each public name, in the order of the modules."""
    lines = [line for name in MODULES for line in _module_lines(import_module(name))]
    inherited = sorted({base for name in MODULES for base in _bases(import_module(name))})
    return "\n".join([*lines, *inherited, ""])


def describe_flags() -> str:
    """One line for each argument of each command: its names, what it takes, and its choices."""
    from auctor.cli.parser import build_parser

    lines = [f"auctor {_flag(each)}" for each in _options(build_parser())]
    for name, parser in sorted(_commands().items()):
        lines += sorted(f"auctor {name} {_flag(each)}" for each in _options(parser))
    return "\n".join([*lines, ""])


def _commands() -> dict[str, argparse.ArgumentParser]:
    from auctor.cli.parser import build_parser

    (commands,) = (
        each for each in build_parser()._actions if isinstance(each, argparse._SubParsersAction)
    )
    return dict(commands.choices)


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    hidden = (argparse._HelpAction, argparse._SubParsersAction)
    return [each for each in parser._actions if not isinstance(each, hidden)]


def _flag(option: argparse.Action) -> str:
    names = " ".join(option.option_strings) or option.dest.upper()
    takes = {0: "", "?": " [value]", "*": " [values]", "+": " values"}.get(option.nargs, " value")
    positional = not option.option_strings
    choices = f" {{{','.join(map(str, option.choices))}}}" if option.choices else ""
    needed = " required" if option.required and not positional else ""
    return f"{names}{'' if positional and takes == ' value' else takes}{choices}{needed}"


def public_names(module: ModuleType) -> list[str]:
    """``__all__``, or where there is none what the module itself defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    own = [name for name in vars(module) if not name.startswith("_")]
    homes = {name: getattr(getattr(module, name), "__module__", "") for name in own}
    return sorted(name for name in own if homes[name] == module.__name__)


def _module_lines(module: ModuleType) -> Iterator[str]:
    for name in public_names(module):
        value = getattr(module, name)
        full = f"{module.__name__}.{name}"
        if isinstance(value, ModuleType):
            yield f"{full} (module)"
        elif inspect.isclass(value) and issubclass(value, BaseException):
            yield f"{full} (exception)"  # Python's versions differ in the signature
        elif inspect.isclass(value):
            yield f"{full}{_signature(value)}"
            yield from _members(value, full)
        elif callable(value):
            yield f"{full}{_signature(value)}"
        else:
            yield full


def _members(owner: type, full: str) -> Iterator[str]:
    """Public methods and properties that a class defines itself."""
    for name, value in sorted(vars(owner).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, (staticmethod, classmethod)) or inspect.isfunction(value):
            yield f"{full}.{name}{_signature(getattr(owner, name))}"
        elif isinstance(value, property) or type(value).__name__ == "cached_property":
            yield f"{full}.{name} (property)"


def _bases(module: ModuleType) -> Iterator[str]:
    """The members that public classes inherit from classes of ours that are not public."""
    classes = [c for n in public_names(module) if inspect.isclass(c := getattr(module, n))]
    for base in {base for owner in classes for base in owner.__mro__[1:]}:
        if base.__module__.startswith("auctor") and base not in classes:
            yield from _members(base, f"{base.__module__}.{base.__qualname__}")


def _signature(value: Any) -> str:
    """Names and defaults of the parameters, without their types."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # of classes written in C
        return "(...)"
    parameters = [
        each.replace(annotation=each.empty, default=_plain(each.default))
        for each in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


class _Named:
    """A default whose own representation would show an address in memory."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name}>"


def _plain(default: Any) -> Any:
    if " at 0x" not in repr(default):
        return default
    return _Named(getattr(default, "__name__", type(default).__name__))


if __name__ == "__main__":
    for path, text in ((FILE, describe()), (FLAGS_FILE, describe_flags())):
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
