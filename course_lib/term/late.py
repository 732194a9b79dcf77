"""Late submissions: an nbgrader plug-in that takes points off by the day, with extra time for some."""

from __future__ import annotations

import math

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Dict, Float, Unicode

DAY = 86400


class LatePolicy(LateSubmissionPlugin):
    """What lateness costs. As it stands, nothing; `c.LatePolicy` in nbgrader_config.py says what.

    nbgrader compares a submission's timestamp with the assignment's due date in the gradebook.
    """

    grace_minutes = Float(0.0, help="minutes after the due date that are forgiven").tag(config=True)
    per_day = Float(0.0, help="share of the points taken off for each day begun, such as 0.1").tag(
        config=True
    )
    at_most = Float(1.0, help="share of the points taken off at most").tag(config=True)
    extra_hours = Dict(
        key_trait=Unicode(), value_trait=Float(), help="hours more that single students have, by id"
    ).tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """The points to take off, or None for none; all of them where `penalty_method` is "zero"."""
        forgiven = 60 * self.grace_minutes + 3600 * self.extra_hours.get(student_id, 0.0)
        if total_seconds_late <= forgiven:
            return None
        if self.penalty_method == "zero":
            return score
        # Grace decides whether one is late; extra time moves the due date itself.
        late = total_seconds_late - 3600 * self.extra_hours.get(student_id, 0.0)
        return score * min(self.at_most, self.per_day * math.ceil(late / DAY)) or None
