"""Memory in huge pages: a fork copies an entry for each page, and the end of a process takes each away."""

from __future__ import annotations

import ctypes

from .closing_in import libc

COLLAPSE = 25  # asm-generic/mman-common.h, since Linux 6.1


def collapse() -> None:
    """Gather in huge pages what this process holds; a system that cannot leaves all as it is."""
    with open("/proc/self/maps", "rb") as file:
        mapped = [line.split(maxsplit=5) for line in file]
    for edges, rights, _, _, _, *name in mapped:
        if rights == b"rw-p" and (not name or name[0].startswith((b"[heap]", b"[anon:"))):
            start, end = (int(edge, 16) for edge in edges.split(b"-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), COLLAPSE)
