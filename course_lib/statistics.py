"""Statistics for experiments over seeds: how far a share that was counted may be from the true one."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval for a share: every p that lies within z standard errors of the share that was counted.

    The ends solve (successes / trials - p)² = z² p (1 - p) / trials for p. Unlike the textbook interval
    around the counted share, it never leaves [0, 1] and does not shrink to a point at 0 or at `trials`.

    Parameters: successes from 0 to trials; trials ≥ 1; confidence in (0, 1), 0.95 for z = 1.96.
    Returns: (low, high), both in [0, 1]. Source: Wilson 1927, J. Am. Stat. Assoc. 22.

    >>> [round(end, 3) for end in wilson_interval(29, 32)]
    [0.758, 0.968]
    >>> [round(end, 3) for end in wilson_interval(0, 32)]
    [0.0, 0.107]
    """
    if trials < 1:
        raise ValueError(f"trials: expected 1 or more, got {trials}")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes: expected a number from 0 to {trials}, got {successes}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    centre = share + z**2 / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    shrink = 1 + z**2 / trials
    return max(0.0, (centre - half) / shrink), min(1.0, (centre + half) / shrink)
