"""Turn a bundle into a verdict, by the same ladder for students and for marks.

The rungs, in order: exists, takes these arguments, runs, type, shape, finite, rows sum to 1, property,
inputs left unchanged, value. The first rung that fails is told in one sentence; later ones are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from .calls import Diagnose, first, hint_for, ready
from .endings import endings, existence, signature_fits
from .results import finite, properties_hold, repeats, row_sums, shapes, types, unchanged, values_agree
from .spec import Behaviour, Exercise, outputs_by_name
from .values import BadRecord, Json, receive

UNREADABLE = "What the notebook sent back could not be read."


@dataclass
class Verdict:
    """What the judge says of one behaviour: the rungs passed, and the sentence for the first that failed.

    written: False while the function is still the stub. within: the title of the behaviour that comes first,
    where it failed in that one.
    """

    function: str
    behaviour: str
    title: str
    max_points: float
    passed: list[str] = field(default_factory=list)
    failed: str | None = None
    sentence: str = ""
    written: bool = True
    within: str = ""

    @property
    def points(self) -> float:
        """All points of the behaviour, or none."""
        return float(self.max_points) if self.failed is None else 0.0

    def as_part_of(self, asked: Behaviour) -> Verdict:
        """The same verdict as one on the behaviour asked for, which presupposes this one or is this one."""
        within = self.title if self.behaviour != asked.name and self.failed is not None else ""
        return replace(self, behaviour=asked.name, title=asked.title, max_points=asked.points, within=within)


def judge(
    exercise: Exercise,
    behaviour: Behaviour,
    request: Json,
    bundle: Json,
    reference: Json,
    *,
    reveal: bool,
    diagnose: Diagnose | None = None,
) -> Verdict:
    """The verdict on one behaviour.

    Parameters: request, what was asked; bundle, what the student's function gave; reference, what the
    solution's function gave to the same request; reveal, whether a sentence may tell inputs and expected
    values (visible cases) or not (hidden ones); diagnose, given a call's name and outputs, the question that
    leads to a known mistake, or None.
    """
    verdict = Verdict(exercise.function, behaviour.name, behaviour.title, behaviour.points)
    try:
        for rung, sentence in _rungs(exercise, behaviour, request, bundle, reference, reveal, diagnose):
            if sentence is not None:
                verdict.failed, verdict.sentence = rung, sentence
                verdict.written = rung != "not written"
                return verdict
            verdict.passed.append(rung)
    except BadRecord:
        verdict.failed, verdict.sentence = "runs", UNREADABLE
    return verdict


@contextmanager
def _reading() -> Iterator[None]:
    """What goes wrong inside comes from a bundle that collect did not make, and is no bug of ours."""
    try:
        yield
    except Exception as error:
        raise BadRecord(str(error)) from error


def _rungs(
    exercise: Exercise,
    behaviour: Behaviour,
    request: Json,
    bundle: Json,
    reference: Json,
    reveal: bool,
    diagnose: Diagnose | None,
) -> Iterator[tuple[str, str | None]]:
    name = exercise.function
    if behaviour.returns is not None:
        exercise = replace(exercise, returns=behaviour.returns)
    if behaviour.compare is not None:
        exercise = replace(exercise, compare=behaviour.compare)
    expected = {record["id"]: record for record in reference["calls"]}
    with _reading():
        missing = bundle["missing"]
        yield "exists", existence(name, missing)
        yield "takes these arguments", signature_fits(name, exercise.parameters, missing)
        records = {record["id"]: record for record in bundle["calls"]}
        if len(records) != len(bundle["calls"]):
            raise BadRecord("two answers to one call")
        wanted = request["calls"]
        calls = [ready(exercise, call, records[call["id"]], expected[call["id"]]) for call in wanted]
        yield from endings(name, calls, reveal, diagnose)
        answered = [call for call in calls if not call.raises]
        received = [(call, receive(call.record["returned"])) for call in answered]
    yield "type", first(types(exercise, call, got, reveal) for call, got in received)
    outputs = [(call, outputs_by_name(exercise.returns, got)) for call, got in received]
    hint = hint_for(outputs, diagnose)
    yield "shape", first((shapes(exercise, call, got, reveal) for call, got in outputs), hint)
    arrays = [(call, {name: np.asarray(item.value) for name, item in got.items()}) for call, got in outputs]
    overflow = "Which step can overflow, or divide by 0?"
    yield "finite", first((finite(call, got, reveal) for call, got in arrays), lambda: hint() or overflow)
    if behaviour.repeats:
        yield "the same again", first((repeats(call) for call in calls), hint)
    if any(returned.weights for returned in exercise.returns):
        sums = (row_sums(exercise, call, got, reveal, hint) for call, got in arrays)
        yield "rows sum to 1", first(sums)
    if behaviour.properties or any(case.across for case in behaviour.cases):
        yield "property", first(properties_hold(behaviour, arrays), hint)
    if behaviour.unchanged:
        with _reading():
            yield "inputs unchanged", first(unchanged(call) for call in calls)
    yield "value", first((values_agree(exercise, call, got, reveal) for call, got in arrays), hint)
