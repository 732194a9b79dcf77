"""Memory in huge pages: a fork copies an entry for each page, and the end of a process takes each away."""

from __future__ import annotations

import ctypes

from .closing_in import libc

# For a process that is started with it: what the C library hands out.
VARIABLE = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
COLLAPSE = 25  # asm-generic/mman-common.h, since Linux 6.1


def collapse() -> None:
    """Gather in huge pages what Python allocated in its own, smaller pieces; a system that cannot leaves all
    as it is."""
    with open("/proc/self/maps") as file:
        mapped = [line.split() for line in file]
    for words in mapped:
        anonymous = len(words) < 6
        if anonymous and words[1] == "rw-p":
            start, end = (int(edge, 16) for edge in words[0].split("-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), COLLAPSE)
