"""The files around the code agree with each other: what is declared, pinned, promised and called."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from course_lib import notebooks
from course_lib.command import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    *("README.md", "CONTRIBUTING.md"),
    *("docs/marking_security.md", "docs/instructor_guide.md", "docs/scale.md"),
]
CONDA_NAMES = {"pytorch": "torch"}
IMPORT_NAMES = {"bs4": "beautifulsoup4", "zmq": "pyzmq", "PIL": "pillow", "yaml": "pyyaml"}
TOP_LEVEL = {
    *(".ci", ".gitattributes", ".github", ".gitignore", ".pre-commit-config.yaml"),
    *("CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "constraints.txt", "environment.yml"),
    *("conftest.py", "course_lib", "exercises", "nbgrader_config.py", "notebooks", "pyproject.toml"),
    *("docs", "site", "solutions", "tests"),
}
MACHINE = re.compile(r"/(root|farm|home/\w+|Users/\w+)/|/work/(main|shared)\b|/tmp/plan")
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|anaconda\.org|download\.pytorch\.org|npmjs\.|jsdelivr|unpkg\.com|cdnjs"
)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict:
    return tomllib.loads(text("pyproject.toml"))["project"]


def requirements() -> list[Requirement]:
    """Everything that the project asks for: to run, to test and to build the site."""
    declared = project()
    extras = declared["optional-dependencies"].values()
    return [
        Requirement(each) for each in (*declared["dependencies"], *(each for more in extras for each in more))
    ]


def pins() -> dict[str, list[Requirement]]:
    """The lines of constraints.txt by name; a name may have a line per Python version."""
    found: dict[str, list[Requirement]] = {}
    for line in text("constraints.txt").splitlines():
        if line and not line.startswith("#"):
            pin = Requirement(line)
            found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


def pinned(name: str) -> str:
    """The version that this Python gets."""
    (pin,) = [pin for pin in pins()[canonicalize_name(name)] if pin.marker is None or pin.marker.evaluate()]
    return str(pin.specifier).removeprefix("==")


def disagreements(declared: dict, environment: dict) -> list[str]:
    """What pyproject.toml and environment.yml say differently, name by name and range by range."""
    ours = {canonicalize_name(r.name): r.specifier for r in map(Requirement, declared["dependencies"])}
    ours["python"] = SpecifierSet(declared["requires-python"])
    theirs = {}
    for entry in environment["dependencies"]:
        if isinstance(entry, str) and entry != "pip":
            name, ranges = entry.split()[:2]
            theirs[canonicalize_name(CONDA_NAMES.get(name, name))] = SpecifierSet(ranges)
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def tracked() -> list[Path]:
    """The files under version control."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def test_conda_and_pip_are_asked_for_the_same_packages_in_the_same_ranges():
    assert disagreements(project(), yaml.safe_load(text("environment.yml"))) == []


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("numpy >=2.2,<3", "numpy >=2.1,<3", "numpy"),
        ("  - nbclient >=0.10,<1\n", "", "nbclient"),
        ("  - pip\n", "  - pip\n  - scipy >=1\n", "scipy"),
        ("pytorch >=2.6,<2.14", "torch >=2.6", "torch"),
        ("python >=3.11", "python >=3.12", "python"),
    ],
)
def test_a_disagreement_is_found(old, new, name):
    changed = text("environment.yml").replace(old, new)
    assert changed != text("environment.yml")
    assert disagreements(project(), yaml.safe_load(changed)) == [name]


def imported() -> set[str]:
    """The names of the packages that the course itself imports, by the module's name."""
    found = set()
    for path in [*ROOT.glob("course_lib/**/*.py"), ROOT / "nbgrader_config.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module)
    return {name.split(".")[0] for name in found} - set(sys.stdlib_module_names) - {"course_lib"}


def test_everything_that_is_imported_is_declared():
    optional = project()["optional-dependencies"]  # the commands that want these say how to get them
    wanted = [*project()["dependencies"], *optional["parquet"], *optional["cluster"]]
    declared = {Requirement(each).name for each in wanted}
    packages = {canonicalize_name(IMPORT_NAMES.get(name, name)) for name in imported()}
    assert {"torch", "jupyter-client"} <= packages
    assert packages - declared == set()


def test_every_pattern_of_package_data_matches_a_file():
    settings = tomllib.loads(text("pyproject.toml"))["tool"]["setuptools"]["package-data"]
    for pattern in settings["course_lib"]:
        assert list(ROOT.glob(f"course_lib/{pattern}")), pattern


def test_conda_installs_the_cpu_build_and_the_course_itself_from_conda_forge_alone():
    environment = yaml.safe_load(text("environment.yml"))
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    assert any(re.fullmatch(r"pytorch \S+ cpu_\*", str(entry)) for entry in environment["dependencies"])
    assert environment["dependencies"][-2:] == ["pip", {"pip": ["-e ."]}]


def test_every_requirement_is_pinned_to_one_version_within_its_range():
    for requirement in requirements():
        assert requirement.specifier.contains(pinned(requirement.name)), requirement
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for lines in pins().values() for pin in lines)


def test_the_build_needs_nothing_that_is_not_pinned():
    build = tomllib.loads(text("pyproject.toml"))["build-system"]["requires"]
    for requirement in map(Requirement, [*build, "pip"]):
        assert requirement.specifier.contains(pinned(requirement.name))


@pytest.mark.skipif(Path(sys.prefix) != ROOT / ".venv", reason="another environment has other versions")
def test_what_is_installed_is_what_is_pinned():
    """Followed through from the project's requirements to the last package that they bring."""
    wanted, seen = [r.name for r in requirements()], set()
    while wanted:
        name = canonicalize_name(wanted.pop())
        if name in seen or name.startswith(("nvidia-", "cuda-", "triton")):
            continue
        seen.add(name)
        installed = metadata.distribution(name)
        assert installed.version.split("+")[0] == pinned(name), name
        needs = map(Requirement, installed.requires or [])
        wanted += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    assert len(seen) > 100


def test_the_top_level_holds_what_is_expected_and_nothing_else():
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} == TOP_LEVEL


def test_no_file_names_a_machine_or_a_registry():
    for path in tracked():
        words = notebooks.PICTURE_DATA.sub("", path.read_text(encoding="utf-8"))
        if path != Path(__file__).resolve():
            assert not MACHINE.search(words), path
            assert not REGISTRY.search(words), path


@pytest.mark.parametrize("line", ["/root/x", "see /home/ann/course", "/work/main/.venv"])
def test_a_machine_path_is_found(line):
    assert MACHINE.search(line)
    assert not MACHINE.search("../work/01_soft_lookup/01_soft_lookup.ipynb and ~/course")


def test_no_file_is_larger_than_500_kb():
    assert [path.name for path in tracked() if path.stat().st_size > notebooks.MAX_BYTES] == []


def commands_in(document: str) -> str:
    """The code of a document: indented blocks and code spans."""
    blocks = re.findall(r"^ {4}\S.*$", text(document), flags=re.MULTILINE)
    return "\n".join([*blocks, *re.findall(r"`[^`\n]+`", text(document))])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_that_a_document_names_exists(document):
    targets = set(re.findall(r"^([a-z]+):.*##", text("Makefile"), flags=re.MULTILINE))
    make, course = (
        set(re.findall(rf"\b{name} ([a-z]+)", commands_in(document))) for name in ("make", "course")
    )
    assert make - targets == set()
    assert course - set(COMMANDS) == set()
    assert make | course


def test_help_lists_every_target():
    declared = re.search(r"^\.PHONY: (.*)$", text("Makefile"), flags=re.MULTILINE)
    assert declared
    assert set(re.findall(r"^([a-z]+):.*##", text("Makefile"), flags=re.MULTILINE)) == set(
        declared[1].split()
    )


@pytest.mark.skipif(os.name != "posix" or not shutil.which("make"), reason="needs make and awk")
def test_help_prints_every_target_with_its_sentence_and_needs_awk_only(tmp_path):
    (tmp_path / "awk").symlink_to(shutil.which("awk"))
    done = subprocess.run(
        [shutil.which("make"), "help"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    expected = re.findall(r"^([a-z]+):.*## (.*)$", text("Makefile"), flags=re.MULTILINE)
    assert done.stdout.splitlines() == [f"  make {name:<13}{sentence}" for name, sentence in expected]


def test_ci_calls_only_what_the_readme_names():
    script = "\n".join(line for line in text(".ci/run").splitlines() if not line.startswith("#"))
    assert re.findall(r"\bmake (\w+)", script) == ["test"]
    assert set(re.findall(r"missing\+=\((\w+)\)", script)) == {"chromium", "bubblewrap"}
    programs = ("chromium", "bubblewrap")
    targets = ("make test", "make slow", "make mutation", "make catalogue", "make cheats", "make checksite")
    for promised in (".ci/run", *targets, *programs):
        assert promised in text("README.md")
    steps = [
        step
        for job in yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"].values()
        for step in job["steps"]
    ]
    runs = [step["run"] for step in steps if "run" in step]
    preparation = ("git config", "choco install make", "apt-get update")
    assert {run for run in runs if not run.startswith(preparation)} == {
        "bash .ci/run",
        "make test",
        "make slow",
        "make catalogue",
        "make cheats",
        "make mutation",
        "make checksite",
    }


def test_hooks_call_the_projects_own_tools():
    for repository in yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert (hook["language"], hook["entry"].split()[0]) == ("system", ".venv/bin/python")


@pytest.mark.parametrize("command", [["format", "--check"], ["check"]])
def test_ruff_finds_nothing(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "."], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
