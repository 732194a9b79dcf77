"""The same assignment as stock nbgrader would mark it: asserts and right answers hidden in the test cells."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "cheats"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.ExecutePreprocessor.timeout = 30
"""
# The same without the plug-in that writes test cells anew.
WITHOUT_OVERWRITING = (
    CONFIG
    + """
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""
)
SOLUTION = """def softmax(scores):
    ### BEGIN SOLUTION
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)
    ### END SOLUTION"""
# Three usual kinds of test: NumPy's own, plain equality, and a number of points as the last value.
TESTS = {
    "softmax-ordinary": """scores = np.array([1.0, 2.0, 4.0])
expected = np.array([0.04201007, 0.1141952, 0.84379473])
np.testing.assert_allclose(softmax(scores), expected, atol=1e-6)""",
    "softmax-large-scores": """expected = [0.5, 0.5, 0.0]
assert softmax(np.array([1000.0, 1000.0, -1000.0])).tolist() == expected""",
    "softmax-any-input": """expected = np.array([[0.26894142, 0.73105858], [0.98201379, 0.01798621]])
error = float(np.abs(softmax(np.array([[0.0, 1.0], [3.0, -1.0]])) - expected).max())
max(0.0, min(2.0, round(2.0 - 100 * error, 2)))""",
}

HIDDEN = ("1000.0, 1000.0, -1000.0",)  # an input of a hidden test, as Python writes it


def notebook() -> NotebookNode:
    """The source notebook, with the same names of cells as the course's own."""
    cells = [
        new_markdown_cell("# Soft lookup"),
        new_code_cell("import numpy as np"),
        new_markdown_cell("Write softmax."),
        _marked(new_code_cell(SOLUTION), "softmax", solution=True),
    ]
    for name, test in TESTS.items():
        hidden = f"# hidden tests of softmax\n### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS"
        cells.append(_marked(new_code_cell(hidden), name, points=2))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _marked(cell: NotebookNode, name: str, solution: bool = False, points: int | None = None) -> NotebookNode:
    marks = {
        "grade_id": name,
        "grade": points is not None,
        "solution": solution,
        "locked": not solution,
        "schema_version": 3,
        "task": False,
    }
    cell.metadata["nbgrader"] = marks | ({} if points is None else {"points": points})
    return cell
