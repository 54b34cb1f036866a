"""Data sets in files and batches: what is refused, and what becomes of the temporary files."""

import gzip
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auctor import RankBoost, read_dataset
from auctor.data import Workers, prepare
from auctor.data.stored.dataset import RowBytes, open_dataset
from auctor.data.stored.memory import read_memory
from auctor.data.stored.spill import SpillFolder
from auctor.learners.tree_boost.row_blocks import row_codes


def make_table(n_rows=60):
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "count": rng.integers(0, 5, n_rows),
            "text": rng.choice(["b", "a", None], n_rows),
            "y": np.arange(n_rows) % 2,
        }
    )


def write_parts(table, folder, n_parts):
    """The table as a folder of Parquet files; the files have different numbers of rows."""
    ends = np.linspace(0, 1, n_parts + 1) ** 1.5 * len(table)
    for k, (start, stop) in enumerate(pairwise(ends)):
        part = table.iloc[int(start) : int(stop)]
        part.to_parquet(folder / f"part-{k:03d}.parquet", index=False)
    return folder


def assert_same_data(dataset, X, y, weight=None, **options):
    """The bins and codes of a data set are those of the table in memory."""
    expected = prepare(X, y, sample_weight=weight, **options)
    with open_dataset(dataset, RowBytes(0), "test") as rows:
        data = prepare(rows.table, rows.y, sample_weight=rows.weight, **options)
        for ours, theirs in zip(data.features, expected.features, strict=True):
            assert (ours.name, ours.categories) == (theirs.name, theirs.categories)
            np.testing.assert_array_equal(ours.cuts, theirs.cuts)
            np.testing.assert_array_equal(ours.centres, theirs.centres)
        (part,), (other,) = data.partitions, expected.partitions
        assert part.codes.dtype == other.codes.dtype
        np.testing.assert_array_equal(part.codes, other.codes)
        np.testing.assert_array_equal(part.weight, other.weight)
        np.testing.assert_array_equal(part.rows, other.rows)
        assert data.classes.tolist() == expected.classes.tolist()
        assert (data.copies is None) == (expected.copies is None)
        if data.copies is not None:
            np.testing.assert_array_equal(data.copies, expected.copies)


@pytest.fixture
def table():
    return make_table()


class TestSources:
    def test_parquet_file(self, table, tmp_path):
        table.to_parquet(tmp_path / "one.parquet")
        dataset = read_dataset(tmp_path / "one.parquet", target="y")
        assert_same_data(dataset, table.drop(columns="y"), table["y"])

    def test_index_of_pandas_is_no_feature(self, table, tmp_path):
        table[::-1].to_parquet(tmp_path / "one.parquet")  # has an index column
        dataset = read_dataset(tmp_path / "one.parquet", target="y")
        assert_same_data(dataset, table[::-1].drop(columns="y"), table["y"][::-1])

    @pytest.mark.parametrize("n_parts", [7, 50])
    def test_folder(self, table, tmp_path, n_parts):
        dataset = read_dataset(write_parts(table, tmp_path, n_parts), target="y")
        assert_same_data(dataset, table.drop(columns="y"), table["y"])

    def test_more_than_255_bins(self, tmp_path):
        table = make_table(700)
        dataset = read_dataset(write_parts(table, tmp_path, 3), target="y")
        assert_same_data(dataset, table.drop(columns="y"), table["y"], max_bins=500)

    def test_weights_copies_and_declared_categories(self, tmp_path):
        table = make_table()
        table = pd.concat([table, table, table.head(20)], ignore_index=True)
        weight = np.tile([0.0, 0.1, 0.3, 0.7], len(table) // 4)
        dataset = read_dataset(
            write_parts(table.assign(w=weight), tmp_path, 7), target="y", weight="w"
        )
        X = table.drop(columns="y")
        assert_same_data(dataset, X, table["y"], weight, categorical_features=["count"])
        assert_same_data(dataset, X, table["y"], weight, categorical_features=["number"])

    @pytest.mark.parametrize("name", ["big.csv", "big.csv.gz", "big.tsv"])
    def test_csv(self, table, tmp_path, name):
        path, separator = tmp_path / name, "\t" if "tsv" in name else ","
        table.to_csv(path, index=False, sep=separator)
        assert_same_data(read_dataset(path, target="y"), table.drop(columns="y"), table["y"])

    def test_type_of_a_csv_column_may_show_late(self, tmp_path):
        # The first block of pyarrow's reader has about 1 MB.
        n_rows = 200_000
        lines = [b"7,1,0\n"] * n_rows + [b"0.5,x,1\n"]
        with gzip.open(tmp_path / "late.csv.gz", "wb", compresslevel=1) as file:
            file.write(b"number,text,y\n" + b"".join(lines))
        with open_dataset(
            read_dataset(tmp_path / "late.csv.gz", target="y"), RowBytes(0), "test"
        ) as rows:
            assert rows.table.numbers(0)[[0, -1]].tolist() == [7.0, 0.5]
            assert rows.table.categories(1).values == ["1", "x"]

    def test_tables_of_several_libraries(self, table):
        tables = [table[:20], pa.Table.from_pandas(table[20:40]), table[40:]]
        X = table.drop(columns="y")
        assert_same_data(read_dataset(tables, target="y"), X, table["y"])
        assert_same_data(read_dataset(lambda: iter(tables), target="y"), X, table["y"])

    def test_numbers_of_a_categorical_type_stay_categories(self, table):
        table["count"] = table["count"].astype("category")
        dataset = read_dataset([table[:31], table[31:]], target="y")
        assert_same_data(dataset, table.drop(columns="y"), table["y"])

    def test_memory_map_without_names(self, tmp_path):
        rng = np.random.default_rng(0)
        array = np.lib.format.open_memmap(
            tmp_path / "rows.npy", mode="w+", dtype="f4", shape=(80, 4)
        )
        array[:] = rng.normal(size=(80, 4))
        array[:, 3] = np.arange(80) % 2
        dataset = read_dataset(array, target=-1)
        assert_same_data(dataset, np.array(array[:, :3]), np.array(array[:, 3]))
        ranker = RankBoost(3).fit_dataset(dataset)
        assert not hasattr(ranker, "feature_names_in_")

    def test_chosen_features(self, table, tmp_path):
        table.to_parquet(tmp_path / "one.parquet")
        dataset = read_dataset(tmp_path, target="y", features=["text", "number"])
        assert_same_data(dataset, table[["text", "number"]], table["y"])

    def test_types_that_differ_by_file_but_agree(self, table, tmp_path):
        X = table.drop(columns="y")
        parts = [table[:20], table[20:40], table[40:]]
        parts[0] = parts[0].astype({"count": "float32", "text": "category"})
        parts[1] = parts[1].assign(text=None)
        parts[2] = parts[2][["y", "text", "count", "number"]]
        X.loc[20:39, "text"] = None
        for k, part in enumerate(parts):
            part.to_parquet(tmp_path / f"{k}.parquet")
        assert_same_data(read_dataset(tmp_path, target="y"), X, table["y"])

    def test_a_file_with_one_class_and_an_empty_file(self, table, tmp_path):
        table = table.sort_values("y", ignore_index=True)
        table[:0].to_parquet(tmp_path / "0.parquet")
        table[:30].to_parquet(tmp_path / "1.parquet")
        table[30:].to_parquet(tmp_path / "2.parquet")
        dataset = read_dataset(tmp_path, target="y")
        assert_same_data(dataset, table.drop(columns="y"), table["y"])


class TestErrors:
    def fit(self, source, **options):
        return RankBoost(2).fit_dataset(read_dataset(source, **{"target": "y", **options}))

    def test_column_missing_in_one_file(self, table, tmp_path):
        table[:30].to_parquet(tmp_path / "a.parquet")
        table[30:].drop(columns="count").to_parquet(tmp_path / "b.parquet")
        with pytest.raises(ValueError, match=r"b.parquet lacks the column 'count'"):
            self.fit(tmp_path)

    def test_column_that_the_first_file_lacks(self, table, tmp_path):
        table[:30].drop(columns="number").to_parquet(tmp_path / "a.parquet")
        table[30:].to_parquet(tmp_path / "b.parquet")
        message = "a.parquet lacks the column 'number'; give all parts the same columns"
        with pytest.raises(ValueError, match=message):
            RankBoost(5).fit_dataset(read_dataset(tmp_path, target="y"))
        chosen = read_dataset(tmp_path, target="y", features=["text"])
        assert RankBoost(5).fit_dataset(chosen).n_features_in_ == 1

    def test_csv_files_that_cannot_be_read(self, table, tmp_path):
        path = tmp_path / "twice.csv"
        path.write_text("a,a,y\n1,2,0\n2,1,1\n")
        with pytest.raises(ValueError, match=r"twice\.csv has several columns 'a'; rename them"):
            RankBoost(5).fit_dataset(read_dataset(path, target="y"))
        path = tmp_path / "cut.csv.gz"
        table.to_csv(path, index=False)
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.raises(ValueError, match=r"cut\.csv\.gz cannot be read as a CSV file"):
            RankBoost(5).fit_dataset(read_dataset(path, target="y"))

    def test_text_in_one_file_and_numbers_in_another(self, table, tmp_path):
        table[:30].to_parquet(tmp_path / "a.parquet")
        table[30:].astype({"count": str}).to_parquet(tmp_path / "b.parquet")
        expected = r"column 'count' holds numbers in a.parquet and text in b.parquet"
        with pytest.raises(ValueError, match=expected):
            self.fit(tmp_path)

    def test_type_that_no_learner_can_use(self, table, tmp_path):
        table["day"] = pd.Timestamp("2020-01-01")
        table.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(TypeError, match=r"'day' is of type timestamp"):
            self.fit(tmp_path)

    def test_no_rows(self, table, tmp_path):
        table[:0].to_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match="source has no rows"):
            self.fit(tmp_path)
        with pytest.raises(ValueError, match="source has no rows"):
            self.fit([])

    def test_one_class(self, table, tmp_path):
        table.assign(y=1).to_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match="y has 1 class"):
            self.fit(tmp_path)

    def test_infinity_names_its_column(self, table, tmp_path):
        table.loc[3, "number"] = np.inf
        with pytest.raises(ValueError, match="'number' holds 1 infinity"):
            self.fit(write_parts(table, tmp_path, 3))

    def test_file_that_is_not_parquet(self, tmp_path):
        (tmp_path / "a.parquet").write_text("no table")
        name = re.escape(str(tmp_path / "a.parquet"))  # with its folder: there may be many
        with pytest.raises(ValueError, match=f"{name} cannot be read as a Parquet file"):
            self.fit(tmp_path)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": "z"}, "target='z' is not a column of source; it has 'number'"),
            ({"weight": "z"}, "weight='z' is not a column"),
            ({"features": ["number", "z"]}, "features names 'z'"),
            ({"features": ["y"]}, "no column beside target"),
            ({"max_memory": "2 sheep"}, "max_memory is '2 sheep'; give a number of bytes"),
            ({"spill_dir": "/no/such/folder"}, "spill_dir is '/no/such/folder'"),
        ],
    )
    def test_arguments(self, table, tmp_path, options, message):
        table.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match=message):
            read_dataset(tmp_path, **{"target": "y", **options})

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (iter([]), "source is an iterator, which can be read only once"),
            (3, "source is of type int"),
            (np.zeros(3), "array of shape"),
            ("table.xyz", "does not exist"),
        ],
    )
    def test_sources(self, source, message):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            read_dataset(source, target="y")

    def test_folder_without_tables(self, tmp_path):
        with pytest.raises(ValueError, match="has no Parquet files"):
            read_dataset(tmp_path, target="y")

    def test_batch_that_is_no_table(self):
        with pytest.raises(ValueError, match="source yields an object of type int"):
            self.fit([3])

    def test_column_of_identifiers(self, table, monkeypatch):
        monkeypatch.setattr("auctor.data.stored.table.MOST_CATEGORIES", 10)
        table["id"] = [f"row {i}" for i in range(len(table))]
        with pytest.raises(ValueError, match="'id' has more than 10 categories"):
            self.fit([table])

    def test_fit_that_needs_more_memory(self, table, tmp_path):
        table.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match=r"max_memory is 50 MB, and RankBoost needs about"):
            self.fit(tmp_path, max_memory="50MB")


class TestSpillFolder:
    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
    def test_is_removed_after_an_error(self, table, tmp_path, monkeypatch, error):
        def fail(self, data, checkpoint):
            assert len(list(spill.iterdir())) == 1
            raise error

        spill = tmp_path / "spill"
        spill.mkdir()
        monkeypatch.setattr(RankBoost, "_learn", fail)
        with pytest.raises(error):
            RankBoost().fit_dataset(read_dataset([table], target="y", spill_dir=spill))
        assert list(spill.iterdir()) == []

    def test_is_removed_after_a_fit(self, table, tmp_path):
        RankBoost(2).fit_dataset(read_dataset([table], target="y", spill_dir=tmp_path))
        assert list(tmp_path.iterdir()) == []

    def test_is_removed_if_a_batch_raises(self, table, tmp_path):
        def tables():
            yield table
            raise OSError("disk on fire")

        with pytest.raises(OSError, match="disk on fire"):
            RankBoost(2).fit_dataset(read_dataset(tables, target="y", spill_dir=tmp_path))
        assert list(tmp_path.iterdir()) == []

    def test_arrays_are_in_files_and_outlive_the_folder(self, tmp_path):
        with SpillFolder(tmp_path) as spill:
            array = spill.empty((2, 3), np.uint8)
            assert isinstance(array.base, np.memmap)
            array[:] = 7
        assert array.sum() == 42
        assert list(tmp_path.iterdir()) == []

    def test_codes_of_boosted_trees_are_in_files_too(self, table, tmp_path):
        table.drop(columns="text").to_parquet(tmp_path / "a.parquet")
        with open_dataset(read_dataset(tmp_path, target="y"), RowBytes(0), "test") as rows:
            data = prepare(rows.table, rows.y)
            for own in row_codes(data, Workers(1)):
                assert own.shape == (len(table), 2) and isinstance(own.base, np.memmap)

    def test_full_disk(self, tmp_path):
        with SpillFolder(tmp_path) as spill, pytest.raises(OSError, match="give a folder on a"):
            spill.empty((2**50,), np.uint8)

    def test_held_out_rows_are_in_files_too(self, table, tmp_path):
        table.to_parquet(tmp_path / "a.parquet")
        with open_dataset(read_dataset(tmp_path, target="y"), RowBytes(0), "test") as rows:
            data = prepare(rows.table, rows.y)
            some = data.take(np.arange(60) % 3 == 0)
            few = data.take_features(np.array([1]))
        for part in (data.partitions[0], some.partitions[0], few.partitions[0]):
            assert isinstance(part.codes.base, np.memmap)


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("500MB", 5 * 10**8), ("2gb", 2 * 10**9), ("1 GiB", 2**30), ("10", 10), (12, 12)],
)
def test_amounts_of_memory(text, n_bytes):
    assert read_memory(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "-2GB", "2iB", 0, 1.5, None, True])
def test_amounts_of_memory_that_are_refused(text):
    with pytest.raises(ValueError, match="max_memory is"):
        read_memory(text)


def test_row_groups_do_not_matter(table, tmp_path):
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "a.parquet", row_group_size=7)
    dataset = read_dataset(tmp_path, target="y")
    assert_same_data(dataset, table.drop(columns="y"), table["y"])
