"""The plug-ins that nbgrader_config.py names for release and marking: sanitise, judge, comment, stubs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from traitlets import Bool, Unicode

from course_lib.checks.judge import Verdict
from course_lib.errors import CourseError

from .execute import JudgedExecute, refuse
from .release import stub
from .sandbox import needs_sandbox
from .sanitise import SourceCell, sanitise
from .secret import NAME, fingerprint, read_or_make, record_use
from .source import Source
from .store import Result, Store, key_of

OPTION = "--CollectAndJudge.unsandboxed=True"


@lru_cache(maxsize=16)
def source_of(path: Path, secret: str, changed: float) -> Source:
    """The source notebook, read once as long as its file does not change."""
    return Source(path, secret)


class CoursePreprocessor(NbGraderPreprocessor):
    """What the plug-ins share: where the sources are, and the course secret."""

    source_directory = Unicode("solutions", help="folder of the source notebooks").tag(config=True)
    secret_file = Unicode(NAME, help="file of the course secret, made on first use").tag(config=True)

    def source(self, resources: Any) -> Source:
        """The source of the assignment being marked; nbgrader works in the course's root folder."""
        return self.source_named(resources["nbgrader"]["notebook"], Path())

    def source_named(self, name: str, root: Path) -> Source:
        """The source of an assignment. Raises: CourseError where it, or the course secret, is missing."""
        path = root / self.source_directory / name / f"{name}.ipynb"
        if not path.is_file():
            raise CourseError(
                f"{path}: no such solution notebook; marking needs it to compute the right answers"
            )
        return source_of(path.resolve(), read_or_make(root / self.secret_file), path.stat().st_mtime)


class Sanitise(CoursePreprocessor):
    """Rebuild a submission from the gradebook's own cells; replaces OverwriteCells and DeduplicateIds."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        course = resources["nbgrader"]
        with Gradebook(course["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(course["notebook"], course["assignment"])
            points = {cell.name: cell.max_score for cell in notebook.grade_cells}
            answers = {cell.name for cell in notebook.solution_cells}
            cells = [
                SourceCell(
                    cell.name,
                    cell.cell_type,
                    cell.source,
                    grade=cell.name in points,
                    solution=cell.name in answers,
                    points=points.get(cell.name),
                    checksum=cell.checksum,
                )
                for cell in notebook.source_cells
            ]
        nb, repairs = sanitise(nb, cells, self.source(resources).follows)
        submission = resources.get("submission", {"noticed": [], "unreadable": None})
        unreadable = submission["unreadable"]
        repairs = submission["noticed"] + ([] if unreadable else repairs)
        kernelspec = nb.metadata.get("kernelspec", {})
        nb.metadata = {"kernelspec": kernelspec, "course": {"repairs": repairs, "unreadable": unreadable}}
        for repair in repairs:
            self.log.warning("%s: %s", course["student"], repair)
        return nb, resources


class CollectAndJudge(CoursePreprocessor):
    """Run the submission in a sandbox and judge it; replaces Execute.

    Verdicts go to the cells and to `resources`.
    """

    unsandboxed = Bool(
        False, help="run students' code without a sandbox, with your own rights; recorded with the marks"
    ).tag(config=True)

    results_directory = Unicode("", help="folder of results that are there already").tag(config=True)
    results_version = Unicode("", help="version of the assignment that they count for").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        source = self.source(resources)
        sandboxed = needs_sandbox(OPTION, self.unsandboxed)
        executor = JudgedExecute(parent=self, sandboxed=sandboxed)
        unreadable = nb.metadata.get("course", {}).get("unreadable")
        if unreadable:
            resources["verdicts"] = refuse(nb, source, f"Your submission could not be read: {unreadable}.")
        else:
            known = self._known(nb, source)
            resources["verdicts"] = executor.mark(nb, source) if known is None else known.write_into(nb)
        nb.metadata.setdefault("course", {}).update(secret=fingerprint(source.secret), sandboxed=sandboxed)
        if record_use(Path(self.secret_file), source.secret):
            self.log.warning(
                "Marks were made here with another course secret; restore %s, or mark everyone again.",
                self.secret_file,
            )
        return nb, resources

    def _known(self, nb: NotebookNode, source: Source) -> Result | None:
        """The result of the same code, where `course mark` has it."""
        if not self.results_directory:
            return None
        key = key_of(nb, frozenset(source.tests), self.results_version)
        return Store(Path(self.results_directory)).get(key)

    def check(self, assignment: str, root: Path) -> None:
        """See that all that marking needs is there. Raises: CourseError with what is missing."""
        self.source_named(assignment, root)
        needs_sandbox(OPTION, self.unsandboxed)


class SaveComments(NbGraderPreprocessor):
    """Write each function's sentences beside its answer, where a student and formgrader show comments."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        course, verdicts = resources["nbgrader"], resources["verdicts"]
        with Gradebook(course["db_url"]) as gradebook:
            for function in dict.fromkeys(verdict.function for verdict in verdicts.values()):
                mine = [verdict for verdict in verdicts.values() if verdict.function == function]
                comment = gradebook.find_comment(
                    function, course["notebook"], course["assignment"], course["student"]
                )
                comment.auto_comment = comment_on(mine)
            gradebook.db.commit()
        return nb, resources


class NamedStubs(ClearSolutions):
    """Replaces ClearSolutions: the stub of an answer cell names the function that is not written yet."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        self.code_stub = {**self.code_stub, "python": stub(cell.source)}
        return super().preprocess_cell(cell, resources, cell_index)


def comment_on(verdicts: list[Verdict]) -> str:
    """A function's verdicts as one comment: the points, and each sentence once with what it costs."""
    points = sum(verdict.points for verdict in verdicts)
    possible = sum(verdict.max_points for verdict in verdicts)
    said = [f"{verdicts[0].function}: {points:g} of {possible:g} points."]
    for sentence in dict.fromkeys(verdict.sentence for verdict in verdicts if verdict.failed is not None):
        missed = [verdict for verdict in verdicts if verdict.sentence == sentence]
        which = "" if len(missed) == len(verdicts) else f"{', '.join(f'“{each.title}”' for each in missed)}: "
        said.append(which + sentence)
    return "\n".join(said)
