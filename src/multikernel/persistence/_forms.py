"""Forms: values that the file format cannot hold, or only at length, written in another way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

_PRIMITIVES = (str, int, float, bool, type(None), np.float64, np.int64)
_FEW = 4  # values that are not worth a form


@dataclass(frozen=True)
class JsonText:
    """A list or dict of plain values as one text."""

    text: str

    def restore(self) -> Any:
        """The list or dict."""
        return json.loads(self.text)


@dataclass(frozen=True)
class Strings:
    """An array of Python strings as one text."""

    text: str
    shape: tuple[int, ...]

    def restore(self) -> Any:
        """The array, of dtype object."""
        return np.array(json.loads(self.text), dtype=object).reshape(self.shape)


@dataclass(frozen=True)
class Pairs:
    """A dict whose keys are not strings as a list of its items."""

    items: list[tuple[Any, Any]]

    def restore(self) -> Any:
        """The dict."""
        return dict(self.items)


FORMS = (JsonText, Strings, Pairs)


def compact(value: Any) -> Any:
    """A short form of plain lists, dicts and arrays of strings; other values as they are."""
    if isinstance(value, np.ndarray):
        strings = value.dtype == object and all(type(v) is str for v in value.flat)
        return Strings(json.dumps(value.ravel().tolist()), value.shape) if strings else value
    if type(value) in (list, dict) and _count_plain(value) > _FEW:
        return JsonText(json.dumps(value, default=np.int64.item))
    return value


def _count_plain(value: Any) -> float:
    """The number of plain values in lists and dicts; minus infinity where others are among them.

    Types are compared exactly, so that JSON gives back what it got; only numbers of numpy become
    numbers of Python.
    """
    if type(value) in _PRIMITIVES:
        return 1
    if type(value) is dict and all(type(key) is str for key in value):
        return sum(_count_plain(part) for part in value.values())
    return sum(_count_plain(part) for part in value) if type(value) is list else -np.inf
