"""The class list: who is who, under the names that learning platforms use."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError

# The columns that are looked for, by every heading that nbgrader and the platforms' own exports give them.
HEADINGS = {
    "id": ("id", "id number", "sis user id", "sid", "student id"),
    "first": ("first_name", "first name", "given name"),
    "last": ("last_name", "last name", "surname", "family name"),
    "name": ("name", "full name", "student"),
    "email": ("email", "email address", "e-mail"),
    "login": ("login", "username", "sis login id"),
    "number": ("lms_user_id", "identifier"),
    "time": ("submitted_at", "last modified (submission)"),
    "graded": ("last modified (grade)",),
}
BAD_ID = re.compile(r"^[.=+@~-]|[/\\*?\[\]<>|:\"\x00-\x1f]|[. ]$")
SHORTEST = 3  # letters of a login that is looked for inside a file's name


@dataclass(frozen=True)
class Student:
    """One student. id is nbgrader's; number the one by which a platform knows the student or participant.

    identifier: the cell that the number stands in, "Participant 12"; graded: when Moodle changed the grade.
    """

    id: str
    name: str = ""
    email: str = ""
    login: str = ""
    number: str = ""
    time: str = ""
    identifier: str = ""
    graded: str = ""


@dataclass(frozen=True)
class Clues:
    """What a platform tells about who handed a file in; words is anything that may hold a login."""

    number: str = ""
    emails: Sequence[str] = ()
    ids: Sequence[str] = ()
    names: Sequence[str] = ()
    words: str = ""


@dataclass(frozen=True)
class Roster:
    """The students of a class, by id."""

    students: Mapping[str, Student]
    _names: dict[str, set[str]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for student in self.students.values():
            for key in name_keys(student.name):
                self._names.setdefault(key, set()).add(student.id)

    def find(self, clues: Clues) -> Student | None:
        """The one student whom the strongest clue means; None where there is none, or more than one."""
        everyone = self.students.values()
        tests = (
            [each.id for each in everyone if each.email and each.email.casefold() in _folded(clues.emails)],
            [each.id for each in everyone if each.id.casefold() in _folded(clues.ids)],
            [each.id for each in everyone if each.login and each.login.casefold() in _folded(clues.ids)],
            [each.id for each in everyone if clues.number and each.number == clues.number],
            [id for name in clues.names for id in self._names.get(plain(name), ())],
            [each.id for each in everyone if clues.words and _is_in(each, clues.words)],
        )
        found = next((set(ids) for ids in tests if ids), set())
        return self.students[found.pop()] if len(found) == 1 else None


def read_roster(path: Path) -> Roster:
    """The roster in a CSV file: nbgrader's format (id, first_name, last_name, email, lms_user_id), with a
    column `login` where there are logins, or what Moodle, Canvas or Gradescope export.

    Raises: CourseError with the line that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        separator = ";" if text.split("\n", 1)[0].count(";") > text.split("\n", 1)[0].count(",") else ","
        rows = list(csv.reader(text.splitlines(), delimiter=separator, strict=True))
    except FileNotFoundError:
        raise CourseError(f"{path}: no such file; the roster is a CSV with a line for each student") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path}: not a CSV file in UTF-8 ({error})") from None
    columns = _columns(rows[0] if rows else [])
    if not {"id", "email", "login"} & columns.keys():
        raise CourseError(f"{path}: none of its headings is id, email or login")
    students: dict[str, Student] = {}
    for line, row in enumerate(rows[1:], start=2):
        cells = {key: row[at].strip() for key, at in columns.items() if at < len(row)}
        if not any(cells.values()) or cells.get("name", "").casefold() == "points possible":
            continue
        student = _student(cells)
        if not student.id or BAD_ID.search(student.id):
            raise CourseError(f"{path}, line {line}: {student.id!r} cannot be a student's id")
        if student.id in students:
            raise CourseError(f"{path}, line {line}: {student.id} is there twice")
        students[student.id] = student
    if not students:
        raise CourseError(f"{path}: no student in it")
    return Roster(students)


def plain(text: str) -> str:
    """Letters and digits alone, without accents and capitals.

    >>> plain("Zoë O’Brien-Müller")
    'zoeobrienmuller'
    """
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def name_keys(name: str) -> set[str]:
    """The ways in which a name may be written: from any of its words on, and round.

    >>> sorted(name_keys("Ann Mary Lee"))
    ['annmarylee', 'leeannmary', 'maryleeann']
    """
    words = [word for word in map(plain, re.split(r"[\s,]+", name)) if word]
    return {"".join(words[start:] + words[:start]) for start in range(len(words))}


def _columns(headings: list[str]) -> dict[str, int]:
    present = {heading.strip().casefold(): at for at, heading in enumerate(headings)}
    if "sis user id" in present and "id" in present:  # Canvas calls its own number ID
        present["lms_user_id"] = present.pop("id")
    found = {key: [present[each] for each in names if each in present] for key, names in HEADINGS.items()}
    return {key: places[0] for key, places in found.items() if places}


def _student(cells: Mapping[str, str]) -> Student:
    login, email, identifier = (cells.get(key, "") for key in ("login", "email", "number"))
    digits = re.search(r"\d+$", identifier)  # the word in front is in Moodle's language
    return Student(
        id=cells.get("id") or login or email,
        name=cells.get("name") or f"{cells.get('first', '')} {cells.get('last', '')}".strip(),
        email=email,
        login=login,
        number=digits[0] if digits else identifier,
        time=cells.get("time", ""),
        identifier=identifier,
        graded=cells.get("graded", ""),
    )


def _folded(words: Iterable[str]) -> set[str]:
    return {word.strip().casefold() for word in words if word}


def _is_in(student: Student, text: str) -> bool:
    """Whether the id, login or e-mail stands in a text, not inside a longer word or number."""
    words = [each for each in (student.id, student.login, student.email) if len(each) >= SHORTEST]
    return any(
        re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text, flags=re.IGNORECASE) for word in words
    )
