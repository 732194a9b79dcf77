"""How learning platforms name the files in the archive of an assignment's submissions.

- Moodle ("Download all submissions"): a folder `Full Name_NUMBER_assignsubmission_file` for each student, in
  older versions with a _ at the end; without folders, the same in front of each file's name. NUMBER is the
  participant's, which the grading worksheet calls Identifier; with anonymous marking the name is Participant.
  Files carry the time of the download, so when they were handed in comes from the worksheet.
- Canvas ("Download Submissions"): `lastnamefirstname_USER_FILE_name.ipynb`, with LATE_ in front of USER for
  what came late; USER is the ID of the gradebook's export. Files carry the time of the download.
- Gradescope ("Export Submissions"): a folder `submission_NUMBER` for each submission, and
  submission_metadata.yml with names, e-mails, student ids and the time of each.
- Google Classroom: the assignment's folder in Drive, downloaded. Copies made for each student are called
  `Full Name - title.ipynb`; other files have the name that the student gave them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from course_lib.errors import CourseError

from .archives import Member
from .roster import Clues

METADATA = "submission_metadata.yml"
MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_[a-z]+(?:_(?P<rest>.*))?")
CANVAS = re.compile(
    r"(?P<name>.+?)_(?:(?P<late>LATE)_)?(?P<number>\d+)_(?:\d+_(?P<rest>.+)|(?:text|link)\.html)"
)


@dataclass(frozen=True)
class Entry:
    """Who handed a file in, what they called it, which attempt it belongs to, and when it came, if told.

    clues: one for each member of a group.
    """

    clues: Sequence[Clues]
    name: str
    attempt: str = ""
    late: bool = False
    time: datetime | None = None


def moodle(members: Sequence[Member]) -> list[Entry]:
    """What each file's path tells."""
    return [_moodle(member) for member in members]


def canvas(members: Sequence[Member]) -> list[Entry]:
    """What each file's path tells."""
    return [_canvas(member) for member in members]


def google(members: Sequence[Member]) -> list[Entry]:
    """What each file's path tells; Drive's archives carry the time of a file's last change."""
    return [
        Entry([Clues(names=_around_hyphens(member), words=member.path)], member.name, time=member.time)
        for member in members
    ]


def gradescope(members: Sequence[Member]) -> list[Entry]:
    """What the archive's own list tells about each folder. Raises: CourseError where the list is missing."""
    lists = [each.data for each in members if each.name == METADATA and not each.refused]
    if not lists:
        raise CourseError(f"no {METADATA} in the archive; export the submissions from Gradescope again")
    submissions = _metadata(lists[0])
    return [_gradescope(member, submissions) for member in members]


PLATFORMS: dict[str, Callable[[Sequence[Member]], list[Entry]]] = {
    "moodle": moodle,
    "canvas": canvas,
    "gradescope": gradescope,
    "google": google,
}


def _moodle(member: Member) -> Entry:
    for part in member.path.split("/"):
        if found := MOODLE.fullmatch(part):
            name = found["name"]
            names = [name, name.partition("-")[2]]  # a group's name may stand in front, with a hyphen
            clues = Clues(number=found["number"], names=names, words=f"{name} {found['rest'] or ''}")
            own = found["rest"] if part == member.name and found["rest"] else member.name
            return Entry([clues], own)
    return Entry([Clues(words=member.path)], member.name)


def _canvas(member: Member) -> Entry:
    first, _, inside = member.path.partition("/")
    found = CANVAS.fullmatch(first)
    if found is None:
        return Entry([Clues(words=first)], member.name)
    own = found["rest"] or first
    clues = Clues(number=found["number"], names=[found["name"]], words=own)
    return Entry([clues], member.name if inside else own, late=bool(found["late"]))


def _gradescope(member: Member, submissions: dict[str, Any]) -> Entry:
    key = next((part for part in member.path.split("/") if part in submissions), None)
    if key is None:
        return Entry([Clues()], member.name)
    told = submissions[key]
    people = told.get(":submitters") or [{}]
    clues = [
        Clues(
            emails=[str(each.get(":email") or "")],
            ids=[str(each.get(":sid") or "")],
            names=[str(each.get(":name") or "")],
        )
        for each in people
    ]
    return Entry(clues, member.name, attempt=key, time=parse_time(told.get(":created_at")))


def _metadata(data: bytes) -> dict[str, Any]:
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Takes what Ruby tags as its own for plain data."""

    Loader.add_multi_constructor("!", _untagged)
    try:
        found = yaml.load(data, Loader=Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise CourseError(f"{METADATA} cannot be read ({str(error).splitlines()[0]})") from None
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise CourseError(f"{METADATA} does not list submissions")
    return {str(key): value for key, value in found.items()}


def _untagged(loader: Any, tag: str, node: Any) -> Any:
    construct = {"mapping": loader.construct_mapping, "sequence": loader.construct_sequence}
    return construct.get(node.id, loader.construct_scalar)(node)


def parse_time(told: Any) -> datetime | None:
    """A time as a platform writes it, in UTC; without a zone it is this machine's. None for what is no time.

    >>> parse_time("2026-03-01 22:59:00.5 Z").isoformat()
    '2026-03-01T22:59:00.500000+00:00'
    >>> parse_time("Sunday, 1 March 2026, 10:59 PM").minute
    59
    >>> parse_time("-") is None
    True
    """
    if isinstance(told, dict):  # Ruby's time with a zone
        told = told.get("utc")
    if isinstance(told, datetime):
        return told.replace(tzinfo=told.tzinfo or UTC).astimezone(UTC)  # YAML's times are in UTC
    text = re.sub(r"\s+", " ", str(told or "")).strip()
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    try:
        return datetime.fromisoformat(re.sub(r" (Z|UTC)$", "+00:00", text)).astimezone(UTC)
    except ValueError:
        pass
    for form in ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S %z"):
        try:
            return datetime.strptime(text, form).astimezone(UTC)
        except ValueError:
            pass
    return None


def _around_hyphens(member: Member) -> list[str]:
    """The parts of a file's name and of its folders, of which one may be a person's name."""
    stems = [re.sub(r"\.\w+$", "", part) for part in member.path.split("/")]
    return [part for stem in stems for part in re.split(r" [-–] ", stem)]
