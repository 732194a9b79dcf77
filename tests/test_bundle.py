"""What students receive is complete, the same each time, and gives nothing away."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import nbformat
import pytest

from course_lib.checks.assignments import MODULES
from course_lib.command import COMMANDS, main
from course_lib.errors import CourseError
from course_lib.grading import catalogue
from course_lib.term import bundle
from marking import answered, answers_of, phrases, schemes_of, words_of

ROOT = Path(__file__).resolve().parents[1]
NAMES = list(MODULES)


@pytest.fixture(scope="module")
def files():
    return bundle.contents(ROOT)


@pytest.fixture(scope="module")
def received(files, tmp_path_factory):
    """The archive, unpacked as a student would."""
    place = tmp_path_factory.mktemp("student")
    bundle.write_archive(files, place / "bundle.zip")
    with zipfile.ZipFile(place / "bundle.zip") as archive:
        archive.extractall(place)
    return place / bundle.NAME


def run(received, *words):
    """Run Python in the students' folder, with their part of the course and not this one."""
    env = os.environ | {"PYTHONPATH": str(received), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=received, env=env, capture_output=True, encoding="utf-8", timeout=300
    )


def course(received, *words):
    return run(received, "-m", "course_lib.command", *words)


def bare(code):
    """Code without spaces, empty lines and comments."""
    lines = (re.sub(r"\s+", "", re.sub(r"\s#.*", "", line)) for line in code.splitlines())
    return "\n".join(line for line in lines if line)


def solution(name):
    return nbformat.read(ROOT / "solutions" / name / f"{name}.ipynb", 4)


def hidden_in(cell):
    """What an answer cell has between the marks of a solution."""
    return "\n".join(re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell, flags=re.DOTALL))


@pytest.fixture(scope="module")
def texts(files):
    """Each file as text, of a notebook the source of its cells; and the same without spaces and comments."""

    def text(path, data):
        if path.endswith(".ipynb"):
            return "\n".join(cell.source for cell in nbformat.reads(data.decode(), 4).cells)
        return data.decode()

    read = (
        (path, text(path, data)) for path, data in files.items() if path.endswith((".ipynb", ".py", ".md"))
    )
    return [(path, each, bare(each)) for path, each in read]


def test_the_archive_has_the_same_bytes_whenever_and_wherever_it_is_made(files, tmp_path, monkeypatch):
    bundle.write_archive(files, tmp_path / "a.zip")
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    bundle.write_archive(bundle.contents(ROOT), tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_it_holds_every_chapter_and_exercise_and_fits_an_e_mail(files):
    chapters = {f"notebooks/{path.name}" for path in ROOT.glob("notebooks/*.ipynb")}
    exercises = {f"exercises/{name}/{name}.ipynb" for name in NAMES}
    diagnosis = {f"course_lib/checks/data/{name}.json" for name in NAMES}
    assert chapters | exercises | diagnosis | {"README.md", "environment.yml", "Makefile"} <= set(files)
    assert sum(map(len, files.values())) < 10 * 2**20


def test_nothing_of_those_who_teach_is_in_it(files):
    parts = {part for path in files for part in Path(path).parts}
    assert not parts & {"solutions", "tests", "mistakes", "term", "docs", ".course_secret", "gradebook.db"}
    assert not parts & {"plugins.py", "exporter.py", "catalogue.py", "references.py", "class_marking.py"}
    commands = {Path(path).stem for path in files if path.startswith("course_lib/command/")}
    assert commands & set(COMMANDS) == set(bundle.COMMANDS)


@pytest.mark.parametrize("name", NAMES)
def test_no_solution_model_answer_or_mark_scheme_is_in_it(texts, name):
    source = solution(name)
    answers = [bare(hidden_in(cell)) for cell in answers_of(source).values()]
    assert all(answers)
    long = [answer for answer in answers if answer.count("\n") >= 2]
    secret = [each for text in [*words_of(source).values(), *schemes_of(source)] for each in phrases(text)]
    for path, text, code in texts:
        # The library has the formulas, which the chapters derive; an exercise's notebook has none of them.
        looked_for = answers if path.startswith(f"exercises/{name}/") else long
        assert not [answer for answer in looked_for if answer in code], path
        assert not [each for each in secret if each in text], path


@pytest.mark.parametrize("name", NAMES)
def test_the_code_of_no_mistake_is_in_it(texts, name):
    codes = [bare(str(each.code)) for each in catalogue.read(ROOT, name).mistakes]
    codes = [code for code in codes if "\n" in code]  # one line is an import, right in another exercise
    assert codes
    for path, _, text in texts:
        assert not [code for code in codes if code in text], path


def test_a_notebook_with_a_solution_in_it_is_not_handed_out(monkeypatch):
    monkeypatch.setattr(bundle, "SECRET", ("check(",))
    with pytest.raises(CourseError, match=r"exercises/\S+ holds solutions"):
        bundle.contents(ROOT)


def test_links_of_its_notebooks_lead_to_files_in_it(files):
    for path in [path for path in files if path.endswith(".ipynb")]:
        for cell in nbformat.reads(files[path].decode(), 4).cells:
            links = (
                re.findall(r"\]\((?!https?:|#)([^)#\s]+)", cell.source)
                if cell.cell_type == "markdown"
                else []
            )
            for link in links:
                target = os.path.normpath(Path(path).parent / link).replace(os.sep, "/")
                assert target.replace("work/", "exercises/") in files, (path, link)


def test_what_its_notebooks_import_is_in_it(files):
    found = set()
    for path in [path for path in files if path.endswith(".ipynb")]:
        cells = nbformat.reads(files[path].decode(), 4).cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        for module, names in re.findall(r"^from (course_lib[\w.]*) import (.*)", code, flags=re.MULTILINE):
            place = module.replace(".", "/")
            single = (
                [f"{place}/{name.strip()}" for name in names.split(",")]
                if module == "course_lib"
                else [place]
            )
            found |= set(single)
    assert "course_lib/explore" in found
    assert [each for each in found if f"{each}.py" not in files and f"{each}/__init__.py" not in files] == []


def test_a_check_works_with_it_and_finds_what_is_wrong(received):
    code = (
        "import numpy as np, course_lib; from course_lib.checks import checks_for\n"
        "print(course_lib.__file__)\n"
        "check = checks_for('01_soft_lookup')\n"
        "def softmax(scores, axis=-1):\n"
        "    return np.exp(scores) / np.exp(scores).sum(axis=axis)\n"
        "check('softmax', 'ordinary')\n"
    )
    done = run(received, "-c", code)
    assert done.returncode == 0, done.stderr
    first, *said = done.stdout.splitlines()
    assert Path(first).is_relative_to(received)
    assert any(line.lstrip().startswith("✗") for line in said)


def test_lab_hands_out_update_brings_up_to_date_and_mark_marks(received):
    prepared = run(
        received,
        "-c",
        "from jupyterlab.labapp import LabApp; LabApp.launch_instance = lambda: print('started')\n"
        "import sys; from course_lib.command import main; sys.exit(main(['lab', '--allow-root']))",
    )
    assert prepared.stdout.splitlines()[-1] == "started", prepared.stderr
    assert sorted(path.parent.name for path in received.glob("work/*/*.ipynb")) == NAMES
    assert "01_soft_lookup" in course(received, "update", "01_soft_lookup").stdout
    work = received / "work" / NAMES[0] / f"{NAMES[0]}.ipynb"
    done = answered(nbformat.read(work, 4), answers_of(solution(NAMES[0])))
    nbformat.write(done, work)
    marked = course(received, "mark", f"work/{NAMES[0]}/{NAMES[0]}.ipynb")
    assert marked.returncode == 0, marked.stdout + marked.stderr
    assert re.search(r"^ *(\d+) of \1 points", marked.stdout, flags=re.MULTILINE), marked.stdout
    assert "only the visible checks" in marked.stdout


@pytest.mark.parametrize("words", [("release",), ("bundle", "--to", "x"), ("mark", "01_soft_lookup")])
def test_other_commands_say_in_one_line_what_they_need(received, words):
    done = course(received, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "whole course" in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_names_only_what_is_there(received):
    said = course(received, "--help").stdout
    assert {name for name in COMMANDS if f"\n    {name}" in said} == set(bundle.COMMANDS)


def test_its_packages_are_those_that_the_course_needs_and_no_others(files):
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    theirs = tomllib.loads(files["pyproject.toml"].decode())["project"]
    assert theirs["dependencies"] == ours["dependencies"]
    assert "optional-dependencies" not in theirs


def test_it_can_be_installed_and_gives_the_command(received):
    (received / "metadata").mkdir()
    code = "import setuptools.build_meta as build; print(build.prepare_metadata_for_build_wheel('metadata'))"
    done = run(received, "-c", code)
    assert done.returncode == 0, done.stderr[-2000:]
    points = next(received.glob("metadata/*.dist-info/entry_points.txt")).read_text(encoding="utf-8")
    assert "course = course_lib.command:main" in points


def test_nbgrader_validates_an_exercise_in_it(received):
    done = run(received, "-m", "nbgrader", "validate", f"exercises/{NAMES[0]}/{NAMES[0]}.ipynb")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "failed" in done.stdout.lower()


def test_its_makefile_has_the_targets_that_its_readme_names(files):
    makefile = files["Makefile"].decode()
    targets = re.findall(r"^([a-z]+):.*##", makefile, flags=re.MULTILINE)
    assert targets == [*bundle.student_files.TARGETS]
    assert set(re.findall(r"`?make ([a-z]+)", files["README.md"].decode())) <= set(targets)
    assert set(re.findall(r"\bcourse (lab|mark|update)\b", files["README.md"].decode())) == set(
        bundle.COMMANDS
    )


def test_a_folder_is_brought_up_to_date_and_what_else_is_in_it_stays(files, tmp_path):
    folder = tmp_path / "out"
    bundle.write_folder(files | {"old.txt": b"x", bundle.MANIFEST: b"0" * 64 + b"  old.txt\n"}, folder)
    for mine in (".git/config", "work/mine.ipynb"):
        (folder / mine).parent.mkdir(exist_ok=True)
        (folder / mine).write_text("mine", encoding="utf-8")
    bundle.write_folder(files, folder)
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert present == set(files) | {".git/config", "work/mine.ipynb"}


def test_a_folder_of_somebody_else_is_not_touched(files, tmp_path, capsys):
    (tmp_path / bundle.NAME).mkdir()
    (tmp_path / bundle.NAME / "thesis.tex").touch()
    assert main(["bundle", "--to", str(tmp_path)]) == 2
    assert "name another folder" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / bundle.NAME).iterdir()] == ["thesis.tex"]


def test_a_manifest_cannot_name_a_file_elsewhere(files, tmp_path):
    (tmp_path / "precious.txt").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / bundle.MANIFEST).write_text(f"{'0' * 64}  ../precious.txt\n", encoding="utf-8")
    bundle.write_folder(files, tmp_path / "out")
    assert (tmp_path / "precious.txt").exists()


def test_the_command_makes_both_and_says_where(tmp_path, capsys):
    assert main(["bundle", "--to", str(tmp_path)]) == 0
    assert f"{bundle.NAME}.zip" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == [bundle.NAME, f"{bundle.NAME}.zip"]
