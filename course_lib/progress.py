"""A progress bar that is there while a cell works, and gone when the cell has finished."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from IPython.core.getipython import get_ipython
from IPython.display import clear_output
from tqdm import tqdm

T = TypeVar("T")


def progress(steps: Iterable[T], what: str = "training") -> Iterator[T]:
    """Go through `steps` behind a bar. At the end the bar is wiped away, and in a notebook with it all that
    the cell has shown so far, so that stored outputs hold no trace of it: print after the loop.

    The environment variable TQDM_DISABLE=1 switches the bar off, for programs that record what is wiped too.

    Parameters: steps of known length (a list, a range); what, the words in front of the bar.
    """
    if os.environ.get("TQDM_DISABLE") == "1":
        yield from steps
        return
    try:
        yield from tqdm(steps, desc=what, file=sys.stdout, leave=False, mininterval=0.5, disable=False)
    finally:
        if get_ipython() is not None:
            clear_output()
