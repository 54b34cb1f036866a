"""Files that are written whole: links stay, and what is no regular file is refused."""

import errno
import os
import stat
from pathlib import Path

import pytest

from auctor._files import complete_file, output_file, write_text_file


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "m.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(Path("there") / "m.json")
    write_text_file(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    assert names(tmp_path / "there") == {"m.json"}


def test_a_link_to_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    write_text_file(link, "text")
    assert link.is_symlink() and (tmp_path / "later").read_text() == "text"


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links"):
        output_file(link)


def test_pipes_and_folders_are_refused_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link"):
        with pytest.raises(ValueError, match=r"it is a named pipe.*give the name of a file"):
            write_text_file(path, "text")
    with pytest.raises(IsADirectoryError):
        write_text_file(tmp_path, "text")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == {"pipe", "link"}


def test_a_device_is_refused_and_stays(tmp_path: Path) -> None:
    device = tmp_path / "device"
    try:
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only the superuser makes devices")
    with pytest.raises(ValueError, match="it is a device"):
        write_text_file(device, "text")
    assert stat.S_ISCHR(device.stat().st_mode)


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), complete_file(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and names(tmp_path) == {"a.csv"}


def test_permissions_of_a_new_file_and_of_one_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write_text_file(tmp_path / "new", "text")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    secret = tmp_path / "secret"
    secret.write_text("")
    secret.chmod(0o600)
    write_text_file(secret, "text")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_text_file(path, "text")
    assert path.read_text() == "text"


def test_the_error_names_the_file_and_not_the_temporary_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere/m\.json"):
        write_text_file(tmp_path / "nowhere" / "m.json", "text")


def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="No space left") as caught,
        complete_file(tmp_path / "m") as _,
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(tmp_path / "m")
    assert names(tmp_path) == set()
