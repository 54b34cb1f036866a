"""Files that are damaged or hostile: each gives a ValueError, none crashes, hangs or scores."""

import copy
import hashlib
import json
from unittest.mock import sentinel

import numpy as np
import pandas as pd
import pytest
from models.conftest import build_model

from auctor.data import category_feature, number_feature
from auctor.models import Surface, from_json, load, to_json


@pytest.fixture
def text(model):
    return to_json(model)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def refuse(path, damaged):
    """Load the damaged bytes from a file; the error names the file and says more."""
    path.write_bytes(damaged if isinstance(damaged, bytes) else damaged.encode())
    with pytest.raises(ValueError, match=r"model\.json: ") as caught:
        load(path)
    assert type(caught.value) is ValueError
    return str(caught.value)


def sign(content):
    """The file's text with a checksum that fits, as somebody would write who knows how."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return json.dumps({**rest, "sha256": hashlib.sha256(canonical.encode()).hexdigest()})


def change(content, where, value):
    """A copy of the content with one field replaced, or removed where value is DELETE."""
    content = copy.deepcopy(content)
    *parents, last = where
    node = content
    for step in parents:
        node = node[step]
    if value is DELETE:
        del node[last]
    else:
        node[last] = value
    return content


DELETE = sentinel.DELETE


def fields(node, where=()):
    """Every field and list item of a JSON tree, by the way that leads to it."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*where, key), value
        if isinstance(value, (dict, list)):
            yield from fields(value, (*where, key))


def reads_as(damaged, content):
    """Whether a JSON reader finds nothing changed, so that there is no damage to find."""
    try:
        return json.loads(damaged) == content
    except ValueError:
        return False


def test_the_helper_signs_as_the_library_does(text):
    assert json.loads(sign(json.loads(text)))["sha256"] == json.loads(text)["sha256"]
    from_json(sign(json.loads(text)))


class TestDamaged:
    """Nobody recomputed the checksum."""

    def test_truncated_anywhere(self, text, path):
        lengths = np.unique(np.linspace(0, len(text) - 2, 150).astype(int))
        assert len(lengths) == 150
        for length in lengths:
            refuse(path, text[:length])

    def test_every_digit_changed(self, text, path):
        content = json.loads(text)
        count = 0
        for i, digit in enumerate(text):
            if not digit.isdigit():
                continue
            damaged = text[:i] + chr(ord(digit) ^ 1) + text[i + 1 :]
            if reads_as(damaged, content):
                continue  # the seventeenth digit of a float may stand for the same float
            refuse(path, damaged)
            count += 1
        assert count >= 100

    def test_bits_flipped_anywhere(self, text, path):
        raw, content = text.encode(), json.loads(text)
        random, count = np.random.default_rng(0), 0
        for i, bit in zip(random.integers(0, len(raw) - 1, 300), range(300), strict=True):
            damaged = bytearray(raw)
            damaged[i] ^= 1 << bit % 8
            if not reads_as(bytes(damaged), content):  # a blank may become another blank
                refuse(path, bytes(damaged))
                count += 1
        assert count >= 200

    def test_lines_dropped_and_doubled(self, text, path):
        lines = text.splitlines(keepends=True)
        for i in range(len(lines)):
            refuse(path, "".join(lines[:i] + lines[i + 1 :]))
            refuse(path, "".join(lines[: i + 1] + lines[i:]))

    def test_fields_swapped(self, text, path):
        content = json.loads(text)
        body = content["body"]["features"]
        for a, b in ((0, 1), (2, 3), (0, 4)):
            swapped = copy.deepcopy(content)
            features = swapped["body"]["features"]
            features[a], features[b] = body[b], body[a]
            assert "sha256" in refuse(path, json.dumps(swapped))
        swapped = change(content, ["classes"], content["classes"][::-1])
        assert "sha256" in refuse(path, json.dumps(swapped))
        swapped = change(content, ["threshold"], content["body"]["intercept"])
        assert "sha256" in refuse(path, json.dumps(swapped))

    @pytest.mark.parametrize(
        "damaged",
        [
            b"",
            b" \n",
            b"\x00" * 100,
            bytes(range(256)) * 10,
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}",
            b"\x80\x04\x95.",
            b"null",
            b"[]",
            b"{}",
            b"1",
            b'"auctor-model"',
            b"{" * 100_000,
            b"[" * 100_000 + b"]" * 100_000,
            b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
            b"1" * 100_000,
            b"-" * 1000,
            b"1e999999999",
        ],
        ids=lambda b: repr(b[:20]),
    )
    def test_other_content(self, damaged, path):
        refuse(path, damaged)

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
    def test_other_encodings(self, text, path, encoding):
        refuse(path, text.encode(encoding))

    def test_something_after_the_end(self, text, path):
        for tail in ("x", "{}", "\x00", text):
            refuse(path, text + tail)

    def test_a_folder(self, tmp_path):
        with pytest.raises(ValueError, match="is a folder; give the name of a model file"):
            load(tmp_path)

    @pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
    def test_numbers_that_are_none(self, text, path, literal):
        damaged = text.replace('"threshold": 0.25', f'"threshold": {literal}')
        assert damaged != text
        assert literal in refuse(path, damaged)

    @pytest.mark.parametrize("digits", [310, 401, 4000, 5001, 200_000])
    def test_numbers_of_many_digits(self, text, path, digits):
        for name in ('"threshold": 0.25', '"version": 1'):
            damaged = text.replace(name, name.split(":")[0] + ": 1" + "0" * digits)
            assert damaged != text
            assert len(refuse(path, damaged)) < 700

    def test_a_field_twice(self, text, path):
        damaged = text.replace('"threshold": 0.25', '"threshold": 0.25, "threshold": 0.25')
        assert "twice" in refuse(path, damaged)
        damaged = text.replace('"name": "age"', '"name": "age", "name": "age"')
        assert "twice" in refuse(path, damaged)

    @pytest.mark.parametrize("version", [0, 2, -1, 10**6])
    def test_unknown_version(self, text, path, version):
        message = refuse(path, sign(change(json.loads(text), ["version"], version)))
        assert f"field 'version' is {version}; this release of auctor reads 1 to 1" in message


# Where, what, and a word that the error must have.
HOSTILE = [
    (["format"], "pickle", "format"),
    (["format"], ["auctor-model"], "format"),
    (["version"], 1.0, "version"),
    (["version"], True, "version"),
    (["version"], "1", "version"),
    (["form"], "program-of-the-future", "form"),
    (["form"], {"additive": 1}, "form"),
    (["form"], None, "form"),
    (["sha256"], DELETE, "sha256"),
    (["extra"], 1, "extra"),
    (["body", "extra"], 1, "body.extra"),
    (["body", "features", 0, "extra"], 1, r"body.features[0].extra"),
    (["calibration", "extra"], 1, "calibration.extra"),
    (["classes"], ["a", "b", "c"], "classes"),
    (["classes"], ["a"], "classes"),
    (["classes"], [], "classes"),
    (["classes"], ["a", "a"], "classes"),
    (["classes"], [1, 1.0], "classes"),
    (["classes"], [0, False], "classes"),
    (["classes"], ["a", 1], "classes"),
    (["classes"], ["a", None], "classes[1]"),
    (["classes"], ["a", ["b"]], "classes[1]"),
    (["classes"], [0, 10**320], "classes[1]"),
    (["classes"], "ab", "classes"),
    (["classes"], {"a": 1, "b": 2}, "classes"),
    (["threshold"], "0.25", "threshold"),
    (["threshold"], True, "threshold"),
    (["threshold"], None, "threshold"),
    (["threshold"], [0.25], "threshold"),
    (["threshold"], 1e308, "threshold"),
    (["threshold"], 10**320, "threshold"),
    (["calibration"], None, "calibration"),
    (["calibration"], [1.0, 0.0], "calibration"),
    (["calibration", "slope"], 0, "calibration.slope"),
    (["calibration", "slope"], -0.0, "calibration.slope"),
    (["calibration", "slope"], -1.5, "calibration.slope"),
    (["calibration", "slope"], "1", "calibration.slope"),
    (["calibration", "offset"], 1e308, "calibration.offset"),
    (["calibration", "offset"], DELETE, "calibration.offset"),
    (["body"], [], "body"),
    (["body", "intercept"], 1e308, "body.intercept"),
    (["body", "intercept"], "0", "body.intercept"),
    (["body", "features"], [], "body.features"),
    (["body", "features"], {}, "body.features"),
    (["body", "features", 0], "age", "body.features[0]"),
    (["body", "features", 0, "name"], 5, "body.features[0].name"),
    (["body", "features", 0, "name"], "flat", "body.features"),
    (["body", "features", 0, "kind"], "text", "body.features[0].kind"),
    (["body", "features", 0, "kind"], "category", "body.features[0].categories"),
    (["body", "features", 2, "kind"], "number", "body.features[2].cuts"),
    (["body", "features", 0, "cuts"], [1.0, 1.0, 2.0], "body.features[0].cuts"),
    (["body", "features", 0, "cuts"], [2.0, 1.0, 3.0], "body.features[0].cuts"),
    (["body", "features", 0, "cuts"], [0.0, -0.0, 3.0], "body.features[0].cuts"),
    (["body", "features", 0, "cuts"], [1, 2, 10**320], "body.features[0].cuts[2]"),
    (["body", "features", 0, "cuts"], [1.0, "2", 3.0], "body.features[0].cuts[1]"),
    (["body", "features", 0, "cuts"], [1.0, True, 3.0], "body.features[0].cuts[1]"),
    (["body", "features", 0, "cuts"], [1.0, None, 3.0], "body.features[0].cuts[1]"),
    (["body", "features", 0, "cuts"], [[1.0, 2.0, 3.0]], "body.features[0].cuts[0]"),
    (["body", "features", 0, "cuts"], [1.0, 2.0], "body.features[0].steps"),
    (["body", "features", 0, "cuts"], 1.0, "body.features[0].cuts"),
    (["body", "features", 0, "cuts"], DELETE, "body.features[0].cuts"),
    (["body", "features", 0, "steps"], [1.0], "body.features[0].steps"),
    (["body", "features", 0, "steps"], [1.0] * 5, "body.features[0].steps"),
    (["body", "features", 0, "steps"], [], "body.features[0].steps"),
    (["body", "features", 0, "steps"], [1.0, 1e308, 1.0, 1.0], "body.features[0].steps[1]"),
    (["body", "features", 0, "steps"], [1.0, "1", 1.0, 1.0], "body.features[0].steps[1]"),
    (["body", "features", 0, "steps"], [1.0, False, 1.0, 1.0], "body.features[0].steps[1]"),
    (["body", "features", 0, "steps"], {"0": 1.0}, "body.features[0].steps"),
    (["body", "features", 0, "missing"], -1e308, "body.features[0].missing"),
    (["body", "features", 0, "missing"], None, "body.features[0].missing"),
    (["body", "features", 2, "categories"], ["a", "b", "a"], "body.features[2].categories"),
    (["body", "features", 2, "categories"], ["a", "b"], "body.features[2].steps"),
    (["body", "features", 2, "categories"], ["a", "b", 3], "body.features[2].categories"),
    (["body", "features", 2, "categories"], ["a", "b", None], "body.features[2].categories[2]"),
    (["body", "features", 3, "categories"], [1, True, 2], "body.features[3].categories"),
    (["body", "features", 3, "categories"], [1, 1.0, 2], "body.features[3].categories"),
]


# The same for the surface over age and town of a model that has one.
SURFACE = ["body", "surfaces", 0]
HOSTILE_SURFACES = [
    (["body", "surfaces"], {}, "body.surfaces"),
    (["body", "surfaces"], None, "body.surfaces"),
    (["body", "surfaces"], [[]], "body.surfaces[0]"),
    ([*SURFACE, "extra"], 1, "body.surfaces[0].extra"),
    ([*SURFACE, "features"], [0], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [0, 2, 3], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [0, 0], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [0, 5], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [-5, 2], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [0.0, 2], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [False, 2], "body.surfaces[0].features"),
    ([*SURFACE, "features"], ["0", 2], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [[0], 2], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [0, 10**30], "body.surfaces[0].features"),
    ([*SURFACE, "features"], [2, 0], "body.surfaces[0].axes[0].name"),
    ([*SURFACE, "axes"], [], "body.surfaces[0].axes"),
    ([*SURFACE, "axes"], [1, 2], "field 'body.surfaces[0].axes[0]' must be an object"),
    (["body", "surfaces", 0], 3, "field 'body.surfaces[0]' must be an object"),
    ([*SURFACE, "axes", 1], DELETE, "body.surfaces[0].axes"),
    ([*SURFACE, "axes", 0, "name"], "flat", "body.surfaces[0].axes[0].name"),
    ([*SURFACE, "axes", 0, "extra"], 1, "body.surfaces[0].axes[0].extra"),
    ([*SURFACE, "axes", 0, "cuts"], [0.1], "body.surfaces[0].values"),
    ([*SURFACE, "axes", 0, "cuts"], [2.0, 1.0], "body.surfaces[0].axes[0].cuts"),
    ([*SURFACE, "axes", 0, "cuts"], list(range(65_535)), "body.surfaces[0].axes[0].cuts"),
    (
        [*SURFACE, "axes", 0],
        {"name": "age", "kind": "category", "categories": ["a", "b", "c"]},
        "body.surfaces[0].axes[0].kind",
    ),
    ([*SURFACE, "axes", 1, "categories"], ["b", "c"], "body.surfaces[0].values"),
    ([*SURFACE, "values"], [], "body.surfaces[0].values"),
    ([*SURFACE, "values"], [[0.0] * 2] * 4, "body.surfaces[0].values[0]"),
    ([*SURFACE, "values", 7], DELETE, "body.surfaces[0].values"),
    ([*SURFACE, "values", 3], 1e308, "body.surfaces[0].values[3]"),
    ([*SURFACE, "values", 3], None, "body.surfaces[0].values[3]"),
    ([*SURFACE, "values", 3], True, "body.surfaces[0].values[3]"),
]


def deep(depth):
    """A list within a list within a list."""
    node = 1
    for _ in range(depth):
        node = [node]
    return node


class TestHostile:
    """The checksum fits: only the fields themselves tell."""

    @pytest.mark.parametrize(
        ("where", "value", "word"), HOSTILE, ids=[f"{w[-1]}={str(v)[:30]}" for w, v, _ in HOSTILE]
    )
    def test_field_is_named(self, text, path, where, value, word):
        content = change(json.loads(text), where, value)
        signed = json.dumps(content) if where == ["sha256"] else sign(content)
        message = refuse(path, signed)
        assert word in message
        assert len(message) < 700

    def test_every_field_missing_or_of_another_type(self, text, path):
        content = json.loads(text)
        count = 0
        for where, value in fields({k: v for k, v in content.items() if k != "sha256"}):
            for other in (DELETE, None, {}, deep(3), "surprise"):
                if other == value or (isinstance(value, str) and isinstance(other, str)):
                    continue
                if other is DELETE and isinstance(where[-1], int) and where[-2] == "features":
                    continue  # one feature less is a smaller model, and a good one
                refuse(path, sign(change(content, where, other)))
                count += 1
        assert count >= 200

    @pytest.mark.parametrize("depth", [50, 300, 600, 900, 950, 980])
    @pytest.mark.parametrize(
        "where",
        [["body", "extra"], ["extra"], ["body", "features", 0, "cuts"]],
        ids=["of the body", "of the file", "in place of cuts"],
    )
    def test_nested_to_any_depth(self, text, path, depth, where):
        # What the parser just takes may be too deep for the checksum.
        content = json.loads(text)
        nested = "[" * depth + "]" * depth
        marked = json.dumps(change(content, where, "MARK"))
        refuse(path, marked.replace('"MARK"', nested))

    def test_sums_at_the_limit_stay_finite(self, model, text, columns):
        content = json.loads(text)
        for feature in content["body"]["features"]:
            feature["missing"] = 9e299
            feature["steps"] = [9e299] * len(feature["steps"])
        content["body"]["intercept"] = 9e299
        loaded = from_json(sign(content))
        table = pd.DataFrame(columns)
        assert np.isfinite(loaded.decision_function(table)).all()
        assert np.isfinite(loaded.predict_proba(table)).all()

    def test_loading_runs_no_code(self, text, path):
        content = change(json.loads(text), ["form"], "__import__('os').getcwd()")
        assert "form" in refuse(path, sign(content))


class TestSurfaces:
    """The fields that only a model with surfaces has."""

    @pytest.fixture
    def content(self):
        axes = number_feature("age", np.array([0.1, 30.5])), category_feature("town", ("b",))
        surface = Surface((0, 2), axes, np.arange(8.0).reshape(4, 2) / 7)
        return json.loads(to_json(build_model(surfaces=(surface,))))

    @pytest.mark.parametrize(
        ("where", "value", "word"),
        HOSTILE_SURFACES,
        ids=[f"{w[-1]}={str(v)[:30]}" for w, v, _ in HOSTILE_SURFACES],
    )
    def test_field_is_named(self, content, path, where, value, word):
        message = refuse(path, sign(change(content, where, value)))
        assert word in message
        assert len(message) < 700

    def test_every_field_missing_or_of_another_type(self, content, path):
        count = 0
        for where, value in fields(content["body"]["surfaces"], ("body", "surfaces")):
            for other in (DELETE, None, {}, deep(3), "surprise"):
                if other == value or (isinstance(value, str) and other == "surprise"):
                    continue
                if other is DELETE and where == ("body", "surfaces", 0):
                    continue  # a model without surfaces, and a good one
                if other is DELETE and where[-2] in ("cuts", "categories"):
                    assert "values" in refuse(path, sign(change(content, where, other)))
                refuse(path, sign(change(content, where, other)))
                count += 1
        assert count >= 80

    def test_the_same_surface_twice(self, content, path):
        first = content["body"]["surfaces"][0]
        content["body"]["surfaces"].append(first)
        assert "field 'body.surfaces' must be surfaces over different" in refuse(
            path, sign(content)
        )

    def test_every_digit_changed(self, content, path):
        text = sign(content)
        start = text.index('"surfaces"')
        for i in (i for i in range(start, len(text)) if text[i].isdigit()):
            damaged = text[:i] + chr(ord(text[i]) ^ 1) + text[i + 1 :]
            if not reads_as(damaged, json.loads(text)):
                refuse(path, damaged)
