"""The course's map as a page that prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .chapters import Links, Section
from .overview import Chapter, Exercise
from .pages import Markup, bullets, code, link, page, paragraph, prose, table, text
from .tables import number

SHOWN = 6  # mistakes of a test
HOLES = (  # what each kind means, and where it is closed
    "No section leads to a goal: the chapter promises what it does not teach, or "
    "`course_lib/term/taught.py` does not name the section yet.",
    "No exercise asks for a goal: readers may reach it, but nothing tells. An exercise is missing, or the "
    "goal is one that only a text can serve.",
    "A section serves no goal: it is more than the chapter promises. Add a goal, name the section in "
    "`taught.py`, or leave it as an extra.",
    "No section teaches a function: whoever loses points there is sent nowhere.",
    "No known mistake is found by a test alone (none alone): each mistake that fails it fails another test "
    "of the function, too. The test may be one too many, or `tests/mistakes/` lacks the mistake it is for.",
)


def as_page(chapters: Sequence[Chapter], links: Links) -> str:
    """The whole map; the same course gives the same bytes."""
    holes = sum(len(each.holes) for each in chapters)
    said = (
        "What each chapter promises, the sections that lead there, the exercises that ask for it, their "
        "tests, and the known mistakes that each test finds. A hole is a place where this chain is broken: "
        f"{holes} are listed with their chapters, and what to do about each kind stands at the end."
    )
    body = [paragraph(said)]
    for each in chapters:
        body += _chapter(each, links)
    body += ["<h2>What a hole means</h2>", bullets([prose(each) for each in HOLES])]
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
