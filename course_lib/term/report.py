"""What a class's marks for one assignment tell the person who teaches it, as data."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from course_lib.checks.assignments import load
from course_lib.errors import CourseError

from . import alike, chapters, newer
from .chapters import Section
from .items import Item, item
from .marks import Marks, read_marks
from .named import UNWRITTEN, Named, Names, names_of, sentences, without_numbers
from .taught import TAUGHT
from .teach import Shown, Teach, teach_again

WHEN = {  # how long before the due date work came, at least
    "more than a week before": timedelta(days=7),
    "2 to 7 days before": timedelta(days=2),
    "1 to 2 days before": timedelta(days=1),
    "1 to 24 hours before": timedelta(hours=1),
    "in the last hour": timedelta(),
    "up to a day late": timedelta(days=-1),
    "later": timedelta.min,
}


@dataclass(frozen=True)
class Report:
    """Everything about one assignment. points: each student's, after the penalty for lateness.

    unnamed: by function and sentence, numbers left out, how many were told it where no known mistake was
    recognised. unwritten: by function, how many did not write it. handed_in: how many came when; empty where
    the due date or the times are not known. waiting: students who wait for a person in some answer; all that
    has points counts nevertheless. unmarked: those whose marking came to no end, and unreadable: those whose
    file could not be read; neither counts. newer: those who handed in what is not marked yet.
    """

    assignment: str
    title: str
    max_points: float
    points: Mapping[str, float]
    items: tuple[Item, ...]
    mistakes: tuple[Shown, ...]
    unnamed: Mapping[tuple[str, str], int]
    unwritten: Mapping[str, int]
    handed_in: Mapping[str, int]
    alike: tuple[alike.Alike, ...]
    teach: tuple[Teach, ...]
    waiting: tuple[str, ...]
    unmarked: tuple[str, ...]
    unreadable: tuple[str, ...]
    newer: tuple[str, ...] = ()

    @property
    def summary(self) -> dict[str, float]:
        """Number of students, mean, median, quartiles and extremes of the points."""
        points = sorted(self.points.values())
        low, middle, high = (
            statistics.quantiles(points, n=4, method="inclusive") if len(points) > 1 else points * 3
        )
        return {
            "students": len(points),
            "mean": statistics.fmean(points),
            "lowest": points[0],
            "lower quartile": low,
            "median": middle,
            "upper quartile": high,
            "highest": points[-1],
        }


def report(root: Path, assignment: str) -> Report:
    """The report on an assignment. Raises: CourseError where nobody has been marked."""
    marks = read_marks(root, [assignment])
    if not any(each.marked and not each.unreadable for each in marks):
        raise CourseError(f"nobody has been marked with a file that could be read: course mark {assignment}")
    exercises = load(assignment).exercises
    functions = [exercise.function for exercise in exercises]
    codes = {each.student: alike.answers(root, assignment, each.student, functions) for each in marks}
    found = made(marks, codes, names_of(root, assignment), chapters.sections(root, assignment))
    return replace(found, newer=tuple(newer.not_marked(root, assignment)))


def made(
    marks: Sequence[Marks],
    codes: Mapping[str, Mapping[str, str]],
    names: Names,
    sections: Mapping[str, Section],
) -> Report:
    """The report on marks of one assignment, of which some came to their end.

    Parameters: codes, by student the text of each function's cell; names, the known mistakes; sections, those
    of the chapter by their cells' ids.
    """
    unmarked = tuple(sorted(each.student for each in marks if not each.marked))
    unreadable = tuple(sorted(each.student for each in marks if each.unreadable))
    marks = [each for each in marks if each.marked and not each.unreadable]
    assignment = load(marks[0].assignment)
    taught = TAUGHT[assignment.name]
    lost = {each.student: _lost(each) for each in marks}
    told, unnamed, unwritten = _told(marks, names, lost)
    shown = [
        Shown(named, tuple(sorted(who)), sections[taught.section_of(named.function, named.ids)])
        for named, who in told.items()
    ]
    mistakes = sorted(shown, key=lambda each: (-len(each.students), each.named.ids))
    titles = {
        f"{exercise.function}-{each.slug}": each.title
        for exercise in assignment.exercises
        for each in exercise.behaviours
    }
    present = {question.cell for each in marks for question in each.questions}
    cells = [*(cell for cell in titles if cell in present), *sorted(present - titles.keys())]
    return Report(
        assignment=assignment.name,
        title=assignment.title,
        max_points=max(each.max_points for each in marks),
        points={each.student: each.points for each in marks},
        items=tuple(item(marks, cell, titles.get(cell, "in words")) for cell in cells),
        mistakes=tuple(mistakes),
        unnamed=dict(sorted(unnamed.items(), key=lambda pair: (-pair[1], pair[0]))),
        unwritten={name: unwritten[name] for name in taught.exercises if unwritten[name]},
        handed_in=_handed_in(marks),
        alike=alike.alike(codes, lost),
        teach=teach_again(mistakes, lost, sections, assignment.name),
        waiting=tuple(sorted(each.student for each in marks if each.waits)),
        unmarked=unmarked,
        unreadable=unreadable,
    )


def _lost(marks: Marks) -> set[str]:
    """The functions in which points are missing."""
    return {each.function for each in marks.questions if each.points < each.max_points and each.scored}


def _told(
    marks: Sequence[Marks], names: Names, lost: Mapping[str, set[str]]
) -> tuple[dict[Named, set[str]], Counter[tuple[str, str]], Counter[str]]:
    """Who was asked which question; what else was said; and who had not written what."""
    told: dict[Named, set[str]] = defaultdict(set)
    unnamed, unwritten = Counter[tuple[str, str]](), Counter[str]()
    for each in marks:
        for function, comment in each.said:
            if function not in lost[each.student]:
                continue
            said = sentences(comment)
            named = names.in_comment(function, said)
            for found in named:
                told[found].add(each.student)
            if any(sentence.endswith(UNWRITTEN) for sentence in said):
                unwritten[function] += 1
            elif not named:
                unnamed.update({(function, without_numbers(sentence)) for sentence in said})
    return told, unnamed, unwritten


def _handed_in(marks: Sequence[Marks]) -> dict[str, int]:
    before = [each.due - each.handed_in for each in marks if each.due and each.handed_in]
    if not before:
        return {}
    labels = [next(name for name, least in WHEN.items() if time >= least) for time in before]
    return {name: labels.count(name) for name in WHEN}


def notes(report: Report) -> list[str]:
    """Who waits for a person or for marking, and whose marking came to no end, in a line each."""
    lines = newer.note(report.newer, report.assignment)
    if report.waiting:
        names = ", ".join(report.waiting)
        lines.append(f"answers wait to be marked by hand ({len(report.waiting)}): {names}")
    if report.unreadable:
        names = ", ".join(report.unreadable)
        lines.append(f"{len(report.unreadable)} left out, as their file could not be read: {names}")
    if report.unmarked:
        lines.append(
            f"{len(report.unmarked)} left out, as their marking did not end: {', '.join(report.unmarked)}"
        )
    return lines


def as_data(report: Report, links: chapters.Links) -> dict[str, Any]:
    """The report as plain data, for JSON: everything but what each single student got."""

    def section(each: Section) -> dict[str, str]:
        return {"chapter": each.chapter, "heading": each.heading, "link": links.to(each)}

    return {
        "assignment": report.assignment,
        "title": report.title,
        "max_points": report.max_points,
        "summary": report.summary,
        "points": sorted(report.points.values()),
        "questions": [asdict(each) for each in report.items],
        "mistakes": [
            asdict(each.named) | {"students": len(each.students), "section": section(each.section)}
            for each in report.mistakes
        ],
        "not_recognised": [
            {"function": function, "said": said, "students": count}
            for (function, said), count in report.unnamed.items()
        ],
        "not_written": dict(report.unwritten),
        "handed_in": dict(report.handed_in),
        "alike": [asdict(each) for each in report.alike],
        "waiting": report.waiting,
        "unmarked": report.unmarked,
        "unreadable": report.unreadable,
        "newer": report.newer,
        "teach_again": [
            {
                "section": section(each.section),
                "students": len(each.students),
                "functions": each.functions,
                "questions": [named.question for named in each.mistakes],
                "also": [section(other) | {"students": count} for other, count in each.also],
            }
            for each in report.teach
        ],
    }
