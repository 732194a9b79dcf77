"""Feedback goes out to those who handed in through nbgrader's exchange; the others do not stop it."""

import logging
import os

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import notebook_hash
from traitlets.config import Config

from course_lib.term.exchange import ReleaseFeedback

TIME = "2026-03-01 10:00:00.000000 UTC"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def released(tmp_path, caplog):
    """What is in the exchange, by name, after releasing the feedback of three students."""
    course, exchange = tmp_path / "course", tmp_path / "exchange"
    for student in ("by-exchange", "by-platform", "sly"):
        put(course / "feedback" / student / "a1" / "a1.html", f"of {student}")
        put(course / "autograded" / student / "a1" / "timestamp.txt", f"{TIME}\n")
    inbound = exchange / "x" / "inbound"
    put(inbound / f"by-exchange+a1+{TIME}+random" / "submission_secret.txt", "secret")
    put(inbound / "by-exchange+a1+2026-02-01 10:00:00.000000 UTC+random" / "submission_secret.txt", "older")
    put(tmp_path / "private", "of the instructor")
    (inbound / f"sly+a1+{TIME}+random").mkdir()
    os.symlink(tmp_path / "private", inbound / f"sly+a1+{TIME}+random" / "submission_secret.txt")
    exchange.chmod(0o777)
    config = Config(CourseDirectory={"root": str(course), "course_id": "x", "assignment_id": "a1"})
    config.Exchange.root = str(exchange)
    plugin = ReleaseFeedback(coursedir=CourseDirectory(config=config), config=config)
    plugin.log = logging.getLogger("release")
    plugin.start()
    assert plugin.coursedir.student_id_exclude == ""
    pages = {path.stem: path.read_text() for path in (exchange / "x" / "feedback").glob("*.html")}
    return pages, caplog.text


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # nbgrader's own
@pytest.mark.skipif(os.name != "posix", reason="nbgrader's exchange needs the rights of Unix")
def test_a_page_goes_out_under_the_secret_of_what_was_marked_and_others_are_named(released):
    pages, said = released
    assert pages == {notebook_hash(secret="secret", notebook_id="a1"): "of by-exchange"}
    assert "give them their feedback there: by-platform, sly" in said
