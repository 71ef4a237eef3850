"""Arrays as .npz files, as `numpy.load` reads them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from ..errors import TendrilError
from .files import replacing, write_all


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Writes a file, complete or not at all: an existing one is only replaced when the new one is complete. A full disk is a
    TendrilError; `numpy.savez` leaves a half-open archive then, which fails once more when it is collected."""
    try:
        with replacing(path) as file:
            archive = zipfile.ZipFile(cast(IO[bytes], _WholeWrites(file)), "w")
            try:
                for name, values in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as part:
                        write: Any = np.lib.format.write_array
                        write(part, np.ascontiguousarray(values), allow_pickle=False)
                archive.close()
            except BaseException:
                archive.fp = None  # the archive is not finished any more, not even when it is collected
                raise
    except OSError as error:
        raise TendrilError("file", str(path), f"the system says: {(error.strerror or str(error)).lower()}") from None


class _WholeWrites:
    """An unbuffered file that writes all it is given, or raises."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.tell, self.seek, self.flush = file.tell, file.seek, file.flush

    def write(self, data: bytes) -> int:
        write_all(self._file, data)
        return len(data)
