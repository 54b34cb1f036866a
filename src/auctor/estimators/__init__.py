"""scikit-learn classifiers, thin, over the learners; each loads when it is first used.

``__init__.pyi`` beside this file lists them.
"""

from importlib import import_module

from auctor._lazy import stub_names

_MODULES = stub_names(__name__)

__all__ = sorted(_MODULES)


def __getattr__(name):
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
