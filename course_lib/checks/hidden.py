"""Draw the hidden cases of an assignment, and answer them with the functions of the solution.

This runs in a kernel in which nothing but the solution ran: kernels have PyTorch, with which many inputs are
drawn, and the process that marks does without it. The kernel gets no secret, but the seeds made from it.
"""

from __future__ import annotations

import json
from typing import Any

from .answer import MIME, notebook
from .assignments import load
from .collect import collect
from .spec import Assignment, drawn, seeds_of
from .values import BadRecord, Json

Key = tuple[str, str]  # function and behaviour


def ask(assignment: Assignment, secret: str) -> str:
    """The code that a grader runs in the solution's kernel to have all hidden cases drawn and answered."""
    seeds = {
        exercise.function: {
            each.name: seeds_of(assignment.name, exercise, each, secret) for each in exercise.behaviours
        }
        for exercise in assignment.exercises
    }
    return (
        f"__import__('course_lib.checks.hidden', fromlist=['answer']).answer({assignment.name!r}, {seeds!r})"
    )


def answer(name: str, seeds: dict[str, dict[str, dict[str, int]]]) -> None:
    """Draw and answer, and display requests with their bundles. Runs in the solution's kernel."""
    from IPython.display import display

    answers = []
    for exercise in load(name).exercises:
        for behaviour in exercise.behaviours:
            request = drawn(exercise, behaviour, seeds[exercise.function][behaviour.name], hidden=True)
            answers.append([exercise.function, behaviour.name, request, collect(request, notebook())])
    display({MIME: json.dumps(answers)}, raw=True)


def read(contents: list[dict[str, Any]]) -> dict[Key, tuple[Json, Json]]:
    """Request and bundle by function and behaviour, from what the kernel displayed.

    Raises: BadRecord when nothing was answered.
    """
    found = [content["data"][MIME] for content in contents if MIME in content["data"]]
    if len(found) != 1:
        raise BadRecord(f"{len(found)} outputs with answers instead of one")
    return {
        (function, behaviour): (request, bundle)
        for function, behaviour, request, bundle in json.loads(found[0])
    }
