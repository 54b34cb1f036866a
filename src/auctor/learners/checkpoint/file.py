"""The text of a checkpoint: a line with format and checksum, and a line with the content."""

import hashlib
import json
from typing import Any

from auctor.learners.checkpoint.records import fail

FORMAT = "auctor-checkpoint"
VERSION = 1

_START_ANEW = "remove it to start the fit anew, or give another folder"


def write_text(identity: dict[str, Any], logs: dict[str, list[Any]]) -> bytes:
    """The text of a checkpoint; ``logs`` are the encoded records by the name of their log."""
    body = {"identity": identity, "logs": logs}
    content = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    head = {"format": FORMAT, "version": VERSION, "sha256": hashlib.sha256(content).hexdigest()}
    return json.dumps(head).encode() + b"\n" + content + b"\n"


def read_text(text: bytes, place: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Identity and logs of a checkpoint; a ValueError says what is wrong and what to do."""
    try:
        return _read(text)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise damaged(place, error) from None


def damaged(place: str, error: BaseException) -> ValueError:
    """The error for a checkpoint that cannot be used."""
    reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
    return ValueError(f"the checkpoint {place} cannot be read: {reason}; {_START_ANEW}")


def _read(text: bytes) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    first, _, content = text.partition(b"\n")
    head = _object(_parse(first), "the first line")
    if head.get("format") != FORMAT:
        raise fail("format", f"'{FORMAT}'")
    if head.get("version") != VERSION:
        raise ValueError(
            f"field 'version' is {str(head.get('version'))[:20]}, and this release reads {VERSION}"
        )
    content = content.removesuffix(b"\n")
    if hashlib.sha256(content).hexdigest() != head.get("sha256"):
        raise ValueError("field 'sha256' does not match the content, which was cut off or changed")
    body = _object(_parse(content), "the content")
    identity, logs = (_object(body.get(name), f"field '{name}'") for name in ("identity", "logs"))
    for name, records in logs.items():
        if not isinstance(records, list):
            raise fail(f"logs.{name[:60]}", "a list")
    return identity, logs


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error})") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is not JSON")


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object")
    return value
