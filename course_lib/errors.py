"""Errors that a person can mend, told in one line."""


class CourseError(Exception):
    """A mistake in how a command was used, or in a file it was given; the message is one line."""
