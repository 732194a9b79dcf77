"""The most that something comes to while something else runs."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Most:
    """While the `with` statement runs: the most that a number came to, which is looked at again and again."""

    most = 0.0

    def __init__(self, number: Callable[[], float], seconds: float = 0.1) -> None:
        self._number, self._seconds = number, seconds

    def __enter__(self) -> Most:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(self._seconds):
            self.most = max(self.most, self._number())
