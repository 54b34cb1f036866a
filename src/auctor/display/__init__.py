"""Drawings over finished numbers; they need matplotlib (the ``plot`` extra)."""

from auctor.display.program import ProgramDisplay
from auctor.display.tree import PartitionDisplay, TreeDisplay

__all__ = ["PartitionDisplay", "ProgramDisplay", "TreeDisplay"]
