"""The trees of a LightGBM model as a ForestModel, and as the dictionaries that shap reads."""

from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, category_feature, number_feature
from auctor.kernels.trees import TreeNodes
from auctor.models import Calibration, ForestModel


def forest_of(booster: Any) -> ForestModel:
    """The model whose score is the raw prediction of a booster without linear trees."""
    trees = [info["tree_structure"] for info in booster.dump_model()["tree_info"]]
    features = _features(trees, booster.feature_name())
    columns: dict[str, list[Any]] = {name: [] for name in (*TreeNodes._fields, "rank", "cover")}
    roots = []
    for tree in trees:
        roots.append(len(columns["feature"]))
        _add(tree, features, columns)
    arrays = {name: np.array(columns[name], dtype=np.int64) for name in TreeNodes._fields}
    rank, cover = (np.array(columns[name], dtype=np.float64) for name in ("rank", "cover"))
    return ForestModel(
        (0, 1),
        0.0,
        Calibration(1.0, 0.0),
        features,
        "sum",
        np.array(roots),
        TreeNodes(**arrays),
        rank,
        np.zeros(len(features)),
        0.0,
        cover,
    )


def _splits(node: dict[str, Any]) -> list[dict[str, Any]]:
    if "split_feature" not in node:
        return []
    return [node, *_splits(node["left_child"]), *_splits(node["right_child"])]


def _features(trees: list[dict[str, Any]], names: list[str]) -> tuple[Feature, ...]:
    """Features with a cut for every threshold, or a category for every number in a set."""
    splits = [split for tree in trees for split in _splits(tree)]
    features = []
    for j, name in enumerate(names):
        own = [split for split in splits if split["split_feature"] == j]
        if any(split["decision_type"] == "==" for split in own):
            values = {value for split in own for value in _set(split)}
            features.append(category_feature(name, tuple(sorted(values))))
        else:
            cuts = np.unique([split["threshold"] for split in own])
            features.append(number_feature(name, cuts))
    return tuple(features)


def _set(split: dict[str, Any]) -> list[int]:
    return [int(value) for value in split["threshold"].split("||")]


def _add(node: dict[str, Any], features: tuple[Feature, ...], columns: dict[str, list[Any]]) -> int:
    """Add a node and those below it; return its number."""
    k = len(columns["feature"])
    for name, column in columns.items():
        if name != "table":
            column.append(-1 if name in ("feature", "start", "left", "right") else 0)
    if "split_feature" not in node:
        columns["rank"][k], columns["cover"][k] = node["leaf_value"], node["leaf_count"]
        return k
    feature = features[node["split_feature"]]
    columns["feature"][k], columns["cover"][k] = node["split_feature"], node["internal_count"]
    if feature.is_category:
        columns["start"][k] = len(columns["table"])
        sides = [value in _set(node) for value in feature.categories]
        columns["table"] += [0, *map(int, sides)]
    else:
        columns["cut"][k] = int(np.searchsorted(feature.cuts, node["threshold"])) + 1
        as_zero = node["threshold"] >= 0.0
        is_nan = node["missing_type"] == "NaN"
        columns["missing"][k] = int(node["default_left"] if is_nan else as_zero)
    columns["left"][k] = _add(node["left_child"], features, columns)
    columns["right"][k] = _add(node["right_child"], features, columns)
    return k


def shap_trees(model: ForestModel) -> dict[str, Any]:
    """The trees of a forest, over its codes, as ``shap.TreeExplainer`` reads them.

    There must be no categories, and a missing value (code 0) must be NaN.
    """
    assert model.cover is not None
    ends = [*model.roots[1:].tolist(), len(model.rank)]
    pairs = zip(model.roots.tolist(), ends, strict=True)
    return {"trees": [_shap_tree(model, model.cover, start, end) for start, end in pairs]}


def _shap_tree(model: ForestModel, cover: Floats, start: int, end: int) -> dict[str, Any]:
    nodes, inner = model.nodes, model.nodes.feature >= 0

    def child(of: Ints) -> Ints:
        return np.where(inner, of - start, -1)[start:end]

    # Theirs send values up to the threshold left.
    low, high = (np.where(nodes.above == i, nodes.left, nodes.right) for i in (0, 1))
    missing = np.where(nodes.missing == 1, nodes.left, nodes.right)
    return {
        "children_left": child(low),
        "children_right": child(high),
        "children_default": child(missing),
        "features": nodes.feature[start:end],
        "thresholds": nodes.cut[start:end].astype(np.float64),
        "values": model.rank[start:end].reshape(-1, 1),
        "node_sample_weight": cover[start:end],
    }
