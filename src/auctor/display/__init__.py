"""Drawings over finished numbers; they need matplotlib (the ``plot`` extra)."""

from auctor.display.program import ProgramDisplay

__all__ = ["ProgramDisplay"]
