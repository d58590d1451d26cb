"""Archive: a model file as bytes, opened only after its size, contents and types were judged."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from sklearn.exceptions import InconsistentVersionWarning

from .._memory import available_memory, format_bytes
from .._warnings import unsaid
from ._slim import pack, unpack
from ._trusted import trusted_types, untrusted_types
from ._versions import check_format, stamp

_STAMP = "multikernel.json"
_LARGE = 1 << 26  # bytes of one part up to which no limit is set on its packing
_TIGHTEST = 200  # times that a larger part may unpack to; our own numbers stay far below


@dataclass(frozen=True)
class Archive:
    """The bytes of a model file, and the name that messages call it by."""

    data: bytes
    name: str

    @classmethod
    def of(cls, model: Any, name: str) -> Archive:
        """The file of a model."""
        from skops.io import dumps

        data = io.BytesIO(dumps(pack(model), compression=ZIP_DEFLATED))
        with ZipFile(data, "a", compression=ZIP_DEFLATED) as file:
            file.writestr(_STAMP, json.dumps(stamp(model)))
        return cls(data.getvalue(), name)

    def read_stamp(self) -> dict[str, Any]:
        """What the file says about itself; files that are too large or too new are refused."""
        with self._open() as file:
            size = sum(part.file_size for part in _all_parts(file))
            if {_STAMP, "schema.json"} - set(file.namelist()):
                raise ValueError("save_model did not write it")
            said = json.loads(file.read(_STAMP))
            if not _is_stamp(said):
                raise ValueError("its stamp is not one of multikernel")
        if size > available_memory():
            raise MemoryError(
                f"{self.name} unpacks to {format_bytes(size)}, but "
                f"{format_bytes(available_memory())} are free."
            )
        check_format(said, self.name)
        return dict(said)

    def strange_types(self) -> list[str]:
        """The types in the file that are not trusted; nothing is imported or made."""
        with self._open() as file:
            return untrusted_types(file, self.data)

    def read_model(self) -> Any:
        """The model, if all its types are trusted."""
        from skops.io import loads

        if strange := self.strange_types():
            raise ValueError(
                f"{self.name} is refused because it holds {', '.join(strange)}, which no model "
                "file of multikernel needs and which could run code; nothing of it was loaded."
            )
        with self._open(), unsaid(InconsistentVersionWarning):  # said once, of all
            return unpack(loads(self.data, trusted=trusted_types()))

    @contextmanager
    def _open(self) -> Iterator[ZipFile]:
        """The file to read from; whatever a damaged or hostile one causes becomes a sentence."""
        try:
            with ZipFile(io.BytesIO(self.data)) as file:
                yield file
        except Exception as error:
            raise ValueError(
                f"{self.name} is not a model file of multikernel, or is damaged: {_why(error)}."
            ) from error


def _is_stamp(said: Any) -> bool:
    """Whether this is what :func:`stamp` makes."""
    kinds = {"format": int, "versions": dict}
    return isinstance(said, dict) and all(type(said.get(k)) is kind for k, kind in kinds.items())


def _why(error: Exception) -> str:
    """What is wrong with a file, where others would advise to open it all the same."""
    if isinstance(error, BadZipFile | zlib.error):
        return "it is no archive, was cut short, or holds changed bytes"
    if "allow_pickle" in str(error):
        return "one of its arrays is not one, or is a pickle, which is never opened"
    return str(error).strip().rstrip(".") or type(error).__name__


def _all_parts(file: ZipFile, inside: bool = False) -> Iterator[ZipInfo]:
    """The parts of an archive and of the archives of sparse matrices in it, sizes checked."""
    for part in file.infolist():
        if part.file_size > max(_LARGE, _TIGHTEST * part.compress_size):
            raise ValueError(
                f"a part of {format_bytes(part.compress_size)} claims to unpack to "
                f"{format_bytes(part.file_size)}"
            )
        yield part
        if part.filename.endswith(".npz"):
            if inside:
                raise ValueError(f"{part.filename} is an archive inside an archive of arrays")
            with ZipFile(io.BytesIO(file.read(part))) as inner:
                yield from _all_parts(inner, inside=True)
