"""Give feedback back through nbgrader's exchange, however it was marked.

A page goes out under a name that only the student's own copy of the submission tells: a digest of the secret
that came with it. nbgrader carries that file along from folder to folder, and stops for the whole class where
one student's is missing, as after collecting from a learning platform. Here it is taken from what was handed
in, and who did not hand in through the exchange is left out.
"""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from course_lib.grading.timestamp import NAME as TIMESTAMP
from course_lib.grading.timestamp import read_small

SECRET = "submission_secret.txt"


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Named in nbgrader_config.py, for `nbgrader release_feedback` and Formgrader's button."""

    def copy_files(self) -> None:
        """Release the pages of those who handed in through the exchange, and name the others."""
        before = self.coursedir.student_id_exclude
        left_out = [folder.parent.name for folder in self._folders() if not self._complete(folder)]
        if left_out:
            names = ", ".join(left_out)
            self.log.warning("handed in otherwise, so give them their feedback there: %s", names)
        try:
            self.coursedir.student_id_exclude = ",".join([*filter(None, [before]), *left_out])
            super().copy_files()
        finally:
            self.coursedir.student_id_exclude = before

    def _folders(self) -> list[Path]:
        return sorted({Path(page).parent for page in glob.glob(f"{self.src_path}/*.html")})

    def _complete(self, folder: Path) -> bool:
        """Put the time of the submission and its secret beside a page. Returns: whether both are known."""
        time = self._time(folder)
        secret = None if time is None else self._secret(f"{folder.parent.name}+{folder.name}+{time}+")
        if time is None or secret is None:
            return False
        (folder / TIMESTAMP).write_text(time, encoding="utf-8")
        (folder / SECRET).write_text(secret, encoding="utf-8")
        return True

    def _time(self, folder: Path) -> str | None:
        """When what was marked had been handed in."""
        course = self.coursedir
        places = [
            Path(course.format_path(each, folder.parent.name, folder.name))
            for each in (course.autograded_directory, course.submitted_directory)
        ]
        return next((time.strip() for place in places if (time := _read(place / TIMESTAMP))), None)

    def _secret(self, begin: str) -> str | None:
        """The secret of the submission whose folder's name begins so."""
        handed_in = Path(self.course_path, "inbound").glob(f"{glob.escape(begin)}*/{SECRET}")
        return next((secret for path in sorted(handed_in) if (secret := _read(path))), None)


def _read(path: Path) -> str | None:
    """The text of a small ordinary file; students write to where it lies."""
    try:
        return (read_small(path) or b"").decode("utf-8") or None
    except UnicodeDecodeError:
        return None
