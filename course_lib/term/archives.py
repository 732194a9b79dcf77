"""Read ZIP archives that strangers made: nothing is unpacked to disk, and nothing grows without bound.

A file's name inside an archive is never used as a path. What is refused is told, with the reason.
"""

from __future__ import annotations

import contextlib
import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from course_lib.errors import CourseError
from course_lib.grading.files import MAX_BYTES as MAX_FILE  # what is larger cannot be marked

MAX_TOTAL = 2 * 2**30  # bytes of all of them
MAX_ENTRIES = 20_000
JUNK = {"__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db"}  # what no student means to hand in
UTF8 = 0x800  # the flag of an entry whose name is in UTF-8


@dataclass(frozen=True)
class Member:
    """One file of an archive: its path there, its bytes, when it was changed, and why it is refused, if so.

    A file of an archive within the archive has both paths, with / between them.
    """

    path: str
    data: bytes = b""
    time: datetime | None = None
    refused: str = ""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


class Budget:
    """What may still be read, over an archive and all that it holds."""

    def __init__(self) -> None:
        self.bytes, self.entries = MAX_TOTAL, MAX_ENTRIES


def read_archive(path: Path) -> Iterator[Member]:
    """Every file of an archive, and of archives in it. Raises: CourseError where it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _members(archive, "", Budget())
    except FileNotFoundError:
        raise CourseError(f"{path}: no such file") from None
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise CourseError(f"{path}: not a ZIP archive that can be read ({error})") from None


def _members(archive: zipfile.ZipFile, within: str, budget: Budget) -> Iterator[Member]:
    for entry in archive.infolist():
        name = _name(entry)
        path = f"{within}{name}"
        budget.entries -= 1
        if budget.entries < 0:
            yield Member(
                path, refused=f"the archive holds more than {MAX_ENTRIES} files; nothing further was read"
            )
            return
        if name.endswith("/") or _is_junk(name):
            continue
        reason = _unsafe(entry, name)
        data = b"" if reason else _bytes(archive, entry, budget)
        if isinstance(data, str):
            reason, data = data, b""
        if not reason and name.lower().endswith(".zip"):
            yield from _nested(data, path, within, budget)
        else:
            yield Member(path, data, _time(entry), reason)


def _nested(data: bytes, path: str, within: str, budget: Budget) -> Iterator[Member]:
    """The files of an archive that a student handed in, but not of one in that."""
    if within:
        yield Member(path, refused="an archive in an archive in an archive")
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from _members(archive, f"{path}/", budget)
    except (zipfile.BadZipFile, ValueError) as error:
        yield Member(path, refused=f"not a ZIP archive that can be read ({error})")


def _bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> bytes | str:
    """The unpacked file, or why it is refused. What the archive says about its size is not trusted."""
    limit = min(MAX_FILE, budget.bytes)
    try:
        with archive.open(entry) as file:
            data = file.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        return f"cannot be unpacked ({error})"
    budget.bytes -= len(data)
    if len(data) > limit:
        return f"larger than {MAX_FILE >> 20} MB, or the archive than {MAX_TOTAL >> 30} GB, when unpacked"
    return data


def _name(entry: zipfile.ZipInfo) -> str:
    """The path in the archive; where no flag says so, UTF-8 is tried before the code page of DOS."""
    name = entry.orig_filename
    if not entry.flag_bits & UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name.replace("\\", "/"))  # old programs on Windows write \\


def _unsafe(entry: zipfile.ZipInfo, name: str) -> str:
    """Why a name or a kind of file is refused, or nothing."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if (
        "\\" in name
        or "\0" in name
        or name.startswith("/")
        or ".." in parts
        or (parts and ":" in parts[0][:2])
    ):
        return "its path leads out of the archive"
    mode = entry.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "a link or a device, not a file"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "packed in a way that takes any amount of memory to unpack"
    return "encrypted" if entry.flag_bits & 1 else ""


def _is_junk(name: str) -> bool:
    parts = name.split("/")
    return bool(JUNK & set(parts)) or parts[-1].startswith("._")


def _time(entry: zipfile.ZipInfo) -> datetime | None:
    """When the file was changed: in UTC where the archive tells that, else taken in this machine's zone."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return datetime.fromtimestamp(struct.unpack_from("<i", extra, 5)[0], UTC)
        extra = extra[4 + size :]
    try:
        found = datetime(*entry.date_time)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.year > 1980 else None
