"""What the benchmark runs in otter-grader's own environment: grade submissions in turn, no container.

Usage: python -m speed.in_otter POINTS AUTOGRADER SUBMISSION...   (writes a line for each into POINTS)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(points: str, autograder: str, *submissions: str) -> None:
    """Grade them. Writes for each the points of each test, as JSON."""
    from otter.api import grade_submission

    lines = []
    for submission in submissions:
        results = grade_submission(submission, autograder, quiet=True)
        lines.append(json.dumps({name: each.score for name, each in results.results.items()}))
    Path(points).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
