"""All broken and hostile submissions."""

from .code import CODE
from .files import FILES
from .notebooks import NOTEBOOKS

BROKEN = {each.id: each for each in (*FILES, *NOTEBOOKS, *CODE)}
