"""A cell's code as plain Python: what only IPython understands does nothing."""

from __future__ import annotations

import ast
import re

# What a line becomes that only IPython understands.
MAGIC = re.compile(r"^([ \t]*).*\bget_ipython\(\)\.(run_|system|getoutput).*$", re.MULTILINE)


def plain(code: str) -> str:
    """The code of a cell, with `pass` in the place of each magic; code that is no Python either is left.

    >>> print(plain("%matplotlib inline\\nx = (7\\n     % 4)"))
    pass
    x = (7
         % 4)
    """
    if parsed(code):
        return code
    from IPython.core.inputtransformer2 import TransformerManager

    changed = MAGIC.sub(r"\1pass", TransformerManager().transform_cell(code)).rstrip()
    return changed if parsed(changed) else code


def parsed(code: str) -> ast.Module | None:
    """The syntax tree of code, or None where Python cannot read it."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
