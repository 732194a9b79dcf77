"""Errors that a person can mend, told in one line."""

import errno


class CourseError(Exception):
    """A mistake in how a command was used, or in a file it was given; the message is one line."""


def disk_is_full(error: OSError) -> bool:
    """Whether there was no space left, or no more that this account may use."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
