"""Reading real tables: order, text columns, missing cells, missing files."""

import numpy as np
import pytest

from papers.tables import find_file, missing_files, read_rows

TABLE = "size,colour,flag,target\n1,red,true,0\n2,,false,1\n,blue,true,1\n4,red,,0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCTOR_DATA", str(tmp_path))
    (tmp_path / "toys.csv").write_text(TABLE)
    return tmp_path


def test_text_becomes_columns_of_0_and_1_and_missing_stays_missing(folder):
    X, y = read_rows("toys")
    order = np.random.RandomState(0).permutation(4)
    # size, colour = blue, colour = red, flag = false, flag = true
    expected = [[1, 0, 1, 0, 1], [2, 0, 0, 1, 0], [np.nan, 1, 0, 0, 1], [4, 0, 1, 0, 0]]
    np.testing.assert_array_equal(X, np.array(expected)[order])
    np.testing.assert_array_equal(y, np.array([0, 1, 1, 0])[order])


def test_the_order_is_that_of_the_seed_and_rows_can_be_cut(folder):
    (folder / "long.csv").write_text("x,target\n" + "".join(f"{i},{i % 2}\n" for i in range(99)))
    whole, other, cut = read_rows("long"), read_rows("long", seed=1), read_rows("long", n_rows=9)
    assert sorted(whole.X[:, 0]) == sorted(other.X[:, 0]) == list(range(99))
    assert list(whole.X[:, 0]) != list(other.X[:, 0])
    np.testing.assert_array_equal(cut.X, whole.X[:9])
    np.testing.assert_array_equal(whole.y, whole.X[:, 0] % 2)


def test_files_are_found_compressed_or_by_their_whole_name(folder):
    (folder / "packed.csv.gz").write_bytes(b"")
    (folder / "words.npz").write_bytes(b"")
    assert find_file("packed") == folder / "packed.csv.gz"
    assert find_file("words.npz") == folder / "words.npz"
    assert missing_files(["toys", "packed", "words.npz", "gone", "gone.npz"]) == [
        "gone.csv",
        "gone.npz",
    ]


def test_without_a_folder_every_file_is_missing(folder, monkeypatch):
    monkeypatch.delenv("AUCTOR_DATA")
    assert missing_files(["toys"]) == ["toys.csv"]
    with pytest.raises(FileNotFoundError, match=r"toys\.csv"):
        read_rows("toys")


def test_the_real_tables_have_the_papers_features(data_folder):
    """One-hot encoding gives the N of Table 3 of Suehiro et al."""
    shapes = {name: read_rows(name).X.shape for name in ("hypothyroid", "kr-vs-kp", "ionosphere")}
    assert shapes == {
        "hypothyroid": (3163, 43),
        "kr-vs-kp": (3196, 73),
        "ionosphere": (351, 34),
    }
