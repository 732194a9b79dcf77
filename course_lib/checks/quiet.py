"""While a function is judged its prints, warnings and pictures reach nobody, and it cannot end the kernel."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Inside the block nothing reaches the reader, and nothing of it is kept, however much there is."""
    with (
        contextlib.redirect_stdout(_Nowhere()),
        contextlib.redirect_stderr(_Nowhere()),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        _deaf_shell(),
        _no_figures(),
    ):
        warnings.simplefilter("ignore")
        yield


class _Nowhere(io.TextIOBase):
    """A text stream that forgets: an endless print must not fill the memory."""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return len(text)


class _Mute:
    """In place of IPython's publisher: takes what display() and clear_output() send, and does nothing."""

    def publish(self, *args: Any, **kwargs: Any) -> None:
        pass

    def clear_output(self, *args: Any, **kwargs: Any) -> None:
        pass


def _stay() -> None:
    raise SystemExit("exit() and quit() end the notebook")


@contextlib.contextmanager
def _deaf_shell() -> Iterator[None]:
    """IPython shows nothing, and exit() is an error of the function instead of the end of the kernel."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        yield
        return
    publisher, shell.display_pub = shell.display_pub, _Mute()
    shell.ask_exit = _stay
    try:
        yield
    finally:
        shell.display_pub = publisher
        del shell.ask_exit  # the class's own again


@contextlib.contextmanager
def _no_figures() -> Iterator[None]:
    """Close the figures that are opened inside: a notebook would show them at the end of its cell."""
    before = set(_figures())
    try:
        yield
    finally:
        for number in set(_figures()) - before:
            sys.modules["matplotlib.pyplot"].close(number)


def _figures() -> list[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return [] if pyplot is None else pyplot.get_fignums()
