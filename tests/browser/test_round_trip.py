"""The whole way of an exercise in JupyterLab: Formgrader, Assignment List, Validate, marks and feedback.

Once with everything under the user of the tests, and once with an instructor and two students who are
different users of this machine, as on a shared JupyterHub: docs/jupyterhub.md describes that.
"""

from __future__ import annotations

import getpass
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import lab_driver
import pytest
from lab_driver import Lab
from playwright.sync_api import Browser, FrameLocator, Page, expect

import as_user
from course_lib.grading import sandbox
from marking import ROOT, Course, answers_of

pytestmark = [
    pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing())),
    pytest.mark.slow,
]
NAME = "07_limits_of_one_layer"
PATIENCE = 240_000  # milliseconds, for what starts kernels
ONE = {"instructor": None, "student": None}  # homes, and the users of this machine to whom they belong
SEVERAL = {user: user for user in (as_user.INSTRUCTOR, as_user.STUDENT, as_user.OTHER)}


@dataclass(frozen=True)
class Work:
    """A student's answers, whether the function is right, and what a person gives and says to the words."""

    words: str
    right: bool
    points: float
    said: str


WORK = (
    Work(
        "Each key depends on its token alone, so both texts have the same weights.",
        True,
        1.5,
        "Well seen; and what follows for the loss?",
    ),
    Work(
        "The sum of the values does not tell their order.", False, 0.5, "True, but which weights do they get?"
    ),
)


@dataclass(frozen=True)
class Seat:
    """Somebody at a JupyterLab: the name in the gradebook, the home, the server and a page of the browser."""

    user: str
    home: Path
    lab: Lab
    page: Page


@dataclass(frozen=True)
class Places:
    """The course, the exchange, who teaches, and students with what each of them will answer."""

    course: Course
    exchange: Path
    instructor: Seat
    students: list[tuple[Seat, Work]]


@pytest.fixture(scope="module", params=[ONE, SEVERAL], ids=["one user", "several users"])
def places(request: pytest.FixtureRequest, chromium: Browser) -> Iterator[Places]:
    users: Mapping[str, str | None] = request.param
    if users is SEVERAL and as_user.missing() is not None:
        pytest.skip(str(as_user.missing()))
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="round-trip-"))  # pytest's own folders are for one user alone
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o755)
        exchange = folder / "exchange"
        exchange.mkdir()
        exchange.chmod(0o777)
        line = f'c.Exchange.root = "{exchange}"\n'
        teacher, *names = users
        homes = {name: _home(folder, name, user) for name, user in users.items()}
        config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
        course = Course.make(homes[teacher] / "course", NAME, config=config + line)
        own = f'c = get_config()\nc.CourseDirectory.course_id = "one_layer_of_attention"\n{line}'
        for name in names:
            (homes[name] / "nbgrader_config.py").write_text(own, encoding="utf-8")
        instructor, *students = (
            _seat(stack, chromium, homes[name], course.folder if name == teacher else homes[name], user)
            for name, user in users.items()
        )
        yield Places(course, exchange, instructor, list(zip(students, WORK, strict=False)))


def _home(folder: Path, name: str, user: str | None) -> Path:
    if user is not None:
        return as_user.home_of(user, folder)
    (folder / name).mkdir()
    return folder / name


def _seat(stack: ExitStack, chromium: Browser, home: Path, served: Path, user: str | None) -> Seat:
    """Start a server, and open a page of its own: Formgrader's scripts complain now and then."""
    (home / "state").mkdir()
    if user is not None:
        as_user.give(user, home)
    lab = stack.enter_context(lab_driver.running_lab(served, home / "state", 240, user))
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    stack.callback(context.close)
    context.set_default_timeout(PATIENCE)
    return Seat(user or getpass.getuser(), home, lab, context.new_page())


def open_lab(seat: Seat, command: str) -> None:
    """Open JupyterLab, and choose an entry of its Nbgrader menu."""
    page = seat.page
    page.goto(f"{seat.lab.address}/lab?token={seat.lab.token}&reset")
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name=command, exact=True).click()


def formgrader(seat: Seat) -> FrameLocator:
    """Formgrader's list of assignments."""
    open_lab(seat, "Formgrader")
    return seat.page.frame_locator("iframe").last


def press(frame: FrameLocator, column: str, row: str = NAME) -> None:
    """Press a symbol in a row of Formgrader, and close the window that says it went well."""
    frame.locator("tbody tr", has_text=row).locator(f"td.{column} a").first.click()
    modal = frame.locator("#success-modal")
    modal.wait_for()
    modal.get_by_role("button", name="Close").last.click()
    modal.wait_for(state="detached")


def press_in_list(page: Page, button: str, section: str) -> None:
    """Press a button of the Assignment List, and wait until the exercise stands in a section."""
    page.get_by_role("button", name=button, exact=True).first.click()
    expect(page.locator(f"#{section}_assignments_list")).to_contain_text(NAME, timeout=PATIENCE)


def test_an_exercise_goes_out_comes_back_and_its_feedback_is_read(places: Places) -> None:
    press(formgrader(places.instructor), "release")
    for seat, work in places.students:
        open_lab(seat, "Assignment List")
        press_in_list(seat.page, "Fetch", "fetched")
        write_and_validate(seat, work, answers_of(places.course.source())["swap_tokens"])
        open_lab(seat, "Assignment List")
        press_in_list(seat.page, "Submit", "submitted")

    frame = formgrader(places.instructor)
    press(frame, "collect")
    frame.locator("tbody td.num-submissions a").click()
    for seat, _ in places.students:
        press(frame, "autograde", seat.user)
        status = frame.locator("tbody tr", has_text=seat.user).locator("td.status")
        expect(status).to_contain_text("needs manual grading")
    mark_by_hand(places)
    frame = formgrader(places.instructor)
    press(frame, "generate-feedback")
    press(frame, "release-feedback")

    for seat, work in places.students:
        read_feedback(seat, work)
    look_at_what_belongs_to_others(places)


def write_and_validate(seat: Seat, work: Work, solution: str) -> None:
    """Write one function and one answer in words; Validate names all checks that fail."""
    page = seat.page
    lab_driver.open_notebook(page, seat.lab, f"{NAME}/{NAME}.ipynb")
    wrong = solution.partition("    ###")[0] + "    return ids"
    lab_driver.type_into(page, "answer-swap-tokens", solution if work.right else wrong)
    page.evaluate(
        """([id, text]) => window.jupyterapp.shell.currentWidget.content.widgets
             .find((cell) => cell.model.id === id).model.sharedModel.setSource(text)""",
        ["by-order", work.words],
    )
    lab_driver.run_all(page, 240)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    said = lab_driver.press_validate(page, 240)
    assert ('check("swap_tokens"' in said) != work.right
    assert 'check("fourier_features", "ordinary")' in said
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")


def mark_by_hand(places: Places) -> None:
    """Give points for the first answer in words and none for the other, and say something."""
    page, lab = places.instructor.page, places.instructor.lab
    body = page.locator("body")
    for seat, work in places.students:
        page.goto(f"{lab.address}/formgrader/gradebook/{NAME}/{NAME}?token={lab.token}")
        row = page.locator(
            "tbody tr", has_text=seat.user
        )  # its name is there, though not to be seen at first
        row.locator("td.name a:visible").click()
        expect(body).to_contain_text(work.words)
        expect(body).to_contain_text("BEGIN MARK SCHEME")
        for name, points in {"by_order": f"{work.points}", "by_depth": "0"}.items():
            page.locator(f"input.score#{name}").fill(points)
            page.locator(f"input.score#{name}").press("Tab")
        page.locator("textarea#by_order-comment").fill(work.said)
        page.locator("textarea#by_order-comment").press("Tab")
        given = {"by_order": (work.points, False), "by_depth": (0.0, False)}
        for _ in range(120):  # Formgrader saves in the background, and what leaves the page too early is lost
            page.wait_for_timeout(500)
            if places.course.in_words(seat.user) == given:
                break
        assert places.course.in_words(seat.user) == given
        page.wait_for_function("() => !document.querySelector('.glyphicon-refresh')")


def read_feedback(seat: Seat, work: Work) -> None:
    """Fetch the page of feedback and open it, as its student's own server gives it out."""
    page = seat.page
    open_lab(seat, "Assignment List")
    page.get_by_role("button", name="Fetch Feedback").first.click()
    expect(page.locator("#submitted_assignments_list")).to_contain_text("view feedback", timeout=PATIENCE)
    path = feedback_of(seat).relative_to(seat.home).as_posix()
    page.goto(f"{seat.lab.address}/files/{path}?token={seat.lab.token}")
    read = page.locator("body").inner_text()
    assert f"swap_tokens: {2 if work.right else 0} of 2 points" in read
    assert [each.said for each in WORK if each.said in read] == [work.said]
    assert "MARK SCHEME" not in read


def feedback_of(seat: Seat) -> Path:
    """The one page of feedback that a student has."""
    (page,) = seat.home.rglob(f"feedback/**/{NAME}.html")
    return page


def look_at_what_belongs_to_others(places: Places) -> None:
    """Every student can read the own page on the disk, and nothing of the course or of another student."""
    if len(places.students) == 1:
        return
    exchange = places.exchange / "one_layer_of_attention"
    for seat, _ in places.students:
        assert as_user.sees(seat.user, seat.home, feedback_of(seat))
        closed = [places.course.folder, places.course.folder / "gradebook.db", exchange / "feedback"]
        for other, _ in places.students:
            if other is not seat:
                (submission,) = exchange.glob(f"inbound/{other.user}+*")
                closed += [other.home / NAME / f"{NAME}.ipynb", feedback_of(other), submission.parent]
        assert [path for path in closed if as_user.sees(seat.user, seat.home, path)] == []
