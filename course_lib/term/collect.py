"""Put what a class handed in on a learning platform where nbgrader looks for it.

submitted/STUDENT/ASSIGNMENT/ gets the notebook of the latest attempt and, where it is known when that came,
nbgrader's timestamp.txt. What was there before is moved to submitted_before/, never lost.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.finding import is_called

from .archives import Member, read_archive
from .platforms import METADATA, PLATFORMS, Entry, parse_time
from .roster import Roster, Student

SUBMITTED, BEFORE = "submitted", "submitted_before"
TIMESTAMP = "timestamp.txt"
TIME_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"


@dataclass
class Attempt:
    """What one student handed in at one time: files with the names they had there. order: of the archives."""

    student: Student
    order: int
    time: datetime | None = None
    late: bool = False
    files: list[tuple[str, Member]] = field(default_factory=list)


@dataclass
class Report:
    """What became of everything in the archives, as lines; `done` has a line for each student."""

    done: dict[str, str] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    undated: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    with_refused: set[str] = field(default_factory=set)


def collect(
    root: Path,
    assignment: str,
    archives: Sequence[Path],
    platform: str,
    roster: Roster,
    *,
    due: datetime | None = None,
    archive_times: bool = False,
) -> Report:
    """Write the latest attempt of everybody.

    Parameters: archives, the later one last; due, when the assignment was due, for a platform that tells only
    that something is late; archive_times, whether a file's time in the archive is when it was handed in.
    Raises: CourseError where an archive cannot be read; nothing has been written then.
    """
    report = Report()
    attempts: dict[str, list[Attempt]] = {}
    for order, path in enumerate(archives):
        for attempt in read_attempts(path, order, PLATFORMS[platform], roster, archive_times, report):
            attempts.setdefault(attempt.student.id, []).append(attempt)
    for id, tried in sorted(attempts.items()):
        latest = max(tried, key=_age(tried))
        earlier = [member for each in tried if each is not latest for _, member in each.files]
        report.aside += [f"{id}: {member.path} (an earlier attempt)" for member in earlier]
        member = choose(latest, assignment, report)
        if latest.time is None and latest.late and due is not None:
            latest.time = due + timedelta(seconds=1)  # that it was late is known, not how much
        if latest.time is None and latest.late:
            report.undated.append(id)
        report.done[id] = write(root, id, assignment, member, latest.time)
        if latest.late or (latest.time and due and latest.time > due):
            report.done[id] += ", late"
    report.absent = sorted(set(roster.students) - set(attempts) - report.with_refused)
    return report


def read_attempts(
    path: Path,
    order: int,
    read: Callable[[Sequence[Member]], list[Entry]],
    roster: Roster,
    archive_times: bool,
    report: Report,
) -> list[Attempt]:
    """The attempts in one archive, by student and by what the platform takes for one; others are reported."""
    members = list(read_archive(path))
    try:
        entries = read(members)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None
    found: dict[tuple[str, str], Attempt] = {}
    for member, entry in zip(members, entries, strict=True):
        students = [student for clues in entry.clues if (student := roster.find(clues)) is not None]
        if member.refused:
            report.with_refused |= {each.id for each in students}
            whose = ", ".join(each.id for each in students) or "nobody known"
            report.refused.append(f"{path.name}: {shown(member.path)} ({whose}): {member.refused}")
            continue
        if member.name == METADATA:
            continue
        if len(students) < len(entry.clues):
            report.unmatched.append(f"{path.name}: {shown(member.path)}")
        for student in students:
            attempt = found.setdefault((student.id, entry.attempt), Attempt(student, order))
            time = entry.time or (member.time if archive_times else parse_time(student.time))
            attempt.time = max(filter(None, [attempt.time, time]), default=None)
            attempt.late = attempt.late or entry.late
            attempt.files.append((entry.name, replace(member, path=shown(member.path))))
    return list(found.values())


def choose(attempt: Attempt, assignment: str, report: Report) -> tuple[str, bytes]:
    """The file that counts, under the name to write it as; the others are reported.

    Of several notebooks it is the one called like the assignment, then the newest, then the last one.
    Where there is no notebook, it is whatever was handed in: marking says what is wrong with it.
    """

    def rank(place: int) -> tuple[bool, bool, bool, datetime, int]:
        name, member = attempt.files[place]
        stem, _, suffix = name.rpartition(".")
        called = (
            suffix.lower() == "ipynb",
            name == f"{assignment}.ipynb",
            is_called(stem or suffix, assignment),
        )
        return (*called, member.time or datetime.min.replace(tzinfo=UTC), place)

    best = max(range(len(attempt.files)), key=rank)
    report.aside += [
        f"{attempt.student.id}: {member.path} (another file counts)"
        for place, (_, member) in enumerate(attempt.files)
        if place != best
    ]
    name, member = attempt.files[best]
    if name.lower().endswith(".ipynb"):
        return f"{assignment}.ipynb", member.data
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".")[-80:] or "file", member.data


def write(root: Path, id: str, assignment: str, file: tuple[str, bytes], time: datetime | None) -> str:
    """Put one submission in its place, as nbgrader's own collecting does. Returns: what was done, in words.

    The folder is complete when it appears.
    """
    target = root / SUBMITTED / id / assignment
    wanted = dict([file])
    if time is not None:
        wanted[TIMESTAMP] = time.strftime(TIME_FORMAT).encode()
    there = (
        {each.name: each.read_bytes() for each in target.iterdir() if each.is_file()}
        if target.is_dir()
        else {}
    )
    if there == wanted:
        return "unchanged"
    before = parse_time(there.get(TIMESTAMP, b"").decode("utf-8", "replace"))
    if before is not None and time is not None and before > time:
        return "unchanged: what is there is newer"
    target.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=".collecting-", dir=root / SUBMITTED))
    try:
        for name, data in wanted.items():
            (new / name).write_bytes(data)
        new.chmod(0o755)
        kept = _put_aside(root, id, assignment) if target.exists() else None
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return f"replaced; before: {kept}" if kept else "new"


def shown(path: str) -> str:
    """A path from an archive, as it may stand in a line."""
    return "".join(letter if letter.isprintable() else "?" for letter in path[:200])


def _put_aside(root: Path, id: str, assignment: str) -> str:
    kept = next(
        folder
        for number in count(1)
        if not (folder := root / BEFORE / id / assignment / str(number)).exists()
    )
    kept.parent.mkdir(parents=True, exist_ok=True)
    (root / SUBMITTED / id / assignment).rename(kept)
    return kept.relative_to(root).as_posix()


def _age(attempts: Sequence[Attempt]) -> Callable[[Attempt], tuple[datetime, int]]:
    """How to order attempts: by time where all have one, else by the order of the archives."""
    dated = all(attempt.time is not None for attempt in attempts)
    never = datetime.min.replace(tzinfo=UTC)
    return lambda attempt: ((attempt.time or never) if dated else never, attempt.order)
