"""What the gradebook has now: read as a database, since importing nbgrader takes longer than all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .course import SQLITE, database_url, no_file_of

CELLS = """
select c.name, c.cell_type, c.source, c.checksum from source_cell c
join notebook n on n.id = c.notebook_id join assignment a on a.id = n.assignment_id
where a.name = :name order by c.name"""
POINTS = """
select b.name, g.max_score from grade_cells g join base_cell b on b.id = g.id
join notebook n on n.id = b.notebook_id join assignment a on a.id = n.assignment_id
where a.name = :name order by b.name"""
GRADES = """
select s.student_id, b.name, g.auto_score, coalesce(g.manual_score, g.auto_score, 0) + case
  when g.manual_score is null and g.auto_score is null then 0 else coalesce(g.extra_credit, 0) end
from grade g join base_cell b on b.id = g.cell_id
join submitted_notebook n on n.id = g.notebook_id
join submitted_assignment s on s.id = n.assignment_id
join assignment a on a.id = s.assignment_id where a.name = :name"""
LATE = """
select s.student_id, sum(n.late_submission_penalty) from submitted_notebook n
join submitted_assignment s on s.id = n.assignment_id
join assignment a on a.id = s.assignment_id
where a.name = :name and n.late_submission_penalty is not null group by s.student_id"""
QUERIES = (CELLS, POINTS, GRADES, LATE)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Recorded:
    """An assignment in the gradebook.

    cells: tells its cells from other ones. scores: by student and cell the automatic points. points: by
    student what there is now, with what persons gave. taken_off: by student what is still to be taken off, as
    it was late. max_points: how many there are.
    """

    cells: str = ""
    scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    points: Mapping[str, float] = field(default_factory=dict)
    taken_off: Mapping[str, float] = field(default_factory=dict)
    max_points: float = 0.0


def recorded(root: Path, assignment: str) -> Recorded:
    """Read the gradebook; one that is not there, or cannot be read, has nothing."""
    url = database_url(root)
    if no_file_of(url):
        return Recorded()
    rows = _rows_of_file(url, assignment) if url.startswith(SQLITE) else _rows_of_server(url, assignment)
    if rows is None:
        return Recorded()
    cells, possible, grades, late = rows
    scores: dict[str, dict[str, float | None]] = {}
    points: dict[str, float] = {}
    for student, cell, automatic, now in grades:
        scores.setdefault(student, {})[cell] = automatic
        points[student] = points.get(student, 0.0) + now
    digest = hashlib.sha256(json.dumps([cells, possible]).encode()).hexdigest()
    most = sum(float(each) for _, each in possible)
    return Recorded(digest, scores, points, {student: float(less) for student, less in late}, most)


def _rows_of_file(url: str, assignment: str) -> list[list[Row]] | None:
    """What the queries give, without SQLAlchemy: importing that would take longer than all else for a class
    that did not change."""
    import sqlite3

    try:
        with closing(sqlite3.connect(url.removeprefix(SQLITE))) as connection:
            return [connection.execute(query, {"name": assignment}).fetchall() for query in QUERIES]
    except sqlite3.Error:
        return None


def _rows_of_server(url: str, assignment: str) -> list[list[Row]] | None:
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError

    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            asked = (connection.execute(text(query), {"name": assignment}) for query in QUERIES)
            return [[tuple(row) for row in rows] for rows in asked]
    except SQLAlchemyError:
        return None
    finally:
        engine.dispose()
