"""nbgrader's configuration for this course: its folders, and plug-ins that mark outside students' kernels.

Without these plug-ins a test cell is worth nothing, so a course that is marked by accident with stock
settings gives no points rather than wrong ones.
"""

import os
import sys
import warnings

from course_lib.checks.assignments import MODULES
from course_lib.grading.finding import everything_but

# nbgrader calls the program `alembic` by name: find the one beside this interpreter, activated or not.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])

# nbgrader's own session handling makes SQLAlchemy warn once per new submission; the rows are added all the
# same, which the tests of the gradebook prove. A warning about anything else still shows.
warnings.filterwarnings("ignore", message="Object of type <Submitted(Assignment|Notebook)> not in session")

c = get_config()  # type: ignore[name-defined]  # noqa: F821

c.CourseDirectory.course_id = "one_layer_of_attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.solution_directory = "solution_copies"
# nbgrader copies whatever else lies in an assignment's folder: let it see notebooks and times only.
c.CourseDirectory.ignore = [".ipynb_checkpoints", *everything_but(".ipynb", "timestamp.txt", *MODULES)]

c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "course_lib.grading.plugins.NamedStubs",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# A mark scheme stands in the question's cell, which the gradebook keeps whole for formgrader. nbgrader knows
# such schemes in its task cells alone, which are no cells for an answer, and refuses them elsewhere.
c.ClearMarkScheme.enforce_metadata = False

# Where nobody handed in a notebook, nbgrader stops before anything of ours is asked; only its words are ours.
c.Application.logging_config = {
    "filters": {"nothing": {"()": "course_lib.grading.nothing_handed_in.NothingHandedIn"}},
    "loggers": {"AutogradeApp": {"filters": ["nothing"], "handlers": ["console"], "level": "DEBUG"}},
}

c.Autograde.exporter_class = "course_lib.grading.exporter.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "course_lib.grading.plugins.Sanitise",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "course_lib.grading.plugins.CollectAndJudge",
    "nbgrader.preprocessors.LimitOutput",
    "course_lib.grading.plugins.SaveMarks",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.GenerateFeedback.exporter_class = "course_lib.grading.feedback_html.FeedbackPage"
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "course_lib.grading.feedback_page.FoldTests",
]

# What lateness costs: nothing, until `c.LatePolicy.per_day = 0.1` or the like stands here. The due date is in
# the gradebook: nbgrader db assignment add 01_soft_lookup --duedate="2026-03-01 23:59 UTC"
c.AssignLatePenalties.plugin_class = "course_lib.term.late.LatePolicy"

# Feedback goes out through the exchange to those who handed in there, and the others do not stop it.
c.ExchangeFactory.release_feedback = "course_lib.term.exchange.ReleaseFeedback"
