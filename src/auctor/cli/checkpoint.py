"""`--checkpoint`: a fit that was interrupted goes on."""

from typing import Any

from auctor.cli.output import note
from auctor.estimators.checkpointing import read_checkpoint
from auctor.learners.checkpoint.checkpoint import Checkpoint


def open_checkpoint(folder: str | None, estimator: Any, quiet: bool) -> Checkpoint | None:
    """The checkpoint of a command, which is removed when the model is written."""
    if folder is None:
        return None
    checkpoint = read_checkpoint(Checkpoint(folder, keep=True), estimator)
    if checkpoint is not None and checkpoint.store.names():
        note(f"going on with the state in {folder}", quiet)
    return checkpoint


def part_of(checkpoint: Checkpoint | None, name: str) -> Checkpoint | None:
    """The checkpoint of one of the fits of a command."""
    return None if checkpoint is None else checkpoint.part(name)
