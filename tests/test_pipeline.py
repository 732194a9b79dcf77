"""From the source to the exported marks with nbgrader's own commands and a real gradebook.

Five submissions to each assignment: the solution, the untouched release, one half done, one with one
mistake in its first function, and one with a syntax error in its last. Answers in words, which a person
marks, stand in the solution; one stands in the half that is done.
"""

from __future__ import annotations

import copy
import re

import pytest

from course_lib.checks.assignments import MODULES, load
from marking import Course, answered, answers_of, phrases, schemes_of, words_of

STUDENTS = ("half", "mistake", "solution", "syntax", "untouched")
# One ordinary mistake in the first function of each assignment, on which later functions build.
MISTAKES = {
    "01_soft_lookup": (
        "def softmax(scores):\n    return np.exp(scores) / np.exp(scores).sum(axis=0, keepdims=True)",
        "Which axis",
    ),
    "02_queries_keys_values": (
        "def project(X, W_q, W_k, W_v):\n    return X @ W_k, X @ W_k, X @ W_v",
        "project: 0 of",
    ),
    "03_scaling": (
        "def score_spread(d_k, n_pairs, rng):\n"
        "    q, k = rng.standard_normal((2, n_pairs, d_k))\n"
        "    products = (q * k).sum(axis=1)\n"
        "    return products.var(), products.var() / d_k",
        "score_spread: 0 of",
    ),
    "04_masking": (
        "def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).tril(-1)",
        "May a query see its own token?",
    ),
    "05_multi_head": (
        "def split_heads(X, num_heads):\n"
        "    B, L, D = X.shape\n"
        "    return X.reshape(B, num_heads, L, D // num_heads)",
        "its second row is the second piece of token 0",
    ),
    "06_colour_recall": (
        "def encode(text, vocabulary):\n    return [list(vocabulary).index(token) for token in text.split()]",
        "You number the tokens yourself",
    ),
    "07_limits_of_one_layer": (
        "def swap_tokens(ids, first, second):\n"
        "    one, other = ids[first], ids[second]\n"
        "    return [other if each == one else one if each == other else each for each in ids]",
        "Do two positions change places, or two ids?",
    ),
}
MY_WORDS = "Each of my keys depends on its token alone."


@pytest.fixture(scope="module", params=MODULES)
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The assignment, generated, submitted to by five students, marked, and with feedback."""
    name = request.param
    made = Course.make(tmp_path_factory.mktemp("course") / name, name)
    answers = answers_of(made.source())
    functions = list(answers)
    half = {function: answers[function] for function in functions[: len(functions) // 2]}
    half |= dict.fromkeys(list(words_of(made.source()))[:1], MY_WORDS)
    made.submit("solution", made.source())
    made.submit("untouched", made.release())
    made.submit("half", answered(made.release(), half))
    made.submit("mistake", answered(made.release(), answers | {functions[0]: MISTAKES[name][0]}))
    made.submit(
        "syntax", answered(made.release(), answers | {functions[-1]: f"def {functions[-1]}(:\n    pass"})
    )
    said = made.run("autograde", name)
    assert "Warning" not in said.stderr
    assert "not recognized" not in made.run("generate_feedback", name).stderr
    return made


def _possible(name: str) -> dict[str, float]:
    return {each.function: float(sum(b.points for b in each.behaviours)) for each in load(name).exercises}


def _in_words(course: Course) -> dict[str, float]:
    """The points of each answer in words."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in course.source().cells]
    return {each["grade_id"]: each["points"] for each in marks if each.get("grade") and each["solution"]}


def test_every_assignment_has_twenty_points(course: Course) -> None:
    automatic, others = _possible(course.assignment), _in_words(course)
    assert sum(automatic.values()) + sum(others.values()) == 20
    assert course.max_score() == 20


def test_each_function_costs_its_own_points_only(course: Course) -> None:
    possible = _possible(course.assignment)
    functions = list(possible)
    none = dict.fromkeys(functions, 0.0)
    half = dict(list(possible.items())[: len(functions) // 2])
    assert course.functions() == {
        "solution": possible,
        "untouched": none,
        "half": none | half,
        "mistake": possible | {functions[0]: 0.0},
        "syntax": possible | {functions[-1]: 0.0},
    }


def test_the_exported_marks_are_those_of_the_gradebook(course: Course) -> None:
    scores = {student: sum(points.values()) for student, points in course.functions().items()}
    assert course.exported() == scores
    assert scores["solution"] == sum(_possible(course.assignment).values())
    assert scores["untouched"] == 0


def test_an_answer_in_words_waits_for_a_person_and_none_gets_no_points(course: Course) -> None:
    names = list(_in_words(course))
    assert len(names) == (2 if course.assignment == "07_limits_of_one_layer" else 0)
    assert course.in_words("solution") == dict.fromkeys(names, (0.0, True))
    assert course.in_words("untouched") == dict.fromkeys(names, (0.0, False))
    assert course.in_words("half") == {name: (0.0, name == names[0]) for name in names}


def test_a_person_who_marks_sees_the_students_words_and_the_mark_scheme(course: Course) -> None:
    marked = course.marked("half")
    assert schemes_of(marked) == schemes_of(course.source())
    assert len(schemes_of(marked)) == len(_in_words(course))
    assert list(words_of(marked).values())[:1] == [MY_WORDS] * bool(_in_words(course))


def test_a_comment_stands_beside_each_answer_and_names_the_mistake(course: Course) -> None:
    comments = course.comments("mistake")
    functions = list(_possible(course.assignment))
    assert set(comments) == set(functions) | set(_in_words(course))
    assert {comments[name] for name in _in_words(course)} <= {"No response."}
    assert {course.comments("solution")[name] for name in _in_words(course)} <= {None}
    assert MISTAKES[course.assignment][1] in comments[functions[0]]
    assert f"{functions[0]} is not written yet" in course.comments("untouched")[functions[0]]
    said = course.comments("syntax")[functions[-1]]
    ended = rf"There is no {functions[-1]}: its cell ended with SyntaxError: [^()]* \(line \d+\)\."
    assert re.search(ended, said)


def test_feedback_shows_sentences_and_nothing_of_tests_references_or_our_tracebacks(course: Course) -> None:
    first = next(iter(_possible(course.assignment)))
    secret_lines = {
        line.strip()
        for source in answers_of(course.source()).values()
        for solution in re.findall(r"### BEGIN SOLUTION(.*?)### END SOLUTION", source, flags=re.DOTALL)
        for line in solution.splitlines()
        if len(line.strip()) > 25
    }
    for student in set(STUDENTS) - {"solution"}:
        page = course.feedback(student)
        for ours in (
            "HIDDEN TESTS",
            "MARK SCHEME",
            "check.collect",
            "answer(&#39;",
            "stand_ins",
            "course_lib/checks",
            "a fixed secret",
        ):
            assert ours not in page, (student, ours)
    page = course.feedback("untouched")
    assert f"{first} is not written yet" in page
    secret_lines |= {each for scheme in schemes_of(course.source()) for each in phrases(scheme)}
    secret_lines |= {each for words in words_of(course.source()).values() for each in phrases(words)}
    assert not [line for line in secret_lines if line in page]


@pytest.mark.parametrize("course", ["01_soft_lookup", "07_limits_of_one_layer"], indirect=True)
def test_marking_again_gives_the_same_marks(course: Course) -> None:
    before = course.points(), course.comments("mistake")
    course.run("autograde", course.assignment, "--force", "--student=mistake")
    assert (course.points(), course.comments("mistake")) == before


STOCK = """
c = get_config()
c.CourseDirectory.course_id = "one_layer_of_attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
"""


def test_stock_marking_gives_no_points_and_says_so(tmp_path) -> None:
    course = Course.make(tmp_path / "stock", "01_soft_lookup", config=STOCK)
    course.submit("solution", copy.deepcopy(course.source()))
    course.run("autograde", course.assignment)
    course.run("generate_feedback", course.assignment)
    assert set(course.points()["solution"].values()) == {0.0}
    assert "No points: this cell is marked by the course" in course.feedback("solution")
