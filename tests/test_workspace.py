"""The student's copies: made once, never overwritten, updated without losing anything."""

import json
from datetime import datetime
from pathlib import Path

import pytest
from nbformat import v4

from course_lib.command import main
from course_lib.command.workspace import Workspace

NAME = "01_soft_lookup"
NOW = datetime(2026, 3, 1, 9, 30)


def flags(grade_id, **changes):
    return {"nbgrader": {"grade": False, "grade_id": grade_id, "solution": False, "locked": False} | changes}


def answer(grade_id, source):
    return v4.new_code_cell(source, id=f"{grade_id}-answer", metadata=flags(grade_id, solution=True))


def locked(grade_id, source):
    return v4.new_code_cell(source, id=f"{grade_id}-cell", metadata=flags(grade_id, grade=True, locked=True))


def first_release():
    return [
        v4.new_markdown_cell("# Soft lookup", id="title"),
        answer("softmax", "raise NotImplementedError"),
        locked("test-softmax", "check(softmax)"),
        answer("sharpen", "raise NotImplementedError"),
    ]


def second_release():
    """Another statement, a new exercise in front, another stub for sharpen, another test."""
    return [
        v4.new_markdown_cell("# Soft lookup, second edition", id="title"),
        answer("warm-up", "raise NotImplementedError('warm-up')"),
        answer("softmax", "raise NotImplementedError('softmax')"),
        locked("test-softmax", "check(softmax, twice=True)"),
        answer("sharpen", "raise NotImplementedError('sharpen')"),
    ]


def write(path, cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(v4.writes(v4.new_notebook(cells=cells)), encoding="utf-8")


def cells_of(path):
    return v4.reads(path.read_text(encoding="utf-8")).cells


def sources(path):
    return [cell.source for cell in cells_of(path)]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one exercise, and its folder as the current one."""
    (tmp_path / "nbgrader_config.py").touch()
    write(tmp_path / f"exercises/{NAME}/{NAME}.ipynb", first_release())
    (tmp_path / f"exercises/{NAME}/points.csv").write_text("1,2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def student_file(course):
    Workspace(course).prepare()
    return course / f"work/{NAME}/{NAME}.ipynb"


def release_again(course):
    write(course / f"exercises/{NAME}/{NAME}.ipynb", second_release())


def test_the_first_start_copies_every_file_of_an_exercise(course):
    assert Workspace(course).prepare() == [f"work/{NAME} is your copy of exercises/{NAME}"]
    for file in (f"{NAME}.ipynb", "points.csv"):
        assert (course / "work" / NAME / file).read_bytes() == (
            course / "exercises" / NAME / file
        ).read_bytes()


def test_the_second_start_changes_and_says_nothing(course, student_file):
    student_file.write_text("mine", encoding="utf-8")
    assert Workspace(course).prepare() == []
    assert student_file.read_text(encoding="utf-8") == "mine"


def test_a_changed_release_is_announced_and_not_copied(course, student_file):
    before = student_file.read_bytes()
    release_again(course)
    (line,) = Workspace(course).prepare()
    assert f"course update {NAME}" in line
    assert student_file.read_bytes() == before


def test_a_changed_data_file_counts_as_a_changed_release(course, student_file):
    (course / f"exercises/{NAME}/points.csv").write_text("3,4\n", encoding="utf-8")
    assert Workspace(course).changed(NAME)
    Workspace(course).update(NAME, NOW)
    assert (student_file.parent / "points.csv").read_text(encoding="utf-8") == "3,4\n"


def test_update_carries_answers_over_and_takes_the_new_text(course, student_file):
    cells = first_release()
    cells[1].source = "def softmax(scores): ..."
    cells[2].source = "check(nothing)"
    write(student_file, cells)
    release_again(course)
    assert "1 answer carried over" in Workspace(course).update(NAME, NOW)
    expected = [cell.source for cell in second_release()]
    expected[2] = "def softmax(scores): ..."
    assert sources(student_file) == expected
    assert [cell.metadata for cell in cells_of(student_file)] == [cell.metadata for cell in second_release()]


def test_an_untouched_stub_gives_way_to_the_new_stub(course, student_file):
    release_again(course)
    Workspace(course).update(NAME, NOW)
    assert sources(student_file) == [cell.source for cell in second_release()]


def test_own_cells_stay_behind_the_cell_they_stood_behind(course, student_file):
    cells = first_release()
    first, scratch, last = (v4.new_code_cell(f"{word} = 1", id=word) for word in ("first", "scratch", "last"))
    write(student_file, [first, *cells[:2], scratch, *cells[2:], last])
    release_again(course)
    assert "3 cells of your own kept" in Workspace(course).update(NAME, NOW)
    new = [cell.source for cell in second_release()]
    assert sources(student_file) == ["first = 1", *new[:3], "scratch = 1", *new[3:], "last = 1"]


def test_an_answer_whose_exercise_is_gone_stays_as_an_own_cell(course, student_file):
    cells = first_release()
    cells[3].source = "def sharpen(): ..."
    write(student_file, cells)
    write(course / f"exercises/{NAME}/{NAME}.ipynb", second_release()[:-1])
    Workspace(course).update(NAME, NOW)
    last = cells_of(student_file)[-1]
    assert (last.source, last.metadata) == ("def sharpen(): ...", {})


def test_of_a_copied_answer_cell_the_last_is_the_answer_and_the_first_is_kept(course, student_file):
    cells = first_release()
    cells[1].source = "attempt = 1"
    second = answer("softmax", "attempt = 2")
    second.id = "copied"
    write(student_file, [*cells[:2], second, *cells[2:]])
    release_again(course)
    Workspace(course).update(NAME, NOW)
    updated = cells_of(student_file)
    assert [
        cell.source for cell in updated if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax"
    ] == ["attempt = 2"]
    assert [cell.source for cell in updated if not cell.metadata].count("attempt = 1") == 1


def test_the_copy_as_it_was_is_backed_up_with_its_date(course, student_file):
    before = student_file.read_bytes()
    release_again(course)
    Workspace(course).update(NAME, NOW)
    assert (course / f"work/backups/{NAME}-2026-03-01-093000/{NAME}.ipynb").read_bytes() == before


def test_a_second_update_in_the_same_second_keeps_the_first_backup(course, student_file):
    before = student_file.read_bytes()
    release_again(course)
    Workspace(course).update(NAME, NOW)
    write(course / f"exercises/{NAME}/{NAME}.ipynb", first_release())
    Workspace(course).update(NAME, NOW)
    assert before in [path.read_bytes() for path in (course / "work/backups").rglob("*.ipynb")]


def test_without_a_memory_of_the_release_every_answer_counts(course):
    cells = first_release()
    cells[1].source = "mine"
    write(course / f"work/{NAME}/{NAME}.ipynb", cells)
    release_again(course)
    assert "2 answers carried over, 0 cells" in Workspace(course).update(NAME, NOW)


def answer_softmax(student_file):
    cells = first_release()
    cells[1].source = "def softmax(scores): ..."
    write(student_file, cells)


def interrupt_after(monkeypatch, files):
    """Let so many files be put in their place, and interrupt the next one."""
    replace, left = Path.replace, iter(range(files))

    def replace_or_stop(path, target):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_or_stop)


@pytest.mark.parametrize("files", range(4))
def test_an_interrupted_update_loses_no_answer_and_the_next_one_ends_it(
    course, student_file, monkeypatch, files
):
    answer_softmax(student_file)
    release_again(course)
    (course / f"exercises/{NAME}/points.csv").write_text("3,4\n", encoding="utf-8")
    with monkeypatch.context() as patch:
        interrupt_after(patch, files)
        with pytest.raises(KeyboardInterrupt):
            Workspace(course).update(NAME, NOW)
    assert "def softmax(scores): ..." in sources(student_file)
    Workspace(course).update(NAME, NOW)
    expected = [cell.source for cell in second_release()]
    expected[2] = "def softmax(scores): ..."
    assert sources(student_file) == expected
    assert (student_file.parent / "points.csv").read_text(encoding="utf-8") == "3,4\n"
    assert not Workspace(course).changed(NAME)


def test_the_memory_of_the_release_follows_a_file_that_went(course, student_file):
    (course / f"exercises/{NAME}/points.csv").unlink()
    Workspace(course).update(NAME, NOW)
    assert not Workspace(course).changed(NAME)


def test_a_notebook_that_is_missing_is_put_back_beside_the_other_files(course, student_file):
    renamed = student_file.rename(student_file.with_name("mine.ipynb"))
    renamed.write_text("mine", encoding="utf-8")
    (student_file.parent / "points.csv").write_text("my,own\n", encoding="utf-8")
    said = f"work/{NAME}/{NAME}.ipynb was missing: put back; other notebooks there: mine.ipynb"
    assert Workspace(course).prepare() == [said]
    assert sources(student_file) == [cell.source for cell in first_release()]
    assert renamed.read_text(encoding="utf-8") == "mine"
    assert (student_file.parent / "points.csv").read_text(encoding="utf-8") == "my,own\n"
    assert Workspace(course).prepare() == []


def test_update_puts_a_missing_notebook_back_at_the_present_release(course, student_file):
    student_file.unlink()
    said = f"work/{NAME}/{NAME}.ipynb was missing: put back"
    assert Workspace(course).update(NAME, NOW) == said
    student_file.unlink()
    release_again(course)
    done = Workspace(course).update(NAME, NOW)
    assert done.startswith(f"{said}; work/{NAME} updated: 0 answers carried over")
    assert sources(student_file) == [cell.source for cell in second_release()]


def test_a_start_that_puts_a_notebook_back_still_announces_the_changed_release(course, student_file):
    student_file.unlink()
    release_again(course)
    put_back, changed = Workspace(course).prepare()
    assert put_back.endswith("was missing: put back")
    assert f"course update {NAME}" in changed


def test_without_a_memory_a_missing_notebook_comes_from_the_release(course):
    (course / "work" / NAME).mkdir(parents=True)
    Workspace(course).prepare()
    assert sources(course / f"work/{NAME}/{NAME}.ipynb") == [cell.source for cell in first_release()]


def test_update_without_a_change_does_nothing(course, student_file, capsys):
    answer_softmax(student_file)
    before = student_file.read_bytes()
    assert main(["update", NAME]) == 0
    assert capsys.readouterr().out == f"work/{NAME} is up to date\n"
    assert student_file.read_bytes() == before


@pytest.mark.parametrize("word", [f"work/{NAME}", f"work/{NAME}/", f"./work/{NAME}/{NAME}.ipynb"])
def test_update_takes_a_path_as_well_as_a_name(course, student_file, capsys, word):
    assert main(["update", word]) == 0
    assert capsys.readouterr().out == f"work/{NAME} is up to date\n"


def test_update_takes_the_current_folder(course, student_file, monkeypatch, capsys):
    monkeypatch.chdir(student_file.parent)
    assert main(["update", "."]) == 0
    assert capsys.readouterr().out == f"work/{NAME} is up to date\n"


def test_an_unreadable_copy_is_named_when_the_release_is_unchanged_too(course, student_file, capsys):
    student_file.write_text("mine", encoding="utf-8")
    assert main(["update", NAME]) == 2
    assert f"{NAME}.ipynb is not a notebook that can be read" in capsys.readouterr().err
    student_file.unlink()
    student_file.mkdir()
    assert main(["update", NAME]) == 2
    assert f"{NAME}.ipynb is not a notebook that can be read" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', '{"cells": [1]}'])
def test_an_unreadable_copy_is_told_in_one_line_and_left_alone(course, student_file, capsys, text):
    student_file.write_text(text, encoding="utf-8")
    release_again(course)
    assert main(["update", NAME]) == 2
    error = capsys.readouterr().err
    assert error.startswith("course: ")
    assert error.count("\n") == 1
    assert "is not a notebook that can be read" in error
    assert student_file.read_text(encoding="utf-8") == text
    assert not (course / "work/backups").exists()


def test_an_unknown_exercise_is_told_with_the_known_ones(course, capsys):
    assert main(["update", "09_none"]) == 2
    assert capsys.readouterr().err == f"course: no exercise is called 09_none; there are: {NAME}\n"


def test_outside_the_course_the_package_knows_its_own_folder(tmp_path, monkeypatch, root):
    from course_lib.project import project_root

    monkeypatch.chdir(tmp_path)
    assert project_root() == root


def test_the_real_exercises_survive_a_round_trip(root, tmp_path):
    """Each released exercise with an answer in every answer cell, updated to a release with one more cell."""
    released = list(root.glob("exercises/*/*.ipynb"))
    assert released
    for source in released:
        name, release = source.stem, json.loads(source.read_text(encoding="utf-8"))
        write(tmp_path / f"exercises/{name}/{name}.ipynb", cells_of(source))
        workspace = Workspace(tmp_path)
        workspace.prepare()
        mine = cells_of(source)
        answered = [cell for cell in mine if cell.metadata.get("nbgrader", {}).get("solution")]
        for number, cell in enumerate(answered):
            cell.source = f"answer = {number}"
        write(tmp_path / f"work/{name}/{name}.ipynb", mine)
        extra = v4.new_markdown_cell("A new paragraph.", id="new-paragraph")
        write(tmp_path / f"exercises/{name}/{name}.ipynb", [*cells_of(source), extra])
        workspace.update(name, NOW)
        assert len(answered) > 0
        assert len(cells_of(tmp_path / f"work/{name}/{name}.ipynb")) == len(release["cells"]) + 1
        assert sources(tmp_path / f"work/{name}/{name}.ipynb") == [cell.source for cell in [*mine, extra]]
