"""The course's map as a page that prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .chapters import Links, Section
from .overview import Chapter, Exercise
from .pages import Markup, bullets, code, link, page, paragraph, prose, table, text
from .tables import number

SHOWN = 6  # mistakes of a test


def as_page(chapters: Sequence[Chapter], links: Links) -> str:
    """The whole map; the same course gives the same bytes."""
    holes = sum(len(each.holes) for each in chapters)
    said = (
        "What each chapter promises, the sections that lead there, the exercises that ask for it, their "
        f"tests, and the known mistakes that each test finds. {holes} holes are listed with their chapters."
    )
    body = [paragraph(said)]
    for each in chapters:
        body += _chapter(each, links)
    return page("Map of the course", body)


def _chapter(chapter: Chapter, links: Links) -> Iterator[str]:
    yield f"<h2>{int(chapter.name[:2])} · {text(chapter.title)}</h2>"
    rows = [
        [
            prose(goal.text.replace("$", "")),
            _sections(goal.sections, links),
            Markup(", ".join(code(each.name) for each in goal.exercises))
            or Markup('<span class="hole">none</span>'),
        ]
        for goal in chapter.goals
    ]
    yield table(f"Goals of {chapter.name}", ["after the chapter you can", "sections", "exercises"], rows)
    yield f"<h3>Exercises of {text(chapter.name)}</h3>"
    head = ["exercise", "taught in", "test", "points", "mistakes that it finds"]
    lines = [row for each in chapter.exercises for row in _tests(each, links)]
    yield table(f"Exercises of {chapter.name}", head, lines, numbers=["points"])
    if chapter.holes:
        yield '<h3 class="hole">Holes</h3>' + bullets(chapter.holes)


def _tests(exercise: Exercise, links: Links) -> Iterator[list[object]]:
    for place, test in enumerate(exercise.tests):
        more = len(test.mistakes) - SHOWN
        ids = ", ".join(test.mistakes[:SHOWN]) + (f" and {more} more" if more > 0 else "")
        found = "a person marks it" if test.by_hand else f"{len(test.mistakes)}: {ids}"
        yield [
            code(exercise.name) if place == 0 else "",
            _sections(exercise.sections, links) if place == 0 else "",
            prose(test.title),
            number(test.points),
            prose(found) if test.mistakes or test.by_hand else Markup('<span class="hole">none alone</span>'),
        ]


def _sections(sections: Sequence[Section], links: Links) -> Markup:
    found = [f"<p>{link(links.to(each), each.title)}</p>" for each in sections]
    return Markup("".join(found) or '<span class="hole">none</span>')
