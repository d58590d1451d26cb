"""Delimited text: the delimiter, the decimal mark and the header are found by looking."""

from __future__ import annotations

import csv
import re
from collections import Counter
from io import StringIO
from itertools import count, islice
from pathlib import Path
from typing import Any

from ._errors import InputError, listing, reason
from ._id_columns import ID_NAME
from ._table import Table, need_pandas

_DELIMITERS = (",", ";", "\t", "|")
_NAMELESS = "Unnamed: 0"  # how pandas calls a column without a name
_N_SNIFFED = 20  # lines that are looked at
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")


def read_text(path: Path) -> list[Table]:
    """The table of a CSV, TSV or other delimited file in UTF-8."""
    text = _decode(path)
    lines = list(islice((x for x in StringIO(text, None) if x.strip()), _N_SNIFFED))
    if not lines:
        raise InputError(f"{path.name} is empty; expected a header and one row per sample.")
    delimiter = _find_delimiter(lines)
    rows = _split(lines, delimiter)
    notes, warnings = [], []
    options: dict[str, Any] = {"sep": delimiter or r"\s+", "low_memory": False}
    if delimiter == ";" and any(_DECIMAL_COMMA.fullmatch(v) for row in rows[1:] for v in row):
        options["decimal"] = ","
        notes.append(f"{path.name}: commas are read as decimal marks.")
    if not _is_header(rows):
        options["header"] = None
        notes.append(f"{path.name}: no header row was found; columns are numbered.")
    else:
        warnings += _repeated(path, rows[0])
    if len(rows) > 1 and len(rows[0]) == len(rows[1]) - 1:  # as R writes tables with row names
        text = f"{_NAMELESS}{delimiter or ' '}{text.lstrip()}"
    frame = _parse(path, text, options)
    if len(frame) == 0:
        raise InputError(f"{path.name} has a header but no rows; expected one row per sample.")
    names = [f"column_{c + 1}" if isinstance(c, int) else str(c).strip() for c in frame]
    names = _told_apart(names)
    frame.columns = names

    def as_text(column: str) -> list[str]:
        one = {"usecols": [names.index(column)], "dtype": str, "na_filter": False}
        return list(_parse(path, text, {**options, **one}).iloc[:, 0])

    return [Table(path, frame, named_columns=True, as_text=as_text, notes=notes, warnings=warnings)]


def _repeated(path: Path, header: list[str]) -> list[str]:
    """What to say of names that stand above more than one column, which pandas numbers."""
    counts = Counter(name.strip() for name in header)
    twice = [name for name, n in counts.items() if name and n > 1]
    if not twice:
        return []
    shown = listing((f"{name!r} ({counts[name]} times)" for name in twice), 3)
    return [
        f"{path.name}: column names repeat: {shown}; the later ones are taken as "
        f"{twice[0] + '.1'!r} and so on. Give every column a name of its own, or leave out those "
        "that are copies."
    ]


def _told_apart(names: list[str]) -> list[str]:
    """Names that are the same but for spaces, numbered as pandas numbers repeated ones."""
    taken = set(names)
    if len(taken) == len(names):
        return names
    found: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}.{k}" for k in count(1))
        unique = next(n for n in numbered if n not in taken) if name in found else name
        taken.add(unique)
        found[unique] = None
    return list(found)


def _decode(path: Path) -> str:
    data = path.read_bytes()
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text; save "
            "the file again as 'CSV UTF-8'."
        ) from None
    if "\x00" in text:
        raise InputError(f"{path.name} holds binary data; expected delimited text in UTF-8.")
    return text


def _find_delimiter(lines: list[str]) -> str | None:
    """The delimiter that cuts all lines into the same number of fields; None for white space."""
    best, most = ",", 1
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in _split(lines, delimiter)]
        regular = len(set(widths[1:] or widths)) == 1 and widths[0] in (widths[-1], widths[-1] - 1)
        if regular and widths[-1] > most:
            best, most = delimiter, widths[-1]
    if most == 1 and not any(d in lines[0] for d in _DELIMITERS):
        widths = [len(line.split()) for line in lines]
        if len(set(widths)) == 1 and widths[0] > 1 and all(map(_is_number, lines[-1].split()[1:])):
            return None
    if most == 1:  # no delimiter is regular: the most frequent one, for the parser to complain
        return max(_DELIMITERS, key=lambda d: sum(line.count(d) for line in lines))
    return best


def _split(lines: list[str], delimiter: str | None) -> list[list[str]]:
    if delimiter is None:
        return [line.split() for line in lines]
    try:
        return list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:  # no row can be that long: not the delimiter
        return [[line] for line in lines]


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row holds names of columns, rather than the values of a sample."""
    first, *others = rows[0]
    if not all(map(_is_number, others or [first])):
        return True
    numbers = [_number(field) for field in others or [first]]
    counted = numbers == [numbers[0] + j for j in range(len(numbers))] and numbers[0] % 1 == 0
    if _is_number(first):
        return bool(others) and counted and numbers[0] - _number(first) == 1 and numbers[0] <= 2
    labels = [row[0] for row in rows[1:] if row]
    names_ids = ID_NAME.fullmatch(first.strip()) is not None or all(map(_is_number, labels))
    square = not set(labels).isdisjoint(others)
    return names_ids or square or (counted and len(others) > 1)


def _is_number(field: str) -> bool:
    try:
        _number(field)
    except ValueError:
        return False
    return True


def _number(field: str) -> float:
    return float(field.replace(",", "."))


def _parse(path: Path, text: str, options: dict[str, Any]) -> Any:
    pd = need_pandas()
    if options["sep"] == r"\s+":
        text = "\n".join(line.strip() for line in text.splitlines())
    try:
        frame = pd.read_csv(StringIO(text), **options)
        if not isinstance(frame.index, pd.RangeIndex):
            raise ValueError("rows have more fields than the header")
        return frame
    except ValueError as error:  # of pandas too: those of its parser are ValueErrors
        complaint = reason(error).removeprefix("Error tokenizing data. C error: ")
        raise InputError(
            f"{path.name} is not a regular table ({complaint}); expected the same number of fields "
            "in every row."
        ) from None
