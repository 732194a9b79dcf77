"""Questions to a submission's kernel, and which functions could not answer them.

The kernel is asked for bundles: what a function gives for some inputs. What comes back is data, or a
reason in words why there is none.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from course_lib.checks.answer import ask, read_bundles
from course_lib.checks.judge import UNREADABLE
from course_lib.checks.values import BadRecord, Json

from .kernel import TOO_LONG, Gone, Kernel, Message
from .replay import Replay
from .source import Test

Key = TypeVar("Key", bound=Hashable)
NOTHING: Json = {"function": "", "parameters": [], "refused": [], "calls": []}
NOTHING_SECONDS = 30.0


class Questions:
    """Asks about tests. `trouble` says whether the kernel gave something else than an answer; `answered`,
    whether any question was answered."""

    def __init__(self, replay: Replay, log: logging.Logger) -> None:
        self.replay, self.log = replay, log
        self.trouble = self.answered = False
        self._stuck: dict[tuple[str, str], str] = {}

    @property
    def stuck(self) -> set[str]:
        """The functions that ended kernels, or took too long."""
        return {function for function, _ in self._stuck}

    def forget(self) -> None:
        """Let every function be asked again."""
        self._stuck = {}

    def is_stuck(self, test: Test) -> str | None:
        """Why a test need not be asked: one whose cases count for it was not to be answered."""
        keys = [(test.exercise.function, each.name) for each in test.exercise.presupposed(test.behaviour)]
        return next((self._stuck[key] for key in keys if key in self._stuck), None)

    def together(self, requests: Mapping[Key, Json]) -> dict[Key, Json]:
        """The bundles of several requests, asked at once; nothing where anything is not as it should be, and
        then each test is asked alone, in a new kernel."""
        heard = Displays()
        if not requests or not self.replay.ask_together(ask([*requests.values()]), heard.hear):
            return {}
        try:
            bundles = _bundles_for([*requests.values()], heard)
        except BadRecord:
            self.replay.give_up()
            return {}
        self.answered = True
        return dict(zip(requests, bundles, strict=True))

    def answer(self, test: Test, request: Json) -> Json | str:
        """The kernel's bundle, or why there is none."""
        stuck = self.is_stuck(test)
        if stuck is not None:
            return stuck
        heard, key = Displays(), (test.exercise.function, test.behaviour.name)
        try:
            self.replay.run()  # in a new kernel other places may have been kept than in the last one
            if self.replay.ask(ask([self.at_place(test, request)]), heard.hear):
                self._stuck[key] = TOO_LONG
            (bundle,) = _bundles_for([request], heard)
        except Gone as gone:
            self._stuck[key] = str(gone)
            return str(gone)
        except BadRecord as error:
            self.log.warning("%s: %s", test.cell, error)
            self.trouble = True
            return self._stuck.get(key, UNREADABLE)
        self.answered = True
        return bundle

    def at_place(self, test: Test, request: Json) -> Json:
        """The request, to be answered with the names as they are at the test's place in the notebook."""
        return request | {"place": self.place(test)}

    def place(self, test: Test) -> int | None:
        """Where in the notebook the names for this test were kept; None where they were not."""
        return self.replay.places.get(test.cell)


def can_answer(kernel: Kernel) -> bool:
    """Whether a kernel that ran nothing else answers a question about nothing."""
    heard = Displays()
    try:
        kernel.run("", NOTHING_SECONDS, heard.hear, expression=ask([NOTHING]))
        return _bundles_for([NOTHING], heard)[0]["calls"] == []
    except (BadRecord, Gone):
        return False


class Displays:
    """What a kernel displays, as it arrives."""

    def __init__(self) -> None:
        self.contents: list[Json] = []

    def hear(self, message: Message) -> None:
        if message["msg_type"] == "display_data":
            self.contents.append(message["content"])


def _bundles_for(requests: Sequence[Json], heard: Displays) -> list[Json]:
    """The bundles that answer these requests, each its own.

    Raises: BadRecord where they do not: the answer to another function's questions would cost its points.
    """
    bundles = read_bundles(heard.contents, len(requests))
    for request, bundle in zip(requests, bundles, strict=True):
        asked = [] if bundle["missing"] is not None else [call["id"] for call in request["calls"]]
        if bundle.get("function") != request["function"] or [each["id"] for each in bundle["calls"]] != asked:
            raise BadRecord(f"a bundle that does not answer the questions about {request['function']}")
    return bundles
