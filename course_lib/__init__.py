"""Helpers of the course One Layer of Attention.

Importing this package loads nothing else; import the module you need, for example
``from course_lib import attention``.
"""

__version__ = "0.1.0"
