"""A marker's folders go with all that is in them, however a student's code has left them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.grading import leftovers


def test_a_folder_as_marking_leaves_it_goes_without_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers.subprocess, "run", None)
    room = tmp_path / "room"
    room.mkdir()
    for number in (1, 2):
        (room / f"kernel-{number}").write_text("", encoding="utf-8")
    leftovers.remove_folder(room)
    assert not room.exists()


@pytest.mark.skipif(os.name != "posix", reason="paths are short elsewhere")
def test_folders_nested_deeper_than_python_recurses_go_too(tmp_path: Path) -> None:
    room, before = tmp_path / "room", Path.cwd()
    room.mkdir()
    os.chdir(room)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(before)
    leftovers.remove_folder(room)
    assert not room.exists()


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    room, other = tmp_path / "room", tmp_path / "other"
    for folder in (room, other):
        folder.mkdir()
    (other / "file").write_text("mine", encoding="utf-8")
    (room / "folder").symlink_to(other)
    (room / "file").symlink_to(other / "file")
    leftovers.remove_folder(room)
    assert not room.exists()
    assert (other / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_of_a_leftover_that_is_a_link_only_the_link_goes(tmp_path: Path) -> None:
    other, ended = tmp_path / "other", subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (other / "folder").mkdir(parents=True)
    (other / "folder" / "file").write_text("mine", encoding="utf-8")
    link = tmp_path / f"marking-{ended.pid}-abc"
    link.symlink_to(other)
    assert leftovers.remove_leftovers(str(tmp_path)) == [link.name]
    assert not link.is_symlink()
    assert (other / "folder" / "file").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    leftovers.remove_folder(tmp_path / "none")
