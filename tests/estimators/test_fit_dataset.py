"""Models from a folder of Parquet files equal those of the table in memory, bit for bit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import auctor
from auctor import RankBoost, estimators, read_dataset
from auctor.data import copies
from auctor.data.stored.dataset import FIXED_BYTES
from auctor.data.stored.spill import SpillFolder
from auctor.estimators.dataset_fit import ROW_BYTES, SPILLED_BYTES
from auctor.models.file import to_json

SMALL = {
    "RankBoost": {"n_estimators": 10, "early_stopping": True},
    "SoftRankBoost": {"n_estimators": 10},
    "AUCBoost": {"n_estimators": 10},
    "MartiRank": {"n_layers": 5},
    "TreeRank": {"max_depth": 4},
    "SmoothAUCBoost": {"max_iter": 10},
    "SmoothAUCBoostCV": {"cv": 2, "max_iter": 5},
    "SmoothTreeBoost": {"n_estimators": 5, "max_depth": 3},
    "ExactBoost": {"n_runs": 3, "n_estimators": 5},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n_rows = 300
    number = rng.normal(size=n_rows)
    text = rng.choice(["x", "y", "z", None], n_rows)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "count": rng.poisson(3, n_rows),
            "text": text,
            "target": np.where(number + (text == "x") + rng.normal(size=n_rows) > 1, "bad", "ok"),
            "weight": rng.choice([0.0, 0.5, 1.0, 2.25], n_rows),
        }
    )


@pytest.fixture(scope="module")
def folders(table, tmp_path_factory):
    """Folders of 1, 7 and 50 files with the rows of the table."""
    folders = {}
    for n_parts in (1, 7, 50):
        folders[n_parts] = tmp_path_factory.mktemp(f"parts{n_parts}")
        for k, rows in enumerate(np.array_split(np.arange(len(table)), n_parts)):
            table.iloc[rows].to_parquet(folders[n_parts] / f"{k:02d}.parquet", index=False)
    return folders


def saved(estimator, path):
    estimator.save(path)
    return path.read_text()


def test_every_estimator_is_tested():
    assert SMALL.keys() == ROW_BYTES.keys()


@pytest.mark.parametrize("name", SMALL)
def test_same_bits_from_any_number_of_files(name, table, folders, tmp_path):
    estimator = getattr(auctor, name)(**SMALL[name], pos_label="bad")
    X = table[["number", "count", "text"]]
    estimator.fit(X, table["target"], sample_weight=table["weight"])
    expected = saved(estimator, tmp_path / "memory.json")
    for folder in folders.values():
        dataset = read_dataset(folder, target="target", weight="weight", spill_dir=tmp_path)
        stored = clone(estimator).fit_dataset(dataset)
        assert saved(stored, tmp_path / "stored.json") == expected
        np.testing.assert_array_equal(stored.feature_names_in_, estimator.feature_names_in_)
        assert stored.classes_.tolist() == estimator.classes_.tolist()


@pytest.mark.parametrize("kind", ["weighted", "copied"])
@pytest.mark.parametrize("name", SPILLED_BYTES)
def test_same_bits_with_arrays_of_rows_in_files(name, kind, table, tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "_MANY_ROWS", 50)  # several groups of hashes
    estimator, weight = getattr(auctor, name)(**SMALL[name]), "weight"
    if kind == "copied":  # and labels that are numbers
        table = table.iloc[np.arange(len(table)) // 2].drop(columns="weight")
        table, weight = table.assign(target=(table["target"] == "bad") + 0.0), None
    X = table[["number", "count", "text"]]
    estimator.fit(X, table["target"], None if weight is None else table[weight])
    expected = saved(estimator, tmp_path / "memory.json")
    in_files, empty = set(), SpillFolder.empty

    def counted(self, shape, dtype):
        in_files.add(np.dtype(dtype).name)
        return empty(self, shape, dtype)

    monkeypatch.setattr(SpillFolder, "empty", counted)
    # Weights and text are counted with 16 bytes each, and held-out rows with 70.
    more = 16 + 16 * (weight is not None) + 70 * estimator.early_stopping
    enough = FIXED_BYTES + len(table) * (more + SPILLED_BYTES[name])
    dataset = read_dataset(
        [table], target="target", weight=weight, max_memory=enough, spill_dir=tmp_path
    )
    stored = clone(estimator).fit_dataset(dataset)
    assert saved(stored, tmp_path / "stored.json") == expected
    assert {"uint8", "int64", "float64"} <= in_files
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_same_bits_for_any_number_of_threads(folders, tmp_path):
    texts = set()
    for n_jobs in (1, 2):
        ranker = auctor.RankBoost(5, n_jobs=n_jobs)
        dataset = read_dataset(folders[7], target="target", features=["number", "count"])
        texts.add(saved(ranker.fit_dataset(dataset), tmp_path / "model.json"))
    assert len(texts) == 1


OTHERS = [
    name
    for name in sorted(set(estimators.__all__) - set(SMALL))
    if hasattr(getattr(estimators, name), "fit_dataset")
]


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_refused_by_name(name, folders):
    kind = getattr(estimators, name)
    try:
        estimator = kind()
    except TypeError:
        estimator = kind([("a", auctor.RankBoost())])
    with pytest.raises(TypeError, match=f"{name} needs the whole table in memory"):
        estimator.fit_dataset(read_dataset(folders[1], target="target"))


@pytest.mark.parametrize(
    "estimator",
    [
        auctor.AUCBoost(estimator="tree"),
        auctor.MartiRank(estimator="tree"),
        auctor.SmoothAUCBoost(init=auctor.RankBoost()),
    ],
)
def test_parameters_that_need_the_table(estimator, folders):
    with pytest.raises(ValueError, match=r"(estimator|init)=.* needs the whole table in memory"):
        estimator.fit_dataset(read_dataset(folders[1], target="target"))


def test_given_folds_are_refused(folders):
    estimator = auctor.SmoothAUCBoostCV(cv=[([0], [1])])
    with pytest.raises(ValueError, match="give a number of folds"):
        estimator.fit_dataset(read_dataset(folders[1], target="target"))


@pytest.mark.parametrize("kind", ["category", "bool", "float32", "int8"])
def test_labels_of_any_type(kind, table, tmp_path):
    y = (table["target"] == "bad").astype("int8")
    y = table["target"].astype("category") if kind == "category" else y.astype(kind)
    X = table[["number", "count"]]
    X.assign(y=y).to_parquet(tmp_path / "a.parquet")
    ranker = auctor.RankBoost(3).fit(X, y)
    stored = auctor.RankBoost(3).fit_dataset(read_dataset(tmp_path, target="y"))
    assert stored.classes_.tolist() == ranker.classes_.tolist()
    assert saved(stored, tmp_path / "a.json") == saved(ranker, tmp_path / "b.json")


def test_missing_label_and_negative_weight(table, tmp_path):
    path = tmp_path / "a.parquet"
    table.assign(target=table["target"].where(table.index > 0)).to_parquet(path)
    with pytest.raises(ValueError, match="1 missing label"):
        auctor.RankBoost(3).fit_dataset(read_dataset(path, target="target"))
    table.assign(weight=-1.0).to_parquet(path)
    with pytest.raises(ValueError, match="sample_weight has negative values"):
        auctor.RankBoost(3).fit_dataset(read_dataset(path, target="target", weight="weight"))


def test_table_in_memory_is_refused(table):
    with pytest.raises(ValueError, match=r"dataset is of type DataFrame; give the result of"):
        auctor.RankBoost().fit_dataset(table)


def test_saved_record_is_that_of_the_table_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    columns = {"a": np.round(x, 1), "c": rng.choice(["u", "v", "w"], 200), "w": rng.random(200)}
    table = pa.table({**columns, "y": (x + rng.normal(size=200) > 0).astype(int)})
    X, y, w = table.select(["a", "c"]), table["y"].to_numpy(), table["w"].to_numpy()
    parts = [table.slice(start, 70) for start in (0, 70, 140)]
    dataset = read_dataset(parts, target="y", weight="w")
    ranker = RankBoost(n_estimators=5).fit_dataset(dataset)
    ranker.save(tmp_path / "stored.json", dataset)
    ranker.save(tmp_path / "memory.json", X, y, sample_weight=w)
    stored, memory = (auctor.load(tmp_path / f"{name}.json") for name in ("stored", "memory"))
    assert stored.training.origin.target == "y"
    date = stored.training.origin.date
    memory = replace(memory, training=replace(memory.training, origin=replace(
        memory.training.origin, target="y", date=date
    )))  # fmt: skip
    assert to_json(stored) == to_json(memory)
    with pytest.raises(ValueError, match="only one of X and y is given"):
        ranker.save(tmp_path / "stored.json", dataset, sample_weight=w)


def test_weights_and_text_count_in_the_memory(table):
    plain = table.assign(target=(table["target"] == "bad").astype(int)).drop(columns="text")
    own = SPILLED_BYTES["RankBoost"]
    cases = [
        (plain, None, own),
        (plain, "weight", own + 16),
        (plain.assign(text=table["text"]), None, own + 16),
        (table, "weight", own + 32),
    ]
    for rows, weight, n_bytes in cases:
        dataset = read_dataset([rows], target="target", weight=weight, max_memory=1000)
        with pytest.raises(ValueError, match=rf"\({n_bytes} bytes for each row\)"):
            RankBoost().fit_dataset(dataset)
