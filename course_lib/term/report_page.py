"""A report as a page that prints, for those who teach: it names students, so it is for nobody else."""

from __future__ import annotations

from collections.abc import Iterator

from . import report_figures
from .chapters import Links
from .items import FEW, TOO_FEW
from .pages import Markup, bullets, code, link, page, paragraph, prose, table
from .report import Report, Teach, notes
from .tables import number

TAUGHT_AGAIN = 5  # sections, the most urgent
ALSO = 3  # sections besides
SAID = 15  # sentences that name no known mistake
WEAK = 0.2  # a discrimination below which a question deserves a look


def as_page(report: Report, links: Links) -> str:
    """The whole page; the same report gives the same bytes."""
    few = len(report.points) < FEW
    body = [
        paragraph("For those who teach: this page names students. It lies on your machine alone."),
        _summary(report),
        *([paragraph(_caution(len(report.points)), "note")] if few else []),
        *_teach(report, links),
        "<h2>Points</h2>",
        report_figures.as_html(report_figures.distribution(list(report.points.values()), report.max_points)),
        *_questions(report),
        *_mistakes(report, links),
        *_unnamed(report),
        *_alike(report),
        *_times(report),
        *_definitions(),
    ]
    return page(f"Report on {report.assignment}: {report.title}", body)


def _caution(students: int) -> str:
    return (
        f"Only {students} marked. With fewer than {FEW}, difficulty and discrimination are the accidents of "
        "a few people: read the mistakes instead."
    )


def _summary(report: Report) -> str:
    waits = sum(each.waits for each in report.items)
    lines = [f"{line}." for line in notes(report)]
    lines += [f"{waits} answers have no points yet and do not count."] if waits else []
    more = "".join(paragraph(line, "note") for line in lines)
    head, row = list(report.summary), [number(value) for value in report.summary.values()]
    said = paragraph(f"Points of {number(report.max_points)}:")
    return said + table("The class in numbers", head, [row], numbers=head) + more


def _teach(report: Report, links: Links) -> Iterator[str]:
    yield "<h2>What to teach again</h2>"
    if not report.teach:
        yield paragraph("Nobody lost a point.")
        return
    yield paragraph(
        "The sections of the chapter whose matter cost most students points, with what to ask. A function "
        "belongs to the section that teaches it first; others answer single mistakes in it better."
    )

    def entry(each: Teach) -> Markup:
        functions = ", ".join(code(name) for name in each.functions)
        who = f"{len(each.students)} of {len(report.points)} students, in {functions}"
        also = "; ".join(
            f"{link(links.to(section), section.title)} ({count})" for section, count in each.also[:ALSO]
        )
        asked = [_asked(named.question) for named in each.mistakes[:3]]
        return Markup(
            f"{link(links.to(each.section), each.section.title)}<br>{who}"
            + (f"<br>and for single mistakes: {also}" if also else "")
            + (bullets(asked) if asked else "")
        )

    yield "<ol>" + "".join(f"<li>{entry(each)}</li>" for each in report.teach[:TAUGHT_AGAIN]) + "</ol>"


def _questions(report: Report) -> Iterator[str]:
    yield "<h2>Questions</h2>"
    yield report_figures.as_html(report_figures.shares(report.items))
    head = ["question", "what", "points", "difficulty", "discrimination", "all points", "none"]
    rows = [
        [
            code(each.question),
            prose(f"{each.title}{', marked by hand' if each.by_hand else ''}"),
            number(each.max_points),
            _decimals(each.difficulty),
            _decimals(each.discrimination),
            each.full,
            each.none,
        ]
        for each in report.items
    ]
    yield table("Questions", head, rows, numbers=head[2:])
    weak = [
        each.question
        for each in report.items
        if each.discrimination is not None and each.discrimination < WEAK
    ]
    if weak and len(report.points) >= FEW:
        names = ", ".join(code(name) for name in weak)
        yield paragraph(
            Markup(
                f"Below {WEAK}, so that strong students do hardly better than weak ones: {names}. Is the "
                "statement clear there?"
            ),
            "note",
        )
    if report.unwritten:
        names = ", ".join(f"{code(name)} by {count}" for name, count in report.unwritten.items())
        yield paragraph(Markup(f"Not written: {names}."))


def _mistakes(report: Report, links: Links) -> Iterator[str]:
    yield "<h2>Mistakes</h2>"
    if not report.mistakes:
        yield paragraph("No mistake of the catalogue was recognised.")
        return
    yield paragraph("Known mistakes by how many students made them, as their feedback asked about them.")
    head = ["students", "in", "mistake", "what they were asked", "read again"]
    rows = [
        [
            f"{len(each.students)} ({len(each.students) / len(report.points):.0%})",
            code(each.named.function),
            prose(each.named.cause),
            _asked(each.named.question),
            Markup(f"<p>{link(links.to(each.section), each.section.title)}</p>"),
        ]
        for each in report.mistakes
    ]
    yield table("Mistakes by frequency", head, rows, numbers=["students"])


def _unnamed(report: Report) -> Iterator[str]:
    if report.unnamed:
        yield "<h3>Points lost in a way that the catalogue does not know</h3>"
        shown = list(report.unnamed.items())[:SAID]
        rows = [[count, code(function), prose(said)] for (function, said), count in shown]
        yield table("What else was said", ["students", "in", "what was said"], rows, numbers=["students"])
        if len(report.unnamed) > SAID:
            yield paragraph(f"And {len(report.unnamed) - SAID} sentences more: course report --json.")


def _alike(report: Report) -> Iterator[str]:
    yield "<h2>Submissions that look alike</h2>"
    if not report.alike:
        yield paragraph("None: no two students have the same code in all that they wrote.")
        return
    yield paragraph(
        "The same code, once names of variables, comments and layout are set aside. That is a question, not "
        "a verdict: of a short right answer there are few versions. The same wrong answers say more. Did "
        "they work together?"
    )
    head = ["students", "functions written", "of these wrong"]
    rows = [[", ".join(each.students), each.functions, each.wrong] for each in report.alike]
    yield table("Submissions that look alike", head, rows, numbers=head[1:])


def _times(report: Report) -> Iterator[str]:
    yield "<h2>When work was handed in</h2>"
    if report.handed_in:
        yield report_figures.as_html(report_figures.times(report.handed_in))
    else:
        yield paragraph("Not known: there is no due date in the gradebook, or no submission has a time.")


def _definitions() -> Iterator[str]:
    yield "<h2>How these numbers are made</h2>"
    yield bullets(
        [
            "Points are those in the gradebook, after what lateness costs. All that follows counts questions "
            "before that.",
            "Difficulty: the share of a question's points that the class reached, from 0 to 1. So a high "
            "number means an easy question.",
            "Discrimination: the correlation of a question's points with the points of all other questions "
            "that are marked for everybody (corrected item-total correlation), from -1 to 1. Strong students "
            f"should do better everywhere: below {WEAK}, look at the question. There is none (–) where fewer "
            f"than {TOO_FEW} were marked, or all got the same.",
            "Both as in L. Crocker and J. Algina, Introduction to Classical and Modern Test Theory (1986), "
            "chapter 14.",
            "A mistake is counted once for a student. It is recognised where an answer gives exactly what "
            "the mistake gives on a visible input; one student can make several. Teaching again goes by how "
            "many lost points in any of the functions that a section is the first to teach.",
        ]
    )


def _asked(question: str) -> Markup:
    """A question; one that stands in the middle of a sentence of the judge gets dots."""
    return prose(f"… {question}" if question[:1].islower() else question)


def _decimals(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.2f}"
