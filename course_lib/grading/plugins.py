"""The plug-ins that nbgrader_config.py names for release and marking: sanitise, judge, comment, stubs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from traitlets import Bool, Unicode

from course_lib.errors import CourseError

from .execute import JudgedExecute
from .gradebook import AssignmentGradebook
from .handed_in import HandedIn
from .marked import made_whole, marks_of, refusal, sign
from .release import stub
from .sandbox import needs_sandbox
from .secret import NAME, OTHER_SECRET, read_or_make, record_use
from .source import Source

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
    """Rebuild a submission from the gradebook's own cells.

    Replaces OverwriteKernelspec, OverwriteCells and DeduplicateIds.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        with _gradebook(resources) as gradebook:
            cells, kernelspec = gradebook.cells, gradebook.kernelspec
        handed_in = HandedIn(nb, **resources.get("submission", {"noticed": []}))
        nb = made_whole(handed_in, cells, self.source(resources).follows, kernelspec)
        for repair in nb.metadata.course.repairs:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], repair)
        return nb, resources


class CollectAndJudge(CoursePreprocessor):
    """Run the submission in a sandbox and judge it; replaces Execute.

    Verdicts go to the cells and to `resources`.
    """

    unsandboxed = Bool(
        False, help="run students' code without a sandbox, with your own rights; recorded with the marks"
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        source = self.source(resources)
        sandboxed = needs_sandbox(OPTION, self.unsandboxed)
        executor = JudgedExecute(parent=self, sandboxed=sandboxed)
        resources["verdicts"] = refusal(nb, source) or executor.mark(nb, source)
        sign(nb, source.secret, sandboxed=sandboxed)
        if record_use(Path(self.secret_file), source.secret):
            self.log.warning("%s", OTHER_SECRET)
        return nb, resources

    def check(self, assignment: str, root: Path) -> None:
        """See that all that marking needs is there. Raises: CourseError with what is missing."""
        self.source_named(assignment, root)
        needs_sandbox(OPTION, self.unsandboxed)


class SaveMarks(NbGraderPreprocessor):
    """Write points, and each function's sentences beside its answer, where a student and formgrader show
    comments. Replaces SaveAutoGrades."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        with _gradebook(resources) as gradebook:
            gradebook.save(resources["nbgrader"]["student"], marks_of(nb, resources["verdicts"].values()))
        return nb, resources


class NamedStubs(ClearSolutions):
    """Replaces ClearSolutions: the stub of an answer cell names the function that is not written yet."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        self.code_stub = {**self.code_stub, "python": stub(cell.source)}
        return super().preprocess_cell(cell, resources, cell_index)


def _gradebook(resources: Any) -> AssignmentGradebook:
    course = resources["nbgrader"]
    return AssignmentGradebook(course["db_url"], "", course["assignment"])
