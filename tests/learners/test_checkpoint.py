"""Checkpoint files: hostile, damaged and cut off, and the parts that they are made of."""

import base64
import json
import pickle
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import auctor
from auctor import Checkpoint
from auctor._typing import Bools, Floats
from auctor.data import prepare
from auctor.data.checksum import row_checksums
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL
from auctor.learners.checkpoint.file import read_text, write_text
from auctor.learners.checkpoint.records import decode, encode
from auctor.learners.checkpoint.store import MemoryStore

X = np.random.default_rng(0).normal(size=(120, 3))
Y = X[:, 0] + X[:, 1] ** 2 + np.random.default_rng(1).normal(size=120) > 1

FITS = {
    "RankBoost": auctor.RankBoost(4),
    "AUCBoost": auctor.AUCBoost(n_estimators=4),
    "MartiRank": auctor.MartiRank(n_layers=3),
    "TreeRank": auctor.TreeRank(2),
    "SmoothAUCBoost": auctor.SmoothAUCBoost(max_iter=4, early_stopping=True),
    "stagewise": auctor.SmoothAUCBoost(solver="stagewise", n_estimators=3),
    "SmoothTreeBoost": auctor.SmoothTreeBoost(4, early_stopping=False, init=None),
    "ExactBoost": auctor.ExactBoost(n_runs=2, n_estimators=3),
}


class Small(NamedTuple):
    number: float
    count: int
    table: Floats
    flags: Bools
    rest: list[tuple[int, ...]]
    name: str | None


SMALL = Small(0.1 + 0.2, -3, np.array([[1.5, -np.inf]]), np.array([True]), [(1, 2), ()], None)


def state_of(estimator) -> bytes:
    """The finished state of a fit."""
    store = MemoryStore()
    estimator.fit(X, Y, checkpoint=Checkpoint(store, keep=True))
    return store.contents["fit"]


@pytest.fixture(scope="module")
def states():
    return {name: state_of(estimator) for name, estimator in FITS.items()}


def forged(logs, state) -> MemoryStore:
    """A file with other logs and a checksum that fits: what an attacker would write."""
    identity, _ = read_text(state, "")
    return MemoryStore({"fit": write_text(identity, logs)})


def test_records_keep_every_bit():
    plain = json.loads(json.dumps(encode(SMALL), allow_nan=False))
    again = decode(Small, plain, "small")
    for name, value in SMALL._asdict().items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(again, name), value, strict=True)
        else:
            assert getattr(again, name) == value
        assert type(getattr(again, name)) is type(value)
    assert again.table.dtype == np.float64 and again.table.flags.writeable


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("number", "many", "field 'small.number' must be a number"),
        ("number", 10**400, "field 'small.number' must be a number"),
        ("count", True, "field 'small.count' must be a whole number of 64 bits"),
        ("count", 2**70, "field 'small.count' must be a whole number of 64 bits"),
        ("table", [1.0], "field 'small.table' must be an array"),
        ("table", {"shape": [1], "base64": "%"}, "field 'small.table.base64' must be base64"),
        ("table", {"shape": [-1], "base64": ""}, "field 'small.table.shape' must be the shape"),
        ("table", {"shape": [2**62, 8], "base64": ""}, "field 'small.table.shape' must be the"),
        (
            "flags",
            {"shape": [1], "base64": "Bw=="},
            "field 'small.flags' must be an array of",
        ),
        ("rest", [[1], 5], r"field 'small.rest\[1\]' must be a list"),
        ("name", 5, "field 'small.name' must be text"),
        ("more", 5, "field 'small.more' is unknown"),
    ],
)
def test_a_wrong_field_is_named(field, value, message):
    with pytest.raises(ValueError, match=message):
        decode(Small, {**encode(SMALL), field: value}, "small")


def test_a_missing_field_is_named():
    plain = encode(SMALL)
    del plain["count"]
    with pytest.raises(ValueError, match=r"field 'small\.count' is missing"):
        decode(Small, plain, "small")


def test_objects_cannot_be_noted():
    with pytest.raises(TypeError, match="cannot hold a set"):
        encode({1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: b"", "it is not valid JSON"),
        (lambda text: text[: len(text) // 2], "field 'sha256' does not match"),
        (lambda text: text.replace(b'"rounds"', b'"sounds"'), "field 'sha256' does not match"),
        (lambda text: b"\x80\x04\x95" + text, "codec can't decode"),
        (lambda text: text.replace(b"auctor-checkpoint", b"other"), "field 'format' must be"),
        (lambda text: text.replace(b'"version": 1', b'"version": 9'), "field 'version' is 9"),
        (lambda text: b"[" * 100_000, "nested too deeply|not valid JSON"),
        (lambda text: b"5\n5\n", "the first line must be an object"),
    ],
)
def test_damaged_files(states, change, message):
    store = MemoryStore({"fit": change(states["RankBoost"])})
    with pytest.raises(ValueError, match=message) as caught:
        FITS["RankBoost"].fit(X, Y, checkpoint=Checkpoint(store))
    assert "cannot be read" in str(caught.value) and "remove it to start" in str(caught.value)


def test_pickles_are_not_read():
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("code of the file ran",))

    store = MemoryStore({"fit": pickle.dumps(Evil())})
    with pytest.raises(ValueError, match="cannot be read"):
        FITS["RankBoost"].fit(X, Y, checkpoint=Checkpoint(store))


def mutations(value, path=()):
    """Copies of plain values, each with one part replaced by something hostile."""
    if isinstance(value, dict) and set(value) == {"shape", "base64"}:
        content = base64.b64decode(value["base64"])
        yield path, {**value, "base64": base64.b64encode(b"\xff" * len(content)).decode()}
        yield path, {"shape": [0], "base64": ""}
    elif isinstance(value, dict):
        for key, item in value.items():
            for inner, other in mutations(item, (*path, key)):
                yield inner, {**value, key: other}
    elif isinstance(value, list):
        yield path, value[1:]
        for i, item in list(enumerate(value))[:2]:
            for inner, other in mutations(item, (*path, i)):
                yield inner, [*value[:i], other, *value[i + 1 :]]
    else:
        for other in (2**40, -(2**40), "text", "nan"):
            yield path, other


@pytest.mark.parametrize("name", FITS)
def test_a_forged_state_ends_in_an_error_or_a_model(name, states):
    """Indices are checked before kernels use them; other numbers may give another model."""
    _, logs = read_text(states[name], "")
    n_refused = 0
    for path, changed in mutations(logs):
        store = forged(changed, states[name])
        try:
            with np.errstate(all="ignore"):
                FITS[name].fit(X, Y, checkpoint=Checkpoint(store))
        except ValueError as error:
            n_refused += 1
            assert "checkpoint" in str(error), (path, error)
    assert n_refused > 10


def test_a_log_that_is_no_list(states):
    with pytest.raises(ValueError, match=r"field 'logs.rounds' must be a list"):
        FITS["RankBoost"].fit(
            X, Y, checkpoint=Checkpoint(forged({"rounds": 5}, states["RankBoost"]))
        )


def test_without_a_checkpoint_nothing_is_kept():
    log = NO_JOURNAL.part("a").numbered("b").log("steps", int)
    assert [log.next(lambda: 5) for _ in range(3)] == [5, 5, 5]
    assert log.known == [] and log._own.records == []


def test_the_state_is_small(states):
    sizes = {name: len(state) for name, state in states.items()}
    assert all(size < 60_000 for size in sizes.values()), sizes


def test_checksums_do_not_depend_on_partitions_and_notice_two_codes_that_change_places():
    rng = np.random.default_rng(2)
    data = prepare(X, Y, sample_weight=rng.integers(1, 4, size=len(Y)))
    expected = row_checksums(data)
    assert row_checksums(data.split(7)) == expected
    part = data.partitions[0]
    for _ in range(50):
        codes = part.dense_codes.copy()
        j, i, k = rng.integers(3), *rng.integers(len(part.rows), size=2)
        codes[j, i], codes[j, k] = codes[j, k], codes[j, i]
        other = row_checksums(replace(data, partitions=(replace(part, codes=codes),)))
        is_same = bool((codes == part.dense_codes).all())
        assert (other.codes == expected.codes) == is_same
        assert other[1:] == expected[1:]
