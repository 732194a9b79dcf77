"""Write a ZIP archive that is the same whenever and wherever it is made."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first moment that a ZIP archive can name


def write_zip(files: Mapping[str, bytes], path: Path, *, packed: bool = False) -> None:
    """An archive of these files, by path with /. Nothing of this machine goes in: no time, no owner.

    Parameters: packed, whether to make it smaller; the bytes then depend on the version of zlib.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)
